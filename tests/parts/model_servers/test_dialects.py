"""Each protocol says the same as OpenAI's: what is sent, what is read, what is refused, and who gets the key."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from itertools import product

import pytest

from commonplace.cli import main
from commonplace.errors import CommonplaceError, UsageError
from commonplace.minds.mind import Ask
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.tasks import EMBED, EmbedInput
from commonplace.parts.model_servers.dialects import dialect_of
from commonplace.parts.model_servers.dialects.dialect import CHAT
from commonplace.parts.model_servers.http import Page
from commonplace.parts.model_servers.reply import said, usage_of
from commonplace.parts.model_servers.request import STRUCTURES
from commonplace.scenario.model import MindPart
from commonplace.servers import SERVERS, KnownServer, server_named
from commonplace.testing.server import FAULTS, Faults, ModelServer
from e2e.command import ends
from parts.model_servers.local_server import KEY, LocalServer, Sent, asked, duet, minded, using

OTHERS = ("anthropic", "gemini", "openrouter")
SCHEMA = {
    "type": "object",
    "properties": {"maximum": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["maximum"],
    "additionalProperties": False,
}
MESSAGES = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "How many?"}]
BODY = {"model": "m-1", "messages": MESSAGES, "max_tokens": 90, "temperature": 0.5, "seed": 7, "top_p": 0.9}
SHAPED = {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}}}
FORCED = {
    "tools": [{"type": "function", "function": {"name": "n", "description": "The answer.", "parameters": SCHEMA}}],
    "tool_choice": {"type": "function", "function": {"name": "n"}},
}


def sent(kind, **more):
    """(path, body) of a request as that kind of server gets it."""
    return dialect_of(kind).request(CHAT, BODY | more)


def read(kind, data, status=200, body=None):
    """A page of that kind of server as OpenAI's."""
    return dialect_of(kind).page(Page(status, json.dumps(data), data), CHAT, body or BODY)


@pytest.fixture(autouse=True)
def waits_for_nothing(monkeypatch):
    monkeypatch.setattr("commonplace.parts.model_servers.client._seconds_to_wait", lambda *_: 0.0)


# ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_anthropic_gets_a_marked_system_prompt_a_schema_without_bounds_and_no_seed():
    path, body = sent("anthropic", **SHAPED)
    assert path == "/messages"
    assert body["system"] == [{"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral"}}]
    assert body["messages"] == MESSAGES[1:]
    assert body["max_tokens"] == 90 and body["temperature"] == 0.5 and body["top_p"] == 0.9
    bare = {**SCHEMA, "properties": {"maximum": {"type": "integer"}}}
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": bare}}
    assert not {"seed", "response_format"} & set(body)


def test_anthropic_gets_a_forced_tool_in_its_own_words():
    body = sent("anthropic", **FORCED)[1]
    assert body["tools"] == [{"name": "n", "description": "The answer.", "input_schema": SCHEMA}]
    assert body["tool_choice"] == {"type": "tool", "name": "n"}


@pytest.mark.parametrize(
    ("effort", "fields"),
    [
        ("none", {"thinking": {"type": "disabled"}}),
        ("minimal", {"thinking": {"type": "between_tools"}}),
        ("low", {"output_config": {"effort": "low"}}),
    ],
)
def test_thinking_of_claude_is_switched_off_or_down(effort, fields):
    body = sent("anthropic", reasoning_effort=effort)[1]
    assert {name: body.get(name) for name in fields} == fields
    assert "reasoning_effort" not in body


def test_effort_and_schema_share_output_config():
    body = sent("anthropic", reasoning_effort="low", **SHAPED)[1]
    assert set(body["output_config"]) == {"effort", "format"}


def test_gemini_gets_its_own_words():
    path, body = sent("gemini", **SHAPED)
    assert path == "/models/m-1:generateContent"
    assert body["systemInstruction"] == {"parts": [{"text": "Rules."}]}
    assert body["contents"] == [{"role": "user", "parts": [{"text": "How many?"}]}]
    assert body["generationConfig"] == {
        "maxOutputTokens": 90, "temperature": 0.5, "seed": 7, "topP": 0.9,
        "responseMimeType": "application/json", "responseJsonSchema": SCHEMA,
    }  # fmt: skip
    assert set(body) == {"systemInstruction", "contents", "generationConfig"}


