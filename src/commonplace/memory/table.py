"""All that is kept of one character's memories: records, columns and indexes, append-only by id.

The first `committed` rows are the stream's. What stands behind them is the draft of the one `writer`, until it is
committed or cut off. Everything can therefore be read as of any earlier length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from commonplace.memory import record
from commonplace.memory.analysis import Analyser
from commonplace.memory.bm25 import LexicalIndex
from commonplace.memory.columns import Columns, RecencyColumn, micros, moment
from commonplace.memory.embedding import Embedder, Vector
from commonplace.memory.importance import usable_rating
from commonplace.memory.policies import Policy
from commonplace.memory.record import Emotion, Memory, MemoryFields, checked_count, checked_mapping, checked_string
from commonplace.memory.traits import Traits

# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


Rater = Callable[[str], float]
"""Text → importance 1–10. An answer that is not such a number counts as 3."""

_FEW = 8
"""Memories taken out at once beyond which making the lexical index again costs less than taking each out of it."""


class MemoryTable:
    """The rows of one character and the three parts that turn a text into one: embedder, rater, analyser."""

    def __init__(self, agent: str, embedder: Embedder, rater: Rater, analyser: Analyser) -> None:
        self.agent = agent
        self.embedder = embedder
        self.rater = rater
        self.analyser = analyser
        self.committed = 0
        self.writer: object = None
        self.records: list[Memory] = []
        self.columns = Columns(embedder.dimensions)
        self.lexical = LexicalIndex()
        """Behind the records until somebody asks a lexical question; see `indexed`."""
        self.recency: dict[float, RecencyColumn] = {}
        self.traits = Traits()

    def remember(self, text: str, at: datetime, **fields: Unpack[MemoryFields]) -> Memory:
        """Checks, rates and embeds a memory and adds it as the next row. Raises UsageError and then adds nothing."""
        last = len(self.records)
        memory = made(text, at, fields, id=last + 1, agent=self.agent, rater=self.rater, exists=self.alive)
        vector: Any = fields.get("embedding")
        if vector is None:
            vector = self.embedder.embed([memory.text])[0]
        self.append(memory, vector)
        return memory

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Adds checked memories in bulk."""
        self.columns.extend(memories, vectors)
        self.records.extend(memories)

    def append(self, memory: Memory, vector: Sequence[float] | Vector | None) -> None:
        """Adds a checked memory, whose id must be the next one."""
        self.columns.append(memory, vector)
        self.records.append(memory)

    def weigh(self, id: int, importance: float, emotion: Emotion | None) -> None:
        """Puts another importance and emotion on a memory."""
        self.records[id - 1] = replace(self.records[id - 1], importance=importance, emotion=emotion)
        self.columns.importance[id - 1] = importance

    def replace(self, memory: Memory) -> None:
        """Puts a memory in the place of the one with its id, whose importance and details may differ."""
        self.records[memory.id - 1] = memory
        self.columns.importance[memory.id - 1] = memory.importance

    def commit(self) -> None:
        """What stands behind the committed rows becomes theirs; no draft is open any more."""
        self.committed = len(self.records)
        self.writer = None

    def cut(self, writer: object = None) -> None:
        """Takes off what is not committed, without a trace; from now on only `writer` may add."""
        self.writer = writer
        length = self.committed
        if len(self.records) == length:
            return
        while self.lexical.size > length:
            self.lexical.pop(self._terms(self.lexical.size - 1))
        del self.records[length:]
        self.columns.truncate(length)
        self.traits.truncate(length)
        for column in self.recency.values():
            column.truncate(length)

    def touch(self, ids: Sequence[int], at: datetime) -> None:
        """The memories were last accessed at `at` (UTC)."""
        rows = np.array(ids, dtype=np.intp) - 1
        since = micros(at)
        self.columns.accessed[rows] = since
        for column in self.recency.values():
            column.touch(rows, since)

    def remove(self, ids: Sequence[int]) -> None:
        """Takes out those memories that are there: no candidates any more, and BM25 as if they had never been."""
        ids = [id for id in ids if self.alive(id)]
        self.columns.put_alive([id - 1 for id in ids], False)
        if len(ids) > _FEW or max(ids, default=0) > self.lexical.size:
            self.lexical = LexicalIndex()  # to be made again when it is asked for; older readers keep theirs
            return
        for id in ids:
            self.lexical = self.lexical.without(id - 1, self._terms(id - 1))

    def unarchive(self, ids: Sequence[int]) -> None:
        """Makes candidates again of memories that were taken out."""
        self.columns.put_alive([id - 1 for id in ids], True)
        self.lexical = LexicalIndex()

    def indexed(self, length: int) -> LexicalIndex:
        """The lexical index, holding at least the first `length` rows."""
        return self.complete(self.lexical, length, self.columns.alive)

    def complete(self, index: LexicalIndex, length: int, alive: NDArray[np.bool_]) -> LexicalIndex:
        """The index, grown to `length` rows. An older reader's goes on with what was alive for that reader."""
        while index.size < length:
            if alive[index.size]:
                index.append(self._terms(index.size))
            else:
                index.skip()
        return index

    def alive(self, id: int) -> bool:
        """Whether there is such a memory, not forgotten."""
        return 1 <= id <= len(self.records) and bool(self.columns.alive[id - 1])

    def record(self, row: int, since: int) -> Memory:
        """The memory of a row as last accessed at `since` (in `micros`)."""
        memory = self.records[row]
        if since == self.columns.created[row] and memory.accessed_at is memory.created_at:
            return memory  # never accessed, as most: nothing to make
        return record.accessed(memory, moment(since))

    def _terms(self, row: int) -> list[str]:
        memory = self.records[row]
        text = memory.full_text
        if memory.source and not text.startswith(memory.source):
            text = f"{memory.source} {text}"  # who said it is asked for as often as what was said
        return self.analyser.document(text, memory.created_at)


