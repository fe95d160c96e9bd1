"""What one committed tick consists of, and its values as the rows of a run file, and back. This is the one place that
knows the order of columns.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from math import isfinite
from operator import index
from typing import Any, TypeVar, cast

import numpy as np
from pydantic_core import to_json

from commonplace.canon import canonical, digest, parsed
from commonplace.character.plan import PlanItem
from commonplace.clock import hhmm, iso, parse_iso
from commonplace.memory.draft import Delta
from commonplace.memory.record import KINDS, Emotion, Memory
from commonplace.memory.stores.codec import inflated, parsed_fields, rare_fields, room
from commonplace.run.explained import EventRow, PlannedItem
from commonplace.world.actions import body_of
from commonplace.world.events import Event, Phase


@dataclass(frozen=True, slots=True)
class Version:
    """A state as of a tick. The state at t is the last version ≤ t; a value of None means it is gone."""

    owner: str
    """Character, object or area id; `-` for the world."""
    kind: str
    """One of `BY_NAME` in `versions.py`; `setting` for those of the run."""
    key: str
    """Plan item, believed node, acquaintance, row of an account, sentence or field; empty where the owner has one value
    of the kind."""
    value: Any
    """JSON without floats."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One attempt to have a question answered."""

    agent: str
    tick: int
    ordinal: int
    attempt: int
    task: str
    request: bytes
    """Digest of task and typed input: the key under which a replay finds the answer."""
    outcome: str
    """`value`, `malformed` or `fault`."""
    body: bytes
    """The validated answer as canonical JSON; empty unless the outcome is `value`."""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """prompt_tokens, cached_tokens, answer_tokens, model; what a mind reports. Not part of any digest."""


@dataclass(frozen=True, slots=True)
class InputRow:
    """An outside influence and the tick it was applied at."""

    seq: int
    tick: int
    """−1 until it gets a tick."""
    body: Mapping[str, Any]

    def stamped(self, tick: int) -> InputRow:
        """Returns the same influence, taking effect at the end of a tick."""
        return InputRow(self.seq, tick, self.body)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that a tick adds, as they are stored; each list is in the order of its first columns."""

    events: list[EventCells] = field(default_factory=list["EventCells"])
    memories: list[MemoryRow] = field(default_factory=list["MemoryRow"])
    removals: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    touches: list[tuple[str, int, int, bytes]] = field(default_factory=list[tuple[str, int, int, bytes]])
    versions: list[VersionCells] = field(default_factory=list["VersionCells"])
    answers: list[AnswerCells] = field(default_factory=list["AnswerCells"])
    inputs: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    traces: list[tuple[str, int, bytes]] = field(default_factory=list[tuple[str, int, bytes]])
    usages: list[tuple[str, int, int, int, str]] = field(default_factory=list[tuple[str, int, int, int, str]])
    """One per answer, in the same order."""


@dataclass(frozen=True, slots=True)
class TickRecord:
    """Everything one tick adds to a run, or a part of that: values, and rows made of values already."""

    tick: int
    events: tuple[Event, ...]
    deltas: Mapping[str, Delta]
    """Memories added and accesses, by character (sorted); characters with none are left out."""
    versions: tuple[Version, ...]
    answers: tuple[AnswerRow, ...]
    """The answers used in this tick, journaled already or not."""
    inputs: tuple[InputRow, ...] = ()
    traces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    removed: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Ids of the memories forgotten in this tick, by character."""
    made: tuple[Rows, ...] = ()
    """What characters add, as rows that were made where their turns were taken."""


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EVENT = "tick, phase, agent, ordinal, type, body"
MEMORY = "agent, id, tick, kind, importance, text, created, citations, event, details"
"""The columns of a memory that never change; `vector` and `removed` are stored beside them."""
RARE = frozenset({"citations", "place", "emotion", "source", "session", "tags", "details"})
"""The fields of a memory that its details, with its citations, may hold."""
ANSWER = "agent, tick, ordinal, attempt, task, request, outcome, body"
"""The columns of an answer that are in the state digest."""
VERSION = "tick, owner, kind, key, value"
KEY = {"event": 4, "version": 4, "answer": 4, "input": 1}
"""Table → how many of its first columns name a row."""

_SMALL = 4096
"""Bytes that a window of 4 kB holds whole. Clearing a full one, 256 kB, takes five times as long as compressing."""