def test_gemini_gets_a_forced_tool_and_plain_json():
    body = sent("gemini", **FORCED)[1]
    assert body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == SCHEMA
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["n"]}}
    config = sent("gemini", response_format={"type": "json_object"})[1]["generationConfig"]
    assert config["responseMimeType"] == "application/json" and "responseJsonSchema" not in config


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "low", {"thinkingBudget": 1024}),
        ("gemini-3-flash", "none", {"thinkingBudget": 0}),
        ("gemini-3-flash", "minimal", {"thinkingLevel": "minimal"}),
    ],
)
def test_thinking_of_gemini_goes_by_budget_or_level(model, effort, thinking):
    assert sent("gemini", model=model, reasoning_effort=effort)[1]["generationConfig"]["thinkingConfig"] == thinking


def test_openrouter_is_asked_for_providers_that_take_all_fields():
    path, body = sent("openrouter", reasoning_effort="none", **SHAPED)
    assert path == CHAT
    assert body["provider"] == {"require_parameters": True}
    assert body["reasoning"] == {"effort": "none"} and "reasoning_effort" not in body
    assert body["messages"] == MESSAGES
    assert sent("openrouter", provider={"sort": "price"})[1]["provider"] == {
        "require_parameters": True,
        "sort": "price",
    }
    marked = sent("openrouter", model="anthropic/claude-haiku-5.5")[1]["messages"][0]["content"][-1]
    assert marked["cache_control"] == {"type": "ephemeral"}


def test_a_setting_in_a_protocol_s_own_words_is_sent_as_it_is():
    assert sent("anthropic", thinking={"type": "adaptive"})[1]["thinking"] == {"type": "adaptive"}
    assert sent("gemini", safetySettings=[])[1]["safetySettings"] == []
    assert sent("gemini", generationConfig={"topK": 3})[1]["generationConfig"]["topK"] == 3


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def message(*blocks, stop="end_turn", **more):
    return {"type": "message", "content": list(blocks), "stop_reason": stop, **more}


def candidate(*parts, finish="STOP", **more):
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}], **more}


TEXT = {"type": "text", "text": '{"n": 1}'}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("anthropic", message({"type": "thinking", "thinking": "", "signature": "x"}, TEXT)),
        ("anthropic", message({"type": "thinking", "thinking": "Hm {2}"}, TEXT)),
        ("gemini", candidate({"text": "Hm {2}", "thought": True}, {"text": '{"n": 1}'})),
        ("gemini", candidate({"text": '{"n": 1}'}, usageMetadata={"thoughtsTokenCount": 12})),
        ("openrouter", {"choices": [{"message": {"content": '{"n": 1}', "reasoning": "Hm {2}"}}]}),
    ],
)
def test_thinking_is_told_and_kept_apart_from_the_answer(kind, data):
    answer = said(read(kind, data))
    assert (answer.text, answer.thought, answer.cut) == ('{"n": 1}', True, False)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("anthropic", message({"type": "tool_use", "name": "n", "input": {"n": 1}}, stop="tool_use")),
        ("gemini", candidate({"functionCall": {"name": "n", "args": {"n": 1}}})),
    ],
)
def test_what_a_tool_was_called_with_is_the_answer(kind, data):
    assert json.loads(said(read(kind, data)).text) == {"n": 1}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("anthropic", message(TEXT, stop="max_tokens")),
        ("anthropic", message(TEXT, stop="model_context_window_exceeded")),
        ("gemini", candidate({"text": "{"}, finish="MAX_TOKENS")),
    ],
)
def test_a_limit_of_length_is_told(kind, data):
    assert said(read(kind, data)).cut


