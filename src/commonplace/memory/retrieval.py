"""Retrieval: from a question to the memories it brings back, with every part of every score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.columns import KIND_CODES, Scratch, growth, micros, norm_of, usable
from commonplace.memory.embedding import Vector
from commonplace.memory.policies import Policy
from commonplace.memory.record import checked_time
from commonplace.memory.scoring import (
    UNIT,
    Floats,
    Parts,
    RawParts,
    RowNumbers,
    ScoredMemory,
    Scores,
    Spreads,
    best,
    score,
    total,
)
from commonplace.memory.table import View
from commonplace.memory.traits import Breaks, lent, named, quiet
from commonplace.text import clean

# ── signals ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# From a view and a question to the scored parts of all candidates: what each policy looks at.


_BESIDES = ("neighbours", "named", "statement")
"""What a blend counts besides, as it is."""
_VALUES = Scratch()
_THOUGHTS = (KIND_CODES["reflection"], KIND_CODES["plan"])


class Question(NamedTuple):
    """What is asked, of whom, when and how."""

    view: View
    text: str
    at: datetime
    policy: Policy
    vector: Vector | None = None
    """The question's, where the caller has it; None to have the stream's embedder make it."""


class Scored(NamedTuple):
    """The candidates that were scored, and how."""

    rows: RowNumbers | None
    """None: all rows of the view."""
    scores: Scores
    unusable: dict[str, int]
    """What could not be compared, by why."""


def scored(question: Question, rows: RowNumbers | None, spreads: Spreads | None = None) -> Scored:
    """Every part of the score of at least one candidate, normalised over `spreads` if they are given."""
    view, _, at, policy, _ = question
    names = _compared(question)
    values = _VALUES.matrix(2 + len(names), view.length if rows is None else len(rows))
    unusable = _compare(question, rows, dict(zip(names, values[2:], strict=True)))
    if policy.nearest:
        kept = np.sort(best(values[2], _signals_of(rows, view.rows.columns.created[: view.length]), policy.nearest))
        rows, values = kept if rows is None else rows[kept], values[:, kept]
    scale = _recency(view, at, policy, rows, values[0])
    values[1] = _signals_of(rows, view.rows.columns.importance[: view.length])
    if policy.importance == "unit":
        np.divide(np.subtract(values[1], 1, out=values[1]), 9, out=values[1])
    raw = RawParts(("recency", "importance", *names), values, np.array([scale, 1.0] + [UNIT] * len(names)))
    besides = [name for name in _BESIDES if name in policy.weights]
    parts = score(raw, policy, besides, spreads)
    if besides:
        _fill_besides(question, rows, parts)
    return Scored(rows, total(parts), unusable)


def _compared(question: Question) -> tuple[str, ...]:
    """The parts that say how relevant a memory is by itself."""
    policy = question.policy
    if policy.relevance != "blend":
        return ("relevance",)
    spelling = getattr(question.view.rows.embedder, "spelling", False)
    cosine = ("cosine",) if policy.cosine_weight and not spelling else ()
    return ("lexical", *cosine) if policy.lexical_weight else cosine


def _compare(question: Question, rows: RowNumbers | None, into: Mapping[str, Floats]) -> dict[str, int]:
    """Fills in those parts, in units, and gives what could not be compared."""
    unusable: dict[str, int] = {}
    for name, units in into.items():
        if name == "lexical" or question.policy.relevance == "bm25":
            _bm25(question, rows, units)
        else:
            unusable = _cosine(question, rows, units)
    return unusable


def _fill_besides(question: Question, rows: RowNumbers | None, parts: Parts) -> None:
    """Fills in the parts a blend has besides, each counting as it is."""
    view, text, _, policy, _ = question
    traits = view.traits()
    questions = _signals_of(rows, traits.questions.first(view.length))
    units = dict(zip(parts.names, parts.units, strict=True))
    if "neighbours" in units:
        received = lent(_own_relevance(parts), questions, _breaks(view, rows, policy))
        np.rint(received, out=units["neighbours"])
    if "named" in units:
        names = named(text)
        of_it = traits.subjects.carrying(names, view.length, 1 / UNIT)
        if traits.places.any_carrying(names):
            of_it += traits.places.carrying(names, view.length, 1 / UNIT)
        units["named"][:] = _signals_of(rows, of_it)
    if "statement" in units:
        np.multiply(~questions, 1 / UNIT, out=units["statement"])


def _own_relevance(parts: Parts) -> Floats:
    """Weighted sum, in whole units, of the parts neighbours can lend."""
    own = range(2, len(parts.raw.names))
    relevance = np.zeros(parts.units.shape[1])
    for part in own:
        relevance += parts.units[part] * parts.weights[part]
    return np.rint(relevance, out=relevance)


def _breaks(view: View, rows: RowNumbers | None, policy: Policy) -> list[RowNumbers]:
    """Pairs of candidates with too much time between them to be neighbours."""
    created = view.rows.columns.created[: view.length]
    if rows is None:
        return view.traits().breaks(policy.neighbour_minutes, created)
    return Breaks(policy.neighbour_minutes).between(created[rows])


def _bm25(question: Question, rows: RowNumbers | None, units: Floats) -> None:
    view, text, _, policy, _ = question
    index = view.lexical()
    grammar = quiet(text) if policy.grammar != 1 else frozenset[str]()
    terms = view.rows.analyser.weighted(text, grammar, policy.grammar)
    if policy.respell:
        terms = index.respelt(terms, view.length)
    _round(index.scores(terms, view.length, policy.k1, policy.b), rows, units)


def _cosine(question: Question, rows: RowNumbers | None, units: Floats) -> dict[str, int]:
    view = question.view
    columns = view.rows.columns
    unusable = columns.unusable(slice(view.length) if rows is None else rows)
    given = view.rows.embedder.embed([question.text])[0] if question.vector is None else question.vector
    _, vector = usable(given, columns.dimensions)
    norm = 0.0 if vector is None else norm_of(vector)
    if vector is None or not norm:
        units[:] = 0
        return {**unusable, "query": 1}
    # vecdot takes row after row: as fast as a matrix product on one thread, and no thread pool to be slowed down by
    dots = np.vecdot(columns.vectors[: view.length], vector)
    cosines = np.divide(dots, columns.norms[: view.length], out=units if rows is None else None, dtype=np.float64)
    cosines /= norm
    _round(cosines, rows, units)
    return unusable


def _recency(view: View, at: datetime, policy: Policy, rows: RowNumbers | None, values: Floats) -> float:
    """Fills in the recency of the candidates up to a factor, which it gives."""
    if policy.recency == "rank":
        values[:] = _by_rank(view, policy.decay, rows)
        return 1.0
    if policy.recency == "creation":
        ages = micros(at) - _signals_of(rows, view.rows.columns.created[: view.length])
        mantissas, exponents = growth(policy.decay).of(np.maximum(ages, 0))
        np.ldexp(1 / mantissas, -exponents, out=values)
        return 1.0
    accesses = view.recency(policy.decay)
    values[:] = _signals_of(rows, accesses.values(view.accessed))
    return accesses.scale(micros(at))


def _by_rank(view: View, decay: float, rows: RowNumbers | None) -> Floats:
    """decay ** rank by last access, ascending. Equal ones stand as the published code keeps them: events before
    thoughts, the newest first."""
    accessed = _signals_of(rows, view.accessed)
    thoughts = np.isin(_signals_of(rows, view.rows.columns.kind[: view.length]), _THOUGHTS)
    order = np.lexsort((-np.arange(len(accessed)), thoughts, accessed))
    values = np.empty(len(accessed))
    values[order] = _powers(decay, 1 << max(6, (len(accessed) - 1).bit_length()))[: len(accessed)]
    return values


@lru_cache(maxsize=8)
def _powers(base: float, count: int) -> Floats:
    """base, base², base³ … by multiplication alone, which is the same on every machine."""
    return np.multiply.accumulate(np.full(count, base))


def _round(values: Floats, rows: RowNumbers | None, units: Floats) -> None:
    """The values of the candidates in units; `values` and `units` may be the same array."""
    np.multiply(_signals_of(rows, values), 1 / UNIT, out=units)
    np.rint(units, out=units)


def _signals_of(rows: RowNumbers | None, values: NDArray[Any]) -> NDArray[Any]:
    return values if rows is None else values[rows]


# ── retrieval ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Options(TypedDict, total=False):
    """The optional arguments of `recall` and `retrieve`."""

    k: int | None
    policy: Policy | None
    purpose: str
    touch: bool
    max_tokens: int | None
    exclude: AbstractSet[int]
    embedding: Vector | None


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
    """`newest` where there was nothing to score by: an empty query."""
    hits: tuple[ScoredMemory, ...]
    spreads: Spreads
    """Part → lowest and highest raw value over the candidates: what min-max normalised with; 0 and 1 for a part that
    counts raw."""
    unusable: Mapping[str, int]
    """What could not be compared: candidates with `no_vector`, a `non_finite` or `wrong_size` one; `query` is 1 if
    the query itself could not be embedded. Only what occurred."""
    vector: Vector | None = None
    """The query's, where the caller gave it."""

    @overload
    def __getitem__(self, index: int) -> ScoredMemory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ScoredMemory]: ...
    def __getitem__(self, index: int | slice) -> ScoredMemory | Sequence[ScoredMemory]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[ScoredMemory]:
        return iter(self.hits)

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the hits, best first."""
        return tuple(hit.memory.id for hit in self.hits)

    def trace(self) -> dict[str, Any]:
        """The retrieval as JSON holds it in a trace: memories by id, every part of every score."""
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
) -> Retrieval:
    """The best k of the view (`policy.k` if None) that fit into `max_tokens` together.

    An empty query, or no candidates, brings the newest k. Raises UsageError for k below 1.
    """
    k = policy.k if k is None else k
    if k < 1:
        raise UsageError(f"k {k!r}", hint="ask for at least 1 memory")
    asked = Question(view, clean(query), checked_time(at), policy, embedding)
    rows = candidates(view, policy, exclude)
    found: Scored | None = None
    if asked.text and (view.length if rows is None else len(rows)):
        found = scored(asked, rows)
        rows = found.rows
    scores = found.scores if found else None
    count = view.length if rows is None else len(rows)
    positions = _chosen(view, scores.units if scores else np.zeros(count), rows, k, max_tokens)
    return Retrieval(
        purpose=purpose,
        query=asked.text,
        policy=policy,
        k=k,
        at=asked.at,
        candidates=count,
        excluded=tuple(sorted(exclude)),
        length=view.length,
        chosen_by="score" if asked.text else "newest",
        hits=_hits(view, scores, rows, positions),
        spreads=scores.parts.spreads if scores else {},
        unusable=found.unusable if found else {},
        vector=embedding,
    )


def candidates(view: View, policy: Policy, exclude: AbstractSet[int]) -> RowNumbers | None:
    """The rows that may compete; None for all of them."""
    allowed = view.alive
    if policy.without_tags or policy.without_words:
        allowed = allowed & view.competing(policy)
    inside = [id - 1 for id in exclude if 1 <= id <= view.length]
    if inside:
        allowed = allowed.copy()
        allowed[inside] = False
    return None if allowed.all() else np.flatnonzero(allowed)


def _of(rows: RowNumbers | None, values: Any) -> Any:
    return values if rows is None else values[rows]


def _chosen(view: View, units: Floats, rows: RowNumbers | None, k: int, max_tokens: int | None) -> RowNumbers:
    """Positions among the candidates, best first."""
    columns = view.rows.columns
    created = _of(rows, columns.created[: view.length])
    if max_tokens is None:
        return best(units, created, k)
    return _fitting(best(units, created, None), _of(rows, columns.tokens[: view.length]), k, max_tokens)


def _fitting(ranked: RowNumbers, tokens: NDArray[np.int32], k: int, max_tokens: int) -> RowNumbers:
    """The first k of the ranking of which each still fits into what the better ones left."""
    chosen: list[int] = []
    left = max_tokens
    for position, needed in zip(ranked.tolist(), tokens[ranked].tolist(), strict=True):
        if len(chosen) == k:
            break
        if needed <= left:
            chosen.append(position)
            left -= needed
    return np.array(chosen, dtype=np.intp)


def _hits(
    view: View, scores: Scores | None, rows: RowNumbers | None, positions: RowNumbers
) -> tuple[ScoredMemory, ...]:
    memories = view.memories(positions if rows is None else rows[positions])
    ranks = range(1, len(positions) + 1)
    if scores is None:
        return tuple(ScoredMemory(memory, rank, 0.0, {}) for memory, rank in zip(memories, ranks, strict=True))
    totals: list[float] = (scores.units[positions] * UNIT).tolist()
    return tuple(map(ScoredMemory, memories, ranks, totals, scores.parts.at(positions)))
