"""Retrieval: from a question to the memories it brings back, with every part of every score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.errors import WrongUse
from commonplace.memory.columns import norm_of, usable
from commonplace.memory.policy import Policy
from commonplace.memory.recency import micros
from commonplace.memory.record import checked_time
from commonplace.memory.scoring import UNIT, Floats, RawPart, Rows, ScoredMemory, Scores, Spread, best, score
from commonplace.memory.view import View
from commonplace.text import clean


class Options(TypedDict, total=False):
    """The optional arguments of `recall` and `retrieve`."""

    k: int | None
    policy: Policy | None
    purpose: str
    touch: bool
    max_tokens: int | None
    exclude: AbstractSet[int]


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
    """How many memories competed."""
    excluded: tuple[int, ...]
    """Ids the caller left out, ascending."""
    length: int
    """How many ids there were then, forgotten ones included."""
    chosen_by: Literal["score", "newest"]
    """`newest` where there was nothing to score by: an empty query."""
    hits: tuple[ScoredMemory, ...]
    spreads: Mapping[str, Spread]
    """Part → lowest and highest raw value over the candidates: what min-max normalised with."""
    unusable: Mapping[str, int]
    """What could not be compared: candidates with `no_vector`, a `non_finite` or `wrong_size` one; `query` is 1 if
    the query itself could not be embedded. Only what occurred."""

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
) -> Retrieval:
    """The best k of the view (`policy.k` if None) that fit into `max_tokens` together.

    An empty query, or no candidates, brings the newest k. Raises WrongUse for k below 1.
    """
    k = policy.k if k is None else k
    if k < 1:
        raise WrongUse(f"k {k!r}", todo="ask for at least 1 memory")
    at = checked_time(at)
    question = clean(query)
    rows = _candidates(view, exclude)
    count = view.length if rows is None else len(rows)
    scores: Scores | None = None
    unusable: dict[str, int] = {}
    if question and count:
        raw, unusable = raw_parts(view, question, at, policy, rows)
        scores = score(raw, policy)
    units = scores.units if scores else np.zeros(count)
    positions = _chosen(view, units, rows, k, max_tokens)
    return Retrieval(
        purpose=purpose,
        query=question,
        policy=policy,
        k=k,
        at=at,
        candidates=count,
        excluded=tuple(sorted(exclude)),
        length=view.length,
        chosen_by="score" if question else "newest",
        hits=_hits(view, scores, rows, positions),
        spreads={name: part.spread for name, part in scores.parts.items()} if scores else {},
        unusable=unusable,
    )


def raw_parts(
    view: View, query: str, at: datetime, policy: Policy, rows: Rows | None
) -> tuple[dict[str, RawPart], dict[str, int]]:
    """(part → its raw values for the candidates, what could not be compared)."""
    recency = view.recency(policy.decay)
    importance = view.rows.columns.importance[: view.length]
    relevance, unusable = _relevance(view, query, policy, rows)
    parts = {
        "recency": RawPart(_of(rows, recency.values(view.accessed)), recency.scale(micros(at))),
        "importance": RawPart(_of(rows, importance if policy.importance == "scale" else (importance - 1) / 9)),
        "relevance": RawPart(_of(rows, np.rint(relevance / UNIT)), UNIT),
    }
    return parts, unusable


def _relevance(view: View, query: str, policy: Policy, rows: Rows | None) -> tuple[Any, dict[str, int]]:
    if policy.relevance == "bm25":
        return view.lexical().scores(view.rows.analyser.query(query), view.length), {}
    columns = view.rows.columns
    unusable = columns.unusable(slice(view.length) if rows is None else rows)
    _, vector = usable(view.rows.embedder.embed([query])[0], columns.dimensions)
    norm = 0.0 if vector is None else norm_of(vector)
    if vector is None or not norm:
        return np.zeros(view.length), {**unusable, "query": 1}
    # vecdot takes row after row: as fast as a matrix product on one thread, and no thread pool to be slowed down by
    cosines = np.vecdot(columns.vectors[: view.length], vector).astype(np.float64)
    cosines /= columns.norms[: view.length]
    cosines /= norm
    return cosines, unusable


def _candidates(view: View, exclude: AbstractSet[int]) -> Rows | None:
    """The rows that compete; None for all of them."""
    allowed = view.alive
    inside = [id - 1 for id in exclude if 1 <= id <= view.length]
    if inside:
        allowed = allowed.copy()
        allowed[inside] = False
    return None if allowed.all() else np.flatnonzero(allowed)


def _of(rows: Rows | None, values: Any) -> Any:
    return values if rows is None else values[rows]


def _chosen(view: View, units: Floats, rows: Rows | None, k: int, max_tokens: int | None) -> Rows:
    """Positions among the candidates, best first."""
    columns = view.rows.columns
    created = _of(rows, columns.created[: view.length])
    if max_tokens is None:
        return best(units, created, k)
    return _fitting(best(units, created, None), _of(rows, columns.tokens[: view.length]), k, max_tokens)


def _fitting(ranked: Rows, tokens: NDArray[np.int32], k: int, max_tokens: int) -> Rows:
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


def _hits(view: View, scores: Scores | None, rows: Rows | None, positions: Rows) -> tuple[ScoredMemory, ...]:
    memories = view.memories(positions if rows is None else rows[positions])
    ranks = range(1, len(positions) + 1)
    if scores is None:
        return tuple(ScoredMemory(memory, rank, 0.0, {}) for memory, rank in zip(memories, ranks, strict=True))
    totals: list[float] = (scores.units[positions] * UNIT).tolist()
    names = tuple(scores.parts)
    parts = zip(*(part.at(positions) for part in scores.parts.values()), strict=True)
    return tuple(
        ScoredMemory(memory, rank, total, dict(zip(names, values, strict=True)))
        for memory, rank, total, values in zip(memories, ranks, totals, parts, strict=True)
    )
