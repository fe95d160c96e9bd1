"""The memory stream of one character, and the draft that one turn adds to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.memory.bm25 import Analyser, shared_analyser
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Embedder, Vector, default_embedder
from commonplace.memory.importance import RuleRater
from commonplace.memory.policies import Policy
from commonplace.memory.reader import Reader, Snapshot
from commonplace.memory.record import (
    Emotion,
    Memory,
    MemoryFields,
    Rater,
    checked_ids,
    checked_importance,
    checked_policy,
    checked_time,
)
from commonplace.memory.records import StoredRows
from commonplace.memory.reflection import after, since_reflection
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.store import (
    Keeper,
    Progress,
    Store,
    checked_agent,
    reembedded,
    refuse_other_embedder,
    settings_of,
)
from commonplace.memory.table import MemoryTable, View
from commonplace.memory.threads import locked


@dataclass(frozen=True, slots=True)
class Delta:
    """What a turn adds to its character's stream, as a value: `Draft.delta`, applied by `MemoryStream.apply`."""

    base: int
    """The last id of the stream it extends."""
    memories: tuple[Memory, ...]
    vectors: tuple[Vector | None, ...]
    """One per memory."""
    touched: tuple[int, ...]
    """Ids retrieved, ascending, each once."""
    touched_at: datetime | None
    """Their new access time: that of the latest retrieval; None if nothing was retrieved."""


