"""The turn: what goes in and what comes out. Both are values; nothing is written while one is made from the other.

A deferred job has the same shape: `JobView` in, `JobResult` out.

The trace stores the reasons of a turn compactly. Scores are whole multiples of 2⁻³⁰, so each normalised part is kept as
an integer; raw parts follow from it and the range it was normalised over, totals from the weights. Ids stand for the
texts of memories.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import structs

from commonplace.character.account import Account
from commonplace.character.goal import Goals
from commonplace.character.persona import Persona
from commonplace.character.plan import Plan
from commonplace.character.state import Belief, CharacterState, Job, Relation
from commonplace.memory import Retrieval
from commonplace.memory.columns import UNIT
from commonplace.memory.draft import Delta, Draft
from commonplace.memory.reader import Reader, Snapshot
from commonplace.memory.shapes import PartJSON
from commonplace.minds.mind import Answer, Task, Unless, ask
from commonplace.minds.notes import Bearing, Given, News, Recalled, Value, fields_of
from commonplace.scenario.scenario import Scenario
from commonplace.world.actions import Action
from commonplace.world.events import EventBody
from commonplace.world.happenings import Happening
from commonplace.world.view import WorldView

I = TypeVar("I", bound=Given)  # noqa: E741
O = TypeVar("O", bound=Value)  # noqa: E741


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
    """Importance by sentence, of all it has remembered: the same sentence always weighs the same."""
    delivered: tuple[JobResult, ...] = ()
    """Deferred cognition that is due."""
    now: datetime = field(init=False)
    """Derived: the simulated moment of the tick."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "now", self.scenario.clock.time(self.world.tick))

    @property
    def tick(self) -> int:
        """Returns the tick this turn belongs to."""
        return self.world.tick

    @property
    def memories(self) -> Reader:
        """Returns the memories that retrievals search."""
        return self.draft


@dataclass(frozen=True, slots=True)
class Turn:
    """One character's tick as a value: the whole of what it does, remembers and why."""

    tick: int
    agent: str
    action: Action
    notes: tuple[EventBody, ...]
    """Events of the mind: PLAN_CHANGED, REFLECTED, RELATION_CHANGED."""
    delta: Delta
    """Memories added and accesses made."""
    state: CharacterState
    """Plan, beliefs, relations and pending jobs from now on."""
    trace: Mapping[str, Any]
    """The reasons: see `docs/why.md`."""


@dataclass(frozen=True, slots=True)
class JobView:
    """What a deferred job may know: the character and its past as they were when the job was requested."""

    scenario: Scenario
    persona: Persona
    state: CharacterState
    world: WorldView
    past: Snapshot
    job: Job
    now: datetime = field(init=False)
    """Derived: the moment of the snapshot."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "now", self.scenario.clock.time(self.job.asked_at))

    @property
    def memories(self) -> Reader:
        """Returns the memories that retrievals search."""
        return self.past


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a deferred job, handed to the turn at the tick it is due, with its trace."""

    job: Job
    outcome: Mapping[str, Any]
    """JSON: strokes of a day, insights, or a relation's change; empty when it failed."""
    touched: tuple[int, ...] = ()
    """Memories its retrievals returned; accessed when it is delivered."""
    trace: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TalkView:
    """What a character knew at the end of a tick, for a talk with a person outside the world."""

    scenario: Scenario
    persona: Persona
    state: CharacterState
    world: WorldView
    """Its area at the end of the tick; `world.tick` is that tick."""
    past: Snapshot
    now: datetime = field(init=False)
    """Derived: the moment at which the tick ended."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "now", self.scenario.clock.time(self.world.tick))

    @property
    def memories(self) -> Reader:
        """Returns the memories that retrievals search; they are not touched."""
        return self.past


View = TurnView | JobView | TalkView
"""What a situation is described from and memories are retrieved from."""


class Tracer:
    """Asks questions, and records them and the retrievals: the trace of a turn or of a job."""

    def __init__(self) -> None:
        self.trace: dict[str, Any] = {}

    async def ask(self, task: Task[I, O], value: I, unless: Unless[I] | None = None) -> Answer[O]:
        """Puts a question and notes it in the trace. An unusable answer is replaced by the task's fallback, flagged.

        `unless`: see `Ask`.
        """
        answer = await ask(task, value, unless)
        self._append("asked", question_entry(task, value, answer))
        return answer

    def retrieved(self, retrieval: Retrieval) -> None:
        """Notes a retrieval with every part of every score."""
        self._append("retrievals", retrieval_entry(retrieval))

    def chosen(self, purpose: str, memories: Sequence[int], candidates: int) -> None:
        """Notes memories that were chosen by their subject and not by a score."""
        self._append("retrievals", chosen_entry(purpose, memories, candidates))

    def line(self, words: str, when: Sequence[str], failed: str) -> None:
        """Notes an author's line with its conditions, the values they found, and the one that failed."""
        self._append("lines", {"say": words, "when": list(when), "failed": failed})

    def _append(self, key: str, entry: Any) -> None:
        self.trace.setdefault(key, []).append(entry)


