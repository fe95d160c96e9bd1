"""How far apart voices are, and what is said twice: against another way to compute it, and at the ends."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.analysis.voices import distance_of_voices, jensen_shannon_distance, said_twice

COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1)


def entropy(shares: list[float]) -> float:
    return -sum(share * log2(share) for share in shares if share)


def by_entropies(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """The divergence as the entropy of the mean less the mean of the entropies."""
    names = sorted({*one, *other})
    p, q = ([counts.get(name, 0) / sum(counts.values()) for name in names] for counts in (one, other))
    mean = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return sqrt(max(0.0, entropy(mean) - (entropy(p) + entropy(q)) / 2))


@given(COUNTS, COUNTS)
def test_the_distance_is_that_of_entropies_symmetric_and_between_0_and_1(one, other):
    found = jensen_shannon_distance(one, other)
    assert found == pytest.approx(by_entropies(one, other), abs=1e-6)
    assert found == jensen_shannon_distance(other, one)
    assert 0.0 <= found <= 1.0


@given(COUNTS, COUNTS, COUNTS)
def test_no_way_round_is_shorter(one, other, third):
    around = jensen_shannon_distance(one, third) + jensen_shannon_distance(third, other)
    assert jensen_shannon_distance(one, other) <= around + 1e-9


def test_the_same_shares_are_no_distance_and_no_common_word_is_the_longest():
    assert jensen_shannon_distance({"a": 1, "b": 2}, {"a": 2, "b": 4}) == pytest.approx(0.0, abs=1e-7)
    assert jensen_shannon_distance({"a": 3}, {"b": 1}) == 1.0


def test_voices_are_compared_by_speaker():
    alike = [("ann", "The stove is warm."), ("ben", "the stove is warm"), ("ann", "")]
    assert distance_of_voices(alike) == pytest.approx(0.0, abs=1e-7)
    assert distance_of_voices([*alike, ("cid", "Rain again")]) == pytest.approx(2 / 3)
    assert distance_of_voices([("ann", "The stove is warm."), ("ann", "Rain.")]) is None


def test_a_line_is_said_twice_if_somebody_said_or_heard_the_same_words():
    lines = [("Rain again.", []), ("rain, again!", []), ("The stove is warm.", ["The stove is warm"]), ("Well.", [])]
    assert said_twice(lines) == 0.5
    assert said_twice([]) is None
