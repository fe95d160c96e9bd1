"""Events, memories and plan items as the JSON that the public contract promises."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from commonplace.character.plan import PlanItem
from commonplace.clock import hhmm, iso
from commonplace.memory.record import Memory
from commonplace.run.plain import plain
from commonplace.world.events import Event


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
