"""The two-way table between a coordinate document and a record. Nothing is lost in either direction.

What a record cannot say in a coordinate stands in the document's `memory`; what a document says in other words than
the table would is kept in the record's `details["coordinate"]`. Both hold only what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard, cast

from commonplace.clock import iso, parse_iso
from commonplace.errors import WrongUse
from commonplace.memory.coordinates.document import (
    SECTIONS,
    EmotionCoordinate,
    Fits,
    MemoryCoordinate,
    fields_of,
    is_mapping,
    is_text,
)
from commonplace.memory.coordinates.ids import memory_id as name_of
from commonplace.memory.record import KINDS, Emotion, Kind, Memory, checked_text
from commonplace.text import clean

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

    Raises WrongUse for a document without a text, and for one whose `memory` cannot be read.
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
        named if isinstance(named, str) and named else memory_id or name_of(memory.created_at, memory.agent, memory.id)
    )
    sections: dict[str, dict[str, Any]] = {kind.section: {} for kind in SECTIONS}
    for section, field, detail, default, fits in _COLUMNS:
        value = details.get(detail, default)
        if value is not default and fits(value):
            sections[section][field] = value
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
    for section, field, detail, default, _ in _COLUMNS:
        value = getattr(getattr(coordinate, section), field)
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
    except WrongUse:
        return None


def _details_beside(details: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    more = {key: value for key, value in details.items() if key not in usual or not _same(usual[key], value)}
    surplus = [key for key in usual if key not in details]
    return ({"details": more} if more else {}) | ({ABSENT: surplus} if surplus else {})


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def _with(memory: Memory, record: Mapping[str, Any]) -> Memory:
    """The record once what stands in the document's `memory` is put in. Raises WrongUse for what cannot be read."""
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
        raise WrongUse(f"`memory` is {dict(record)!r:.200}", todo="leave it as it was written, or out") from error
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
    except WrongUse:
        return None
