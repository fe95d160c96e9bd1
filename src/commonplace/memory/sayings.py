"""What the memories of one character say: each text once, with its vector, however many memories say it.

A character that lives long says and sees the same things again: in a town two memories of three repeat an earlier text.
What a question costs to compare, and what a stream needs in RAM, therefore follow the texts and not the memories.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import EPSILON, UNIT, Floats, Indices, Scratch, Singles, Spread, blocks, grown
from commonplace.memory.embedding import (
    LATTICE_NORM,
    NO_VECTOR,
    NON_FINITE,
    UNUSABLE,
    USABLE,
    WRONG_SIZE,
    Embeds,
    Rows,
    Vector,
    VectorRows,
    norm_of,
    usable,
)
from commonplace.memory.segments import (
    ByText,
    Counts,
    Segment,
    Texts,
    checksum,
    joined,
    packed_since,
    unused,
    without,
)

_WAITING = len(UNUSABLE) + 1
"""State of a text whose vector has not been derived yet."""
_CHUNK = 512
"""Vectors looked at at once: large temporary arrays cost more than the work done in them."""
_FEW, _MANY = 512, 16_384
"""Lattice vectors are kept in two bytes a number, but in four up to `_FEW`, where widening them takes longer than their
products, and from `_SHARED` to `_MANY`, where the threads of BLAS share the product. From `_FEW` to `_SHARED` are the
streams of a town, which would need a quarter more RAM a memory."""
_TAME = 1e-15, 1e15
"""Norms between which float32 neither overflows nor loses digits when it divides by them."""

Numbers = NDArray[np.int32]


class Sayings:
    """Pairs of a text and its vector, numbered 0, 1, 2 … as they were first added.

    A text that comes with another vector than before is another saying. Arrays are valid up to `len(texts)`.
    """

    def __init__(self, dimensions: int, derive: Embeds | None = None) -> None:
        """`derive`: what makes the vectors of texts that come without one, when they are first read."""
        self.texts: list[str] | Texts = []
        self.vectors: Rows = np.empty((0, dimensions), dtype=np.float32)
        """float32 or, as `_FEW` says and while all are lattice vectors, int16. Zeros where there is no usable
        vector. May be shorter than `texts` until `make` has been called."""
        self._whole = True
        """Whether all are lattice vectors."""
        self.norms: NDArray[np.float64] = np.empty(16, dtype=np.float64)
        """Infinite for a zero vector and where there is no usable one, so that the cosine becomes 0."""
        self.state: NDArray[np.uint8] = np.empty(16, dtype=np.uint8)
        """`USABLE`, a key of `UNUSABLE`, or `_WAITING` for a vector that has not been made yet."""
        self.derived: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)
        """Whether the vector follows from the text."""
        self._numbers: dict[str, int] = {}
        """Text → the first saying of it that came with a vector."""
        self._kept: ByText | None = None
        """The texts of segments, which are in the dictionaries only after they were said again."""
        self._derive = derive
        self._ready = 0
        """None of so many first texts waits for its vector."""
        self._derived: dict[str, int] = {}
        """Text → the saying of it whose vector follows from the text."""
        self._inverse: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self._inverted = 0

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, text: str, given: Vector | None) -> int:
        """Returns the number of a text with this vector; a new one if need be."""
        if self._kept:
            self._recollect(text, self._kept)
        if given is None and self._derive:
            return self._waiting(text)
        known = self._numbers.get(text)
        if known is not None and self._has(known, given):
            return known
        state, vector = usable(given, self.vectors.shape[1])
        same = known is not None and self.state[known] == state
        if known is not None and same and (vector is None or np.array_equal(self.vectors[known], vector)):
            return known
        number = self._next(text, state)
        self._make_room(number + 1)
        if known is None or self.state[known] == NO_VECTOR:
            self._numbers[text] = number
        if vector is None:
            self.vectors[number], self.norms[number] = 0, np.inf
        else:
            norm = norm_of(vector)
            self._set(number, vector, norm)
            self.norms[number] = norm or np.inf
        return number

    def extend(self, texts: Sequence[str], vectors: Sequence[Vector | None]) -> Numbers:
        """Returns the numbers of many, the same as `add` for each, at a tenth of the cost."""
        numbers = np.empty(len(texts), dtype=np.int32)
        if self._kept:
            for text in texts:
                self._recollect(text, self._kept)
        for first in range(0, len(texts), _CHUNK):
            some = slice(first, first + _CHUNK)
            matrix, states = _prepared(vectors[some], self.vectors.shape[1])
            absent = (states == NO_VECTOR) if self._derive else np.zeros(len(states), dtype=np.bool_)
            if not absent.any():
                numbers[some] = self._extend(texts[some], matrix, states)
                continue
            given = np.flatnonzero(~absent)
            numbers[first + given] = self._extend(
                [texts[first + int(row)] for row in given], matrix[given], states[given]
            )
            for row in np.flatnonzero(absent).tolist():
                numbers[first + row] = self._waiting(texts[first + row])
        return numbers

    def make(self) -> None:
        """Makes the vectors that are still to be derived from their texts."""
        known = len(self.texts)
        if self._derive and self._ready < known:
            self._make_room(known)
            self._make(np.flatnonzero(self.state[self._ready : known] == _WAITING) + self._ready)
            self._ready = known

    def products(self, question: Vector, norm: float) -> Singles:
        """Returns the dot products of all vectors and a question of this norm. The next call overwrites them."""
        product, count = exact if self._whole and on_lattice(question, norm) else by_row, len(self.texts)
        products = _PRODUCTS.matrix(1, count // 2 + 1).view(np.float32)[0, :count]
        product(self.vectors[:count], question, products)
        return products

    def cosines(self, products: Singles, norm: float, numbers: Indices | None, out: Floats) -> None:
        """Fills `out` with the cosines, times 2³⁰, whole, of the vectors with these products; None for the first."""
        for some in blocks(len(products)):  # `park` at 100,000 memories takes a tenth longer without them
            units = out[some]
            np.copyto(units, products[some])
            units /= self.norms[some] if numbers is None else self.norms[numbers[some]]
            units /= norm * UNIT  # exactly what dividing by the norm and then by 2⁻³⁰ gives
            np.rint(units, out=units)

    def inverse_norms(self, count: int) -> Singles | None:
        """Returns 1 / the norms of the first `count`, nearly; None if one of them is out of range."""
        known = self._inverted
        if known < count:
            norms = self.norms[known:count]
            finite = norms[np.isfinite(norms)]
            if len(finite) and not _TAME[0] < finite.min() <= finite.max() < _TAME[1]:
                return None
            if len(self._inverse) < count:
                self._inverse = grown(self._inverse, len(self.norms))
            np.divide(1.0, norms, out=self._inverse[known:count], casting="same_kind")
            self._inverted = count
        return self._inverse[:count]

    def truncate(self, length: int) -> None:
        """Removes the sayings from `length` on."""
        self._ready, self._inverted = min(self._ready, length), min(self._inverted, length)
        for number in range(length, len(self.texts)):
            self._drop(number)
        del self.texts[length:]

    def _drop(self, number: int) -> None:
        """Has the next memory of this text be another saying."""
        for numbers in (self._numbers, self._derived):
            if numbers.get(self.texts[number]) == number:
                del numbers[self.texts[number]]

    def vector(self, number: int) -> Vector | None:
        """Returns a copy of the vector, None if there is no usable one."""
        if self.state[number] == _WAITING:
            self._make(np.array([number]))
        return self.vectors[number].astype(np.float32) if self.state[number] == USABLE else None

    def given(self, number: int) -> Vector | None:
        """Returns a copy of the vector if the text came with it; what follows from the text need not be stored."""
        return None if self.derived[number] else self.vector(number)

    def adopt(self, segments: Sequence[Segment]) -> bool:
        """Becomes what segments keep, and returns whether it is just that; there must be none before.

        Vectors stay in the file, with room behind them.
        """
        last = segments[-1].arrays
        self.texts = Texts(segments, "text_length", "texts")
        self._kept = ByText(joined(segments, "text_crc"))
        self.derived = joined(segments, "derived", np.bool_)
        self.state, self.norms = last["state"].copy(), last["norms"].copy()
        lost = (self.state == NON_FINITE) | (self.state == WRONG_SIZE)  # nor do rows have what was given there
        self.state[lost] = _WAITING if self._derive else NO_VECTOR
        self.derived |= lost & bool(self._derive)
        found = [segment for segment in segments if len(segment.arrays["vectors"])]
        dimensions, count = self.vectors.shape[1], segments[-1].counts["vectors"]
        if any(segment.arrays["vectors"].shape[1] != dimensions for segment in found):
            raise ValueError("vectors of another size")
        if not found:
            return not lost.any()
        longest = self.norms[np.isfinite(self.norms)].max(initial=0)
        self._whole = bool(last["whole"][0]) and float(longest) <= LATTICE_NORM
        spare = found[0].spare
        if spare is None or len(spare) < count or any(one.arrays["vectors"].dtype != spare.dtype for one in found):
            self.vectors = joined(found, "vectors")
        else:
            self.vectors = spare
            for segment in found[1:]:
                spare[segment.since["vectors"] : segment.counts["vectors"]] = segment.arrays["vectors"]
        return not lost.any()

    def kept(self, since: Counts, used: Indices) -> dict[str, NDArray[Any]]:
        """Returns what a segment keeps of the sayings after so many `sayings` and `vectors`, and what may change of
        all.

        `used`: those that a memory says. Nothing is kept of others.
        """
        first, size = since["sayings"], len(self.texts)
        if (self.state[self.vectors_ready() : size] != _WAITING).any():
            self.make()
        gone = unused(size, used)[first:] if not first else np.zeros(size - first, dtype=np.bool_)
        for number in np.flatnonzero(gone).tolist():  # who says it again says what is not in the segment
            self._drop(number)
        lengths, data = without(*packed_since(self.texts, first), gone)
        checksums = [checksum(self.texts[number]) for number in range(first, size)]
        vectors = self.vectors[since["vectors"] : self.vectors_ready()]
        if gone[: len(vectors)].any():
            vectors = vectors.copy()
            vectors[gone[: len(vectors)]] = 0
        return {
            "text_length": lengths,
            "texts": data,
            "text_crc": np.where(gone, np.uint32(0), np.array(checksums, dtype=np.uint32)),
            "derived": self.derived[first:size].view(np.uint8),
            "state": self.state[:size],
            "norms": self.norms[:size],
            "whole": np.array([self._whole], dtype=np.uint8),
            "vectors": vectors,
        }

    @property
    def lasts(self) -> bool:
        """Whether segments keep all there is: they lack what was given as a vector and is not usable."""
        return not np.isin(self.state[: len(self.texts)], (NON_FINITE, WRONG_SIZE)).any()

    def vectors_ready(self) -> int:
        """Returns how many first sayings have their vectors, so far as they will ever have one."""
        waiting = np.flatnonzero(self.state[: len(self.texts)] == _WAITING)
        return int(waiting[0]) if len(waiting) else len(self.texts)

    def _recollect(self, text: str, kept: ByText) -> None:
        """Notes what the segments know of a text."""
        if text in self._numbers or text in self._derived:
            return
        same = [number for number in kept.like(text) if self.texts[number] == text]
        for number in reversed(same):
            known = self._derived if self.derived[number] else self._numbers
            if text not in known or self.state[number] != NO_VECTOR:
                known[text] = number

    def unusable(self, numbers: Indices) -> dict[str, int]:
        """Returns how many of these have no usable vector, by reason."""
        if not np.count_nonzero(self.state[: len(self.texts)]):
            return {}
        counts = np.bincount(self.state[numbers], minlength=len(UNUSABLE) + 1)
        return {why: int(counts[state]) for state, why in UNUSABLE.items() if counts[state]}

    def _has(self, number: int, given: Vector | None) -> bool:
        """Returns whether this is the very vector, compared in a tenth of the time that checking and comparing it
        takes."""
        if given is None or given.dtype != np.float32 or given.shape != self.vectors.shape[1:]:
            return False
        return given.tobytes() == self.vectors[number].astype(np.float32).tobytes() and self.state[number] == USABLE

    def _extend(self, texts: Sequence[str], matrix: Rows, states: NDArray[np.uint8]) -> Numbers:
        start = len(self.texts)
        fresh: list[int] = []
        numbers = np.empty(len(texts), dtype=np.int32)
        for row, text in enumerate(texts):
            number = self._numbers.setdefault(text, start + len(fresh))
            if number == start + len(fresh):
                fresh.append(row)
            numbers[row] = number
        self._put([texts[row] for row in fresh], matrix[fresh], states[fresh])
        if len(fresh) < len(texts):
            same = (self.vectors[numbers] == matrix).all(axis=1) & (self.state[numbers] == states)
            others: Indices = np.flatnonzero(~same)
            if len(others):
                numbers[others] = np.arange(len(others)) + len(self.texts)
                differing: list[str] = [texts[int(row)] for row in others]
                self._put(differing, matrix[others], states[others])
        return numbers

    def _waiting(self, text: str) -> int:
        """Returns the number of a text whose vector is derived when it is read."""
        number = self._derived.get(text)
        if number is None:
            number = self._derived[text] = self._next(text, _WAITING)
            self.norms[number], self.derived[number] = np.inf, True
        return number

    def _next(self, text: str, state: int) -> int:
        """Returns the number of a new saying."""
        number = len(self.texts)
        self._reserve(number + 1)
        self.texts.append(text)
        self.state[number], self.derived[number] = state, False
        return number

    def _make(self, waiting: Indices) -> None:
        if not len(waiting) or not self._derive:
            return
        self._make_room(int(waiting[-1]) + 1)
        for first in range(0, len(waiting), _CHUNK):
            some = waiting[first : first + _CHUNK]
            made = self._derive([self.texts[int(number)] for number in some])
            self._fill(some, *_prepared(made, self.vectors.shape[1]))

    def _put(self, texts: Sequence[str], matrix: Rows, states: NDArray[np.uint8]) -> None:
        rows = slice(len(self.texts), len(self.texts) + len(texts))
        self._reserve(rows.stop)
        self._make_room(rows.stop)
        self.texts.extend(texts)
        self.derived[rows] = False
        self._fill(rows, matrix, states)

    def _fill(self, rows: Indices | slice, matrix: Rows, states: NDArray[np.uint8]) -> None:
        self.state[rows] = states
        exact = matrix.astype(np.float64)
        norms = np.sqrt(np.vecdot(exact, exact))
        self.norms[rows] = np.where(norms > 0, norms, np.inf)
        self._set(rows, matrix, float(norms.max(initial=0)))

    def _set(self, rows: Indices | slice | int, vectors: Rows, longest: float) -> None:
        """Puts vectors into rows that exist; `longest`: the largest of their norms."""
        if self._whole and not on_lattice(vectors, longest):
            self._whole, self.vectors = False, self.vectors.astype(np.float32, copy=False)
        self.vectors[rows] = vectors

    def _reserve(self, length: int) -> None:
        if length > len(self.norms):
            self.norms, self.state = grown(self.norms, length), grown(self.state, length)
            self.derived = grown(self.derived, length)

    def _make_room(self, length: int) -> None:
        if length > len(self.vectors):
            if self._whole:
                kept = np.int16 if _FEW < length <= _SHARED or length > _MANY else np.float32
                with np.errstate(invalid="ignore"):  # a row that waits for its vector holds anything
                    self.vectors = self.vectors.astype(kept, copy=False)
            self.vectors = grown(self.vectors, len(self.norms))


def _prepared(vectors: Sequence[Vector | None], dimensions: int) -> tuple[Rows, NDArray[np.uint8]]:
    """Returns (the vectors as one matrix, zeros where one is not usable; the state of each)."""
    states = np.full(len(vectors), USABLE, dtype=np.uint8)
    if isinstance(vectors, VectorRows):
        matrix = vectors.matrix
        states[~vectors.present] = NO_VECTOR
        if matrix.shape[1] != dimensions:
            states[vectors.present] = WRONG_SIZE
            return np.zeros((len(vectors), dimensions), dtype=np.float32), states
    elif all(vector is not None and vector.shape == (dimensions,) for vector in vectors):
        matrix = np.asarray(vectors, dtype=np.float32).reshape(-1, dimensions)
    else:
        matrix = np.zeros((len(vectors), dimensions), dtype=np.float32)
        for row, given in enumerate(vectors):
            states[row], vector = usable(given, dimensions)
            if vector is not None:
                matrix[row] = vector
        return matrix, states
    finite = np.asarray(np.isfinite(matrix).all(axis=1))
    if not finite.all():
        matrix = np.where(finite[:, None], matrix, np.float32(0))
        states[~finite] = NON_FINITE
    return matrix, states


class ByVectors:
    """The cosine of a question's vector and those of the candidates: a `Compared`."""

    def __init__(
        self, sayings: Sayings, numbers: Indices, given: Vector | None, room: Floats, from_mean: bool = False
    ) -> None:
        """`numbers`: which saying each candidate is; `given`: the question's vector; `room`: as long as `numbers`;
        `from_mean`: whether what is not above the mean counts as 0."""
        self._sayings, self._numbers, self._room = sayings, numbers, room
        self.fades = from_mean
        sayings.make()
        self.unusable = sayings.unusable(numbers)
        """Reason → how many candidates could not be compared."""
        _, vector = usable(given, sayings.vectors.shape[1])
        self._norm = 0.0 if vector is None else norm_of(vector)
        self._products: Singles | None = None
        if vector is None or not self._norm:
            self.unusable = {**self.unusable, "query": 1}
        else:
            self._products = sayings.products(vector, self._norm)

    def units(self, positions: Indices | None, out: Floats) -> None:
        if self._products is None:
            out[:] = 0
        elif positions is not None:
            numbers = self._numbers[positions]
            self._sayings.cosines(self._products[numbers], self._norm, numbers, out)
        else:  # each text is compared once, however many memories say it
            cosines = _COSINES.matrix(1, len(self._products))[0]
            self._sayings.cosines(self._products, self._norm, None, cosines)
            cosines.take(self._numbers, out=out, mode="clip")  # `raise` would copy

    def spread(self) -> Spread | None:
        if self._products is None or not _TAME[0] < self._norm < _TAME[1]:
            return None
        count = len(self._products)
        inverse = self._sayings.inverse_norms(count)
        if inverse is None:
            return None
        self._near = near = self._room.view(np.float32)[: len(self._room)]
        each = np.multiply(self._products, inverse, out=_COSINES.matrix(1, count)[0].view(np.float32)[:count])
        lows, highs = list[float](), list[float]()
        for some in blocks(len(near)):
            each.take(self._numbers[some], out=near[some], mode="clip")
            lows.append(float(np.minimum.reduce(near[some])))
            highs.append(float(np.maximum.reduce(near[some])))
        low, high = min(lows), max(highs)
        if not math.isfinite(sum(lows) + sum(highs)):
            return None
        margin = 16 * EPSILON * max(abs(low), abs(high))
        extremes = [
            ((near[some] <= low + margin) | (near[some] >= high - margin)).nonzero()[0] + some.start
            for some, lowest, highest in zip(blocks(len(near)), lows, highs, strict=True)
            if lowest <= low + margin or highest >= high - margin
        ]
        positions = np.concatenate(extremes)
        units = np.empty(len(positions))
        self.units(positions, units)
        over = Spread(float(np.minimum.reduce(units)), float(np.maximum.reduce(units)))
        if not self.fades:
            return over
        positions = np.arange(0, len(near), _apart(len(near)))
        units = np.empty(len(positions))
        self.units(positions, units)
        return Spread(_mean(units), over.high)

    def range(self, over: Spread, units: Floats) -> Spread:
        return Spread(_mean(units[:: _apart(len(units))]), over.high) if self.fades else over

    def estimate(self, some: slice, factor: float, out: Singles) -> None:
        np.multiply(self._near[some], np.float32(factor / (self._norm * UNIT)), out=out)

    def error(self, over: Spread) -> float:
        return (16 * EPSILON * max(abs(over.low), abs(over.high)) + 1) / (over.high - over.low)


