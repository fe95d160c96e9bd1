"""Faults of the test server: each is what it says, drawn by what is asked, and none where nobody asks for it."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import UsageError
from commonplace.testing.server import FAULTS, MARK, Faults, ModelServer
from commonplace.testing.server.faults import STREAM
from testing.calling import RATING, REACTION, RULES, SCHEMA, asked, chatted, forced, posted, strict

BROKEN = ("reset", "half", "hang")
VECTORS = ("short_vector", "missing_vector", "nan_vectors")
EMBED = asked("embed", RATING) | {"input": ["Jun is reading.", "It rains."]}


def met(kind: str, body: dict[str, Any] | None = None) -> tuple[int, Any, dict[str, str]]:
    """(status, body, headers) with that fault alone."""
    with ModelServer(faults=Faults(1.0, (kind,))) as server:
        path = "embeddings" if body is EMBED else "chat/completions"
        status, data, headers = posted(server, path, body or asked("rate", RATING, response_format=strict(SCHEMA)))
    assert server.log.faults == {kind: 1}
    try:
        return status, json.loads(data), headers
    except ValueError:
        return status, data.decode(), headers


def words(kind: str) -> str:
    """The content of a completion with that fault."""
    return met(kind)[1]["choices"][0]["message"]["content"]


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind not in BROKEN])
def test_every_fault_spoils_its_answer(kind):
    live = {"stream": True} if kind in STREAM else {}
    body = EMBED if kind in VECTORS else asked("react", REACTION, response_format=strict(SCHEMA), **live)
    path = "embeddings" if kind in VECTORS else "chat/completions"
    with ModelServer() as server:
        sound = posted(server, path, body)[1]
    with ModelServer(faults=Faults(1.0, (kind,))) as server:
        spoiled = posted(server, path, body)[1]
    (entry,) = server.log.entries
    assert (spoiled != sound) == bool(entry.fault)
    assert kind in (entry.fault, "single_quotes") and (kind in STREAM) == spoiled.startswith((b"data:", b":", b"\n"))
    assert FAULTS[kind].imitates


@pytest.mark.parametrize(("kind", "error"), [("reset", ConnectionResetError), ("half", http.client.IncompleteRead)])
def test_connections_break(kind, error):
    with ModelServer(faults=Faults(1.0, (kind,))) as server, pytest.raises(error):
        posted(server, "chat/completions", asked("rate", RATING))


def test_a_hanging_request_ends_when_its_client_gives_up():
    with ModelServer(faults=Faults(1.0, ("hang",))) as server:
        with pytest.raises(TimeoutError):
            posted(server, "chat/completions", asked("rate", RATING), timeout=0.2)
        assert posted(server, "embeddings", {"input": "x"})[0] == 200
    assert [entry.fault for entry in server.log.entries if entry.key] == ["hang"]


def test_statuses_are_those_of_real_servers():
    assert met("rate_limited")[0] == 429 and met("rate_limited")[2]["Retry-After"] == "1"
    assert [met(kind)[0] for kind in ("server_error", "unavailable", "bad_request")] == [500, 503, 400]
    status, body, _ = met("overflow")
    assert status == 400 and body["error"]["type"] == "exceed_context_size_error"
    assert met("html")[2]["Content-Type"] == "text/html"
    assert met("empty_object")[1] == {}
    assert met("no_choices")[1]["choices"] is None and met("empty_choices")[1]["choices"] == []


def test_a_truncated_answer_says_that_it_is():
    choice = met("truncated")[1]["choices"][0]
    assert choice["finish_reason"] == "length"
    with pytest.raises(ValueError):
        json.loads(choice["message"]["content"])


def test_the_other_form_is_a_tool_call_for_content_and_content_for_a_tool_call():
    assert met("other_form")[1]["choices"][0]["message"]["tool_calls"]
    assert met("other_form", asked("rate", RATING, **forced(SCHEMA)))[1]["choices"][0]["message"]["content"]


def test_lone_surrogates_and_instructions_reach_the_client():
    talk = asked("react", REACTION, response_format=strict(SCHEMA))
    with ModelServer(faults=Faults(1.0, ("surrogates",))) as server:
        assert "\ud83d" in chatted(server, talk)["choices"][0]["message"]["content"]
    with ModelServer(faults=Faults(1.0, ("leaked_prompt",))) as server:
        assert RULES[:40] in chatted(server, talk)["choices"][0]["message"]["content"]


def test_vectors_do_not_fit():
    rows = {kind: met(kind, EMBED)[1]["data"] for kind in VECTORS}
    sizes = [len(row["embedding"]) for row in rows["short_vector"]]
    assert sizes == [377, 384] and len(rows["missing_vector"]) == 1
    assert rows["nan_vectors"][0]["embedding"][0] != rows["nan_vectors"][0]["embedding"][0]


def test_what_is_drawn_depends_on_the_question_and_on_how_often_it_came():
    def drawn(order: list[int]) -> dict[tuple[Any, ...], str]:
        with ModelServer(faults=Faults(0.5, ("empty_content", "refusal", "fenced"), seed=3)) as server:
            for tick in order:
                chatted(server, asked("rate", RATING, tick=tick))
        return {(*entry.key, entry.repeats): entry.fault for entry in server.log.entries}

    ticks = [tick for tick in range(20) for _ in range(3)]
    first = drawn(ticks)
    assert first == drawn(ticks[::-1])
    assert len(first) == 60 and 15 < sum(map(bool, first.values())) < 45
    assert set(first.values()) == {"", "empty_content", "refusal", "fenced"}
    tried = [[first[7, "mira", tick, "rate", 0, 0, max_attempts] for max_attempts in range(3)] for tick in range(20)]
    assert any("" in kinds and any(kinds) for kinds in tried)
    assert any(len({*kinds} - {""}) > 1 for kinds in tried)


@pytest.mark.parametrize("kind", STREAM)
def test_an_answer_at_once_is_not_broken_as_a_stream(kind):
    with ModelServer(faults=Faults(1.0, (kind,))) as server:
        assert chatted(server, asked("rate", RATING))["choices"]
    assert not server.log.faults


def test_a_request_of_nobody_is_never_spoiled():
    with ModelServer(faults=Faults(1.0)) as server:
        for _ in range(20):
            assert chatted(server, {"messages": [{"role": "user", "content": "Hello"}]})["choices"]
    assert not server.log.faults


def test_every_kind_comes_up():
    faults = Faults(1.0, tuple(kind for kind in FAULTS if kind not in (*BROKEN, *VECTORS)))
    with ModelServer(faults=faults) as server:
        for tick in range(250):
            shape = {"response_format": strict(SCHEMA), "stream": True}
            posted(server, "chat/completions", asked("react", REACTION, tick=tick, **shape))
    assert set(server.log.faults) == set(faults.kinds)


def test_the_page_tells_every_fault():
    page = (Path(__file__).parents[2] / "docs" / "test-server.md").read_text(encoding="utf-8")
    for name, fault in FAULTS.items():
        assert f"| `{name}` | {fault.imitates} | {fault.calls_for} |" in page


def test_a_rate_or_a_kind_there_is_not_is_said():
    with pytest.raises(UsageError, match="0 to 1"):
        Faults(1.5)
    with pytest.raises(UsageError, match="no fault 'tired'"):
        Faults(0.1, ("tired",))


def test_whatever_a_fault_makes_up_bears_the_mark():
    for kind in ("refusal", "prose", "think_closed", "wrong_schema", "html"):
        assert MARK in json.dumps(met(kind)[1])
