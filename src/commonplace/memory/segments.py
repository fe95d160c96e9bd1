"""What a stream has worked out of its memories, kept in files that are mapped when it is opened again.

A segment has the columns of some memories, the texts that they say first, and the postings of their words. Segments
follow one another: each begins where the one before it ends. What may change of any memory is in every segment for all
memories so far, and the last segment holds. Nothing in a file is trusted: whatever does not fit raises ValueError, and
the stream is made of its rows instead.
"""

from __future__ import annotations

import json
import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from mmap import ACCESS_COPY, mmap
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import Indices
from commonplace.memory.record import KINDS
from commonplace.paths import kind_of

Arrays = Mapping[str, NDArray[Any]]
Counts = Mapping[str, int]
"""How many there are of each of `COUNTED`."""
Labels = Sequence[tuple[str, ...]]

FORMAT = 3
"""Raised whenever something in a segment has another meaning or would be worked out otherwise: a column of a blend, for
instance. Tokens are under the name of the analyser, vectors under that of the embedder."""
COUNTED = ("rows", "sayings", "rests", "vectors", "shapes", "subjects", "places")
_TYPES = {
    "kind": "u1",
    "tokens": "<i4",
    "created": "<i8",
    "saying": "<i4",
    "tick": "<i4",
    "rest": "<i4",
    "event_length": "<i4",
    "subject": "<i4",
    "place": "<i4",
    "asks": "u1",
    "spoken": "u1",
    "terms_of": "<i4",
    "text_length": "<i4",
    "text_crc": "<u4",
    "derived": "u1",
    "rest_length": "<i4",
    "shapes": "<i8",
    "accessed": "<i8",
    "importance": "<f8",
    "alive": "u1",
    "expires": "<i8",
    "state": "u1",
    "norms": "<f8",
    "whole": "u1",
    "archived": "<i4",
    "failed": "<i4",
    "removed": "<i4",
    "recurrence": "<f8",
    "events": "u1",
    "texts": "u1",
    "rests": "u1",
    "terms": "u1",
    "term_ends": "<i8",
    "starts": "<i8",
    "documents": "<i4",
    "codes": "<i4",
    "gram": "<u8",
    "gram_term": "<i4",
    "grams_of": "<i4",
}
"""Array → type of its numbers; `vectors` may have either of two."""
_WIDTHS = {"<i2": 2, "<f4": 4}
_PER = {
    "rows": (
        *("kind", "tokens", "created", "saying", "tick", "rest", "event_length"),
        *("subject", "place", "asks", "spoken", "terms_of"),
    ),
    "sayings": ("text_length", "text_crc", "derived"),
    "rests": ("rest_length",),
    "shapes": ("shapes",),
}
"""Arrays that a segment has for what is new in it."""
_WHOLE = {"rows": ("accessed", "importance", "alive"), "sayings": ("state", "norms")}
"""Arrays that a segment has for all that there is."""
_NOTHING = np.empty(0, dtype=np.uint8)
_HEAD = b"commonplace index\n"
_ALIGNED = 64
_MAPPED = 1 << 20
"""Bytes from which a file is mapped: each that is costs a file handle while the stream is open."""
_SPARE = 4
"""A file of vectors is a hole longer by this part of its rows, so that new vectors need no copy of the old ones."""
_FOREVER = 315_537_897_600_000_000
"""Microseconds from the year 1 to the end of the year 9999."""
_WAITING = 4
"""State of a saying whose vector has not been made."""
_MOST_CODES = 1 << 21
"""Code points that a letter may have."""


class Segment(NamedTuple):
    """What one file holds."""

    arrays: Arrays
    since: Counts
    """How much there was before it."""
    counts: Counts
    """How much there is with it."""
    labels: Mapping[str, Labels]
    """The new ones of `subjects` and `places`."""
    spare: NDArray[Any] | None = None
    """`vectors` with the room behind them."""


