"""A stream as of a moment: the first so many rows, with the access times of then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.lexical import LexicalIndex
from commonplace.memory.recency import RecencyColumn
from commonplace.memory.record import Memory
from commonplace.memory.rows import Rows


class View:
    """What a retrieval reads. `accessed` is live for a stream's own view and a copy for a snapshot."""

    __slots__ = ("_lexical", "_recency", "accessed", "alive", "length", "rows")

    def __init__(self, rows: Rows, length: int, accessed: NDArray[np.int64] | None = None) -> None:
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

    def lexical(self) -> LexicalIndex:
        """An index that holds at least the rows of this view, and of those none that was forgotten then."""
        return self._lexical if self._lexical.size >= self.length else self.rows.indexed(self.length)

    def memories(self, rows: NDArray[np.intp]) -> list[Memory]:
        """The memories of some rows, each as `memory` gives it."""
        record = self.rows.record
        return [record(row, since) for row, since in zip(rows.tolist(), self.accessed[rows].tolist(), strict=True)]

    def memory(self, row: int) -> Memory:
        """The memory of a row, `accessed_at` as of this view."""
        return self.rows.record(row, int(self.accessed[row]))
