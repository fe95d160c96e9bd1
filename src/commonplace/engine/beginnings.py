"""What a character begins with: an empty stream, starting memories and, for a newcomer, its opening state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.character.state import CharacterState
from commonplace.clock import parse_iso
from commonplace.memory import Delta, Draft, MemoryStream
from commonplace.memory.importance import scaled
from commonplace.memory.record import Emotion
from commonplace.scenario.compiling import card_of, newcomer, opening_state, with_character
from commonplace.scenario.findings import Names
from commonplace.scenario.model import MemoryPart
from commonplace.scenario.scenario import PastAnswer, Scenario
from commonplace.world.happenings import Answered, Seed, as_frame

ANSWERED = "answered"
"""The tag of a past answer, and what its frame says it is."""


def new_stream(scenario: Scenario, agent: str) -> MemoryStream:
    """Makes an empty stream as the scenario's settings want it."""
    return MemoryStream(agent, scenario.policy, embedder=scenario.embedder, analyser=scenario.analyser)


def starting_memories(
    stream: MemoryStream,
    parts: Iterable[MemoryPart],
    at: datetime,
    tick: int = 0,
    past: Iterable[PastAnswer] = (),
) -> Delta:
    """Makes the memories with which the character of a stream begins; before them its `past` answers as they were
    said."""
    draft = Draft(stream)
    for answer in past:
        _remember_answer(draft, answer)
    for part in parts:
        seed = Seed(about=part.about, topic=part.topic, sort=part.sort)
        details: dict[str, object] = {"frame": as_frame(seed)}
        if part.tell:
            details["tell"] = list(part.lines)
        draft.remember(
            part.text,
            at=at,
            tick=tick,
            importance=part.importance,
            kind="plan" if part.plan else "observation",
            source="scenario",
            details=details,
        )
    return draft.delta


def _remember_answer(draft: Draft, answer: PastAnswer) -> None:
    draft.remember(
        answer.text,
        at=parse_iso(answer.at),
        importance=scaled(answer.importance),
        kind="action",
        source="store",
        session=answer.session_id,
        tags=(ANSWERED,),
        emotion=Emotion(answer.valence, answer.arousal, answer.confidence, answer.keywords),
        details={
            "frame": as_frame(Answered(asked=answer.prompt, quote=answer.text)),
            "memory_id": answer.memory_id,
            "rhythm_phase": answer.rhythm_phase,
            "user_rating": answer.user_rating,
        },
    )


@dataclass(frozen=True, slots=True)
class Arrival:
    """A newcomer at the end of the tick it came in."""

    state: CharacterState
    """Beliefs and relations as of tick 0, like everybody's who was away until now; the card is the whole persona."""
    memories: Delta


def arrival(given: Mapping[str, Any], scenario: Scenario, tick: int) -> tuple[Arrival, Scenario]:
    """Returns the newcomer that an input describes, and the scenario with it. Raises UsageError for one that cannot
    come."""
    character = newcomer(given, scenario)
    state = opening_state(character, Names.of(scenario.part), scenario.opening)
    stream, moment = new_stream(scenario, character.id), scenario.clock.time(tick)
    memories = starting_memories(stream, character.memories, moment, tick)
    return Arrival(replace(state, card=card_of(character)), memories), with_character(scenario, character)
