"""Vectors for texts, and the lattice that makes their dot products the same on every machine."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from threading import Lock
from typing import Any, Protocol, cast, overload
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import UsageError
from commonplace.languages import DEFAULT, word_list
from commonplace.languages.ko import morphology as korean
from commonplace.text import HANGUL, clean, words

Vector = NDArray[np.float32]
Rows = NDArray[np.int16 | np.float32]
"""A vector per row; whole numbers may be kept in int16."""

USABLE, NO_VECTOR, NON_FINITE, WRONG_SIZE = range(4)
UNUSABLE = {NO_VECTOR: "no_vector", NON_FINITE: "non_finite", WRONG_SIZE: "wrong_size"}
"""Why a memory has no usable vector; its raw relevance is 0."""

LATTICE_NORM = 4096
"""No lattice vector is longer, so every partial sum of a dot product stays within 2²⁴, where float32 is exact."""

_LONGEST = 20_000
"""Characters of a text that are embedded; of a longer text, sums might leave the range in which float32 is exact."""

_HANGUL_WORD = re.compile(f"[{HANGUL}]")


class Embedder(Protocol):
    """Turns texts into vectors of one size. Any object with these three members is an embedder; there is no base class.

    One that compares spelling and not meaning may declare `spelling = True`. One that embeds questions otherwise than
    memories may have `embed_query(texts)`, with the arguments and the result of `embed`. One whose vectors follow from
    the text alone, the same everywhere and at next to no cost, may declare `pure = True`: where the stream's policy
    does not compare vectors, they are not made when a memory is remembered but when they are first read, and stores
    keep none.
    """

    @property
    def name(self) -> str:
        """The configuration in one line. Vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Returns a vector per text, `None` for one that cannot be embedded."""
        ...


def is_pure(embedder: Embedder) -> bool:
    """Returns whether its vectors can be made again at any time, so that none need be kept."""
    return getattr(embedder, "pure", False)


Embeds = Callable[[Sequence[str]], Sequence[Any]]
"""A function from texts to a vector (or None) each."""


class FunctionEmbedder:
    """An embedder made of a function from texts to vectors, which are kept as they are.

    `name`: what made the vectors, to be kept with them in a store. `query`: another function for questions. `spelling`:
    whether it compares spelling and not meaning. The function is called once to learn the size of its vectors.
    """

    def __init__(self, function: Embeds, name: str, *, query: Embeds | None = None, spelling: bool = False) -> None:
        self._function = function
        self._query = query or function
        self.name = name
        self.spelling = spelling
        self.dimensions = len(function(["size"])[0])

    def embed(self, texts: Sequence[str]) -> Sequence[Any]:
        """Returns what the function gives."""
        return self._function(texts)

    def embed_query(self, texts: Sequence[str]) -> Sequence[Any]:
        """Returns what the function for questions gives."""
        return self._query(texts)


UNNAMED = "function"
"""The name of an embedder that is a plain function."""


def as_embedder(given: Embedder | Embeds) -> Embedder:
    """Returns the embedder, or one made of a plain function. Raises UsageError for anything else."""
    if hasattr(given, "embed"):
        return cast(Embedder, given)
    if not callable(given):
        hint = "give an object with name, dimensions and embed(texts), or a function from texts to vectors"
        raise UsageError(f"embedder {given!r:.60} is not an embedder", hint=hint)
    try:
        return FunctionEmbedder(given, UNNAMED)
    except (TypeError, LookupError) as error:
        hint = "it is called with a list of texts, and returns a list with a vector for each"
        raise UsageError(f"embedder {given!r:.60} does not return vectors ({error})", hint=hint) from error


def embed_query(embedder: Embedder, text: str) -> Any:
    """Returns the vector of a question; None if it cannot be embedded."""
    return _embed_queries(embedder, [text])[0]


def _embed_queries(embedder: Embedder, texts: Sequence[str]) -> Sequence[Any]:
    made: Embeds = getattr(embedder, "embed_query", embedder.embed)
    return made(texts)


class EmbeddingWarning(UserWarning):
    """An embedder raised an exception for a question, which was answered without its vector."""


NOT_EMBEDDED: Vector = np.empty(0, dtype=np.float32)
"""The vector of a question that cannot be embedded; no memory can be compared with it."""


def query_vectors(embedder: Embedder, texts: Sequence[str]) -> dict[str, tuple[Any, str]]:
    """Returns question → (its vector, "") or, with an `EmbeddingWarning`, (`NOT_EMBEDDED`, how the embedder failed)."""
    try:
        found = _embed_queries(embedder, texts)
        return {text: (NOT_EMBEDDED if one is None else one, "") for text, one in zip(texts, found, strict=True)}
    except Exception as error:
        return dict.fromkeys(texts, (NOT_EMBEDDED, warned(error)))


def warned(error: Exception) -> str:
    """Returns how the embedder failed on a question, in a line, after an `EmbeddingWarning` that says so."""
    said = f"{type(error).__name__}: {error}"[:200]
    warn(f"the embedder failed on a question ({said}); it is answered without vectors", EmbeddingWarning, 6)
    return said


def lattice(vector: Sequence[float] | NDArray[np.generic]) -> Vector | None:
    """Returns the direction as whole numbers in float32 with norm ≤ 4096; `None` for a zero or non-finite vector.

    Dot products of two such vectors are exact in any order of summation; the cosine moves by about 1e-4.
    """
    exact = np.asarray(vector, dtype=np.float64)
    norm = math.sqrt(np.add.reduce(exact * exact))
    if not 0 < norm < math.inf:
        return None
    # rounding lengthens a vector by at most √d / 2, so leave that much room
    scaled = exact * ((LATTICE_NORM - math.sqrt(len(exact)) / 2) / norm)
    return np.rint(scaled).astype(np.float32)


def packed(vector: Vector) -> bytes:
    """Returns a lattice vector as little-endian int16, two bytes per dimension. Raises UsageError for any other
    vector."""
    whole = vector.astype("<i2")
    if not np.logical_and.reduce(whole == vector, axis=None):
        raise UsageError("the vector is not a lattice vector", hint="store lattice(vector)")
    return whole.tobytes()


def unpacked(data: bytes) -> Vector:
    """Returns the inverse of `packed`."""
    return np.frombuffer(data, dtype="<i2").astype(np.float32)


def usable(given: Any, dimensions: int) -> tuple[int, Vector | None]:
    """Returns (`USABLE` or a key of `UNUSABLE`, the vector as float32 of shape (dimensions,))."""
    if given is None:
        return NO_VECTOR, None
    vector = np.asarray(given, dtype=np.float32)
    if vector.shape != (dimensions,):
        return WRONG_SIZE, None
    if not np.logical_and.reduce(np.isfinite(vector)):  # what `all` does, at half the price
        return NON_FINITE, None
    return USABLE, vector


def norm_of(vector: Vector) -> float:
    """Returns the Euclidean norm, exact up to one rounding for a lattice vector."""
    exact = vector.astype(np.float64)
    return math.sqrt(np.vecdot(exact, exact))


_KEPT = 2048
"""Texts whose vectors the built-in embedder keeps, two bytes a dimension."""
BUILT_IN = "hashed-384-"
"""How the names of all versions of the built-in embedder begin."""


class HashedEmbedder:
    """Character n-grams hashed into 384 dimensions: no download, no model, the same vector everywhere.

    A gram is a row of ±1 taken from the bits of its BLAKE2b digest. A Latin word is the sum of its 3–5-grams between
    boundary marks and of itself, brought to unit weight; Hangul gives the 2- and 3-grams of the stems without spaces
    between them and the first two syllables of every root, so that spacing, particles and endings change little.
    Grammar words are left out unless there are no others.

    `name` changes whenever a vector would.
    """

    dimensions = 384
    name = f"{BUILT_IN}v2"
    spelling = True
    """It compares spelling, not meaning, which BM25 does better: a blend leaves its cosine out."""
    pure = True

    def __init__(self) -> None:
        self._vectors: dict[str, NDArray[np.int16] | None] = {}
        self._rows: dict[str, int] = {}
        self._table = np.zeros((256, self.dimensions), dtype=np.int16)
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Returns a read-only lattice vector of shape (384,) per text; `None` for a text without a word."""
        return [self.embed_one(text) for text in texts]

    def embed_one(self, text: str) -> Vector | None:
        """Returns the vector of one text. Those of the latest texts are kept: a town says the same things all day."""
        known = self._vectors.get(text, self)
        if isinstance(known, HashedEmbedder):
            with self._lock:
                known = self._embed(text)
                if len(self._vectors) >= _KEPT:
                    del self._vectors[next(iter(self._vectors))]
                self._vectors[text] = known
        if known is None:
            return None
        vector = known.astype(np.float32)
        vector.setflags(write=False)
        return vector

    def _embed(self, text: str) -> NDArray[np.int16] | None:
        weights = _features(clean(text)[:_LONGEST])
        if not weights:
            return None
        if len(self._rows) + len(weights) > 32_768:  # 24 MB; starting over costs a few milliseconds
            self._rows.clear()
        known = self._rows
        rows = [known[feature] if feature in known else self._row(feature) for feature in weights]
        factors = np.fromiter(weights.values(), dtype=np.float32, count=len(rows))
        # whole numbers below 2²⁴, so this sum is exact too
        vector = lattice(factors @ self._table.take(rows, axis=0).astype(np.float32))
        return None if vector is None else vector.astype(np.int16)

    def _row(self, feature: str) -> int:
        """Returns the row of a new feature."""
        row = self._rows[feature] = len(self._rows)
        if row >= len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._table[row] = _signs(_grams(feature))
        return row