def made(
    text: str,
    at: datetime,
    fields: MemoryFields,
    *,
    id: int,
    agent: str,
    rater: Rater,
    exists: Callable[[int], bool],
) -> Memory:
    """A memory of what `remember` was given, checked and rated. Raises UsageError."""
    shown, whole = record.checked_text(text)
    kind = record.checked_kind(fields.get("kind", "observation"))
    created = record.checked_time(at)
    details = checked_mapping("details", fields.get("details"))
    if len(whole) > len(shown):
        details = {**details, "full_text": whole}
    importance = fields.get("importance")
    return Memory(
        id=id,
        agent=agent,
        kind=kind,
        text=shown,
        created_at=created,
        accessed_at=created,
        tick=checked_count("tick", fields.get("tick", 0), 0),
        importance=usable_rating(rater(whole)) if importance is None else record.clamped(importance),
        citations=record.checked_citations(kind, fields.get("citations", ()), exists),
        place=record.names("place", fields.get("place", ())),
        emotion=record.checked_emotion(fields.get("emotion")),
        source=checked_string("source", fields.get("source", "")),
        session=checked_string("session", fields.get("session", "")),
        tags=record.names("tags", fields.get("tags", ())),
        event=checked_string("event", fields.get("event", "")),
        details=details,
    )


# ── view ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# A stream as of a moment: the first so many rows, with the access times of then.


class View:
    """What a retrieval reads. `accessed` is live for a stream's own view and a copy for a snapshot."""

    __slots__ = ("_lexical", "_recency", "accessed", "alive", "length", "rows")

    def __init__(self, rows: MemoryTable, length: int, accessed: NDArray[np.int64] | None = None) -> None:
        self.rows = rows
        self.length = length
        self.accessed = rows.columns.accessed[:length] if accessed is None else accessed
        self.alive = rows.columns.alive[:length]
        self._recency = rows.recency if accessed is None else dict[float, RecencyColumn]()
        self._lexical = rows.lexical

    def recency(self, rate: float) -> RecencyColumn:
        """The column of recencies at this rate per hour, made when first asked for."""
        column = self._recency.get(rate)
        if column is None:
            column = self._recency[rate] = RecencyColumn(rate)
        return column

    def traits(self) -> Traits:
        """What is asked of memories besides their columns, known at least for the rows of this view."""
        return self.rows.traits.filled(self.rows.records, self.length)

    def competing(self, policy: Policy) -> NDArray[np.bool_]:
        """Which memories the policy does not leave out for their tags or words."""
        return self.rows.traits.competing((policy.without_tags, policy.without_words), self.rows.records, self.length)

    def lexical(self) -> LexicalIndex:
        """An index that holds at least the rows of this view, and of those none that was forgotten then."""
        return self.rows.complete(self._lexical, self.length, self.alive)

    def memories(self, rows: NDArray[np.intp]) -> list[Memory]:
        """The memories of some rows, each as `memory` gives it."""
        record = self.rows.record
        return [record(row, since) for row, since in zip(rows.tolist(), self.accessed[rows].tolist(), strict=True)]

    def memory(self, row: int) -> Memory:
        """The memory of a row, `accessed_at` as of this view."""
        return self.rows.record(row, int(self.accessed[row]))
