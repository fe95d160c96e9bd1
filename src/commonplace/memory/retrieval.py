"""Retrieval: from a question to the memories it brings back, with every part of every score.

`retrieve` picks the candidates, has `scoring` score them, and takes the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import count, repeat
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.memory.blend import COMPARED
from commonplace.memory.columns import UNIT, Floats, Indices, micros, moment
from commonplace.memory.embedding import Vector
from commonplace.memory.policies import Policy
from commonplace.memory.record import Memory, accessed
from commonplace.memory.repeats import first_of_each
from commonplace.memory.scoring import (
    MEASURED,
    Breakdown,
    Candidates,
    Part,
    Parts,
    ScoredMemory,
    Scores,
    Spreads,
    best,
    days_named,
    full_marks,
    parts_json,
    score_candidates,
)
from commonplace.memory.search import Filters, matching
from commonplace.memory.table import View
from commonplace.memory.truth import BEST, Truth

BY_WORDS = -1.4, 6.3
"""The logit of a retrieval's confidence by words alone: a constant, and the relevance by words of the best hit."""
BY_MEANING = -4.6, 1.6, 18.5
"""The same where an embedder knows meaning: also how far the highest cosine is above the mean of the others, as a share
of what is left up to 1. Both by logistic regression: `python benchmarks/recall_quality.py --fits` measures them."""
LEAST_CONFIDENCE = 0.5


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
    collapse: bool
    current: bool


