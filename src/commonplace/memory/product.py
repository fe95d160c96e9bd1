"""The products of all vectors of a stream with a question's, which are most of the time of a recall by cosine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from commonplace.memory.columns import Scratch
from commonplace.memory.embedding import LATTICE_NORM, Rows, Vector

Product = Callable[[Rows, Vector, Vector], None]
"""(vectors, a question's, where to put the products)."""

_BLOCK = 147_456
"""Numbers multiplied at once: enough for the speed of a matrix product, and few enough to stay in the processor's cache
as float32 and not to wake the threads of BLAS, which slow it down."""
SHARED = 4096
"""Rows from which the threads of BLAS may share a product. They wait busily for each other: a crowd of short streams
would pay twice the processor time for a little less waiting."""
_FEW = 64
"""Rows below which a call costs more than the work done in it."""
_TRIES = 4

_ROOM = Scratch()


def by_row(vectors: Rows, question: Vector, out: Vector) -> None:
    """One row after the other: what a row gives does not depend on the rows around it."""
    if vectors.dtype == np.float32:
        np.vecdot(vectors, question, out)
    else:
        _multiply(np.vecdot, vectors, question, out)


def at_once(vectors: Rows, question: Vector, out: Vector) -> None:
    """Many rows in one product, which the threads of BLAS share; by blocks, where they must become float32 first."""
    if vectors.dtype == np.float32 and len(vectors) > SHARED:
        np.dot(vectors, question, out)
    else:
        by_block(vectors, question, out)


def by_block(vectors: Rows, question: Vector, out: Vector) -> None:
    """A few rows at once, summed in an order that depends on the processor and the row's place."""
    _multiply(np.dot, vectors, question, out)


def _multiply(product: Callable[..., Any], vectors: Rows, question: Vector, out: Vector) -> None:
    """int16 becomes float32 a block at a time: BLAS has no integers, and half as many bytes come from RAM."""
    count, dimensions = vectors.shape
    if vectors.dtype == np.float32:
        rows = max(1, _BLOCK // dimensions)
        for start in range(0, count, rows):
            product(vectors[start : start + rows], question, out[start : start + rows])
        return
    rows = max(1, min(max(_FEW, count // 4), _BLOCK // dimensions))  # a short stream leaves room in the cache
    room = _ROOM.matrix(1, rows * dimensions // 2 + 1).view(np.float32)[0, : rows * dimensions]
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


exact = Fastest(by_row, by_block, at_once)
"""For lattice vectors only: their products are exact in any order of summation."""


def on_lattice(vectors: Rows, longest: float) -> bool:
    """Whether all are lattice vectors; `longest`: the largest of their norms."""
    return longest <= LATTICE_NORM and (vectors.dtype == np.int16 or np.rint(vectors).tobytes() == vectors.tobytes())
