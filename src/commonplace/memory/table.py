"""All memories of one character, as records and as the columns and indexes that scoring reads.

Row r belongs to memory r + 1. The first `committed` rows are the stream's; the rows behind them are the draft of the
one `writer`, until they are committed or cut off. Rows are only added and cut off at the end, so everything can be read
as of any earlier length: a `View` is a length and the access times of that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.blend import BlendColumns
from commonplace.memory.bm25 import Analyser, LexicalIndex
from commonplace.memory.columns import FlagColumn, RecencyColumn, grown, micros, moment
from commonplace.memory.embedding import (
    NO_VECTOR,
    NON_FINITE,
    UNUSABLE,
    USABLE,
    Embedder,
    Vector,
    VectorRows,
    norm_of,
    usable,
)
from commonplace.memory.policies import Policy
from commonplace.memory.record import KINDS, Memory, MemoryFields, Rater, accessed, checked_vector, new_memory
from commonplace.memory.scoring import Indices

KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}

_FROM_RECORD: Mapping[str, Callable[[Memory], float]] = {
    "importance": lambda memory: memory.importance,
    "kind": lambda memory: KIND_CODES[memory.kind],
    "tokens": lambda memory: estimate_tokens(memory.text),
}
"""Column → its value for a memory. Filled in when one is added and again when it is replaced."""
COLUMNS = (*_FROM_RECORD, "created", "accessed", "alive", "vectors", "norms", "vector_state")
"""The arrays of a `MemoryTable` with a row per memory."""
_FEW = 8
"""Memories removed at once, beyond which building the lexical index again costs less than taking each out of it."""
_CHUNK = 512
"""Vectors converted at once: large temporary arrays cost more than the work done in them."""

Scalar = TypeVar("Scalar", bound=np.generic)


class MemoryTable:
    """The rows of one character and the three parts that turn a text into one: embedder, rater, analyser.

    Columns are valid up to `len(records)`; the room behind is uninitialised. `alive` is replaced, never written in
    place, when a memory is removed: an older reader keeps the array it has.
    """

    def __init__(self, agent: str, embedder: Embedder, rater: Rater, analyser: Analyser) -> None:
        self.agent = agent
        self.embedder = embedder
        self.rater = rater
        self.analyser = analyser
        self.committed = 0
        self.writer: object = None
        self.records: list[Memory] = []
        """As they were added or last revised; `accessed_at` is in the column of that name."""
        self.importance: NDArray[np.float64] = np.empty(16, dtype=np.float64)
        self.created: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        """In `micros`, as all times here."""
        self.accessed: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        self.kind: NDArray[np.uint8] = np.empty(16, dtype=np.uint8)
        self.alive: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)
        """False for what is forgotten or archived."""
        self.tokens: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        """Estimated length in a model's prompt."""
        self.vectors: NDArray[np.float32] = np.empty((16, embedder.dimensions), dtype=np.float32)
        """Zeros where there is no usable vector."""
        self.norms: NDArray[np.float64] = np.empty(16, dtype=np.float64)
        """Infinite for a zero vector and where there is no usable one, so that the cosine becomes 0."""
        self.vector_state: NDArray[np.uint8] = np.empty(16, dtype=np.uint8)
        """`USABLE`, or a key of `UNUSABLE`."""
        self.lexical = LexicalIndex()
        """May be shorter than the table until a lexical question is asked: read it through `View.lexical`."""
        self.recency: dict[float, RecencyColumn] = {}
        self.blend = BlendColumns()
        """May be shorter than the table, too."""
        self._competing: dict[tuple[tuple[str, ...], tuple[str, ...]], FlagColumn] = {}

    def __contains__(self, id: int) -> bool:
        """Whether there is a memory of this id, neither forgotten nor archived."""
        return 1 <= id <= len(self.records) and bool(self.alive[id - 1])

    def remember(self, text: str, at: datetime, **fields: Unpack[MemoryFields]) -> Memory:
        """Checks, rates and embeds a memory and adds it as the next row. Raises UsageError and then adds nothing."""
        id = len(self.records) + 1
        vector = checked_vector(fields.get("embedding"))
        memory = new_memory(text, at, fields, id=id, agent=self.agent, rater=self.rater, exists=self.__contains__)
        if vector is None:
            vector = self.embedder.embed([memory.text])[0]
        self.append(memory, vector)
        return memory

    def append(self, memory: Memory, vector: Vector | None) -> None:
        """Adds a checked memory, whose id must be the next one."""
        row = len(self.records)
        if row == len(self.importance):
            self._reserve(row + 1)
        self._fill(row, memory)
        self.created[row] = created = micros(memory.created_at)
        same = memory.accessed_at is memory.created_at
        self.accessed[row] = created if same else micros(memory.accessed_at)
        self.alive[row] = True
        self._put_vector(row, vector)
        self.records.append(memory)

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Adds many checked memories: the same as `append` for each, at a tenth of the cost."""
        start, end = len(self.records), len(self.records) + len(memories)
        if end > len(self.importance):
            self._reserve(end)
        for name, value in _FROM_RECORD.items():
            getattr(self, name)[start:end] = [value(memory) for memory in memories]
        created = [micros(memory.created_at) for memory in memories]
        self.created[start:end] = created
        self.accessed[start:end] = [
            since if memory.accessed_at is memory.created_at else micros(memory.accessed_at)
            for memory, since in zip(memories, created, strict=True)
        ]
        self.alive[start:end] = True
        self._put_vectors(start, vectors)
        self.records.extend(memories)

    def replace(self, memory: Memory) -> None:
        """Replaces the memory of the same id; importance, emotion and details may differ."""
        self.records[memory.id - 1] = memory
        self._fill(memory.id - 1, memory)

    def commit(self) -> None:
        """Makes all rows the stream's. No draft is open any more."""
        self.committed = len(self.records)
        self.writer = None

    def cut(self, writer: object = None) -> None:
        """Removes the rows that are not committed, without a trace; from now on only `writer` may add."""
        self.writer = writer
        length = self.committed
        if len(self.records) == length:
            return
        while self.lexical.size > length:
            self.lexical.pop(self._terms(self.lexical.size - 1))
        del self.records[length:]
        for column in (self.blend, *self._competing.values(), *self.recency.values()):
            column.truncate(length)

    def touch(self, ids: Sequence[int], at: datetime) -> None:
        """Sets the last access of the memories to `at` (UTC)."""
        rows = np.array(ids, dtype=np.intp) - 1
        since = micros(at)
        self.accessed[rows] = since
        for column in self.recency.values():
            column.touch(rows, since)

    def remove(self, ids: Sequence[int]) -> None:
        """Removes the memories that exist; from now on BM25 counts as if they had never existed."""
        ids = [id for id in ids if id in self]
        self._set_alive(ids, False)
        if len(ids) > _FEW or max(ids, default=0) > self.lexical.size:
            self.lexical = LexicalIndex()  # built again when it is asked for; older readers keep theirs
            return
        for id in ids:
            self.lexical = self.lexical.without(id - 1, self._terms(id - 1))

    def unarchive(self, ids: Sequence[int]) -> None:
        """Restores memories that were removed."""
        self._set_alive(ids, True)
        self.lexical = LexicalIndex()

    def vector(self, row: int) -> Vector | None:
        """A copy of the row's vector, None if it has no usable one."""
        return self.vectors[row].copy() if self.vector_state[row] == USABLE else None

    def unusable(self, rows: Indices | slice) -> dict[str, int]:
        """How many of the rows have no usable vector, by reason."""
        states = self.vector_state[rows]
        if not np.count_nonzero(states):
            return {}
        counts = np.bincount(states, minlength=len(UNUSABLE) + 1)
        return {why: int(counts[state]) for state, why in UNUSABLE.items() if counts[state]}

    def competing(self, policy: Policy, length: int) -> NDArray[np.bool_]:
        """Which of the first `length` memories the policy does not leave out for their tags or words."""
        tags, texts = policy.without_tags, policy.without_words
        flags = self._competing.setdefault((tags, texts), FlagColumn())
        for row in range(flags.size, length):
            memory = self.records[row]
            barred = any(tag in memory.tags for tag in tags) or any(text in memory.text for text in texts)
            flags.append(not barred)
        return flags.values[:length]

    def index(self, lexical: LexicalIndex, length: int, alive: NDArray[np.bool_]) -> None:
        """Adds the rows that `lexical` lacks up to `length`, skipping those that are not alive."""
        while lexical.size < length:
            if alive[lexical.size]:
                lexical.append(self._terms(lexical.size))
            else:
                lexical.skip()

    def _terms(self, row: int) -> list[str]:
        memory = self.records[row]
        text = memory.full_text
        if memory.source and not text.startswith(memory.source):
            text = f"{memory.source} {text}"  # questions name the speaker as often as what was said
        return self.analyser.document(text, memory.created_at)

    def _fill(self, row: int, memory: Memory) -> None:
        for name, value in _FROM_RECORD.items():
            getattr(self, name)[row] = value(memory)

    def _reserve(self, rows: int) -> None:
        for name in COLUMNS:
            setattr(self, name, grown(getattr(self, name), rows))

    def _set_alive(self, ids: Sequence[int], alive: bool) -> None:
        self.alive = self.alive.copy()
        self.alive[[id - 1 for id in ids]] = alive

    def _put_vectors(self, start: int, vectors: Sequence[Vector | None]) -> None:
        dimensions = self.embedder.dimensions
        if isinstance(vectors, VectorRows) and vectors.matrix.shape[1] == dimensions:
            for first in range(0, len(vectors), _CHUNK):
                self._put_matrix(start + first, vectors.matrix[first : first + _CHUNK])
            self.vector_state[start + np.flatnonzero(~vectors.present)] = NO_VECTOR
        elif all(vector is not None and vector.shape == (dimensions,) for vector in vectors):
            for first in range(0, len(vectors), _CHUNK):
                self._put_matrix(start + first, np.asarray(vectors[first : first + _CHUNK], dtype=np.float32))
        else:
            for row, vector in enumerate(vectors, start=start):
                self._put_vector(row, vector)

    def _put_matrix(self, start: int, matrix: Vector) -> None:
        rows = slice(start, start + len(matrix))
        finite = np.asarray(np.isfinite(matrix).all(axis=1))
        self.vectors[rows] = matrix if finite.all() else np.where(finite[:, None], matrix, 0)
        self.vector_state[rows] = np.where(finite, USABLE, NON_FINITE)
        exact = self.vectors[rows].astype(np.float64)
        norms = np.sqrt(np.vecdot(exact, exact))
        self.norms[rows] = np.where(norms > 0, norms, np.inf)

    def _put_vector(self, row: int, given: Vector | None) -> None:
        state, vector = usable(given, self.embedder.dimensions)
        self.vector_state[row] = state
        self.vectors[row] = 0 if vector is None else vector
        self.norms[row] = (0.0 if vector is None else norm_of(vector)) or np.inf


