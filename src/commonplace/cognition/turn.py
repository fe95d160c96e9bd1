"""The turn: what goes in, what comes out. Both are values; nothing is written while one is made from the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.character.persona import Persona
from commonplace.character.state import CharacterState, Job
from commonplace.memory.draft import Delta, Draft
from commonplace.memory.snapshot import Snapshot
from commonplace.scenario.scenario import Scenario
from commonplace.world.actions import Action
from commonplace.world.executor import Note
from commonplace.world.view import WorldView


@dataclass(frozen=True, slots=True)
class JobResult:
    """What deferred cognition came to: handed to the turn at the tick it is due, together with how it came about."""

    job: Job
    outcome: Mapping[str, Any]
    """JSON: strokes of a day, insights, or a relation's change; empty when it failed."""
    touched: tuple[int, ...] = ()
    """Memories its retrievals returned; accessed when it is delivered."""
    trace: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TurnView:
    """All that a turn may know: its own character, its area, the scenario. The type is the rule."""

    scenario: Scenario
    persona: Persona
    state: CharacterState
    """As of the end of the previous tick."""
    world: WorldView
    draft: Draft
    """Its own memories, with room for those this turn adds."""
    rated: Mapping[str, float]
    """What each sentence it has remembered weighed: the same sentence always weighs the same."""
    delivered: tuple[JobResult, ...] = ()
    """Deferred cognition that is due."""

    @property
    def tick(self) -> int:
        """The tick being lived."""
        return self.world.tick

    @property
    def now(self) -> datetime:
        """The simulated moment of the tick."""
        return self.scenario.clock.time(self.world.tick)


@dataclass(frozen=True, slots=True)
class JobView:
    """What a deferred job may know: the character and its past as they were when the job was asked for."""

    scenario: Scenario
    persona: Persona
    state: CharacterState
    world: WorldView
    past: Snapshot
    job: Job

    @property
    def now(self) -> datetime:
        """The moment of the snapshot."""
        return self.scenario.clock.time(self.job.asked_at)


@dataclass(frozen=True, slots=True)
class Turn:
    """One character's tick as a value: the whole of what it does, remembers and why."""

    tick: int
    agent: str
    action: Action
    notes: tuple[Note, ...]
    """Events of the mind: PLAN_CHANGED, REFLECTED."""
    delta: Delta
    """Memories added and accesses made."""
    state: CharacterState
    """Plan, beliefs, relations and pending jobs from now on."""
    trace: Mapping[str, Any]
    """Why: see `docs/why.md`."""
