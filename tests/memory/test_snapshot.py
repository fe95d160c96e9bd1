"""A snapshot answers as the stream did at its moment, whatever happens to the stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream, policies
from memory.naive import hours
from memory.strategies import entries, put, queries, stream_of
from sizes import examples

both = pytest.mark.parametrize("policy", [policies.PARK, policies.LEXICAL], ids=lambda policy: policy.name)
changes = st.lists(
    st.one_of(
        entries.map(lambda entry: ("remember", entry)),
        queries.map(lambda query: ("recall", query)),
        st.integers(1, 8).map(lambda id: ("forget", id)),
    ),
    max_size=8,
)


@both
@examples(80)
@given(drawn=st.lists(entries, max_size=8), before=changes, after=changes, query=queries, asked_early=st.booleans())
def test_a_snapshot_stays_as_it_was(policy, drawn, before, *, after, query, asked_early):
    stream, _ = stream_of(policy, drawn)
    live(stream, before)
    expected = stream.retrieve(query, at=hours(70), k=4, touch=False)
    memories = list(stream)
    snapshot = stream.snapshot()
    if asked_early:
        snapshot.retrieve("stove", at=hours(60))
    live(stream, after)
    Draft(stream).remember("an open draft", at=hours(71))
    assert snapshot.retrieve(query, at=hours(70), k=4) == expected
    assert list(snapshot) == memories
    assert snapshot.recent(2) == memories[::-1][:2]
    assert [snapshot.get(memory.id) for memory in memories] == memories
    assert snapshot.importance_since_reflection() == sum(memory.importance for memory in memories)


def live(stream: MemoryStream, script) -> None:
    for verb, argument in script:
        if verb == "remember":
            put(stream, argument)
        elif verb == "recall":
            stream.recall(argument, at=hours(65), k=3)
        elif argument <= stream.last_id:
            stream.forget([argument])


@both
@examples(40)
@given(drawn=st.lists(entries, min_size=1, max_size=10), length=st.integers(0, 10), query=queries)
def test_a_snapshot_of_an_earlier_length_is_the_shorter_stream(policy, drawn, length, query):
    length = min(length, len(drawn))
    short, _ = stream_of(policy, drawn[:length])
    whole, _ = stream_of(policy, drawn)
    whole.recall("stove Klaus", at=hours(60))
    past = whole.snapshot(length, [memory.accessed_at for memory in short])
    assert past.retrieve(query, at=hours(70)) == short.retrieve(query, at=hours(70), touch=False)
    assert list(past) == list(short)


def test_a_snapshot_is_never_touched():
    stream, _ = stream_of(policies.PARK, [("stove", 1.0, 5.0, None)])
    snapshot = stream.snapshot()
    snapshot.recall("stove", at=hours(9), touch=True)
    assert snapshot.get(1).accessed_at == stream.get(1).accessed_at == hours(1)


@pytest.mark.parametrize("arguments", [(2, None), (1, []), (-1, []), (0, [hours(1)])])
def test_a_snapshot_needs_an_access_time_for_each_memory_there_is(arguments):
    stream, _ = stream_of(policies.PARK, [("stove", 1.0, 5.0, None)])
    with pytest.raises(UsageError, match="snapshot"):
        stream.snapshot(*arguments)


def test_words_forgotten_before_anybody_asked_count_for_the_snapshot_only():
    asked = {"at": hours(5), "touch": False, "k": 9}
    stream, without, everything = (MemoryStream("maria", policies.LEXICAL) for _ in range(3))
    for text in ("a lantern", "a stove"):
        for one in (stream, without, everything):
            one.remember(text, at=hours(0), importance=3)
    stream.recall("lantern", **asked)
    for one in (stream, everything):
        one.remember("another lantern", at=hours(1), importance=3)
    before = stream.snapshot()
    stream.forget([3])
    assert stream.recall("lantern", **asked) == without.recall("lantern", **asked)
    assert before.recall("lantern", **asked) == everything.recall("lantern", **asked)