@cache
def default_embedder() -> HashedEmbedder:
    """Returns the embedder of all streams that are given none, so that a text many characters perceive is embedded
    once."""
    return HashedEmbedder()


def _features(text: str) -> Mapping[str, int]:
    """Returns how often each word, and each gram of the Hangul without its spaces, counts (4 = once)."""
    every = words(text)
    if text.isascii() or not _HANGUL_WORD.search(text):
        grammar, counts = word_list(DEFAULT).function, dict[str, int]()
        for word in [word for word in every if word not in grammar] or every:
            counts[word] = counts.get(word, 0) + 4
        return counts
    counted = _contentful(every) or every
    found: Counter[str] = Counter()
    stems: list[str] = []
    for word in counted:
        if _HANGUL_WORD.match(word):
            stems.append(korean.stem(word))
        else:
            found[word] += 4
    run = "".join(stems)
    for size in (2, 3):
        for start in range(len(run) - size + 1):
            found["#" + run[start : start + size]] += 2
    for stem in stems:
        found["^" + korean.root(stem)[:2]] += 4
    return found


def _contentful(found: Sequence[str]) -> list[str]:
    grammar = word_list(DEFAULT).function
    return [
        word for word in found if word not in grammar and not (_HANGUL_WORD.match(word) and korean.is_grammar(word))
    ]


