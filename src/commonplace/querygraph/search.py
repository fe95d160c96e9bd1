"""Finding the questions nearest to a vector: all of them compared, or looked up in an inverted index.

Whatever finds the candidates, their cosines come from `Vectors.cosines`, so every index gives the same numbers.
An index names a superset of the rows that may matter; only an approximate one may miss some.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from commonplace.querygraph.embedding import Vector

Slots = NDArray[np.intp]
Needed = Callable[[Slots, NDArray[np.float64]], float]
"""(some slots, their cosines) → the cosine below which no slot can matter, given that these exist."""

_SLACK = 1e-5
"""Postings hold float32; sums of them may be off by less than this."""
_FIRST_POSTINGS = 200_000
_FEW = 1_000
"""So many candidates are compared rather than narrowed further."""
_PROBED = 32


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Returns the array, or a copy with room for at least `size`."""
    if size <= len(array):
        return array
    larger = np.zeros(max(size, 2 * len(array), 16), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


class Vectors:
    """Sparse vectors in rows called slots, one after the other in memory. Slots are given out once, in order."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.count = 0
        """Slots given out, those of removed vectors included."""
        self.living = 0
        self._dims = np.zeros(1024, dtype=np.int32)
        self._values = np.zeros(1024, dtype=np.float32)
        self._starts = np.zeros(17, dtype=np.int64)
        self._squares = np.zeros(16)
        self._alive = np.zeros(16, dtype=np.bool_)
        self._rows = np.zeros(16, dtype=np.int32)

    def add(self, row: int, vector: Vector) -> int:
        """Adds the vector of a node and returns its slot."""
        slot = self.count
        start = int(self._starts[slot])
        end = start + len(vector.dims)
        if end > len(self._dims):
            self._dims = grown(self._dims, end)
            self._values = grown(self._values, end)
        if slot == len(self._alive):
            self._starts = grown(self._starts, 2 * slot + 1)
            self._squares, self._alive, self._rows = (
                grown(one, 2 * slot) for one in (self._squares, self._alive, self._rows)
            )
        self._dims[start:end] = vector.dims
        self._values[start:end] = vector.values
        self._starts[slot + 1] = end
        self._squares[slot] = vector.square
        self._alive[slot] = True
        self._rows[slot] = row
        self.count += 1
        self.living += 1
        return slot

    def remove(self, slot: int) -> None:
        """Hides the slot from all searches."""
        self._alive[slot] = False
        self.living -= 1

    def vector(self, slot: int) -> Vector:
        """Returns the vector as it was added."""
        inside = slice(int(self._starts[slot]), int(self._starts[slot + 1]))
        return Vector(self._dims[inside].copy(), self._values[inside].copy())

    def rows(self, slots: Slots) -> NDArray[np.int32]:
        """Returns the nodes of the slots."""
        return self._rows[slots]

    def all(self) -> Slots:
        """Returns the slots of all vectors there are, ascending."""
        return np.flatnonzero(self._alive[: self.count])

    def living_among(self, slots: Slots) -> Slots:
        return slots[self._alive[slots]]

    def is_wasteful(self) -> bool:
        """Tells whether so many slots belong to removed vectors that starting over pays."""
        return self.count - self.living > max(256, self.living // 2)

    def cosines(self, slots: Slots, query: Vector) -> NDArray[np.float64]:
        """Returns the cosine of each slot's vector with the query.

        It has the same bits whatever other slots are asked for.
        """
        found = np.zeros(len(slots))
        dense = np.zeros(self.dimensions)
        dense[query.dims] = query.values
        square = query.square
        places: slice | NDArray[np.intp]
        for first in range(0, len(slots), 8192):
            some = slots[first : first + 8192]
            starts = self._starts[some]
            lengths = self._starts[some + 1] - starts
            ends = np.cumsum(lengths)
            if not ends[-1]:
                continue
            heads = ends - lengths
            if some[-1] - some[0] == len(some) - 1:  # neighbours in memory, as in a scan
                places = slice(int(starts[0]), int(starts[0] + ends[-1]))
            else:
                places = np.arange(int(ends[-1])) + np.repeat(starts - heads, lengths)
            products = dense[self._dims[places]] * self._values[places]
            full = lengths > 0
            dots = np.zeros(len(some))
            dots[full] = np.add.reduceat(products, heads[full])
            scale = np.sqrt(self._squares[some] * square)
            np.divide(dots, scale, out=found[first : first + 8192], where=scale > 0)
        return found

    def flat(self, slots: Slots) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Returns (slot, dimension, value of the vector of length 1) of everything in these slots, in turn."""
        starts = self._starts[slots]
        lengths = self._starts[slots + 1] - starts
        ends = np.cumsum(lengths)
        places: NDArray[np.intp] = np.arange(int(ends[-1])) + np.repeat(starts - ends + lengths, lengths)
        scale = np.sqrt(self._squares[slots])
        values = self._values[places] / np.repeat(scale, lengths)
        return np.repeat(slots, lengths).astype(np.int32), self._dims[places], values.astype(np.float32)


class Index(Protocol):
    """A finder of candidates. The graph tells it of every vector, and makes a new one when slots are numbered anew."""

    def add(self, slot: int, vector: Vector) -> None: ...

    def remove(self, slot: int) -> None: ...

    def candidates(self, query: Vector, count: int, needed: Needed) -> Slots:
        """Returns the slots whose cosine with the query may reach what is needed; `count` nearest are looked for."""
        ...


class ExactScan:
    """An index in which everything is a candidate."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def add(self, slot: int, vector: Vector) -> None:
        """Does nothing."""

    def remove(self, slot: int) -> None:
        """Does nothing."""

    def candidates(self, query: Vector, count: int, needed: Needed) -> Slots:  # noqa: ARG002
        """Returns all slots."""
        return self._vectors.all()


class InvertedIndex:
    """Dimension → the slots that have it.

    A query's rarest dimensions are summed first. What the others can still add to a slot is bounded by Cauchy and
    Schwarz: with the query split into A (summed) and B, a slot with partial sum p has a cosine of at most
    p + |B|·√(1 − p²/|A|²). Once |B| is below the cosine that is needed, slots that share nothing with A are out.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._slots: dict[int, NDArray[np.int32]] = {}
        self._values: dict[int, NDArray[np.float32]] = {}
        self._lengths = np.zeros(vectors.dimensions, dtype=np.int64)
        self._build()

    def add(self, slot: int, vector: Vector) -> None:
        """Appends the slot to the list of each of its dimensions."""
        square = vector.square
        if not square:
            return
        values = (vector.values / math.sqrt(square)).tolist()
        for dim, length, value in zip(vector.dims.tolist(), self._lengths[vector.dims].tolist(), values, strict=True):
            slots = self._slots.get(dim)
            if slots is None or length == len(slots):
                slots = self._slots[dim] = grown(
                    slots if slots is not None else np.zeros(0, dtype=np.int32), length + 1
                )
                self._values[dim] = grown(self._values.get(dim, np.zeros(0, dtype=np.float32)), length + 1)
            slots[length] = slot
            self._values[dim][length] = value
        self._lengths[vector.dims] += 1

    def remove(self, slot: int) -> None:
        """Does nothing: removed candidates are left out later."""

    def candidates(self, query: Vector, count: int, needed: Needed) -> Slots:
        """Returns the candidates, as the class describes."""
        square = query.square
        lengths = self._lengths[query.dims]
        order = np.argsort(lengths, kind="stable")
        dims = query.dims[order]
        weights = query.values[order] / math.sqrt(square) if square else query.values[order]
        work = np.cumsum(lengths[order])
        rest = np.sqrt(np.append(np.cumsum((weights.astype(np.float64) ** 2)[::-1])[::-1], 0.0))
        partial = np.zeros(self._vectors.count)
        done, limit = 0, _FIRST_POSTINGS
        while True:
            end = len(dims) if limit >= (work[-1] if len(work) else 0) else max(done, int(np.searchsorted(work, limit)))
            self._sum(partial, dims[done:end], weights[done:end])
            done = end
            least = self._least(partial, query, count, needed) - _SLACK
            if rest[done] < least:
                found = np.flatnonzero(partial >= self._partial_needed(least, float(rest[done])))
                if len(found) <= _FEW or done == len(dims):
                    return self._vectors.living_among(found)
            elif done == len(dims):
                return self._vectors.all()  # nothing is too far away
            limit *= 3

    def _sum(self, partial: NDArray[np.float64], dims: NDArray[np.int32], weights: NDArray[np.floating[Any]]) -> None:
        """Adds the products of some dimensions to the partial sums."""
        there = self._lengths[dims] > 0
        lengths = self._lengths[dims[there]]
        if not len(lengths):
            return
        lists = list(zip(dims[there].tolist(), lengths.tolist(), strict=True))
        slots = np.concatenate([self._slots[dim][:length] for dim, length in lists])
        products = np.concatenate([self._values[dim][:length] for dim, length in lists])
        products *= np.repeat(weights[there].astype(np.float32), lengths)
        partial += np.bincount(slots, products, minlength=len(partial))

    def _least(self, partial: NDArray[np.float64], query: Vector, count: int, needed: Needed) -> float:
        """Returns what is needed, given the exact cosines of the slots that look best so far."""
        best = np.flatnonzero(partial > 0)
        most = max(_PROBED, 2 * count)
        if len(best) > most:
            best = np.sort(best[np.argpartition(partial[best], len(best) - most)[-most:]])
        best = self._vectors.living_among(best)
        return needed(best, self._vectors.cosines(best, query))

    @staticmethod
    def _partial_needed(least: float, rest: float) -> float:
        """Returns the smallest partial sum p with p + rest·√(1 − p²/|A|²) ≥ least, for |A|² + rest² = 1, rest < least.

        That is the smaller root of p² − 2·least·|A|²·p + |A|²·(least² − rest²) = 0.
        """
        if least > 1:
            return least
        summed = max(0.0, 1 - rest * rest)
        inside = summed * summed * least * least - summed * (least * least - rest * rest)
        return least * summed - math.sqrt(max(0.0, inside)) - _SLACK

    def _build(self) -> None:
        """Builds the lists of all vectors at once."""
        slots = self._vectors.all()
        if not len(slots):
            return
        owners, dims, values = self._vectors.flat(slots)
        small = self._vectors.dimensions <= 1 << 16
        order = np.argsort(dims.astype(np.uint16) if small else dims, kind="stable")  # 16 bits are sorted by radix
        owners, values = owners[order], values[order]
        self._lengths = np.bincount(dims, minlength=self._vectors.dimensions).astype(np.int64)
        ends = np.cumsum(self._lengths)
        for dim in np.flatnonzero(self._lengths).tolist():
            inside = slice(int(ends[dim] - self._lengths[dim]), int(ends[dim]))
            self._slots[dim], self._values[dim] = owners[inside].copy(), values[inside].copy()
