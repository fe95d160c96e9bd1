"""A column of labels, each a few words: which memories carry a label with one of the words of a question?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.growth import grown

Label = tuple[str, ...]


class LabelColumn:
    """One label a row, kept once however many rows carry it. Rows can be added at the end and cut off from there."""

    def __init__(self) -> None:
        self.size = 0
        self._codes: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        self._known: dict[Label, int] = {}
        self._with: dict[str, list[int]] = {}  # word → codes of the labels that have it

    def append(self, label: Label) -> None:
        """Adds the next row; an empty label matches nothing."""
        code = self._known.get(label)
        if code is None:
            code = self._known[label] = len(self._known)
            for word in dict.fromkeys(label):
                self._with.setdefault(word, []).append(code)
        if self.size == len(self._codes):
            self._codes = grown(self._codes, self.size + 1)
        self._codes[self.size] = code
        self.size += 1

    def truncate(self, length: int) -> None:
        """Takes off the rows from `length` on."""
        self.size = min(self.size, length)

    def any_carrying(self, words: Iterable[str]) -> bool:
        """Whether there ever was a row whose label has one of the words."""
        return any(word in self._with for word in words)

    def carrying(self, words: Iterable[str], length: int, value: float = 1.0) -> NDArray[np.float64]:
        """Of the first `length` rows: `value` where the label has one of the words, else 0."""
        codes = [code for word in words for code in self._with.get(word, ())]
        if not codes:
            return np.zeros(length)
        marked = np.zeros(len(self._known))
        marked[codes] = value
        return marked.take(self._codes[:length])
