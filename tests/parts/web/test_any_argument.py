"""Whatever a request of the described kind holds, the answer is what is asked for, or a problem with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.parts.web import guard, sessions
from commonplace.parts.web.app import make_app
from commonplace.parts.web.library import Library
from parts.web.serving import client
from sizes import examples

SPEC = make_app(Library(Path("runs"))).openapi()
SCHEMAS = SPEC["components"]["schemas"]
OPERATIONS = [(path, method) for path, methods in SPEC["paths"].items() for method in methods if "replay" not in path]
KNOWN: dict[str, tuple[Any, ...]] = {
    "run": ("town", "plaza"),
    "agent_id": ("mira", "ines", "nobody"),
    "agent": ("mira",),
    "event_id": ("t8.odalys.0", "t0.-.0", "t1.mira.99999999999999999999", "t-1.mira.0"),
    "policy": ("park", "recall"),
    "kind": ("plan", "god", "voice", "attempt"),
    "place": ("noodle-bar", "Latticeville > Lattice Plaza"),
    "since": ("2031-10-04T08:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
    "category": ("talk",),
    "scenario": ("nothing",),
}
"""Names that are good for something, so that more than the first check is reached."""
ODD = ("", "..", "%", "\x00", "\U0001f600", "-1", "1e9", "NaN", "null", "ᄒᆞᆫ", "x" * 3000)
JUNK = st.text(max_size=12) | st.sampled_from(ODD)
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(0, 120) | st.integers(0, 120) | st.integers(-(2**70), 2**70),
    "number": st.floats(0, 100) | st.sampled_from([-1.0, 1e300]),
    "boolean": st.booleans(),
    "null": st.none(),
}


@pytest.fixture(scope="module")
def http(folder: Path) -> Iterator[TestClient]:
    """A server without limits on how often, which starts no processes."""

    async def nothing(*_: Any, **__: Any) -> None:
        raise UsageError("not in this test")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("REQUESTS", "CHANGES"):
            patch.setattr(guard, name, (1e9, 1e9))
        patch.setattr(sessions.Worker, "start", nothing)
        with client(make_app(Library(folder))) as http:
            yield http


def values(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema, and some that are not."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return st.one_of([values(name, one) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "object":
        return bodies(schema)
    known = st.sampled_from(KNOWN[name]) if name in KNOWN else st.nothing()
    return PLAIN.get(schema.get("type", ""), known | known | JUNK)


def bodies(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A body with all that is required, and some of the rest."""
    fields = {name: values(name, one) for name, one in schema.get("properties", {}).items()}
    required = {name: fields[name] for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional={name: fields[name] for name in fields if name not in required})


def encodable(value: object) -> str:
    """As an address can hold it."""
    return str(value).encode("utf-8", "replace").decode()


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, dict[str, Any], Any]:
    path, method = draw(st.sampled_from(OPERATIONS))
    operation = SPEC["paths"][path][method]
    query: dict[str, Any] = {}
    for parameter in operation.get("parameters", ()):
        value = draw(values(parameter["name"], parameter["schema"]))
        if parameter["in"] == "path":
            path = path.replace(
                f"{{{parameter['name']}}}", quote(str(value).encode("utf-8", "replace"), safe="") or "-"
            )
        elif parameter["required"] or draw(st.booleans()):
            query[parameter["name"]] = encodable(value)
    body = None
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        body = draw(st.one_of(values("", schema), values("", schema), st.none() | JUNK | st.lists(st.integers())))
    return path, method, query, body


@settings(examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(requests())
@example(("/api/runs/town/events/t0.-.0/why", "get", {}, None))
@example(("/api/runs/town/talk", "post", {}, {"agent_id": "mira", "at": 10**9, "question": "Who?"}))
@example(("/api/runs/town/agents/mira/memories", "get", {"since": "9999-12-31T23:59:59-14:00"}, None))
def test_the_answer_is_as_described_or_a_problem(http: TestClient, asked: tuple[str, str, dict[str, Any], Any]) -> None:
    path, method, query, body = asked
    sent = {} if body is None else {"json": body}
    answer = http.request(method.upper(), path, params=query, **sent)
    assert answer.status_code < 500, (answer.status_code, answer.text)
    assert answer.headers["content-type"] in ("application/json", "application/problem+json")
    assert "Traceback" not in answer.text and "/tmp/" not in answer.text
    if answer.status_code >= 400:
        problem = answer.json()
        assert problem["status"] == answer.status_code and problem["title"]
        assert problem["detail"], answer.text
