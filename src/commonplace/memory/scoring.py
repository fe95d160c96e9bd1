"""From raw parts to a ranking: the one scoring function every policy and store goes through.

What fills in the raw parts is in `inherent` and `retrieval`. Only `stores/postgres_stream.py` has the formula a second
time, in SQL, to choose which rows are brought here.

Values are whole multiples of 2⁻³⁰ (`UNIT`) before they are compared, so that a last bit that differs between machines
cannot change an order. Arrays named `units` and `totals` hold those multiples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict  # before Python 3.12, Pydantic reads no other

from commonplace.memory.columns import BLOCK, blocks
from commonplace.memory.policies import Policy
from commonplace.memory.record import Memory

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
"""Positions of rows in the table, or of candidates among the candidates."""

UNIT = 2.0**-30


class PartJSON(TypedDict):
    """A part of a score, to which it adds weight × normalised."""

    raw: float
    normalised: float
    weight: float


class Part(NamedTuple):
    """One part of one memory's score."""

    raw: float
    normalised: float
    weight: float


def parts_json(parts: Mapping[str, Part]) -> dict[str, PartJSON]:
    """Returns parts by name, as JSON has them."""
    return {
        name: {"raw": raw, "normalised": normalised, "weight": weight}
        for name, (raw, normalised, weight) in parts.items()
    }


_part = partial(tuple.__new__, Part)
"""A Part from its three numbers; half the time of calling the class, sixty times a recall."""


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


class Raw(NamedTuple):
    """A part that does not depend on the question, before it is normalised."""

    values: Floats
    """Of all candidates, up to the factor `scale`; may be a column of the table itself."""
    changes: Literal["moment", "access", "memory"] = "moment"
    """What changes the values: time alone, accesses, or only that memories are added, revised or removed. What is
    computed of them is kept as long."""
    scale: Callable[[int], float] = lambda _: 1.0
    """The moment of the question, in `micros` → the factor."""


@dataclass(eq=False)
class Prior:
    """The parts that do not depend on the question, weighted and added. The first is recency."""

    parts: Sequence[Raw]
    ranges: Sequence[Spread]
    """Lowest and highest value of each."""
    weights: Sequence[float]
    _scales: Sequence[float]
    _policy: Policy

    @cached_property
    def raw(self) -> Sequence[Floats]:
        """The values of each part."""
        return [part.values for part in self.parts]

    @cached_property
    def totals(self) -> Floats:
        """Σ weight · normalised part of each candidate, in units."""
        return self._weighted(0, self.raw[0]) + self._others

    @cached_property
    def _others(self) -> Floats:
        """The same without recency."""
        return reduce(np.add, [self._weighted(part, self.raw[part]) for part in range(1, len(self.raw))])

    def _weighted(self, part: int, values: Floats) -> Floats:
        """Weight · normalised values of a part, in units."""
        units = np.empty(len(values))
        normalise(values, self._scales[part], self.ranges[part], self._policy, units)
        return np.multiply(units, self.weights[part], out=units)

    def follow(self, positions: Indices, before: Floats) -> bool:
        """Brings it up to date after the raw recency of some candidates has changed in place; False if more changes.

        `before`: what it was, of at least one. With min-max only, where others depend on the range of recency alone.
        """
        if any(part.changes != "memory" for part in self.parts[1:]):
            return False
        over, now = self.ranges[0], self.raw[0][positions]
        highest = np.maximum.reduce(now)
        if np.minimum.reduce(before) <= over.low or not np.maximum.reduce(before) <= highest <= over.high:
            return False
        if "totals" in self.__dict__:
            self.totals[positions] = self._weighted(0, now) + self._others[positions]
        if "estimates" in self.__dict__:
            self.estimates[positions] = self.only(positions).estimates
        return True

    def only(self, positions: Indices) -> Prior:
        """Those of some candidates, still normalised over all of them."""
        parts = [Raw(part.values[positions], *part[1:]) for part in self.parts]
        return Prior(parts, self.ranges, self.weights, self._scales, self._policy)

    @cached_property
    def estimates(self) -> NDArray[np.float32]:
        """The totals, nearly and not in units; for min-max."""
        count = len(self.raw[0])
        found, spare = np.empty(count, dtype=np.float32), np.empty(min(count, BLOCK))
        for some in blocks(count):
            out = found[some]
            out[:] = 0
            for values, over, weight in zip(self.raw, self.ranges, self.weights, strict=True):
                if over.low == over.high:
                    out += np.float32(self._policy.all_equal * weight)
                else:
                    shifted = np.subtract(values[some], over.low, out=spare[: len(out)])
                    shifted *= weight / (over.high - over.low)
                    out += shifted
        return found


