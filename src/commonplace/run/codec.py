"""Values as rows and back: the one place that knows the order of columns."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from commonplace.canon import canonical, digest
from commonplace.character.plan import PlanItem
from commonplace.clock import hhmm, iso, parse_iso
from commonplace.memory.record import Emotion, Kind, Memory
from commonplace.run.tick_record import AnswerRow, Version
from commonplace.world.events import Event, Phase

# ── primers ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# What zlib is told beforehand of what it packs: keys and phrases that nearly every trace or memory repeats.
#
# Both are part of the file's format: with another primer, what was packed cannot be read. So they never change; a
# better one comes with a new `schema.FORMAT`. What is most frequent stands last, where it is cheapest to refer to.


TRACE = (
    b'"plan_day":[{"do":"","emoji":"","location":"","minutes":0,"routine":0,"start":""}],"asked":[{"in'
    b'put":{"item":{"do":"","location":"","location_name":"","minutes":0,"start":""},"recalled":[0,0]}'
    b',"ordinal":0,"outcome":"value","task":"plan_minutes"}],"asked":[{"input":{"floor":true,"news":[0'
    b'],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"asked":[{"input":{"floor":tr'
    b'ue,"news":[0,0],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"dropped":[["",'
    b'""]],"asked":[{"input":{"hearer":"","purpose":"reply","recalled":[0,0],"told":[""]},"ordinal":0,'
    b'"outcome":"value","task":"converse"}],"retrievals":[{"candidates":0,"hits":[[0,0],[0,0]],"k":0,"'
    b'parts":{"importance":[0,0],"recency":[0,0],"relevance":[0,0]},"policy":"park","purpose":"plan","'
    b'query":""}],"retrievals":[{"candidates":0,"hits":[[0,0],[0,0]],"k":0,"parts":{"importance":[0,0]'
    b',"recency":[0,0],"relevance":[0,0]},"policy":"park","purpose":"talk","query":""}],"asked":[{"inp'
    b'ut":{"news":[0,0],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"asked":[{"in'
    b'put":{"news":[0],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"retrievals":['
    b'{"candidates":0,"hits":[[0,0],[0,0]],"k":0,"parts":{"importance":[0,0],"recency":[0,0],"relevanc'
    b'e":[0,0]},"policy":"park","purpose":"react","query":""}],"reaction":{"asked":0},"asked":[{"input'
    b'":{},"ordinal":0,"outcome":"value","task":"rate"}],"reaction":{"decision":"keep","reason":"nothi'
    b'ng new"},"item":"","percepts":[["",0]],"stored":[[0,""]],'
)
"""The keys of a trace."""

DETAILS = (
    b'"frame":{"level":"day","place":"","start":"","what":"plan"}},"tags":["day"]"source":"scenario"}"tell":["'
    b'"about":"","topic":"","what":"seed"}"about":"","what":"insight"}"sky":"","old":"","what":"weather"'
    b'"object":"","object_name":"","place_name":"","state":"","what":"thing","words":"is "}"what":"absent"'
    b'"other_name":"","what":"arrived","what":"left","outcome":"done","what":"acted"}"why":"","what":"refused"'
    b'"doing":"","object":"","object_name":"","place_name":"","verb":"USE","what":"did"}}'
    b',"emotion":[0.4,0.3,1.0,[""]],"place":["'
    b'{"details":{"frame":{"quote":"","to":"","to_called":"","what":"i_said"}},"place":["'
    b'{"details":{"frame":{"called":"","place_name":"","quote":"","to":"","to_called":"","to_me":"1","what":"said","who":"'
    b'{"details":{"frame":{"called":"","doing":"","place":"","place_name":"","what":"doing","who":""}},"place":["'
)
"""The details of a memory."""


# ── packing ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# How rows are made small: vectors, access lists, details of memories, traces. All of it is lossless.


LEVEL = 6
WINDOW = 13
"""zlib's window in bits; the largest costs 50 µs to set up."""
LONG_WINDOW = 15
"""For prompts, which may be longer than 8 kB."""


