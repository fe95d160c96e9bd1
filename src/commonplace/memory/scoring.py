"""From candidates to a ranking: the one scoring function every policy and store goes through.

There are three spaces of rows. *Rows* are those of the table: row r is memory r + 1. *Candidates* are the rows that
compete (`Candidates`); they have positions 0, 1, 2 … in the order of their rows, and an array of a part has a value for
each. A *shortlist* is some positions of candidates, those that are scored exactly where there are very many.

`score_candidates` computes the raw parts the policy names, normalises and adds them, and adds the parts that only a
blend has. A part in which the question plays no part is a function here, its line in `PARTS`, and the field
`NAME_weight` of `Policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, lru_cache, partial, reduce
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.blend import COMPARED, COUNTED, REACH, Hints
from commonplace.memory.bm25 import ByWords
from commonplace.memory.columns import (
    BLOCK,
    UNIT,
    Floats,
    Indices,
    Scalar,
    Scratch,
    Singles,
    Spread,
    blocks,
    growth,
    micros,
    threshold,
)
from commonplace.memory.embedding import Vector, embed_query
from commonplace.memory.policies import INHERENT, Policy, compares_vectors, refuse_mistakes
from commonplace.memory.record import Memory
from commonplace.memory.relative_dates import dated
from commonplace.memory.sayings import ByVectors
from commonplace.memory.shortlist import LEAST, Compared, Shortlist, shortlist
from commonplace.memory.table import KIND_CODES, View

if TYPE_CHECKING:
    from commonplace.memory.shapes import PartJSON

_WORK, _FEW = Scratch(), Scratch()
_PRIORS = 4
"""Policies whose priors are kept at once."""
_THOUGHTS = (KIND_CODES["reflection"], KIND_CODES["plan"])
MEASURED = ("relevance", *COMPARED)
"""The parts that compare memories with the question."""


class Candidates(NamedTuple):
    """The memories that compete, at a moment."""

    view: View
    rows: Indices | None
    """None for all rows of the view."""
    at: datetime
    policy: Policy

    @property
    def size(self) -> int:
        """How many there are."""
        return self.view.length if self.rows is None else len(self.rows)

    def take(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """Returns the column's value of each."""
        return column[: self.view.length] if self.rows is None else column[self.rows]

    def row(self, position: int) -> int:
        """Returns the row of the one at a position."""
        return position if self.rows is None else int(self.rows[position])

    def only(self, positions: Indices) -> Candidates:
        """Returns those at some positions."""
        return self._replace(rows=positions if self.rows is None else self.rows[positions])


