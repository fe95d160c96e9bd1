"""A memory as the columns of a row, as JSON, and back. Run files and all stores with columns share this."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from typing_extensions import TypedDict  # before Python 3.12, Pydantic reads no other

from commonplace.canon import parsed
from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.columns import micros, moment
from commonplace.memory.embedding import Vector
from commonplace.memory.record import Emotion, Kind, Memory
from commonplace.memory.stores.store import Overtaken, Stored, tombstone

THERE, ARCHIVED, FORGOTTEN = range(3)
"""States of a stored memory."""
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
    """The row of a memory. Raises UsageError for details that JSON cannot hold."""
    created = micros(memory.created_at)
    accessed = created if memory.accessed_at is memory.created_at else micros(memory.accessed_at)
    rare = rare_fields(memory)
    rest = as_json(rare) if rare else ""
    return MemoryRow(memory.id, memory.tick, memory.kind, memory.importance, created, accessed, memory.text, rest)


def memory_of(agent: str, row: tuple[int, int, str, float, int, int, str, str]) -> Memory:
    """The inverse of `row_of`. Raises ValueError or TypeError for a row that is not a memory."""
    id, tick, kind, importance, created, accessed, text, rest = row
    created_at = moment(created)
    accessed_at = created_at if accessed == created else moment(accessed)
    rare = parsed_fields(rest) if rest else _NONE
    return Memory(id, agent, cast(Kind, kind), text, created_at, accessed_at, tick, importance, **rare)


def stored_memory(agent: str, row: tuple[Any, ...], state: int, packed: bytes | None) -> Memory:
    """The memory of a row in any state; `packed`: text and rare fields of an archived one. Raises `UNREADABLE`."""
    if state == FORGOTTEN:
        return tombstone(agent, row[0], row[2])
    if state == ARCHIVED and packed is not None:
        return memory_of(agent, (*row[:6], *unpacked_text(packed)))  # pyright: ignore[reportArgumentType] - COLUMNS
    return memory_of(agent, row)  # pyright: ignore[reportArgumentType] - COLUMNS


def stored_of(
    agent: str,
    rows: Sequence[tuple[tuple[Any, ...], int, bytes | None]],
    vectors: Sequence[Vector | None],
    settings: Mapping[str, Any],
) -> Stored:
    """All of a character from the arguments of `stored_memory`, by id. Raises `UNREADABLE`, also for a missing id."""
    if rows and rows[-1][0][0] != len(rows):
        raise ValueError(f"the last of {len(rows)} memories has id {rows[-1][0][0]}")
    return Stored(
        [stored_memory(agent, row, state, packed) for row, state, packed in rows],
        vectors,
        frozenset(row[0] for row, state, _ in rows if state == FORGOTTEN),
        frozenset(row[0] for row, state, _ in rows if state == ARCHIVED),
        settings,
    )


def refuse_changed(
    agent: str, there: Iterable[tuple[int, int, str, float, int, int, str, str]], before: Iterable[Memory], where: str
) -> None:
    """Raises `Overtaken` if a memory differs from its row in a store, other than by its last access."""
    rows = {row[0]: (*row[:5], *row[6:]) for row in there}
    if any(rows[row.id] != (*row[:5], *row[6:]) for row in map(row_of, before)):
        hint = "`refresh` the stream, and change it again"
        raise Overtaken(f"another stream has changed a memory of {agent}", where=where, hint=hint)


def rare_fields(memory: Memory) -> dict[str, Any]:
    """The fields that most memories leave at their default, ready for JSON and without those that do."""
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
    """The inverse of `rare_fields`, from its JSON, as arguments of `Memory`. Not to be changed by the caller."""
    fields: dict[str, Any] = parsed(rest)
    for name in ("citations", "place", "tags"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "emotion" in fields:
        valence, arousal, confidence, keywords = fields["emotion"]
        fields["emotion"] = Emotion(valence, arousal, confidence, tuple(keywords))
    return fields


class EmotionJSON(TypedDict):
    """An emotion as the public contract has it."""

    valence: float
    arousal: float
    confidence: float
    keywords: Sequence[str]


class MemoryJSON(TypedDict):
    """A memory as the public contract has it: every field of the record but the vector."""

    id: int
    agent: str
    kind: str
    text: str
    created_at: str
    accessed_at: str
    tick: int
    importance: float
    citations: Sequence[int]
    place: Sequence[str]
    emotion: EmotionJSON | None
    source: str
    session: str
    tags: Sequence[str]
    event: str
    details: Mapping[str, Any]


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
        "emotion": EmotionJSON(
            valence=emotion.valence,
            arousal=emotion.arousal,
            confidence=emotion.confidence,
            keywords=list(emotion.keywords),
        )
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
    """What zlib has compressed. Raises ValueError for other bytes, another dictionary, or more than `most` bytes."""
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
    """An archived memory's text and rare fields, compressed."""
    data = json.dumps([text, rest]).encode()
    packed = zlib.compress(data)
    return packed if len(data) <= room(packed) else zlib.compress(data, 0)


def unpacked_text(packed: bytes) -> tuple[str, str]:
    """The inverse of `packed_text`. Raises ValueError for other bytes."""
    text, rest = parsed(inflated(packed, most=room(packed)))
    return text, rest
