"""Servers that are busy, slow, away or unwilling."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from commonplace.errors import Paused, UsageError
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Unusable
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.parts.model_servers.client import AT_ONCE, MOST_ATTEMPTS, Endpoint, Outage
from commonplace.parts.model_servers.http import Key
from minds.tasks.asked import SETTING, every_ask
from parts.model_servers.local_server import (
    RATING,
    LocalServer,
    PlainBook,
    Sent,
    Waits,
    asked,
    completion,
    duet,
    error,
    form_of,
    gathered,
    minded,
    request_key,
    using,
)

GOOD = Sent(completion('{"ratings": [{"importance": 4}]}'))
PATIENCE = 120.0
"""Seconds until a fact that does not come counts as missing."""


def first(*before, then=GOOD):
    """These answers, then the good one for ever."""
    return lambda body, number: before[number] if number < len(before) else then


@pytest.fixture
def nowhere() -> str:
    """A URL where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


PASSING = [Sent(status=code) for code in (408, 409, 500, 502, 503, 529)] + [Sent(reset=True)]


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_of_a_server_that_serves_is_tried_again_at_once(fault):
    waits = Waits()
    with LocalServer(first(GOOD, fault, fault, then=GOOD)) as server:
        mind = minded(server.url, sleep=waits)
        replies = using(mind, lambda mind: one_by_one(mind, 2))
    assert [reply.outcome for reply in replies] == ["value"] * 2
    assert replies[1].calls == 3 and not waits.seconds


async def one_by_one(mind, count):
    return [await mind.answer(RATING, request_key(number)) for number in range(count)]


def doubling(waits: Waits) -> bool:
    """Whether four waits were about 1, 2, 4 and 8 seconds."""
    near = [2**n * 0.5 <= wait < 2**n * 1.5 for n, wait in enumerate(waits.seconds)]
    return near == [True] * 4


@pytest.mark.parametrize("fault", [fault for fault in PASSING if fault.status != 500])  # 500 may be about the form
def test_a_server_that_has_stopped_is_waited_for_longer_each_time(fault):
    waits = Waits()
    with LocalServer(first(GOOD, then=fault)) as server:
        mind = minded(server.url, sleep=waits, on_outage="fallback")
        served, reply = using(mind, lambda mind: one_by_one(mind, 2))
    assert served.outcome == "value" and reply.kind == "outage"
    assert doubling(waits)
    assert 5 < reply.calls <= 5 + AT_ONCE


def test_a_server_that_serves_others_first_is_not_asked_again_at_once():
    waits = Waits()
    with LocalServer(first(*[Sent(status=429)] * 4)) as server:
        mind = minded(server.url, sleep=waits)
        using(mind, lambda mind: mind.capabilities())
        reply = asked(mind)
    assert (reply.outcome, reply.calls) == ("value", 5)
    assert doubling(waits)


def test_all_wait_together_for_a_server_that_has_stopped():
    waits = Waits()
    with LocalServer(lambda *_: GOOD if len(waits.seconds) >= 3 else Sent(status=503)) as server:
        mind = minded(server.url, sleep=waits)
        using(mind, lambda mind: mind.capabilities())
        replies = using(mind, lambda mind: gathered(*(mind.answer(RATING, request_key(n)) for n in range(24))))
    assert {reply.outcome for reply in replies} == {"value"}
    assert len(waits.seconds) == 3, "each of 24 would wait three times"
    assert sum(reply.calls for reply in replies) <= 24 * 4 + AT_ONCE


