"""Retrieval: from a question to the memories it brings back, with every part of every score.

`retrieve` picks the candidates, has them scored, and takes the best. `score_candidates` computes the raw parts the
policy names, has `scoring` normalise them, and adds the parts that only a blend has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property, partial
from itertools import count, islice
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.memory.blend import COMPARED, COUNTED, REACH, Hints
from commonplace.memory.columns import Scratch, blocks, micros, moment
from commonplace.memory.compared import ByVectors, ByWords, Compared, days_named
from commonplace.memory.embedding import Vector
from commonplace.memory.inherent import Candidates, prior_of
from commonplace.memory.policies import Policy
from commonplace.memory.record import Memory, accessed
from commonplace.memory.scoring import (
    NOT_NORMALISED,
    UNIT,
    Breakdown,
    Floats,
    Indices,
    Part,
    Parts,
    ScoredMemory,
    Scores,
    Spread,
    Spreads,
    best,
    normalise,
    parts_json,
    range_of,
)
from commonplace.memory.search import Filters, matching
from commonplace.memory.shortlist import LEAST, Shortlist, shortlist
from commonplace.memory.table import View
from commonplace.text import clean

_WORK, _FEW = Scratch(), Scratch()
_MEASURED = ("relevance", *COMPARED)
"""The parts that compare memories with the question."""


class Options(Filters, total=False):
    """The optional arguments of `recall` and `retrieve`."""

    k: int | None
    policy: Policy | None
    purpose: str
    touch: bool
    max_tokens: int | None
    exclude: AbstractSet[int]
    embedding: Vector | None
    min_relevance: float | None


@dataclass(frozen=True, slots=True)
class Retrieval(Sequence[ScoredMemory]):
    """The answer to one question, and itself the sequence of its hits, best first."""

    purpose: str
    """What it was for, in a word; for traces."""
    query: str
    policy: Policy
    k: int
    at: datetime
    candidates: int
    """How many memories were scored."""
    excluded: tuple[int, ...]
    """Ids the caller left out, ascending."""
    length: int
    """How many ids there were then, forgotten ones included."""
    chosen_by: Literal["score", "newest"]
    """`newest` for an empty query, which gives nothing to score by."""
    found: tuple[Memory, ...] = field(compare=False)
    """The memories, best first, as they were when they were added."""
    accessed: tuple[int, ...]
    """When each was last accessed, in `micros`."""
    scores: tuple[float, ...]
    spreads: Spreads
    """Part → lowest and highest raw value over the candidates, which min-max normalised with; 0 and 1 for a part that
    counts raw."""
    unusable: Mapping[str, int]
    """What could not be compared: candidates with `no_vector`, a `non_finite` or a `wrong_size` one; `query` is 1 if
    the query could not be embedded. Only what occurred."""
    breakdown: Breakdown | None = field(default=None, compare=False)
    """What the scores are made of; None where the newest were taken."""
    vector: Vector | None = None
    """The query's, if the caller gave it; `NOT_EMBEDDED` if the embedder failed."""
    query_error: str = ""
    """How the embedder failed on the query, whose cosines are then 0; empty if it did not."""
    filters: Filters = field(default_factory=Filters)
    """Those that were given."""
    min_relevance: float = 0.0
    measure: Relevance | None = field(default=None, compare=False, repr=False)
    """What `ScoredMemory.relevance` is computed with."""
    _hits: list[ScoredMemory] = field(init=False, compare=False, repr=False, default_factory=list[ScoredMemory])

    @property
    def hits(self) -> tuple[ScoredMemory, ...]:
        """The memories, `accessed_at` as of then, with their scores; made when they are first asked for."""
        if not self._hits and self.found:
            moments = {since: moment(since) for since in {*self.accessed}}  # those touched together have one
            then = map(accessed, self.found, map(moments.__getitem__, self.accessed))
            parts = map(partial(Parts, self.breakdown, self.measure and self.measure.of), count())
            self._hits[:] = list(map(ScoredMemory, then, count(1), self.scores, parts))  # at once: threads may share it
        return tuple(self._hits)

    @overload
    def __getitem__(self, index: int) -> ScoredMemory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ScoredMemory]: ...
    def __getitem__(self, index: int | slice) -> ScoredMemory | Sequence[ScoredMemory]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.found)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Retrieval):
            return NotImplemented
        names = [one.name for one in fields(self) if one.compare]
        return self.hits == other.hits and all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash((self.purpose, self.query, self.at, self.ids))

    def __iter__(self) -> Iterator[ScoredMemory]:
        return iter(self.hits)

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the hits, best first."""
        return tuple([memory.id for memory in self.found])

    def trace(self) -> dict[str, Any]:
        """The retrieval as JSON stores it in a trace: memories by id, every part of every score."""
        return {
            "purpose": self.purpose,
            "query": self.query,
            "policy": self.policy.name,
            "k": self.k,
            "at": iso(self.at),
            "candidates": self.candidates,
            "chosen_by": self.chosen_by,
            "unusable": dict(self.unusable),
            "hits": [
                {
                    "memory": hit.memory.id,
                    "rank": hit.rank,
                    "score": hit.score,
                    "parts": parts_json(hit.parts),
                }
                for hit in self.hits
            ],
        }


def retrieve(
    view: View,
    query: str,
    *,
    at: datetime,
    policy: Policy,
    k: int | None = None,
    purpose: str = "",
    max_tokens: int | None = None,
    exclude: AbstractSet[int] = frozenset(),
    embedding: Vector | None = None,
    made: Vector | None = None,
    query_error: str = "",
    min_relevance: float = 0.0,
    filters: Filters | None = None,
    touches: bool = False,
) -> Retrieval:
    """The best k of the view (`policy.k` if None) that fit into `max_tokens` together; arguments already checked.

    An empty query without an `embedding` brings the newest k. `made`: the vector that the embedder has made of the
    query already; `query_error`: how it failed. `touches`: whether the hits are last accessed at `at`, which the caller
    records.
    """
    k = policy.k if k is None else k
    text = clean(query)
    rows = candidates(view, policy, exclude, at, filters)
    length = view.length if rows is None else len(rows)
    asked = bool(text) or embedding is not None
    vector = embedding if made is None else made
    best_of = k if max_tokens is None and min_relevance <= 0 else None
    scores = score_candidates(view, rows, text, at, policy, vector, None, best_of) if asked and length else None
    measure = Relevance(view, text, at, policy) if asked else None
    if scores:
        rows, length = scores.rows, scores.candidates
    totals = scores.totals if scores else np.zeros(length)
    if scores and measure and min_relevance > 0:
        relevant = np.flatnonzero(measure.of_all(scores) >= min_relevance)
        scores, totals = scores.only(relevant), totals[relevant]
        rows = relevant if rows is None else rows[relevant]
    ranked = best(totals, view.table.created, k if max_tokens is None else None, rows)
    if max_tokens is not None:
        ranked = _fitting(ranked, view.take(view.table.tokens, rows), k, max_tokens)
    chosen = ranked if rows is None else rows[ranked]
    return Retrieval(
        purpose=purpose,
        query=text,
        policy=policy,
        k=k,
        at=at,
        candidates=length,
        excluded=tuple(sorted(exclude)),
        length=view.length,
        chosen_by="score" if asked else "newest",
        found=tuple(view.table.records_of(chosen.tolist())),
        accessed=(micros(at),) * len(chosen) if touches else tuple(view.accessed[chosen].tolist()),
        scores=tuple((totals[ranked] * UNIT).tolist()),
        spreads=scores.spreads if scores else {},
        unusable=scores.unusable if scores else {},
        breakdown=scores.of(ranked) if scores else None,
        vector=made if query_error else embedding,
        query_error=query_error,
        filters=filters or {},
        min_relevance=min_relevance,
        measure=measure,
    )


def candidates(
    view: View, policy: Policy, exclude: AbstractSet[int], at: datetime, filters: Filters | None = None
) -> Indices | None:
    """The rows that may compete, none of them created after `at`; None for all rows."""
    now = micros(at)
    if not (filters or exclude or policy.without_tags or policy.without_words) and view.table.latest <= now:
        return view.present()
    allowed, tests = matching(view, filters) if filters else (view.alive, [])
    if view.table.latest > now:
        allowed = allowed & (view.table.created[: view.length] <= now)
    if policy.without_tags or policy.without_words:
        allowed = allowed & view.table.competing(policy, view.length)
    inside = [id - 1 for id in exclude if 1 <= id <= view.length]
    if inside:
        allowed = allowed.copy()
        allowed[inside] = False
    if tests:
        rows = np.flatnonzero(allowed)
        record = view.table.record
        return rows[[all(test(record(row)) for test in tests) for row in rows.tolist()]]
    return None if allowed.all() else np.flatnonzero(allowed)


def score_candidates(
    view: View,
    rows: Indices | None,
    text: str,
    at: datetime,
    policy: Policy,
    vector: Vector | None = None,
    spreads: Spreads | None = None,
    best_of: int | None = None,
) -> Scores:
    """Every part of the score of at least one candidate.

    `vector`: the question's; None to have the embedder make it. `spreads`: normalise over these instead of the
    candidates' own. With `policy.nearest` only the nearest candidates are scored. `best_of`: those that are certainly
    not among so many best may be left out.
    """
    given = spreads or {}
    # what an embedder of spelling knows, BM25 knows better
    spelling = policy.relevance == "blend" and vector is None and getattr(view.table.embedder, "spelling", False)
    weights = {name: weight for name, weight in policy.weights.items() if not (spelling and name == "cosine")}
    asked = [name for name in weights if name in _MEASURED]
    count = view.length if rows is None else len(rows)
    work = _WORK.matrix(len(asked) + 4, count + 2 * REACH)
    rooms = [row[:count] for row in work[: len(asked)]]
    compared, unusable = _compare(view, rows, text, at, policy, vector, dict(zip(asked, rooms, strict=True)))
    chosen: Indices | None = None
    if policy.nearest:
        compared[0].units(None, rooms[0])
        chosen = np.sort(best(rooms[0], view.table.created, policy.nearest, rows))
        count, rows = len(chosen), chosen if rows is None else rows[chosen]
    prior, scales = prior_of(Candidates(view, rows, at, policy), given)
    parts = [(part, weights[name]) for name, part in zip(asked, compared, strict=True)]
    hints = None
    if policy.relevance == "blend":
        hints = Hints(view.blend(), text, policy, view.table.created, view.length, rows)
    short: Shortlist | None = None
    if best_of and count >= LEAST and policy.normalise == "minmax" and not (given or policy.nearest):
        short = shortlist(prior, parts, hints, policy, best_of, work[len(asked) :])
    if short:
        chosen, prior = short.positions, prior.only(short.positions)
        rows = chosen if rows is None else rows[chosen]
        hints = hints and hints.only(rows)
    if chosen is not None:
        work = _FEW.matrix(len(asked) + 4, len(chosen) + 2 * REACH)
        rooms = [row[: len(chosen)] for row in work[: len(asked)]]
    for part, room in zip(compared, rooms, strict=True):
        part.units(chosen, room)
    if short:
        ranges = short.ranges
    else:
        ranges = [range_of(units, UNIT, given.get(name)) for name, units in zip(asked, rooms, strict=True)]
    totals = work[-1, : -2 * REACH]
    _add(prior.totals, rooms, ranges, [weight for _, weight in parts], policy, work[-4:])
    counted = _blend(hints, work[-4:]) if hints else []
    for some in blocks(len(totals)):
        np.rint(totals[some], out=totals[some])
    ranges = [*prior.ranges, *ranges]
    scales = [*scales, *([UNIT] * len(asked))]
    found = dict.fromkeys(weights, NOT_NORMALISED)
    if policy.normalise == "minmax":
        each = zip(weights, ranges, scales, strict=False)
        found.update({name: given.get(name) or Spread(over.low * by, over.high * by) for name, over, by in each})
    scores = Scores(
        rows,
        list(weights),
        list(weights.values()),
        [*prior.raw, *rooms],
        scales,
        ranges,
        counted,
        totals,
        found,
        policy,
        unusable,
        count,
    )
    return scores.only(short.best) if short else scores


def _compare(
    view: View,
    rows: Indices | None,
    text: str,
    at: datetime,
    policy: Policy,
    vector: Vector | None,
    rooms: Mapping[str, Floats],
) -> tuple[list[Compared], dict[str, int]]:
    """(the parts that compare memories with the question, each with room to work in; what could not be compared)."""
    compared, unusable = list[Compared](), dict[str, int]()
    for name, room in reversed(list(rooms.items())):  # vectors first: they push all else out of the cache
        if COMPARED.get(name, policy.relevance) == "bm25":
            compared.insert(0, ByWords(view, rows, text, at, policy, room))
        else:
            compared.insert(0, by_vectors := ByVectors(view, rows, text, vector, room))
            unusable = by_vectors.unusable
    return compared, unusable


def _add(
    prior: Floats,
    raw: Sequence[Floats],
    ranges: Sequence[Spread],
    weights: Sequence[float],
    policy: Policy,
    work: Floats,
) -> None:
    """Fills the last of four rows with Σ weight · part of the prior and the given parts, in this order.

    The first, shifted by `REACH`, gets the same without the prior.
    """
    relevance, spare, totals = work[0, REACH:], work[2], work[3]
    for some in blocks(len(prior)):
        so_far, asked = prior[some], relevance[some]
        if not raw:
            totals[some], asked[:] = so_far, 0
        for number, (values, over, weight) in enumerate(zip(raw, ranges, weights, strict=True)):
            units = spare[: len(asked)] if number else asked
            normalise(values[some], UNIT, over, policy, units)
            if weight != 1:
                units *= weight
            so_far = np.add(so_far, units, out=totals[some])
            if number:
                asked += units


class Relevance:
    """How relevant memories are to one question, measured the same way whatever else there is to remember.

    See `ScoredMemory.relevance`. A word that only carries grammar counts if a memory has it.
    """

    def __init__(self, view: View, text: str, at: datetime, policy: Policy) -> None:
        self._view = view
        self._text = text
        self._at = at
        self._policy = policy

    @cached_property
    def _highest(self) -> float:
        """The BM25 score that counts as 1."""
        view = self._view
        with view.table.guard:
            index, analyser = view.lexical(), view.table.analyser
            days, text = days_named(view, self._text, self._at, self._policy)
            terms = analyser.weighted(text, self._policy.grammar)
            content = analyser.weighted(text, 0.0)
            counted = {term: w for term, w in terms.items() if content[term] or index.occurs(term, view.length)}
            # a memory is of one day at most
            return index.highest({**(counted or terms), **dict(islice(days.items(), 1))}, view.length)

    def of(self, parts: Mapping[str, Part]) -> float:
        """Of a memory with these parts."""
        return max((self._share(name, parts[name].raw) for name in _MEASURED if name in parts), default=0.0)

    def of_all(self, scores: Scores) -> Floats:
        """Of all candidates."""
        found = np.zeros(len(scores.totals))
        for name, raw, scale in zip(scores.names, scores.raw, scores.scales, strict=False):
            if name in _MEASURED:
                top = self._highest if self._by_words(name) else 1.0
                np.maximum(found, raw * (scale / top) if top else 0.0, out=found)
        return np.minimum(found, 1.0, out=found)

    def _by_words(self, part: str) -> bool:
        return COMPARED.get(part, self._policy.relevance) == "bm25"

    def _share(self, part: str, raw: float) -> float:
        top = self._highest if self._by_words(part) else 1.0
        return min(1.0, max(0.0, raw / top)) if top else 0.0


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
        for some in blocks(len(totals)):
            lends = received[some]
            np.rint(lends, out=lends)
            totals[some] += np.multiply(lends, weight, out=spare[: len(lends)])
        counted.append(received.take)
    for name, weight in hints.weights.items():
        if part := COUNTED.get(name):
            part.add(hints, weight / UNIT, totals)
            counted.append(partial(part.units, hints))
    return counted


def _fitting(ranked: Indices, tokens: NDArray[np.int32], k: int, max_tokens: int) -> Indices:
    """The first k of the ranking that each fit into what the better ones left."""
    chosen: list[int] = []
    left = max_tokens
    for position, needed in zip(ranked.tolist(), tokens[ranked].tolist(), strict=True):
        if len(chosen) == k:
            break
        if needed <= left:
            chosen.append(position)
            left -= needed
    return np.array(chosen, dtype=np.intp)
