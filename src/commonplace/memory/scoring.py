"""From raw parts to a ranking: the one scoring function every policy and store goes through.

Values are whole multiples of 2⁻³⁰ before they are compared, so that a last bit that differs between machines cannot
change an order. Arrays named `units` hold those multiples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.policy import Policy
from commonplace.memory.record import Memory

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

UNIT = 2.0**-30


class Part(NamedTuple):
    """One part of one memory's score, for people to read."""

    raw: float
    normalised: float
    weight: float


class ScoredMemory(NamedTuple):
    """A memory retrieved, and why. `score = Σ weight · normalised` over `parts`, up to rounding to 2⁻³⁰."""

    memory: Memory
    rank: int
    """1 is the best."""
    score: float
    parts: Mapping[str, Part]
    """`recency`, `importance`, `relevance`, or in its place what a blend is made of; empty where the newest were taken
    without scoring."""


class RawPart(NamedTuple):
    """`values · scale` is the raw part; min-max needs only `values`."""

    values: Floats
    scale: float = 1.0


class Spread(NamedTuple):
    """What a part was normalised over: its lowest and highest raw value among the candidates."""

    low: float
    high: float


NOT_NORMALISED = Spread(0.0, 1.0)
"""The spread of a part that counts raw: normalising over it changes nothing."""


Spreads = Mapping[str, Spread]


class ScoredPart(NamedTuple):
    """A part of all candidates."""

    raw: RawPart
    units: Floats
    weight: float
    spread: Spread

    def at(self, positions: Rows) -> Iterator[Part]:
        """The part of some candidates."""
        normalised = raw = (self.units.take(positions) * UNIT).tolist()
        if self.spread is not NOT_NORMALISED:
            raw = (np.rint(self.raw.values.take(positions) * (self.raw.scale / UNIT)) * UNIT).tolist()
        return map(Part, raw, normalised, repeat(self.weight))


class Scores(NamedTuple):
    """The totals of all candidates (in units) and what they are made of."""

    units: Floats
    parts: Mapping[str, ScoredPart]


def rounded(value: float) -> float:
    """The nearest multiple of 2⁻³⁰, ties to even."""
    return round(value / UNIT) * UNIT


def score(raw: Mapping[str, RawPart], policy: Policy, spreads: Spreads | None = None) -> dict[str, ScoredPart]:
    """Raw parts of at least one candidate, normalised as the policy says: over `spreads`, or the candidates' own."""
    weights = policy.weights
    return {
        name: _scored(part, weights[name], policy, spreads.get(name) if spreads else None) for name, part in raw.items()
    }


def total(parts: Mapping[str, ScoredPart]) -> Scores:
    """The weighted sum of one part or more."""
    first, *others = parts.values()
    units = first.units * first.weight
    # one array for all products: a new one each time costs more than the multiplication
    product = np.empty_like(units)
    for part in others:
        units += part.units if part.weight == 1 else np.multiply(part.units, part.weight, out=product)
    return Scores(np.rint(units, out=units), parts)


def raw_counts(part: RawPart, weight: float) -> ScoredPart:
    """A part that counts as it is, without normalising."""
    units = part.values * (part.scale / UNIT)
    return ScoredPart(part, np.rint(units, out=units), weight, NOT_NORMALISED)


def _scored(part: RawPart, weight: float, policy: Policy, over: Spread | None) -> ScoredPart:
    if policy.normalise == "none":
        return raw_counts(part, weight)
    values, scale = part
    if over is None:
        low, high = float(np.minimum.reduce(values)), float(np.maximum.reduce(values))
    else:
        low, high = over.low / scale, over.high / scale
    if low == high:
        units = np.full(len(values), policy.all_equal / UNIT)
    else:
        units = values - low
        units /= (high - low) * UNIT
        np.rint(units, out=units)
    return ScoredPart(part, units, weight, over or Spread(low * scale, high * scale))


def _cut(units: Floats, k: int) -> float:
    """A value that at least k of the units reach, and not many more unless they are equal."""
    blocks = len(units) // 16
    if blocks <= k:
        return float(np.partition(units, len(units) - k)[len(units) - k])
    # k of the blocks have a member that reaches the k-th highest maximum; a sixteenth of the work
    highest = units[: blocks * 16].reshape(16, blocks).max(axis=0)
    return float(np.partition(highest, blocks - k)[blocks - k])


def best(units: Floats, created: NDArray[np.int64], k: int | None) -> Rows:
    """Positions of the k best (all, if None), best first; ties: newest first, then the higher position."""
    count = len(units)
    among = np.arange(count) if k is None or count <= k else np.flatnonzero(units >= _cut(units, k))
    order = np.lexsort((among, created[among], units[among]))[::-1]
    return among[order[:k]]
