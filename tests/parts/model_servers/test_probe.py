"""What a server takes is found out once, and again when it no longer takes it."""

from __future__ import annotations

import asyncio
import json

import pytest

from commonplace.errors import UsageError
from commonplace.minds.mind import estimated_tokens
from commonplace.minds.tasks import REACT
from commonplace.minds.tasks.wire import schema
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.parts.model_servers.client import Outage
from commonplace.parts.model_servers.request import STRUCTURES
from commonplace.servers import KnownServer
from parts.model_servers.local_server import (
    RATING,
    LocalServer,
    PlainBook,
    Sent,
    Waits,
    asked,
    called,
    completion,
    error,
    form_of,
    minded,
    request_key,
    using,
)

GOOD = '{"ratings": [{"importance": 4}]}'


def capabilities(mind):
    return using(mind, lambda mind: mind.capabilities())


@pytest.mark.parametrize("deaf", [False, True])
@pytest.mark.parametrize(
    ("forms", "found"),
    [
        (("json_schema", "json_object", "tool"), "json_schema"),
        (("json_object", "tool"), "json_object"),
        (("tool",), "tool"),
        (("json_mode",), "json_mode"),
        ((), "text"),
    ],
)
def test_the_best_form_that_is_obeyed_is_used(forms, found, deaf):
    with LocalServer(lambda *_: Sent(completion(GOOD)), forms=forms, deaf=deaf) as server:
        mind = minded(server.url)
        assert capabilities(mind).structured == found
        assert asked(mind).outcome == "value"
    assert form_of(server.asked[0]) == found
    assert ("JSON Schema" in server.asked[0]["messages"][-1]["content"]) is (found in ("json_mode", "text"))


def test_a_form_that_is_answered_with_500_is_no_form():
    """As llama-cpp-python does with `json_schema`."""
    with LocalServer(forms=("json_object",)) as server:
        server.probe = lambda body: Sent(status=500) if form_of(body) == "json_schema" else None
        assert capabilities(minded(server.url)).structured == "json_object"


def test_one_bad_answer_to_a_probe_is_taken_for_chance():
    with LocalServer() as server:
        bad = [Sent(completion("{}"))]
        server.probe = lambda body: bad.pop() if form_of(body) == "json_schema" and bad else None
        assert capabilities(minded(server.url)).structured == "json_schema"


def test_thirty_two_first_questions_probe_once():
    with LocalServer() as server:
        mind = minded(server.url)

        async def work(mind):
            return await asyncio.gather(*(mind.answer(RATING, request_key(n)) for n in range(32)))

        replies = using(mind, work)
        using(mind, work)
    assert server.paths.count("/v1/models") == 1
    assert len(server.probed) == 2
    assert len(server.asked) == 64
    assert sorted(reply.calls for reply in replies) == [1] * 31 + [5], "models, two probes, embeddings, the question"
    assert sum(reply.calls for reply in replies) + 32 == len(server.paths)


def test_a_probe_that_is_cancelled_is_made_by_another():
    with LocalServer() as server:
        server.probe = lambda body: Sent(completion('{"word": "lantern"}'), delay=0.1)

        async def work(mind):
            tasks = [asyncio.ensure_future(mind.answer(RATING, request_key(n))) for n in range(3)]
            await asyncio.sleep(0.05)
            tasks[0].cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

        cancelled, *others = using(minded(server.url), work)
    assert isinstance(cancelled, asyncio.CancelledError)
    assert [reply.outcome for reply in others] == ["value", "value"]


def test_a_probe_that_fails_is_made_again_by_the_next_question():
    with LocalServer() as server:
        mind = minded(server.url)
        server.models = Sent({"data": []})
        with pytest.raises(UsageError, match="lists no model"):
            asked(mind)
        server.models = [{"id": "late"}]
        assert asked(mind).outcome == "value"


