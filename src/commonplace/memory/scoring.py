"""From raw parts to a ranking: the one scoring function every policy and store goes through.

Values are whole multiples of 2⁻³⁰ before they are compared, so that a last bit that differs between machines cannot
change an order. Arrays named `units` hold those multiples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import Scratch
from commonplace.memory.policies import Policy
from commonplace.memory.record import Memory

Floats = NDArray[np.float64]
RowNumbers = NDArray[np.intp]

UNIT = 2.0**-30
_BLOCK = 8192
_UNITS = Scratch()


class Part(NamedTuple):
    """One part of one memory's score, for people to read."""

    raw: float
    normalised: float
    weight: float


_part = partial(tuple.__new__, Part)
"""A Part from its three numbers; half the time of calling the class, sixty times a recall."""


class ScoredMemory(NamedTuple):
    """A memory retrieved, and why. `score = Σ weight · normalised` over `parts`, up to rounding to 2⁻³⁰."""

    memory: Memory
    rank: int
    """1 is the best."""
    score: float
    parts: Mapping[str, Part]
    """`recency`, `importance`, `relevance`, or in its place what a blend is made of; empty where the newest were taken
    without scoring."""


class Spread(NamedTuple):
    """What a part was normalised over: its lowest and highest raw value among the candidates."""

    low: float
    high: float


NOT_NORMALISED = Spread(0.0, 1.0)
"""The spread of a part that counts raw: normalising over it changes nothing."""


Spreads = Mapping[str, Spread]


class RawParts(NamedTuple):
    """Row p of `values` times `scales[p]` is the raw part `names[p]` of all candidates; min-max needs only `values`."""

    names: Sequence[str]
    values: Floats
    scales: Floats


class Parts(NamedTuple):
    """Every part of all candidates: those of `raw`, normalised, and after them what counts as it is.

    The arrays are scratch: the next retrieval of the thread uses them again.
    """

    raw: RawParts
    names: tuple[str, ...]
    weights: Floats
    units: Floats
    """Shape (parts, candidates)."""
    spreads: Spreads
    normalised: bool
    """Whether the first of them are, or they too count raw."""

    def at(self, positions: RowNumbers) -> list[dict[str, Part]]:
        """The parts of some candidates."""
        normalised = self.units.take(positions, axis=1) * UNIT
        raw = normalised
        if self.normalised:
            raw = normalised.copy()
            values = self.raw.values.take(positions, axis=1)
            values *= (self.raw.scales / UNIT)[:, None]
            np.multiply(np.rint(values, out=values), UNIT, out=raw[: len(values)])
        weights: list[float] = self.weights.tolist()
        return [
            dict(zip(self.names, map(_part, zip(one, other, weights)), strict=True))  # noqa: B905 - same lengths
            for one, other in zip(raw.T.tolist(), normalised.T.tolist(), strict=True)
        ]


class Scores(NamedTuple):
    """The totals of all candidates (in units) and what they are made of."""

    units: Floats
    parts: Parts


def rounded(value: float) -> float:
    """The nearest multiple of 2⁻³⁰, ties to even."""
    return round(value / UNIT) * UNIT


def score(raw: RawParts, policy: Policy, besides: Sequence[str] = (), spreads: Spreads | None = None) -> Parts:
    """Raw parts of at least one candidate, normalised as the policy says: over `spreads`, or the candidates' own.

    The parts called `besides` count as they are; their rows of `units` are left for the caller to fill.
    """
    weights = policy.weights
    names = (*raw.names, *besides)
    units = _UNITS.matrix(len(names), raw.values.shape[1])
    found = dict.fromkeys(names, NOT_NORMALISED)
    minmax = policy.normalise == "minmax"
    if minmax:
        found.update(_normalise(raw, units[: len(raw.names)], policy.all_equal / UNIT, spreads or {}))
    else:
        own = units[: len(raw.names)]
        np.rint(np.multiply(raw.values, (raw.scales / UNIT)[:, None], out=own), out=own)
    return Parts(raw, names, np.array([weights[name] for name in names]), units, found, minmax)


def _normalise(raw: RawParts, units: Floats, all_equal: float, given: Spreads) -> Spreads:
    """Fills `units` with the parts over their spreads, all parts in one pass each, and gives the spreads."""
    values, scales = raw.values, raw.scales
    low, high = np.minimum.reduce(values, axis=1), np.maximum.reduce(values, axis=1)
    for row, name in enumerate(raw.names if given else ()):
        if name in given:
            low[row], high[row] = given[name].low / scales[row], given[name].high / scales[row]
    spans = (high - low) * UNIT
    equal = np.flatnonzero(low == high)
    spans[equal] = 1
    np.subtract(values, low[:, None], out=units)
    units /= spans[:, None]
    np.rint(units, out=units)
    if len(equal):
        units[equal] = all_equal
    own = map(Spread, (low * scales).tolist(), (high * scales).tolist())
    return {name: given.get(name, spread) for name, spread in zip(raw.names, own, strict=True)}


def total(parts: Parts) -> Scores:
    """The weighted sum of the parts."""
    count = parts.units.shape[1]
    units = np.empty(count)
    # a block at a time: the products stay in the processor's cache
    products = np.empty((len(parts.names), min(count, _BLOCK)))
    for start in range(0, count, _BLOCK):
        end = min(start + _BLOCK, count)
        weighted = products[:, : end - start]
        np.multiply(parts.units[:, start:end], parts.weights[:, None], out=weighted)
        np.add.reduce(weighted, axis=0, out=units[start:end])  # one part after the other, in this order
    return Scores(np.rint(units, out=units), parts)


def _cut(units: Floats, k: int) -> float:
    """A value that at least k of the units reach, and not many more unless they are equal."""
    blocks = len(units) // 16
    if blocks <= k:
        return float(np.partition(units, len(units) - k)[len(units) - k])
    # k of the blocks have a member that reaches the k-th highest maximum; a sixteenth of the work
    highest = units[: blocks * 16].reshape(16, blocks).max(axis=0)
    return float(np.partition(highest, blocks - k)[blocks - k])


def best(units: Floats, created: NDArray[np.int64], k: int | None) -> RowNumbers:
    """Positions of the k best (all, if None), best first; ties: newest first, then the higher position."""
    count = len(units)
    among = np.arange(count) if k is None or count <= k else np.flatnonzero(units >= _cut(units, k))
    order = np.lexsort((among, created[among], units[among]))[::-1]
    return among[order[:k]]
