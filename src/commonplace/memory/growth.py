"""Arrays that grow at the end."""

from __future__ import annotations

from threading import local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def grown(array: NDArray[Scalar], needed: int) -> NDArray[Scalar]:
    """A copy with room for at least `needed` rows, half as much again; what is new holds nothing yet.

    The old array keeps its values, so whoever still reads it is not disturbed.
    """
    rows = max(needed, len(array) + len(array) // 2)
    shape: tuple[Any, ...] = (rows, *array.shape[1:])
    bigger = np.empty(shape, dtype=array.dtype)
    bigger[: len(array)] = array
    return bigger


class Scratch(local):
    """An array to work in, kept for the next time in the same thread. Taking fresh memory from the system and giving
    it back takes longer than most of what is done in it."""

    def __init__(self) -> None:
        self._kept: NDArray[np.float64] = np.empty(0)

    def matrix(self, rows: int, columns: int) -> NDArray[np.float64]:
        """Of this shape, holding nothing yet. It is lost when the next one is asked for."""
        if self._kept.size < rows * columns:
            self._kept = np.empty(rows * columns)
        return self._kept[: rows * columns].reshape(rows, columns)