EventCells = tuple[int, int, str, int, str, str]
MemoryCells = tuple[str, int, int, str, float, str, int, str, str, str]
PackedMemory = tuple[str, int, int, str, float, str, int, str, str, bytes]
"""`MemoryCells` with compressed details."""
MemoryRow = tuple[MemoryCells, bytes, bytes]
"""A memory as it is hashed, its compressed details, and its vector as little-endian int16; empty for none."""
AnswerCells = tuple[str, int, int, int, str, bytes, str, str]
StoredAnswer = tuple[str, int, int, int, str, bytes, str, str, str]
"""`AnswerCells` with the usage."""
VersionCells = tuple[int, str, str, str, str]


def unix_micros(moment: datetime) -> int:
    """Returns whole microseconds since 1970; exact for every datetime."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_unix_micros(value: int) -> datetime:
    """Reverses `unix_micros`."""
    return EPOCH + timedelta(microseconds=value)


def text_of(value: Any) -> str:
    """Returns canonical JSON as text."""
    return canonical(value).decode()


def event_cells(event: Event) -> EventCells:
    """Returns a row of `event`."""
    body = event.body_bytes().decode()
    return (event.tick, int(event.phase), event.agent_id, event.ordinal, event.type, body)


def event_from(cells: EventCells) -> Event:
    """Reverses `event_cells`. Raises one of `UNREADABLE` for cells that are not an event, as the functions below do."""
    tick, phase, agent, ordinal, type_, text = cells
    body: dict[str, Any] = parsed(text)
    place, kind = body.pop("place"), body.pop("type")
    if kind != type_ or not (is_text(place) and is_text(agent)):
        raise ValueError("its body does not fit its columns")
    return Event(index(tick), Phase(phase), agent, index(ordinal), place, body_of(kind, body))


def is_text(cell: Any) -> bool:
    """Tells whether a cell is text; a file may hold anything in any column."""
    return isinstance(cell, str)


def memory_cells(memory: Memory) -> MemoryCells:
    """Returns a row of `memory` as it is hashed, without its vector."""
    rare = rare_fields(memory)
    citations, event = rare.pop("citations", None), rare.pop("event", "")
    if memory.accessed_at != memory.created_at:
        rare["accessed"] = unix_micros(memory.accessed_at)
    return (
        memory.agent,
        memory.id,
        memory.tick,
        memory.kind,
        float(memory.importance),
        memory.text,
        unix_micros(memory.created_at),
        text_of(citations) if citations else "",
        event,
        text_of(rare),
    )


def packed_details(cells: MemoryCells) -> bytes:
    """Returns the details of a memory as they are stored."""
    details = cells[9].encode()
    small = deflated(details)
    return small if len(details) <= room(small) else zlib.compress(details, 0)


def unpacked_memory(row: PackedMemory) -> MemoryCells:
    """Reverses `packed_details`. Raises ValueError for details that cannot be read."""
    return (*row[:9], inflated(row[9], most=room(row[9])).decode())


def memory_from(cells: MemoryCells, accessed: int | None = None) -> Memory:
    """Reverses `memory_cells`; `accessed` is the last access in Unix microseconds, if there was one.

    Raises ValueError or TypeError for cells that are not a memory.
    """
    agent, id_, tick, kind, importance, text, created, citations, event, details = cells
    if kind not in KINDS or not is_text(text) or not isfinite(importance):
        raise ValueError("kind, text or importance is not that of a memory")
    rare = dict(parsed_fields(details))
    at_first = rare.pop("accessed", created)
    created_at = from_unix_micros(created)
    last = at_first if accessed is None else accessed
    cited = tuple(map(index, parsed(citations))) if citations else ()
    accessed_at = created_at if last == created else from_unix_micros(last)
    return Memory(id_, agent, kind, text, created_at, accessed_at, tick, importance, cited, event=event, **rare)


def memory_rest(details: bytes, citations: str) -> tuple[str, int | None]:
    """Returns (JSON of the rare fields of a stored memory, without its event; its first access if it was later).

    Raises ValueError or TypeError for cells that are not those of a memory.
    """
    rest, accessed = inflated(details, most=room(details)).decode(), None
    rare = parsed_fields(rest)
    if citations or "accessed" in rare:
        changed: dict[str, Any] = dict(parsed(rest))
        accessed = changed.pop("accessed", None)
        if citations:
            changed["citations"] = parsed(citations)
        rest = text_of(changed)
        rare = parsed_fields(rest)
    if not rare.keys() <= RARE:
        raise ValueError(f"unknown fields {', '.join(sorted(rare.keys() - RARE))}")
    return ("" if rest == "{}" else rest), accessed


def emotion_from(details: bytes) -> Emotion | None:
    """Returns the emotion of a stored memory. Raises ValueError or TypeError for details that no memory has."""
    rest = inflated(details, most=room(details))
    return parsed_fields(rest.decode()).get("emotion") if b'"emotion"' in rest else None


def vector_digest(embedder: str, text: str) -> bytes:
    """Returns the key of a vector: the digest of the embedder that made it and of the text it was made of."""
    return digest(embedder.encode(), text.encode())


def version_cells(tick: int, version: Version) -> VersionCells:
    """Returns a row of `version`."""
    return (tick, version.owner, version.kind, version.key, text_of(version.value))


def version_from(cells: VersionCells) -> Version:
    """Reverses `version_cells`, without the tick."""
    _, owner, kind, key, value = cells
    return Version(owner, kind, key, parsed(value))


def answer_cells(row: AnswerRow) -> AnswerCells:
    """Returns a row of `answer`, without usage."""
    head = (row.agent, row.tick, row.ordinal, row.attempt, row.task)
    return (*head, row.request, row.outcome, row.body.decode())


def usage_text(row: AnswerRow) -> str:
    """Returns the cell `usage` of an answer; empty if nothing was counted."""
    return text_of(dict(row.usage)) if row.usage else ""


def stored_answer(row: AnswerRow) -> StoredAnswer:
    """Returns a row of `answer` as it is stored."""
    return (*answer_cells(row), usage_text(row))


def answer_from(cells: StoredAnswer) -> AnswerRow:
    """Reverses `stored_answer`."""
    agent, tick, ordinal, attempt, task, request, outcome, body, usage = cells
    kept: Mapping[str, Any] = dict(parsed(usage)) if usage else {}
    return AnswerRow(agent, tick, ordinal, attempt, task, request, outcome, body.encode(), kept)


def input_from(row: tuple[int, int, str]) -> InputRow:
    """Makes an input from number, tick and body."""
    seq, tick, body = row
    return InputRow(seq, tick, dict(parsed(body)))


# ── small rows ─────────────────────────────────────────────────────────────────────────────────────────────────────
# Access lists, vectors and traces, made small without loss.


def packed_ids(ids: Iterable[int]) -> bytes:
    """Packs ids, ascending, as differences: seven bits a byte, low bits first; a set high bit says that more follow."""
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
    """Reverses `packed_ids`. Raises ValueError for ids beyond 64 bits."""
    ids: list[int] = []
    last = value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            last += value
            ids.append(last)
            value = shift = 0
        elif shift > 63:
            raise ValueError("an id of more than 64 bits")
    return tuple(ids)


def packed_vector(raw: bytes) -> bytes:
    """Packs little-endian int16 as two planes: low bytes, which are noise, as they are; high bytes Huffman-coded.

    Nearly all high bytes are 0 or −1. The result has two thirds of the size; packing takes 10 µs.
    """
    pairs = np.frombuffer(raw, dtype=np.uint8).reshape(-1, 2)
    coder = zlib.compressobj(9, zlib.DEFLATED, -9, 6, zlib.Z_HUFFMAN_ONLY)  # which looks nothing up: a small window
    high = coder.compress(pairs[:, 1].tobytes()) + coder.flush()
    return len(pairs).to_bytes(2, "little") + pairs[:, 0].tobytes() + high


def unpacked_vector(data: bytes) -> bytes:
    """Reverses `packed_vector`. Raises ValueError for other bytes."""
    dimensions = int.from_bytes(data[:2], "little")
    low = np.frombuffer(data[2 : 2 + dimensions], dtype=np.uint8)
    high = np.frombuffer(inflated(data[2 + dimensions :], most=dimensions, window=-15), dtype=np.uint8)
    return np.stack([low, high], axis=1).tobytes()


def packed_trace(trace: Mapping[str, Any]) -> bytes:
    """Compresses a trace as JSON. Canonical JSON takes five times as long, and no digest of a run depends on it."""
    return deflated(to_json(trace))


def unpacked_trace(data: bytes) -> dict[str, Any]:
    """Reverses `packed_trace`. Raises ValueError for other bytes."""
    found = parsed(inflated(data))
    if not isinstance(found, dict):
        raise ValueError("not a trace")
    return cast("dict[str, Any]", found)


def is_trace(data: bytes, packed: bytes) -> bool:
    """Tells whether these bytes hold the same trace, its keys in any order. Raises ValueError for other bytes."""
    return data == packed or canonical(unpacked_trace(data)) == canonical(unpacked_trace(packed))


def deflated(data: bytes, dictionary: bytes = b"") -> bytes:
    """Compresses data by zlib, which may refer to the last 32 kB of the dictionary."""
    if len(data) <= _SMALL and not dictionary:
        return _deflated(data)
    coder = zlib.compressobj(9, zdict=dictionary) if dictionary else zlib.compressobj(9)
    return coder.compress(data) + coder.flush()


@lru_cache(maxsize=2048)  # traces of quiet turns and details of routine memories recur
def _deflated(data: bytes) -> bytes:
    coder = zlib.compressobj(9, wbits=12, memLevel=6)
    return coder.compress(data) + coder.flush()


# ── frozen values as plain JSON ───────────────────────────────────────────────────────────────────────────────────────
# Frozen values of the domain as JSON and back, whatever fields they have, so that a new field needs no code here.


T = TypeVar("T")


def plain(value: Any) -> dict[str, Any]:
    """Returns the fields of a dataclass that are not at their default: tuples as lists, moments as ISO text."""
    found: dict[str, Any] = {}
    for name, default in _defaults(value.__class__):
        cell = getattr(value, name)
        if cell != default:
            found[name] = _plain(cell)
    return found


def valued(cls: type[T], given: dict[str, Any]) -> T:
    """Reverses `plain`. Raises one of `UNREADABLE` for other fields, and for values of another type than a field's."""
    readers = _readers(cls)
    return cls(**{name: readers[name](cell) for name, cell in given.items()})


