"""Answers that come as they are written: the same reply however they come, and nothing lost where they break."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.minds.mind import listening
from commonplace.parts.model_servers import client
from commonplace.parts.model_servers.dialects import dialect_of
from commonplace.parts.model_servers.dialects.dialect import CHAT
from commonplace.parts.model_servers.http import Key, Page, Unreachable
from commonplace.parts.model_servers.reply import said, usage_of
from commonplace.parts.model_servers.request import Capabilities
from commonplace.parts.model_servers.streaming import Events, StreamedAnswer, Streaming, is_repeated
from commonplace.scenario.model import MindPart
from commonplace.testing.server import Latency, ModelServer
from commonplace.testing.server.answers import Response, as_json
from commonplace.testing.server.dialects import dialect_of as served_dialect_of
from commonplace.testing.server.streams import streamed
from parts.model_servers.local_server import KEY, LocalServer, Sent, asked, completion, duet, error, minded

KINDS = ("openai", "anthropic", "gemini")
SAID = '{"ratings": [{"importance": 4}], "why": "비가 온다 – \\"so\\" 😀"}'
USAGE = {
    "prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 20},
}  # fmt: skip
MESSAGES = {
    "text": {"role": "assistant", "content": SAID},
    "call": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "rate", "arguments": SAID}}],
    },
    "thought": {"role": "assistant", "content": SAID, "reasoning_content": "It rains, so it matters."},
    "refusal": {"role": "assistant", "content": None, "refusal": "I cannot."},
    "silent": {"role": "assistant", "content": None},
}
PATHS = {
    "openai": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m:streamGenerateContent",
}


def whole(kind: str, message: dict = MESSAGES["text"], finish: str = "stop") -> Response:
    """A completion that comes at once, in a protocol."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    data = {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": USAGE}
    served = served_dialect_of("POST", PATHS[kind])
    return served.told(as_json(data)) if served else as_json(data)


def stream(kind: str, message: dict = MESSAGES["text"], finish: str = "stop") -> bytes:
    """The same as it is written."""
    return b"".join(streamed(whole(kind, message, finish), kind).pieces)


def gathered(kind: str, chunks: list[bytes], **live) -> Page:
    """The page that the parts of a stream add up to, in OpenAI's protocol."""
    gathering = StreamedAnswer(dialect_of(kind), Streaming(True, **{"most": 32_000, **live}), Key("X", KEY))
    for chunk in chunks:
        gathering.feed(chunk)
    return dialect_of(kind).page(gathering.page(), CHAT, {"model": "m"})


def at_once(kind: str, message: dict, finish: str = "stop") -> Page:
    data = json.loads(whole(kind, message, finish).body)
    return dialect_of(kind).page(Page(200, json.dumps(data), data), CHAT, {"model": "m"})


def read(page: Page):
    """What is read of a page: what was said, or what was wrong, and what it cost."""
    try:
        heard = said(page)
    except ValueError as unusable:
        heard = str(unusable)
    return heard, usage_of(page, {"max_tokens": 100}, "")


# ── the same reply ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_read_as_what_comes_at_once(kind, message, finish):
    page = gathered(kind, [stream(kind, MESSAGES[message], finish)])
    assert read(page) == read(at_once(kind, MESSAGES[message], finish))


@given(st.sampled_from(KINDS), st.sampled_from(sorted(MESSAGES)), st.lists(st.integers(1, 60)), st.data())
def test_any_cutting_into_chunks_gives_the_same_reply(kind, message, sizes, data):
    body = stream(kind, MESSAGES[message])
    body = body.replace(b"\n", data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"])))
    chunks = []
    for size in sizes or [len(body)]:
        chunks.append(body[:size])
        body = body[size:]
    assert read(gathered(kind, [*chunks, body])) == read(at_once(kind, MESSAGES[message]))


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20).filter(
            lambda text: text.strip()
        )
    )
)
def test_events_come_out_as_they_were_put_in(texts):
    body = "".join(f": ping\ndata: {text}\n\n" for text in texts).encode()
    events = Events()
    found = [data for place in range(len(body)) for data in events.feed(body[place : place + 1])]
    assert [*found, *events.end()] == texts


