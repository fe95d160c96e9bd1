"""A stream as of a moment: the first so many rows, with the access times of then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.lexical import LexicalIndex
from commonplace.memory.policy import Policy
from commonplace.memory.recency import RecencyColumn
from commonplace.memory.record import Memory
from commonplace.memory.rows import Rows
from commonplace.memory.traits import Traits


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