@pytest.mark.parametrize(
    ("kind", "data", "status", "found"),
    [
        ("anthropic", message(TEXT, stop="refusal"), 200, "refusal"),
        ("anthropic", message(stop="refusal", stop_details={"explanation": "No."}), 200, "refusal"),
        ("gemini", candidate(finish="SAFETY"), 200, "filtered"),
        ("gemini", candidate({"text": "partly"}, finish="PROHIBITED_CONTENT"), 200, "filtered"),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, 200, "filtered"),
        ("openrouter", {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"]}}}, 403, "filtered"),
        ("anthropic", {}, 200, "choices"),
        ("gemini", {"candidates": []}, 200, "choices"),
    ],
)
def test_what_is_withheld_has_its_kind(kind, data, status, found):
    with pytest.raises(Unusable) as raised:
        said(read(kind, data, status))
    assert raised.value.kind == found


@pytest.mark.parametrize(
    ("kind", "usage", "counted"),
    [
        (
            "anthropic",
            {"usage": {"input_tokens": 20, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 9,
                       "output_tokens": 6}},
            (79, 50, 6),
        ),
        (
            "gemini",
            {"usageMetadata": {"promptTokenCount": 79, "cachedContentTokenCount": 50, "candidatesTokenCount": 4,
                               "thoughtsTokenCount": 2}},
            (79, 50, 6),
        ),
        (
            "openrouter",
            {"choices": [], "usage": {"prompt_tokens": 79, "prompt_tokens_details": {"cached_tokens": 50},
                                      "completion_tokens": 6, "cost": 0.01}},
            (79, 50, 6),
        ),
    ],
)  # fmt: skip
def test_tokens_and_those_of_the_cache_are_counted_alike(kind, usage, counted):
    data = {"anthropic": message(TEXT), "gemini": candidate({"text": "x"}), "openrouter": {}}[kind]
    assert usage_of(read(kind, data | usage), BODY, "") == counted


# ── refusals ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def told(message, kind="invalid_request_error"):
    return {"type": "error", "error": {"type": kind, "message": message}}


def google(code, message, *details, status="INVALID_ARGUMENT"):
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


DAILY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
NOBODY = {"error": {"code": 404, "message": "No endpoints found that can handle the requested parameters."}}


@pytest.mark.parametrize(
    ("kind", "data", "status", "found"),
    [
        ("anthropic", told("Overloaded", "overloaded_error"), 529, (529, "type", "overloaded_error")),
        ("anthropic", told("Your credit balance is too low to access the API"), 400, (402, "type", "billing_error")),
        ("anthropic", told("output_config.format: not supported"), 400, (400, "param", "response_format")),
        ("anthropic", told('"thinking.type.disabled" is not supported'), 400, (400, "param", "reasoning_effort")),
        ("gemini", google(400, "API key not valid.", {"reason": "API_KEY_INVALID"}), 400, (401, "code", None)),
        ("gemini", google(429, "quota", DAILY), 429, (429, "code", "insufficient_quota")),
        (
            "gemini",
            google(400, "bad", {"fieldViolations": [{"field": "generation_config.response_json_schema"}]}),
            400,
            (400, "param", "response_format"),
        ),
        ("gemini", google(400, "Thinking budget 0 is invalid."), 400, (400, "param", "reasoning_effort")),
        ("openrouter", NOBODY, 404, (400, "param", "seed")),
        ("openrouter", {"error": {"code": 502, "message": "down"}}, 200, (502, "code", None)),
        ("openrouter", {"choices": [{"error": {"code": 429, "message": "busy"}}]}, 200, (429, "code", None)),
    ],
)
def test_a_refusal_is_understood(kind, data, status, found):
    page = read(kind, data, status)
    assert (page.status, page.get("error", found[1])) == (found[0], found[2])


def test_gemini_s_delay_is_a_retry_after():
    page = read("gemini", google(429, "slow down", {"retryDelay": "34s"}, status="RESOURCE_EXHAUSTED"), 429)
    assert page.retry_after == "34"


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize(
    "data", [None, [], {}, {"content": 3}, {"candidates": {"0": 1}}, {"error": "no"}, {"error": None}]
)
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_nonsense_of_any_status_is_a_page(kind, data, status):
    assert read(kind, data, status).status in (status, 400)


# ── over HTTP ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def server():
    with ModelServer() as server:
        yield server


def lived(name, path, ticks=24):
    """(status, ends) of a short run."""
    status = main(["run", "plaza", "--mind", name, "--ticks", str(ticks), "--view", "none", "-o", str(path)])
    return status, ends(path)


@pytest.fixture(scope="module")
def plain(server, tmp_path_factory):
    return lived(server.url, tmp_path_factory.mktemp("plain") / "plain.run")


@pytest.mark.parametrize("kind", OTHERS)
def test_a_run_has_the_same_digest_in_every_protocol(kind, server, plain, tmp_path):
    server.log.entries.clear()
    assert lived(server.mind(kind), tmp_path / "a.run") == plain
    assert server.log.asked and not any(entry.status >= 400 for entry in server.log.asked)


@pytest.mark.parametrize(
    ("kind", "header", "value"),
    [
        ("anthropic", "x-api-key", KEY),
        ("gemini", "x-goog-api-key", KEY),
        ("openrouter", "Authorization", f"Bearer {KEY}"),
    ],
)
def test_the_key_goes_into_the_header_of_the_protocol_and_nowhere_else(kind, header, value, monkeypatch, caplog):
    monkeypatch.setenv(SERVERS[kind].variable, KEY)
    monkeypatch.setenv("COMMONPLACE_API_KEY", "another-key")
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"the key {KEY} is not valid"}}
    with LocalServer() as server:
        server.any = lambda path, number: Sent(echo, 401)
        servers = {**SERVERS, kind: KnownServer(server.url, variable=SERVERS[kind].variable, wants=True)}
        with pytest.raises(UsageError) as refused:
            asked(minded(f"{kind}:m", servers=servers))
    assert {name.lower(): got for name, got in server.headers[0].items()}[header.lower()] == value
    assert sum(KEY in got for got in server.headers[0].values()) == 1
    assert not any(KEY in path for path in server.paths)
    assert KEY not in str(refused.value) + "".join(record.getMessage() for record in caplog.records)
    assert SERVERS[kind].variable in refused.value.hint


