"""When it is time to reflect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import Draft, MemoryStream, ReflectionTrigger, policies
from commonplace.memory.reflection import THRESHOLD, since_reflection
from memory.naive import START, CountingEmbedder
from memory.strategies import stream_of
from sizes import examples

steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("observation", "action", "plan", "reflection")), st.floats(1, 10)),
        st.tuples(st.just("forget"), st.integers(1, 12)),
    ),
    max_size=12,
)


@examples(100)
@given(steps=steps, drafted=st.booleans())
def test_the_sum_kept_up_is_the_sum_derived(steps, drafted):
    stream, _ = stream_of(policies.PARK, [("stove", 0.0, 2.5, None)])
    for kind, value in steps:
        if kind == "forget":
            stream.forget([value] if 1 < value <= stream.last_id else [])
            continue
        citations = [1] if kind == "reflection" else []
        writer = Draft(stream) if drafted else stream
        writer.remember("stove", at=START, kind=kind, importance=value, citations=citations)
        assert writer.importance_since_reflection() == since_reflection(writer._view())
        if isinstance(writer, Draft):
            stream.apply(writer.delta)
        assert stream.importance_since_reflection() == since_reflection(stream._view())


def lived(total: float) -> MemoryStream:
    stream = MemoryStream("maria", embedder=CountingEmbedder())
    while total > 0:
        stream.remember("stove", at=START, importance=min(10, total))
        total -= 10
    return stream


@pytest.mark.parametrize(
    ("total", "strict", "due"), [(149, False, False), (150, False, True), (150, True, False), (151, True, True)]
)
def test_150_is_enough_unless_it_must_be_exceeded(total, strict, due):
    assert THRESHOLD == 150
    assert ReflectionTrigger(strict=strict).due(lived(total)) is due


def test_observations_and_actions_since_the_last_reflection_count():
    stream = lived(140)
    stream.remember("a plan", at=START, importance=10, kind="plan")
    assert not ReflectionTrigger().due(stream)
    stream.remember("a deed", at=START, importance=10, kind="action")
    assert ReflectionTrigger().due(stream)
    stream.remember("a thought", at=START, importance=10, kind="reflection", citations=[1])
    assert stream.importance_since_reflection() == 0
    assert ReflectionTrigger(threshold=5).due(lived(5))


def test_a_forgotten_reflection_took_place_and_a_forgotten_deed_does_not_count():
    stream = lived(20)
    stream.remember("a thought", at=START, kind="reflection", citations=[1])
    stream.remember("a deed", at=START, importance=4, kind="action")
    stream.remember("a deed", at=START, importance=6, kind="action")
    stream.forget([3, 4])
    assert stream.importance_since_reflection() == 6
