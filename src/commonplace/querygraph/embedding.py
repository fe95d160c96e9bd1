"""Vectors for questions: character n-grams hashed into a fixed number of dimensions, without a model.

Vectors are sparse. Those of `HashedNgrams` are counts, so a dot product is the same whole number in whatever order it
is summed, and a cosine the same on every machine. The graph divides by the lengths, so an embedder need not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_intdigest

from commonplace.errors import UsageError
from commonplace.querygraph.keys import NORM_VERSION, normalised

LONGEST = 20_000
"""Characters of a normalised text that are embedded."""


class Vector(NamedTuple):
    """A sparse vector: values other than 0 at ascending dimensions."""

    dims: NDArray[np.int32]
    values: NDArray[np.float32]

    @property
    def square(self) -> float:
        """The squared length."""
        exact = self.values.astype(np.float64)
        return float(exact @ exact)

    def pairs(self) -> list[list[float]]:
        """Returns `[[dimension, value], …]`, as snapshots hold it; whole values as integers."""
        whole = self.values.astype(np.int32)
        values = whole if (whole == self.values).all() else self.values
        return [list(pair) for pair in zip(self.dims.tolist(), values.tolist(), strict=True)]


class Embedder(Protocol):
    """A function from texts to numbers. Any object with these members is an embedder; there is no base class."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, text: str) -> Mapping[int, float] | Sequence[float] | Vector:
        """Returns dimension → value, or a value for each dimension. Only the direction matters, not the length."""
        ...

    def export_state(self) -> dict[str, Any]:
        """Returns all that its vectors depend on, as JSON. Vectors of different states are never compared."""
        ...


class HashedNgrams:
    """Character n-grams of the normalised text, each hashed with xxh3-128 to one of `dim` dimensions and counted.

    A text shorter than the smallest n-gram is one gram.
    """

    def __init__(self, ngram_range: tuple[int, int] = (3, 5), dim: int = 16_384, seed: int = 0) -> None:
        low, high = ngram_range
        if not 1 <= low <= high <= 16:
            raise UsageError(f"ngram_range is {ngram_range}; expected two numbers from 1 to 16, the smaller first")
        if not 16 <= dim <= 1 << 24:
            raise UsageError(f"dim is {dim}; expected 16 to {1 << 24}")
        self.ngram_range = (low, high)
        self.dimensions = dim
        self.seed = seed
        self._dims: dict[str, int] = {}

    def embed(self, text: str) -> Vector:
        """Counts how often each dimension is hit."""
        run = normalised(text)[:LONGEST]
        low, high = self.ngram_range
        grams = [run[i : i + size] for size in range(low, high + 1) for i in range(len(run) - size + 1)] or [run]
        known = self._dims
        if len(known) > 1 << 18:  # about 25 MB; starting over costs a few milliseconds
            known = self._dims = {}
        hits: dict[int, int] = {}
        for gram in grams:
            dim = known.get(gram)
            if dim is None:
                dim = known[gram] = xxh3_128_intdigest(gram.encode(), self.seed) % self.dimensions
            hits[dim] = hits.get(dim, 0) + 1
        return vector_of(hits, self.dimensions)

    def export_state(self) -> dict[str, Any]:
        """Returns the state from which `from_state` makes the same embedder."""
        return {
            "kind": "hashed-ngrams",
            "ngram_range": list(self.ngram_range),
            "dim": self.dimensions,
            "seed": self.seed,
            "hash_algo": "xxh3-128",
            "norm_version": NORM_VERSION,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> HashedNgrams:
        """Returns the embedder of an exported state. Raises UsageError for the state of another embedder."""
        if state.get("kind") != "hashed-ngrams":
            kind = state.get("kind")
            raise UsageError(f"vectors of another embedder ({kind!r})", hint="pass that embedder: embedder=…")
        try:
            low, high = state["ngram_range"]
            return cls((int(low), int(high)), int(state["dim"]), int(state["seed"]))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UsageError("the state of the embedder cannot be read", hint="pass an embedder: embedder=…") from error


def vector_of(given: Mapping[int, float] | Sequence[float] | Vector, dimensions: int) -> Vector:
    """Returns an embedder's output as a sparse vector. Raises UsageError for other dimensions and non-finite values."""
    if isinstance(given, Vector):
        return given
    if isinstance(given, Mapping):
        pairs = sorted(given.items())
        dims = np.array([dim for dim, _ in pairs], dtype=np.int64)
        values = np.array([value for _, value in pairs], dtype=np.float32)
    else:
        values = np.asarray(given, dtype=np.float32)
        if values.shape != (dimensions,):
            raise UsageError(f"the embedder gave shape {values.shape}; expected ({dimensions},)")
        dims = np.flatnonzero(values)
        values = values[dims]
    if len(dims) and not 0 <= int(dims[0]) <= int(dims[-1]) < dimensions:
        raise UsageError(f"the embedder gave dimensions {dims[0]} to {dims[-1]}; expected 0 to {dimensions - 1}")
    if not np.isfinite(values).all():
        raise UsageError("the embedder gave a number that is not finite")
    return Vector(dims.astype(np.int32), values)


def cosine(one: Vector, other: Vector) -> float:
    """Returns the cosine of the angle between two vectors; 0 where one of them is empty."""
    _, left, right = np.intersect1d(one.dims, other.dims, assume_unique=True, return_indices=True)
    scale = math.sqrt(one.square * other.square)
    return float(one.values[left].astype(np.float64) @ other.values[right].astype(np.float64)) / scale if scale else 0.0
