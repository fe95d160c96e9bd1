"""From a view and a question to the scored parts of all candidates: what each policy looks at."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import KIND_CODES, norm_of, usable
from commonplace.memory.embedding import Vector
from commonplace.memory.naming import named, quiet
from commonplace.memory.neighbours import Breaks, lent
from commonplace.memory.policy import Policy
from commonplace.memory.recency import growth, micros
from commonplace.memory.scoring import (
    UNIT,
    Floats,
    RawPart,
    Rows,
    ScoredPart,
    Scores,
    Spreads,
    best,
    raw_counts,
    score,
    total,
)
from commonplace.memory.view import View

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

    rows: Rows | None
    """None: all rows of the view."""
    scores: Scores
    unusable: dict[str, int]
    """What could not be compared, by why."""


def scored(question: Question, rows: Rows | None, spreads: Spreads | None = None) -> Scored:
    """Every part of the score of at least one candidate, normalised over `spreads` if they are given."""
    view, _, at, policy, _ = question
    relevance, unusable = _relevance(question, rows)
    if policy.nearest:
        rows, relevance = _nearest(view, rows, relevance, policy.nearest)
    importance = _of(rows, view.rows.columns.importance[: view.length])
    raw = {
        "recency": _recency(view, at, policy, rows),
        "importance": RawPart(importance if policy.importance == "scale" else (importance - 1) / 9),
        **relevance,
    }
    parts = score(raw, policy, spreads)
    if policy.relevance == "blend":
        parts = _blended(question, rows, parts)
    return Scored(rows, total(parts), unusable)


def _relevance(question: Question, rows: Rows | None) -> tuple[dict[str, RawPart], dict[str, int]]:
    """(the parts that say how relevant a memory is by itself, what could not be compared)."""
    policy = question.policy
    if policy.relevance == "bm25":
        return {"relevance": _bm25(question, rows)}, {}
    if policy.relevance == "cosine":
        part, unusable = _cosine(question, rows)
        return {"relevance": part}, unusable
    parts: dict[str, RawPart] = {}
    unusable: dict[str, int] = {}
    if policy.lexical_weight:
        parts["lexical"] = _bm25(question, rows)
    if policy.cosine_weight and not getattr(question.view.rows.embedder, "spelling", False):
        parts["cosine"], unusable = _cosine(question, rows)
    return parts, unusable


def _blended(question: Question, rows: Rows | None, parts: dict[str, ScoredPart]) -> dict[str, ScoredPart]:
    """The parts with those a blend has besides, each counting as it is."""
    view, text, _, policy, _ = question
    traits = view.traits()
    questions = _of(rows, traits.questions.first(view.length))
    blended = dict(parts)
    if policy.neighbours_weight:
        received = lent(_own_relevance(parts, len(questions)), questions, _breaks(view, rows, policy))
        blended["neighbours"] = raw_counts(RawPart(received, UNIT), policy.neighbours_weight)
    if policy.named_weight:
        names = named(text)
        of_it = traits.subjects.carrying(names, view.length)
        of_it += traits.places.carrying(names, view.length)
        blended["named"] = raw_counts(RawPart(_of(rows, of_it)), policy.named_weight)
    if policy.statement_weight:
        blended["statement"] = raw_counts(RawPart(1.0 - questions), policy.statement_weight)
    return blended


def _own_relevance(parts: dict[str, ScoredPart], count: int) -> Floats:
    """Weighted sum, in whole units, of the parts neighbours can lend."""
    relevance, product = np.zeros(count), np.empty(count)
    for name in ("lexical", "cosine"):
        if name in parts:
            relevance += np.multiply(parts[name].units, parts[name].weight, out=product)
    return np.rint(relevance, out=relevance)


def _breaks(view: View, rows: Rows | None, policy: Policy) -> list[Rows]:
    """Pairs of candidates with too much time between them to be neighbours."""
    created = view.rows.columns.created[: view.length]
    if rows is None:
        return view.traits().breaks(policy.neighbour_minutes, created)
    return Breaks(policy.neighbour_minutes).between(created[rows])


def _bm25(question: Question, rows: Rows | None) -> RawPart:
    view, text, _, policy, _ = question
    index = view.lexical()
    grammar = quiet(text) if policy.grammar != 1 else frozenset[str]()
    terms = view.rows.analyser.weighted(text, grammar, policy.grammar)
    if policy.respell:
        terms = index.respelt(terms, view.length)
    return _rounded(index.scores(terms, view.length, policy.k1, policy.b), rows)


def _cosine(question: Question, rows: Rows | None) -> tuple[RawPart, dict[str, int]]:
    view = question.view
    columns = view.rows.columns
    unusable = columns.unusable(slice(view.length) if rows is None else rows)
    given = view.rows.embedder.embed([question.text])[0] if question.vector is None else question.vector
    _, vector = usable(given, columns.dimensions)
    norm = 0.0 if vector is None else norm_of(vector)
    if vector is None or not norm:
        return RawPart(np.zeros(view.length if rows is None else len(rows))), {**unusable, "query": 1}
    # vecdot takes row after row: as fast as a matrix product on one thread, and no thread pool to be slowed down by
    cosines = np.vecdot(columns.vectors[: view.length], vector).astype(np.float64)
    cosines /= columns.norms[: view.length]
    cosines /= norm
    return _rounded(cosines, rows), unusable


def _recency(view: View, at: datetime, policy: Policy, rows: Rows | None) -> RawPart:
    if policy.recency == "rank":
        return RawPart(_by_rank(view, policy.decay, rows))
    if policy.recency == "creation":
        ages = micros(at) - _of(rows, view.rows.columns.created[: view.length])
        mantissas, exponents = growth(policy.decay).of(np.maximum(ages, 0))
        return RawPart(np.ldexp(1 / mantissas, -exponents))
    accesses = view.recency(policy.decay)
    return RawPart(_of(rows, accesses.values(view.accessed)), accesses.scale(micros(at)))


def _by_rank(view: View, decay: float, rows: Rows | None) -> Floats:
    """decay ** rank by last access, ascending. Equal ones stand as the published code keeps them: events before
    thoughts, the newest first."""
    accessed = _of(rows, view.accessed)
    thoughts = np.isin(_of(rows, view.rows.columns.kind[: view.length]), _THOUGHTS)
    order = np.lexsort((-np.arange(len(accessed)), thoughts, accessed))
    values = np.empty(len(accessed))
    values[order] = _powers(decay, 1 << max(6, (len(accessed) - 1).bit_length()))[: len(accessed)]
    return values


@lru_cache(maxsize=8)
def _powers(base: float, count: int) -> Floats:
    """base, base², base³ … by multiplication alone, which is the same on every machine."""
    return np.multiply.accumulate(np.full(count, base))


def _nearest(
    view: View, rows: Rows | None, relevance: dict[str, RawPart], count: int
) -> tuple[Rows, dict[str, RawPart]]:
    """The rows of the highest relevance, in the order of ids, and their relevance."""
    (part,) = relevance.values()
    units = np.rint(part.values * (part.scale / UNIT))
    kept = np.sort(best(units, _of(rows, view.rows.columns.created[: view.length]), count))
    return (kept if rows is None else rows[kept]), {"relevance": RawPart(part.values[kept], part.scale)}


def _rounded(values: Floats, rows: Rows | None) -> RawPart:
    """Those of some rows in units; the array given is used up."""
    values = _of(rows, values)
    values /= UNIT
    return RawPart(np.rint(values, out=values), UNIT)


def _of(rows: Rows | None, values: NDArray[Any]) -> NDArray[Any]:
    return values if rows is None else values[rows]