@pytest.mark.parametrize("kind", OTHERS)
def test_a_key_of_its_own_is_for_its_own_address_only(kind):
    assert server_named(f"{kind}:m").variable == f"{kind.upper()}_API_KEY"
    assert server_named(f"{kind}:m@https://elsewhere/v1").variable == "COMMONPLACE_API_KEY"


@pytest.mark.parametrize("kind", OTHERS)
def test_what_a_server_takes_is_found_out_in_its_protocol(kind, server):
    can = using(minded(server.mind(kind)), lambda mind: mind.capabilities())
    assert (can.structured, can.typed, can.models) == ("json_schema", True, ("offline",))
    assert bool(can.embeddings) is dialect_of(kind).embeds


@pytest.mark.parametrize("kind", ["anthropic", "gemini"])
def test_a_protocol_without_vectors_says_so(kind, server):
    with pytest.raises(UsageError, match="makes no vectors"):
        asked(minded(server.mind(kind)), Ask(EMBED, EmbedInput(texts=("rain",))))


def test_the_forms_of_each_protocol_are_in_order():
    for kind in OTHERS:
        forms = dialect_of(kind).forms
        assert list(forms) == [form for form in STRUCTURES if form in forms] and forms[-1] == "text"


OF_CHAT = [kind for kind in FAULTS if "vector" not in kind and kind != "hang"]
ALIKE = {"filtered": "refusal", "choices": "empty"}
"""Kinds that not every protocol tells apart."""


def met(server, name):
    """(what became of a question, how often it was asked) by a server that is at fault."""
    server.log.entries.clear()
    try:
        reply = asked(minded(name, on_outage="fallback"), duet(memories=2))
        found = (reply.outcome, ALIKE.get(reply.kind, reply.kind), reply.value)
    except CommonplaceError as error:
        found = type(error)
    while server.log.in_flight:  # a stream that was stopped is still being written
        time.sleep(0.01)
    return found, len(server.log.asked)


@pytest.fixture(scope="module")
def usually():
    """Fault → how it was met in OpenAI's protocol, once it was."""
    return {}


