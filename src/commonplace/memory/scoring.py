"""From raw parts to a ranking: the one scoring function every policy and store goes through.

What fills in the raw parts is in `retrieval`. Only `stores/postgres_stream.py` has the formula a second time, in SQL,
to choose which rows are brought here.

Values are whole multiples of 2⁻³⁰ (`UNIT`) before they are compared, so that a last bit that differs between machines
cannot change an order. Arrays named `units` and `totals` hold those multiples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import Scratch
from commonplace.memory.policies import Policy
from commonplace.memory.record import Memory

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
"""Positions of rows in the table, or of candidates among the candidates."""

UNIT = 2.0**-30
_BLOCK = 8192
_UNITS = Scratch()


class Part(NamedTuple):
    """One part of one memory's score."""

    raw: float
    normalised: float
    weight: float


_part = partial(tuple.__new__, Part)
"""A Part from its three numbers; half the time of calling the class, sixty times a recall."""


class Parts(dict[str, Part]):
    """The parts of one memory's score by name, and how relevant the memory is."""

    __slots__ = ("_measure",)

    def __init__(self, parts: Mapping[str, Part], measure: Callable[[Mapping[str, Part]], float] | None = None) -> None:
        super().__init__(parts)
        self._measure = measure

    @property
    def relevance(self) -> float | None:
        """See `ScoredMemory.relevance`."""
        return None if self._measure is None else self._measure(self)


class ScoredMemory(NamedTuple):
    """A memory retrieved, and why. `score = Σ weight · normalised` over `parts`, up to rounding to 2⁻³⁰."""

    memory: Memory
    rank: int
    """1 is the best."""
    score: float
    parts: Mapping[str, Part]
    """By name, in the order of `Policy.weights`: `recency`, `importance` and `relevance`, or the parts of a blend in
    place of `relevance`. Empty where the newest were taken without scoring."""

    @property
    def relevance(self) -> float | None:
        """How well the memory fits the question, 0–1 whatever else there is to remember; computed when it is read.

        By words: its BM25 score as a share of what a memory of average length with every word of the question would
        get. By vectors: the cosine, at least 0. A blend: the higher of the two. None where the newest were taken.
        """
        return getattr(self.parts, "relevance", None)


class Spread(NamedTuple):
    """What a part was normalised over: its lowest and highest raw value among the candidates."""

    low: float
    high: float


NOT_NORMALISED = Spread(0.0, 1.0)
"""The spread of a part that counts raw: normalising over it changes nothing."""

Spreads = Mapping[str, Spread]


