"""The key goes into one header and nowhere else."""

from __future__ import annotations

import gc
import json
import logging
import traceback

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.parts.model_servers.http import Key
from commonplace.servers import SERVERS, KnownServer
from parts.model_servers.local_server import KEY, LocalServer, Sent, asked, completion, duet, error, minded, using

ECHO = f"your key is {KEY}, Bearer {KEY}"


def test_the_key_of_openai_must_be_there(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set") as refused:
        minded("openai:gpt-4.1-mini")
    assert "export OPENAI_API_KEY=" in refused.value.hint


@pytest.mark.parametrize("value", ["sk-ключ12345", "sk-two words", "sk-line\nline2"])
def test_what_cannot_be_a_key_is_refused_without_being_repeated(monkeypatch, value):
    monkeypatch.setenv("COMMONPLACE_API_KEY", value)
    with pytest.raises(UsageError) as refused:
        minded("ollama:m")
    assert "sk-" not in str(refused.value)


def test_each_server_gets_its_own_key_and_nothing_else_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-only")
    monkeypatch.setenv("COMMONPLACE_API_KEY", KEY)
    for name, value in {"ORG_ID": "org-1", "PROJECT_ID": "proj-1", "CUSTOM_HEADERS": "X-Mine: mine-only"}.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    with LocalServer() as server:
        servers = {**SERVERS, "openai": KnownServer(server.url, variable="OPENAI_API_KEY", wants=True)}
        asked(minded("openai:m", servers=servers))
        assert {headers["Authorization"] for headers in server.headers} == {"Bearer sk-of-openai-only"}
        server.headers.clear()
        asked(minded(f"openai:m@{server.url}", servers=servers))
        asked(minded(server.url))
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    told = json.dumps(server.headers)
    assert not any(part in told for part in ("org-1", "proj-1", "mine-only", "Stainless", "OpenAI"))


def test_without_a_key_no_authorization_is_sent(monkeypatch):
    monkeypatch.delenv("COMMONPLACE_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with LocalServer() as server:
        asked(minded(server.url))
    assert not any("authorization" in map(str.lower, headers) for headers in server.headers)


ESCAPED = json.dumps(completion(json.dumps({"plan": "", "utterance": ECHO}))).replace("/", "\\/")

TWICE = completion(json.dumps({"plan": "", "utterance": ECHO}).replace("/", "\\/"))

SAYINGS = [
    error(400, ECHO),
    error(401, ECHO),
    error(403, ECHO, code=KEY, param=KEY),
    error(404, ECHO),
    error(400, f"maximum context {ECHO}"),
    error(503, ECHO),
    error(500, ECHO),
    Sent(ECHO.encode(), 418),
    Sent(ECHO.encode(), 429, {"Retry-After": KEY}),
    Sent(ECHO.encode()),
    Sent(completion(ECHO)),
    Sent(completion(None, refusal=ECHO)),
    Sent(ESCAPED.encode()),
    Sent(ESCAPED.replace("choices", "oops").encode()),
    Sent(ESCAPED.replace("choices", "oops").encode(), 400),
    Sent(TWICE),
    Sent(status=307, headers={"Location": f"http://x/{KEY}"}),
    Sent(reset=True),
]


@pytest.mark.parametrize(
    ("sent", "early"),
    [
        pytest.param(sent, early, marks=[pytest.mark.slow] * (number % 2 == early))
        for number, sent in enumerate(SAYINGS)
        for early in (True, False)
    ],
)  # each saying once in the fast suite, early and late in turn
def test_the_key_is_in_no_error_reply_log_or_repr(monkeypatch, caplog, sent, early):
    monkeypatch.setenv("COMMONPLACE_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    shown = []
    with LocalServer(lambda *_: sent) as server:
        server.models = [{"id": f"m-{KEY}"}]
        if early:
            server.any = lambda path, number: sent
        mind = minded(server.url)
        try:
            reply = asked(mind, duet(memories=2))
            shown += [repr(reply), reply.model_dump_json() if hasattr(reply, "model_dump_json") else ""]
        except CommonplaceError as failed:
            shown += [str(failed), repr(failed), *traceback.format_exception(failed)]
    shown += [repr(mind), str(vars(mind)), repr(mind._knowledge), *(record.getMessage() for record in caplog.records)]
    shown += [repr(thing) for thing in gc.get_objects() if isinstance(thing, Key)]
    shown = [text.replace("\\", "") for text in shown]
    assert not any(KEY in text or KEY.split("-")[-1] in text for text in shown)


def test_capabilities_do_not_hold_the_key(monkeypatch):
    monkeypatch.setenv("COMMONPLACE_API_KEY", KEY)
    with LocalServer() as server:
        server.models = [{"id": f"m-{KEY}"}]
        assert KEY not in repr(using(minded(server.url), lambda mind: mind.capabilities()))
