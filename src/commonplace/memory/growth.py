"""Arrays that grow at the end."""

from __future__ import annotations

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