def write_segment(path: Path, segment: Segment) -> None:
    """Writes a new file and waits for the disk."""
    places: dict[str, tuple[str, tuple[int, ...], int]] = {}
    offset = 0
    for name, array in segment.arrays.items():
        places[name] = array.dtype.str.replace("|", ""), array.shape, offset
        offset += -(-array.nbytes // _ALIGNED) * _ALIGNED
    head: dict[str, Any] = {"arrays": places, "since": segment.since, "counts": segment.counts}
    text = json.dumps({**head, "labels": segment.labels}).encode()
    begin = _begin(len(text))
    with path.open("xb") as file:
        file.write(_HEAD + len(text).to_bytes(8, "little") + text)
        for name, array in segment.arrays.items():
            file.seek(begin + places[name][2])
            file.write(np.ascontiguousarray(array).data)
        end = begin + offset
        vectors = segment.arrays.get("vectors")
        if vectors is not None and not segment.since["rows"] and end >= _MAPPED:
            end += len(vectors) // _SPARE * vectors.itemsize * vectors.shape[1]
        file.truncate(end)
        file.flush()
        os.fsync(file.fileno())


def _begin(length: int) -> int:
    return -(-(len(_HEAD) + 8 + length) // _ALIGNED) * _ALIGNED


def read_segments(paths: Sequence[Path], rows: int) -> list[Segment]:
    """Maps files that follow one another, up to so many memories. Raises OSError and `UNREADABLE` of the codec."""
    segments = [_read(path) for path in paths]
    _refuse_wrong(segments, rows)
    return segments


def _read(path: Path) -> Segment:
    _require(kind_of(path) == "file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = mmap(file.fileno(), 0, access=ACCESS_COPY) if size >= _MAPPED else bytearray(file.read())
    start = len(_HEAD) + 8
    _require(data[: len(_HEAD)] == _HEAD)
    length = int.from_bytes(data[len(_HEAD) : start], "little")
    _require(start + length <= len(data))
    head: Any = json.loads(bytes(data[start : start + length]))
    begin, arrays, spare = _begin(length), dict[str, NDArray[Any]](), None
    for name, (kind, shape, offset) in head["arrays"].items():
        flat = 1 if name not in ("vectors", "shapes") else 2
        known = kind in _WIDTHS if name == "vectors" else kind == _TYPES[name]
        _require(known and len(shape) == flat and all(type(one) is int and one >= 0 for one in (*shape, offset)))
        dtype, count = np.dtype(kind), int(np.prod(shape, dtype=object))
        _require(offset % _ALIGNED == 0 and begin + offset + count * dtype.itemsize <= len(data))
        arrays[name] = np.frombuffer(data, dtype, count, begin + offset).reshape(shape)
        if name == "vectors" and shape[1] and isinstance(data, mmap):
            room = (len(data) - begin - offset) // (dtype.itemsize * shape[1])
            spare = np.frombuffer(data, dtype, room * shape[1], begin + offset).reshape(room, shape[1])
    _require(not _TYPES.keys() - arrays.keys())
    since, counts = ({name: head[part][name] for name in COUNTED} for part in ("since", "counts"))
    labels = {name: [tuple(words) for words in head["labels"][name]] for name in ("subjects", "places")}
    _require(all(isinstance(word, str) for some in labels.values() for words in some for word in words))
    _require(all(type(count) is int for count in (*since.values(), *counts.values())))
    return Segment(arrays, since, counts, labels, spare)


def _require(fits: bool | np.bool_) -> None:
    if not fits:
        raise ValueError("the file is not a segment, or not of this stream")


def _within(array: NDArray[Any], low: float, high: float) -> bool:
    """Returns whether all numbers are within [low, high)."""
    return not len(array) or bool(array.min() >= low and array.max() < high)


def _refuse_wrong(segments: Sequence[Segment], rows: int) -> None:
    """Raises ValueError unless everything that is later used as a number of something is one."""
    before: Counts = dict.fromkeys(COUNTED, 0)
    _require(len(segments) > 0 and segments[-1].counts["rows"] == rows)
    total = segments[-1].counts
    for arrays, since, counts, labels, _ in segments:
        new = {name: counts[name] - since[name] for name in COUNTED}
        _require(since == before and min(new.values()) >= 0)
        before = counts
        _require(all(len(arrays[name]) == new[per] for per, names in _PER.items() for name in names))
        _require(all(len(some) == new[name] for name, some in labels.items()))
        _require(len(arrays["vectors"]) == new["vectors"] if new["vectors"] else True)
        for lengths, data in (("text_length", "texts"), ("rest_length", "rests"), ("event_length", "events")):
            _require(_within(arrays[lengths], 0, 1 << 31) and int(arrays[lengths].sum()) == len(arrays[data]))
        for name, limit in (("saying", "sayings"), ("rest", "rests"), ("subject", "subjects"), ("place", "places")):
            _require(_within(arrays[name], 0, total[limit]))
        _require(_within(arrays["kind"], 0, len(KINDS)) and _within(arrays["created"], 0, _FOREVER))
        _require(_within(arrays["terms_of"], 0, 1 << 31) and arrays["shapes"].shape[1] == 2)
        tf, length = arrays["shapes"].T
        _require(_within(tf, 1, 1 << 31) and bool((length >= tf).all()))
        _refuse_wrong_terms(arrays, since["rows"], counts)
    for name in ("subjects", "places"):
        _require(len({words for segment in segments for words in segment.labels[name]}) == total[name])
    _refuse_wrong_whole(segments[-1].arrays, total)


def _refuse_wrong_terms(arrays: Arrays, first: int, counts: Counts) -> None:
    starts, ends, documents = arrays["starts"], arrays["term_ends"], arrays["documents"]
    count = len(ends)
    _require(len(starts) == count + 1 and len(arrays["grams_of"]) == count)
    _require(starts[0] == 0 and starts[-1] == len(documents) == len(arrays["codes"]))
    _require(bool((np.diff(starts) > 0).all()) and bool((np.diff(ends) > 0).all()))
    _require(not count or (ends[0] > 0 and ends[-1] == len(arrays["terms"])))
    _require(_within(documents, first, counts["rows"]) and _within(arrays["codes"], 0, counts["shapes"]))
    ascending = np.diff(documents) > 0
    ascending[starts[1:-1] - 1] = True
    _require(bool(ascending.all()))
    _require(_within(arrays["gram_term"], 0, count) and len(arrays["gram"]) == len(arrays["gram_term"]))
    _require(_within(arrays["grams_of"], 0, 1 << 31))


def _refuse_wrong_whole(arrays: Arrays, total: Counts) -> None:
    rows = total["rows"]
    _require(all(len(arrays[name]) == total[per] for per, names in _WHOLE.items() for name in names))
    _require(
        _within(arrays["accessed"], 0, _FOREVER)
        and bool(((arrays["importance"] >= 1) & (arrays["importance"] <= 10)).all())
    )
    _require(len(arrays["expires"]) in (0, rows) and len(arrays["recurrence"]) in (0, 4))
    _require(_within(arrays["recurrence"], 0, math.inf))
    _require(_within(arrays["archived"], 1, rows + 1) and _within(arrays["failed"], 1, rows + 1))
    _require(_within(arrays["removed"], 0, rows) and bool((np.diff(arrays["removed"]) > 0).all()))
    _require(_within(arrays["state"], 0, _WAITING + 1) and bool((arrays["norms"] > 0).all()))
    _require(bool((arrays["state"][total["vectors"] :] == _WAITING).all()) and len(arrays["whole"]) == 1)


def in_one_piece(arrays: Arrays) -> bytes:
    """Returns the arrays of a segment as bytes; `apart` gives them back, and empty ones for those that are missing."""
    each = [arrays.get(name, _NOTHING) for name in _TYPES]
    vectors = arrays["vectors"]
    sizes = [*map(len, each), *vectors.shape, vectors.itemsize]
    return b"".join([array.tobytes() for array in (np.array(sizes, dtype="<i4"), *each, vectors)])


def apart(data: bytes) -> Segment:
    """Returns the segment that has these arrays and no labels."""
    *sizes, count, dimensions, width = np.frombuffer(data, "<i4", len(_TYPES) + 3).tolist()
    place, arrays = 4 * (len(_TYPES) + 3), dict[str, NDArray[Any]]()
    for (name, kind), size in zip(_TYPES.items(), sizes, strict=True):
        arrays[name] = np.frombuffer(data, kind, size, place)
        place += arrays[name].nbytes
    kinds = {size: kind for kind, size in _WIDTHS.items()}
    arrays["vectors"] = np.frombuffer(data, kinds[width], count * dimensions, place).reshape(count, dimensions)
    return Segment(arrays, dict.fromkeys(COUNTED, 0), {"vectors": count}, {})


def joined(segments: Sequence[Segment], name: str, dtype: Any = None) -> NDArray[Any]:
    """Returns an array of all segments as one, a copy."""
    return np.concatenate([segment.arrays[name] for segment in segments], dtype=dtype, casting="unsafe")


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Texts:
    """Texts by number, decoded when they are read. New ones are added at the end as to a list."""

    def __init__(self, segments: Sequence[Segment], lengths: str, data: str) -> None:
        parts = [segment for segment in segments if len(segment.arrays[lengths])]
        self._ends = [np.cumsum(part.arrays[lengths], dtype=np.int64) for part in parts]
        self._data = [_viewed(part.arrays[data]) for part in parts]
        counts = np.cumsum([0, *map(len, self._ends)]).tolist()
        self._firsts: list[int] = counts[:-1]
        self.kept: int = counts[-1]
        """How many are in segments."""
        self._new: list[str] = []

    def __len__(self) -> int:
        return self.kept + len(self._new)

    def __getitem__(self, number: int) -> str:
        if number >= self.kept:
            return self._new[number - self.kept]
        part = bisect_right(self._firsts, number) - 1
        ends, place = self._ends[part], number - self._firsts[part]
        start = ends.item(place - 1) if place else 0
        return decoded(self._data[part][start : ends.item(place)])

    def __delitem__(self, some: slice) -> None:
        del self._new[max(0, some.start - self.kept) :]

    def append(self, text: str) -> None:
        self._new.append(text)

    def extend(self, texts: Iterable[str]) -> None:
        self._new.extend(texts)

    def packed(self, since: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Returns (bytes of each, all bytes) of those from `since` on: all, or some of the new ones."""
        lengths, data = packed_texts(self._new[max(0, since - self.kept) :])
        if since >= self.kept:
            return lengths, data
        before = [np.diff(ends, prepend=0).astype(np.int32) for ends in self._ends]
        kept = [np.frombuffer(data, dtype=np.uint8) for data in self._data]
        return np.concatenate([*before, lengths]), np.concatenate([*kept, data])


def _viewed(array: NDArray[Any]) -> memoryview:
    return array.data if len(array) else memoryview(b"")


def packed_texts(texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Returns (bytes of each, all bytes)."""
    some = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.fromiter(map(len, some), dtype=np.int32, count=len(some))
    return lengths, np.frombuffer(b"".join(some), dtype=np.uint8)


def packed_since(texts: list[str] | Texts, since: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Returns (bytes of each, all bytes) of the texts from `since` on."""
    return texts.packed(since) if isinstance(texts, Texts) else packed_texts(texts[since:])


def without(
    lengths: NDArray[np.int32], data: NDArray[np.uint8], gone: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Returns (bytes of each, all bytes) with nothing in the place of some of the texts."""
    return np.where(gone, np.int32(0), lengths), data[np.repeat(~gone, lengths)]


def unused(count: int, used: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Returns which of so many numbers are not used."""
    found = np.ones(count, dtype=np.bool_)
    found[used] = False
    return found


def decoded(data: memoryview) -> str:
    """Returns the text; what is none is shown as replacement characters."""
    try:
        return str(data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return str(data, "utf-8", "replace")


class ByText:
    """Which texts have a checksum."""

    def __init__(self, checksums: NDArray[np.uint32]) -> None:
        self._checksums = checksums
        self._order: Indices | None = None

    def like(self, text: str) -> list[int]:
        """Returns the numbers of the texts that may be this one, ascending."""
        if self._order is None:
            self._order = np.argsort(self._checksums, kind="stable")
            self._checksums = self._checksums[self._order]
        wanted = np.uint32(checksum(text))
        start, end = (int(self._checksums.searchsorted(wanted, side)) for side in ("left", "right"))
        return self._order[start:end].tolist()


def checksum(text: str) -> int:
    """Returns the CRC-32 of a text."""
    return crc32(text.encode("utf-8", "surrogatepass"))


# ── terms ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class KeptTerms:
    """The terms of one segment, ascending by their bytes, with their documents and their spelling."""

    def __init__(self, segment: Segment) -> None:
        arrays = segment.arrays
        self._ends, self._starts = arrays["term_ends"], arrays["starts"]
        self._documents, self._codes = arrays["documents"], arrays["codes"]
        self._gram, self._gram_term, self._grams_of = arrays["gram"], arrays["gram_term"], arrays["grams_of"]
        self._terms = _viewed(arrays["terms"])

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """Returns (documents, codes) of a term; None if it is not here."""
        wanted = term.encode("utf-8", "surrogatepass")
        number = bisect_left(range(len(self._ends)), wanted, key=self._bytes)
        if number == len(self._ends) or self._bytes(number) != wanted:
            return None
        some = slice(self._starts.item(number), self._starts.item(number + 1))
        return self._documents[some], self._codes[some]

    def all(self) -> list[str]:
        """Returns the terms, ascending."""
        return [decoded(memoryview(self._bytes(number))) for number in range(len(self._ends))]

    def each(self) -> Iterator[tuple[str, NDArray[np.int32]]]:
        """Returns each term with its documents."""
        starts: list[int] = self._starts.tolist()
        for term, start, end in zip(self.all(), starts, starts[1:], strict=False):
            yield term, self._documents[start:end]

    def like(self, grams: Sequence[str], least: float) -> list[tuple[str, float]]:
        """Returns (term, Dice's coefficient of its trigrams and these) of those that reach the least."""
        spans = [
            (self._gram.searchsorted(code, "left"), self._gram.searchsorted(code, "right"))
            for code in map(_code, grams)
        ]
        found = np.concatenate([self._gram_term[start:end] for start, end in spans])
        terms, counts = np.unique(found, return_counts=True)
        likeness = 2 * counts / (len(grams) + self._grams_of[terms])
        near = likeness >= least
        pairs = zip(terms[near].tolist(), likeness[near].tolist(), strict=True)
        return [(decoded(memoryview(self._bytes(term))), alike) for term, alike in pairs]

    def _bytes(self, number: int) -> bytes:
        start = self._ends.item(number - 1) if number else 0
        return self._terms[start : self._ends.item(number)].tobytes()


def _code(gram: str) -> np.uint64:
    first, second, third = map(ord, gram)
    return np.uint64((first * _MOST_CODES + second) * _MOST_CODES + third)


def spelling_of(terms: Sequence[str], spelt: Sequence[bool]) -> dict[str, NDArray[Any]]:
    """Returns the trigrams of those terms that have a spelling, each once a term: `gram` (ascending), the `gram_term`
    it is in, and how many `grams_of` each term there are."""
    which = np.flatnonzero(np.array(spelt, dtype=np.bool_))
    marked = [f"<{terms[number]}>" for number in which.tolist()]
    letters = np.frombuffer("".join(marked).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    lengths = np.fromiter(map(len, marked), dtype=np.int64, count=len(marked))
    owner = np.repeat(which, lengths)
    most = np.uint64(_MOST_CODES)
    codes = (letters[:-2] * most + letters[1:-1]) * most + letters[2:]
    inside = owner[:-2] == owner[2:]
    codes, owner = codes[inside], owner[:-2][inside]
    order = np.lexsort((owner, codes))
    codes, owner = codes[order], owner[order]
    fresh = np.ones(len(codes), dtype=np.bool_)
    fresh[1:] = (codes[1:] != codes[:-1]) | (owner[1:] != owner[:-1])
    codes, owner = codes[fresh], owner[fresh]
    counted = np.bincount(owner, minlength=len(terms)).astype(np.int32)
    return {"gram": codes, "gram_term": owner.astype(np.int32), "grams_of": counted}
