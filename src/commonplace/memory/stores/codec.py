"""A memory as the columns of a row, as JSON, and back. Run files and all stores with columns share this."""

from __future__ import annotations

import base64
import json
import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from commonplace.canon import parsed
from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.columns import micros, moment
from commonplace.memory.embedding import Vector, decoded, encoded
from commonplace.memory.record import Emotion, Kind, Memory
from commonplace.memory.stores.store import (
    ARCHIVED,
    FORGOTTEN,
    Add,
    Configure,
    Kept,
    Operation,
    Revise,
    Touch,
    operations_of,
    tombstone,
)

if TYPE_CHECKING:
    from commonplace.memory.shapes import MemoryJSON

UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, zlib.error)
"""What reading a damaged row may raise."""

LONGEST = 1 << 24
"""Bytes that a compressed value may have when it is inflated. A prompt with its answer stays far below."""
RATIO, ROOM = 64, 1 << 13
"""What is read in bulk is inflated to at most `RATIO` times its bytes, or to `ROOM`: 2 MB of a file stay 200 MB."""

_NONE: Mapping[str, Any] = {}

_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_escaped = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


class MemoryRow(NamedTuple):
    """The columns of a memory, without its character and its vector."""

    id: int
    tick: int
    kind: str
    importance: float
    created: int
    """Microseconds since the year 1."""
    accessed: int
    text: str
    rest: str
    """JSON of `rare_fields`; empty without any."""


COLUMNS = ", ".join(MemoryRow._fields)


def row_of(memory: Memory) -> MemoryRow:
    """Returns the row of a memory. Raises UsageError for details that JSON cannot hold."""
    created = micros(memory.created_at)
    accessed = created if memory.accessed_at is memory.created_at else micros(memory.accessed_at)
    rare = rare_fields(memory)
    rest = as_json(rare) if rare else ""
    return MemoryRow(memory.id, memory.tick, memory.kind, memory.importance, created, accessed, memory.text, rest)


def memory_of(agent: str, row: tuple[int, int, str, float, int, int, str, str]) -> Memory:
    """Reads a row that `row_of` has made. Raises ValueError or TypeError for a row that is not a memory."""
    id, tick, kind, importance, created, accessed, text, rest = row
    created_at = moment(created)
    accessed_at = created_at if accessed == created else moment(accessed)
    rare = parsed_fields(rest) if rest else _NONE
    return Memory(id, agent, cast(Kind, kind), text, created_at, accessed_at, tick, importance, **rare)


def stored_memory(agent: str, row: tuple[Any, ...], state: int, packed: bytes | None) -> Memory:
    """Returns the memory of a row in any state. Raises `UNREADABLE`.

    `packed`: text and rare fields of an archived one.
    """
    if state == FORGOTTEN:
        return tombstone(agent, row[0], row[2])
    if state == ARCHIVED and packed is not None:
        return memory_of(agent, (*row[:6], *unpacked_text(packed)))  # pyright: ignore[reportArgumentType] - COLUMNS
    return memory_of(agent, row)  # pyright: ignore[reportArgumentType] - COLUMNS


StoredRow = tuple[tuple[Any, ...], int, bytes | None]
"""The arguments of `stored_memory`, after the character."""


def kept_of(agent: str, rows: Sequence[StoredRow], vectors: Sequence[Vector | None]) -> list[Kept]:
    """Returns the rows in the form into which operations are folded. Raises `UNREADABLE`."""
    return [Kept(stored_memory(agent, *row), vector, row[1]) for row, vector in zip(rows, vectors, strict=True)]


def cells_of(kept: Kept) -> tuple[MemoryRow, bytes | None]:
    """Returns the row and what of it is compressed, as `stored_memory` reads them."""
    row = row_of(kept.memory)
    if kept.state != ARCHIVED:
        return row, None
    return row._replace(text="", rest=""), packed_text(row.text, row.rest)


def operations_in(
    agent: str,
    rows: Sequence[StoredRow],
    vectors: Sequence[Vector | None],
    settings: Mapping[str, Any],
    known: int = 0,
) -> tuple[Operation, ...]:
    """Returns what `operations_of` makes of rows, ordered by id. Raises `UNREADABLE`, also for a missing id."""
    new = len(rows) - bisect_right(rows, known, key=lambda stored: stored[0][0])
    if new and rows[-1][0][0] != known + new:
        raise ValueError(f"the last of {known + new} memories has id {rows[-1][0][0]}")
    memories = [stored_memory(agent, *row) for row in rows]
    return operations_of(memories, vectors, {row[0]: state for row, state, _ in rows if state}, settings, known)


def operation_json(operation: Operation) -> dict[str, Any]:
    """Returns an operation as JSON, for a store that keeps operations.

    Raises UsageError for details that JSON cannot hold.
    """
    match operation:
        case Add(memories, vectors) | Revise(memories, vectors):
            given = None if vectors is None else [_vector_json(vector) for vector in vectors]
            values: Any = {"memories": [row_of(memory) for memory in memories], "vectors": given}
        case Touch(accesses):
            values = {"accesses": [(id, micros(at)) for id, at in accesses.items()]}
        case Configure(settings):
            values = {"settings": dict(settings)}
        case _:
            values = {"ids": list(operation.ids)}
    return {"op": type(operation).__name__, **values}


