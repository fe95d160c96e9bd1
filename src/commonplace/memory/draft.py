"""A turn's own extension of a stream: it can be read like the stream, and becomes part of it only when applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Unpack

from commonplace.errors import WrongUse
from commonplace.memory.arguments import checked_vector
from commonplace.memory.delta import Delta
from commonplace.memory.reader import Reader
from commonplace.memory.record import Emotion, Memory, MemoryFields, clamped
from commonplace.memory.reflection import after, since_reflection
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.stream import MemoryStream
from commonplace.memory.view import View


class Draft(Reader):
    """What one turn remembers and retrieves, before it counts.

    Memories get their final ids at once and can be retrieved and cited at once. All retrievals score against the
    access times the stream had when the draft was made; the new ones are collected in `delta`. The stream itself
    shows nothing of a draft until `apply`; one that is dropped leaves no trace.

    A stream has one draft at a time: making another, or changing the stream, ends this one, and using it afterwards
    raises WrongUse.
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

        Raises WrongUse for one that the stream has already: what counts is not changed by a draft.
        """
        self._check_open()
        for id, (importance, emotion) in weights.items():
            if not self._base < id <= len(self._rows.records):
                raise WrongUse(f"memory {id} is no part of the draft", todo="weigh what this draft has remembered")
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
            raise WrongUse(
                f"the draft of {self._rows.agent} at memory {self._base} is closed",
                todo="a stream has one draft at a time; make a new one after applying or changing the stream",
            )