def score_candidates(
    of: Candidates,
    text: str,
    vector: Vector | None = None,
    spreads: Spreads | None = None,
    best_of: int | None = None,
) -> Scores:
    """Computes every part of the score of at least one candidate.

    `vector`: the question's; None to have the embedder make it. `spreads`: normalise over these instead of the
    candidates' own. With `policy.nearest` only the nearest candidates are scored. `best_of`: those that are certainly
    not among so many best may be left out.
    """
    given, view, policy = spreads or {}, of.view, of.policy
    weights = dict(policy.weights)
    if vector is None and not compares_vectors(policy, view.table.embedder):
        weights.pop("cosine", None)
    asked = [name for name in weights if name in MEASURED]
    work = _WORK.matrix(len(asked) + 4, of.size + 2 * REACH)
    rooms = [row[: of.size] for row in work[: len(asked)]]
    compared, unusable = _compare(of, text, vector, dict(zip(asked, rooms, strict=True)))
    chosen: Indices | None = None
    if policy.nearest:
        compared[0].units(None, rooms[0])
        chosen = np.sort(best(rooms[0], view.table.created, policy.nearest, of.rows))
        of = of.only(chosen)
    count = of.size
    prior, scales = prior_of(of, given)
    parts = [(part, weights[name]) for name, part in zip(asked, compared, strict=True)]
    hints = None
    if policy.relevance == "blend":
        measured = policy.lending == "measured" and "neighbours" in weights
        lending = view.lending() if measured else None
        hints = Hints(view.blend(), text, policy, view.table.created, view.length, of.rows, lending)
    short: Shortlist | None = None
    if best_of and count >= LEAST and policy.normalise == "minmax" and not (given or policy.nearest):
        short = shortlist(prior, parts, hints, policy, best_of, work[len(asked) :])
    if short:
        chosen, prior, of = short.positions, prior.only(short.positions), of.only(short.positions)
        hints = hints and hints.only(chosen)
    if chosen is not None:
        work = _FEW.matrix(len(asked) + 4, len(chosen) + 2 * REACH)
        rooms = [row[: len(chosen)] for row in work[: len(asked)]]
    for part, room in zip(compared, rooms, strict=True):
        part.units(chosen, room)
    if short:
        ranges = short.ranges
    else:
        ranges = [range_of(units, UNIT, given.get(name)) for name, units in zip(asked, rooms, strict=True)]
        each = zip(asked, compared, ranges, rooms, strict=True)
        ranges = [over if name in given else part.range(over, units) for name, part, over, units in each]
    totals = work[-1, : -2 * REACH]
    _add(prior.totals, rooms, ranges, parts, policy, work[-4:])
    counted = _blend(hints, work[-4:]) if hints else []
    np.rint(totals, out=totals)
    ranges = [*prior.ranges, *ranges]
    scales = [*scales, *([UNIT] * len(asked))]
    found = dict.fromkeys(weights, NOT_NORMALISED)
    if policy.normalise == "minmax":
        each = zip(weights, ranges, scales, strict=False)
        found.update({name: given.get(name) or Spread(over.low * by, over.high * by) for name, over, by in each})
    scores = Scores(
        of,
        list(weights),
        list(weights.values()),
        [*prior.raw, *rooms],
        scales,
        ranges,
        counted,
        totals,
        found,
        unusable,
        count,
    )
    return scores.only(short.best) if short else scores


def _compare(
    of: Candidates, text: str, vector: Vector | None, rooms: Mapping[str, Floats]
) -> tuple[list[Compared], dict[str, int]]:
    """Returns (the parts that compare memories with the question, each with room to work in; what could not be
    compared)."""
    (view, rows, _, policy), compared, unusable = of, list[Compared](), dict[str, int]()
    for name, room in reversed(list(rooms.items())):  # vectors first: they push all else out of the cache
        if COMPARED.get(name, policy.relevance) == "bm25":
            index, terms = view.lexical(), view.table.analyser.weighted(text, policy.grammar)
            if policy.respell:
                terms = index.respelt(terms, view.length)
            days, rest = days_named(of, text)
            if days:
                terms = {**terms, **days}
            scores = index.scores(terms, view.length, policy.k1, policy.b, room if rows is None else None)
            full = 1.0 if policy.full_at else 0.0
            if full and "cosine" in rooms:
                full = max(full, policy.full_at * full_marks(of, rest, days) / UNIT)
            compared.insert(0, ByWords(of.take(scores), full))
        else:
            asked = embed_query(view.table.embedder, text) if vector is None else vector
            from_mean = policy.cosine_from == "mean"
            by_vectors = ByVectors(view.table.sayings, of.take(view.table.saying), asked, room, from_mean)
            compared.insert(0, by_vectors)
            unusable = by_vectors.unusable
    return compared, unusable


def days_named(of: Candidates, text: str) -> tuple[dict[str, float], str]:
    """Returns (the words for the days that a blend's question names from where it stands, of those on which there is
    something, with their weights; the rest of the question)."""
    if of.policy.relevance == "blend":
        found, index, length = dated(text, of.at), of.view.lexical(), of.view.length
        days = {day: 1.0 for day in map(date.isoformat, found.days) if index.occurs(day, length)}
        if days := days or index.as_one(map(date.isoformat, found.longer), length):
            return days, found.rest
    return {}, text


