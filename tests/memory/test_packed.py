"""Old memories are packed and texts are kept once; whoever reads them cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import Draft, Emotion, MemoryStream, policies, table
from commonplace.memory.records import PackedRecords
from memory.naive import CountingEmbedder, hours
from memory.strategies import ANALYSER, entries, moments, put, queries, shown, stream_of, texts
from sizes import examples

details = st.one_of(
    st.just({}),
    st.dictionaries(
        st.sampled_from("abc"),
        st.one_of(st.text(max_size=3), st.integers(1 - 2**64, 2**64 - 1), st.lists(st.booleans())),
    ),
    st.sampled_from(({"pair": (1, 2)}, {"frame": {"what": "said"}}, {"mark": "\ud800"})),
)
emotions = st.sampled_from((None, Emotion(-0.5, 0.25, 1.0, ("glad",))))
whole = st.fixed_dictionaries(
    {
        "details": details,
        "emotion": emotions,
        "place": st.sampled_from(((), ("Town", "House"))),
        "tags": st.sampled_from(((), ("day",))),
        "event": st.sampled_from(("", "t1.maria.0", "사건")),
        "source": st.sampled_from(("", "Klaus")),
        "tick": st.integers(0, 9),
    }
)


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    """Every memory but the latest two is packed."""
    with patch.object(table, "_LATEST", 1):
        yield


@examples(100)
@given(drawn=st.lists(st.tuples(texts, moments, whole), max_size=12), asked=texts)
def test_a_packed_memory_is_read_back_as_it_was(drawn, asked) -> None:
    stream = MemoryStream("maria", embedder=CountingEmbedder(), analyser=ANALYSER)
    kept = [stream.remember(text, at=hours(at), **fields) for text, at, fields in drawn]
    assert list(stream) == kept
    assert [repr(memory.details) for memory in stream] == [repr(memory.details) for memory in kept]
    stream.recall(asked, at=hours(50), k=3)
    assert [memory.accessed_at for memory in stream].count(hours(50)) == min(
        3, sum(memory.created_at <= hours(50) for memory in kept)
    )


@examples(100)
@given(drawn=st.lists(entries, min_size=1, max_size=12), query=queries, gone=st.sets(st.integers(1, 12)))
def test_packing_changes_no_answer(drawn, query, gone) -> None:
    packed, _ = stream_of(policies.RECALL, drawn)
    with patch.object(table, "_LATEST", 1000):
        plain, _ = stream_of(policies.RECALL, drawn)
    for stream in (packed, plain):
        stream.forget(id for id in gone if id <= len(drawn))
    for policy in (policies.PARK, policies.RECALL, policies.REPO2023):
        found = [stream.recall(query, at=hours(30_000), policy=policy, k=4) for stream in (packed, plain)]
        assert shown(found[0]) == shown(found[1])


def test_a_packed_memory_can_be_revised_and_forgotten() -> None:
    stream, _ = stream_of(policies.PARK)
    for number in range(9):
        stream.remember(f"festival {number}", at=hours(number), importance=5)
    assert stream.revise(2, importance=9, details={"seen": True}).importance == 9
    assert (stream.get(2).importance, stream.get(2).details) == (9, {"seen": True})
    stream.forget([3])
    assert [memory.id for memory in stream] == [1, 2, 4, 5, 6, 7, 8, 9]


def test_a_snapshot_reads_what_has_been_packed_since() -> None:
    stream, _ = stream_of(policies.PARK)
    first = stream.remember("festival", at=hours(1), importance=5)
    past = stream.snapshot()
    for number in range(9):
        stream.remember(f"stove {number}", at=hours(2 + number), importance=5)
    assert list(past) == [first]


def test_most_memories_are_packed() -> None:
    with patch.object(PackedRecords, "append", autospec=True, side_effect=PackedRecords.append) as packing:
        stream, _ = stream_of(policies.PARK)
        for number in range(9):
            stream.remember(f"stove {number}", at=hours(number), importance=5)
    assert packing.call_count == 8


def test_what_packed_memories_have_in_common_is_in_ram_once() -> None:
    stream, _ = stream_of(policies.PARK)
    for number in range(9):
        details = {"frame": {"what": f"thing {number % 2}", "number": number}, "seen": ["by Pip"]}
        stream.remember(f"festival {number}", at=hours(number), place=("Town", "House"), details=details)
    first, _, third, *_ = (stream.get(id) for id in range(1, 10))
    names = [
        [*memory.place, *memory.details, *memory.details["frame"], *memory.details["seen"]] for memory in (first, third)
    ]
    assert all(one is other for one, other in zip(*names, strict=True))
    assert first.details["frame"]["what"] is third.details["frame"]["what"]


def test_of_the_memories_since_a_moment_only_those_with_the_wanted_text_are_unpacked() -> None:
    stream, _ = stream_of(policies.PARK)
    for number in range(12):
        stream.remember(f"lamp {number % 5}", at=hours(number), kind="action" if number % 4 == 3 else "observation")
    stream.revise(7, text="lamp 4")
    tested: list[str] = []

    def says(text: str) -> bool:
        tested.append(text)
        return text == "lamp 4"

    with patch.object(table, "Memory", wraps=table.Memory) as made:
        found = [memory.id for memory in stream.since(hours(4), "observation", says)]
    assert found == [5, 7, 10]
    assert tested == ["lamp 4", "lamp 0", "lamp 3"]
    assert made.call_count == 2  # the revised one is kept as an object


# ── sayings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_text_said_often_is_kept_and_compared_once() -> None:
    stream, _ = stream_of(policies.PARK)
    for number in range(9):
        stream.remember("the stove is lit", at=hours(number), importance=5)
    assert stream.table.sayings.texts == ["the stove is lit"]
    assert len(stream.recall("stove", at=hours(10), k=9)) == 9


def test_the_same_text_may_come_with_different_vectors() -> None:
    stream, _ = stream_of(policies.PARK)
    given = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], None, [1.0, 0.0], [1.0, 0.0, 0.0]]
    for number, vector in enumerate(given):
        put(stream, ("stove", number, 5.0, vector))
    usable = [stream.vector(id) for id in range(1, 6)]
    assert [None if vector is None else vector.tolist() for vector in usable] == [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        CountingEmbedder().embed(["stove"])[0].tolist(),
        None,
        [1.0, 0.0, 0.0],
    ]
    memories = list(stream)
    again = MemoryStream.restore("maria", memories, usable, embedder=CountingEmbedder(), analyser=ANALYSER)
    vectors = [again.vector(id) for id in range(1, 6)]
    assert [str(vector) for vector in vectors] == [str(vector) for vector in usable]


def test_a_draft_that_is_dropped_leaves_no_text_behind() -> None:
    stream, _ = stream_of(policies.PARK)
    stream.remember("festival", at=hours(1), importance=5)
    draft = Draft(stream)
    draft.remember("a secret", at=hours(2), importance=5)
    draft.remember("festival", at=hours(2), importance=5)
    draft.discard()
    assert stream.table.sayings.texts == ["festival"]
    stream.remember("a secret", at=hours(3), importance=5)
    assert stream.table.sayings.texts == ["festival", "a secret"]


def test_a_test_of_texts_reads_each_text_once() -> None:
    stream, _ = stream_of(policies.PARK)
    seen: list[str] = []

    def about_fire(text: str) -> bool:
        seen.append(text)
        return "stove" in text

    for text in ("festival", "stove", "festival", "stove"):
        stream.remember(text, at=hours(1), importance=5)
    assert stream.earliest(about_fire) == 2
    assert stream.earliest(about_fire) == 2
    stream.forget([2])
    assert stream.earliest(about_fire) == 4
    stream.forget([4])
    assert stream.earliest(about_fire) is None
    assert seen == ["festival", "stove"]


def test_a_memory_given_another_text_is_compared_by_that_text() -> None:
    stream, _ = stream_of(policies.PARK)
    for text in ("festival", "library", "stove"):
        stream.remember(text, at=hours(1), importance=5)
    stream.revise(1, text="promise", at=hours(1))
    found = stream.recall("promise", at=hours(1), touch=False)
    assert {hit.memory.id: hit.parts["relevance"].raw for hit in found} == {1: 1, 2: 0, 3: 0}
