"""The arrays of a stream: how they grow, flags, labels, and recency without a power function."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from functools import lru_cache
from threading import local
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.intp]
"""Rows of the table, or positions among the candidates."""

UNIT = 2.0**-30
"""Values are whole multiples of it before they are compared, so that a last bit that differs between machines cannot
change an order. Arrays named `units` and `totals` hold those multiples."""
EPSILON = 2.0**-24
"""The largest relative error of rounding to float32."""


class Spread(NamedTuple):
    """What a part was normalised over: its lowest and highest raw value among the candidates."""

    low: float
    high: float


def grown(array: NDArray[Scalar], needed: int) -> NDArray[Scalar]:
    """Returns a copy with room for at least `needed` rows and half as many again; the new rows are uninitialised.

    The old array keeps its values, so a reader that still holds it is not disturbed.
    """
    rows = max(needed, len(array) + len(array) // 2)
    shape: tuple[Any, ...] = (rows, *array.shape[1:])
    bigger = np.empty(shape, dtype=array.dtype)
    bigger[: len(array)] = array
    return bigger


BLOCK = 16_384
"""Rows. What is computed of so many at a time stays in the processor's cache."""


def blocks(count: int) -> Iterator[slice]:
    """Slices of at most `BLOCK` rows that cover `count` rows."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def threshold(totals: Floats, k: int) -> float:
    """Returns a value that at least k of the totals reach, and not many more unless they are equal."""
    count = len(totals) // 16
    if count <= k:
        return float(np.partition(totals, len(totals) - k)[len(totals) - k])
    # k of the columns have a member that reaches the k-th highest maximum; a sixteenth of the work
    highest = np.maximum.reduce(totals[: count * 16].reshape(16, count), axis=0)
    highest.partition(count - k)
    return float(highest[count - k])


class Scratch(local):
    """A work array that each thread keeps: allocating and freeing one per query costs more than most of its use."""

    def __init__(self) -> None:
        self._kept: NDArray[np.float64] = np.empty(0)

    def matrix(self, rows: int, columns: int) -> NDArray[np.float64]:
        """Returns an uninitialised array of this shape. The next call overwrites it."""
        if self._kept.size < rows * columns:
            room = np.empty(rows * columns + 7)
            self._kept = room[-room.ctypes.data % 64 // 8 :]  # NumPy aligns to 16 bytes, a cache line has 64
        return self._kept[: rows * columns].reshape(rows, columns)


class FlagColumn:
    """A boolean per row."""

    def __init__(self) -> None:
        self.size = 0
        self.values: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)
        """Valid up to `size`."""
        self._where: tuple[int, NDArray[np.intp]] | None = None

    def adopt(self, values: NDArray[np.bool_]) -> None:
        """Becomes these rows; there must be none before."""
        self.values, self.size = values, len(values)

    def append(self, value: bool) -> None:
        """Adds the next row."""
        if self.size == len(self.values):
            self.values = grown(self.values, self.size + 1)
        self.values[self.size] = value
        self.size += 1

    def put(self, row: int, value: bool) -> None:
        """Changes a row, if it is there already."""
        if row < self.size:
            self.values[row], self._where = value, None

    def truncate(self, length: int) -> None:
        """Removes the rows from `length` on."""
        if length < self.size:
            self.size, self._where = length, None

    def where(self, length: int, rows: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Returns which of the first `length` rows have the flag; of `rows`, the positions."""
        if rows is not None:
            return self.values[rows].nonzero()[0]
        known = self._where
        if known is None or known[0] != length:
            known = self._where = length, self.values[:length].nonzero()[0]
        return known[1]


