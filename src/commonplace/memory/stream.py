"""The memory stream of one character: remember, recall, explain, search, forget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack

import numpy as np

from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.memory.analysis import Analyser
from commonplace.memory.analysis import analyser as shared_analyser
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Embedder, Vector, default_embedder
from commonplace.memory.importance import RuleRater
from commonplace.memory.policies import Policy
from commonplace.memory.reader import Reader, Snapshot
from commonplace.memory.record import (
    Emotion,
    Memory,
    MemoryFields,
    accessed,
    checked_ids,
    checked_policy,
    checked_time,
    checked_vector,
    clamped,
)
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
from commonplace.memory.table import MemoryTable, Rater, View

# ── delta ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a turn adds to its character's stream, as a value.


@dataclass(frozen=True, slots=True)
class Delta:
    """Made by `Draft.delta`, applied by `MemoryStream.apply`."""

    base: int
    """The last id of the stream it extends."""
    memories: tuple[Memory, ...]
    vectors: tuple[Vector | None, ...]
    """One per memory."""
    touched: tuple[int, ...]
    """Ids retrieved, ascending, each once."""
    touched_at: datetime | None
    """Their new access time: the latest at which something was retrieved; None if nothing was."""


# ── stream ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class MemoryStream(Reader):
    """Everything one character remembers, in RAM; with a store (`open`) also beyond the life of the process.

    `rater` is any callable from a text to an importance of 1–10. A stream belongs to one thread at a time.
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
        self.rows = MemoryTable(agent, embedder or default_embedder(), rater or RuleRater(analyser.language), analyser)
        """For this package: what the stream, its draft and its snapshots share."""
        self._since = 0.0
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
        """A character's stream in a store: a path or URL as of `open_store`, or a store that is open already.

        When `remember`, `forget`, `archive`, `unarchive`, `revise` or `apply` returns, the store has it; accesses are
        written with the next of them, by `flush` and by `close`. Close it, or use it in a `with` statement; a store
        given open stays open. `analyser`: as the stream was made, if None. `reembed`: if the vectors were made by
        another embedder, make them again (`progress` is told how far it is). Raises UsageError for another embedder
        otherwise, and for a store that cannot be used; CommonplaceError for one that is damaged.
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
        """A stream from what was stored of one: all its memories in the order of their ids, forgotten ones included.

        `vectors`: one per memory, as `vector` gave it. `accesses`: id → last access, for those whose `accessed_at`
        is older. `archived`: ids put away, which can be brought back. `parts`: as of `MemoryStream`. Raises UsageError
        unless ids are 1, 2, 3 …
        """
        stream = cls(agent, **parts)
        for expected, memory in enumerate(memories, start=1):
            if memory.id != expected:
                raise UsageError(f"memory {memory.id} where {expected} should be", hint="give all rows, ordered by id")
        if len(vectors) != len(memories):
            raise UsageError(f"{len(vectors)} vectors for {len(memories)} memories", hint="give one or None for each")
        stream.rows.extend(memories, vectors)
        stream.rows.commit()
        for id, at in (accesses or {}).items():
            stream.rows.touch([id], at)
        stream._archived = set(archived)
        gone = stream._known({*forgotten, *stream._archived})
        if gone:
            stream.rows.remove(gone)
        stream._since = since_reflection(stream._view())
        return stream

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
    ) -> Memory:
        """Adds a memory and gives it back with its id; it can be retrieved at once.

        `text` is cleaned; of more than 2,000 characters the beginning is kept and the whole put into
        `details["full_text"]`. `importance` is clamped to 1–10, or rated if None. `embedding` is kept as given; one of
        another size or with a NaN in it counts as none. Raises UsageError for an empty text, an importance or embedding
        that is no number, a kind there is none of, an observation or action with citations, a reflection without, and
        citations of memories that do not exist.
        """
        self.rows.cut()
        memory = self.rows.remember(
            text,
            at,
            importance=importance,
            kind=kind,
            place=place,
            citations=citations,
            embedding=checked_vector(embedding),
            tick=tick,
            emotion=emotion,
            source=source,
            session=session,
            tags=tags,
            event=event,
            details=details,
        )
        self._commit([memory])
        return memory

    def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Takes memories out for good; gives the ids that were still there. Their ids are not used again.

        From then on the stream scores as if they had never been. Raises UsageError for an id there never was.
        """
        wanted = self._known(ids)
        self.rows.cut()
        there = tuple(id for id in wanted if self.rows.alive(id) or id in self._archived)
        if there:
            if self._keeper is not None:
                self._keeper.remove(there)
            self._take_out(there)
            self._archived.difference_update(there)
        return there

    def archive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Puts memories away until they are brought back; gives the ids that were there.

        Meanwhile they are as if forgotten. Raises UsageError for an id there never was.
        """
        wanted = self._known(ids)
        self.rows.cut()
        there = tuple(id for id in wanted if self.rows.alive(id))
        if there:
            if self._keeper is not None:
                self._keeper.archive(there)
            self._take_out(there)
            self._archived.update(there)
        return there

    def unarchive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Brings memories back from the archive; gives the ids that were in it. Raises UsageError as `archive`."""
        wanted = self._known(ids)
        self.rows.cut()
        there = tuple(id for id in wanted if id in self._archived)
        if there:
            if self._keeper is not None:
                self._keeper.restore(there)
            self.rows.unarchive(there)
            self._archived.difference_update(there)
            self._since = since_reflection(self._view())
        return there

    @property
    def archived(self) -> tuple[Memory, ...]:
        """The memories put away, oldest first."""
        view = self._view()
        return tuple(view.memory(id - 1) for id in sorted(self._archived))

    def revise(self, id: int, *, importance: float | None = None, details: Mapping[str, Any] | None = None) -> Memory:
        """Changes what may change of a memory, and gives it back: its importance (clamped to 1–10), its details.

        None leaves it as it is; `details` take the place of the old ones. Raises UsageError as `get` and `remember`.
        """
        memory = self.get(id)
        if importance is not None:
            memory = replace(memory, importance=clamped(importance))
        if details is not None:
            whole = {"full_text": memory.full_text} if "full_text" in memory.details else {}
            memory = replace(memory, details={**details, **whole})
        self.rows.cut()
        if self._keeper is not None:
            self._keeper.update(memory)
        self.rows.replace(memory)
        self._since = since_reflection(self._view())
        return memory

    def apply(self, delta: Delta) -> None:
        """Makes what a draft added and touched part of the stream. Raises UsageError if the stream has moved on."""
        rows = self.rows
        if delta.base != rows.committed:
            raise UsageError(
                f"a delta made at memory {delta.base} for a stream of {self.agent} at {rows.committed}",
                hint="apply deltas in the order their drafts were made",
            )
        pending = rows.records[delta.base :]
        if len(pending) != len(delta.memories) or any(a is not b for a, b in zip(pending, delta.memories, strict=True)):
            rows.cut()
            for memory, vector in zip(delta.memories, delta.vectors, strict=True):
                rows.append(memory, vector)
        self._commit(delta.memories)
        if delta.touched and delta.touched_at is not None:
            self._touch(delta.touched, delta.touched_at)

    def snapshot(self, length: int | None = None, accessed: Sequence[datetime] | None = None) -> Snapshot:
        """The stream as it is now, or as it was with `length` memories, last accessed at these times."""
        length = self.last_id if length is None else length
        if accessed is None:
            times = self.rows.columns.accessed[:length].copy()
        else:
            times = np.array([micros(checked_time(at)) for at in accessed], dtype=np.int64)
        if not 0 <= length == len(times) <= self.last_id:
            raise UsageError(
                f"a snapshot of {length} memories with {len(times)} access times",
                hint=f"give up to {self.last_id} memories and an access time for each",
            )
        return Snapshot(self.rows, length, times, self.policy)

    def importance_since_reflection(self) -> float:
        """Sum of the importance of observations and actions after the last reflection; kept up, not recomputed."""
        return self._since

    def flush(self) -> None:
        """Writes into the store what is not there yet: the latest accesses."""
        if self._keeper is not None:
            self._keeper.flush()

    def close(self) -> None:
        """Flushes and closes the store, if the stream has opened one. May be called twice."""
        if self._keeper is not None:
            self._keeper.close()

    def __enter__(self) -> MemoryStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _commit(self, memories: Sequence[Memory]) -> None:
        """Makes the rows at the end, which hold these memories, part of the stream: of the store first."""
        if self._keeper is not None and memories:
            vectors = [self.rows.columns.vector(memory.id - 1) for memory in memories]
            try:
                self._keeper.append(memories, vectors)
            except BaseException:
                self.rows.cut()
                raise
        self.rows.commit()
        for memory in memories:
            self._since = after(self._since, memory)

    def _take_out(self, ids: Sequence[int]) -> None:
        self.rows.remove(ids)
        self._since = since_reflection(self._view())

    def _known(self, ids: Iterable[int]) -> list[int]:
        """The ids in order, each once. Raises UsageError for one there never was."""
        wanted = sorted(checked_ids(ids))
        for id in wanted:
            if not 1 <= id <= self.last_id:
                raise UsageError(f"there is no memory {id}", hint=f"ids go from 1 to {self.last_id}")
        return wanted

    def _touch(self, ids: Sequence[int], at: datetime) -> None:
        self.rows.touch(ids, at)
        if self._keeper is not None:
            self._keeper.touch(ids, at)

    def _after(self, found: Retrieval) -> Retrieval:
        self.rows.cut()
        self._touch(found.ids, found.at)
        hits = tuple(hit._replace(memory=accessed(hit.memory, found.at)) for hit in found.hits)
        return replace(found, hits=hits)

    def _view(self) -> View:
        return View(self.rows, self.rows.committed)


