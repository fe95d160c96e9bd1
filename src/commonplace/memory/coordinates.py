"""The coordinate document: a memory by time, space, agent, emotion and content, and the way to a record and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeGuard, cast

from commonplace.clock import iso, parse_iso, utc
from commonplace.errors import UsageError
from commonplace.memory.record import KINDS, Emotion, Kind, Memory, checked_text
from commonplace.rng import Key, draw
from commonplace.text import clean

__all__ = [
    "AgentCoordinate",
    "Content",
    "EmotionCoordinate",
    "MemoryCoordinate",
    "Metadata",
    "Relations",
    "SpaceCoordinate",
    "TimeCoordinate",
    "from_memory",
    "new_memory_id",
    "to_memory",
    "unused_id",
]


# ── document ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# `MemoryCoordinate`: a memory as a nested document, every field of the founding schema, unknown ones kept.


# ruff: noqa: RUF009 - what is called here makes a dataclass field


Fits = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """A string."""
    return isinstance(value, str)


def is_number(value: Any) -> TypeGuard[float]:
    """A finite number, not a truth value."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def is_names(value: Any) -> bool:
    """A list of strings."""
    return isinstance(value, list) and all(isinstance(one, str) for one in cast(list[Any], value))


def is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    """A mapping with string keys."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in cast(dict[Any, Any], value))


def between(low: float, high: float) -> Fits:
    """A number of a range, both ends included."""
    return lambda value: is_number(value) and low <= value <= high


def _or_none(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _of(fits: Fits, wanted: str, default: Any = None, factory: Any = None) -> Any:
    about: dict[str, Any] = {"fits": fits, "wanted": wanted}
    return field(default_factory=factory, metadata=about) if factory else field(default=default, metadata=about)


def _text() -> Any:
    return _of(is_text, "a string", "")


def _number(default: float) -> Any:
    return _of(is_number, "a finite number", default)


def _share(low: float = 0.0) -> Any:
    return _of(between(low, 1), f"a number from {low:g} to 1", 0.0)


def _flag() -> Any:
    return _of(is_flag, "true or false", False)


def _names() -> Any:
    return _of(is_names, "a list of strings", factory=list)


def _extra() -> Any:
    return _of(is_mapping, "a mapping", factory=dict)


class Field(NamedTuple):
    """A field of a section, and what its value has to be."""

    name: str
    fits: Fits
    wanted: str


@cache
def fields_of(section: type[Section]) -> tuple[Field, ...]:
    """The fields of a section, `extra` last."""
    return tuple(Field(one.name, one.metadata["fits"], one.metadata["wanted"]) for one in fields(section))


@cache
def _names_of(section: type[Section]) -> frozenset[str]:
    return frozenset(one.name for one in fields_of(section)) - {"extra"}


@dataclass(slots=True)
class Section:
    """One of the coordinates. Raises UsageError for a value of another shape or outside its range."""

    section: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name, fits, wanted in fields_of(type(self)):
            value = getattr(self, name)
            if isinstance(value, tuple):
                value = list(cast(tuple[Any, ...], value))
                setattr(self, name, value)
            if not fits(value):
                raise UsageError(f"{self.section}.{name} is {value!r}", hint=f"give {wanted}")

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The section of a document; keys the schema does not have go into `extra`."""
        if not is_mapping(given):
            raise UsageError(f"{cls.section} is {given!r}", hint="give a mapping")
        known = _names_of(cls)
        extra = {key: value for key, value in given.items() if key not in known}
        return cls(**{key: value for key, value in given.items() if key in known}, extra=extra)  # pyright: ignore[reportCallIssue] - every section has `extra`

    def to_dict(self) -> dict[str, Any]:
        """The section as it stands in a document."""
        plain = {one.name: getattr(self, one.name) for one in fields_of(type(self))}
        extra = plain.pop("extra")
        return plain | extra