class LabelColumn:
    """A label of a few words per row, stored once however many rows carry it."""

    def __init__(self) -> None:
        self.size = 0
        self._codes: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        self._known: dict[tuple[str, ...], int] = {}  # label → code
        self._with: dict[str, list[int]] = {}  # word → codes of the labels that contain it

    def adopt(self, codes: NDArray[np.int32], labels: Iterable[tuple[str, ...]]) -> None:
        """Becomes these rows: of each the number of its label. There must be none before."""
        for label in labels:
            self._code(label)
        self._codes, self.size = codes, len(codes)

    def labels(self) -> list[tuple[str, ...]]:
        """Returns all labels, by number."""
        return list(self._known)

    def drop(self, used: NDArray[np.integer[Any]]) -> None:
        """Forgets the labels that are not used, but not their numbers."""
        left = {*used.tolist()}
        labels = ((label if code in left else (f"\0{code}",)) for label, code in self._known.items())  # no word is that
        self._known = {label: code for code, label in enumerate(labels)}

    def append(self, label: tuple[str, ...]) -> None:
        """Adds the next row; an empty label matches nothing."""
        if self.size == len(self._codes):
            self._codes = grown(self._codes, self.size + 1)
        self._codes[self.size] = self._code(label)
        self.size += 1

    def put(self, row: int, label: tuple[str, ...]) -> None:
        """Changes a row, if it is there already."""
        if row < self.size:
            self._codes[row] = self._code(label)

    def _code(self, label: tuple[str, ...]) -> int:
        code = self._known.get(label)
        if code is None:
            code = self._known[label] = len(self._known)
            for word in dict.fromkeys(label):
                self._with.setdefault(word, []).append(code)
        return code

    def truncate(self, length: int) -> None:
        """Removes the rows from `length` on."""
        self.size = min(self.size, length)

    def codes(self, length: int, rows: NDArray[np.intp] | None = None) -> NDArray[np.int32]:
        """Returns the labels' numbers of the first `length` rows, or of `rows`."""
        return self._codes[:length] if rows is None else self._codes[rows]

    def carrying(self, words: Iterable[str]) -> NDArray[np.float64] | None:
        """Returns by number of a label 1 if it has one of the words, else 0; None if none has."""
        codes = [code for word in words for code in self._with.get(word, ())]
        if not codes:
            return None
        marked = np.zeros(len(self._known))
        marked[codes] = 1
        return marked


# ── time and recency ─────────────────────────────────────────────────────────────────────────────────────────────────
# `rate ** hours` comes from tables by multiplication alone, which IEEE 754 fixes to the last bit, whereas `pow` and
# `exp` differ between libraries and processors. Values grow with the moment of access instead of shrinking with age,
# each a mantissa and a power of two: they need no update as time passes, min-max cancels the present moment, and moving
# the reference is exact.

_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
_DIGIT_BITS = 10
_DIGITS = 6  # 2⁶⁰ µs reach beyond the year 9999
_HOUR = 3_600_000_000
_FEW = 8
"""Rows added at once up to which plain numbers are faster than arrays."""
_SAFE_EXPONENT = 400
"""Powers of two a value may be away from 1 before the reference is moved; doubles reach ±1022."""


def micros(moment: datetime) -> int:
    """Microseconds from the year 1 to a UTC moment: how columns store times."""
    since = moment - _YEAR_ONE
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def moment(since: int) -> datetime:
    """Returns the inverse of `micros`."""
    return _YEAR_ONE + timedelta(0, 0, since)


