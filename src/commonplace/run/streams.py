"""A character's memories as they were at the end of a tick, read as columns: none of them becomes an object here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import micros
from commonplace.memory.embedding import Embedder, VectorRows, is_pure, unpacked
from commonplace.memory.reader import Snapshot
from commonplace.memory.records import StoredRows
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.memory.stream import MemoryStream
from commonplace.memory.table import KIND_CODES
from commonplace.run.rows import EPOCH, is_text, memory_rest, unpacked_ids, unpacked_vector
from commonplace.run.schema import damage
from commonplace.run.tables import Tables

ROWS = """
SELECT id, tick, kind, importance, text, created, vector, citations, event, details FROM memory
WHERE agent = ? AND tick <= ? ORDER BY id
"""
COLUMNS = 10
"""Of `ROWS`."""
VECTORS = """
SELECT id, value FROM vector WHERE id IN (SELECT vector FROM memory WHERE agent = ? AND tick <= ?)
"""
GONE = "SELECT id FROM memory WHERE agent = ? AND removed <= ? ORDER BY id"
BETWEEN = "SELECT 1 FROM memory WHERE agent = ? AND tick <= ? AND removed > ? AND removed <= ? LIMIT 1"
COUNT = "SELECT coalesce(max(id), 0) FROM memory WHERE agent = ? AND tick <= ?"
_SHIFT = micros(EPOCH)
_LAST = micros(datetime.max.replace(tzinfo=UTC))


def stream_at(reading: Tables, agent: str, tick: int, parts: Mapping[str, Any]) -> MemoryStream:
    """Returns the stream at the end of a tick. Raises RunDamaged for what cannot be read.

    `parts`: as of `MemoryStream`.
    """
    stream, _ = stream_and_snapshots(reading, agent, tick, (), parts)
    return stream


def stream_and_snapshots(
    reading: Tables, agent: str, tick: int, earlier: Sequence[int], parts: Mapping[str, Any]
) -> tuple[MemoryStream, dict[int, Snapshot]]:
    """Returns the stream at the end of a tick, and its snapshots at some earlier ticks. The rows are read once for all.

    Only where something was forgotten since an earlier tick, that snapshot is of a stream of its own.
    """
    rows = _stored(reading, agent, tick, parts["embedder"])
    first = rows.accessed.copy()
    _touch(reading, agent, tick, rows.accessed)
    gone = [id_ for (id_,) in reading.all(GONE, agent, tick)]
    stream = MemoryStream.load(agent, rows, forgotten=gone, **parts)
    snapshots: dict[int, Snapshot] = {}
    for then in earlier:
        if reading.one(BETWEEN, agent, then, then, tick):
            snapshots[then] = stream_at(reading, agent, then, parts).snapshot()
            continue
        length: int = reading.one(COUNT, agent, then)[0]
        accessed = first[:length].copy()
        _touch(reading, agent, then, accessed)
        snapshots[then] = stream.snapshot(length, accessed)
    return stream, snapshots


def _stored(reading: Tables, agent: str, tick: int, embedder: Embedder) -> StoredRows:
    found = reading.all(ROWS, agent, tick)
    columns: Iterable[Sequence[Any]] = zip(*found, strict=True) if found else [()] * COLUMNS
    ids, ticks, kinds, importance, texts, created, vectors, citations, events, details = columns
    for expected, id_ in enumerate(ids, start=1):
        if id_ != expected:
            raise damage(str(reading.path), f"memory {expected} of {agent} is missing")
    if reading.manifest.embedder != embedder.name and is_pure(embedder):
        vectors = [None] * len(ids)  # an older version of the built-in embedder made them: they are made again
    sayings: dict[tuple[str, int | None], int] = {}
    numbers = [sayings.setdefault(pair, len(sayings)) for pair in zip(texts, vectors, strict=True)]
    rests, later = _rests(reading, agent, details, citations)
    try:
        if not all(map(is_text, texts)) or not all(map(isfinite, importance)):
            raise ValueError("text or importance is not that of a memory")
        moments = _moments(created)
        stored = StoredRows(
            texts=[text for text, _ in sayings],
            vectors=_vectors(reading, agent, tick, [vector for _, vector in sayings], embedder.dimensions),
            saying=np.array(numbers, dtype=np.int32),
            kinds=np.array([KIND_CODES[kind] for kind in kinds], dtype=np.uint8),
            importance=np.array(importance, dtype=np.float64),
            created=moments,
            accessed=moments.copy(),
            ticks=np.array(ticks, dtype=np.int32),
            events=events,
            rests=rests,
        )
        stored.accessed[list(later)] = _moments(list(later.values()))
    except UNREADABLE as error:
        raise reading.damaged(f"a memory of {agent}", error) from error
    return stored


def _rests(
    reading: Tables, agent: str, details: Sequence[bytes], citations: Sequence[str]
) -> tuple[list[str], dict[int, int]]:
    """Returns (the rare fields of each memory, the first access of those for which it is not their creation)."""
    known: dict[tuple[bytes, str], tuple[str, int | None]] = {}
    rests: list[str] = []
    later: dict[int, int] = {}
    for row, pair in enumerate(zip(details, citations, strict=True)):
        found = known.get(pair)
        if found is None:
            try:
                found = known[pair] = memory_rest(*pair)
            except UNREADABLE as error:
                raise reading.damaged(f"memory {row + 1} of {agent}", error) from error
        rests.append(found[0])
        if found[1] is not None:
            later[row] = found[1]
    return rests, later


def _vectors(reading: Tables, agent: str, tick: int, wanted: Sequence[int | None], dimensions: int) -> VectorRows:
    """Returns the vectors of these numbers; where there is none, the row is not present."""
    rows = {number: row for row, number in enumerate(wanted) if number is not None}
    matrix = np.zeros((len(wanted), dimensions), dtype=np.int16)
    present = np.zeros(len(wanted), dtype=np.bool_)
    for number, value in reading.all(VECTORS, agent, tick) if rows else ():
        try:
            matrix[rows[number]] = unpacked(unpacked_vector(value))
        except UNREADABLE as error:
            raise reading.damaged(f"vector {number}", error) from error
        present[rows[number]] = True
    return VectorRows(matrix, present)


def _touch(reading: Tables, agent: str, tick: int, accessed: NDArray[np.int64]) -> None:
    """Bring access times to what they were at the end of a tick."""
    for at, ids in reading.all("SELECT at, ids FROM touch WHERE agent = ? AND tick <= ? ORDER BY tick", agent, tick):
        try:
            accessed[np.array(unpacked_ids(ids), dtype=np.intp) - 1] = _moments([at])
        except UNREADABLE as error:
            raise reading.damaged(f"an access to memories of {agent}", error) from error


def _moments(unix: Sequence[int]) -> NDArray[np.int64]:
    """Moments as columns store them, of microseconds since 1970. Raises ValueError for what no calendar has."""
    moments = np.array(unix, dtype=np.int64) + _SHIFT
    if moments.size and not 0 <= moments.min() <= moments.max() <= _LAST:
        raise ValueError("a moment is before the year 1 or after the year 9999")
    return moments