class RetrievalQuery(NamedTuple):
    """A question to a stream: the arguments of `retrieve`, checked."""

    text: str
    """Cleaned; empty to have the newest."""
    at: datetime
    policy: Policy
    k: int
    purpose: str
    max_tokens: int | None
    exclude: frozenset[int]
    vector: Vector | None
    """The one the caller gave."""
    min_relevance: float
    filters: Filters
    collapse: bool = False
    current: bool = False


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
    repeats: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, "tuple[int, ...]"])
    """With `collapse`: id of a hit → those that only say the same and would have been hits too, best first."""
    current: bool = False
    """Whether what is not true at `at` was lowered."""
    notes: Mapping[int, str] = field(default_factory=dict[int, str])
    """With `current`: id of a hit that is not true at `at` → what supersedes it, or when it is valid, in words."""
    measure: Relevance | None = field(default=None, compare=False, repr=False)
    """What `ScoredMemory.relevance` is computed with."""
    _hits: list[ScoredMemory] = field(init=False, compare=False, repr=False, default_factory=list[ScoredMemory])

    @property
    def hits(self) -> tuple[ScoredMemory, ...]:
        """The memories, `accessed_at` as of then, with their scores; made when they are first asked for."""
        if not self._hits and self.found:
            moments = {since: moment(since) for since in {*self.accessed}}  # those touched together have one
            then = map(accessed, self.found, map(moments.__getitem__, self.accessed))
            repeats = map(self.repeats.get, self.ids, repeat(())) if self.repeats else repeat(())
            parts = map(partial(Parts, self.breakdown, self.measure and self.measure.of), count(), repeats)
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

    @property
    def confidence(self) -> float | None:
        """How likely it is, 0–1, that the best hits are about what is asked, judged by how well they fit.

        Calibrated so that at 0.5 a question is as likely to be one that nothing here answers. None for the newest, and
        for a policy that compares vectors alone, whose cosines mean something else for every model.
        """
        if self.measure is None or self.policy.relevance == "cosine":
            return None
        return self.measure.confidence(self)

    @property
    def fits(self) -> bool:
        """Whether some hit seems to be about what is asked: `confidence` of at least 0.5, or None."""
        return self.confidence is None or self.confidence >= LEAST_CONFIDENCE

    def trace(self) -> dict[str, Any]:
        """Returns the retrieval as JSON stores it in a trace: memories by id, every part of every score."""
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
    view: View, query: RetrievalQuery, made: Vector | None = None, query_error: str = "", *, touches: bool = False
) -> Retrieval:
    """Returns the best k of the view that fit into `max_tokens` together.

    `made`: the vector that the embedder has made of the question already; `query_error`: how it failed. `touches`:
    whether the hits are last accessed at `at`, which the caller records.
    """
    text, at, policy, k, purpose, max_tokens, exclude, given, min_relevance, filters, collapse, current = query
    truth = Truth(view, at) if current else None
    among = candidates(view, policy, exclude, at, filters)
    count = among.size
    asked = bool(text) or given is not None
    best_of = max(k, BEST if current else 0)
    best_of = best_of if max_tokens is None and min_relevance <= 0 and not (collapse or truth) else None
    scores = None
    if asked and count:
        scores = scored(among, text, given if made is None else made, None, best_of, truth)
    measure = Relevance(among, text) if asked else None
    if scores and measure and min_relevance > 0:
        fitting = measure.of_all(scores)
        fitting = truth.inherited(scores.of, fitting) if truth else fitting
        scores = scores.only(np.flatnonzero(fitting >= min_relevance))
    if scores:
        among, count = scores.of, scores.candidates
    totals = scores.totals if scores else np.zeros(count)
    if truth and not scores:
        totals[truth.invalid_among(among)] = -1
    most = k if max_tokens is None else None
    ranked = best(totals, view.table.created, None if collapse else most, among.rows)
    groups: dict[int, list[int]] = {}
    if collapse:
        groups = first_of_each(ranked.tolist(), lambda position: view.table.record(among.row(position)), most)
        ranked = np.array(list(groups), dtype=np.intp)
    if max_tokens is not None:
        ranked = _fitting(ranked, among.take(view.table.tokens), k, max_tokens)
    chosen = ranked if among.rows is None else among.rows[ranked]
    found = view.table.records_of(chosen.tolist())
    return Retrieval(
        purpose=purpose,
        query=text,
        policy=policy,
        k=k,
        at=at,
        candidates=count,
        excluded=tuple(sorted(exclude)),
        length=view.length,
        chosen_by="score" if asked else "newest",
        found=tuple(found),
        accessed=(micros(at),) * len(chosen) if touches else tuple(view.accessed[chosen].tolist()),
        scores=tuple((totals[ranked] * UNIT).tolist()),
        spreads=scores.spreads if scores else {},
        unusable=scores.unusable if scores else {},
        breakdown=scores.breakdown(ranked) if scores else None,
        vector=made if query_error else given,
        query_error=query_error,
        filters=filters,
        min_relevance=min_relevance,
        repeats={
            among.row(one) + 1: tuple([among.row(other) + 1 for other in groups[one]])
            for one in (ranked.tolist() if groups else ())
            if groups[one]
        },
        current=current,
        notes={one.id: note for one in found if (note := truth.note(one.id))} if truth else {},
        measure=measure,
    )


def scored(
    among: Candidates,
    text: str,
    vector: Vector | None,
    spreads: Spreads | None,
    best_of: int | None = None,
    truth: Truth | None = None,
) -> Scores:
    """Returns the scores of at least one candidate, as `score_candidates`; with `truth`, in the places it gives
    them."""
    scores = score_candidates(among, text, vector, spreads, best_of)
    if truth is None:
        return scores
    if truth and among.policy.nearest:  # what supersedes one of the nearest competes with them
        count, every = scores.candidates, np.arange(among.view.length)
        rows = np.array(sorted(truth.successors(scores.of)), dtype=np.intp) - 1
        rows = np.intersect1d(np.union1d(rows, scores.of.take(every)), among.take(every))
        nearest = among._replace(rows=rows, policy=replace(among.policy, nearest=0))
        scores = score_candidates(nearest, text, vector, scores.spreads)._replace(candidates=count)
    return truth.placed(scores, text)


