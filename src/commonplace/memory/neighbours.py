"""What comes to mind with what: memories made just before and after lend one another their relevance.

An answer seldom repeats the words of its question, and what was said about a thing is said over several turns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.growth import grown
from commonplace.memory.scoring import Floats, Rows

REACH = 3
"""Neighbours on each side."""
FADING = 0.5
"""Each step further lends so much of the step before."""
ANSWER = 0.5
"""What a question lends besides to the memory after it."""
MINUTE = 60_000_000
"""Microseconds."""

_SHARES = [FADING ** (distance - 1) for distance in range(1, REACH + 1)]
_KERNEL = np.array([*reversed(_SHARES), 0.0, *_SHARES])


class Breaks:
    """Which pairs of rows, so many apart, are no neighbours because too much time lies between them.

    Kept up as rows are added at the end and cut off from there, because most streams have few.
    """

    def __init__(self, minutes: float) -> None:
        self._gap = int(minutes * MINUTE)
        self._later: list[Rows] = [np.empty(16, dtype=np.intp) for _ in _SHARES]
        self._counts = [0] * REACH
        self.size = 0

    def between(self, created: NDArray[np.int64]) -> list[Rows]:
        """For each distance 1 … 3 the later rows of such pairs, ascending; `created` as before for rows seen before."""
        if self.size < len(created):
            for distance in range(1, REACH + 1):
                self._add(distance, broken(created, distance, self._gap, self.size))
            self.size = len(created)
        if self.size == len(created):
            return [later[:count] for later, count in zip(self._later, self._counts, strict=True)]
        return [
            later[: np.searchsorted(later[:count], len(created))]
            for later, count in zip(self._later, self._counts, strict=True)
        ]

    def truncate(self, length: int) -> None:
        """Forgets the rows from `length` on."""
        if length < self.size:
            self.size = length
            self._counts = [
                int(np.searchsorted(later[:count], length))
                for later, count in zip(self._later, self._counts, strict=True)
            ]

    def _add(self, distance: int, found: Rows) -> None:
        index, count = distance - 1, self._counts[distance - 1]
        if count + len(found) > len(self._later[index]):
            self._later[index] = grown(self._later[index][:count], count + len(found))
        self._later[index][count : count + len(found)] = found
        self._counts[index] = count + len(found)


def broken(created: NDArray[np.int64], distance: int, gap: int, start: int = 0) -> Rows:
    """The rows from `start` on that were made more than `gap` microseconds from the row `distance` before."""
    first = max(start, distance)
    if first >= len(created):
        return np.empty(0, dtype=np.intp)
    apart = np.abs(created[first:] - created[first - distance : len(created) - distance])
    return np.flatnonzero(apart > gap) + first


def lent(relevance: Floats, questions: NDArray[np.bool_], breaks: list[Rows]) -> Floats:
    """Σ over d = 1 … 3 of 0.5^(d − 1) · (relevance d before + d after), + 0.5 · relevance before if that is a question.

    All of the same shape, in the order of ids; pairs of `breaks` lend nothing. Exact for whole numbers below 2⁴⁸, so
    that what is added and taken off again leaves no trace.
    """
    received = np.correlate(relevance, _KERNEL, "full")[REACH:-REACH]  # the kernel reads the same from both ends
    asking = np.flatnonzero(questions[:-1])
    if len(asking):
        received[asking + 1] += ANSWER * relevance[asking]
    for distance, later in enumerate(breaks, start=1):
        if len(later):
            _take_back(received, relevance, questions, distance, later)
    return received


def _take_back(received: Floats, relevance: Floats, questions: NDArray[np.bool_], distance: int, later: Rows) -> None:
    """Takes off again what pairs that are no neighbours have lent one another."""
    earlier = later - distance
    received[earlier] -= _SHARES[distance - 1] * relevance[later]
    taken = _SHARES[distance - 1] * relevance[earlier]
    received[later] -= taken + ANSWER * relevance[earlier] * questions[earlier] if distance == 1 else taken