def test_a_server_that_hangs_has_no_capabilities_but_an_outage():
    with LocalServer() as server:
        server.any = lambda path, number: Sent(delay=0.3)
        with pytest.raises(Outage, match="no answer within"):
            capabilities(minded(server.url, timeout=0.1))


def test_the_first_listed_model_serves_when_none_is_named():
    with LocalServer() as server:
        asked(minded(server.url))
        asked(minded(f"{server.url}#big"))
    assert [body["model"] for body in server.asked] == ["tiny", "big"]


def test_a_server_that_lists_no_models_needs_one_named():
    with LocalServer() as server:
        server.models = Sent(status=404)
        with pytest.raises(UsageError, match=r"no list of models under .*/v1/models: 404"):
            asked(minded(server.url))
        assert asked(minded(f"{server.url}#mine")).outcome == "value"


@pytest.mark.parametrize(
    ("page", "raised", "said"),
    [
        (Sent(b"<h1>Welcome to the router</h1>"), UsageError, "no list of models under .*: 200 <h1>Welcome"),
        (Sent({}), UsageError, "no list of models"),
        (Sent(status=302, headers={"Location": "http://127.0.0.1:1/v1"}), UsageError, "sends requests elsewhere"),
        (Sent({"error": "no model loaded yet"}, 500), Outage, "does not answer: 500 no model loaded yet"),
    ],
    ids=["a web page", "nothing", "a redirect", "an error"],
)
def test_what_is_no_list_of_models_is_told_as_it_is(page, raised, said):
    with LocalServer() as server:
        server.models = page
        with pytest.raises(raised, match=said):
            asked(minded(server.url))


@pytest.mark.parametrize("failing", [error(400, "response_format is not possible with this grammar"), Sent(status=500)])
def test_a_form_that_begins_to_fail_is_given_up_for_that_task(failing):
    def chat(body, number):
        return (
            failing if form_of(body) == "json_schema" else Sent(called(GOOD) if "tools" in body else completion(GOOD))
        )

    with LocalServer(chat) as server:
        mind = minded(server.url)
        assert asked(mind).outcome == "value"
        asked(mind)
    forms = [form_of(body) for body in server.asked]
    assert forms[-2:] == ["json_object", "json_object"], "the second question starts with what served the first"


