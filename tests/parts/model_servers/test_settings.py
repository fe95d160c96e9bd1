"""Settings of a task on a model server: sampling, thinking, headers, fields, addresses with a query, kept answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import UsageError
from commonplace.minds.mind import Reply
from commonplace.minds.prompts.book import PromptBook
from commonplace.parts.model_servers.answer_cache import AnswerCache
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.parts.model_servers.http import Key, Page, url_of
from commonplace.scenario.model import MindPart
from commonplace.servers import base_url
from minds.tasks.asked import SETTING, every_ask
from parts.model_servers.local_server import (
    KEY,
    RATING,
    LocalServer,
    Sent,
    asked,
    completion,
    duet,
    error,
    gathered,
    minded,
    request_key,
    using,
)


def sent(part: MindPart, server: LocalServer, **more: Any) -> dict[str, Any]:
    """The request of a rating under these settings."""
    asked(minded(server.url, tasks={"rate": part}, **more))
    return server.asked[-1]


def test_sampling_is_that_of_the_task() -> None:
    with LocalServer() as server:
        plain = sent(MindPart(), server)
        assert plain["temperature"] == 0.5 and "reasoning_effort" not in plain
        assert sent(MindPart(temperature=1.25), server)["temperature"] == 1.25
        assert sent(MindPart(body={"top_p": 0.9}), server)["top_p"] == 0.9
        seeded = sent(MindPart(seed=4), server)["seed"]
        assert seeded != plain["seed"] and seeded == sent(MindPart(seed=4), server)["seed"]
        other = using(minded(server.url, tasks={"duet_turn": MindPart(temperature=0)}), _both)
        assert all(reply.calls for reply in other)
        assert {(body["temperature"]) for body in server.asked[-2:]} == {0.5, 0}


async def _both(mind: Any) -> list[Reply]:
    return await gathered(mind.answer(RATING, request_key()), mind.answer(duet(), request_key(1)))


def test_a_model_may_think_where_its_task_allows_it_and_as_long_as_it_says() -> None:
    def thinking(body: dict[str, Any]) -> Sent:
        off = body.get("chat_template_kwargs") == {"enable_thinking": False}
        return Sent(completion("Yes." if off else "<think>Hm.</think>Yes."))

    with LocalServer() as server:
        server.probe = lambda body: thinking(body) if "response_format" not in body else None
        assert sent(MindPart(), server)["chat_template_kwargs"] == {"enable_thinking": False}
        allowed = sent(MindPart(thinking=700), server)
        assert "chat_template_kwargs" not in allowed and allowed["max_tokens"] == 100 + 700
        assert "chat_template_kwargs" in sent(MindPart(thinking=0), server)

        server.probe = lambda body: (
            Sent(completion("<think>Hm.</think>Yes.")) if "response_format" not in body else None
        )
        assert sent(MindPart(thinking=0), server)["max_tokens"] == 100 + 2000, "it thinks whatever it is told"


def test_an_effort_is_named_until_the_server_refuses_it() -> None:
    def chat(body: dict[str, Any], number: int) -> Sent:
        if "reasoning_effort" in body and not takes:
            return error(400, "unknown field reasoning_effort")
        return Sent(completion('{"ratings": [{"importance": 4}]}'))

    takes = True
    with LocalServer(chat) as server:
        body = sent(MindPart(effort="low"), server)
        assert body["reasoning_effort"] == "low" and body["max_tokens"] == 100 + 2000
        takes = False
        mind = minded(server.url, tasks={"rate": MindPart(effort="low", thinking=300)})
        first, second = using(mind, lambda mind: gathered(*(mind.answer(RATING, request_key(n)) for n in range(2))))
        assert first.outcome == second.outcome == "value"
        assert "reasoning_effort" not in server.asked[-1] and server.asked[-1]["max_tokens"] == 400


def test_headers_are_sent_and_what_the_environment_puts_into_them_is_never_told(monkeypatch: Any) -> None:
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    part = MindPart(headers={"api-key": "$GATEWAY_KEY", "X-Team": "town of ${GATEWAY_KEY}"})
    with LocalServer(lambda body, number: Sent(completion(f"I know {KEY}!"))) as server:
        reply = asked(minded(server.url, tasks={"rate": part}))
        assert all(one["api-key"] == KEY and one["X-Team"] == f"town of {KEY}" for one in server.headers)
        assert KEY not in repr(reply) and "[key]" in reply.raw
        asked(minded(server.url, tasks={"rate": part}, with_key=False))
        assert "api-key" not in server.headers[-1], "a file alone names no variable"
    monkeypatch.delenv("GATEWAY_KEY")
    with pytest.raises(UsageError, match="GATEWAY_KEY is not set"):
        minded(server.url, tasks={"rate": part})


def test_a_path_goes_before_the_query_of_a_base_url() -> None:
    azure = base_url("https://host/openai/deployments/x/?api-version=2024-10-21")
    assert azure == "https://host/openai/deployments/x?api-version=2024-10-21"
    assert url_of(azure, "/chat/completions") == (
        "https://host/openai/deployments/x/chat/completions?api-version=2024-10-21"
    )
    with LocalServer() as server:
        assert asked(minded(f"{server.url}?api-version=1#tiny")).outcome == "value"
        assert {path.partition("?")[2] for path in server.paths} == {"api-version=1"}
        assert "/v1/chat/completions?api-version=1" in server.paths and server.asked[-1]["model"] == "tiny"


@pytest.mark.parametrize("name", ["key", "api-key", "api_key", "access_token", "subscription-key", "sig"])
def test_a_query_holds_no_key(name: str) -> None:
    with pytest.raises(UsageError, match="looks like a key") as caught:
        base_url(f"https://host/v1?{name}=very-secret-value")
    assert "very-secret" not in str(caught.value)


# ── kept answers ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_very_same_request_is_answered_from_the_file_and_costs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "answers.cache"
    with LocalServer() as server:
        first = asked(minded(server.url, cache=AnswerCache(file)))
        assert (first.reused, first.calls > 0, len(server.asked)) == (0, True, 1)
        again = asked(minded(server.url, cache=AnswerCache(file)))
        assert (again.value, again.raw, again.reused) == (first.value, first.raw, 1)
        assert len(server.asked) == 1, "only what the server can do is asked again"
        others = [
            asked(minded(server.url, cache=AnswerCache(file)), by=request_key(1)),
            asked(minded(server.url, cache=AnswerCache(file), tasks={"rate": MindPart(temperature=0)})),
            asked(minded(f"{server.url}#big", cache=AnswerCache(file))),
        ]
        assert [reply.reused for reply in others] == [0, 0, 0], "another seed, temperature, model"
        known = minded(server.url, cache=AnswerCache(file))
        replies = using(known, lambda mind: gathered(*(mind.answer(RATING, request_key()) for _ in range(3))))
        assert [(one.reused, one.prompt_tokens > 0) for one in replies[1:]] == [(1, False)] * 2
        assert replies[2].calls == 0


# ── the small form ───────────────────────────────────────────────────────────────────────────────────────────────────


def small(server: LocalServer, task: str) -> tuple[Reply, dict[str, Any]]:
    """The reply to a question in the small form, and the request."""
    reply = asked(ChatMind(server.url, PromptBook("en", SETTING, small={task}), timeout=5.0), every_ask()[task])
    return reply, server.asked[-1]


def test_a_question_in_the_small_form_is_a_chat_without_a_schema() -> None:
    with LocalServer(lambda body, number: Sent(completion("It will hold. And so"))) as server:
        reply, body = small(server, "duet_turn")
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]
    assert not {"response_format", "tools", "grammar"} & set(body) and body["max_tokens"] == 80
    assert reply.value is not None and reply.value.model_dump()["utterance"] == "It will hold. And so"
    assert not reply.flaws.get("repaired")


def test_an_answer_in_words_that_the_limit_ended_is_whole_sentences() -> None:
    with LocalServer(lambda body, number: Sent(completion("It will hold. And so", "length"))) as server:
        reply, _ = small(server, "duet_turn")
    assert reply.value is not None and reply.value.model_dump()["utterance"] == "It will hold."


def test_a_server_of_llama_cpp_can_only_answer_with_a_letter() -> None:
    for owner, grammar in (("llamacpp", 'root ::= ("A" | "B" | "C" | "D" | "E" | "F")\n'), ("vllm", None)):
        with LocalServer(lambda body, number: Sent(completion("B"))) as server:
            server.models = [{"id": "tiny", "owned_by": owner}]
            reply, body = small(server, "react")
        assert reply.outcome == "value" and body.get("grammar") == grammar


def test_asked_again_in_the_small_form_the_question_is_the_same_with_another_seed() -> None:
    answers = iter(["perhaps", "A"])
    with LocalServer(lambda body, number: Sent(completion(next(answers)))) as server:
        mind, ask = ChatMind(server.url, PromptBook("en", SETTING, small={"react"})), every_ask()["react"]
        before = asked(mind, ask)
        again = asked(mind, ask, request_key(attempt=1, before=before))
        first, second = server.asked
    assert (before.outcome, before.kind, again.outcome) == ("malformed", "choice", "value")
    assert first["messages"] == second["messages"] and first["seed"] != second["seed"]


# ── kept answers ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_that_cannot_be_used_is_not_kept(tmp_path: Path) -> None:
    file, answers = tmp_path / "answers.cache", iter(["no", '{"ratings": [{"importance": 4}]}'])
    with LocalServer(lambda body, number: Sent(completion(next(answers)))) as server:
        outcomes = [asked(minded(server.url, cache=AnswerCache(file))) for _ in range(3)]
    assert [(reply.outcome, reply.reused) for reply in outcomes] == [("malformed", 0), ("value", 0), ("value", 1)]


def _page(text: str) -> Page:
    return Page(200, "", {"text": text})


def test_the_file_is_bounded_and_keeps_what_was_used_last(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.cache", largest=200_000)
    for number in range(300):
        cache.keep({"number": number}, _page("x" * 1000))
        assert cache.page({"number": 0}) is not None
    cache.close()
    kept = [number for number in range(300) if cache.page({"number": number}) is not None]
    assert kept[0] == 0 and kept[-1] == 299 and 100 < len(kept) < 250
    assert kept[1:] == list(range(kept[1], 300)), "what was used longest ago has gone"


def test_another_kind_of_file_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database at all, but long enough to look like one" * 20)
    with pytest.raises(UsageError, match="not a cache of answers"):
        AnswerCache(tmp_path / "notes.txt")


def test_the_key_is_in_no_kept_answer(tmp_path: Path) -> None:
    file = tmp_path / "answers.cache"
    page = Page.of(200, _headers(), b'{"a": "sk-very-secret/0123456789"}', Key("X", KEY))
    AnswerCache(file).keep({"messages": []}, page)
    assert all(KEY.encode() not in part.read_bytes() for part in tmp_path.iterdir())


def _headers() -> Any:
    import httpx2

    return httpx2.Headers()