def test_a_question_that_fails_alone_holds_nobody_up():
    """The server fails at one question and serves all others, of which there is always one."""
    waits, served, answered = Waits(), threading.Event(), asyncio.Event()

    async def sleep(seconds):
        """Ends when two other questions have been answered: the one that was sent already, and another."""
        await waits(seconds)
        for _ in range(2):
            answered.clear()
            await asyncio.wait_for(answered.wait(), PATIENCE)

    def chat(body, number):
        if "m1" in body["messages"][1]["content"]:
            served.clear()
            served.wait(PATIENCE)
            return Sent(status=503)
        return GOOD

    with LocalServer(chat) as server:
        mind = minded(server.url, sleep=sleep, on_outage="fallback", timeout=PATIENCE)

        async def work(mind):
            await mind.capabilities()
            alone = asyncio.ensure_future(mind.answer(duet(memories=1), request_key()))
            while not alone.done():
                assert (await mind.answer(RATING, request_key(1))).outcome == "value"
                answered.set()
                served.set()
            return await alone

        reply = using(mind, work)
    assert (reply.outcome, reply.kind, reply.calls) == ("fault", "outage", 5 + AT_ONCE)
    assert doubling(waits)


def test_the_jitter_depends_on_the_asker_alone():
    def waited(number):
        waits = Waits()
        with LocalServer(first(*[Sent(status=429)] * 4)) as server:
            asked(minded(server.url, sleep=waits), by=request_key(number))
        return waits.seconds

    assert waited(1) == waited(1) != waited(2)


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        ("7", 7, 8.75),
        ("0.25", 0.25, 0.3125),
        ("86400", 60, 60),
        (timedelta(days=2), 60, 60),
        (timedelta(seconds=45), 15, 56.25),
        (timedelta(days=-2), 0.5, 1.5),
        ("-5", 0.5, 1.5),
        ("nan", 0.5, 1.5),
        ("soon", 0.5, 1.5),
        ("Tue, 99 Foo 2031", 0.5, 1.5),
    ],
)
def test_retry_after_is_honoured_within_bounds(header, low, high):
    waits = Waits()
    if isinstance(header, timedelta):
        header = format_datetime(datetime.now(UTC) + header, usegmt=True)
    with LocalServer(first(Sent(status=429, headers={"Retry-After": header}))) as server:
        asked(minded(server.url, sleep=waits))
    assert low <= waits.seconds[0] <= high


def test_retry_after_is_honoured_whatever_the_status():
    waits = Waits()
    with LocalServer(first(Sent(status=503, headers={"Retry-After": "7"}))) as server:
        mind = minded(server.url, sleep=waits)
        using(mind, lambda mind: mind.capabilities())
        assert asked(mind).calls == 2
    assert 7 <= waits.seconds[0] <= 8.75


def test_a_server_that_is_not_there_is_an_outage_that_names_it(nowhere):
    waits = Waits()
    with pytest.raises(Outage) as outage:
        asked(minded(nowhere, sleep=waits))
    assert isinstance(outage.value, Paused)
    assert nowhere in str(outage.value)
    assert outage.value.hint == "check the server"
    assert len(waits.seconds) == 4


@pytest.mark.parametrize(
    "fault", [Sent(status=503), Sent(status=500), Sent({"error": "no quota"}, 429), Sent(reset=True)]
)
def test_a_server_that_stays_away_pauses_the_run(fault):
    with LocalServer(lambda *_: fault) as server, pytest.raises(Outage, match="does not answer"):
        asked(minded(server.url))


def test_a_question_that_always_fails_is_repeated_in_one_form_only():
    with LocalServer(lambda *_: Sent(status=500)) as server, pytest.raises(Outage, match="500"):
        asked(minded(server.url))
    forms = [form_of(body) for body in server.asked]
    assert forms[-4:] == ["json_object", "tool", "json_mode", "text"] and set(forms[:-4]) == {"json_schema"}
    assert len(forms) <= MOST_ATTEMPTS + AT_ONCE + 3


def test_what_a_server_sets_as_a_cookie_is_not_sent_back():
    page = Sent(GOOD.body, headers={"Set-Cookie": "who=ann; Path=/"})
    with LocalServer(lambda *_: page) as server:

        async def work(mind):
            return [await mind.answer(RATING, request_key(number)) for number in range(2)]

        using(minded(server.url), work)
    assert len(server.asked) == 2 and not any("Cookie" in headers for headers in server.headers)