@pytest.mark.parametrize("protocol", ["openai", "anthropic", "gemini", "openrouter"])
def test_a_server_is_asked_for_a_stream_and_the_reply_is_the_same(protocol):
    with ModelServer() as server:
        live = asked(minded(server.mind(protocol)), duet(memories=2))
        settings = {"duet_turn": MindPart(body={"stream": False})}
        plain = asked(minded(server.mind(protocol), tasks=settings), duet(memories=2))
    assert live.outcome == plain.outcome == "value"
    assert (live.value, live.answer_tokens) == (plain.value, plain.answer_tokens)


def test_the_halves_of_a_character_in_two_events_come_together():
    halves = [json.dumps(SAID)[1:-1].partition("\\udE00".lower())[0], "\\ude00"]
    events = [f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{half}"}}}}]}}\n\n' for half in halves]
    page = gathered("openai", [*(event.encode() for event in events), b"data: [DONE]\n\n"])
    assert said(page).text.endswith("😀")


def test_one_json_text_a_line_is_a_stream_too():
    lines = stream("openai").replace(b"data: ", b"").replace(b"[DONE]", b"")
    assert read(gathered("openai", [lines])) == read(at_once("openai", MESSAGES["text"]))


# ── broken streams ────────────────────────────────────────────────────────────────────────────────────────────────────


def _cut_in(mark: bytes):
    """A stream that ends within a text."""

    def cut(body: bytes) -> bytes:
        place = body.find(mark)
        return body[: place + len(mark) // 2] if place >= 0 else body[: len(body) // 3]

    return cut


def error_event(kind: str, status: int) -> bytes:
    """An error as the protocol has it in a stream."""
    types = {503: "overloaded_error", 500: "api_error"}
    if kind == "anthropic":
        told = {"type": "error", "error": {"type": types[status], "message": f"overloaded {KEY}"}}
        return f"event: error\ndata: {json.dumps(told)}\n\n".encode()
    told = {"error": {"code": status, "message": f"overloaded {KEY}", "type": types[status]}}
    return f"data: {json.dumps(told)}\n\n".encode()


def _first(body: bytes, events: int) -> bytes:
    return b"\n\n".join(body.split(b"\n\n")[:events]) + b"\n\n"


BROKEN = {
    "no event": lambda body, kind: b"",
    "only pings": lambda body, kind: b": ping\n\n: ping\n\n",
    "one event": lambda body, kind: _first(body, 1),
    "no final message": lambda body, kind: _first(body, 5),
    "cut in a character": lambda body, kind: body[: body.find(b"\\ud83d") + 3] if b"\\ud83d" in body else body[:90],
    "cut in JSON": lambda body, kind: _cut_in(b"importance")(body),
    "cut in the name of a field": lambda body, kind: _first(body, 3) + b"da",
    "cut in an event": lambda body, kind: _first(body, 4) + b'data: {"choices": [{"del',
    "garbage": lambda body, kind: _first(body, 4) + b"data: <html>502</html>\n\n",
    "not UTF-8": lambda body, kind: _first(body, 4) + b"data: \xff\xfe\xed\xa0\n\n",
    "a list": lambda body, kind: _first(body, 3) + b"data: [1, 2]\n\n",
    "nested too deeply": lambda body, kind: _first(body, 3) + b"data: " + b"[" * 100_000 + b"\n\n",
    "an error": lambda body, kind: _first(body, 4) + error_event(kind, 503),
    "an error at once": lambda body, kind: error_event(kind, 500),
}


def served(body: bytes, **more) -> Sent:
    return Sent(body, headers={"Content-Type": "text/event-stream; charset=utf-8", **more})


def mind_of(kind: str, server: LocalServer, **more):
    """A mind that has been told what the server takes, so that it asks nothing but the question."""
    names = {"openai": server.url, "anthropic": f"anthropic:m@{server.url}", "gemini": f"gemini:m@{server.url}"}
    mind = minded(names[kind], **more)
    mind._knowledge.can = Capabilities("server", "m", structured="text")
    return mind


class StreamingServer(LocalServer):
    """Sends the bodies one after the other, the last one for ever."""

    def __init__(self, *sent: Sent):
        super().__init__()
        self.any = lambda path, number: sent[min(number, len(sent) - 1)]


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_stream_is_asked_for_again_and_does_no_harm(kind, fault, caplog, monkeypatch):
    monkeypatch.setenv("COMMONPLACE_API_KEY", KEY)
    good = stream(kind)
    with StreamingServer(served(BROKEN[fault](good, kind)), served(good)) as server:
        reply = asked(mind_of(kind, server))
    sound_page = read(at_once(kind, MESSAGES["text"]))[1]
    assert (reply.outcome, reply.calls) == ("value", 2)
    assert reply.raw == SAID
    assert (reply.prompt_tokens, reply.cached_tokens, reply.answer_tokens) == sound_page
    assert KEY not in repr(reply) and KEY not in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_has_come_to_its_end_is_not_paid_for_again(kind):
    """The connection breaks after the end of the answer, before the end of the stream."""
    last = {"openai": -3, "anthropic": -2, "gemini": -1}[kind]
    body = b"\n\n".join(stream(kind).split(b"\n\n")[:last]) + b'\n\ndata: {"usa'
    with StreamingServer(served(body, **{"Content-Length": str(len(body) + 1000)}, Connection="close")) as server:
        reply = asked(mind_of(kind, server))
    assert (reply.outcome, reply.calls, reply.raw) == ("value", 1, SAID)


def test_a_stream_without_usage_is_counted_by_its_text():
    body = b"\n\n".join(event for event in stream("openai").split(b"\n\n") if b"usage" not in event)
    with StreamingServer(served(body)) as server:
        reply = asked(mind_of("openai", server))
    assert reply.outcome == "value" and reply.prompt_tokens > 0 and reply.answer_tokens > 0


def test_streams_that_keep_breaking_give_way_to_an_answer_at_once():
    broken, good = served(_first(stream("openai"), 4)), Sent(completion(SAID))
    with LocalServer(lambda body, number: broken if body.get("stream") else good) as server:
        reply = asked(minded(server.url))
        assert reply.outcome == "value"
        assert [bool(body.get("stream")) for body in server.asked] == [True] * client.MOST_BROKEN + [False]


@pytest.mark.parametrize(
    ("refused", "left"), [("stream_options", {"stream": True}), ("stream", {})], ids=["usage", "stream"]
)
def test_a_server_that_refuses_streams_is_asked_once_and_that_is_remembered(refused, left):
    def chat(body, number):
        if refused in body:
            return error(400, f"Unsupported parameter: {refused}", param=refused)
        return served(stream("openai")) if body.get("stream") else Sent(completion(SAID))

    with LocalServer(chat) as server:
        mind = minded(server.url)
        assert [asked(mind).outcome for _ in range(2)] == ["value"] * 2
    assert [{name: body[name] for name in ("stream", "stream_options") if name in body} for body in server.asked][
        -2:
    ] == [left] * 2
    assert len(server.asked) == 3


def test_a_stream_under_a_wrong_name_is_read():
    with StreamingServer(Sent(stream("openai"), headers={"Content-Type": "application/json"})) as server:
        assert asked(mind_of("openai", server)).raw == SAID


# ── answers without an end ────────────────────────────────────────────────────────────────────────────────────────────


def piece(text: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n".encode()


@pytest.mark.parametrize(
    ("start", "again"),
    [
        ('{"ratings": ', " "),
        ("", "\n"),
        ('{"why": "', "and then it rained "),
        ('{"why": "', "비가 와서 "),
        ('{"why": "', "\\n"),
        ("", "x" * 40 + " y "),
    ],
)
def test_a_runaway_answer_is_stopped_and_counts_as_cut(start, again):
    gathering = StreamedAnswer(dialect_of("openai"), Streaming(True, 32_000), Key("X", ""))
    gathering.feed(piece(start))
    fed = 0
    while not gathering.is_cut and fed < 100_000:
        gathering.feed(piece(again))
        fed += len(again)
    assert fed < 3000
    assert said(gathering.page()).cut


def test_more_than_a_task_can_hold_is_stopped():
    gathering = StreamedAnswer(dialect_of("openai"), Streaming(True, 4000), Key("X", ""))
    for number in range(2000):
        gathering.feed(piece(f"{number} "))
    assert gathering.is_cut and said(gathering.page()).cut


def test_white_space_after_an_answer_costs_nothing():
    gathering = StreamedAnswer(dialect_of("openai"), Streaming(True, 4000), Key("X", ""))
    gathering.feed(piece(SAID) + piece(" " * 300))
    assert gathering.is_cut and said(gathering.page()).text.strip() == SAID


@pytest.mark.parametrize(
    "text", ["", "ha ha ha", json.dumps({"ratings": [{"importance": 1}] * 60}), "-" * 200, "Good. " * 30]
)
def test_what_merely_has_equal_parts_is_not_a_loop(text):
    assert not any(is_repeated(text[:end]) for end in range(len(text) + 1))


def test_the_connection_of_a_runaway_answer_is_closed_and_the_next_question_is_answered():
    endless = b"".join(piece("again and ") for _ in range(30_000))
    bodies = (served(endless), served(stream("openai")))
    with StreamingServer(*bodies) as server:
        mind = mind_of("openai", server)
        first, second = asked(mind), asked(mind)
    assert (first.outcome, first.kind) == ("malformed", "truncated")
    assert second.outcome == "value"


# ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_slow_stream_is_waited_for_as_long_as_it_comes():
    """The whole takes longer than the time-out."""
    with ModelServer(latency=Latency(per_token=0.02)) as server:
        began = time.monotonic()
        reply = asked(minded(server.url, timeout=0.4), duet(memories=2))
    assert reply.outcome == "value"
    assert time.monotonic() - began > 0.4


def test_a_stream_that_stops_to_come_is_late():
    body = _first(stream("openai"), 4)
    more = {"Content-Type": "text/event-stream", "Content-Length": str(len(body) + 100)}
    with StreamingServer(Sent(body, headers=more)) as server:
        reply = asked(mind_of("openai", server, timeout=0.3, on_outage="fallback"))
    assert (reply.outcome, reply.kind, reply.calls) == ("fault", "timeout", 2)


def test_a_stream_may_not_last_for_ever(monkeypatch):
    monkeypatch.setattr(client, "LONGEST_STREAM", 2)
    body = stream("openai")
    with StreamingServer(Sent(body, headers={"Content-Type": "text/event-stream"}, drip=0.05)) as server:
        reply = asked(mind_of("openai", server, timeout=0.3, on_outage="fallback"))
    assert (reply.outcome, reply.kind) == ("fault", "timeout")


# ── the key ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_that_a_server_says_piece_by_piece_is_not_heard():
    heard: list[str] = []
    parts = [KEY[start : start + 5] for start in range(0, len(KEY), 5)]
    page = gathered(
        "openai", [piece("My key: "), *map(piece, parts), piece(" end"), b"data: [DONE]\n\n"], heard=heard.append
    )
    assert heard[-1] == said(page).text == "My key: [key] end"
    assert not any(KEY[:8] in text for text in heard)


def test_an_answer_that_broke_off_is_no_page():
    with pytest.raises(Unreachable, match="broke off"):
        gathered("openai", [_first(stream("openai"), 4)])


# ── what is said while it is written ──────────────────────────────────────────────────────────────────────────────────


def test_who_listens_hears_the_line_grow():
    heard: list[tuple[str, str]] = []
    with ModelServer() as server, listening(lambda *said: heard.append(said)):
        reply = asked(minded(server.url), duet(memories=2))
    words = [said for _, said in heard]
    assert {who for who, _ in heard} == {"ann"}
    assert words[-1] == reply.value.utterance
    assert all(reply.value.utterance.startswith(said) for said in words) and len(set(words)) > 2


def test_a_line_that_is_refused_is_taken_back():
    heard: list[tuple[str, str]] = []
    bad = b"".join(map(piece, ['{"say": "I wi', 'll go", "plan": ', "[]}"])) + b"data: [DONE]\n\n"
    with StreamingServer(served(bad)) as server, listening(lambda *said: heard.append(said)):
        reply = asked(mind_of("openai", server), duet())
    assert reply.outcome == "malformed"
    assert ("ann", "I will go") in heard and heard[-1] == ("ann", "")


def test_nothing_is_heard_of_what_is_not_said_aloud():
    heard: list[tuple[str, str]] = []
    with ModelServer() as server, listening(lambda *said: heard.append(said)):
        assert asked(minded(server.url)).outcome == "value"
    assert not heard
