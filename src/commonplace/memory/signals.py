"""From a view and a question to the scored parts of all candidates: what each policy looks at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import KIND_CODES, norm_of, usable
from commonplace.memory.embedding import Vector
from commonplace.memory.growth import Scratch
from commonplace.memory.naming import named, quiet
from commonplace.memory.neighbours import Breaks, lent
from commonplace.memory.policy import Policy
from commonplace.memory.recency import growth, micros
from commonplace.memory.scoring import (
    UNIT,
    Floats,
    Parts,
    RawParts,
    Rows,
    Scores,
    Spreads,
    best,
    score,
    total,
)
from commonplace.memory.view import View

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

    rows: Rows | None
    """None: all rows of the view."""
    scores: Scores
    unusable: dict[str, int]
    """What could not be compared, by why."""


def scored(question: Question, rows: Rows | None, spreads: Spreads | None = None) -> Scored:
    """Every part of the score of at least one candidate, normalised over `spreads` if they are given."""
    view, _, at, policy, _ = question
    names = _compared(question)
    values = _VALUES.matrix(2 + len(names), view.length if rows is None else len(rows))
    unusable = _compare(question, rows, dict(zip(names, values[2:], strict=True)))
    if policy.nearest:
        kept = np.sort(best(values[2], _of(rows, view.rows.columns.created[: view.length]), policy.nearest))
        rows, values = kept if rows is None else rows[kept], values[:, kept]
    scale = _recency(view, at, policy, rows, values[0])
    values[1] = _of(rows, view.rows.columns.importance[: view.length])
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


def _compare(question: Question, rows: Rows | None, into: Mapping[str, Floats]) -> dict[str, int]:
    """Fills in those parts, in units, and gives what could not be compared."""
    unusable: dict[str, int] = {}
    for name, units in into.items():
        if name == "lexical" or question.policy.relevance == "bm25":
            _bm25(question, rows, units)
        else:
            unusable = _cosine(question, rows, units)
    return unusable


def _fill_besides(question: Question, rows: Rows | None, parts: Parts) -> None:
    """Fills in the parts a blend has besides, each counting as it is."""
    view, text, _, policy, _ = question
    traits = view.traits()
    questions = _of(rows, traits.questions.first(view.length))
    units = dict(zip(parts.names, parts.units, strict=True))
    if "neighbours" in units:
        received = lent(_own_relevance(parts), questions, _breaks(view, rows, policy))
        np.rint(received, out=units["neighbours"])
    if "named" in units:
        names = named(text)
        of_it = traits.subjects.carrying(names, view.length, 1 / UNIT)
        if traits.places.any_carrying(names):
            of_it += traits.places.carrying(names, view.length, 1 / UNIT)
        units["named"][:] = _of(rows, of_it)
    if "statement" in units:
        np.multiply(~questions, 1 / UNIT, out=units["statement"])


def _own_relevance(parts: Parts) -> Floats:
    """Weighted sum, in whole units, of the parts neighbours can lend."""
    own = range(2, len(parts.raw.names))
    relevance = np.zeros(parts.units.shape[1])
    for part in own:
        relevance += parts.units[part] * parts.weights[part]
    return np.rint(relevance, out=relevance)


def _breaks(view: View, rows: Rows | None, policy: Policy) -> list[Rows]:
    """Pairs of candidates with too much time between them to be neighbours."""
    created = view.rows.columns.created[: view.length]
    if rows is None:
        return view.traits().breaks(policy.neighbour_minutes, created)
    return Breaks(policy.neighbour_minutes).between(created[rows])


def _bm25(question: Question, rows: Rows | None, units: Floats) -> None:
    view, text, _, policy, _ = question
    index = view.lexical()
    grammar = quiet(text) if policy.grammar != 1 else frozenset[str]()
    terms = view.rows.analyser.weighted(text, grammar, policy.grammar)
    if policy.respell:
        terms = index.respelt(terms, view.length)
    _round(index.scores(terms, view.length, policy.k1, policy.b), rows, units)


def _cosine(question: Question, rows: Rows | None, units: Floats) -> dict[str, int]:
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


def _recency(view: View, at: datetime, policy: Policy, rows: Rows | None, values: Floats) -> float:
    """Fills in the recency of the candidates up to a factor, which it gives."""
    if policy.recency == "rank":
        values[:] = _by_rank(view, policy.decay, rows)
        return 1.0
    if policy.recency == "creation":
        ages = micros(at) - _of(rows, view.rows.columns.created[: view.length])
        mantissas, exponents = growth(policy.decay).of(np.maximum(ages, 0))
        np.ldexp(1 / mantissas, -exponents, out=values)
        return 1.0
    accesses = view.recency(policy.decay)
    values[:] = _of(rows, accesses.values(view.accessed))
    return accesses.scale(micros(at))


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


def _round(values: Floats, rows: Rows | None, units: Floats) -> None:
    """The values of the candidates in units; `values` and `units` may be the same array."""
    np.multiply(_of(rows, values), 1 / UNIT, out=units)
    np.rint(units, out=units)


def _of(rows: Rows | None, values: NDArray[Any]) -> NDArray[Any]:
    return values if rows is None else values[rows]