@pytest.mark.parametrize(
    ("blamed", "gone"),
    [
        ("Unsupported value: 'temperature' does not support 0.5 with this model.", "temperature"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
    ],
)
def test_a_field_a_server_does_not_take_is_left_out(blamed, gone):
    with LocalServer() as server:
        server.probe = lambda body: error(400, blamed) if gone in body else None
        reply = asked(minded(server.url))
    assert reply.outcome == "value"
    assert gone not in server.asked[0]
    assert "max_tokens" in server.asked[0] or "max_completion_tokens" in server.asked[0]


THINKING = Sent(completion("<think>Let me see, what could they mean by yes", "length"))


@pytest.mark.parametrize(
    ("kind", "stops", "sent"),
    [
        ("vllm", lambda body: body.get("chat_template_kwargs") == {"enable_thinking": False}, "chat_template_kwargs"),
        ("ollama", lambda body: body.get("reasoning_effort") == "none", "reasoning_effort"),
        ("lmstudio", lambda body: body["messages"][-1]["content"].endswith(" /no_think"), "messages"),
    ],
)
def test_thinking_is_switched_off_in_the_server_s_own_way(kind, stops, sent):
    with LocalServer() as server:
        server.probe = lambda body: None if stops(body) else THINKING
        mind = minded(f"{kind}:qwen3@{server.url}")
        can = capabilities(mind)
        asked(mind)
    assert not can.thinks
    assert sent in server.asked[0]
    assert stops(server.asked[0])
    assert server.asked[0]["max_tokens"] == 100


def test_a_model_that_cannot_stop_thinking_gets_room_for_it():
    with LocalServer() as server:
        server.probe = lambda body: THINKING if form_of(body) == "text" else None
        mind = minded(server.url)
        assert capabilities(mind).thinks
        asked(mind)
    assert server.asked[0]["max_tokens"] > 1000


def test_a_switch_that_is_refused_is_not_used():
    with LocalServer() as server:

        def probe(body):
            if body.get("reasoning_effort") in ("none", "minimal"):
                return error(400, f"Unsupported value: {body['reasoning_effort']}", param="reasoning_effort")
            return None

        server.probe = probe
        servers = {"openai": KnownServer(server.url)}
        mind = minded("openai:gpt-5-mini", servers=servers)
        can = capabilities(mind)
    assert (can.switch, can.thinks) == ("low", True)


def test_context_and_vectors_are_told():
    with LocalServer() as server:
        server.models = [{"id": "tiny", "max_model_len": 4096}]
        server.embed = lambda body: Sent({"data": [{"embedding": [0.1, 0.2, 0.3]}]})
        can = capabilities(minded(server.url))
    assert (can.context, can.embeddings, can.models, can.seed) == (4096, 3, ("tiny",), True)


def test_only_a_server_that_says_it_is_for_tests_gets_the_typed_input():
    with LocalServer() as server:
        asked(minded(server.url))
        server.models = [{"id": "tiny", "commonplace": {"typed": True}}]
        asked(minded(server.url), by=request_key(number=5, attempt=1))
    plain, typed = server.asked
    assert "commonplace" not in plain
    assert typed["commonplace"]["task"] == "rate"
    assert typed["commonplace"]["input"]["texts"] == ["It rains."]
    assert typed["commonplace"]["request_key"] == {"seed": 7, "agent": "ann", "tick": 3, "number": 5, "attempt": 1}


def test_the_seed_and_temperature_of_a_question_are_sent():
    with LocalServer() as server:
        mind = minded(server.url)
        for by in (request_key(), request_key(), request_key(number=1), request_key(attempt=1)):
            asked(mind, by=by)
    seeds = [body["seed"] for body in server.asked]
    assert seeds[0] == seeds[1]
    assert len(set(seeds)) == 3
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert server.asked[0]["temperature"] == 0.5


def test_tokens_are_those_the_server_tells():
    usage = {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 30}}
    with LocalServer(lambda *_: Sent({**completion(GOOD), "usage": usage})) as server:
        mind = minded(server.url)
        capabilities(mind)
        reply = asked(mind)
    assert (reply.prompt_tokens, reply.cached_tokens, reply.answer_tokens, reply.calls) == (50, 30, 9, 1)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": -1, "completion_tokens": True},
        {"prompt_tokens": "9"},
        {"prompt_tokens": 99_999, "completion_tokens": 99_999},
    ],
)
def test_tokens_nobody_tells_are_estimated(usage):
    with LocalServer(lambda *_: Sent({**completion(GOOD), "usage": usage})) as server:
        mind = minded(server.url)
        capabilities(mind)
        reply = asked(mind)
    assert reply.prompt_tokens > 0
    assert reply.answer_tokens == estimated_tokens(GOOD)


@pytest.mark.parametrize("form", STRUCTURES)
def test_what_is_estimated_is_all_that_is_sent_in_whatever_form_an_answer_is_asked(form):
    with LocalServer(forms=(form,)) as server:
        mind = ChatMind(server.url, Shaped(), sleep=Waits())
        capabilities(mind)
        reply = asked(mind)
    body = server.asked[-1]
    assert form_of(body) == form
    settings = {"model", "max_tokens", "temperature", "seed", "tool_choice"}
    sent = json.dumps({name: part for name, part in body.items() if name not in settings}, separators=(",", ":"))
    assert estimated_tokens(json.dumps(Shaped.schema)) > 300
    assert reply.prompt_tokens == pytest.approx(estimated_tokens(sent), rel=0.1)


class Shaped(PlainBook):
    """Asks for an answer of many parts."""

    schema = schema(REACT)
