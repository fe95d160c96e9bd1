"""What scoring reads of every memory, as growable NumPy columns; row r belongs to memory r + 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from functools import lru_cache
from threading import local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.embedding import Vector, VectorRows
from commonplace.memory.record import KINDS, Memory

# ── growth ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Arrays that grow at the end.


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


# ── recency ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Exponential recency without a power function.
#
# `rate ** hours` comes from tables by multiplication alone, which IEEE 754 fixes to the last bit, where `pow` and `exp`
# differ between libraries and processors. Values grow with the moment of access instead of shrinking with age, each a
# mantissa and a power of two: so they need no update as time goes on, min-max cancels the present moment, and moving
# the reference is exact.


_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
_DIGIT_BITS = 10
_DIGITS = 6  # 2⁶⁰ µs reach beyond the year 9999
_HOUR = 3_600_000_000
_SAFE_EXPONENT = 400
"""Powers of two a value may stand from 1 before the reference is moved; doubles reach ±1022."""


def micros(moment: datetime) -> int:
    """Microseconds from the year 1 to a UTC moment: times as the columns hold them."""
    since = moment - _YEAR_ONE
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def moment(since: int) -> datetime:
    """The inverse of `micros`."""
    return _YEAR_ONE + timedelta(microseconds=since)


class Growth:
    """`rate ** −hours` for any moment, as mantissa · 2^exponent; `rate` in (0, 1] is what is left after an hour."""

    def __init__(self, rate: float) -> None:
        tables = [_table(rate, digit) for digit in range(_DIGITS)]
        self._mantissas = [np.array([m for m, _ in table]) for table in tables]
        self._exponents = [np.array([e for _, e in table], dtype=np.int32) for table in tables]
        self._scalars = tables

    def at(self, since: int) -> tuple[float, int]:
        """(mantissa, exponent) of a moment in `micros`."""
        mantissa, exponent = 1.0, 0
        for digit, table in enumerate(self._scalars):
            factor, power = table[since >> digit * _DIGIT_BITS & 1023]
            mantissa *= factor
            exponent += power
        return mantissa, exponent

    def of(self, since: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(mantissas, exponents) of many moments."""
        mantissas = np.ones(len(since))
        exponents = np.zeros(len(since), dtype=np.int32)
        for digit in range(_DIGITS):
            index = since >> digit * _DIGIT_BITS & 1023
            mantissas *= self._mantissas[digit].take(index)
            exponents += self._exponents[digit].take(index)
        return mantissas, exponents


@lru_cache(maxsize=16)
def growth(rate: float) -> Growth:
    """The tables of a rate, made once (about 10 ms)."""
    return Growth(rate)


def _table(rate: float, digit: int) -> list[tuple[float, int]]:
    """(mantissa in [1, 2), exponent) of rate ** −(i · 1024^digit µs), i = 0 … 1023, correctly rounded."""
    with localcontext() as context:
        context.prec = 40
        two = Decimal(2)
        powers = -Decimal(rate).ln() / two.ln() * (1 << digit * _DIGIT_BITS) / _HOUR
        whole = int(powers)
        step = two ** (powers - whole)
        mantissa, exponent = Decimal(1), 0
        table: list[tuple[float, int]] = []
        for _ in range(1 << _DIGIT_BITS):
            table.append((float(mantissa), exponent))
            mantissa, exponent = mantissa * step, exponent + whole
            if mantissa >= two:
                mantissa, exponent = mantissa / two, exponent + 1
        return table


class RecencyColumn:
    """The recency of every memory at one rate, kept up with the access times instead of computed per query.

    `values(n)` are proportional to `rate ** hours since last access`; `scale(at)` is the factor that makes them equal.
    """

    def __init__(self, rate: float) -> None:
        self._growth = growth(rate)
        self._values: NDArray[np.float64] = np.empty(16)
        self._filled = 0
        self._reference = 0

    def values(self, accessed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Shape of `accessed`, which must hold the same times as before for the rows seen before and not touched."""
        length = len(accessed)
        if self._filled < length:
            self._fill(accessed)
        return self._values[:length]

    def scale(self, at: int) -> float:
        """What to multiply `values` by to have `rate ** hours` as of `at`."""
        mantissa, exponent = self._growth.at(at)
        return math.ldexp(1 / mantissa, max(-500, min(500, self._reference - exponent)))

    def touch(self, rows: NDArray[np.intp], at: int) -> None:
        """The rows were last accessed at `at`."""
        mantissa, exponent = self._growth.at(at)
        if abs(exponent - self._reference) > _SAFE_EXPONENT:
            self._filled = 0
        else:
            self._values[rows[rows < self._filled]] = math.ldexp(mantissa, exponent - self._reference)

    def truncate(self, length: int) -> None:
        """Forgets the rows from `length` on."""
        self._filled = min(self._filled, length)

    def _fill(self, accessed: NDArray[np.int64]) -> None:
        mantissas, exponents = self._growth.of(accessed[self._filled :])
        if not self._filled or int(exponents.max()) - self._reference > _SAFE_EXPONENT:
            if self._filled:
                mantissas, exponents = self._growth.of(accessed)
            self._filled, self._reference = 0, int(exponents.max())
        if len(self._values) < len(accessed):
            self._values = grown(self._values, len(accessed))
        shifts = np.maximum(exponents - self._reference, -1000)  # 2⁻¹⁰⁰⁰ is 0 beside the newest
        np.ldexp(mantissas, shifts, out=self._values[self._filled : len(accessed)])
        self._filled = len(accessed)


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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