# ── draft ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# A turn's own extension of a stream: it can be read like the stream, and becomes part of it only when applied.


class Draft(Reader):
    """What one turn remembers and retrieves, before it counts.

    Memories get their final ids at once and can be retrieved and cited at once. All retrievals score against the
    access times the stream had when the draft was made; the new ones are collected in `delta`. The stream itself
    shows nothing of a draft until `apply`; one that is dropped leaves no trace.

    A stream has one draft at a time: making another, or changing the stream, ends this one, and using it afterwards
    raises UsageError.
    """

    def __init__(self, stream: MemoryStream) -> None:
        self.policy = stream.policy
        self._rows = stream.rows
        self._rows.cut(self)
        self._base = self._rows.committed
        self._since = stream.importance_since_reflection()
        self._touched: set[int] = set()
        self._touched_at: datetime | None = None

    def remember(self, text: str, *, at: datetime, **fields: Unpack[MemoryFields]) -> Memory:
        """Adds a memory; arguments and errors as of `MemoryStream.remember`."""
        self._check_open()
        fields["embedding"] = checked_vector(fields.get("embedding"))
        memory = self._rows.remember(text, at, **fields)
        self._since = after(self._since, memory)
        return memory

    def weigh(self, weights: Mapping[int, tuple[float, Emotion | None]]) -> None:
        """Gives memories of this draft another importance (1–10) and an emotion: rated after they were stored.

        Raises UsageError for one that the stream has already: what counts is not changed by a draft.
        """
        self._check_open()
        for id, (importance, emotion) in weights.items():
            if not self._base < id <= len(self._rows.records):
                raise UsageError(f"memory {id} is no part of the draft", hint="weigh what this draft has remembered")
            self._rows.weigh(id, clamped(importance), emotion)
        self._since = since_reflection(self._view())

    def touch(self, ids: Iterable[int], *, at: datetime) -> None:
        """Counts memories as accessed, when the draft is applied: what a deferred job retrieved earlier."""
        self._check_open()
        fresh = tuple(ids)
        if fresh:
            self._touched.update(fresh)
            self._touched_at = max(self._touched_at or at, at)

    def importance_since_reflection(self) -> float:
        """As the stream's will be once the draft is applied."""
        self._check_open()
        return self._since

    @property
    def added(self) -> tuple[Memory, ...]:
        """The memories added so far."""
        self._check_open()
        return tuple(self._rows.records[self._base :])

    @property
    def delta(self) -> Delta:
        """Everything so far, as a value that outlives the draft."""
        memories = self.added
        vectors = tuple(self._rows.columns.vector(memory.id - 1) for memory in memories)
        return Delta(self._base, memories, vectors, tuple(sorted(self._touched)), self._touched_at)

    def discard(self) -> None:
        """Ends the draft. Not needed for what is simply let go: the stream's next change does it."""
        if self._rows.writer is self:
            self._rows.cut()

    def _view(self) -> View:
        self._check_open()
        return View(self._rows, len(self._rows.records))

    def _after(self, found: Retrieval) -> Retrieval:
        if found.hits:
            self._touched.update(found.ids)
            self._touched_at = max(self._touched_at or found.at, found.at)
        return found

    def _check_open(self) -> None:
        if self._rows.writer is not self:
            raise UsageError(
                f"the draft of {self._rows.agent} at memory {self._base} is closed",
                hint="a stream has one draft at a time; make a new one after applying or changing the stream",
            )