class MemoryStream(Reader):
    """Everything one character remembers, in RAM; `open` adds a store that keeps it.

    `rater` is any callable from a text to an importance of 1–10. Any number of threads may use a stream.
    """

    def __init__(
        self,
        agent: str,
        policy: Policy = policies.RECALL,
        *,
        embedder: Embedder | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
    ) -> None:
        analyser = analyser or shared_analyser("en")
        self.agent = agent
        self.policy = checked_policy(policy)
        self.table = MemoryTable(agent, embedder or default_embedder(), rater or RuleRater(analyser.language), analyser)
        """For this package: what the stream, its draft and its snapshots share."""
        self.guard = self.table.guard
        self._since = 0.0  # importance since the last reflection
        self._archived: set[int] = set()
        self._keeper: Keeper | None = None

    @classmethod
    def open(
        cls,
        where: str | Path | Store,
        agent: str,
        policy: Policy = policies.RECALL,
        *,
        embedder: Embedder | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
        reembed: bool = False,
        progress: Progress | None = None,
    ) -> MemoryStream:
        """A character's stream in a store: a path or URL that `open_store` accepts, or an open store.

        When `remember`, `forget`, `archive`, `unarchive`, `revise` or `apply` returns, the store has the change;
        accesses are written with the next of them, by `flush` and by `close`. Close the stream, or use it in a `with`
        statement; a store that was given open stays open. `analyser`: None for the one the stream was made with.
        `reembed`: if another embedder made the vectors, make them again, reporting to `progress`. Raises UsageError if
        another embedder made them and `reembed` is False, and for a store that cannot be used; CommonplaceError for a
        damaged one.
        """
        store = open_store(where) if isinstance(where, str | Path) else where
        own = store is not where
        try:
            stored = store.load(checked_agent(agent))
            analyser = analyser or shared_analyser(stored.settings.get("language", "en"))
            embedder = embedder or default_embedder()
            if reembed and stored.memories:
                stored = reembedded(store, agent, stored, embedder, analyser.language, progress)
            refuse_other_embedder(stored.settings, embedder, store.where)
            stream = cls.restore(
                agent,
                stored.memories,
                stored.vectors,
                forgotten=stored.forgotten,
                archived=stored.archived,
                policy=policy,
                embedder=embedder,
                rater=rater,
                analyser=analyser,
            )
        except BaseException:
            if own:
                store.close()
            raise
        stream._keeper = Keeper(store, agent, settings_of(embedder, analyser.language), own=own)
        return stream

    @classmethod
    def restore(
        cls,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None],
        *,
        accesses: Mapping[int, datetime] | None = None,
        forgotten: Iterable[int] = (),
        archived: Iterable[int] = (),
        **parts: Any,
    ) -> MemoryStream:
        """A stream from stored memories: all of them in the order of their ids, forgotten ones included.

        `vectors`: one per memory, as `vector` returned it. `accesses`: id → last access, where `accessed_at` is older.
        `forgotten`, `archived`: ids. `parts`: the arguments of `MemoryStream`. Raises UsageError unless ids are
        1, 2, 3 …
        """
        stream = cls(agent, **parts)
        for expected, memory in enumerate(memories, start=1):
            if memory.id != expected:
                raise UsageError(
                    f"memory {memory.id} is out of place; expected memory {expected}",
                    hint="give all memories, ordered by id",
                )
        if len(vectors) != len(memories):
            raise UsageError(
                f"there are {len(vectors)} vectors for {len(memories)} memories", hint="give a vector or None for each"
            )
        stream.table.extend(memories, vectors)
        stream.table.commit()
        for id, at in (accesses or {}).items():
            stream.table.touch([id], at)
        return stream._without(forgotten, archived)

    @classmethod
    def load(cls, agent: str, rows: StoredRows, *, forgotten: Iterable[int] = (), **parts: Any) -> MemoryStream:
        """A stream from stored columns, as `restore` makes it from memories. None becomes an object until it is read.

        `forgotten`, `parts`: as of `restore`.
        """
        stream = cls(agent, **parts)
        stream.table.load(rows)
        return stream._without(forgotten)

    def _without(self, forgotten: Iterable[int], archived: Iterable[int] = ()) -> MemoryStream:
        """The stream that was just filled, without what is gone."""
        self._archived = set(archived)
        gone = self._known({*forgotten, *self._archived})
        if gone:
            self.table.remove(gone)
        self._since = since_reflection(self._view())
        return self

    @locked
    def remember(
        self,
        text: str,
        *,
        at: datetime,
        importance: float | None = None,
        kind: str = "observation",
        place: Sequence[str] = (),
        citations: Sequence[int] = (),
        embedding: Sequence[float] | Vector | None = None,
        tick: int = 0,
        emotion: Emotion | None = None,
        source: str = "",
        session: str = "",
        tags: Sequence[str] = (),
        event: str = "",
        details: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Adds a memory and returns it with its id; it can be retrieved at once.

        `text` is cleaned; one longer than 2,000 characters is cut, and kept whole in `details["full_text"]`.
        `metadata` becomes part of `details`. `importance` is clamped to 1–10, or rated if None. `embedding` is kept as
        given; one of another size or with a NaN in it counts as none. Raises UsageError for an empty text, an
        importance or embedding that is not a number, an unknown kind, an observation or action with citations, a
        reflection without citations, and citations of memories that do not exist.
        """
        self.table.cut()
        memory = self.table.remember(
            text,
            at,
            importance=importance,
            kind=kind,
            place=place,
            citations=citations,
            embedding=embedding,
            tick=tick,
            emotion=emotion,
            source=source,
            session=session,
            tags=tags,
            event=event,
            details=details,
            metadata=metadata,
        )
        self._commit([memory])
        return memory

    @locked
    def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Removes memories for good; returns the ids that were still there. Ids are never used again.

        From then on the stream scores as if the memories had never existed. Raises UsageError for an id that was never
        used.
        """
        there = self._chosen(ids, lambda id: id in self.table or id in self._archived)
        if there:
            if self._keeper is not None:
                self._keeper.remove(there)
            self.table.remove(there)
            self._archived.difference_update(there)
            self._since = since_reflection(self._view())
        return there

    @locked
    def archive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Archives memories until `unarchive`; returns the ids that existed.

        An archived memory is neither retrieved nor found. Raises UsageError for an id that was never used.
        """
        there = self._chosen(ids, self.table.__contains__)
        if there:
            if self._keeper is not None:
                self._keeper.archive(there)
            self.table.remove(there)
            self._archived.update(there)
            self._since = since_reflection(self._view())
        return there

    @locked
    def unarchive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Restores archived memories; returns the ids that were archived. Raises UsageError as `archive`."""
        there = self._chosen(ids, self._archived.__contains__)
        if there:
            if self._keeper is not None:
                self._keeper.restore(there)
            self.table.unarchive(there)
            self._archived.difference_update(there)
            self._since = since_reflection(self._view())
        return there

    @property
    @locked
    def archived(self) -> tuple[Memory, ...]:
        """The archived memories, oldest first."""
        view = self._view()
        return tuple(view.memory(id - 1) for id in sorted(self._archived))

    @locked
    def revise(self, id: int, *, importance: float | None = None, details: Mapping[str, Any] | None = None) -> Memory:
        """Changes the importance (clamped to 1–10) or the details of a memory, and returns it.

        None leaves a field unchanged; `details` replace the old ones. Raises UsageError as `get` and `remember`.
        """
        memory = self.get(id)
        if importance is not None:
            memory = replace(memory, importance=checked_importance(importance))
        if details is not None:
            whole = {"full_text": memory.full_text} if "full_text" in memory.details else {}
            memory = replace(memory, details={**details, **whole})
        self.table.cut()
        if self._keeper is not None:
            self._keeper.update(memory)
        self.table.replace(memory)
        self._since = since_reflection(self._view())
        return memory

    @locked
    def apply(self, delta: Delta) -> None:
        """Adds what a draft added, and touches what it touched. Raises UsageError if the stream has changed since."""
        table = self.table
        if delta.base != table.committed:
            raise UsageError(
                f"the delta was made at memory {delta.base}, but the stream of {self.agent} is at {table.committed}",
                hint="apply deltas in the order their drafts were made",
            )
        # the rows of the draft are still there, unless another reader or process applies its delta
        pending = table.records(delta.base)
        if len(pending) != len(delta.memories) or any(a is not b for a, b in zip(pending, delta.memories, strict=True)):
            table.cut()
            for memory, vector in zip(delta.memories, delta.vectors, strict=True):
                table.append(memory, vector)
        self._commit(delta.memories)
        if delta.touched and delta.touched_at is not None:
            self._touch(delta.touched, delta.touched_at)

    @locked
    def snapshot(
        self, length: int | None = None, accessed: Sequence[datetime] | NDArray[np.int64] | None = None
    ) -> Snapshot:
        """The stream as it is now, or as it was with `length` memories, last accessed at these times.

        `accessed`: moments, or microseconds since the year 1. Raises UsageError for more memories than there are, and
        unless each has an access time.
        """
        length = self.last_id if length is None else length
        if accessed is None:
            times = self.table.accessed[:length].copy()
        elif isinstance(accessed, np.ndarray):
            times = accessed
        else:
            times = np.array([micros(checked_time(at)) for at in accessed], dtype=np.int64)
        if not 0 <= length == len(times) <= self.last_id:
            raise UsageError(
                f"a snapshot cannot have {length} memories and {len(times)} access times",
                hint=f"give up to {self.last_id} memories and an access time for each",
            )
        return Snapshot(self.table, length, times, self.policy)

    @locked
    def importance_since_reflection(self) -> float:
        """Sum of the importance of observations and actions after the last reflection."""
        return self._since

    @locked
    def weights(self) -> dict[str, float]:
        """Every text remembered, with the importance it was first given."""
        table, found = self.table, dict[str, float]()
        alive = np.flatnonzero(table.alive[: table.committed])
        _, first = np.unique(table.saying[alive], return_index=True)
        for row in np.sort(alive[first]).tolist():
            found.setdefault(table.sayings.texts[table.saying[row]], float(table.importance[row]))
        return found

    @locked
    def flush(self) -> None:
        """Writes the latest accesses to the store."""
        if self._keeper is not None:
            self._keeper.flush()

    @locked
    def close(self) -> None:
        """Flushes, and closes the store if the stream opened it. May be called twice."""
        if self._keeper is not None:
            self._keeper.close()

    def __enter__(self) -> MemoryStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _commit(self, memories: Sequence[Memory]) -> None:
        """Makes the rows behind the committed ones, which hold these memories, part of the store and the stream."""
        if self._keeper is not None and memories:
            vectors = [self.table.vector(memory.id - 1) for memory in memories]
            try:
                self._keeper.append(memories, vectors)
            except BaseException:
                self.table.cut()
                raise
        self.table.commit()
        for memory in memories:
            self._since = after(self._since, memory)

    def _chosen(self, ids: Iterable[int], there: Callable[[int], bool]) -> tuple[int, ...]:
        """The ids that pass the test, ascending. Closes an open draft."""
        wanted = self._known(ids)
        self.table.cut()
        return tuple(id for id in wanted if there(id))

    def _known(self, ids: Iterable[int]) -> list[int]:
        """The ids in ascending order, each once. Raises UsageError for one that was never used."""
        wanted = sorted(checked_ids(ids))
        for id in wanted:
            if not 1 <= id <= self.last_id:
                raise UsageError(f"there is no memory {id}", hint=f"ids go from 1 to {self.last_id}")
        return wanted

    def _touch(self, ids: Sequence[int], at: datetime) -> None:
        self.table.touch(ids, at)
        if self._keeper is not None:
            self._keeper.touch(ids, at)

    def _touched(self, found: Retrieval) -> Retrieval:
        self.table.cut()
        self._touch(found.ids, found.at)
        return replace(found, accessed=(micros(found.at),) * len(found))

    def _view(self) -> View:
        return View(self.table, self.table.committed)


class Draft(Reader):
    """What one turn adds to a stream; read like the stream, and part of it only when applied.

    Memories get their final ids at once and can be retrieved and cited at once. All retrievals score against the
    access times the stream had when the draft was made; the new ones are collected in `delta`. Until `apply` the stream
    shows nothing of a draft, and a draft that is dropped leaves no trace.

    A stream has one draft at a time: making another, or changing the stream, closes this one, and using it afterwards
    raises UsageError.
    """

    def __init__(self, stream: MemoryStream) -> None:
        self.policy = stream.policy
        self._table = stream.table
        self.guard = stream.guard
        with self.guard:
            self._table.cut(self)
            self._base = self._table.committed
            self._since = self._since_before = stream.importance_since_reflection()
        self._ids_touched: set[int] = set()
        self._touched_at: datetime | None = None
        self._latest_view: View | None = None

    @locked
    def remember(self, text: str, *, at: datetime, **fields: Unpack[MemoryFields]) -> Memory:
        """Adds a memory; arguments and errors as of `MemoryStream.remember`."""
        self._check_open()
        memory = self._table.remember(text, at, **fields)
        self._since = after(self._since, memory)
        return memory

    @locked
    def weigh(self, weights: Mapping[int, tuple[float, Emotion | None]]) -> None:
        """Sets the importance (1–10) and the emotion of memories of this draft, rated after they were added.

        Raises UsageError for a memory that is not the draft's own.
        """
        self._check_open()
        for id, (importance, emotion) in weights.items():
            if not self._base < id <= self._table.length:
                raise UsageError(f"memory {id} is not part of the draft", hint="weigh memories this draft has added")
            memory = self._table.record(id - 1)
            self._table.replace(replace(memory, importance=checked_importance(importance), emotion=emotion))
        self._since = reduce(after, self.added, self._since_before)

    @locked
    def touch(self, ids: Iterable[int], *, at: datetime) -> None:
        """Counts memories as accessed once the draft is applied: those a deferred job retrieved earlier."""
        self._check_open()
        fresh = tuple(ids)
        if fresh:
            self._ids_touched.update(fresh)
            self._touched_at = max(self._touched_at or at, at)

    @locked
    def importance_since_reflection(self) -> float:
        """What the stream's will be once the draft is applied."""
        self._check_open()
        return self._since

    @property
    @locked
    def added(self) -> tuple[Memory, ...]:
        """The memories added so far."""
        self._check_open()
        return tuple(self._table.records(self._base))

    @property
    @locked
    def delta(self) -> Delta:
        """Everything so far, as a value that outlives the draft."""
        memories = self.added
        vectors = tuple(self._table.vector(memory.id - 1) for memory in memories)
        return Delta(self._base, memories, vectors, tuple(sorted(self._ids_touched)), self._touched_at)

    @locked
    def discard(self) -> None:
        """Closes the draft. Optional: the stream's next change does it."""
        if self._table.writer is self:
            self._table.cut()

    def _view(self) -> View:
        """Made anew only when the draft has grown: nothing else about its table changes while it is open."""
        self._check_open()
        length = self._table.length
        if self._latest_view is None or self._latest_view.length != length:
            self._latest_view = View(self._table, length)
        return self._latest_view

    def _touched(self, found: Retrieval) -> Retrieval:
        self.touch(found.ids, at=found.at)
        return found

    def _check_open(self) -> None:
        if self._table.writer is not self:
            raise UsageError(
                f"the draft of {self._table.agent} at memory {self._base} is closed",
                hint="a stream has one draft at a time; make a new one after applying or changing the stream",
            )