class View:
    """The first `length` rows of a table. `accessed` is live for a stream's own view and a copy for a snapshot."""

    __slots__ = ("_lexical", "_recency", "accessed", "alive", "length", "table")

    def __init__(self, table: MemoryTable, length: int, accessed: NDArray[np.int64] | None = None) -> None:
        self.table = table
        self.length = length
        self.accessed = table.accessed[:length] if accessed is None else accessed
        self.alive = table.alive[:length]
        self._recency = table.recency if accessed is None else dict[float, RecencyColumn]()
        self._lexical = table.lexical  # what is forgotten later is still in this one

    def take(self, column: NDArray[Scalar], rows: Indices | None) -> NDArray[Scalar]:
        """The column's values at some rows; None for all rows of the view."""
        return column[: self.length] if rows is None else column[rows]

    def recency(self, rate: float) -> RecencyColumn:
        """The recency column of this rate per hour, made when first asked for."""
        column = self._recency.get(rate)
        if column is None:
            column = self._recency[rate] = RecencyColumn(rate)
        return column

    def lexical(self) -> LexicalIndex:
        """An index of at least the rows of this view, without those that were forgotten when it was made."""
        if self._lexical.size < self.length:
            self.table.index(self._lexical, self.length, self.alive)
        return self._lexical

    def blend(self) -> BlendColumns:
        """The columns a blend reads, filled at least for the rows of this view."""
        if self.table.blend.questions.size < self.length:
            self.table.blend.fill(self.table.records, self.length)
        return self.table.blend

    def memory(self, row: int) -> Memory:
        """The memory of a row, `accessed_at` as of this view."""
        memory, since = self.table.records[row], int(self.accessed[row])
        if since == self.table.created[row] and memory.accessed_at is memory.created_at:
            return memory  # never accessed, as most: nothing to copy
        return accessed(memory, moment(since))


def estimate_tokens(text: str) -> int:
    """Tokens a language model will see, an upper estimate: one per 4 ASCII characters, one per other character.

    Current tokenisers need 0.5–0.9 for a syllable of Hangul.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    plain = len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + len(text) - plain
