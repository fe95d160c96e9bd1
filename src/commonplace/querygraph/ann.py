"""An approximate index behind the same protocol: HNSW graphs by usearch, over random projections of the vectors.

It may miss a neighbour; the cosines of what it finds are exact. For graphs of a million questions and more; below that
the inverted index is as fast and misses nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import UsageError, install
from commonplace.querygraph.embedding import Vector
from commonplace.querygraph.search import Needed, Slots, Vectors

_SEED = 8
_MORE = 16
"""Neighbours looked for, for each that is asked for: projections order them roughly."""


class UsearchIndex:
    """An approximate index: `QueryGraph(index=UsearchIndex)`. Needs the extra `ann`."""

    def __init__(self, vectors: Vectors, *, projected: int = 256, expansion: int = 256) -> None:
        """`projected`: numbers of a projection; `expansion`: how widely HNSW searches."""
        self._vectors = vectors
        self._signs = _signs(vectors.dimensions, projected)
        self._found: Any = _usearch().Index(
            ndim=projected, metric="cos", dtype="f32", expansion_add=expansion, expansion_search=expansion
        )
        for slot in vectors.all().tolist():
            self.add(slot, vectors.vector(slot))

    def add(self, slot: int, vector: Vector) -> None:
        """Adds the projection."""
        self._found.add(slot, self._projection(vector))

    def remove(self, slot: int) -> None:
        """Removes the projection."""
        self._found.remove(slot)

    def candidates(self, query: Vector, count: int, needed: Needed) -> Slots:  # noqa: ARG002
        """Returns the nearest slots that were found, at least `16·count`."""
        matches = self._found.search(self._projection(query), max(128, _MORE * count))
        return np.sort(np.asarray(matches.keys).astype(np.intp))

    def _projection(self, vector: Vector) -> NDArray[np.float32]:
        return vector.values @ self._signs[vector.dims]


@cache
def _signs(dimensions: int, projected: int) -> NDArray[np.int8]:
    """Returns a random ±1 for each pair, the same in every process."""
    return np.random.default_rng(_SEED).integers(0, 2, (dimensions, projected), dtype=np.int8) * np.int8(2) - np.int8(1)


def _usearch() -> Any:
    try:
        from usearch import index  # noqa: PLC0415 – an extra
    except ImportError as error:
        raise UsageError("usearch is not installed", hint=install("ann")) from error
    return index
