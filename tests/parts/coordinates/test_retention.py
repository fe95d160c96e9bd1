"""Forgetting by policy: what goes, in which order, and what is spared."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.ledger import Ledger, read
from commonplace.memory import Memory, MemoryStream
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.memory.stores.store import Archive, Forget, Writer, load
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.retention import (
    Candidate,
    RetentionPolicy,
    apply,
    audit,
    candidates,
    latest_time,
    plan,
)
from commonplace.testing.stores import WordCounts, before_each, write
from sizes import examples

NOW = datetime(2031, 10, 4, 12, tzinfo=UTC)
UNLIMITED = dict.fromkeys(
    ("max_sessions", "max_memories_per_session", "max_total_size_mb", "archive_after_days", "delete_after_days")
)


def memory(id: int, days: float = 0, importance: float = 0.5, session: str = "", **more) -> Memory:
    """A memory made so many days ago, of an importance of 0–1."""
    at = NOW - timedelta(days=days)
    return Memory(id, "maria", "observation", f"memory {id}", at, at, 0, 1 + 9 * importance, session=session, **more)


def reflection(id: int, *cited: int, **more) -> Memory:
    return replace(memory(id, **more), kind="reflection", citations=cited)


def ids(going) -> list[int]:
    return [one.memory.id for one in going]


def planned(memories, now=NOW, archived=(), starting=None, **limits):
    records = [Candidate(one, one.id in archived) for one in memories]
    return plan(records, RetentionPolicy(**{**UNLIMITED, **limits}), now, starting=starting)


def test_the_defaults_are_the_founding_ones():
    assert RetentionPolicy().to_mapping() == {
        "max_sessions": 10,
        "session_overflow": "session",
        "max_memories_per_session": 500,
        "max_total_size_mb": 100,
        "archive_after_days": 30,
        "delete_after_days": 180,
        "importance_floor": 0.3,
        "protected_days": 7,
    }
    assert RetentionPolicy.from_mapping({"max_sessions": None}).max_sessions is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_sesions": 1},
        {"max_sessions": -1},
        {"importance_floor": None},
        {"protected_days": float("nan")},
        {"max_sessions": "5"},
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(wrong):
    with pytest.raises(UsageError):
        RetentionPolicy.from_mapping(wrong)


def test_of_too_many_sessions_the_oldest_go_what_is_under_the_floor_first():
    memories = [memory(id, 20 - id, session=f"s{id // 3}", importance=(id % 3) / 4) for id in range(12)]
    found = planned(memories, max_sessions=2)
    assert ids(found.remove) == [0, 1, 3, 4, 2, 5]
    assert ["floor" in one.reason for one in found.remove] == [True] * 4 + [False] * 2
    assert found.archive == []


def test_the_session_that_has_just_begun_stays_however_old_it_is():
    memories = [memory(1, 2, session="a"), memory(2, 1, session="b"), memory(3, 99, session="imported")]
    assert ids(planned(memories, max_sessions=2).remove) == [3]
    assert ids(planned(memories, max_sessions=2, starting="imported").remove) == [1]


def test_what_belongs_to_no_session_is_in_none():
    assert planned([memory(1), memory(2, 5), memory(3, 9, session="a")], max_sessions=1).remove == []


def test_of_too_full_a_session_the_least_important_go_the_oldest_of_them_first():
    memories = [memory(1, 3, 0.5, "s"), memory(2, 2, 0.2, "s"), memory(3, 1, 0.2, "s"), memory(4, 0, 0.9, "s")]
    assert ids(planned(memories, max_memories_per_session=3).remove) == [2]
    assert ids(planned(memories, max_memories_per_session=1).remove) == [2, 3, 1]


def test_the_size_rule_spares_the_last_days_by_the_records_clock():
    memories = [memory(1, 8, 0.9), memory(2, 9, 0.4), memory(3, 6, 0.0), memory(4, 0, 0.0)]
    one = Candidate(memories[0]).size
    fits_three = (sum(Candidate(memory).size for memory in memories) - one // 2) / 1_000_000
    assert ids(planned(memories, max_total_size_mb=fits_three).remove) == [2]
    assert ids(planned(memories, max_total_size_mb=0).remove) == [2, 1]
    assert ids(planned(memories, max_total_size_mb=0, protected_days=0).remove) == [3, 2, 1]
    assert ids(planned(memories, now=NOW + timedelta(days=2), max_total_size_mb=0).remove) == [3, 2, 1]


def test_age_archives_first_and_removes_later():
    memories = [memory(1, 200), memory(2, 181), memory(3, 31), memory(4, 29)]
    found = planned(memories, archived=[2], archive_after_days=30, delete_after_days=180)
    assert (ids(found.remove), ids(found.archive)) == ([1, 2], [3])
    assert planned(memories, archived=[3], archive_after_days=30, delete_after_days=999).archive == [
        one for one in planned(memories, archive_after_days=30).archive if one.memory.id != 3
    ]


def test_evidence_is_spared_where_something_else_can_go():
    memories = [memory(1, 3, 0.1, "s"), memory(2, 2, 0.4, "s"), memory(3, 1, 0.5, "s"), reflection(4, 1, session="s")]
    found = planned(memories, max_memories_per_session=3)
    assert (ids(found.remove), ids(found.kept)) == ([2], [1])
    assert "cited by a reflection" in found.kept[0].reason


def test_evidence_is_folded_into_the_reflection_where_the_limit_must_hold():
    memories = [memory(1, 9, session="old"), memory(2, 8, session="old"), reflection(3, 1, 2, session="new")]
    found = planned(memories, max_sessions=1)
    assert ids(found.remove) == [1, 2]
    assert [one.details["evidence"] for one in found.folded] == [{"1": "memory 1", "2": "memory 2"}]
    again = planned([memory(5, 9, session="old"), replace(found.folded[0], citations=(5,))], max_sessions=1)
    assert again.folded[0].details["evidence"] == {"1": "memory 1", "2": "memory 2", "5": "memory 5"}


def test_a_reflection_that_goes_itself_is_told_nothing():
    memories = [memory(1, 9, session="old"), reflection(2, 1, days=8, session="old"), memory(3, session="new")]
    found = planned(memories, max_sessions=1)
    assert (ids(found.remove), found.folded) == ([1, 2], [])


def test_citations_to_nowhere_do_no_harm():
    assert planned([reflection(1, 77, 88, days=400)], delete_after_days=180).folded == []


memories = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 10), st.sampled_from("abcd"), st.integers(0, 12)), max_size=12
).map(
    lambda rows: [
        replace(
            memory(id, days, weight / 10, session), **({"kind": "reflection", "citations": (cited,)} if cited else {})
        )
        for id, (days, weight, session, cited) in enumerate(rows, start=1)
    ]
)
limits = st.none() | st.integers(0, 4)
some = st.none() | st.integers(1, 4)


@examples(100)
@given(memories, some, limits, st.none() | st.integers(0, 200), st.none() | st.integers(0, 200))
def test_a_plan_holds_its_limits_and_explains_all_it_does(memories, sessions, each, archive, delete):
    found = planned(
        memories,
        max_sessions=sessions,
        max_memories_per_session=each,
        archive_after_days=archive,
        delete_after_days=delete,
    )
    gone = set(ids(found.remove))
    left = [one for one in memories if one.id not in gone]
    evidence = {cited for one in left for cited in one.citations}
    assert len(ids(found.remove)) == len(gone)
    assert not gone & set(ids(found.archive))
    assert all(one.reason for one in (*found.remove, *found.archive, *found.kept))
    assert sessions is None or len({one.session for one in left}) <= sessions
    assert delete is None or all(NOW - one.created_at <= timedelta(days=delete) for one in left)
    for session in {one.session for one in left} if each is not None else ():
        spare = [one for one in left if one.session == session and one.id not in evidence]
        assert len(spare) <= each or len(spare) == 0
    folded = {one.id: one.details["evidence"] for one in found.folded}
    for one in left:
        lost = {str(cited) for cited in one.citations if cited in gone}
        assert set(folded.get(one.id, {})) == lost
    again = planned(left, archived=ids(found.archive), max_sessions=sessions, max_memories_per_session=each,
                    archive_after_days=archive, delete_after_days=delete)  # fmt: skip
    assert (again.remove, again.archive) == ([], [])


def test_a_stream_and_a_store_forget_alike_and_the_ledger_knows(tmp_path):
    limits = {**UNLIMITED, "max_sessions": 1, "archive_after_days": 30}
    policy = RetentionPolicy(**limits)
    store = JSONLStore(tmp_path / "memories")
    with MemoryStream.open(store, "maria") as stream:
        for number in range(6):
            stream.remember(f"memory {number}", at=NOW + timedelta(days=20 * number), session=f"s{number // 3}")
        stream.remember("all is one", at=NOW + timedelta(days=101), session="s1", kind="reflection", citations=[1, 4])
        now = latest_time(candidates(stream))
        done = plan(candidates(stream), policy, now)
        apply(done, stream)
        assert (ids(done.remove), ids(done.archive)) == ([1, 2, 3], [4])
        assert [one.id for one in stream] == [5, 6, 7]
        assert stream.get(7).details["evidence"] == {"1": "memory 0"}
    ledger = Ledger(tmp_path / "ledger")
    audit(ledger, done, at=now, trigger="retention")
    store.close()
    store = JSONLStore(tmp_path / "memories")
    assert {one.memory.id: one.archived for one in candidates(store)} == {4: True, 5: False, 6: False, 7: False}
    assert plan(candidates(store, "maria"), policy, now).lines() == []
    stricter = RetentionPolicy(**{**limits, "delete_after_days": 1})
    apply(plan(candidates(store), stricter, now + timedelta(days=9)), partial(Writer, store))
    assert candidates(store) == []
    store.close()
    entries = list(read(ledger.path))
    assert [entry["plan_adjustment"]["action"] for entry in entries] == ["archive", "remove"]
    assert entries[1]["memory_refs"] == ["maria #1", "maria #2", "maria #3"]


@pytest.mark.parametrize("through", ["store", "stream"])
def test_what_somebody_forgets_while_a_policy_is_applied_is_left_out(through, tmp_path):
    store, other = (SQLiteStore(tmp_path / "s.db") for _ in range(2))
    stream = MemoryStream.open(store, "maria", embedder=WordCounts())
    for day in range(8):
        stream.remember(f"day {day}", at=NOW - timedelta(days=100 - day), importance=3)
    stream.remember("days go by", at=NOW, kind="reflection", citations=[1, 2], importance=5)
    stream.remember("so they do", at=NOW, kind="reflection", citations=[1], importance=5)
    forgetting = plan(candidates(store), RetentionPolicy(delete_after_days=97, archive_after_days=10), NOW)
    assert [one.memory.id for one in forgetting.remove] == [1, 2, 3]
    assert [one.id for one in forgetting.folded] == [9, 10]
    write(other, "maria", Forget([9]))
    if through == "stream":
        stream.refresh()
    with (
        before_each(store, Archive, lambda ids=[4]: write(other, "maria", Forget([ids.pop()]))),
        before_each(store, Forget, lambda ids=[1, 2]: write(other, "maria", Forget([ids.pop()]))),
    ):
        apply(forgetting, partial(Writer, store) if through == "store" else stream)
    found = load(other, "maria")
    assert (found.forgotten, found.archived) == ({1, 2, 3, 4, 9}, {5, 6, 7, 8})
    assert found.memories[9].details["evidence"] == {"1": "day 0"}
    stream.close()
    store.close()
    other.close()