def cells(value: Any) -> list[Any]:
    """Lists the fields of a dataclass in order; leaves out those that have a default where all are at it."""
    parts = [(getattr(value, name), default) for name, default in _defaults(value.__class__)]
    is_usual = all(default is MISSING or cell == default for cell, default in parts)
    return [_plain(cell) for cell, default in parts if default is MISSING or not is_usual]


def listed(cls: type[T], found: Sequence[Any]) -> T:
    """Reverses `cells`. Raises as `valued` does."""
    return cls(*[read(cell) for read, cell in zip(_readers(cls).values(), found, strict=False)])


def _plain(cell: Any) -> Any:
    if isinstance(cell, tuple):
        return [_plain(part) for part in cell]  # pyright: ignore[reportUnknownVariableType] - any tuple
    return iso(cell) if isinstance(cell, datetime) else cell


@cache
def _defaults(cls: type[Any]) -> tuple[tuple[str, Any], ...]:
    parts: tuple[Field[Any], ...] = fields(cls)
    return tuple((part.name, part.default) for part in parts if part.init and part.default_factory is MISSING)


_TYPES: dict[str, type[Any]] = {"str": str, "int": int, "bool": bool}


@cache
def _readers(cls: type[Any]) -> dict[str, Callable[[Any], Any]]:
    """Returns field → the function that makes its value from a cell; a file may hold anything in any cell."""
    found: dict[str, Callable[[Any], Any]] = {}
    for part in fields(cls):
        kind, many = str(part.type).removeprefix("tuple[").removesuffix(", ...]"), "..." in str(part.type)
        found[part.name] = parse_iso if kind == "datetime" else partial(_many if many else of_type, _TYPES[kind])
    return found