@dataclass(slots=True)
class TimeCoordinate(Section):
    """When, within its session."""

    section: ClassVar[str] = "time"
    session_id: str = _text()
    sequence: int = _number(0)
    """Place in the session."""
    relative_time_minutes: float = _number(0.0)
    """Minutes since the session began."""
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class SpaceCoordinate(Section):
    """What it was about."""

    section: ClassVar[str] = "space"
    project: str = _text()
    domain: str = _text()
    file_context: list[str] = _names()
    depth_index: int = _number(1)
    """Depth of recursion."""
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class AgentCoordinate(Section):
    """Who remembers."""

    section: ClassVar[str] = "agent"
    persona_id: str = _text()
    persona_name: str = _text()
    role: str = _text()
    backend: str = _text()
    """What answered for the persona."""
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class EmotionCoordinate(Section):
    """What was felt; all zero where nothing is known."""

    section: ClassVar[str] = "emotion"
    affect_amplitude: float = _share()
    """0 (calm) … 1 (stirred)."""
    sentiment_score: float = _share(-1.0)
    """−1 (unpleasant) … 1 (pleasant)."""
    confidence: float = _share()
    keywords: list[str] = _names()
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class Content(Section):
    """What is remembered."""

    section: ClassVar[str] = "content"
    type: str = _of(is_text, "a string", "persona_response")
    """`user_input`, `persona_response`, `system_event`, or a kind of record."""
    prompt_digest: str = _text()
    response_full: str = _text()
    response_summary: str | None = _of(_or_none(is_text), "a string or null")
    token_count: int = _number(0)
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class Metadata(Section):
    """What is thought of it."""

    section: ClassVar[str] = "metadata"
    importance: float | None = _of(_or_none(between(0, 1)), "a number from 0 to 1, or null to have it computed")
    tags: list[str] = _names()
    user_rating: float | None = _of(_or_none(between(0, 5)), "1 to 5 stars, or null")
    phase_injection_applied: bool = _flag()
    error_occurred: bool = _flag()
    bqi_snapshot: dict[str, Any] | None = _of(_or_none(is_mapping), "a mapping or null")
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class Relations(Section):
    """What it belongs with, by `memory_id`."""

    section: ClassVar[str] = "relations"
    parent_memory_id: str | None = _of(_or_none(is_text), "a memory id or null")
    child_memory_ids: list[str] = _names()
    related_memory_ids: list[str] = _names()
    extra: dict[str, Any] = _extra()


SECTIONS: tuple[type[Section], ...] = (
    TimeCoordinate,
    SpaceCoordinate,
    AgentCoordinate,
    EmotionCoordinate,
    Content,
    Metadata,
    Relations,
)


@dataclass(slots=True)
class MemoryCoordinate:
    """A memory by its coordinates. Sections may be given as mappings, the timestamp as a datetime.

    Raises UsageError for a timestamp that is none and for sections of another shape.
    """

    memory_id: str = ""
    """`mem_20251012_093022_a4f3`; empty to have the store name it."""
    timestamp: str = ""
    """ISO 8601; one without a zone is UTC. Kept as it was written."""
    time: TimeCoordinate = field(default_factory=TimeCoordinate)
    space: SpaceCoordinate = field(default_factory=SpaceCoordinate)
    agent: AgentCoordinate = field(default_factory=AgentCoordinate)
    emotion: EmotionCoordinate = field(default_factory=EmotionCoordinate)
    content: Content = field(default_factory=Content)
    metadata: Metadata = field(default_factory=Metadata)
    relations: Relations = field(default_factory=Relations)
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    """What a record has and a coordinate has no place for: its number, kind, place, citations …"""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        given: Any = self.timestamp
        if isinstance(given, datetime):
            self.timestamp = iso(given)
        for kind in SECTIONS:
            value = getattr(self, kind.section)
            if not isinstance(value, kind):
                setattr(self, kind.section, kind.from_dict(value))
        if not is_text(self.memory_id) or not is_mapping(self.memory):
            raise UsageError(
                f"memory_id {self.memory_id!r}, memory {self.memory!r}", hint="give a string and a mapping"
            )
        _ = self.at

    @property
    def at(self) -> datetime:
        """The timestamp as a moment, UTC."""
        try:
            return parse_iso(self.timestamp)
        except (TypeError, ValueError, OverflowError) as error:
            hint = "give ISO 8601, such as 2025-10-12T09:30:22Z"
            raise UsageError(f"timestamp {self.timestamp!r}", hint=hint) from error

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> MemoryCoordinate:
        """A document as JSON gives it. Raises UsageError for one of another shape."""
        if not is_mapping(given):
            raise UsageError(f"a document that is {given!r:.80}", hint="give a mapping")
        extra = {key: value for key, value in given.items() if key not in _DOCUMENT}
        return cls(**{key: value for key, value in given.items() if key in _DOCUMENT}, extra=extra)

    def to_dict(self) -> dict[str, Any]:
        """The nested document, keys in the order of the schema."""
        plain: dict[str, Any] = {"memory_id": self.memory_id, "timestamp": self.timestamp}
        for kind in SECTIONS:
            plain[kind.section] = getattr(self, kind.section).to_dict()
        if self.memory:
            plain["memory"] = self.memory
        return {**plain, **self.extra}