def test_with_fallbacks_an_outage_is_a_fault_and_the_server_is_found_again():
    fault = [True]
    with LocalServer(lambda *_: Sent(status=503) if fault else GOOD) as server:
        mind = minded(server.url, on_outage="fallback")

        async def work(mind):
            away = [await mind.answer(RATING, request_key(number)) for number in range(3)]
            fault.clear()
            return [*away, await mind.answer(RATING, request_key(9))]

        *away, back = using(mind, work)
    assert [(reply.outcome, reply.kind) for reply in away] == [("fault", "outage")] * 3
    assert [reply.calls for reply in away[1:]] == [1, 1], "a server known to be away is not waited for each time"
    assert back.outcome == "value"


def test_a_question_that_times_out_twice_is_a_fault():
    with LocalServer(lambda *_: Sent(delay=0.4)) as server:
        mind = minded(server.url, timeout=0.1)
        using(mind, lambda mind: mind.capabilities())
        reply = asked(mind)
    assert (reply.value, reply.outcome, reply.kind, reply.calls) == (None, "fault", "timeout", 2)


def test_one_time_out_is_tried_again():
    with LocalServer(first(Sent(delay=0.4))) as server:
        mind = minded(server.url, timeout=0.2)
        using(mind, lambda mind: mind.capabilities())
        assert asked(mind).outcome == "value"


def test_a_page_that_trickles_in_is_late_too():
    with LocalServer(lambda *_: Sent(b"{" * 20, drip=0.05)) as server:
        mind = minded(server.url, timeout=0.2)
        using(mind, lambda mind: mind.capabilities())
        assert asked(mind).kind == "timeout"


def test_eight_time_outs_in_a_row_are_an_outage():
    with LocalServer(lambda *_: Sent(delay=0.3)) as server:
        mind = minded(server.url, timeout=0.1)
        using(mind, lambda mind: mind.capabilities())

        async def work(mind):
            return await asyncio.gather(
                *(mind.answer(RATING, request_key(n)) for n in range(6)), return_exceptions=True
            )

        outcomes = using(mind, work)
    assert any(isinstance(outcome, Outage) for outcome in outcomes)


def test_a_success_between_keeps_time_outs_from_being_an_outage():
    with LocalServer(lambda body, number: Sent(delay=0.2) if number % 5 < 2 else GOOD) as server:
        mind = minded(server.url, timeout=0.1)
        using(mind, lambda mind: mind.capabilities())

        async def work(mind):
            return [(await mind.answer(RATING, request_key(n))).outcome for n in range(20)]

        outcomes = using(mind, work)
    assert outcomes.count("fault") >= 5
    assert outcomes.count("value") >= 10


def test_a_long_wait_is_told_once_until_an_answer_comes(caplog):
    busy = Sent({"error": "busy"}, 503, headers={"Retry-After": "30"})
    spell = [busy, busy, GOOD]

    def told():
        return [record.getMessage() for record in caplog.records if record.name.startswith("commonplace")]

    with LocalServer(lambda body, number: (spell * 2)[number]) as server:
        mind = minded(server.url, sleep=Waits())
        asked(mind)
        (line,) = told()
        assert line.startswith(f"waiting for the model server {server.url}: 503 busy; trying again in 3")
        asked(mind)
    assert len(told()) == 2


def test_a_short_wait_is_not_told(caplog):
    with LocalServer(first(Sent(status=503), Sent(status=503))) as server:
        asked(minded(server.url, sleep=Waits()))
    assert not caplog.records


