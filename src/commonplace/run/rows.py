"""Values as rows and back: the one place that knows the order of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from commonplace.canon import canonical, digest
from commonplace.memory.record import Emotion, Kind, Memory
from commonplace.run.packing import packed_details, unpacked_details
from commonplace.run.record import AnswerRow, Version
from commonplace.world.events import Event, Phase

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
