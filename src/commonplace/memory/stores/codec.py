"""A memory as the cells of a row, and back: what all stores with columns share. Lossless for whatever JSON can hold."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

from commonplace.errors import UsageError
from commonplace.memory.columns import micros, moment
from commonplace.memory.record import Emotion, Kind, Memory

# ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────────


_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_NOTHING: Mapping[str, Any] = {}


class Cells(NamedTuple):
    """A row without its character and its vector."""

    id: int
    tick: int
    kind: str
    importance: float
    created: int
    """Microseconds since the year 1."""
    accessed: int
    text: str
    rest: str
    """JSON of the fields that most memories leave at their default; empty where all do."""


def cells_of(memory: Memory) -> Cells:
    """The row of a memory. Raises UsageError for details that JSON cannot hold."""
    created = micros(memory.created_at)
    return Cells(
        memory.id,
        memory.tick,
        memory.kind,
        memory.importance,
        created,
        created if memory.accessed_at is memory.created_at else micros(memory.accessed_at),
        memory.text,
        rest_of(memory),
    )


def memory_of(agent: str, cells: tuple[int, int, str, float, int, int, str, str]) -> Memory:
    """The inverse of `cells_of`. Raises ValueError for what is no row of a memory."""
    id, tick, kind, importance, created, accessed, text, rest = cells
    created_at = moment(created)
    accessed_at = created_at if accessed == created else moment(accessed)
    more = _parsed(rest) if rest else ()
    return Memory(id, agent, cast(Kind, kind), text, created_at, accessed_at, tick, importance, *more)


@lru_cache(maxsize=1024)
def _parsed(rest: str) -> tuple[Any, ...]:
    """The rarer fields in the order of the record; cached, because many memories share place and session."""
    more: dict[str, Any] = json.loads(rest)
    valence, arousal, confidence, keywords = more.get("emotion") or (None, 0, 0, ())
    return (
        tuple(more.get("citations", ())),
        tuple(more.get("place", ())),
        None if valence is None else Emotion(valence, arousal, confidence, tuple(keywords)),
        more.get("source", ""),
        more.get("session", ""),
        tuple(more.get("tags", ())),
        more.get("event", ""),
        more.get("details", _NOTHING),
    )


def rest_of(memory: Memory) -> str:
    """The rarer fields as JSON. Raises UsageError for details that JSON cannot hold."""
    more: dict[str, Any] = {}
    if memory.citations:
        more["citations"] = memory.citations
    if memory.place:
        more["place"] = memory.place
    if memory.emotion is not None:
        felt = memory.emotion
        more["emotion"] = (felt.valence, felt.arousal, felt.confidence, felt.keywords)
    if memory.source:
        more["source"] = memory.source
    if memory.session:
        more["session"] = memory.session
    if memory.tags:
        more["tags"] = memory.tags
    if memory.event:
        more["event"] = memory.event
    if memory.details:
        more["details"] = memory.details if type(memory.details) is dict else dict(memory.details)
    return as_json(more) if more else ""


def as_json(value: Any) -> str:
    """JSON in characters that UTF-8 can hold: lone surrogates are escaped. Raises UsageError for what is not JSON."""
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


# ── packing ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Archived memories, made small.


def packed_text(text: str, rest: str) -> bytes:
    """A memory's text and rarer fields, deflated."""
    return zlib.compress(json.dumps([text, rest]).encode())


def unpacked_text(packed: bytes) -> tuple[str, str]:
    """The inverse of `packed_text`. Raises zlib.error or ValueError for bytes that are none."""
    text, rest = json.loads(zlib.decompress(packed))
    return text, rest
