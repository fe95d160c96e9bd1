"""The candidates that can be among the best, found by nearly exact sums, so that few need exact ones.

All sums are made in float32, a block at a time, with a bound of how far they may be off. Whatever is further behind the
k-th best than twice the bound is not among the k best. The others are scored exactly, so the bound decides about speed
and never about a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from commonplace.memory.blend import COUNTED, REACH, Hints
from commonplace.memory.columns import EPSILON, UNIT, Floats, Indices, Singles, Spread, blocks, threshold
from commonplace.memory.policies import Policy

if TYPE_CHECKING:
    from commonplace.memory.scoring import Prior

LEAST = 32_768
"""Candidates from which a shortlist saves time."""
_TOO_MANY = 64
"""A shortlist longer than this part of the candidates saves none."""
_LENT = 4.0
"""The most that is lent, of the highest relevance: (1 + 0.5 + 0.25) · 2 + 0.5."""


class Compared(Protocol):
    """One raw part of the score of each candidate."""

    fades: bool
    """Whether neighbours lend its square: a slight likeness to the question is no sign that the next memory fits."""

    def units(self, positions: Indices | None, out: Floats) -> None:
        """Fills `out` with the part, in units of 2⁻³⁰, of the candidates at these positions; None for all."""
        ...

    def spread(self) -> Spread | None:
        """Returns exactly what to normalise over, in units; None if estimates would be of no use."""
        ...

    def range(self, over: Spread, units: Floats) -> Spread:
        """Returns the same; `over`: the lowest and the highest of `units`, which are those of all candidates."""
        ...

    def estimate(self, some: slice, factor: float, out: Singles) -> None:
        """Fills `out` with the part · factor, nearly, for a slice of the candidates. After `spread`."""
        ...

    def error(self, over: Spread) -> float:
        """Returns how far an estimate may be from the truth, as a share of high − low."""
        ...


class Shortlist(NamedTuple):
    """Some of the candidates, with what their exact scores depend on."""

    positions: Indices
    """Ascending: those to score, with the neighbours who lend to them."""
    best: Indices
    """Which of these may be among the best."""
    ranges: Sequence[Spread]
    """The exact lowest and highest of each part, among all candidates, in units."""


def shortlist(
    prior: Prior,
    parts: Sequence[tuple[Compared, float]],
    hints: Hints | None,
    policy: Policy,
    k: int,
    work: Floats,
) -> Shortlist | None:
    """Returns the candidates that may be among the k best under min-max; None if that would not save time.

    `parts`: each with its weight. `work`: four rows to work in, `2 * REACH` longer than there are candidates.
    """
    count = work.shape[1] - 2 * REACH
    if k * _TOO_MANY > count:
        return None
    spreads = [part.spread() for part, _ in parts]
    ranges = [over for over in spreads if over is not None]
    if len(ranges) < len(spreads):
        return None
    relevance, received, totals, spare = (row.view(np.float32)[: work.shape[1]] for row in work)
    received, totals = received[:count], totals[:count]
    error = _add(prior, parts, ranges, policy, relevance[REACH:-REACH], totals, spare, received)
    if hints:
        error = _blend(hints, relevance, received, totals, error, sum(abs(weight) for _, weight in parts))
    # of the k best estimates none is truly worse than the lowest of them minus the error
    found = (totals >= np.float32(threshold(totals, k) - 2 * error)).nonzero()[0]
    if not k <= len(found) <= count // _TOO_MANY:
        return None
    if not hints:
        return Shortlist(found, np.arange(len(found)), ranges)
    around = (found[:, None] + np.arange(-REACH, REACH + 1)).ravel()
    positions = np.unique(np.clip(around, 0, count - 1))
    return Shortlist(positions, np.searchsorted(positions, found), ranges)


def _add(
    prior: Prior,
    parts: Sequence[tuple[Compared, float]],
    ranges: Sequence[Spread],
    policy: Policy,
    relevance: Singles,
    totals: Singles,
    spare: Singles,
    more: Singles,
) -> float:
    """Fills in the sum of the parts, and of the parts and the prior; returns how far it may be off."""
    equal, varying = [0.0, 0.0], list[tuple[Compared, float, Spread]]()
    for (part, weight), over in zip(parts, ranges, strict=True):
        if over.low == over.high:
            equal[0] += weight * policy.all_equal
            equal[1] += weight * policy.all_equal * (policy.all_equal if part.fades else 1.0)
        else:
            varying.append((part, weight, over))
    for some in blocks(len(totals)):
        asked, out = relevance[some], totals[some]
        found, faded = spare[: len(out)], more[: len(out)]
        np.add(prior.estimates[some], np.float32(equal[0]), out=out)
        asked[:] = np.float32(equal[1])
        for part, weight, over in varying:
            factor = (1.0 if part.fades else weight) / (over.high - over.low)
            part.estimate(some, factor, found)
            if over.low:
                found -= np.float32(over.low * factor)
            if part.fades:
                np.maximum(found, 0, out=found)
                np.multiply(found, np.float32(weight), out=faded)
                out += faded
                found *= faded
            else:
                out += found
            asked += found
    error = sum(abs(weight) for weight in prior.weights) * 16 * EPSILON + 4 * UNIT
    for (part, weight), over in zip(parts, ranges, strict=True):
        error += abs(weight) * (32 * EPSILON + UNIT + (part.error(over) if over.low < over.high else 0.0))
    return error


def _blend(hints: Hints, relevance: Singles, received: Singles, totals: Singles, error: float, highest: float) -> float:
    """Adds the parts that count raw; returns how far the totals may be off then. `highest`: the highest relevance."""
    if weight := hints.weights.get("neighbours"):
        hints.lend(relevance, received)
        for some in blocks(len(totals)):
            received[some] *= np.float32(weight)
            totals[some] += received[some]
        error += abs(weight) * _LENT * (2 * error + 64 * EPSILON * highest + 2 * UNIT)
        highest *= 1 + abs(weight) * _LENT
    for name, part in COUNTED.items():
        if weight := hints.weights.get(name):
            part.add(hints, weight, totals)
            highest += part.highest * abs(weight)
    return error + 16 * EPSILON * highest
