"""What goes into a stream, what is refused, and how one is restored."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import KINDS, Emotion, MemoryStream, policies
from memory.fingerprint import fingerprint
from memory.naive import START, CountingEmbedder, hours
from memory.strategies import ANALYSER, entries, stream_of
from sizes import examples


def empty() -> MemoryStream:
    return MemoryStream(agent="maria")


def test_a_memory_has_what_it_was_given():
    stream = empty()
    memory = stream.remember(
        "  Klaus\u200b   is reading ",
        at=START,
        importance=6,
        kind="observation",
        place=("Town", "Library"),
        tick=4,
        emotion=Emotion(0.5, 0.2, keywords=("calm",)),
        source="Klaus",
        session="run-1",
        tags=["study"],
        event="t4.klaus.0",
        details={"rhythm": "rest"},
    )
    assert (memory.id, memory.agent, memory.kind, memory.text) == (1, "maria", "observation", "Klaus is reading")
    assert (memory.created_at, memory.accessed_at, memory.tick) == (START, START, 4)
    assert (memory.place, memory.tags, memory.event) == (("Town", "Library"), ("study",), "t4.klaus.0")
    assert (memory.details, memory.session, memory.source) == ({"rhythm": "rest"}, "run-1", "Klaus")
    assert stream.get(1) == memory
    assert hash(memory) == hash(stream.get(1))


def test_ids_count_up_and_are_not_used_again():
    stream = empty()
    assert [stream.remember("stove", at=START).id for _ in range(3)] == [1, 2, 3]
    assert stream.forget([3, 1, 3]) == (1, 3)
    assert stream.remember("stove", at=START).id == 4
    assert [memory.id for memory in stream] == [2, 4]
    assert (len(stream), stream.last_id, 1 in stream, 2 in stream) == (2, 4, False, True)
    assert stream.forget([1]) == ()


def test_the_beginning_of_a_long_text_is_shown_and_the_whole_is_searched():
    stream = empty()
    text = "a word of many " * 200 + "and a lantern"
    memory = stream.remember(text, at=START)
    assert memory.text == text[:2_000]
    assert memory.details["full_text"] == memory.full_text == text
    stream.remember("another thing", at=START)
    assert [found.id for found in stream.search(text="LANTERN")] == [1]
    assert stream.recall("lantern", at=START, policy=policies.LEXICAL, k=1)[0].memory.id == 1
    assert stream.remember("x" * 2_000, at=START).details == {}


@pytest.mark.parametrize(("given", "kept"), [(0, 1), (-5, 1), (11, 10), (math.inf, 10), (3.7, 3.7), (10, 10)])
def test_importance_is_brought_into_1_to_10(given, kept):
    assert empty().remember("stove", at=START, importance=given).importance == kept


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""},
        {"text": " \u200b\n"},
        {"importance": math.nan},
        {"importance": "high"},
        {"kind": "dream"},
        {"kind": "action", "citations": [1]},
        {"citations": [1]},
        {"kind": "reflection"},
        {"kind": "reflection", "citations": [7]},
        {"kind": "plan", "citations": [0]},
        {"kind": "plan", "citations": [2]},
        {"place": "Library"},
        {"tags": "study"},
        {"at": "2031-10-04"},
    ],
    ids=str,
)
def test_what_cannot_be_a_memory_is_refused_and_leaves_no_trace(wrong):
    stream = empty()
    stream.remember("one", at=START)
    stream.remember("two", at=START)
    stream.forget([2])
    before = fingerprint(stream)
    with pytest.raises(UsageError):
        stream.remember(**({"text": "three", "at": START} | wrong))
    assert fingerprint(stream) == before


def test_plans_may_and_reflections_must_cite():
    stream = empty()
    stream.remember("one", at=START)
    assert stream.remember("a plan", at=START, kind="plan").citations == ()
    assert stream.remember("a plan", at=START, kind="plan", citations=[1]).citations == (1,)
    assert stream.remember("a thought", at=START, kind="reflection", citations=[3, 1, 3]).citations == (3, 1)
    assert KINDS == ("observation", "action", "plan", "reflection")


@pytest.mark.parametrize(
    "at",
    [
        datetime(2031, 10, 4, 6),  # noqa: DTZ001 - that a naive time is UTC is what is tested
        datetime(2031, 10, 4, 15, tzinfo=timezone(timedelta(hours=9))),
    ],
)
def test_times_are_utc_inside(at):
    memory = empty().remember("stove", at=at)
    assert (memory.created_at, memory.created_at.tzinfo) == (START, UTC)


@pytest.mark.parametrize("wrong", [{"valence": -1.1}, {"arousal": -0.1}, {"arousal": math.nan}, {"confidence": 2}])
def test_an_emotion_outside_its_range_is_refused(wrong):
    with pytest.raises(UsageError, match="emotion"):
        Emotion(**({"valence": 0.0, "arousal": 0.5} | wrong))


@pytest.mark.parametrize("id", [0, 2, -1])
def test_a_memory_there_never_was_is_refused(id):
    stream = empty()
    stream.remember("stove", at=START)
    for use in (stream.get, stream.vector, lambda id: stream.forget([id])):
        with pytest.raises(UsageError, match="there is no memory"):
            use(id)


def test_a_forgotten_memory_is_gone_from_everywhere():
    stream = empty()
    for text in ("festival", "stove"):
        stream.remember(text, at=START)
    stream.forget([1])
    assert stream.search(text="festival") == []
    assert stream.retrieve("festival", at=START).ids == (2,)
    assert [memory.id for memory in stream.recent(5)] == [2]
    with pytest.raises(UsageError):
        stream.get(1)


def test_what_passes_filters_is_forgotten_or_only_counted():
    stream = MemoryStream("maria")
    for source, tags in (("Klaus", ["food"]), ("Klaus", []), ("Ana", ["food"]), ("Klaus", ["food"])):
        stream.remember("bread", at=START, source=source, tags=tags)
    stream.archive([4])
    assert stream.forget(where={"source": "Klaus", "tags": ["food"]}, dry_run=True) == (1,)
    assert stream.forget([1, 4], dry_run=True) == (1, 4)
    assert (len(stream), [memory.id for memory in stream.archived]) == (3, [4])
    assert stream.forget(where={"source": "Klaus"}) == (1, 2)
    assert ([memory.id for memory in stream], [memory.id for memory in stream.archived]) == ([3], [4])
    for wrong in ({}, {"ids": [3], "where": {"source": "Ana"}}, {"where": {}}, {"where": {"source": None}}):
        with pytest.raises(UsageError, match=r"which memories are meant|no filter"):
            stream.forget(**wrong)
    with pytest.raises(UsageError, match="'speaker'"):
        stream.forget(where={"speaker": "Ana"})
    assert len(stream) == 1


def test_given_vectors_stay_as_given():
    stream = MemoryStream("maria", embedder=CountingEmbedder())
    stream.remember("stove", at=START, embedding=[0.25, -1.5, 3.0])
    assert stream.vector(1).tolist() == [0.25, -1.5, 3.0]


def test_without_a_rating_the_rules_rate_and_an_unusable_answer_counts_3():
    assert empty().remember("Maria promised to come", at=START).importance == 5
    stream = MemoryStream("maria", rater=lambda _: math.nan)
    assert stream.remember("Maria promised to come", at=START).importance == 3
    assert stream.remember("Maria promised to come", at=START, importance=None).importance == 3


@examples(40)
@given(drawn=st.lists(entries, max_size=10), forgotten=st.sets(st.integers(1, 10)))
def test_a_restored_stream_is_the_same_stream(drawn, forgotten):
    stream, _ = stream_of(policies.PARK, drawn)
    stream.recall("festival", at=hours(40), k=2)
    memories = list(stream)
    vectors = [stream.vector(memory.id) for memory in memories]
    stream.forget(gone := [id for id in forgotten if id <= len(drawn)])
    config = {"embedder": CountingEmbedder(), "analyser": ANALYSER}
    restored = MemoryStream.restore("maria", memories, vectors, forgotten=gone, **config)
    got, expected = fingerprint(restored), fingerprint(stream)
    del got["vector_state"], expected["vector_state"]
    assert got == expected


def test_accesses_can_be_restored_apart_from_the_memories():
    stream = empty()
    memories = [stream.remember("stove", at=hours(at)) for at in range(3)]
    vectors = [stream.vector(memory.id) for memory in memories]
    restored = MemoryStream.restore("maria", memories, vectors, accesses={2: hours(9)})
    assert [memory.accessed_at for memory in restored] == [hours(0), hours(9), hours(2)]


def test_restoring_refuses_gaps_and_missing_vectors():
    stream = empty()
    memories = [stream.remember("stove", at=hours(at)) for at in range(3)]
    with pytest.raises(UsageError, match="memory 2 is out of place; expected memory 1"):
        MemoryStream.restore("maria", memories[1:], [None, None])
    with pytest.raises(UsageError, match="2 vectors for 3"):
        MemoryStream.restore("maria", memories, [None, None])


ALONE = """
import sys
from datetime import datetime
from commonplace.memory import MemoryStream, policies, Policy
stream = MemoryStream(agent="maria")
stream.remember("stove", at=datetime(2031, 1, 1))
stream.recall("stove", at=datetime(2031, 1, 1))
ours = {name.split(".")[1] for name in sys.modules if name.startswith("commonplace.")}
assert ours <= {"memory", "languages", "ledger", "errors", "canon", "text", "clock", "rng", "paths", "registry"}, ours
assert not {"pydantic", "yaml", "asyncio", "sqlite3"} & set(sys.modules)
"""

RANKING = """
from datetime import datetime, timedelta
from commonplace.memory import MemoryStream, policies
stream, start = MemoryStream("maria"), datetime(2031, 10, 4)
for number in range(200):
    stream.remember(f"Klaus {number % 7} met {number % 11} 축제에서", at=start + timedelta(minutes=number))
for policy in (policies.PARK, policies.LEXICAL):
    print(stream.retrieve("Klaus 3 축제", at=start + timedelta(days=2), policy=policy).trace()["hits"])
"""


def run(program: str, **environment: str) -> str:
    path = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": path} | environment,
    ).stdout


def test_memory_works_with_nothing_else_around_it():
    run(ALONE)


def test_the_same_memories_rank_the_same_in_other_processes():
    outputs = {
        run(RANKING, PYTHONHASHSEED="1", OPENBLAS_NUM_THREADS="1"),
        run(RANKING, PYTHONHASHSEED="2", OPENBLAS_NUM_THREADS="2", OPENBLAS_CORETYPE="Nehalem"),
        run(RANKING, PYTHONHASHSEED="3", NPY_DISABLE_CPU_FEATURES="AVX512F,AVX2,FMA3"),
    }
    assert len(outputs) == 1


def test_vectors_are_copies():
    stream = empty()
    stream.remember("stove", at=START)
    vector = stream.vector(1)
    assert vector.dtype == np.float32
    vector[:] = 0
    assert stream.vector(1).any()