def candidates(view: View, policy: Policy, exclude: AbstractSet[int], at: datetime, filters: Filters) -> Candidates:
    """Returns the memories that may compete, none of them created after `at` or expired by then."""
    now, every = micros(at), Candidates(view, None, at, policy)
    lasting = view.lasting(now)
    if (
        lasting is None
        and not (filters or exclude or policy.without_tags or policy.without_words)
        and view.table.latest <= now
    ):
        return every._replace(rows=view.present())
    allowed, tests = matching(view, filters) if filters else (view.alive, [])
    if view.table.latest > now:
        allowed = allowed & (view.table.created[: view.length] <= now)
    if lasting is not None:
        allowed = allowed & lasting
    if policy.without_tags or policy.without_words:
        allowed = allowed & view.table.competing(policy, view.length)
    inside = [id - 1 for id in exclude if 1 <= id <= view.length]
    if inside:
        allowed = allowed.copy()
        allowed[inside] = False
    if tests:
        rows = np.flatnonzero(allowed)
        record = view.table.record
        return every.only(rows[[all(test(record(row)) for test in tests) for row in rows.tolist()]])
    return every if allowed.all() else every.only(np.flatnonzero(allowed))


class Relevance:
    """How relevant memories are to one question, measured the same way whatever else there is to remember.

    See `ScoredMemory.relevance`.
    """

    def __init__(self, among: Candidates, text: str) -> None:
        self._among = among._replace(rows=None)
        self._text = text

    @property
    def embedder(self) -> str:
        """The name of what made the vectors."""
        return self._among.view.table.embedder.name

    @cached_property
    def _highest(self) -> float:
        """The BM25 score that counts as 1."""
        with self._among.view.table.guard:
            days, rest = days_named(self._among, self._text)
            return full_marks(self._among, rest, days)

    def _top(self, part: str) -> float:
        """Returns the raw value of a part that counts as 1."""
        return self._highest if COMPARED.get(part, self._among.policy.relevance) == "bm25" else 1.0

    def of(self, parts: Mapping[str, Part]) -> float:
        """Returns the relevance of a memory with these parts."""
        each = [(parts[name].raw, self._top(name)) for name in MEASURED if name in parts]
        return max((min(1.0, max(0.0, raw / top)) if top else 0.0 for raw, top in each), default=0.0)

    def confidence(self, found: Retrieval) -> float:
        """Returns `Retrieval.confidence`."""
        name = "lexical" if self._among.policy.relevance == "blend" else "relevance"
        each = [hit.parts[name].raw for hit in found.hits if name in hit.parts]
        if not each:
            return 0.0
        words = min(1.0, max(each) / self._highest) if self._highest else 0.0
        mean, high = found.spreads.get("cosine", (0.0, 0.0))
        if self._among.policy.cosine_from == "mean" and found.candidates > 1 and high > mean:
            others = mean - (high - mean) / (found.candidates - 1)  # the mean without the best
            logit = BY_MEANING[0] + BY_MEANING[1] * words + BY_MEANING[2] * (high - others) / (1 - others)
        else:
            logit = BY_WORDS[0] + BY_WORDS[1] * words
        return round(1 / (1 + math.exp(-logit)), 3)

    def of_all(self, scores: Scores) -> Floats:
        """Returns the relevance of each candidate."""
        found = np.zeros(len(scores.totals))
        for name, raw, scale in zip(scores.names, scores.raw, scores.scales, strict=False):
            if name in MEASURED:
                top = self._top(name)
                np.maximum(found, raw * (scale / top) if top else 0.0, out=found)
        return np.minimum(found, 1.0, out=found)


def _fitting(ranked: Indices, tokens: NDArray[np.int32], k: int, max_tokens: int) -> Indices:
    """Returns the first k of the ranking that each fit into what the better ones left."""
    chosen: list[int] = []
    left = max_tokens
    for position, needed in zip(ranked.tolist(), tokens[ranked].tolist(), strict=True):
        if len(chosen) == k:
            break
        if needed <= left:
            chosen.append(position)
            left -= needed
    return np.array(chosen, dtype=np.intp)
