"""Retrieval: from a question to the memories it brings back, with every part of every score.

`retrieve` picks the candidates, has them scored, and takes the best. `score_candidates` computes the raw parts the
policy names, has `scoring` normalise them, and adds the parts that only a blend has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import count
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.memory.blend import UNSPOKEN, Breaks, lent, named
from commonplace.memory.columns import Scratch, growth, micros, moment
from commonplace.memory.embedding import Vector, embed_query, norm_of, usable
from commonplace.memory.policies import INHERENT, Policy
from commonplace.memory.record import Memory, accessed
from commonplace.memory.scoring import (
    UNIT,
    Breakdown,
    Floats,
    Indices,
    Part,
    Parts,
    ScoredMemory,
    Scores,
    Spreads,
    best,
    normalise,
    round_to_units,
    weighted_sum,
)
from commonplace.memory.search import Filters, matching
from commonplace.memory.table import KIND_CODES, View
from commonplace.text import clean

_RAW = Scratch()
_COUNTED_RAW = ("neighbours", "named", "statement")
"""Parts of a blend that are not normalised."""
_THOUGHTS = (KIND_CODES["reflection"], KIND_CODES["plan"])


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
    """The query's, if the caller gave it."""
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
            then = map(accessed, self.found, map(moment, self.accessed))
            parts = self.breakdown.parts() if self.breakdown else [dict[str, Part]() for _ in self.found]
            parts = [Parts(one, self.measure and self.measure.of) for one in parts]
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
                    "parts": {name: part._asdict() for name, part in hit.parts.items()},
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
    min_relevance: float = 0.0,
    filters: Filters | None = None,
) -> Retrieval:
    """The best k of the view (`policy.k` if None) that fit into `max_tokens` together; arguments already checked.

    An empty query without an `embedding` brings the newest k.
    """
    k = policy.k if k is None else k
    text = clean(query)
    rows = candidates(view, policy, exclude, at, filters)
    length = view.length if rows is None else len(rows)
    asked = bool(text) or embedding is not None
    scores = score_candidates(view, rows, text, at, policy, embedding) if asked and length else None
    measure = Relevance(view, text, policy) if asked else None
    if scores:
        rows, length = scores.rows, len(scores.totals)
    totals = scores.totals if scores else np.zeros(length)
    if scores and measure and min_relevance > 0:
        relevant = np.flatnonzero(measure.of_all(scores) >= min_relevance)
        scores, totals = scores.only(relevant), totals[relevant]
        rows = relevant if rows is None else rows[relevant]
    ranked = best(totals, view.take(view.table.created, rows), k if max_tokens is None else None)
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
        found=tuple(map(view.table.record, chosen.tolist())),
        accessed=tuple(view.accessed[chosen].tolist()),
        scores=tuple((totals[ranked] * UNIT).tolist()),
        spreads=scores.spreads if scores else {},
        unusable=scores.unusable if scores else {},
        breakdown=scores.of(ranked) if scores else None,
        vector=embedding,
        filters=filters or {},
        min_relevance=min_relevance,
        measure=measure,
    )


def candidates(
    view: View, policy: Policy, exclude: AbstractSet[int], at: datetime, filters: Filters | None = None
) -> Indices | None:
    """The rows that may compete, none of them created after `at`; None for all rows."""
    allowed, tests = matching(view, filters) if filters else (view.alive, [])
    now = micros(at)
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
) -> Scores:
    """Every part of the score of at least one candidate.

    `vector`: the question's; None to have the embedder make it. `spreads`: normalise over these instead of the
    candidates' own. With `policy.nearest` only the nearest candidates are scored.
    """
    # what an embedder of spelling knows, BM25 knows better
    spelling = policy.relevance == "blend" and vector is None and getattr(view.table.embedder, "spelling", False)
    names = [name for name in policy.weights if not (spelling and name == "cosine")]
    normalised = [name for name in names if name not in _COUNTED_RAW]
    inherent = [name for name in normalised if name in INHERENT]  # `weights` has them first
    asked = slice(len(inherent), len(normalised))
    raw = _RAW.matrix(len(normalised), view.length if rows is None else len(rows))
    unusable: dict[str, int] = {}
    compared_by = {"relevance": policy.relevance, "lexical": "bm25", "cosine": "cosine"}
    for name, units in zip(normalised[asked], raw[asked], strict=True):
        if compared_by[name] == "bm25":
            _bm25(view, rows, text, policy, units)
        else:
            unusable = _cosine(view, rows, text, vector, units)
    if policy.nearest:
        kept = np.sort(best(raw[asked][0], view.take(view.table.created, rows), policy.nearest))
        rows, raw = kept if rows is None else rows[kept], raw[:, kept]
    scales = np.full(len(raw), UNIT)
    for row, name in enumerate(inherent):
        scales[row] = _INHERENT[name](view, rows, at, policy, raw[row])
    weights = np.array([policy.weights[name] for name in names])
    units, found = normalise(names, raw, scales, policy, spreads)
    if len(names) > len(raw):
        relevance = weighted_sum(units[asked], weights[asked])
        _blend(view, rows, text, policy, relevance, dict(zip(names, units, strict=True)))
    totals = weighted_sum(units, weights)
    return Scores(rows, names, raw, scales, units, weights, totals, found, policy.normalise == "minmax", unusable)


