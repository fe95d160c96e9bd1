"""The turns of a dialogue as records: everything that explains one line (the sitcom document's §5.4).

They are derived from the committed events and traces; nothing is computed again, and nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from commonplace.clock import iso
from commonplace.memory.stores.codec import memory_json
from commonplace.run.journal import ModelCall
from commonplace.run.reading import Reading
from commonplace.run.rows import AnswerRow
from commonplace.run.why import why
from commonplace.world.events import NOBODY, Event, Spoke

OURS = {"importance": "importance_score", "recency": "recency_score", "relevance": "similarity"}
"""Part of a score → the record's field; the parts as the policy weighs them."""


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A retrieved memory with its scores: `final_score` is the sum of the others, each times its weight."""

    memory: Mapping[str, Any]
    """The memory as JSON; empty for one that was forgotten since."""
    similarity: float
    recency_score: float
    importance_score: float
    final_score: float
    age_hours: float
    """Between its making and the turn, in simulated hours."""


@dataclass(frozen=True, slots=True)
class StoreEvent:
    """What was remembered or not, and why."""

    memory_type: str
    content: str
    importance: float
    stored: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A question without a usable answer at first: `used` says whether the task's fallback took its place."""

    task: str
    kind: str
    what: str
    used: bool


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn of a dialogue."""

    turn_id: str
    """The id of its event, as `commonplace why` takes it."""
    turn: int
    speaker: str
    """Character id; `speaker_name` and `listener_name` are the short names."""
    speaker_name: str
    listener: str
    listener_name: str
    context_in: str
    query: str
    policy: str
    retrieved: Sequence[ScoredMemory]
    reflection: str | None
    """None on a turn without one."""
    plan: str
    utterance: str
    """Empty for a turn in silence."""
    store_events: Sequence[StoreEvent]
    timestamps: Mapping[str, Any]
    """`at`: simulated moment; `seconds`: those the mind took, 0 where they were not kept."""
    mood: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict[str, int])
    """`prompt`, `answer` and `calls` of all questions of the turn."""
    problems: Sequence[Problem] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def turn_records(reading: Reading, first: int = 1, last: int | None = None) -> list[TurnRecord]:
    """Returns the records of a run's turns from tick `first` to `last`, in order; a turn in silence has one too."""
    last = reading.last_tick if last is None else last
    return [_record(reading, event) for event in _acted(reading, first, last)]


def _acted(reading: Reading, first: int, last: int) -> Iterator[Event]:
    """Yields the event of each turn: whoever has a trace acted."""
    for event in reading.events(first, last):
        if event.agent_id != NOBODY and event.ordinal == 0 and reading.trace(event.agent_id, event.tick):
            yield event


def _record(reading: Reading, event: Event) -> TurnRecord:
    speaker, tick = event.agent_id, event.tick
    reasons, trace = why(reading, event.id), reading.trace(speaker, tick)
    personas = reading.scenario_at(tick).personas
    spoke = event.body if isinstance(event.body, Spoke) else None
    listener = spoke.to_agent_id if spoke else next((one for one in personas if one != speaker), "")
    retrieval = next((one for one in reasons["retrievals"] if one["purpose"] == "duet"), None)
    stored, reaction = reasons["stored"], reasons["reaction"]
    return TurnRecord(
        turn_id=event.id,
        turn=tick,
        speaker=speaker,
        speaker_name=personas[speaker].called,
        listener=listener,
        listener_name=personas[listener].called if listener in personas else "",
        context_in=trace.get("context", ""),
        query=retrieval["query"] if retrieval else "",
        policy=retrieval["policy"] if retrieval else "",
        retrieved=[_scored(hit, event, reading) for hit in retrieval["hits"]] if retrieval else [],
        reflection=next((one["text"] for one in stored if one["kind"] == "reflection"), None),
        plan=reaction["reason"] if reaction else "",
        utterance=spoke.utterance if spoke else "",
        store_events=[
            StoreEvent(one["kind"], one["text"], one["importance"], one["stored"], one["reason"]) for one in stored
        ],
        timestamps={"at": iso(reading.time(tick)), "seconds": _seconds(reading, speaker, tick)},
        mood=trace.get("mood", ""),
        tokens=_tokens(reading, speaker, tick),
        problems=list(_problems(reading, speaker, tick)),
    )


def _scored(hit: Mapping[str, Any], event: Event, reading: Reading) -> ScoredMemory:
    parts = {OURS[name]: part["normalised"] for name, part in hit["parts"].items() if name in OURS}
    memory = reading.memory(event.agent_id, hit["memory"]["id"]) if hit["memory"] else None
    age = (reading.time(event.tick) - memory.created_at).total_seconds() / 3600 if memory else 0.0
    blank = dict.fromkeys(OURS.values(), 0.0)
    return ScoredMemory(
        memory=memory_json(memory) if memory else {}, final_score=hit["score"], age_hours=age, **(blank | parts)
    )


def _problems(reading: Reading, agent: str, tick: int) -> Iterator[Problem]:
    """Yields a problem for each question with an attempt that could not be used, as the last such attempt has it."""
    by_question: dict[int, list[AnswerRow]] = {}
    for row in reading.answers(tick, tick, agent=agent):
        by_question.setdefault(row.ordinal, []).append(row)
    for rows in by_question.values():
        failed = [row for row in rows if row.outcome != "value"]
        if failed:
            call = reading.model_call(failed[-1]) or ModelCall()
            kind = call.kind or str(failed[-1].usage.get("kind", "")) or failed[-1].outcome
            yield Problem(failed[-1].task, kind, call.error, rows[-1].outcome != "value")


def _seconds(reading: Reading, agent: str, tick: int) -> float:
    calls = (reading.model_call(row) for row in reading.answers(tick, tick, agent=agent))
    return round(sum(call.seconds for call in calls if call is not None), 3)


def _tokens(reading: Reading, agent: str, tick: int) -> dict[str, int]:
    rows = reading.answers(tick, tick, agent=agent)
    names = {"prompt": "prompt_tokens", "answer": "answer_tokens", "calls": "calls"}
    return {short: sum(row.usage.get(name, 0) for row in rows) for short, name in names.items()}