class Scores(NamedTuple):
    """The scores of all candidates, or of those that may be among the best, and the parts they are made of.

    Arrays may be scratch arrays, which the next retrieval of the thread overwrites, and columns of the table.
    """

    rows: Indices | None
    """The candidates; None for all rows of the view."""
    names: Sequence[str]
    """The parts, in the order they are added. The first `len(raw)` are normalised, the others count raw."""
    weights: Sequence[float]
    raw: Sequence[Floats]
    """By normalised part: `raw[p] * scales[p]` is the raw part of each candidate."""
    scales: Sequence[float]
    ranges: Sequence[Spread]
    """By normalised part: the lowest and highest value of `raw` to normalise with."""
    counted: Sequence[Callable[[Indices], Floats]]
    """By part that counts raw: positions of candidates → its units."""
    totals: Floats
    spreads: Spreads
    policy: Policy
    unusable: Mapping[str, int]
    """Reason → how many candidates could not be compared; see `Retrieval.unusable`."""
    candidates: int
    """How many candidates there were, those included that cannot be among the best."""

    def only(self, positions: Indices) -> Scores:
        """The scores of some candidates, still normalised over all of them."""
        some = self.rows[positions] if self.rows is not None else positions
        return self._replace(
            rows=some,
            raw=[values[positions] for values in self.raw],
            counted=[partial(_among, units, positions) for units in self.counted],
            totals=self.totals[positions],
        )

    def of(self, positions: Indices) -> Breakdown:
        """The parts of some candidates, no longer in scratch arrays."""
        raw = np.array([values.take(positions) for values in self.raw])
        counted = [units(positions) for units in self.counted]
        return Breakdown(self.names, self.weights, raw, self.scales, self.ranges, counted, self.policy)