def full_marks(of: Candidates, text: str, days: Mapping[str, float]) -> float:
    """Returns what a memory of average length scores by words that has every word of a question, and a day.

    A word that only carries grammar counts if a memory has it. `days`, `text`: as `days_named` returns them.
    """
    view, policy = of.view, of.policy
    index, analyser = view.lexical(), view.table.analyser
    terms = analyser.weighted(text, policy.grammar)
    content = analyser.weighted(text, 0.0)
    counted = {term: w for term, w in terms.items() if content[term] or index.occurs(term, view.length)}
    # a memory is of one day at most
    return index.highest({**(counted or terms), **dict(islice(days.items(), 1))}, view.length)


def _add(
    prior: Floats,
    raw: Sequence[Floats],
    ranges: Sequence[Spread],
    parts: Sequence[tuple[Compared, float]],
    policy: Policy,
    work: Floats,
) -> None:
    """Fills the last of four rows with Σ weight · part of the prior and the given parts, in this order.

    The first, shifted by `REACH`, gets the same without the prior, but the squares of parts that fade.
    """
    asked, spare, totals = work[0, REACH:-REACH], work[2, : len(prior)], work[3, : len(prior)]
    if not raw:
        totals[:], asked[:] = prior, 0
    for number, (values, over, (part, weight)) in enumerate(zip(raw, ranges, parts, strict=True)):
        units = spare if number else asked
        normalise(values, UNIT, over, policy, units)
        faded = units * units * (UNIT * weight) if part.fades else units
        if weight != 1:
            units *= weight
        np.add(totals if number else prior, units, out=totals)
        if part.fades:
            units[:] = faded
        if number:
            asked += units


def _blend(hints: Hints, work: Floats) -> list[Callable[[Indices], Floats]]:
    """Adds the parts of a blend that count raw to the totals, and returns what gives their units.

    `work`: four rows; the first, shifted by `REACH`, with what each candidate can lend, the last with the totals.
    """
    relevance, (received, spare, totals) = work[0], work[1:, : -2 * REACH]
    counted: list[Callable[[Indices], Floats]] = []
    if weight := hints.weights.get("neighbours"):
        own = relevance[REACH:-REACH]  # what is beside them is not set yet
        np.rint(own, out=own)
        hints.lend(relevance, received)
        np.rint(received, out=received)
        totals += np.multiply(received, weight, out=spare)
        counted.append(received.take)
    for name, weight in hints.weights.items():
        if part := COUNTED.get(name):
            part.add(hints, weight / UNIT, totals)
            counted.append(partial(part.units, hints))
    return counted


# ── what the question plays no part in ───────────────────────────────────────────────────────────────────────────────


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
        """Returns weight · normalised values of a part, in units."""
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
        """Returns the parts of some candidates, still normalised over all of them."""
        parts = [Raw(part.values[positions], *part[1:]) for part in self.parts]
        return Prior(parts, self.ranges, self.weights, self._scales, self._policy)

    @cached_property
    def estimates(self) -> Singles:
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


def prior_of(of: Candidates, given: Spreads) -> tuple[Prior, list[float]]:
    """Returns the inherent parts, weighted and added, and the factor of each; kept until a memory or an access changes
    them.

    Under min-max, recency by access does not depend on the present: the factor that carries it cancels. `given`: what
    to normalise over, by part, instead of the candidates' own.
    """
    view, rows, at, policy = of
    now = micros(at)
    whole = policy.normalise == "minmax" and not given and rows is view.present()
    as_of = view.table.version, view.length
    known = view.priors.get(policy) if whole else None
    if known and known[0] == as_of:
        return known[1], [part.scale(now) for part in known[1].parts]
    weights = {name: weight for name, weight in policy.weights.items() if name in PARTS}
    parts = [PARTS[name](of) for name in weights]
    scales = [part.scale(now) for part in parts]
    each = zip(parts, scales, map(given.get, weights), strict=True)
    ranges = [range_of(part.values, scale, over) for part, scale, over in each]
    prior = Prior(parts, ranges, list(weights.values()), scales, policy)
    if whole and all(part.changes != "moment" for part in parts):
        if len(view.priors) >= _PRIORS:
            view.priors.clear()
        view.priors[policy] = as_of, prior
    return prior, scales