def operation_of(agent: str, value: Any) -> Operation:
    """Reads what `operation_json` has made. Raises `UNREADABLE` for anything else."""
    kind = _KINDS[value["op"]]
    if kind in (Add, Revise):
        memories = [memory_of(agent, tuple(row)) for row in value["memories"]]  # pyright: ignore[reportArgumentType] - COLUMNS
        return kind(memories, value["vectors"] and [_vector_of(one) for one in value["vectors"]])
    if kind is Touch:
        return Touch({id: moment(at) for id, at in value["accesses"]})
    return kind(value["settings"] if kind is Configure else value["ids"])


_KINDS: Mapping[str, Any] = {kind.__name__: kind for kind in get_args(Operation)}


def _vector_json(vector: Vector | None) -> tuple[int, str] | None:
    width, data = encoded(vector)
    return None if data is None else (width, base64.b64encode(data).decode())


def _vector_of(value: tuple[int, str] | None) -> Vector | None:
    return None if value is None else decoded(value[0], base64.b64decode(value[1]))


def rare_fields(memory: Memory) -> dict[str, Any]:
    """Returns the fields that most memories leave at their default, ready for JSON and without those that do."""
    emotion = memory.emotion
    fields: dict[str, Any] = {
        "citations": memory.citations,
        "place": memory.place,
        "emotion": emotion and (emotion.valence, emotion.arousal, emotion.confidence, emotion.keywords),
        "source": memory.source,
        "session": memory.session,
        "tags": memory.tags,
        "event": memory.event,
        "details": dict(memory.details),
    }
    return {name: value for name, value in fields.items() if value}


@lru_cache(maxsize=1024)  # many memories share their place and session
def parsed_fields(rest: str) -> Mapping[str, Any]:
    """Reads the JSON of `rare_fields` as arguments of `Memory`. The caller must not change them."""
    fields: dict[str, Any] = parsed(rest)
    for name in ("citations", "place", "tags"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "emotion" in fields:
        valence, arousal, confidence, keywords = fields["emotion"]
        fields["emotion"] = Emotion(valence, arousal, confidence, tuple(keywords))
    return fields


def memory_json(memory: Memory) -> MemoryJSON:
    """Every field of the record but the vector, as the public contract has it: moments in ISO format, `emotion` null
    if unknown."""
    emotion = memory.emotion
    return {
        "id": memory.id,
        "agent": memory.agent,
        "kind": memory.kind,
        "text": memory.text,
        "created_at": iso(memory.created_at),
        "accessed_at": iso(memory.accessed_at),
        "tick": memory.tick,
        "importance": memory.importance,
        "citations": list(memory.citations),
        "place": list(memory.place),
        "emotion": {
            "valence": emotion.valence,
            "arousal": emotion.arousal,
            "confidence": emotion.confidence,
            "keywords": list(emotion.keywords),
        }
        if emotion
        else None,
        "source": memory.source,
        "session": memory.session,
        "tags": list(memory.tags),
        "event": memory.event,
        "details": dict(memory.details),
    }


def as_json(value: Any) -> str:
    """JSON in characters that UTF-8 can hold: lone surrogates are escaped.

    Raises UsageError for what is not JSON, NaN and infinity included.
    """
    try:
        text = _plain(value)
    except (TypeError, ValueError) as error:
        hint = "keep strings, numbers, true, false, null, lists and mappings in details"
        raise UsageError(f"details that cannot be stored ({error})", hint=hint) from error
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _escaped(value)
    return text


def inflated(data: bytes, dictionary: bytes = b"", most: int = LONGEST, window: int = zlib.MAX_WBITS) -> bytes:
    """Inflates what zlib has compressed.

    Raises ValueError for other bytes, another dictionary, or more than `most` bytes.
    """
    decoder = zlib.decompressobj(window, zdict=dictionary)
    try:
        found = decoder.decompress(data, most + 1)  # never flushed: that would inflate without a limit
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error
    if len(found) > most:
        raise ValueError(f"it inflates to more than {most} bytes")
    if not decoder.eof or decoder.unused_data:
        raise ValueError("compressed bytes are cut off, or go on after their end")
    return found


def room(packed: bytes) -> int:
    """Bytes that a value of those that are read in bulk may have when it is inflated."""
    return min(LONGEST, max(ROOM, RATIO * len(packed)))


def packed_text(text: str, rest: str) -> bytes:
    """Compresses an archived memory's text and rare fields."""
    data = json.dumps([text, rest]).encode()
    packed = zlib.compress(data)
    return packed if len(data) <= room(packed) else zlib.compress(data, 0)


def unpacked_text(packed: bytes) -> tuple[str, str]:
    """Reads what `packed_text` has made. Raises ValueError for other bytes."""
    text, rest = parsed(inflated(packed, most=room(packed)))
    return text, rest