@pytest.mark.parametrize("fault", OF_CHAT)
@pytest.mark.parametrize("kind", OTHERS)
def test_every_fault_is_met_as_in_openai_s_protocol(kind, fault, server, usually):
    """With the same outcome, and no more requests: a protocol with fewer forms of answers tries fewer."""
    server.faults = Faults(1.0, (fault,))
    try:
        found, requests = met(server, server.mind(kind))
        usual, most = usually[fault] = usually.get(fault) or met(server, server.url)
        assert found == usual
        assert 0 < requests <= most
    finally:
        server.faults = Faults(0.0)


@pytest.mark.parametrize(("taken", "switch", "thinks"), [("disabled", "effort", False), ("", "low", True)])
def test_a_claude_that_thinks_unasked_is_kept_from_it_as_far_as_it_goes(taken, switch, thinks):
    """`disabled` and `between_tools` are refused where thinking is always on; what is left is a low effort."""

    def answered(body):
        thinking = body.get("thinking", {}).get("type")
        if thinking not in (None, taken):
            return Sent(told(f'"thinking.type.{thinking}" is not supported for this model.'), 400)
        thought = [] if thinking else [{"type": "thinking", "thinking": "", "signature": "x"}]
        return Sent(message(*thought, {"type": "text", "text": '{"word": "lantern"}'}))

    with LocalServer() as server:
        server.probe = answered
        can = using(minded(f"anthropic:m@{server.url}"), lambda mind: mind.capabilities())
    assert (can.switch, can.thinks, can.structured) == (switch, thinks, "json_schema")


FORCED_IS_REFUSED = told("tool_choice: forcing a tool is not supported by this model")


def test_a_form_of_the_settings_that_is_refused_gives_way_to_the_one_that_is_obeyed():
    """Newer models of Anthropic take no forced tool, and the settings of a task may ask for one."""

    def answered(path, number):
        if path.endswith("/models"):
            return Sent({"data": [{"id": "m"}]})
        return Sent(FORCED_IS_REFUSED, 400) if number == 3 else Sent(message(both))

    both = {"type": "text", "text": '{"word": "lantern", "ratings": [{"importance": 4}]}'}
    with LocalServer() as server:
        server.any = answered
        mind = minded(f"anthropic:m@{server.url}", tasks={"rate": MindPart(structured="tool")})
        assert asked(mind).outcome == "value"
        assert mind._knowledge.fallen == {"rate": "json_schema"}
    assert len(server.paths) == 5


def of_disk(folder):
    """All bytes that a run has left in its folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


PAUSING = ("unpaid", "quota", "unavailable", "html", "bad_request", "null_content")
PAUSED = [
    pytest.param(kind, fault, marks=[] if number % len(OTHERS) == OTHERS.index(kind) else pytest.mark.slow)
    for kind, (number, fault) in product(OTHERS, enumerate(PAUSING))
]
"""In `make test` each fault in one of the protocols."""


@pytest.mark.parametrize(("kind", "fault"), PAUSED)
def test_a_paused_run_goes_on_pays_nothing_twice_and_holds_no_key(
    kind, fault, server, plain, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("COMMONPLACE_API_KEY", KEY)
    path = tmp_path / "a.run"
    server.log.entries.clear()
    assert lived(server.mind(kind), path, 20)[0] == 0
    server.faults = Faults(1.0, (fault,))
    try:
        assert main(["resume", str(path), "--ticks", "4", "--view", "none"]) == 3
    finally:
        server.faults = Faults(0.0)
    left = 24 - ends(path).tick
    assert main(["resume", str(path), "--ticks", str(left), "--view", "none"]) == 0
    assert (0, ends(path)) == plain
    answered = Counter(entry.key for entry in server.log.asked if not entry.fault)
    assert max(answered.values()) == 1
    shown = capsys.readouterr()
    assert KEY.encode() not in of_disk(tmp_path) and KEY not in shown.out + shown.err


@pytest.mark.parametrize("kind", OTHERS)
def test_the_doctor_tells_the_protocol(kind, server, capsys):
    assert main(["doctor", "--mind", server.mind(kind)]) == 0
    assert f"spoken to in {dialect_of(kind).title}" in capsys.readouterr().out
