"""A draft reads as if it were applied, and leaves nothing behind when it is not."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream, policies
from memory import naive
from memory.fingerprint import fingerprint
from memory.naive import CountingEmbedder, hours
from memory.strategies import ANALYSER, asked, entries, put, queries, remember, shown, stream_of
from sizes import examples

turns = st.lists(
    st.lists(st.one_of(entries.map(lambda entry: ("remember", entry)), queries.map(lambda q: ("ask", q))), max_size=6),
    min_size=1,
    max_size=4,
)
both = pytest.mark.parametrize("policy", [policies.PARK, policies.LEXICAL], ids=lambda policy: policy.name)


@both
@examples(60)
@given(drawn=st.lists(entries, max_size=8), script=turns, dropped=st.sets(st.integers(0, 3)))
def test_a_draft_scores_its_own_memories_against_the_access_times_of_before(policy, drawn, script, dropped):
    stream, model = stream_of(policy, drawn)
    for number, steps in enumerate(script):
        at = hours(40 + number)
        before, untouched = copy.deepcopy(model), fingerprint(stream)
        draft, touched = Draft(stream), set()
        for verb, argument in steps:
            if verb == "remember":
                remember(draft, model, argument)
                continue
            expected = naive.retrieve(model.rows, asked(argument), at, policy, 3)
            found = shown(draft.recall(argument, at=at, k=3))
            assert [id for id, _ in found] == [id for id, _ in expected]
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=4e-9)
            touched.update(id for id, _ in expected)
        if number in dropped:
            model = before
            draft.discard()
            assert fingerprint(stream) == untouched
        else:
            assert draft.delta.touched == tuple(sorted(touched))
            stream.apply(draft.delta)
            model.touch(touched, at)
        assert [(m.id, m.text, m.accessed_at) for m in stream] == [(r.id, r.text, r.accessed) for r in model.rows]


@both
@examples(40)
@given(drawn=st.lists(entries, max_size=6), added=st.lists(entries, max_size=5), query=queries)
def test_a_draft_applied_equals_remembering_and_a_delta_is_enough(policy, drawn, added, query):
    at = hours(50)
    direct, _ = stream_of(policy, drawn)
    here, model = stream_of(policy, drawn)
    elsewhere, _ = stream_of(policy, drawn)
    draft = Draft(here)
    for entry in added:
        remember(draft, model, entry)
    draft.recall(query, at=at, k=4)
    delta = draft.delta
    for entry in added:
        put(direct, entry)
    direct.recall(query, at=at, k=4)
    here.apply(delta)
    elsewhere.apply(delta)
    for stream in (here, elsewhere):
        stream.retrieve("stove", at=at, touch=False, policy=policies.PARK)
    direct.retrieve("stove", at=at, touch=False, policy=policies.PARK)
    unimportant = ("vector_state",)  # a wrong-sized vector is no vector once it has been a value
    prints = [fingerprint(stream) for stream in (direct, here, elsewhere)]
    for print in prints:
        for name in unimportant:
            del print[name]
    assert prints[0] == prints[1] == prints[2]


def filled(n: int = 5) -> MemoryStream:
    stream = MemoryStream("maria", embedder=CountingEmbedder(), analyser=ANALYSER)
    for number in range(n):
        stream.remember(f"festival {number}", at=hours(number), importance=5)
    return stream


def test_a_memory_of_a_draft_has_its_final_id_at_once_and_can_be_cited():
    stream = filled()
    draft = Draft(stream)
    first = draft.remember("Klaus promised", at=hours(6), importance=7)
    thought = draft.remember("Klaus keeps promises", at=hours(6), kind="reflection", citations=[first.id, 2])
    assert (first.id, thought.id, thought.citations) == (6, 7, (6, 2))
    assert draft.get(6) == first
    assert [memory.id for memory in draft.recent(3)] == [7, 6, 5]
    stream.apply(draft.delta)
    assert stream.get(7) == thought


def test_the_stream_shows_nothing_of_an_open_draft():
    stream = filled()
    draft = Draft(stream)
    draft.remember("festival of the draft", at=hours(9))
    draft.recall("festival", at=hours(9))
    assert (len(stream), len(draft)) == (5, 6)
    assert 6 not in stream
    assert [memory.accessed_at for memory in stream] == [hours(number) for number in range(5)]
    assert 6 not in stream.retrieve("festival", at=hours(9), touch=False).ids
    assert stream.search(text="draft") == []


def test_all_retrievals_of_a_draft_give_the_same_answer():
    stream = filled()
    draft = Draft(stream)
    first = draft.retrieve("festival", at=hours(60), k=2)
    assert draft.retrieve("festival", at=hours(60), k=2) == first
    assert first.hits[0].memory.accessed_at == hours(4)
    assert draft.delta.touched_at == hours(60)


def test_looking_without_touching_leaves_the_delta_empty():
    draft = Draft(filled())
    draft.recall("festival", at=hours(9), touch=False)
    assert (draft.delta.memories, draft.delta.touched, draft.delta.touched_at) == ((), (), None)


@pytest.mark.parametrize(
    "change",
    [
        Draft,
        lambda stream: stream.remember("festival", at=hours(9)),
        lambda stream: stream.recall("festival", at=hours(9)),
        lambda stream: stream.forget([1]),
        lambda stream: stream.apply(Draft(stream).delta),
    ],
    ids=["another draft", "remember", "recall", "forget", "apply"],
)
def test_a_draft_ends_when_the_stream_changes(change):
    stream = filled()
    draft = Draft(stream)
    draft.remember("stove", at=hours(8))
    change(stream)
    with pytest.raises(UsageError, match="closed"):
        draft.recall("stove", at=hours(9))
    with pytest.raises(UsageError, match="closed"):
        draft.remember("stove", at=hours(9))
    assert stream.search(text="stove") == []


def test_a_turn_that_raises_leaves_no_trace():
    stream = filled()
    before = fingerprint(stream)
    with pytest.raises(UsageError):
        draft = Draft(stream)
        draft.remember("stove", at=hours(8))
        draft.remember("", at=hours(8))
    Draft(stream)
    assert fingerprint(stream) == before


def test_a_delta_of_another_moment_is_refused():
    stream = filled()
    delta = Draft(stream).delta
    stream.remember("stove", at=hours(8))
    with pytest.raises(UsageError, match="at memory 5"):
        stream.apply(delta)


def test_a_delta_can_be_applied_after_the_draft_went_on():
    stream = filled()
    draft = Draft(stream)
    draft.remember("stove", at=hours(8))
    delta = draft.delta
    draft.remember("library", at=hours(8))
    stream.apply(delta)
    assert [memory.text for memory in stream][5:] == ["stove"]


def test_the_importance_since_reflection_of_a_draft_is_the_one_after_it():
    stream = filled()
    draft = Draft(stream)
    draft.remember("stove", at=hours(8), importance=4)
    assert (stream.importance_since_reflection(), draft.importance_since_reflection()) == (25, 29)
    draft.weigh({draft.last_id: (9, None)})
    assert draft.importance_since_reflection() == 34
    draft.remember("so it is", at=hours(8), kind="reflection", citations=[1], importance=9)
    assert draft.importance_since_reflection() == 0
    draft.weigh({draft.last_id: (5, None)})
    assert draft.importance_since_reflection() == 0
    stream.apply(draft.delta)
    assert stream.importance_since_reflection() == 0