def _among(units: Callable[[Indices], Floats], positions: Indices, some: Indices) -> Floats:
    return units(positions[some])


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What the scores of some candidates are made of. Most are never read: the parts are worked out when they are."""

    names: Sequence[str]
    weights: Sequence[float]
    _raw: Floats
    _scales: Sequence[float]
    _ranges: Sequence[Spread]
    _counted: Sequence[Floats]
    _policy: Policy
    _parts: list[dict[str, Part]] = field(default_factory=list[dict[str, Part]])

    def units(self) -> dict[str, list[int]]:
        """Part → its normalised value for each candidate, in units of 2⁻³⁰."""
        whole: list[list[int]] = self._units().astype(np.int64).tolist()
        return dict(zip(self.names, whole, strict=True))

    def parts(self) -> list[dict[str, Part]]:
        """The parts of each candidate."""
        if not self._parts:
            normalised = self._units() * UNIT
            raw = normalised
            if self._policy.normalise == "minmax":
                raw = normalised.copy()
                values = self._raw * (np.array(self._scales) / UNIT)[:, None]
                np.multiply(np.rint(values, out=values), UNIT, out=raw[: len(values)])
            self._parts[:] = [  # at once: threads may share it
                dict(zip(self.names, map(_part, zip(one, other, self.weights)), strict=True))  # noqa: B905 - same lengths
                for one, other in zip(raw.T.tolist(), normalised.T.tolist(), strict=True)
            ]
        return self._parts

    def _units(self) -> Floats:
        units = np.empty((len(self.names), self._raw.shape[1]))
        if self._policy.normalise == "minmax" and not self._counted and all(low != high for low, high in self._ranges):
            lows, highs = np.array(self._ranges).T[:, :, None]  # as `normalise` does, all parts at once
            np.divide(np.subtract(self._raw, lows, out=units), (highs - lows) * UNIT, out=units)
            return np.rint(units, out=units)
        for raw, scale, over, out in zip(self._raw, self._scales, self._ranges, units, strict=False):
            normalise(raw, scale, over, self._policy, out)
        for counted, out in zip(self._counted, units[len(self._raw) :], strict=True):
            out[:] = counted
        return units


class Parts(Mapping[str, Part]):
    """The parts of one memory's score by name, and how relevant the memory is; worked out when they are first read."""

    __slots__ = ("_measure", "_number", "_of")

    def __init__(
        self, of: Breakdown | None, measure: Callable[[Mapping[str, Part]], float] | None, number: int
    ) -> None:
        """`of`: None for a memory that was not scored, which has no parts. `number`: which of them."""
        self._of = of
        self._measure = measure
        self._number = number

    @property
    def relevance(self) -> float | None:
        """See `ScoredMemory.relevance`."""
        return None if self._measure is None else self._measure(self)

    def __getitem__(self, name: str) -> Part:
        return self._whole()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._of.names) if self._of else 0

    def __repr__(self) -> str:
        return repr(self._whole())

    def _whole(self) -> dict[str, Part]:
        return self._of.parts()[self._number] if self._of else {}


def round_to_units(values: NDArray[np.floating], out: Floats) -> None:
    """Fills `out` with the values as multiples of 2⁻³⁰; `values` and `out` may be the same array."""
    for some in blocks(len(out)):
        np.multiply(values[some], 1 / UNIT, out=out[some])
        np.rint(out[some], out=out[some])


def range_of(raw: Floats, scale: float, given: Spread | None) -> Spread:
    """The lowest and highest of at least one raw value; `scale` makes them the part, whose own may be `given`."""
    if given is not None:
        return Spread(given.low / scale, given.high / scale)
    return Spread(float(np.minimum.reduce(raw)), float(np.maximum.reduce(raw)))


def normalise(raw: Floats, scale: float, over: Spread, policy: Policy, out: Floats) -> None:
    """Fills `out` with the units of a part, normalised as the policy says."""
    if policy.normalise == "none":
        np.multiply(raw, scale / UNIT, out=out)
    elif over.low == over.high:
        out[:] = policy.all_equal / UNIT
        return
    else:
        shifted = np.subtract(raw, over.low, out=out) if over.low else raw
        np.divide(shifted, (over.high - over.low) * UNIT, out=out)
    np.rint(out, out=out)


def best(totals: Floats, created: NDArray[np.int64], k: int | None, rows: Indices | None = None) -> Indices:
    """Positions of the k best (all, if None), best first; ties: newest first, then the higher position.

    `created`: by row. `rows`: those of the candidates, None where position and row are the same.
    """
    count = len(totals)
    among = np.arange(count) if k is None or count <= k else (totals >= threshold(totals, k)).nonzero()[0]
    when = created[among if rows is None else rows[among]]
    order = np.lexsort((among, when, totals[among]))[::-1]
    return among[order[:k]]


def threshold(totals: Floats, k: int) -> float:
    """A value that at least k of the totals reach, and not many more unless they are equal."""
    blocks = len(totals) // 16
    if blocks <= k:
        return float(np.partition(totals, len(totals) - k)[len(totals) - k])
    # k of the blocks have a member that reaches the k-th highest maximum; a sixteenth of the work
    highest = np.maximum.reduce(totals[: blocks * 16].reshape(16, blocks), axis=0)
    highest.partition(blocks - k)
    return float(highest[blocks - k])