class RecencyColumn:
    """The recency of every memory at one rate, updated with the access times instead of computed per query.

    `values(accessed)` are proportional to `rate ** hours since last access`; `scale(at)` is the factor that makes them
    equal.
    """

    def __init__(self, rate: float) -> None:
        self._growth = growth(rate)
        self._values: NDArray[np.float64] = np.empty(16)
        self._filled = 0
        self._reference = 0

    def values(self, accessed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns an array of the shape of `accessed`, whose times must be those of the last call for rows known then
        and not touched since."""
        length = len(accessed)
        if self._filled < length:
            self._fill(accessed)
        return self._values[:length]

    def scale(self, at: int) -> float:
        """Returns the factor from `values` to `rate ** hours` as of `at`."""
        mantissa, exponent = self._growth.at(at)
        return math.ldexp(1 / mantissa, max(-500, min(500, self._reference - exponent)))

    def touch(self, rows: NDArray[np.intp], at: int) -> None:
        """Records an access of the rows at `at`."""
        mantissa, exponent = self._growth.at(at)
        if abs(exponent - self._reference) > _SAFE_EXPONENT:
            self._filled = 0
        else:
            self._values[rows[rows < self._filled]] = math.ldexp(mantissa, exponent - self._reference)

    def holds(self, values: NDArray[np.float64]) -> bool:
        """Returns whether these are the values it has now, not a copy and not those of before."""
        return values.base is self._values and len(values) <= self._filled

    def truncate(self, length: int) -> None:
        """Removes the rows from `length` on."""
        self._filled = min(self._filled, length)

    def _fill(self, accessed: NDArray[np.int64]) -> None:
        first, length = self._filled, len(accessed)
        if len(self._values) < length:
            self._values = grown(self._values, length)
        if first and length - first <= _FEW:
            powers = [self._growth.at(since) for since in accessed[first:].tolist()]
            if max(exponent for _, exponent in powers) - self._reference <= _SAFE_EXPONENT:
                shifted = [math.ldexp(mantissa, max(power - self._reference, -1000)) for mantissa, power in powers]
                self._values[first:length] = shifted
                self._filled = length
                return
        mantissas, exponents = self._growth.of(accessed[first:])
        if not self._filled or int(exponents.max()) - self._reference > _SAFE_EXPONENT:
            if self._filled:
                mantissas, exponents = self._growth.of(accessed)
            self._filled, self._reference = 0, int(exponents.max())
        shifts = np.maximum(exponents - self._reference, -1000)  # 2⁻¹⁰⁰⁰ is 0 beside the newest
        np.ldexp(mantissas, shifts, out=self._values[self._filled : length])
        self._filled = length


class Growth:
    """`rate ** −hours` for any moment, as mantissa · 2^exponent; `rate` in (0, 1] is what is left after an hour."""

    def __init__(self, rate: float) -> None:
        tables = [_table(rate, digit) for digit in range(_DIGITS)]
        self._mantissas = [np.array([m for m, _ in table]) for table in tables]
        self._exponents = [np.array([e for _, e in table], dtype=np.int32) for table in tables]
        self._scalars = tables
        self._latest: tuple[int, tuple[float, int]] = (0, (1.0, 0))

    def at(self, since: int) -> tuple[float, int]:
        """Returns (mantissa, exponent) of a moment in `micros`."""
        latest, known = self._latest
        if since == latest:  # one moment is asked for by all who live in it
            return known
        mantissa, exponent = 1.0, 0
        for digit, table in enumerate(self._scalars):
            factor, power = table[since >> digit * _DIGIT_BITS & 1023]
            mantissa *= factor
            exponent += power
        self._latest = since, (mantissa, exponent)
        return mantissa, exponent

    def of(self, since: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Returns (mantissas, exponents) of many moments."""
        mantissas = np.ones(len(since))
        exponents = np.zeros(len(since), dtype=np.int32)
        for digit in range(_DIGITS):
            index = since >> digit * _DIGIT_BITS & 1023
            mantissas *= self._mantissas[digit].take(index)
            exponents += self._exponents[digit].take(index)
        return mantissas, exponents


@lru_cache(maxsize=16)
def growth(rate: float) -> Growth:
    """Returns the tables of a rate, made once (about 10 ms)."""
    return Growth(rate)


def _table(rate: float, digit: int) -> list[tuple[float, int]]:
    """Returns (mantissa in [1, 2), exponent) of rate ** −(i · 1024^digit µs), i = 0 … 1023, correctly rounded."""
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
