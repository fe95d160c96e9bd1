"""Why something happened: read from the committed turn, never computed again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import TYPE_CHECKING, Any

from commonplace.canon import canonical
from commonplace.cognition.trace import hits
from commonplace.errors import WrongUse
from commonplace.run.exchange import Exchange
from commonplace.run.provenance import heard_from
from commonplace.run.record import AnswerRow
from commonplace.run.shown import event_json, item_json, memory_json
from commonplace.run.why_text import as_text
from commonplace.world.events import NOBODY, Event, Phase, parse_id

if TYPE_CHECKING:
    from commonplace.run.reading import Reading

__all__ = ["as_text", "event_named", "memory_json", "why"]

NOT_A_CHARACTER = {
    "TIME_ADVANCED": "The time of day follows from the tick alone.",
    "WEATHER_CHANGED": "The weather follows from the seed and the tick alone.",
    "SCRIPTED": "The scenario's script has it happen at this tick.",
    "GOD_EVENT": "Somebody outside the world put it in.",
}
MOST_EVENTS = 1_000_000
"""More than a character has in a tick; SQLite knows no integer of any size."""
INPUT = "An input from outside: no turn of a character led to it."


def why(reading: Reading, event_id: str) -> dict[str, Any]:
    """The explanation of an event, in the shape of the public contract.

    Besides its keys: `explanation`, a sentence for what no character did (else empty), and `delivered`, the deferred
    thoughts that arrived in the turn; their retrievals and questions stand behind the turn's own. Raises WrongUse for
    an unknown id, naming the nearest.
    """
    event = event_named(reading, event_id)
    agent, tick = event.agent_id, event.tick
    own = agent != NOBODY and event.phase != Phase.INPUT
    trace = reading.trace(agent, tick) if own else {}
    delivered: list[dict[str, Any]] = trace.get("delivered", [])
    retrievals = [*trace.get("retrievals", []), *(one for job in delivered for one in job.get("retrievals", []))]
    return {
        "event": event_json(event, reading.time(tick)),
        "explanation": "" if own else NOT_A_CHARACTER.get(event.type, INPUT),
        "retrievals": _retrievals(reading, agent, tick, retrievals),
        "plan": _plan(reading, agent, tick, trace) if own else {"item": None, "day": []},
        "reaction": _reaction(reading, agent, tick, trace),
        "asked": _asked(reading, agent, tick, trace, delivered) if own else [],
        "stored": _stored(reading, agent, trace),
        "heard_from": heard_from(reading, event) if event.type == "SAY" else [],
        "delivered": [{key: job.get(key) for key in ("kind", "about", "asked_at")} for job in delivered],
    }


def event_named(reading: Reading, event_id: str) -> Event:
    """The event of an id. Raises WrongUse for an unknown one, naming the nearest."""
    try:
        tick, agent, ordinal = parse_id(event_id)
    except ValueError:
        todo = "an event's id looks like t12.mira.0; `commonplace events` lists them"
        raise WrongUse(f"{event_id!r} is no event id", where=str(reading.path), todo=todo) from None
    event = reading.event(tick, agent, ordinal) if tick <= reading.last_tick and ordinal <= MOST_EVENTS else None
    if event is None:
        raise WrongUse(f"there is no event {event_id}", where=str(reading.path), todo=_nearest(reading, event_id, tick))
    return event


def _nearest(reading: Reading, event_id: str, tick: int) -> str:
    last = reading.last_tick
    if not 0 <= tick <= last:
        return f"the run has ticks 0 to {last}"
    ids = [event.id for event in reading.events(max(0, tick - 1), tick + 1)]
    near = get_close_matches(event_id, ids, n=3, cutoff=0)
    return f"near it are {', '.join(near)}" if near else "`commonplace events` lists all"


def _retrievals(
    reading: Reading, agent: str, tick: int, retrievals: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Hits with the memory they brought, last accessed as it was when they were scored: the tick before."""
    accessed = reading.accesses(agent, tick - 1)
    return [
        {
            "purpose": found["purpose"],
            "query": found["query"],
            "policy": found["policy"],
            "k": found["k"],
            "candidates": found.get("candidates"),
            "hits": [
                {
                    "memory": _memory(reading, agent, memory_id, accessed.get(memory_id)),
                    "rank": rank,
                    "score": score,
                    "parts": parts,
                }
                for rank, (memory_id, score, parts) in enumerate(hits(found), start=1)
            ],
        }
        for found in retrievals
    ]