def of_type(kind: type[T], cell: Any) -> T:
    """Returns the cell. Raises TypeError for a cell of another type."""
    if not isinstance(cell, kind):
        raise TypeError(f"{cell!r} is not of type {kind.__name__}")
    return cell


def _many(kind: type[T], cell: Any) -> tuple[T, ...]:
    return tuple([of_type(kind, part) for part in cast("list[Any]", of_type(list, cell))])


# ── JSON of the public contract ───────────────────────────────────────────────────────────────────────────────────────
# Events, memories and plan items as the JSON that the public contract promises.


def event_json(event: Event, time: datetime) -> EventRow:
    """Returns `id tick time type agent_id place`, then the fields of its type. `time`: when its tick ends."""
    head = {"id": event.id, "tick": event.tick, "time": iso(time), "type": event.type}
    return cast("EventRow", {**head, "agent_id": event.agent_id, "place": event.place, **event.body.plain()})


def item_json(item: PlanItem) -> PlannedItem:
    """Returns a plan item as a trace has it."""
    return cast("PlannedItem", {**ITEM, **plain(item)})


ITEM: dict[str, Any] = {"object_id": "", "verb": "", "emoji": "", "because": []}
"""What is shown of a plan item even at its default."""


def item_phrase(item: PlanItem | None) -> str:
    """Describes a plan item: `07:00–08:00 running the noodle bar`; empty for none."""
    return f"{hhmm(item.start_time)}–{hhmm(item.end_time)} {item.action_description}" if item else ""