class Limited:
    """A server that serves `most` requests in a span of `seconds`, and sends the others away."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self.served, self.sent_away = [], 0
        self._lock = threading.Lock()

    def __call__(self, body, number):
        now = time.monotonic()
        with self._lock:
            if len([moment for moment in self.served if moment > now - self.seconds]) < self.most:
                self.served.append(now)
                return GOOD
            self.sent_away += 1
        return error(429, "slow down") if self.sent_away % 2 else SLOWER


SLOWER = Sent({"error": "slow down"}, 429, {"Retry-After": "1"})


def test_many_who_ask_at_once_are_all_answered_by_a_server_with_a_limit():
    limited = Limited(3, 0.05)
    with LocalServer(limited) as server:
        mind = minded(server.url, sleep=lambda seconds: asyncio.sleep(seconds / 20))
        using(mind, lambda mind: mind.capabilities())
        replies = using(mind, lambda mind: gathered(*(mind.answer(RATING, request_key(n)) for n in range(40))))
    assert {reply.outcome for reply in replies} == {"value"}
    assert limited.sent_away < 120, "a client that does not slow down is sent away 5 times a question and more"


def test_a_server_is_asked_less_at_once_when_it_sends_requests_away_and_more_when_it_serves():
    endpoint = Endpoint("http://127.0.0.1/v1", Key("X", ""), 1.0)
    endpoint.in_flight = 15
    endpoint.sent_away()
    assert endpoint.room == 8
    endpoint.closed = 1
    endpoint.sent_away()
    assert endpoint.room == 8, "those sent away together count once"
    endpoint.closed, endpoint.in_flight = 0, 8
    assert not endpoint.is_free
    for _ in range(8):
        endpoint.served()
    assert 8.9 < endpoint.room < 9.1
    assert endpoint.is_free


@pytest.mark.parametrize(
    "fault", [error(402, "no credit left"), error(429, "you exceeded your quota", code="insufficient_quota")]
)
def test_a_server_that_wants_money_pauses_the_run_at_once(fault):
    waits = Waits()
    with LocalServer(first(GOOD, then=fault)) as server:
        mind = minded(server.url, sleep=waits)
        assert asked(mind).outcome == "value"
        with pytest.raises(Outage, match="until it is paid"):
            asked(mind)
    assert not waits.seconds and len(server.asked) == 2


NO_ANSWER = [
    Sent(b"<html>maintenance</html>"), Sent({"choices": None}), Sent({"choices": []}), Sent(completion(None)),
    error(400, "no"), error(422, "no"),
]  # fmt: skip


@pytest.mark.parametrize("fault", NO_ANSWER)
@pytest.mark.parametrize("before", [0, 2])
def test_a_server_that_gives_no_answers_pauses_the_run_before_the_first_is_kept(fault, before):
    waits = Waits()
    with LocalServer(first(*[GOOD] * before, then=fault)) as server:
        mind = minded(server.url, sleep=waits)
        using(mind, lambda mind: mind.capabilities())
        for number in range(before):
            assert asked(mind, by=request_key(number)).outcome == "value"
        with pytest.raises(Outage, match="gives no answers") as outage:
            asked(mind, by=request_key(9))
    assert outage.value.hint
    assert len(server.asked) == before + 1 + 5
    assert 7.5 <= sum(waits.seconds) < 22.5


@pytest.mark.parametrize("fault", NO_ANSWER)
def test_a_question_that_alone_gets_no_answer_is_malformed(fault):
    with LocalServer(lambda body, number: GOOD if number in {0, 2} else fault) as server:
        mind = minded(server.url)
        assert asked(mind).outcome == "value"
        reply = asked(mind, by=request_key(1))
    assert (reply.outcome, reply.calls) == ("malformed", 2)
    live = {name: server.asked[0][name] for name in ("stream", "stream_options")}
    assert server.asked[2] | live == server.asked[0]


class Strict(PlainBook):
    """Finds no words in any answer."""

    def read(self, ask, data, citable=(), flaws=None):
        raise Unusable("must not be empty", "empty")


def test_an_answer_without_the_words_that_are_needed_is_an_answer():
    with LocalServer() as server:
        mind = ChatMind(server.url, Strict(), sleep=Waits())
        reply = asked(mind)
    assert (reply.outcome, reply.kind, len(server.asked)) == ("malformed", "empty", 1)


def test_many_questions_without_an_answer_are_one_doubt():
    broken = [False]
    with LocalServer(lambda *_: Sent(b"<html>") if broken[0] else GOOD) as server:
        mind = minded(server.url)
        assert asked(mind).outcome == "value"
        broken[0] = True

        async def work(mind):
            replies = (mind.answer(RATING, request_key(number)) for number in range(1, 9))
            return await asyncio.gather(*replies, return_exceptions=True)

        outcomes = using(mind, work)
    assert [type(outcome) for outcome in outcomes] == [Outage] * 8
    assert len(server.asked) == 1 + 8 + 5


def test_a_server_that_answers_now_and_then_pauses_nothing():
    with LocalServer(lambda body, number: GOOD if number % 3 == 0 else Sent(b"<html>")) as server:
        mind = minded(server.url)

        async def work(mind):
            return [(await mind.answer(RATING, request_key(number))).outcome for number in range(20)]

        assert using(mind, work) == ["value"] + ["malformed"] * 19


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_variable(status):
    with LocalServer() as server:
        server.any = lambda path, number: error(status, "bad key")
        with pytest.raises(UsageError, match="does not accept the key") as refused:
            asked(minded(server.url))
    assert "COMMONPLACE_API_KEY" in refused.value.hint


def test_a_model_that_is_not_there_is_answered_with_those_that_are():
    server = LocalServer(lambda *_: error(404, "model not found"))
    with server, pytest.raises(UsageError, match="does not have the model `huge`") as refused:
        asked(minded(f"{server.url}#huge"))
    assert "tiny, big" in refused.value.hint


def test_a_wrong_path_is_told_from_a_missing_model():
    with LocalServer() as server:
        server.any = lambda path, number: Sent(b"<h1>Not Found</h1>", 404)
        with pytest.raises(UsageError) as refused:
            asked(minded(f"{server.url}/wrong#tiny"))
    assert "/v1" in refused.value.hint


def test_requests_are_not_sent_elsewhere():
    server = LocalServer(lambda *_: Sent(status=307, headers={"Location": "http://127.0.0.1:9/v1"}))
    with server, pytest.raises(UsageError, match="elsewhere"):
        asked(minded(server.url))


@pytest.mark.parametrize(
    "message",
    [
        {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"},
        {"code": "context_length_exceeded", "message": "This model's maximum context length is 512 tokens."},
        {"message": "prompt is too long: 9000 tokens > 512 maximum"},
        {"message": "Requested tokens (600) exceed context window of 512"},
    ],
)
def test_a_prompt_that_is_too_long_is_shortened_from_the_lowest_memories(message):
    def chat(body, number):
        if len(body["messages"][1]["content"].split()) > 3:
            return Sent({"error": message}, 400)
        return Sent(completion("Hello."))

    with LocalServer(chat) as server:
        reply = asked(minded(server.url), duet(memories=10))
    shown = [len(body["messages"][1]["content"].split()) for body in server.asked]
    assert shown == [10, 5, 2]
    assert server.asked[-1]["messages"][1]["content"] == "m1 m2"
    assert reply.outcome == "value"
    assert "m3" not in reply.prompt


def test_what_was_left_out_of_a_prompt_is_not_cited():
    cited, shown = [*range(1, 10)], []

    def chat(body, number):
        shown.append({int(label) for label in re.findall(r"\[([0-9]+)", body["messages"][1]["content"])})
        text = json.dumps({"because": cited, "say": "The broth is ready.", "ends": False, "facts": []})
        return Sent(completion(text)) if number else error(400, "context length exceeded")

    with LocalServer(chat) as server:
        mind = ChatMind(server.url, PromptBook("en", SETTING), sleep=Waits())
        reply = asked(mind, every_ask()["converse"])
    assert set(reply.value.because) == shown[1] < shown[0] < {*cited}


def test_a_prompt_that_cannot_be_shortened_any_more_is_malformed():
    with LocalServer(lambda *_: error(400, "context length exceeded")) as server:
        reply = asked(minded(server.url), duet(memories=10))
    assert (reply.outcome, reply.kind) == ("malformed", "overflow")
    assert [len(body["messages"][1]["content"].split()) for body in server.asked] == [10, 5, 2, 1, 0]


def test_any_other_refusal_is_malformed():
    with LocalServer(lambda *_: error(400, "I do not like it")) as server:
        reply = asked(minded(server.url, on_outage="fallback"))
    assert (reply.outcome, reply.kind, len(server.asked)) == ("malformed", "refused_request", 1)
    assert "I do not like it" in reply.error
