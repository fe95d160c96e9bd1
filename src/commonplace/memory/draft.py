"""What one turn adds to the stream of its character: a draft that is read like the stream, and its value, a delta."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Unpack

from commonplace.errors import UsageError
from commonplace.memory.embedding import Vector
from commonplace.memory.reader import Reader
from commonplace.memory.record import Emotion, Memory, MemoryFields, weighed
from commonplace.memory.reflection import after
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.table import View
from commonplace.memory.threads import locked

if TYPE_CHECKING:
    from commonplace.memory.stream import MemoryStream


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
        self.guard = stream.guard
        with self.guard:
            self._since = self._since_before = stream.importance_since_reflection()
            self._table = stream.table
            self._table.cut(self)
            self._base = self._table.committed
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
            self._table.replace(weighed(self._table.record(id - 1), importance, emotion))
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
        """Returns the stream's sum as it will be once the draft is applied."""
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
        vectors = tuple([self._table.given_vector(memory.id - 1) for memory in memories])
        return Delta(self._base, memories, vectors, tuple(sorted(self._ids_touched)), self._touched_at)

    @locked
    def discard(self) -> None:
        """Closes the draft. Optional: the stream's next change does it."""
        if self._table.writer is self:
            self._table.cut()

    def _view(self) -> View:
        """Makes a new view only when the draft has grown: nothing else about its table changes while it is open."""
        self._check_open()
        length = self._table.length
        if self._latest_view is None or self._latest_view.length != length:
            self._latest_view = View(self._table, length)
        return self._latest_view

    def _touched(self, found: Retrieval) -> None:
        self.touch(found.ids, at=found.at)

    def _check_open(self) -> None:
        if self._table.writer is not self:
            raise UsageError(
                f"the draft of {self._table.agent} at memory {self._base} is closed",
                hint="a stream has one draft at a time; make a new one after applying or changing the stream",
            )