def _memory(reading: Reading, agent: str, memory_id: int, accessed: int | None) -> dict[str, Any] | None:
    memory = reading.memory(agent, memory_id, accessed)
    return memory and memory_json(memory)


def _plan(reading: Reading, agent: str, tick: int, trace: Mapping[str, Any]) -> dict[str, Any]:
    """The item followed, and the day's strokes as they were at the end of the tick."""
    plan = reading.state_at(agent, tick).plan
    item = plan.item(trace.get("item", ""))
    return {"item": item and item_json(item), "day": [item_json(stroke) for stroke in plan.level("day")]}


def _reaction(reading: Reading, agent: str, tick: int, trace: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was decided: as the trace has it, or the answer to the question it names."""
    reaction: dict[str, Any] | None = trace.get("reaction")
    if reaction is None or "asked" not in reaction:
        return reaction
    rows = reading.answers(tick, tick, agent=agent)
    answer = next((row for row in reversed(rows) if row.ordinal == reaction["asked"]), None)
    decided = _value(answer) or {"reason": "no usable answer"}
    blank: dict[str, Any] = {"decision": "keep", "target": "", "purpose": "", "reason": "", "because": []}
    return {**blank, **decided, **reaction}


def _stored(reading: Reading, agent: str, trace: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was remembered, then what was not, each with the reason."""
    kept = [(reading.memory(agent, memory), reason) for memory, reason in trace.get("stored", ())]
    return [
        {
            "kind": memory.kind,
            "text": memory.text,
            "importance": memory.importance,
            "stored": True,
            "reason": reason,
            "memory": memory.id,
        }
        for memory, reason in kept
        if memory is not None
    ] + [
        {"kind": "observation", "text": text, "importance": 0, "stored": False, "reason": reason, "memory": 0}
        for text, reason in trace.get("dropped", ())
    ]


def _asked(
    reading: Reading, agent: str, tick: int, trace: Mapping[str, Any], delivered: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The turn's questions, then those of thoughts that arrived in it, which belong to the tick they were asked at."""
    asked = _answered(reading, agent, tick, trace.get("asked", ()))
    for job in delivered:
        asked += _answered(reading, agent, job["asked_at"], job.get("asked", ()))
    return asked


def _answered(reading: Reading, agent: str, tick: int, asked: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = {number: list(group) for number, group in groupby(reading.answers(tick, tick, agent=agent), _ordinal)}
    return [_question(reading, entry, rows.get(entry["ordinal"], [])) for entry in asked]


def _question(reading: Reading, entry: Mapping[str, Any], rows: Sequence[AnswerRow]) -> dict[str, Any]:
    """One question. `prompt` is what a model was told; where none was, or it was trimmed, the typed input.

    `kind` names the fault of an answer that could not be used; `attempts` has all of them when there was more than one.
    """
    last = rows[-1] if rows else None
    attempts = [_attempt(row, reading.exchange(row) or Exchange()) for row in rows]
    return {
        "task": entry["task"],
        "prompt": (attempts[-1]["prompt"] if attempts else "") or canonical(entry["input"]).decode(),
        "answer": _value(last),
        "outcome": entry["outcome"],
        "kind": attempts[-1]["kind"] if attempts else "",
        "ordinal": entry["ordinal"],
        "attempts": attempts if len(attempts) > 1 else [],
    }


def _attempt(row: AnswerRow, exchange: Exchange) -> dict[str, Any]:
    return {
        "outcome": row.outcome,
        "kind": row.usage.get("kind", ""),
        "error": exchange.error,
        "prompt": exchange.prompt,
        "raw": exchange.raw,
        "seconds": exchange.seconds,
    }


def _ordinal(row: AnswerRow) -> int:
    return row.ordinal


def _value(row: AnswerRow | None) -> Any:
    return json.loads(row.body) if row is not None and row.body else None
