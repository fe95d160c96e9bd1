"""How alike characters speak, and how often a line is said again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import log2, sqrt

from commonplace.text import words

Line = tuple[str, str]
"""Who says it, and the words."""


def jensen_shannon_distance(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Returns how far two counts of words are from each other: 0 for the same shares, 1 for no word in common.

    The square root of the Jensen–Shannon divergence with the logarithm to base 2, ½ KL(P ‖ M) + ½ KL(Q ‖ M) with
    M = ½ (P + Q) (Lin 1991), which is a metric (Endres and Schindelin 2003). Neither may be empty.
    """
    size, others = sum(one.values()), sum(other.values())
    divergence = 0.0
    for word in sorted({*one, *other}):
        p, q = one.get(word, 0) / size, other.get(word, 0) / others
        mean = (p + q) / 2
        divergence += sum(share * log2(share / mean) for share in (p, q) if share) / 2
    return sqrt(min(1.0, max(0.0, divergence)))


def distance_of_voices(lines: Iterable[Line]) -> float | None:
    """Returns the mean distance between the words of any two speakers; None with fewer than two.

    It falls with the length of what is said, since few words are rarely shared: compare answers to the same questions.
    """
    counts: dict[str, Counter[str]] = {}
    for speaker, line in lines:
        counts.setdefault(speaker, Counter()).update(words(line))
    said = [count for _, count in sorted(counts.items()) if count]
    distances = [jensen_shannon_distance(*pair) for pair in combinations(said, 2)]
    return sum(distances) / len(distances) if distances else None


def said_twice(lines: Iterable[tuple[str, Iterable[str]]]) -> float | None:
    """Returns the share of lines that repeat an earlier one word for word, whoever said it; None without a line.

    Each line comes with the lines that were heard before it, besides those of the earlier entries.
    """
    known: set[tuple[str, ...]] = set()
    again = count = 0
    for line, heard in lines:
        known.update(map(words, heard))
        again += words(line) in known
        known.add(words(line))
        count += 1
    return again / count if count else None