_DOCUMENT = frozenset(one.name for one in fields(MemoryCoordinate)) - {"extra"}


# ── ids ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Names of memories in a coordinate document: `mem_20251012_093022_a4f3`, from simulated time and a keyed draw.


_SHORT = 64
"""Draws of four digits that are tried before the name becomes longer."""


def new_memory_id(at: datetime, *key: Key, digits: int = 4) -> str:
    """The name of a memory made at a moment; the same key gives the same name."""
    moment = utc(at)
    date = f"{moment.year:04d}{moment.month:02d}{moment.day:02d}"
    time = f"{moment.hour:02d}{moment.minute:02d}{moment.second:02d}"
    return f"mem_{date}_{time}_{draw(*key) & (16**digits - 1):0{digits}x}"


def unused_id(at: datetime, taken: Container[str], *key: Key) -> str:
    """The first name that is not taken. Four digits, twelve where one second holds very many memories."""
    attempt = 0
    while True:
        name = new_memory_id(at, *key, attempt, digits=4 if attempt < _SHORT else 12)
        if name not in taken:
            return name
        attempt += 1


# ── table ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The two-way table between a coordinate document and a record. Nothing is lost in either direction.
#
# What a record cannot say in a coordinate stands in the document's `memory`; what a document says in other words than
# the table would is kept in the record's `details["coordinate"]`. Both hold only what differs.


KEPT = "coordinate"
"""The key of `details` under which the original wording of a document is kept."""
ABSENT = "without"
"""The key of `memory` naming details that the table would make and the record does not have."""

_KINDS: Mapping[str, Kind] = {
    "user_input": "observation",
    "persona_response": "action",
    "system_event": "observation",
    **{kind: kind for kind in KINDS},
}


class _Column(NamedTuple):
    section: str
    field: str
    detail: str
    default: Any
    fits: Fits


def _columns() -> tuple[_Column, ...]:
    """The fields that are details of a record, by the same name."""
    elsewhere = {"session_id", "persona_id", "type", "response_full", "importance", "tags", "extra"}
    return tuple(
        _Column(kind.section, one.name, one.name, getattr(kind(), one.name), one.fits)
        for kind in SECTIONS
        for one in fields_of(kind)
        if kind is not EmotionCoordinate and one.name not in elsewhere
    )


_COLUMNS = _columns()
_PLAIN = ("tick", "source", "event", "text", "kind", "session", "agent")
_NAMES = ("citations", "place", "tags")


def scaled(importance: float) -> float:
    """An importance of 0–1 on the record's scale of 1–10."""
    return 1 + 9 * importance


def unscaled(importance: float) -> float:
    """The inverse: (i − 1) / 9, within 0–1."""
    return min(1.0, max(0.0, (importance - 1) / 9))


def to_memory(coordinate: MemoryCoordinate, id: int = 0) -> Memory:
    """The record of a document. `id`: its number in its character's stream, if the document does not say.

    Raises UsageError for a document without a text, and for one whose `memory` cannot be read.
    """
    memory = _read(coordinate, id)
    kept = _difference(_written(memory, coordinate.memory_id), coordinate)
    return replace(memory, details={**memory.details, KEPT: kept}) if kept else memory


def from_memory(memory: Memory, memory_id: str = "") -> MemoryCoordinate:
    """The document of a record. `memory_id`: its name, if the record does not have one (default: made of its time)."""
    kept = memory.details.get(KEPT)
    if _is_kept(kept):
        details = {key: value for key, value in memory.details.items() if key != KEPT}
        said = _in_other_words(_written(replace(memory, details=details), memory_id), kept)
        if said is not None and _read_or_none(said, to_memory) == memory:
            return said
    return _written(memory, memory_id)