def _grams(feature: str) -> list[str]:
    """Returns the grams a feature is made of: itself if it is a gram already, else the 3–5-grams of the marked word."""
    if feature[0] in "#^":
        return [feature]
    marked = f"<{feature}>"
    grams = [marked[i : i + size] for size in (3, 4, 5) for i in range(len(marked) - size + 1)]
    return grams + [marked] * max(1, len(grams) // 4)


def _signs(grams: list[str]) -> NDArray[np.int16]:
    """Returns the sum of the grams' ±1 rows, divided by √(number of grams), in 64ths."""
    digests = {gram: _digest(gram) for gram in dict.fromkeys(grams)}  # the whole word is among them several times
    joined = np.frombuffer(b"".join([digests[gram] for gram in grams]), dtype=np.uint8)
    bits = np.unpackbits(joined).reshape(len(grams), 384)
    counted = np.uint8 if len(grams) < 256 else np.int32  # bytes, where they do, in a fifth of the time
    positive: NDArray[np.integer[Any]] = np.add.reduce(bits, axis=0, dtype=counted)
    return _sum_of(len(grams)).take(positive)


@lru_cache(maxsize=256)  # words are short
def _sum_of(count: int) -> NDArray[np.int16]:
    """Returns by the number of positive signs among so many: their sum, divided by √count, in 64ths."""
    return np.rint(64 * (2.0 * np.arange(count + 1) - count) / np.sqrt(count)).astype(np.int16)


_NOTHING_HASHED = blake2b(digest_size=48, person=b"commonplace-v1")


def _digest(gram: str) -> bytes:
    state = _NOTHING_HASHED.copy()  # half the time of making one
    state.update(gram.encode())
    return state.digest()


class GivenVectors:
    """An embedder without a model, for vectors made elsewhere: pass them as `embedding` to `remember` and `recall`.

    `name` is the configuration that made them; vectors of different names are never compared.
    """

    def __init__(self, name: str, dimensions: int) -> None:
        self.name = name
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Returns None for every text."""
        return [None] * len(texts)


# ── vectors in a store ───────────────────────────────────────────────────────────────────────────────────────────────

_TYPES = {2: "<i2", 4: "<f4"}
"""Bytes per dimension → NumPy type."""


def encoded(vector: Vector | None) -> tuple[int, bytes | None]:
    """Returns (bytes per dimension, the exact values): int16 for whole numbers, else float32; (0, None) for None."""
    if vector is None:
        return 0, None
    with np.errstate(invalid="ignore"):  # what does not fit is found by comparing
        whole = vector.astype("<i2")
    if (whole == vector).all():
        return 2, whole.tobytes()
    return 4, vector.astype("<f4").tobytes()


def decoded(width: int, data: bytes | None) -> Vector | None:
    """Returns the inverse of `encoded`. Raises ValueError for another width."""
    if data is None:
        return None
    if width not in _TYPES:
        raise ValueError(f"a vector with {width} bytes per dimension; expected 2 or 4")
    return np.frombuffer(data, dtype=_TYPES[width]).astype(np.float32)


class VectorRows(Sequence["Vector | None"]):
    """Vectors of one size as one matrix, so that loading a long stream need not touch each of them."""

    def __init__(self, matrix: Rows, present: NDArray[np.bool_]) -> None:
        """`matrix`: a row per memory, zeros where it has no vector; `present`: whether it has one."""
        self.matrix = matrix
        self.present = present

    @overload
    def __getitem__(self, index: int) -> Vector | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Vector | None]: ...
    def __getitem__(self, index: int | slice) -> Vector | Sequence[Vector | None] | None:
        if isinstance(index, slice):
            return VectorRows(self.matrix[index], self.present[index])
        return self.matrix[index].astype(np.float32) if self.present[index] else None

    def __len__(self) -> int:
        return len(self.matrix)


def gathered(count: int, found: Sequence[tuple[int, int, bytes]]) -> Sequence[Vector | None]:
    """Returns `count` vectors from (row, bytes per dimension, bytes); as one matrix where all have the same size."""
    sizes = {(width, len(data)) for _, width, data in found}
    if len(sizes) != 1:
        return _one_by_one(count, found)
    ((width, size),) = sizes
    if width not in _TYPES or size % width:
        raise ValueError(f"a vector of {size} bytes with {width} bytes per dimension")
    matrix: Rows = np.zeros((count, size // width), dtype=np.int16 if width == 2 else np.float32)
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
