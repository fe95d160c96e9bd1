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
from commonplace.memory.embedding import Vector
from commonplace.memory.policy import Policy
from commonplace.memory.record import checked_time
from commonplace.memory.scoring import UNIT, Floats, Rows, ScoredMemory, Scores, Spreads, best
from commonplace.memory.signals import Question, Scored, scored
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

    An empty query, or no candidates, brings the newest k. Raises WrongUse for k below 1.
    """
    k = policy.k if k is None else k
    if k < 1:
        raise WrongUse(f"k {k!r}", todo="ask for at least 1 memory")
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


def candidates(view: View, policy: Policy, exclude: AbstractSet[int]) -> Rows | None:
    """The rows that may compete; None for all of them."""
    allowed = view.alive
    if policy.without_tags or policy.without_words:
        allowed = allowed & view.competing(policy)
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
    return tuple(map(ScoredMemory, memories, ranks, totals, scores.parts.at(positions)))
