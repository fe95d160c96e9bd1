"""What some policies ask of every memory besides its columns, found out when the first of them asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.growth import grown
from commonplace.memory.labels import LabelColumn
from commonplace.memory.naming import is_question, place, subject
from commonplace.memory.neighbours import Breaks
from commonplace.memory.record import Memory
from commonplace.memory.scoring import Rows

Left = tuple[tuple[str, ...], tuple[str, ...]]
"""(tags, words) a policy leaves out."""


class Flags:
    """A column of true and false that grows at the end."""

    def __init__(self) -> None:
        self.size = 0
        self._values: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)

    def append(self, value: bool) -> None:
        if self.size == len(self._values):
            self._values = grown(self._values, self.size + 1)
        self._values[self.size] = value
        self.size += 1

    def first(self, length: int) -> NDArray[np.bool_]:
        """The flags of the first `length` rows."""
        return self._values[:length]


class Traits:
    """Behind the records until asked; rows can be cut off from the end. Nothing here changes once it is known."""

    def __init__(self) -> None:
        self.subjects = LabelColumn()
        self.places = LabelColumn()
        self.questions = Flags()
        """Whether the text ends in a question."""
        self._left: dict[Left, Flags] = {}
        self._breaks: dict[float, Breaks] = {}

    def filled(self, records: Sequence[Memory], length: int) -> Traits:
        """Itself, with the traits of the first `length` records."""
        for row in range(self.questions.size, length):
            memory = records[row]
            self.subjects.append(subject(memory))
            self.places.append(place(memory))
            self.questions.append(is_question(memory.text))
        return self

    def competing(self, left: Left, records: Sequence[Memory], length: int) -> NDArray[np.bool_]:
        """Which of the first `length` memories have none of the tags and contain none of the words left out."""
        flags = self._left.setdefault(left, Flags())
        tags, texts = left
        for row in range(flags.size, length):
            memory = records[row]
            barred = any(tag in memory.tags for tag in tags) or any(text in memory.text for text in texts)
            flags.append(not barred)
        return flags.first(length)

    def breaks(self, minutes: float, created: NDArray[np.int64]) -> list[Rows]:
        """What `Breaks.between` gives for rows created at these times."""
        known = self._breaks.get(minutes)
        if known is None:
            known = self._breaks[minutes] = Breaks(minutes)
        return known.between(created)

    def truncate(self, length: int) -> None:
        """Forgets the rows from `length` on."""
        self.subjects.truncate(length)
        self.places.truncate(length)
        for breaks in self._breaks.values():
            breaks.truncate(length)
        for flags in (self.questions, *self._left.values()):
            flags.size = min(flags.size, length)
