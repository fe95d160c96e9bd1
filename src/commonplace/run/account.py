"""What characters know of their own past, read back from a run as rows of JSON."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from commonplace.character.account import Entry
from commonplace.clock import iso

if TYPE_CHECKING:
    from commonplace.memory import Memory
    from commonplace.run.reading import Reading


def account(reading: Reading, agent: str, at: int | str | None = None) -> list[dict[str, Any]]:
    """The rows of a character's account at the end of a tick, latest first."""
    return [account_row(reading, agent, entry) for entry in reading.state_at(agent, at).account.all()]


def resting_on(reading: Reading, agent: str, tick: int, memories: Collection[int]) -> list[dict[str, Any]]:
    """The rows that cite any of these memories, as they were before a tick."""
    if not memories or tick < 1:
        return []
    entries = reading.state_at(agent, tick - 1).account.all()
    return [account_row(reading, agent, entry) for entry in entries if not set(memories).isdisjoint(entry.because)]


def account_row(reading: Reading, agent: str, entry: Entry) -> dict[str, Any]:
    """A row as JSON. `text` is what a seed fact says, or what was seen of an occasion; `event` the id of the event that
    the latest memory it cites came from, empty where it came from none."""
    memory = reading.memory(agent, entry.because[-1]) if entry.because else None
    return {
        "kind": entry.kind,
        "other": entry.other,
        "act": entry.act,
        "topic": entry.named or entry.topic,
        "text": _text(reading, entry, memory),
        "times": entry.times,
        "since": iso(reading.time(entry.since)),
        "time": iso(reading.time(entry.tick)),
        "due": iso(reading.time(entry.due)) if entry.due >= 0 else "",
        "because": list(entry.because),
        "event": memory.event if memory else "",
    }


def _text(reading: Reading, entry: Entry, memory: Memory | None) -> str:
    fact = next((fact for fact in reading.scenario.facts if fact.id == entry.topic), None)
    if fact is not None:
        return fact.text.get(reading.scenario.language) or next(iter(fact.text.values()))
    frame = memory.details.get("frame", {}) if memory and entry.kind == "attended" else {}
    return str(frame.get("text", ""))