def packed_ids(ids: Iterable[int]) -> bytes:
    """Ascending ids as differences, seven bits a byte, low bits first; a set high bit says that more follow."""
    out = bytearray()
    last = 0
    for id in sorted(ids):
        rest, last = id - last, id
        while rest > 0x7F:
            out.append(rest & 0x7F | 0x80)
            rest >>= 7
        out.append(rest)
    return bytes(out)


def unpacked_ids(data: bytes) -> tuple[int, ...]:
    """The inverse of `packed_ids`."""
    ids: list[int] = []
    last = value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            last += value
            ids.append(last)
            value = shift = 0
    return tuple(ids)


def packed_vector(raw: bytes) -> bytes:
    """Little-endian int16 as two planes: low bytes as they are (noise), high bytes, nearly all 0 or −1, Huffman-coded.

    Two thirds of the size, for 15 µs.
    """
    pairs = np.frombuffer(raw, dtype=np.uint8).reshape(-1, 2)
    coder = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)
    high = coder.compress(pairs[:, 1].tobytes()) + coder.flush()
    return len(pairs).to_bytes(2, "little") + pairs[:, 0].tobytes() + high


def unpacked_vector(data: bytes) -> bytes:
    """The inverse of `packed_vector`. Raises ValueError for bytes that are none."""
    dimensions = int.from_bytes(data[:2], "little")
    low = np.frombuffer(data[2 : 2 + dimensions], dtype=np.uint8)
    try:
        high = np.frombuffer(zlib.decompress(data[2 + dimensions :], -15), dtype=np.uint8)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return np.stack([low, high], axis=1).tobytes()


def packed_trace(trace: Mapping[str, Any]) -> bytes:
    """Canonical JSON, deflated; with a check sum, because no digest covers traces."""
    return _deflated(canonical(trace), TRACE, WINDOW)


def unpacked_trace(data: bytes) -> dict[str, Any]:
    """The inverse of `packed_trace`. Raises ValueError for bytes that are none."""
    return json.loads(_inflated(data, TRACE, WINDOW))


def packed_details(details: str, text: str) -> bytes:
    """The details of a memory, deflated: they mostly quote its text."""
    return _deflated(details.encode(), DETAILS + text.encode(), -WINDOW)


def unpacked_details(data: bytes, text: str) -> str:
    """The inverse of `packed_details`. Raises ValueError for bytes that are none, or another text."""
    return _inflated(data, DETAILS + text.encode(), -WINDOW).decode()


def packed_exchange(data: bytes, primer: bytes = b"") -> bytes:
    """What was said, deflated against what was said before; with a check sum, because no digest covers it."""
    return _deflated(data, primer, LONG_WINDOW)


def unpacked_exchange(data: bytes, primer: bytes = b"") -> bytes:
    """The inverse of `packed_exchange`. Raises ValueError for bytes that are none."""
    return _inflated(data, primer, LONG_WINDOW)


def _deflated(data: bytes, primer: bytes, window: int) -> bytes:
    """A negative window leaves out header and check sum."""
    level, memory = (9, 8) if window == LONG_WINDOW else (LEVEL, 5)
    coder = zlib.compressobj(level, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, primer)
    return coder.compress(data) + coder.flush()


def _inflated(data: bytes, primer: bytes, window: int) -> bytes:
    decoder = zlib.decompressobj(window, primer)
    try:
        found = decoder.decompress(data) + decoder.flush()
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not decoder.eof or decoder.unused_data:
        raise ValueError("packed bytes are cut off, or go on after their end")
    return found


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EVENT = "tick, phase, agent, ordinal, type, body"
MEMORY = "agent, id, tick, kind, importance, text, created, citations, event, details"
"""The columns of a memory that never change; `vector` and `removed` stand beside them."""
ANSWER = "agent, tick, ordinal, attempt, task, request, outcome, body"
"""The columns of an answer that are in the state digest."""
VERSION = "tick, owner, kind, key, value"