def _apart(count: int) -> int:
    """Returns how far apart the candidates are of which a mean is taken: 4,096 to 8,191 of many tell it."""
    return max(1, count // 4096)


def _mean(units: Floats) -> float:
    return float(round(float(np.add.reduce(units)) / len(units)))


# ── products of a question's vector with all others: most of the time of a recall by cosine ──────────────────────────

Product = Callable[[Rows, Vector, Vector], None]
"""(vectors, a question's, where to put the products)."""

_BLOCK = 147_456
"""Numbers multiplied at once: enough for the speed of a matrix product, and few enough to stay in the processor's cache
as float32 and not to wake the threads of BLAS, which slow it down."""
_SHARED = 4096
"""Rows from which the threads of BLAS may share a product. They wait busily for each other: a crowd of short streams
would pay twice the processor time for a little less waiting."""
_SHORT = 64
"""Rows below which a call costs more than the work done in it."""
_TRIES = 4

_WIDENED, _PRODUCTS, _COSINES = Scratch(), Scratch(), Scratch()


def by_row(vectors: Rows, question: Vector, out: Vector) -> None:
    """Multiplies one row after the other: what a row gives does not depend on the rows around it."""
    if vectors.dtype == np.float32:
        np.vecdot(vectors, question, out)
    else:
        _multiply(np.vecdot, vectors, question, out)


def by_block(vectors: Rows, question: Vector, out: Vector) -> None:
    """Multiplies many rows at once, summed in an order that depends on the processor and the row's place. The threads
    of BLAS share what is long and in float32."""
    if vectors.dtype == np.float32 and len(vectors) > _SHARED:
        np.dot(vectors, question, out)
    else:
        _multiply(np.dot, vectors, question, out)


def _multiply(product: Callable[..., Any], vectors: Rows, question: Vector, out: Vector) -> None:
    """Widens int16 to float32 a block at a time: BLAS has no integers, and half as many bytes come from RAM."""
    count, dimensions = vectors.shape
    if vectors.dtype == np.float32:
        rows = max(1, _BLOCK // dimensions)
        for start in range(0, count, rows):
            product(vectors[start : start + rows], question, out[start : start + rows])
        return
    rows = max(1, min(max(_SHORT, count // 4), _BLOCK // dimensions))  # a short stream leaves room in the cache
    room = _WIDENED.matrix(1, rows * dimensions // 2 + 1).view(np.float32)[0, : rows * dimensions]
    wide = room.reshape(rows, dimensions)
    widen, whole = np.copyto, count - count % rows
    for start in range(0, whole, rows):  # nothing else in the loop: it costs as much as a tenth of the product
        widen(wide, vectors[start : start + rows])
        product(wide, question, out[start : start + rows])
    if whole < count:
        widen(wide[: count - whole], vectors[whole:])
        product(wide[: count - whole], question, out[whole:])


class Fastest:
    """Of several ways to the same products, the one that was fastest here: that differs between processors.

    All are tried in turn until each has been timed a few times, separately for every order of magnitude.
    """

    def __init__(self, *ways: Product) -> None:
        self._ways = ways
        self._spent: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
        self._chosen: dict[int, Product] = {}

    def __call__(self, vectors: Rows, question: Vector, out: Vector) -> None:
        """Fills `out` with the products."""
        size = len(vectors).bit_length()
        chosen = self._chosen.get(size)
        if chosen is not None:
            chosen(vectors, question, out)
            return
        spent = self._spent[size]
        number = len(spent) % len(self._ways)
        begun = perf_counter()
        self._ways[number](vectors, question, out)
        spent.append(((perf_counter() - begun) / len(vectors), number))
        if len(spent) >= _TRIES * len(self._ways):
            self._chosen[size] = self._ways[min(spent)[1]]


exact = Fastest(by_row, by_block)
"""For lattice vectors only: their products are exact in any order of summation."""


def on_lattice(vectors: Rows, longest: float) -> bool:
    """Returns whether all are lattice vectors; `longest`: the largest of their norms."""
    return longest <= LATTICE_NORM and (vectors.dtype == np.int16 or np.rint(vectors).tobytes() == vectors.tobytes())
