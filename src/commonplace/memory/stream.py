"""The memory stream of one character: remember, recall, explain, search, forget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from commonplace.errors import WrongUse
from commonplace.memory import policies
from commonplace.memory.analysis import Analyser
from commonplace.memory.analysis import analyser as shared_analyser
from commonplace.memory.delta import Delta
from commonplace.memory.embedding import Embedder, Vector, default_embedder
from commonplace.memory.importance import RuleRater
from commonplace.memory.policy import Policy
from commonplace.memory.reader import Reader
from commonplace.memory.recency import micros
from commonplace.memory.record import Emotion, Memory, accessed, checked_time
from commonplace.memory.reflection import after, since_reflection
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.rows import Rater, Rows
from commonplace.memory.snapshot import Snapshot
from commonplace.memory.view import View


class MemoryStream(Reader):
    """Everything one character remembers, in RAM.

    `rater` is any callable from a text to an importance of 1–10. A stream belongs to one thread at a time.
    """

    def __init__(
        self,
        agent: str,
        policy: Policy = policies.PARK,
        *,
        embedder: Embedder | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
    ) -> None:
        analyser = analyser or shared_analyser("en")
        self.agent = agent
        self.policy = policy
        self.rows = Rows(agent, embedder or default_embedder(), rater or RuleRater(analyser.language), analyser)
        """For this package: what the stream, its draft and its snapshots share."""
        self._since = 0.0

    @classmethod
    def restore(
        cls,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None],
        *,
        accesses: Mapping[int, datetime] | None = None,
        forgotten: Iterable[int] = (),
        **parts: Any,
    ) -> MemoryStream:
        """A stream from what was stored of one: all its memories in the order of their ids, forgotten ones included.

        `vectors`: one per memory, as `vector` gave it. `accesses`: id → last access, for those whose `accessed_at`
        is older. `parts`: as of `MemoryStream`. Raises WrongUse unless ids are 1, 2, 3 …
        """
        stream = cls(agent, **parts)
        for expected, memory in enumerate(memories, start=1):
            if memory.id != expected:
                raise WrongUse(f"memory {memory.id} where {expected} should be", todo="give all rows, ordered by id")
        if len(vectors) != len(memories):
            raise WrongUse(f"{len(vectors)} vectors for {len(memories)} memories", todo="give one or None for each")
        stream.rows.extend(memories, vectors)
        stream.rows.commit()
        for id, at in (accesses or {}).items():
            stream.rows.touch([id], at)
        stream.forget(forgotten)
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
        another size or with a NaN in it counts as none. Raises WrongUse for an empty text, an importance that is no
        number, a kind there is none of, an observation or action with citations, a reflection without, and citations
        of memories that do not exist.
        """
        self.rows.cut()
        memory = self.rows.remember(
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
        )
        self.rows.commit()
        self._since = after(self._since, memory)
        return memory

    def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Takes memories out for good; gives the ids that were still there. Their ids are not used again.

        From then on the stream scores as if they had never been. Raises WrongUse for an id there never was.
        """
        wanted = sorted(set(ids))
        for id in wanted:
            if not 1 <= id <= self.last_id:
                raise WrongUse(f"there is no memory {id!r} to forget", todo=f"ids go from 1 to {self.last_id}")
        self.rows.cut()
        there = tuple(id for id in wanted if self.rows.alive(id))
        if there:
            self.rows.remove(there)
            self._since = since_reflection(self._view())
        return there

    def apply(self, delta: Delta) -> None:
        """Makes what a draft added and touched part of the stream. Raises WrongUse if the stream has moved on."""
        rows = self.rows
        if delta.base != rows.committed:
            raise WrongUse(
                f"a delta made at memory {delta.base} for a stream of {self.agent} at {rows.committed}",
                todo="apply deltas in the order their drafts were made",
            )
        pending = rows.records[delta.base :]
        if len(pending) != len(delta.memories) or any(a is not b for a, b in zip(pending, delta.memories, strict=True)):
            rows.cut()
            for memory, vector in zip(delta.memories, delta.vectors, strict=True):
                rows.append(memory, vector)
        rows.commit()
        for memory in delta.memories:
            self._since = after(self._since, memory)
        if delta.touched and delta.touched_at is not None:
            rows.touch(delta.touched, delta.touched_at)

    def snapshot(self, length: int | None = None, accessed: Sequence[datetime] | None = None) -> Snapshot:
        """The stream as it is now, or as it was with `length` memories, last accessed at these times."""
        length = self.last_id if length is None else length
        if accessed is None:
            times = self.rows.columns.accessed[:length].copy()
        else:
            times = np.array([micros(checked_time(at)) for at in accessed], dtype=np.int64)
        if not 0 <= length == len(times) <= self.last_id:
            raise WrongUse(
                f"a snapshot of {length} memories with {len(times)} access times",
                todo=f"give up to {self.last_id} memories and an access time for each",
            )
        return Snapshot(self.rows, length, times, self.policy)

    def importance_since_reflection(self) -> float:
        """Sum of the importance of observations and actions after the last reflection; kept up, not recomputed."""
        return self._since

    def _after(self, found: Retrieval) -> Retrieval:
        self.rows.cut()
        self.rows.touch(found.ids, found.at)
        hits = tuple(hit._replace(memory=accessed(hit.memory, found.at)) for hit in found.hits)
        return replace(found, hits=hits)

    def _view(self) -> View:
        return View(self.rows, self.rows.committed)