StoredMemory = tuple[str, int, int, str, float, str, int, str, str, bytes]
"""`MemoryCells` with packed details."""
EventCells = tuple[int, int, str, int, str, str]
MemoryCells = tuple[str, int, int, str, float, str, int, str, str, str]
AnswerCells = tuple[str, int, int, int, str, bytes, str, str]
VersionCells = tuple[int, str, str, str, str]


def micros(moment: datetime) -> int:
    """Whole microseconds since 1970; exact for every datetime."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment(value: int) -> datetime:
    """The inverse of `micros`."""
    return EPOCH + timedelta(microseconds=value)


def text_of(value: Any) -> str:
    """Canonical JSON as text."""
    return canonical(value).decode()


def event_cells(event: Event) -> EventCells:
    """A row of `event`."""
    body = event.body_bytes().decode()
    return (event.tick, int(event.phase), event.agent_id, event.ordinal, event.type, body)


def event_from(cells: EventCells) -> Event:
    """The inverse of `event_cells`."""
    tick, phase, agent, ordinal, type_, text = cells
    body: dict[str, Any] = json.loads(text)
    place = body.pop("place")
    del body["type"]
    return Event(tick, Phase(phase), agent, ordinal, type_, place, body)


def memory_cells(memory: Memory) -> MemoryCells:
    """A memory as it is hashed, without its vector."""
    return (
        memory.agent,
        memory.id,
        memory.tick,
        memory.kind,
        float(memory.importance),
        memory.text,
        micros(memory.created_at),
        _list(memory.citations),
        memory.event,
        text_of(_rarer(memory)),
    )


def packed_memory(cells: MemoryCells) -> StoredMemory:
    """The row of a memory from its cells."""
    return (*cells[:9], packed_details(cells[9], cells[5]))


def unpacked_memory(stored: StoredMemory) -> MemoryCells:
    """The cells of a memory from its row. Raises ValueError for details that cannot be unpacked."""
    return (*stored[:9], unpacked_details(stored[9], stored[5]))


def memory_from(cells: MemoryCells, accessed: int | None = None) -> Memory:
    """The inverse of `memory_cells`; `accessed` is the last access in `micros`, if there was one."""
    agent, id_, tick, kind, importance, text, created, citations, event, details = cells
    rarer: dict[str, Any] = json.loads(details)
    created_at = moment(created)
    last = rarer.get("accessed") if accessed is None else accessed
    return Memory(
        id=id_,
        agent=agent,
        kind=cast(Kind, kind),
        text=text,
        created_at=created_at,
        accessed_at=created_at if last is None else moment(last),
        tick=tick,
        importance=importance,
        citations=tuple(json.loads(citations)) if citations else (),
        place=tuple(rarer.get("place", ())),
        emotion=_as_emotion(rarer.get("emotion")),
        source=rarer.get("source", ""),
        session=rarer.get("session", ""),
        tags=tuple(rarer.get("tags", ())),
        event=event,
        details=rarer.get("details", {}),
    )


def _rarer(memory: Memory) -> dict[str, Any]:
    """What most memories leave at its default, without those that do."""
    emotion = memory.emotion
    fields: dict[str, Any] = {
        "place": list(memory.place),
        "source": memory.source,
        "session": memory.session,
        "tags": list(memory.tags),
        "details": dict(memory.details),
    }
    rarer = {name: value for name, value in fields.items() if value}
    if emotion is not None:
        rarer["emotion"] = [emotion.valence, emotion.arousal, emotion.confidence, list(emotion.keywords)]
    if memory.accessed_at != memory.created_at:
        rarer["accessed"] = micros(memory.accessed_at)
    return rarer


def _as_emotion(cells: Sequence[Any] | None) -> Emotion | None:
    if cells is None:
        return None
    valence, arousal, confidence, keywords = cells
    return Emotion(valence, arousal, confidence, tuple(keywords))


def _list(ids: Sequence[int]) -> str:
    return text_of(list(ids)) if ids else ""


def vector_digest(embedder: str, text: str) -> bytes:
    """The key of a vector: who made it and of what."""
    return digest(embedder.encode(), text.encode())


def version_cells(tick: int, version: Version) -> VersionCells:
    """A row of `version`."""
    return (tick, version.owner, version.kind, version.key, text_of(version.value))


def version_from(cells: VersionCells) -> Version:
    """The inverse of `version_cells`, without the tick."""
    _, owner, kind, key, value = cells
    return Version(owner, kind, key, json.loads(value))


def answer_cells(row: AnswerRow) -> AnswerCells:
    """A row of `answer`, without usage."""
    head = (row.agent, row.tick, row.ordinal, row.attempt, row.task)
    return (*head, row.request, row.outcome, row.body.decode())


def answer_from(cells: AnswerCells, usage: str) -> AnswerRow:
    """The inverse of `answer_cells`."""
    agent, tick, ordinal, attempt, task, request, outcome, body = cells
    kept: Mapping[str, Any] = json.loads(usage) if usage else {}
    return AnswerRow(agent, tick, ordinal, attempt, task, request, outcome, body.encode(), kept)


# ── plain ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Frozen values of the domain as JSON and back, whatever fields they have: a new field is kept without a word here.


T = TypeVar("T")


def plain(value: Any, *left_out: str) -> dict[str, Any]:
    """The fields of a dataclass that are not at their default: tuples as lists, moments as ISO text."""
    found: dict[str, Any] = {}
    for name, default in _defaults(value.__class__):
        cell = getattr(value, name)
        if name not in left_out and cell != default:
            found[name] = _plain(cell)
    return found


def valued(cls: type[T], given: dict[str, Any], **known: Any) -> T:
    """The inverse of `plain`; `known` gives the fields that were left out."""
    moments = _moments(cls)
    cells = {name: parse_iso(cell) if name in moments else _valued(cell) for name, cell in given.items()}
    return cls(**cells, **known)


def _plain(cell: Any) -> Any:
    if isinstance(cell, tuple):
        return [_plain(part) for part in cell]  # pyright: ignore[reportUnknownVariableType] - any tuple
    return iso(cell) if isinstance(cell, datetime) else cell


def _valued(cell: Any) -> Any:
    return tuple(_valued(part) for part in cell) if isinstance(cell, list) else cell  # pyright: ignore[reportUnknownVariableType]


@cache
def _defaults(cls: type[Any]) -> tuple[tuple[str, Any], ...]:
    parts: tuple[Field[Any], ...] = fields(cls)
    return tuple((part.name, part.default) for part in parts if part.init and part.default_factory is MISSING)


@cache
def _moments(cls: type[Any]) -> frozenset[str]:
    parts: tuple[Field[Any], ...] = fields(cls)
    return frozenset(part.name for part in parts if part.type in ("datetime", datetime))


# ── shown ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Events, memories and plan items as the JSON that the public contract promises.


def event_json(event: Event, time: datetime) -> dict[str, Any]:
    """`id tick time type agent_id place`, then the fields of its type. `time`: when its tick ends."""
    head = {"id": event.id, "tick": event.tick, "time": iso(time), "type": event.type}
    return {**head, "agent_id": event.agent_id, "place": event.place, **event.body}


def memory_json(memory: Memory) -> dict[str, Any]:
    """Every field of the record but the vector; moments in ISO format, `emotion` null when there is none."""
    emotion = memory.emotion
    felt = emotion and {
        "valence": emotion.valence,
        "arousal": emotion.arousal,
        "confidence": emotion.confidence,
        "keywords": list(emotion.keywords),
    }
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
        "emotion": felt,
        "source": memory.source,
        "session": memory.session,
        "tags": list(memory.tags),
        "event": memory.event,
        "details": dict(memory.details),
    }


def item_json(item: PlanItem) -> dict[str, Any]:
    """A plan item as a trace has it."""
    return {**ITEM, **plain(item)}


ITEM: dict[str, Any] = {"object_id": "", "verb": "", "emoji": "", "because": []}
"""What is shown of a plan item even at its default."""


def item_phrase(item: PlanItem | None) -> str:
    """`07:00–08:00 running the noodle bar`; empty for none."""
    return f"{hhmm(item.start_time)}–{hhmm(item.end_time)} {item.action_description}" if item else ""