def reweighed(memory: Memory, importance: float) -> Memory:
    """The record with another importance (1–10), which is no longer the one its document was written with."""
    kept: Mapping[str, Any] = memory.details.get(KEPT, {})
    if not _is_kept(kept) or "importance" not in kept.get("metadata", {}):
        return replace(memory, importance=importance)
    rest = {name: value for name, value in kept["metadata"].items() if name != "importance"}
    others = {name: value for name, value in kept.items() if name != "metadata"} | ({"metadata": rest} if rest else {})
    details = {name: value for name, value in memory.details.items() if name != KEPT}
    return replace(memory, importance=importance, details=details | ({KEPT: others} if others else {}))


def _written(memory: Memory, memory_id: str) -> MemoryCoordinate:
    """The document by the table alone, with all that the table does not say in `memory`."""
    details = memory.details
    named = details.get("memory_id")
    name = (
        named
        if isinstance(named, str) and named
        else memory_id or new_memory_id(memory.created_at, memory.agent, memory.id)
    )
    sections: dict[str, dict[str, Any]] = {kind.section: {} for kind in SECTIONS}
    for section, attribute, detail, default, fits in _COLUMNS:
        value = details.get(detail, default)
        if value is not default and fits(value):
            sections[section][attribute] = value
    sections["time"]["session_id"] = memory.session
    sections["agent"]["persona_id"] = memory.agent
    sections["content"]["type"] = _type_of(memory)
    sections["content"]["response_full"] = _response(memory)
    sections["metadata"]["importance"] = unscaled(memory.importance)
    sections["metadata"]["tags"] = list(memory.tags)
    if memory.emotion is not None:
        sections["emotion"] = _feeling(memory.emotion)
    kinds = {kind.section: kind(**sections[kind.section]) for kind in SECTIONS}
    document = MemoryCoordinate(memory_id=name, timestamp=iso(memory.created_at), **cast(Any, kinds))
    document.memory = _remainder(memory, document)
    return document


def _feeling(emotion: Emotion) -> dict[str, Any]:
    return {
        "affect_amplitude": emotion.arousal,
        "sentiment_score": emotion.valence,
        "confidence": emotion.confidence,
        "keywords": list(emotion.keywords),
    }


def _type_of(memory: Memory) -> str:
    said = memory.details.get("content_type")
    return said if isinstance(said, str) and _KINDS.get(said, "observation") == memory.kind else memory.kind


def _response(memory: Memory) -> str:
    said = memory.details.get("response_full")
    whole = memory.full_text
    return said if isinstance(said, str) and clean(said) == whole else str(whole)


def _read(coordinate: MemoryCoordinate, id: int = 0) -> Memory:
    """The record of a document, its other wordings aside."""
    said = coordinate.content.response_full
    record = coordinate.memory
    shown, whole = (record["text"], "") if "text" in record else checked_text(said)
    created = coordinate.at
    details = _details(coordinate)
    if len(whole) > len(shown):
        details["full_text"] = whole
    if whole and whole != said:
        details["response_full"] = said
    importance = coordinate.metadata.importance
    felt = coordinate.emotion
    memory = Memory(
        id=record.get("id", id),
        agent=coordinate.agent.persona_id,
        kind=_KINDS.get(coordinate.content.type, "observation"),
        text=shown,
        created_at=created,
        accessed_at=created,
        tick=0,
        importance=scaled(0.5 if importance is None else importance),
        session=coordinate.time.session_id,
        tags=tuple(clean(tag) for tag in coordinate.metadata.tags),
        emotion=Emotion(felt.sentiment_score, felt.affect_amplitude, felt.confidence, tuple(felt.keywords))
        if record.get("felt") or any((felt.affect_amplitude, felt.sentiment_score, felt.confidence, felt.keywords))
        else None,
        details=details,
    )
    return _with(memory, record) if record else memory


def _details(coordinate: MemoryCoordinate) -> dict[str, Any]:
    details: dict[str, Any] = {"memory_id": coordinate.memory_id} if coordinate.memory_id else {}
    if coordinate.content.type not in KINDS:
        details["content_type"] = coordinate.content.type
    for section, attribute, detail, default, _ in _COLUMNS:
        value = getattr(getattr(coordinate, section), attribute)
        if value != default or type(value) is not type(default):
            details[detail] = value
    return details


