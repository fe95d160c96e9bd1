"""What scoring reads of every memory, as growable NumPy columns; row r belongs to memory r + 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.embedding import Vector
from commonplace.memory.growth import grown
from commonplace.memory.recency import micros
from commonplace.memory.record import KINDS, Memory
from commonplace.memory.stores.vectors import VectorRows

KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}

USABLE = 0
_NO_VECTOR = 1
UNUSABLE = {1: "no_vector", 2: "non_finite", 3: "wrong_size"}
"""Why a memory has no usable vector; its raw relevance is 0."""

_COLUMNS = ("importance", "created", "accessed", "kind", "alive", "tokens", "vectors", "norms", "vector_state")


class Columns:
    """Rows can be added at the end and cut off from the end; only `accessed` changes in place.

    `alive` is replaced, never written, when a memory is taken out: an older reader keeps the array it has.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.size = 0
        self.importance: NDArray[np.float64] = np.empty(16, dtype=np.float64)
        self.created: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        """Microseconds since the year 1."""
        self.accessed: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        self.kind: NDArray[np.uint8] = np.empty(16, dtype=np.uint8)
        self.alive: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)
        self.tokens: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        """Estimated length for a model's prompt."""
        self.vectors: NDArray[np.float32] = np.empty((16, dimensions), dtype=np.float32)
        """Zeros where there is no usable vector."""
        self.norms: NDArray[np.float64] = np.empty(16, dtype=np.float64)
        """Infinity where there is no usable or a zero vector, so that the cosine becomes 0."""
        self.vector_state: NDArray[np.uint8] = np.empty(16, dtype=np.uint8)

    def append(self, memory: Memory, vector: Sequence[float] | Vector | None) -> None:
        """Adds the row of the next memory."""
        row = self.size
        if row == len(self.importance):
            self.reserve(row + 1)
        self.importance[row] = memory.importance
        self.created[row] = created = micros(memory.created_at)
        same = memory.accessed_at is memory.created_at
        self.accessed[row] = created if same else micros(memory.accessed_at)
        self.kind[row] = KIND_CODES[memory.kind]
        self.alive[row] = True
        self.tokens[row] = estimate_tokens(memory.text)
        self._put_vector(row, vector)
        self.size = row + 1

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Adds many rows at once: what `append` would do one by one, at a tenth of the cost."""
        start, end = self.size, self.size + len(memories)
        if end > len(self.importance):
            self.reserve(end)
        self.importance[start:end] = [memory.importance for memory in memories]
        created = [micros(memory.created_at) for memory in memories]
        self.created[start:end] = created
        self.accessed[start:end] = [
            since if memory.accessed_at is memory.created_at else micros(memory.accessed_at)
            for memory, since in zip(memories, created, strict=True)
        ]
        self.kind[start:end] = [KIND_CODES[memory.kind] for memory in memories]
        self.alive[start:end] = True
        self.tokens[start:end] = [estimate_tokens(memory.text) for memory in memories]
        if isinstance(vectors, VectorRows) and vectors.matrix.shape[1] == self.dimensions:
            for first in range(0, len(vectors), 512):
                self._put_matrix(start + first, vectors.matrix[first : first + 512])
            absent = start + np.flatnonzero(~vectors.present)
            self.vector_state[absent] = _NO_VECTOR
        elif len(vectors) == len(memories) and all(_sized(vector, self.dimensions) for vector in vectors):
            # a chunk at a time: large temporary arrays cost more than the work done in them
            for first in range(0, len(vectors), 512):
                self._put_matrix(start + first, np.asarray(vectors[first : first + 512], dtype=np.float32))
        else:
            for row, vector in enumerate(vectors, start=start):
                self._put_vector(row, vector)
        self.size = end

    def reserve(self, rows: int) -> None:
        """Makes room for so many rows."""
        for name in _COLUMNS:
            setattr(self, name, grown(getattr(self, name), rows))

    def truncate(self, length: int) -> None:
        """Takes off the rows from `length` on."""
        self.size = min(self.size, length)

    def put_alive(self, rows: Sequence[int], alive: bool) -> None:
        """Marks rows as candidates or as none."""
        self.alive = self.alive.copy()
        self.alive[list(rows)] = alive

    def vector(self, row: int) -> Vector | None:
        """A copy of the row's vector, `None` if it has no usable one."""
        return self.vectors[row].copy() if self.vector_state[row] == USABLE else None

    def unusable(self, rows: NDArray[np.intp] | slice) -> dict[str, int]:
        """How many of the rows have no usable vector, by why."""
        states = self.vector_state[rows]
        if not np.count_nonzero(states):
            return {}
        counts = np.bincount(states, minlength=4)
        return {why: int(counts[state]) for state, why in UNUSABLE.items() if counts[state]}

    def _put_matrix(self, start: int, matrix: Vector) -> None:
        rows = slice(start, start + len(matrix))
        finite = np.asarray(np.isfinite(matrix).all(axis=1))
        self.vectors[rows] = matrix if finite.all() else np.where(finite[:, None], matrix, 0)
        self.vector_state[rows] = np.where(finite, USABLE, 2)
        exact = self.vectors[rows].astype(np.float64)
        norms = np.sqrt(np.vecdot(exact, exact))
        self.norms[rows] = np.where(norms > 0, norms, np.inf)

    def _put_vector(self, row: int, given: Sequence[float] | Vector | None) -> None:
        state, vector = usable(given, self.dimensions)
        self.vector_state[row] = state
        self.norms[row] = np.inf
        if vector is None:
            self.vectors[row] = 0
            return
        self.vectors[row] = vector
        norm = norm_of(vector)
        if norm:
            self.norms[row] = norm


def usable(given: Any, dimensions: int) -> tuple[int, Vector | None]:
    """(why it is not usable or `USABLE`, the vector as float32 of shape (dimensions,))."""
    if given is None:
        return 1, None
    vector = np.asarray(given, dtype=np.float32)
    if vector.shape != (dimensions,):
        return 3, None
    if not np.isfinite(vector).all():
        return 2, None
    return USABLE, vector


def _sized(vector: Vector | None, dimensions: int) -> bool:
    return vector is not None and vector.shape == (dimensions,)


def norm_of(vector: Vector) -> float:
    """The Euclidean norm, exact up to one rounding for a lattice vector."""
    exact = vector.astype(np.float64)
    return float(np.sqrt(np.vecdot(exact, exact)))


def estimate_tokens(text: str) -> int:
    """Tokens a language model will see, estimated on the safe side: a token per 4 ASCII characters, 1 per other
    character (current tokenisers need 0.5–0.9 for a syllable of Hangul)."""
    if text.isascii():
        return (len(text) + 3) // 4
    plain = len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + len(text) - plain