def _recency(of: Candidates) -> Raw:
    policy = of.policy
    if policy.recency == "rank":
        return Raw(_by_rank(of), "access")
    if policy.recency == "creation":
        ages = micros(of.at) - of.take(of.view.table.created)
        mantissas, exponents = growth(policy.decay).of(np.maximum(ages, 0))
        return Raw(np.ldexp(1 / mantissas, -exponents), "moment")
    column = of.view.recency(policy.decay)
    return Raw(of.take(column.values(of.view.accessed)), "access", column.scale)


def _by_rank(of: Candidates) -> Floats:
    """Returns decay ** rank by last access, ascending. Ties are in the order of the published code: events before
    thoughts, the newest first."""
    accessed = of.take(of.view.accessed)
    thoughts = np.isin(of.take(of.view.table.kind), _THOUGHTS)
    order = np.lexsort((-np.arange(len(accessed)), thoughts, accessed))
    values = np.empty(len(accessed))
    values[order] = _powers(of.policy.decay, 1 << max(6, (len(accessed) - 1).bit_length()))[: len(accessed)]
    return values


@lru_cache(maxsize=8)
def _powers(base: float, count: int) -> Floats:
    """Returns base, base², base³ … by multiplication alone, which is the same on every machine."""
    return np.multiply.accumulate(np.full(count, base))


def _importance(of: Candidates) -> Raw:
    values = of.take(of.view.table.importance)
    return Raw((values - 1) / 9 if of.policy.importance == "unit" else values, "memory")


PARTS: Mapping[str, Callable[[Candidates], Raw]] = {
    "recency": _recency,
    "importance": _importance,
}
"""Part → what it is for each candidate. Recency is first: an access changes it in place (`Prior.follow`)."""
refuse_mistakes("scoring.PARTS", PARTS, INHERENT)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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

    @property
    def repeats(self) -> tuple[int, ...]:
        """The ids of memories that only say the same, which `collapse` left out; best first."""
        return getattr(self.parts, "repeats", ())


class Scores(NamedTuple):
    """The scores of all candidates, or of those that may be among the best, and the parts they are made of.

    Arrays may be scratch arrays, which the next retrieval of the thread overwrites, and columns of the table.
    """

    of: Candidates
    """Those that are scored."""
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
    unusable: Mapping[str, int]
    """Reason → how many candidates could not be compared; see `Retrieval.unusable`."""
    candidates: int
    """How many candidates there were, those included that cannot be among the best."""

    def only(self, positions: Indices) -> Scores:
        """Returns the scores of some candidates, still normalised over all of them."""
        return self._replace(
            of=self.of.only(positions),
            raw=[values[positions] for values in self.raw],
            counted=[partial(_among, units, positions) for units in self.counted],
            totals=self.totals[positions],
        )

    def breakdown(self, positions: Indices) -> Breakdown:
        """Returns the parts of some candidates, no longer in scratch arrays."""
        raw = np.array([values.take(positions) for values in self.raw])
        counted = [units(positions) for units in self.counted]
        return Breakdown(self.names, self.weights, raw, self.scales, self.ranges, counted, self.of.policy)


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
        """Returns part → its normalised value for each candidate, in units of 2⁻³⁰."""
        whole: list[list[int]] = self._units().astype(np.int64).tolist()
        return dict(zip(self.names, whole, strict=True))

    def parts(self) -> list[dict[str, Part]]:
        """Returns the parts of each candidate."""
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
        plain = self._policy.normalise == "minmax" and self._policy.relevance != "blend" and not self._counted
        if plain and all(low != high for low, high in self._ranges):
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

    __slots__ = ("_measure", "_number", "_of", "repeats")

    def __init__(
        self,
        of: Breakdown | None,
        measure: Callable[[Mapping[str, Part]], float] | None,
        number: int,
        repeats: tuple[int, ...] = (),
    ) -> None:
        """`of`: None for a memory that was not scored, which has no parts. `number`: which of them."""
        self.repeats = repeats
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


def range_of(raw: Floats, scale: float, given: Spread | None) -> Spread:
    """Returns the lowest and highest of at least one raw value; `scale` makes them the part, whose own may be
    `given`."""
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
        if policy.cosine_from == "mean":
            np.maximum(out, 0, out=out)
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