class Scores(NamedTuple):
    """The scores of all candidates and the parts they are made of.

    `raw` and `units` are scratch arrays: the next retrieval of the thread overwrites them.
    """

    rows: Indices | None
    """The candidates; None for all rows of the view."""
    names: Sequence[str]
    """The parts, in the order they are added. The first `len(raw)` are normalised, the others count raw."""
    raw: Floats
    """Shape (normalised parts, candidates). `raw[p] * scales[p]` is the raw part."""
    scales: Floats
    units: Floats
    """Shape (parts, candidates): every part as it is added."""
    weights: Floats
    totals: Floats
    spreads: Spreads
    minmax: bool
    """False if the policy normalises nothing."""
    unusable: dict[str, int]
    """Reason → how many candidates could not be compared; see `Retrieval.unusable`."""

    def only(self, positions: Indices) -> Scores:
        """The scores of some candidates, still normalised over all of them."""
        some = self.rows[positions] if self.rows is not None else positions
        return self._replace(
            rows=some, raw=self.raw[:, positions], units=self.units[:, positions], totals=self.totals[positions]
        )

    def of(self, positions: Indices) -> Breakdown:
        """The parts of some candidates, no longer in scratch arrays."""
        units, raw = self.units.take(positions, axis=1), self.raw.take(positions, axis=1)
        return Breakdown(self.names, self.weights.tolist(), units, raw, self.scales, self.minmax)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What the scores of some candidates are made of. Most are traced as numbers; a `Part` is made of the others."""

    names: Sequence[str]
    weights: Sequence[float]
    _units: Floats
    _raw: Floats
    _scales: Floats
    _minmax: bool

    def units(self) -> dict[str, list[int]]:
        """Part → its normalised value for each candidate, in units of 2⁻³⁰."""
        whole: list[list[int]] = self._units.astype(np.int64).tolist()
        return dict(zip(self.names, whole, strict=True))

    def parts(self) -> list[dict[str, Part]]:
        """The parts of each candidate."""
        normalised = self._units * UNIT
        raw = normalised
        if self._minmax:
            raw = normalised.copy()
            values = self._raw * (self._scales / UNIT)[:, None]
            np.multiply(np.rint(values, out=values), UNIT, out=raw[: len(values)])
        return [
            dict(zip(self.names, map(_part, zip(one, other, self.weights)), strict=True))  # noqa: B905 - same lengths
            for one, other in zip(raw.T.tolist(), normalised.T.tolist(), strict=True)
        ]


def round_to_units(values: NDArray[np.floating], out: Floats) -> None:
    """Fills `out` with the values as multiples of 2⁻³⁰; `values` and `out` may be the same array."""
    np.multiply(values, 1 / UNIT, out=out)
    np.rint(out, out=out)


def normalise(
    names: Sequence[str], raw: Floats, scales: Floats, policy: Policy, given: Spreads | None = None
) -> tuple[Floats, Spreads]:
    """(units, spreads) of at least one candidate, normalised as the policy says: over `given`, or their own spreads.

    The parts after the first `len(raw)` count raw; the caller fills their rows of the units.
    """
    units = _UNITS.matrix(len(names), raw.shape[1])
    own = units[: len(raw)]
    spreads = dict.fromkeys(names, NOT_NORMALISED)
    if policy.normalise == "none":
        np.rint(np.multiply(raw, (scales / UNIT)[:, None], out=own), out=own)
        return units, spreads
    given = given or {}
    low, high = np.minimum.reduce(raw, axis=1), np.maximum.reduce(raw, axis=1)
    for row, name in enumerate(names[: len(raw)] if given else ()):
        if name in given:
            low[row], high[row] = given[name].low / scales[row], given[name].high / scales[row]
    lows, highs, factors = low.tolist(), high.tolist(), scales.tolist()
    equal = [row for row, (lowest, highest) in enumerate(zip(lows, highs, strict=True)) if lowest == highest]
    widths = (high - low) * UNIT
    if equal:
        widths[equal] = 1
    np.subtract(raw, low[:, None], out=own)
    own /= widths[:, None]
    np.rint(own, out=own)
    if equal:
        own[equal] = policy.all_equal / UNIT
    for name, lowest, highest, factor in zip(names, lows, highs, factors, strict=False):
        spreads[name] = given.get(name) or Spread(lowest * factor, highest * factor)
    return units, spreads


def weighted_sum(units: Floats, weights: Floats) -> Floats:
    """Σ weight · part of each candidate, in whole units."""
    count = units.shape[1]
    totals = np.empty(count)
    # a block at a time: the products stay in the processor's cache
    products = np.empty((len(weights), min(count, _BLOCK)))
    for start in range(0, count, _BLOCK):
        end = min(start + _BLOCK, count)
        weighted = products[:, : end - start]
        np.multiply(units[:, start:end], weights[:, None], out=weighted)
        np.add.reduce(weighted, axis=0, out=totals[start:end])  # one part after the other, in this order
    return np.rint(totals, out=totals)


def best(totals: Floats, created: NDArray[np.int64], k: int | None) -> Indices:
    """Positions of the k best (all, if None), best first; ties: newest first, then the higher position."""
    count = len(totals)
    among = np.arange(count) if k is None or count <= k else np.flatnonzero(totals >= _threshold(totals, k))
    order = np.lexsort((among, created[among], totals[among]))[::-1]
    return among[order[:k]]


def _threshold(totals: Floats, k: int) -> float:
    """A value that at least k of the totals reach, and not many more unless they are equal."""
    blocks = len(totals) // 16
    if blocks <= k:
        return float(np.partition(totals, len(totals) - k)[len(totals) - k])
    # k of the blocks have a member that reaches the k-th highest maximum; a sixteenth of the work
    highest = np.maximum.reduce(totals[: blocks * 16].reshape(16, blocks), axis=0)
    highest.partition(blocks - k)
    return float(highest[blocks - k])
