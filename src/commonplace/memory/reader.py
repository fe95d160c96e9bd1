"""What a stream, a draft and a snapshot can be asked. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import chain, islice
from threading import RLock
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import UsageError
from commonplace.memory.columns import micros
from commonplace.memory.embedding import NOT_EMBEDDED, Vector, query_vectors, usable
from commonplace.memory.explain import WhyNot, explain, why_not
from commonplace.memory.policies import Policy, compares_vectors
from commonplace.memory.record import (
    Memory,
    checked_count,
    checked_ids,
    checked_policy,
    checked_share,
    checked_string,
    checked_time,
    checked_vector,
)
from commonplace.memory.reflection import since_reflection
from commonplace.memory.retrieval import Options, Retrieval, RetrievalQuery, retrieve
from commonplace.memory.scoring import ScoredMemory
from commonplace.memory.search import Filters, matching
from commonplace.memory.table import KIND_CODES, MemoryTable, View
from commonplace.memory.threads import in_thread, locked
from commonplace.text import NotebookText, clean, html_table

SHOWN = 10
"""Memories that a notebook shows of a stream: the latest."""
_FEW, _AT_ONCE = 8, 64
"""Memories that `weightiest` reads at once, and `backwards` at most."""


class Reader:
    """A sequence of memories, oldest first, without those forgotten or archived."""

    guard: RLock
    """Held while anything is read or written: any number of threads may ask."""
    policy: Policy
    """How to retrieve when a call names no policy."""
    live = False
    """Whether it is the stream itself: hits are last accessed as soon as they are found, and a question that the
    embedder fails on is answered without its vector. Where history depends on the answer, in a draft and a snapshot,
    the embedder's error is raised."""

    def _view(self) -> View:
        """Returns the rows this reader sees."""
        raise NotImplementedError

    def _touched(self, found: Retrieval) -> None:
        """Records the access of the hits."""

    def retrieve(
        self,
        query: str,
        *,
        at: datetime | None = None,
        k: int | None = None,
        policy: Policy | None = None,
        purpose: str = "",
        touch: bool = True,
        max_tokens: int | None = None,
        exclude: AbstractSet[int] = frozenset(),
        embedding: Vector | None = None,
        min_relevance: float | None = None,
        collapse: bool = False,
        current: bool = False,
        **filters: Unpack[Filters],
    ) -> Retrieval:
        """Returns the best k memories (default: the policy's) as of `at`, best first, with every part of every score.

        `at`: now, by the clock of this machine, if None; a draft and a snapshot need a time. Memories created after it
        do not compete, nor do those that fail one of the `filters`, which are those of `search`. Unless `touch` is
        False, the hits become last accessed at `at`: in a stream at once, in a draft when it is applied, in a snapshot
        never. `max_tokens` (counted by `estimate_tokens`): the best k that fit, each into what the better ones left.
        `exclude`: ids that do not compete. `embedding`: the query's vector, if it has been made already, float32 of the
        stream's dimensions; it is used without a query, too. `min_relevance`: only hits of at least this
        `ScoredMemory.relevance`, 0–1. `collapse`: of memories that say the same in nearly the same words only the best
        is a hit; its `ScoredMemory.repeats` has the ids of the others. `current`: what is not true at `at` comes after
        what is true in its place, which takes its rank if that is better; where no link says so, what was said later of
        what is asked comes first. An empty query brings the newest k. Raises UsageError for an argument of the wrong
        type, for k below 1, for a filter as `search` does, and in a stream for an embedding as `remember`.
        """
        policy = self.policy if policy is None else checked_policy(policy)
        question = RetrievalQuery(
            text=clean(checked_string("query", query)),
            at=self._moment(at),
            policy=policy,
            k=policy.k if k is None else checked_count("k", k, 1),
            purpose=purpose,
            max_tokens=None if max_tokens is None else checked_count("max_tokens", max_tokens, 0),
            exclude=frozenset(checked_ids(exclude) if exclude else ()),
            vector=self._vector(embedding),
            min_relevance=0.0 if min_relevance is None else checked_share("min_relevance", min_relevance),
            collapse=collapse,
            filters=filters,
            current=current,
        )
        return self._answer(question, touch=touch)

    def recall_many(
        self, queries: Iterable[str], *, at: datetime | None = None, **options: Unpack[Options]
    ) -> list[list[ScoredMemory]]:
        """Returns the hits of `recall` for each question, all of one time, in the order of the questions.

        They are those of one call each; but a stream in RAM has its embedder embed all questions at once. Raises
        UsageError as `recall`, and for an `embedding`.
        """
        if options.get("embedding") is not None:
            raise UsageError("recall_many takes no embedding", hint="call `recall` for each question and its embedding")
        texts = [clean(checked_string("query", query)) for query in queries]
        at, policy = self._moment(at), options.get("policy") or self.policy
        made: Mapping[str, tuple[Vector | None, str]] = {}
        if self.live:
            made = self._embedded([*dict.fromkeys(texts)], policy)
        size = self._view().table.embedder.dimensions if made else 0
        vectors = {text: one if usable(one, size)[1] is not None else NOT_EMBEDDED for text, (one, _) in made.items()}
        each: list[Options] = [{**options, "embedding": vectors.get(text)} for text in texts]
        with self.guard:
            return [self.recall(text, at=at, **one) for text, one in zip(texts, each, strict=True)]

    def _moment(self, at: datetime | None) -> datetime:
        """Returns the time of a call, in UTC. Raises UsageError."""
        return checked_time(at)

    def _vector(self, given: Vector | None) -> Vector | None:
        """Returns the vector of a call. Raises UsageError."""
        return checked_vector(given)

    def _answer(self, query: RetrievalQuery, *, touch: bool) -> Retrieval:
        made, failed = None, ""
        if query.vector is None and self.live:
            found = self._embedded([query.text], query.policy)  # before anything is locked: it may take seconds
            made, failed = found.get(query.text, (None, ""))
        with self.guard:
            found = retrieve(self._view(), query, made, failed, touches=touch and self.live)
            if touch:
                self._touched(found)
            return found

    def _embedded(self, texts: Sequence[str], policy: Policy) -> Mapping[str, tuple[Vector | None, str]]:
        """Returns question → (its vector, how the embedder failed) for those that are not empty, if the policy reads
        vectors."""
        embedder, asked = self._view().table.embedder, [text for text in texts if text]
        return query_vectors(embedder, asked) if asked and compares_vectors(policy, embedder) else {}

    def recall(self, query: str, *, at: datetime | None = None, **options: Unpack[Options]) -> list[ScoredMemory]:
        """Returns the hits of `retrieve`, with the same arguments."""
        return list(self.retrieve(query, at=at, **options).hits)

    def explain(self, hits: Iterable[ScoredMemory]) -> NotebookText:
        """Returns a table of the hits with every part of every score."""
        return explain(hits)

    @locked
    def why_not(self, id: int, retrieval: Retrieval) -> WhyNot:
        """Returns why the memory is not among the hits of a retrieval made here. Raises UsageError if `id` is not an
        id."""
        return why_not(self._view(), checked_ids([id])[0], retrieval)

    @locked
    def search(self, *, limit: int | None = None, **filters: Unpack[Filters]) -> list[Memory]:
        """Returns the memories that pass every given filter, latest first, at most `limit`. Touches nothing.

        `filters`: see `Filters`. Raises UsageError as it says.
        """
        view = self._view()
        there, tests = matching(view, filters)
        latest = (view.memory(row) for row in np.flatnonzero(there)[::-1].tolist())
        found = (memory for memory in latest if all(test(memory) for test in tests))
        return list(islice(found, None if limit is None else checked_count("limit", limit, 0)))

    aretrieve = in_thread(retrieve)
    arecall = in_thread(recall)
    arecall_many = in_thread(recall_many)
    asearch = in_thread(search)

    @property
    @locked
    def last_id(self) -> int:
        """The id of the latest memory, forgotten or not; 0 before the first."""
        return self._view().length

    @locked
    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._view().table.agent}: {len(self):,} memories>"

    def _repr_html_(self) -> str:
        latest = list(self)[-SHOWN:]
        rows = [(one.id, f"{one.created_at:%Y-%m-%d %H:%M}", one.kind, one.importance, one.text) for one in latest]
        note = f"the latest {len(latest)} of {len(self):,} memories of {self._view().table.agent}"
        return html_table(("id", "created at", "kind", "importance", "text"), rows, note)

    @locked
    def __len__(self) -> int:
        """Returns how many memories there are, without those forgotten or archived."""
        return int(np.count_nonzero(self._view().alive))

    @locked
    def __iter__(self) -> Iterator[Memory]:
        view = self._view()
        return iter([view.memory(row) for row in np.flatnonzero(view.alive).tolist()])

    @locked
    def __contains__(self, id: object) -> bool:
        """Returns whether there is a memory of this id, neither forgotten nor archived."""
        view = self._view()
        return isinstance(id, int | np.integer) and bool(1 <= id <= view.length and view.alive[id - 1])

    @locked
    def get(self, id: int) -> Memory:
        """Returns the memory of this id. Raises UsageError if it does not exist or is forgotten."""
        found = self._found_by_id(id)
        if found is None:
            hint = f"ids go from 1 to {self.last_id}; some may be forgotten"
            raise UsageError(f"there is no memory {id!r}", hint=hint)
        return found

    @locked
    def _found_by_id(self, id: int) -> Memory | None:
        return self._view().memory(id - 1) if id in self else None

    @locked
    def recent(self, n: int) -> list[Memory]:
        """Returns the n latest memories, latest first. Raises UsageError for n below 0."""
        return list(islice(self._latest(), checked_count("n", n, 0)))

    @locked
    def first(self, n: int) -> list[Memory]:
        """Returns the n earliest memories, oldest first, `accessed_at` as they were added. Raises UsageError for n
        below 0."""
        view, count = self._view(), checked_count("n", n, 0)
        return view.table.records_of(view.alive.nonzero()[0][:count].tolist())

    @locked
    def vector(self, id: int) -> Vector | None:
        """Returns the embedding, float32 of shape (dimensions,); None if it is not usable. Raises UsageError as
        `get`."""
        self.get(id)
        return self._view().table.vector(id - 1)

    @locked
    def importance_since_reflection(self) -> float:
        """Returns the sum of the importance of observations and actions after the last reflection."""
        return since_reflection(self._view())

    @locked
    def importance_since(self, at: datetime) -> float:
        """Returns the same sum, of memories created at `at` or later."""
        return since_reflection(self._view(), micros(checked_time(at)))

    def backwards(self) -> Iterator[Memory]:
        """Returns the memories as they were added, latest first. Fast, because `accessed_at` is not brought up to
        date."""
        with self.guard:
            view = self._view()
        return self._backwards(view)

    def _backwards(self, view: View) -> Iterator[Memory]:
        """Reads a few at a time, more each time: callers usually stop early."""
        end, count = view.length, 2
        while end:
            with self.guard:
                rows = range(end - 1, max(0, end - count) - 1, -1)
                some = view.table.records_of([row for row in rows if view.alive[row]])
            yield from some
            end, count = max(0, end - count), min(2 * count, _AT_ONCE)

    @locked
    def since(self, at: datetime, kind: str, says: Callable[[str], bool] | None = None) -> Iterator[Memory]:
        """Returns the memories of a kind created at `at` or later whose text passes, oldest first, `accessed_at` as
        they were added. Texts are tested before memories are made of rows."""
        table, found = self._view().table, self._rows_since(at, kind)
        rows: list[int] = found.tolist()
        if says is not None:
            texts = table.sayings.texts
            numbers: list[int] = table.saying[found].tolist()
            passed = {number: says(texts[number]) for number in dict.fromkeys(numbers)}
            rows = [row for row, number in zip(rows, numbers, strict=True) if passed[number]]
        return iter(table.records_of(rows))

    @locked
    def weightiest(self, at: datetime, kind: str) -> tuple[Iterator[Memory], int]:
        """Returns the memories of a kind created at `at` or later, the most important first, of these the latest, made
        as they are read; and how many there are. `accessed_at` as they were added."""
        table, found = self._view().table, self._rows_since(at, kind)
        rows = found[np.lexsort((found, table.importance[found]))[::-1]]
        few = (table.records_of(rows[start : start + _FEW].tolist()) for start in range(0, len(rows), _FEW))
        return chain.from_iterable(few), len(rows)

    def _rows_since(self, at: datetime, kind: str) -> NDArray[np.intp]:
        view, began = self._view(), micros(checked_time(at))
        table, length = view.table, view.length
        wanted = (table.created[:length] >= began) & (table.kind[:length] == KIND_CODES[kind]) & view.alive
        return wanted.nonzero()[0]

    @locked
    def earliest(self, says: Callable[[str], bool]) -> int | None:
        """Returns the id of the first memory whose text passes; None if there is none.

        Each text is tested once in the life of the stream, so `says` must always answer the same for it.
        """
        view = self._view()
        rows = np.flatnonzero(view.table.that_say(says, view.length) & view.alive)
        return int(rows[0]) + 1 if len(rows) else None

    def _latest(self) -> Iterator[Memory]:
        view = self._view()
        return (view.memory(row) for row in np.flatnonzero(view.alive)[::-1].tolist())


class Snapshot(Reader):
    """The memories and access times of a moment, unaffected by later changes; recalling from it touches nothing.

    Made by `MemoryStream.snapshot`, for a job that is asked now and delivered later. It costs a copy of the access
    times; the rest is shared.
    """

    def __init__(self, table: MemoryTable, length: int, accessed: NDArray[np.int64], policy: Policy) -> None:
        self.policy = policy
        self.guard = table.guard
        self._fixed = View(table, length, accessed)

    def _view(self) -> View:
        return self._fixed