class Relevance:
    """How relevant memories are to one question, measured the same way whatever else there is to remember.

    See `ScoredMemory.relevance`. A word that only carries grammar counts if a memory has it.
    """

    def __init__(self, view: View, text: str, policy: Policy) -> None:
        self._view = view
        self._text = text
        self._policy = policy

    @cached_property
    def _highest(self) -> float:
        """The BM25 score that counts as 1."""
        view = self._view
        with view.table.guard:
            index, analyser = view.lexical(), view.table.analyser
            terms = analyser.weighted(self._text, self._policy.grammar)
            content = analyser.weighted(self._text, 0.0)
            counted = {term: w for term, w in terms.items() if content[term] or index.occurs(term, view.length)}
            return index.highest(counted or terms, view.length)

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
        return part == "lexical" or (part == "relevance" and self._policy.relevance == "bm25")

    def _share(self, part: str, raw: float) -> float:
        top = self._highest if self._by_words(part) else 1.0
        return min(1.0, max(0.0, raw / top)) if top else 0.0


_MEASURED = ("relevance", "lexical", "cosine")


def _bm25(view: View, rows: Indices | None, text: str, policy: Policy, units: Floats) -> None:
    index = view.lexical()
    terms = view.table.analyser.weighted(text, policy.grammar)
    if policy.respell:
        terms = index.respelt(terms, view.length)
    round_to_units(view.take(index.scores(terms, view.length, policy.k1, policy.b), rows), units)


def _cosine(view: View, rows: Indices | None, text: str, given: Vector | None, units: Floats) -> dict[str, int]:
    """Fills in the cosines, and returns what could not be compared."""
    table = view.table
    unusable = table.unusable(slice(view.length) if rows is None else rows)
    _, vector = usable(embed_query(table.embedder, text) if given is None else given, table.embedder.dimensions)
    norm = 0.0 if vector is None else norm_of(vector)
    if vector is None or not norm:
        units[:] = 0
        return {**unusable, "query": 1}
    # Each text is compared once, however many memories say it. vecdot takes row after row: as fast as a matrix product
    # on one thread, and no thread pool to be slowed down by.
    known = len(table.sayings)
    cosines = np.divide(np.vecdot(table.sayings.vectors[:known], vector), table.sayings.norms[:known], dtype=np.float64)
    cosines /= norm
    round_to_units(cosines, cosines)
    cosines.take(view.take(table.saying, rows), out=units, mode="clip")  # `raise` would copy
    return unusable


def _recency(view: View, rows: Indices | None, at: datetime, policy: Policy, raw: Floats) -> float:
    """Fills in the recency of the candidates up to a factor, which it returns."""
    if policy.recency == "rank":
        raw[:] = _by_rank(view, rows, policy.decay)
        return 1.0
    if policy.recency == "creation":
        ages = micros(at) - view.take(view.table.created, rows)
        mantissas, exponents = growth(policy.decay).of(np.maximum(ages, 0))
        np.ldexp(1 / mantissas, -exponents, out=raw)
        return 1.0
    column = view.recency(policy.decay)
    raw[:] = view.take(column.values(view.accessed), rows)
    return column.scale(micros(at))


def _importance(view: View, rows: Indices | None, at: datetime, policy: Policy, raw: Floats) -> float:  # noqa: ARG001 - as every function of `_INHERENT`
    """Fills in the importance of the candidates, and returns the factor 1."""
    raw[:] = view.take(view.table.importance, rows)
    if policy.importance == "unit":
        np.divide(np.subtract(raw, 1, out=raw), 9, out=raw)
    return 1.0


_INHERENT: Mapping[str, Callable[[View, Indices | None, datetime, Policy, Floats], float]] = {
    "recency": _recency,
    "importance": _importance,
}
"""Part of `policies.INHERENT` → what fills in its raw values up to a factor, and returns the factor."""


def _by_rank(view: View, rows: Indices | None, decay: float) -> Floats:
    """decay ** rank by last access, ascending. Ties are in the order of the published code: events before thoughts,
    the newest first."""
    accessed = view.take(view.accessed, rows)
    thoughts = np.isin(view.take(view.table.kind, rows), _THOUGHTS)
    order = np.lexsort((-np.arange(len(accessed)), thoughts, accessed))
    values = np.empty(len(accessed))
    values[order] = _powers(decay, 1 << max(6, (len(accessed) - 1).bit_length()))[: len(accessed)]
    return values


@lru_cache(maxsize=8)
def _powers(base: float, count: int) -> Floats:
    """base, base², base³ … by multiplication alone, which is the same on every machine."""
    return np.multiply.accumulate(np.full(count, base))


def _blend(
    view: View, rows: Indices | None, text: str, policy: Policy, relevance: Floats, units: Mapping[str, Floats]
) -> None:
    """Fills in the parts of a blend that count raw. `relevance`: what each candidate can lend, in whole units."""
    columns = view.blend()
    questions = view.take(columns.questions.values, rows)
    if "neighbours" in units:
        spoken = view.take(columns.spoken.values, rows)
        # where candidates are left out, those around them become neighbours
        breaks = (
            columns.breaks(policy) if rows is None else Breaks(policy.neighbour_minutes, policy.conversation_minutes)
        )
        received = lent(relevance, questions, breaks.between(view.take(view.table.created, rows), spoken))
        np.rint(np.where(spoken, received, UNSPOKEN * received), out=units["neighbours"])
    if "named" in units:
        names, marked = named(text), units["named"]
        marked[:] = 0
        for column in (columns.subjects, columns.places):
            carrying = column.carrying(names, view.length, 1 / UNIT)
            if carrying is not None:
                marked += view.take(carrying, rows)
    if "statement" in units:
        np.multiply(~questions, 1 / UNIT, out=units["statement"])


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
