"""Vectors as bytes, and many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.embedding import Vector

_TYPES = {2: "<i2", 4: "<f4"}
"""Bytes a dimension → how the bytes are to be read."""


def encoded(vector: Vector | None) -> tuple[int, bytes | None]:
    """(bytes a dimension, the vector's values exactly): int16 for whole numbers, else float32; (0, None) for none."""
    if vector is None:
        return 0, None
    with np.errstate(invalid="ignore"):  # what does not fit is found by comparing
        whole = vector.astype("<i2")
    if (whole == vector).all():
        return 2, whole.tobytes()
    return 4, vector.astype("<f4").tobytes()


def decoded(width: int, data: bytes | None) -> Vector | None:
    """The inverse of `encoded`. Raises ValueError for bytes that are no vector."""
    if data is None:
        return None
    if width not in _TYPES:
        raise ValueError(f"a vector of {width} bytes a dimension")
    return np.frombuffer(data, dtype=_TYPES[width]).astype(np.float32)


class VectorRows(Sequence["Vector | None"]):
    """Vectors of one size as one matrix, so that a long stream is loaded without touching each of them."""

    def __init__(self, matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> None:
        """`matrix`: a row per memory, zeros where there is no vector; `present`: where there is one."""
        self.matrix = matrix
        self.present = present

    @overload
    def __getitem__(self, index: int) -> Vector | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Vector | None]: ...
    def __getitem__(self, index: int | slice) -> Vector | Sequence[Vector | None] | None:
        if isinstance(index, slice):
            return VectorRows(self.matrix[index], self.present[index])
        return self.matrix[index].copy() if self.present[index] else None

    def __len__(self) -> int:
        return len(self.matrix)


def gathered(count: int, found: Sequence[tuple[int, int, bytes]]) -> Sequence[Vector | None]:
    """`count` vectors from (row, bytes a dimension, bytes), in a matrix where all are of one size."""
    sizes = {(width, len(data)) for _, width, data in found}
    if len(sizes) != 1:
        return _one_by_one(count, found)
    ((width, size),) = sizes
    if width not in _TYPES or size % width:
        raise ValueError(f"a vector of {size} bytes, {width} a dimension")
    matrix: Any = np.zeros((count, size // width), dtype=np.float32)
    present = np.zeros(count, dtype=np.bool_)
    rows = np.fromiter((row for row, _, _ in found), dtype=np.intp, count=len(found))
    for first in range(0, len(found), 4096):
        some = b"".join([data for _, _, data in found[first : first + 4096]])
        matrix[rows[first : first + 4096]] = np.frombuffer(some, dtype=_TYPES[width]).reshape(-1, size // width)
    present[rows] = True
    return VectorRows(matrix, present)


def _one_by_one(count: int, found: Sequence[tuple[int, int, bytes]]) -> list[Vector | None]:
    vectors: list[Vector | None] = [None] * count
    for row, width, data in found:
        vectors[row] = decoded(width, data)
    return vectors
