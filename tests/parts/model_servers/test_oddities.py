"""Whatever a server sends with status 200 becomes a value or a malformed reply of a kind."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from httpx2 import Headers
from hypothesis import given
from hypothesis import strategies as st

from commonplace.minds.prompts.prompt import Unusable
from commonplace.parts.model_servers.http import LONGEST_BODY, Key, Page, Unreachable
from commonplace.parts.model_servers.reply import data_in, said, spoken
from parts.model_servers.local_server import LocalServer, Sent, asked, called, completion, duet, minded, request_key
from sizes import examples

GOOD = '{"ratings": [{"importance": 4}]}'
PADDED = {"n": 1, "text": "x" * 60_000}


@pytest.mark.parametrize(
    "body",
    [
        completion(GOOD),
        completion(f"```json\n{GOOD}\n```"),
        completion(f"Here you are:\n{GOOD}\nAnything else?"),
        completion(f"<think>Is it {{4}}? Or {{5}}?</think>\n{GOOD}"),
        completion(f"so it is four.</think>{GOOD}"),
        completion("{'ratings': [{'importance': 4,},],}"),
        completion('{"ratings": [{"importance": 4}'),
        completion(GOOD[:5] + "\x00\x07" + GOOD[5:]),
        completion(GOOD, "length"),
        completion([{"type": "text", "text": GOOD[:9]}, {"type": "text", "text": GOOD[9:]}]),
        completion(GOOD, reasoning_content="Well, four."),
        called(GOOD),
        called(json.loads(GOOD)),
        called("{'ratings': [{'importance': 4}]}"),
        completion("", tool_calls=[{"function": {"arguments": GOOD}}]),
    ],
)
def test_a_usable_answer_is_used(body):
    with LocalServer(lambda *_: Sent(body)) as server:
        reply = asked(minded(server.url))
    assert reply.outcome == "value", reply
    assert reply.value.ratings[0].importance == 4


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html><body>It works!</body></html>", "page"),
        (b"", "page"),
        (b"\xff\xfe\x00", "page"),
        (b"[" * 50_000, "page"),
        (b"[]", "page"),
        (b"null", "page"),
        ({}, "choices"),
        ({"choices": None}, "choices"),
        ({"choices": []}, "choices"),
        ({"choices": [None]}, "choices"),
        ({"choices": {"0": 1}}, "choices"),
        ({"choices": [{}]}, "empty"),
        ({"choices": [{"message": None}]}, "empty"),
        ({"choices": [{"message": "hello"}]}, "empty"),
        (completion(None), "empty"),
        (completion(None, reasoning_content="I think so."), "empty"),
        (completion(17), "empty"),
        (completion([]), "empty"),
        (completion([None, {"type": "image_url"}, {"text": 3}]), "empty"),
        (completion("  \n"), "empty"),
        (completion("<think>and on and on {}"), "empty"),
        (completion(f"<think>{GOOD}"), "empty"),
        (completion("```json\n```"), "empty"),
        (completion(None, refusal="I cannot rate that."), "refusal"),
        (completion("", "content_filter"), "filtered"),
        (completion('{"ratings": [{"importance"', "length"), "truncated"),
        (completion('{"ratings": [{"importance": 4}, {"importance": 1'), "truncated"),
        (completion('{"ratings": [], "note": "and then they'), "truncated"),
        (completion("word " * 20_000), "truncated"),
        (completion(json.dumps(PADDED)), "truncated"),
        (completion("I would say four."), "json"),
        (completion("{" * 9000), "json"),
        (completion("{" * 30_000), "json"),
        (completion("[1, 2]"), "json"),
        (completion("{}"), "schema"),
        (completion('{"ratings": NaN}'), "schema"),
        (completion('{"ratings": [{"importance": 99}]}'), "schema"),
        (completion('{"ratings": [{"importance": ' + "9" * 5000 + "}]}"), "schema"),
        (called(""), "empty"),
        (called("{oops"), "json"),
        (called(None), "empty"),
        (completion("", tool_calls=[None]), "empty"),
        (completion("", tool_calls={"a": 1}), "empty"),
    ],
)
def test_an_unusable_answer_is_malformed_and_its_kind_is_told(body, kind):
    with LocalServer(lambda *_: Sent(body)) as server:
        reply = asked(minded(server.url, on_outage="fallback"))
    assert (reply.value, reply.outcome, reply.kind) == (None, "malformed", kind)
    assert reply.error
    assert len(reply.raw) <= 4000


def test_lone_surrogates_never_get_past_the_reading():
    body = completion('{"plan": "", "utterance": "a\\ud800b \\ud83d\\ude00\\udc00' + "\ud801" + '"}')
    with LocalServer(lambda *_: Sent(body)) as server:
        reply = asked(minded(server.url), duet())
    assert reply.value.utterance == "ab 😀"
    reply.raw.encode()


def test_a_body_without_end_is_read_to_a_limit_only():
    body = b'{"pad": "' + b"x" * (17 * 2**20) + b'", ' + json.dumps(completion(GOOD)).encode()[1:]
    with LocalServer(lambda *_: Sent(body)) as server:
        reply = asked(minded(server.url, timeout=30.0, on_outage="fallback"))
    assert reply.kind == "page"


def test_a_compressed_body_is_inflated_to_a_limit_only():
    good = json.dumps(completion(GOOD)).encode()
    for body in (gzip.compress(good), zlib.compress(good)):
        with LocalServer(lambda *_, body=body: Sent(body, headers={"Content-Encoding": "gzip"})) as server:
            assert asked(minded(server.url)).outcome == "value"
    bomb = gzip.compress(bytes(2 * LONGEST_BODY), 1)
    page = Page.of(200, Headers({"Content-Encoding": "gzip"}), bomb, Key("X", ""))
    assert page.data is None and len(page.text) < 10_000
    with pytest.raises(Unreachable, match="zstd"):
        Page.of(200, Headers({"Content-Encoding": "zstd"}), b"", Key("X", ""))


def test_what_nests_too_deep_is_not_mended(monkeypatch):
    """It would take seconds."""
    monkeypatch.setattr("commonplace.parts.model_servers.reply.repair_json", lambda *_, **__: pytest.fail("mended"))
    with pytest.raises(Unusable):
        data_in("{" * 300 + "}", cut=False)


def test_free_text_is_used_where_it_is_an_answer():
    with LocalServer(lambda *_: Sent(completion("<think>hm</think> Good morning, Ben."))) as server:
        reply = asked(minded(server.url), duet())
    assert reply.value.utterance == "Good morning, Ben."


def test_asked_again_a_model_is_told_what_was_wrong_and_not_shown_the_bad_answer():
    with LocalServer(lambda *_: Sent(completion("{}"))) as server:
        mind = minded(server.url)
        first = asked(mind)
        again = asked(mind, by=request_key(attempt=1, before=first))
    assert [message["role"] for message in server.asked[1]["messages"]] == ["system", "user"]
    assert server.asked[1]["messages"][1]["content"].endswith(first.error)
    assert "{}" not in server.asked[1]["messages"][1]["content"]
    assert server.asked[0]["seed"] != server.asked[1]["seed"]
    assert again.prompt != first.prompt


def test_of_a_server_s_own_nonsense_a_model_is_not_told():
    with LocalServer(lambda *_: Sent(b"<html>")) as server:
        mind = minded(server.url, on_outage="fallback")
        asked(mind, by=request_key(attempt=1, before=asked(mind)))
    assert server.asked[1]["messages"] == server.asked[0]["messages"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@examples(150)
@given(
    st.binary(max_size=60)
    | st.builds(
        lambda message, more: json.dumps({"choices": [{"message": message, **more}], "usage": more}).encode(),
        st.fixed_dictionaries({}, optional=dict.fromkeys(("content", "tool_calls", "refusal", "reasoning"), JSON)),
        st.dictionaries(st.sampled_from(["finish_reason", "prompt_tokens", "completion_tokens_details"]), JSON),
    )
)
def test_any_bytes_are_read_or_found_unusable(body):
    try:
        answer = said(Page.of(200, Headers(), body, Key("X", "")))
        data_in(spoken(answer.text), cut=answer.cut)
    except Unusable as unusable:
        assert unusable.kind


@examples(100)
@given(st.text("{}[]\"',:ab\\/ \n", max_size=200))
def test_any_text_is_read_or_found_unusable(text):
    try:
        assert isinstance(data_in(spoken(text), cut=False), dict)
    except Unusable as unusable:
        assert unusable.kind in ("json", "empty", "truncated")