class Notebook(Tracer):
    """A turn's working copy of the character's state. It is thrown away; what it holds ends up in the Turn."""

    def __init__(self, state: CharacterState) -> None:
        super().__init__()
        self.belief: Belief = state.belief
        self.plan: Plan = state.plan
        self.relations: dict[str, Relation] = dict(state.relations)
        self.jobs: tuple[Job, ...] = state.jobs
        self.reflected = state.reflected
        self.played = state.played
        self.mood = state.mood
        self.weighed: dict[str, int] = dict(state.weighed)
        self.said: dict[str, str] = dict(state.said)
        self.account: Account = state.account
        self.goals: Goals = state.goals
        self.notes: list[EventBody] = []
        """Events of the mind."""
        self.unrated: dict[str, list[int]] = {}
        """What waits for the mind's rating: text → the memories that say it. Lost at the end of the turn."""
        self.bearings: dict[tuple[str, Happening], Bearing] = {}
        """A sentence and what it tells of → its bearing, which is the same all through a turn."""
        self._before = state

    def stored(self, memory: int, reason: str) -> None:
        """Notes that something was remembered, and why."""
        self._append("stored", [memory, reason])

    def not_stored(self, text: str, reason: str, importance: int = 0, kind: str = "") -> None:
        """Notes that something was not remembered, and why; with its kind and importance if they were determined."""
        self._append("dropped", [text, reason, importance, kind] if importance else [text, reason])

    def delivered(self, entry: Mapping[str, Any]) -> None:
        """Notes a deferred job that was delivered."""
        self._append("delivered", entry)

    def turn(self, view: TurnView, action: Action) -> Turn:
        """Returns the turn as one value."""
        return Turn(
            tick=view.tick,
            agent=view.persona.id,
            action=action,
            notes=tuple(self.notes),
            delta=view.draft.delta,
            state=self.state(),
            trace=self.trace,
        )

    def request(self, kind: str, tick: int, due: int, about: str = "") -> None:
        """Requests a deferred job."""
        number = sum(1 for job in self.jobs if job.asked_at == tick)
        self.jobs = (*self.jobs, Job(kind, tick, due, about, number))

    def state(self) -> CharacterState:
        """Returns the state at the end of the turn; the same object, or the same parts of it, if nothing changed."""
        before = self._before
        relations = before.relations if self.relations == before.relations else self.relations
        weighed = before.weighed if self.weighed == before.weighed else self.weighed
        said = before.said if self.said == before.said else self.said
        is_same = (
            self.plan is before.plan
            and self.belief is before.belief
            and self.account is before.account
            and self.goals is before.goals
            and self.jobs is before.jobs
            and relations is before.relations
            and weighed is before.weighed
            and said is before.said
            and (self.reflected, self.played, self.mood) == (before.reflected, before.played, before.mood)
        )
        if is_same:
            return before
        return replace(
            before,
            plan=self.plan,
            belief=self.belief,
            relations=relations,
            jobs=self.jobs,
            reflected=self.reflected,
            played=self.played,
            mood=self.mood,
            weighed=weighed,
            said=said,
            account=self.account,
            goals=self.goals,
        )


class JobNotebook(Tracer):
    """A deferred job's trace, and the memories its retrievals returned."""

    def __init__(self) -> None:
        super().__init__()
        self.touched: set[int] = set()

    def retrieved(self, retrieval: Retrieval) -> None:
        """Notes a retrieval. Its hits count as accessed when the job is delivered: a snapshot cannot be written to."""
        super().retrieved(retrieval)
        self.touched.update(retrieval.ids)


