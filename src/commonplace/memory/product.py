"""The products of all vectors of a stream with a question's, which are most of the time of a recall by cosine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.embedding import LATTICE_NORM, Vector

Product = Callable[[NDArray[np.float32], Vector, Vector], None]
"""(vectors, a question's, where to put the products)."""

_BLOCK = 147_456
"""Numbers in a small matrix product: enough for its speed, too few for BLAS to wake its threads, which slow it down."""
_TRIES = 4


def by_row(vectors: NDArray[np.float32], question: Vector, out: Vector) -> None:
    """One row after the other: what a row gives does not depend on the rows around it."""
    np.vecdot(vectors, question, out=out)


def by_block(vectors: NDArray[np.float32], question: Vector, out: Vector) -> None:
    """A few rows at once, summed in an order that depends on the processor and the row's place."""
    rows = max(1, _BLOCK // vectors.shape[1])
    whole = len(vectors) - len(vectors) % rows
    blocks = vectors[:whole].reshape(-1, rows, vectors.shape[1])
    np.matmul(blocks, question, out=out[:whole].reshape(-1, rows))
    by_row(vectors[whole:], question, out[whole:])


class Fastest:
    """Of several ways to the same products, the one that was fastest here: that differs between processors.

    All are tried in turn until each has been timed a few times, separately for every order of magnitude.
    """

    def __init__(self, *ways: Product) -> None:
        self._ways = ways
        self._spent: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
        self._chosen: dict[int, Product] = {}

    def __call__(self, vectors: NDArray[np.float32], question: Vector, out: Vector) -> None:
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


def on_lattice(vectors: NDArray[np.float32], norms: NDArray[np.float64]) -> bool:
    """Whether all vectors are lattice vectors; `norms`: theirs, infinite for what is not to be compared."""
    return bool((np.rint(vectors) == vectors).all() and (norms[np.isfinite(norms)] <= LATTICE_NORM).all())