def _remainder(memory: Memory, document: MemoryCoordinate) -> dict[str, Any]:
    """What reading the document would not give back."""
    usual = _read_or_none(document, _read)
    rest: dict[str, Any] = {"id": memory.id} if memory.id else {}
    for name in _PLAIN:
        value = getattr(memory, name)
        if usual is None or getattr(usual, name) != value:
            rest[name] = value
    for name in _NAMES:
        value = getattr(memory, name)
        if value != (getattr(usual, name) if usual else ()):
            rest[name] = list(value)
    if usual is None or usual.importance != memory.importance:
        rest["importance"] = memory.importance
    if memory.accessed_at != memory.created_at:
        rest["accessed_at"] = iso(memory.accessed_at)
    if memory.emotion is not None and (usual is None or usual.emotion is None):
        rest["felt"] = True  # all zero, yet not nothing
    return {**rest, **_details_beside(memory.details, usual.details if usual else _details(document))}


def _read_or_none(document: MemoryCoordinate, read: Callable[[MemoryCoordinate], Memory]) -> Memory | None:
    try:
        return read(document)
    except UsageError:
        return None


def _details_beside(details: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    more = {key: value for key, value in details.items() if key not in usual or not _same(usual[key], value)}
    surplus = [key for key in usual if key not in details]
    return ({"details": more} if more else {}) | ({ABSENT: surplus} if surplus else {})


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def _with(memory: Memory, record: Mapping[str, Any]) -> Memory:
    """The record once what stands in the document's `memory` is put in. Raises UsageError for what cannot be read."""
    try:
        changes: dict[str, Any] = {name: record[name] for name in _PLAIN if name in record}
        changes |= {name: tuple(record[name]) for name in _NAMES if name in record}
        changes |= {"importance": record["importance"]} if "importance" in record else {}
        changes |= {"accessed_at": parse_iso(record["accessed_at"])} if "accessed_at" in record else {}
        absent = record.get(ABSENT, ())
        if absent or "details" in record:
            usual = {key: value for key, value in memory.details.items() if key not in absent}
            changes["details"] = usual | record.get("details", {})
    except (TypeError, ValueError) as error:
        raise UsageError(f"`memory` is {dict(record)!r:.200}", hint="leave it as it was written, or out") from error
    return replace(memory, **changes) if changes else memory


def _difference(usual: MemoryCoordinate, said: MemoryCoordinate) -> dict[str, Any]:
    """Section → field → what the document says, where the table would say something else."""
    kept: dict[str, Any] = {}
    for kind in SECTIONS:
        one, other = getattr(usual, kind.section), getattr(said, kind.section)
        names = [
            field.name for field in fields_of(kind) if not _same(getattr(one, field.name), getattr(other, field.name))
        ]
        if names:
            kept[kind.section] = {name: getattr(other, name) for name in names}
    if usual.timestamp != said.timestamp:
        kept["timestamp"] = said.timestamp
    if said.extra:
        kept["extra"] = said.extra
    return kept


def _is_kept(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether this is what `to_memory` puts there, and not somebody's own detail of that name."""
    if not is_mapping(value) or not value or not is_text(value.get("timestamp", "")):
        return False
    known: dict[str, set[str]] = {kind.section: {one.name for one in fields_of(kind)} for kind in SECTIONS}
    sections = {name: said for name, said in value.items() if name not in ("timestamp", "extra")}
    return is_mapping(value.get("extra", {})) and all(
        name in known and is_mapping(said) and known[name].issuperset(said) for name, said in sections.items()
    )


def _in_other_words(written: MemoryCoordinate, kept: dict[str, Any]) -> MemoryCoordinate | None:
    """The document with its own wording back, None where that would be no document."""
    plain = written.to_dict()
    for kind in SECTIONS:
        said = dict(kept.get(kind.section, {}))
        plain[kind.section] |= said.pop("extra", {})
        plain[kind.section] |= said
    plain |= {"timestamp": kept.get("timestamp", written.timestamp), **kept.get("extra", {})}
    try:
        return MemoryCoordinate.from_dict(plain)
    except UsageError:
        return None
