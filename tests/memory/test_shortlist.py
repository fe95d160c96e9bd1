"""Scoring exactly only what can be among the best changes no result."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import rng
from commonplace.memory import policies, scoring, shortlist
from memory.naive import WORDS, hours
from memory.strategies import dialogues, entries, questions, stream_of
from sizes import examples

weight = st.one_of(st.sampled_from((0.0, 1.0, -1.0, 1e-3)), st.floats(-3, 3))
chosen = st.builds(
    dataclasses.replace,
    st.sampled_from([policies.PARK, policies.LEXICAL, policies.RECALL, policies.REPO2023]),
    recency_weight=weight,
    importance_weight=weight,
    relevance_weight=weight,
    cosine_weight=weight,
    neighbours_weight=weight,
    named_weight=weight,
    all_equal=st.floats(0, 1),
    full_at=st.sampled_from((0.0, 0.3, 1.0)),
    cosine_from=st.sampled_from(("lowest", "mean")),
    lending=st.sampled_from(("full", "measured")),
)


def same_either_way(stream, query: str, at, k: int) -> bool:
    """Whether a shortlist was used; it is tried however few memories there are, and used however long it is."""
    used: list[bool] = []

    def spy(*given):
        found = shortlist.shortlist(*given)
        used.append(found is not None)
        return found

    answers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortlist, "_TOO_MANY", 1)
        patch.setattr(scoring, "shortlist", spy)
        for least in (1, 10**9):
            patch.setattr(scoring, "LEAST", least)
            found = stream.retrieve(query, at=at, k=k, touch=False)
            parts = [dict(hit.parts) for hit in found]
            answers.append((found.ids, found.scores, parts, found.spreads, found.candidates, found.unusable))
    assert answers[0] == answers[1]
    return any(used)


@examples(60)
@given(
    policy=chosen,
    drawn=st.one_of(dialogues, st.lists(entries, max_size=14)),
    query=questions,
    k=st.integers(1, 6),
    gone=st.sets(st.integers(1, 14), max_size=3),
)
def test_any_stream_any_weights(policy, drawn, query, k, gone):
    stream, _ = stream_of(policy, drawn)
    stream.forget([id for id in gone if id <= len(drawn)])
    same_either_way(stream, query, hours(20_001), k)


@pytest.mark.parametrize("name", ["park", "lexical", "recall"])
def test_many_memories_few_of_which_are_scored_exactly(name):
    drawn = [
        (
            " ".join(rng.choice(WORDS, number, place) for place in range(rng.below(5, number) + 1)),
            float(rng.below(2_000, number, "at")),
            1.0 + rng.below(10, number, "importance"),
            [float(rng.below(41, number, place) - 20) for place in range(3)],
        )
        for number in range(400)
    ]
    stream, _ = stream_of(policies.by_name(name), drawn)
    for number in range(8):
        assert same_either_way(stream, rng.choice(WORDS, "asked", number), hours(3_000), 5)


def test_norms_too_small_for_single_precision_are_compared_exactly():
    stream, _ = stream_of(policies.PARK)
    for number in range(20):
        stream.remember("stove", at=hours(0), embedding=np.array([1e-30 * number, 1e-30, 0], dtype=np.float32))
    assert not same_either_way(stream, "stove", hours(1), 3)


@given(st.lists(st.tuples(st.sets(st.integers(1, 12), max_size=4), st.integers(0, 40)), max_size=5))
@examples(30)
def test_after_any_touches_a_kept_prior_is_that_of_a_new_stream(touches):
    drawn = [("stove", float(number % 5), 1.0 + number % 3, None) for number in range(12)]
    stream, fresh = (stream_of(policies.PARK, drawn)[0] for _ in range(2))
    for ids, hour in touches:
        stream.recall("stove", at=hours(50), touch=False)
        for one in (stream, fresh):
            one.table.touch(sorted(ids), hours(hour))
    fresh.table.priors.clear()
    answers = [
        [(hit.memory.id, hit.score) for hit in one.recall("stove", at=hours(50), k=12, touch=False)]
        for one in (stream, fresh)
    ]
    assert answers[0] == answers[1]