ELSEWHERE = {
    "who", "situation", "facts", "places", "names", "routine", "hints", "things",
    "texts", "said", "now", "later", "lines", "yesterday", "company", "known", "told", "past", "pasts",
    "goals", "happenings", "unrated_happenings",
}  # fmt: skip
"""Fields of typed inputs that are left out: scenario, state and memories of the tick hold them. Memories that stay
(`Recalled`, `News`) are written as their ids, whatever their field is called.
"""


def retrieval_entry(retrieval: Retrieval) -> dict[str, Any]:
    """Returns a retrieval as an entry: per part its weight and range, per hit the memory's id and its normalised parts
    in units of 2⁻³⁰."""
    scored = retrieval.breakdown if retrieval.found else None
    weights = dict(sorted(zip(scored.names, scored.weights, strict=True))) if scored else {}
    units = scored.units() if scored else {}
    return {
        "purpose": retrieval.purpose,
        "query": retrieval.query,
        "policy": retrieval.policy.name,
        "k": retrieval.k,
        "candidates": retrieval.candidates,
        "parts": {name: [weight, *retrieval.spreads[name]] for name, weight in weights.items()},
        "hits": [[*row] for row in zip(retrieval.ids, *(units[name] for name in weights), strict=True)],
    }


def chosen_entry(purpose: str, memories: Sequence[int], candidates: int) -> dict[str, Any]:
    """Returns memories that were chosen by their subject, written like a retrieval without scores."""
    return {
        "purpose": purpose,
        "query": "",
        "policy": CHOSEN,
        "k": len(memories),
        "candidates": candidates,
        "parts": {},
        "hits": [[memory] for memory in memories],
    }


def hits(entry: Mapping[str, Any]) -> Iterable[tuple[int, float, dict[str, PartJSON]]]:
    """Yields (memory id, total, parts) of each hit of a written retrieval, best first."""
    ranges: Mapping[str, list[float]] = entry["parts"]
    for memory, *units in entry["hits"]:
        parts = {
            name: _part(count * UNIT, *range_) for (name, range_), count in zip(ranges.items(), units, strict=True)
        }
        total = sum(part["weight"] * part["normalised"] for part in parts.values())
        yield memory, round(total / UNIT) * UNIT, parts


def _part(normalised: float, weight: float, low: float, high: float) -> PartJSON:
    """Returns a part's score with min-max undone; a policy that does not normalise is written with the range 0 … 1."""
    raw = round((low + normalised * (high - low)) / UNIT) * UNIT
    return {"raw": raw, "normalised": normalised, "weight": weight}


def question_entry(task: Task[Any, Any], value: Given, answer: Answer[Any]) -> dict[str, Any]:
    """Returns a question without what is stored elsewhere; its answer is in the journal."""
    inputs = _fields(value, ELSEWHERE)
    if "hearer" in inputs:
        inputs["hearer"] = inputs["hearer"]["id"]
    return {"ordinal": answer.number, "task": task.name, "outcome": answer.outcome, "input": inputs}


def _fields(value: Given | Value, left_out: Container[str] = ()) -> dict[str, Any]:
    """Returns the fields that are not at their default, as JSON has them."""
    standard = _defaults(type(value))
    return {
        name: _written(cell)
        for name, cell in fields_of(value)
        if name not in left_out and (name not in standard or cell != standard[name])
    }


def _written(cell: object) -> Any:
    """Returns a part of a typed input as JSON; memories, anywhere in it, by their ids."""
    match cell:
        case Recalled():
            return cell.id
        case News():
            return cell.memory_id
        case Given() | Value():
            return _fields(cell)
        case tuple():
            return [_written(part) for part in cast(tuple[object, ...], cell)]
        case Mapping():
            return {key: _written(part) for key, part in cast(Mapping[str, object], cell).items()}
        case _:
            return cell


CHOSEN = "chosen"
"""Stands for a policy where nothing was scored."""


@cache
def _defaults(kind: type[Given | Value]) -> dict[str, Any]:
    if issubclass(kind, Given):
        fields = structs.fields(kind)
        made = {one.name: one.default_factory() for one in fields if one.default_factory is not msgspec.NODEFAULT}
        return made | {one.name: one.default for one in fields if one.default is not msgspec.NODEFAULT}
    return {
        name: info.get_default(call_default_factory=True)
        for name, info in kind.model_fields.items()
        if not info.is_required()
    }
