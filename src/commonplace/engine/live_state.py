"""A run in RAM: the world, everybody's state and memories, and the deferred jobs that are pending."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from commonplace.character.state import CharacterState, Job
from commonplace.cognition.authors_lines import with_goals
from commonplace.cognition.turn import JobResult, JobView, Turn, TurnView
from commonplace.engine.beginnings import new_stream, starting_memories
from commonplace.engine.changes import NO_CHANGES, Changes
from commonplace.engine.stage import Stage
from commonplace.memory import Draft, MemoryStream
from commonplace.memory.reader import Snapshot
from commonplace.memory.record import Memory
from commonplace.rng import Seeds
from commonplace.run.digest import rows_of
from commonplace.run.reading import Reading
from commonplace.run.rows import Rows, TickRecord
from commonplace.run.versions import state_versions, world_versions
from commonplace.scenario.circumstances import with_circumstances
from commonplace.scenario.compiling import as_changed
from commonplace.scenario.scenario import Scenario
from commonplace.world.deeds import HouseRules
from commonplace.world.events import Event, Forgot, of_kind
from commonplace.world.state import World
from commonplace.world.view import WorldView, look
from commonplace.world.weather import Ambient, ambient_at

JobKey = tuple[str, int, int]
"""Character, the tick the job was requested in, its number there."""


@dataclass(slots=True)
class Surroundings:
    """What a run is besides its characters' minds, as of the last tick applied."""

    scenario: Scenario
    """As inputs have changed it: newcomers, cards and policy; with what is so."""
    seeds: Seeds
    world: World
    """In a worker it holds the areas in which its characters are."""
    ambient: Ambient = field(init=False)
    """Derived: time of day and weather at the end of the tick."""

    def __post_init__(self) -> None:
        self.ambient = weather(self.scenario, self.seeds, self.world)

    @property
    def seed(self) -> int:
        """The seed of the next tick."""
        return self.seeds.at(self.tick + 1)

    @property
    def tick(self) -> int:
        """The last tick applied."""
        return self.world.tick

    @property
    def rules(self) -> HouseRules:
        """House rules, in ticks."""
        notice = self.scenario.clock.ticks(self.scenario.cognition.leave_notice)
        homes = {me: persona.home for me, persona in self.scenario.personas.items()}
        return HouseRules(notice, self.scenario.language, self.scenario.kinds, homes)

    def advance(self, world: World, cards: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> None:
        """Goes on to a committed tick. `cards` and `settings`: what its inputs have changed."""
        before, self.world = self.world, world
        self.ambient = weather(self.scenario, self.seeds, world)
        if cards or settings:
            self.scenario = as_changed(self.scenario, cards, settings)
        if "seed" in settings:
            self.seeds = self.seeds.changed(self.tick, settings["seed"])
        if world.circumstances is not before.circumstances:
            self.scenario = with_circumstances(self.scenario, world.circumstances)


@dataclass(slots=True)
class LiveState(Surroundings):
    """Everything the engine carries from tick to tick, of all characters or a part of them. Changed only by `apply`."""

    states: dict[str, CharacterState]
    streams: dict[str, MemoryStream]
    rated: dict[str, dict[str, float]]
    """By character: each sentence it remembers, with the importance it was first given."""
    waiting: dict[str, tuple[JobView, ...]] = field(default_factory=dict[str, tuple[JobView, ...]])
    """Deferred jobs that have not been delivered yet, each on the snapshot it was requested on, by character."""

    def due(self, agent: str) -> list[JobView]:
        """Returns the deferred jobs whose results the character's next turn receives."""
        return [view for view in self.waiting.get(agent, ()) if view.job.due <= self.tick + 1]

    def due_by(self, last: int) -> dict[JobKey, JobView]:
        """Returns the deferred jobs that are due up to a tick."""
        views = ((agent, view) for agent, views in self.waiting.items() for view in views)
        return {job_key(agent, view): view for agent, view in views if view.job.due <= last}

    def acting(self, stage: Stage) -> list[str]:
        """Returns the characters here whose turn it is at the next tick, sorted."""
        wanted = stage.acts(self.scenario, self.tick + 1)
        return [agent for agent in wanted if agent in self.states and agent in self.world.bodies]

    def view(self, agent: str, delivered: tuple[JobResult, ...] = ()) -> TurnView:
        """Returns what a character's next turn may know."""
        view = TurnView(
            scenario=self.scenario,
            persona=self.scenario.personas[agent],
            state=self.states[agent],
            world=seen(self.scenario, self.world, self.ambient, agent),
            draft=Draft(self.streams[agent]),
            rated=self.rated[agent],
            delivered=delivered,
        )
        return with_goals(view)

    def forgotten(self, events: Iterable[Event]) -> dict[str, tuple[int, ...]]:
        """Returns the memories that the inputs of a tick remove, by character; only those that exist."""
        found: dict[str, dict[int, None]] = {}
        for event, forgot in of_kind(events, Forgot):
            stream = self.streams.get(event.agent_id, ())  # who comes in this very tick has none yet
            found.setdefault(event.agent_id, {}).update((id, None) for id in forgot.memory_ids if id in stream)
        return {agent: tuple(ids) for agent, ids in sorted(found.items()) if ids}

    def apply(
        self, world: World, turns: Iterable[Turn], removed: Mapping[str, Sequence[int]], changes: Changes = NO_CHANGES
    ) -> None:
        """Advances to a committed tick. Forgetting comes last: it is an input, and inputs end a tick.

        A job requested in the tick already sees what the tick's inputs changed, as one restored from the file does.
        """
        before = self.world
        self.states |= changes.states
        self.advance(world, changes.cards, changes.settings)
        for agent, memories in changes.newcomers.items():
            self.streams[agent] = new_stream(self.scenario, agent)
            self.streams[agent].apply(memories)
            self.rated[agent] = with_weights({}, memories.memories)
        for turn in turns:
            agent = turn.agent
            self.states[agent] = changes.states.get(agent, turn.state)
            self.streams[agent].apply(turn.delta)
            with_weights(self.rated[agent], turn.delta.memories)
            self._apply_jobs(turn, before)
        for agent, ids in removed.items():
            self.streams[agent].forget(ids)
            self.rated[agent] = self.streams[agent].weights()

    def _apply_jobs(self, turn: Turn, before: World) -> None:
        """Gives jobs requested in the turn their snapshot; those delivered in it are no longer in its state.

        The snapshot holds the world the turn saw (`before`) and the memories it ended with, access times included. A
        job sees nothing later, so it may be asked at any time until it is due and its answer stays the same.
        """
        agent = turn.agent
        state = self.states[agent]
        jobs = state.jobs
        waiting = [view for view in self.waiting.get(agent, ()) if view.job in jobs]
        asked = [job for job in jobs if job.asked_at == turn.tick]
        if asked:
            ambient = weather(self.scenario, self.seeds, before)
            world, past = seen(self.scenario, before, ambient, agent), self.streams[agent].snapshot()
            persona = self.scenario.personas[agent]
            waiting += [with_goals(JobView(self.scenario, persona, state, world, past, job)) for job in asked]
        self.waiting[agent] = tuple(waiting)


def job_key(agent: str, view: JobView) -> JobKey:
    """Returns the key of a character's deferred job."""
    return (agent, view.job.asked_at, view.job.number)


def seen(scenario: Scenario, world: World, ambient: Ambient, agent: str) -> WorldView:
    """Returns what a character sees at the tick after `world`, whose weather is given."""
    home = scenario.personas[agent].home
    return look(
        scenario.geography, world, agent, clock=scenario.clock, ambient=ambient, kinds=scenario.kinds, home=home
    )


def weather(scenario: Scenario, seeds: Seeds, world: World) -> Ambient:
    """Returns time of day and weather of a world at the end of its tick."""
    return ambient_at(scenario.climate, seeds.at(world.tick), scenario.clock, world.tick, world.imposed)


def with_weights(rated: dict[str, float], memories: Iterable[Memory]) -> dict[str, float]:
    """Adds to `rated` the importance of each sentence remembered for the first time."""
    for memory in memories:
        rated.setdefault(memory.text, memory.importance)
    return rated


def opening_record(scenario: Scenario, *made: Rows) -> TickRecord:
    """Returns the record of tick 0, which has no events. `made`: what `initial_state` gives of all characters."""
    return TickRecord(0, (), {}, world_versions(None, scenario.opening), (), made=made)


def initial_state(scenario: Scenario, seed: int, agents: Container[str] | None = None) -> tuple[LiveState, Rows]:
    """Returns the state at tick 0 of some characters, all if None, and what they add to its record: starting memories
    and versions of their states."""
    ours = [agent for agent in scenario.personas if agents is None or agent in agents]
    streams = {agent: new_stream(scenario, agent) for agent in ours}
    past = scenario.session.past if scenario.session else {}
    deltas = {
        agent: starting_memories(stream, scenario.memories[agent], scenario.clock.start, past=past.get(agent, ()))
        for agent, stream in streams.items()
    }
    rated: dict[str, dict[str, float]] = {agent: {} for agent in ours}
    for agent, delta in deltas.items():
        streams[agent].apply(delta)
        with_weights(rated[agent], delta.memories)
    states = {agent: state for agent, state in scenario.states.items() if agents is None or agent in agents}
    live_state = LiveState(scenario, Seeds(seed), scenario.opening, states, streams, rated)
    versions = [version for agent, state in states.items() for version in state_versions(agent, None, state)]
    deltas = {agent: delta for agent, delta in deltas.items() if delta.memories}
    return live_state, rows_of(TickRecord(0, (), deltas, tuple(versions), ()))


def restored_state(reading: Reading, scenario: Scenario, tick: int, agents: Container[str] | None = None) -> LiveState:
    """Returns a run as it was at the end of a tick, with the pending deferred jobs of some characters, all if None.
    Their memories are read once."""
    now = scenario_at(reading, scenario, tick)
    ours = [agent for agent in now.personas if agents is None or agent in agents]
    world, states = reading.world_at(tick), {agent: reading.state_at(agent, tick) for agent in ours}
    streams: dict[str, MemoryStream] = {}
    waiting: dict[str, tuple[JobView, ...]] = {}
    world_then, scenario_then = cache(reading.world_at), cache(partial(scenario_at, reading, scenario))

    def pending(agent: str, job: Job, past: Snapshot) -> JobView:
        """Returns a pending job, on the snapshot it was requested on."""
        then, before = scenario_then(job.asked_at), world_then(job.asked_at - 1)
        view = seen(then, before, weather(then, reading.seeds, before), agent)
        return with_goals(JobView(then, then.personas[agent], reading.state_at(agent, job.asked_at), view, past, job))

    for agent in ours:
        jobs = states[agent].jobs
        asked = sorted({job.asked_at for job in jobs})
        streams[agent], snapshots = reading.stream_and_snapshots(agent, tick, asked)
        if jobs:
            waiting[agent] = tuple(pending(agent, job, snapshots[job.asked_at]) for job in jobs)
    rated = {agent: stream.weights() for agent, stream in streams.items()}
    return LiveState(now, reading.seeds, world, states, streams, rated, waiting)


def scenario_at(reading: Reading, scenario: Scenario, tick: int) -> Scenario:
    """Returns the scenario with the cards and settings that inputs up to a tick have changed, and with what is so."""
    changed = as_changed(scenario, reading.cards_at(tick), reading.settings_at(tick))
    return with_circumstances(changed, reading.circumstances_at(tick))


def seen_at(reading: Reading, scenario: Scenario, agent: str, tick: int) -> WorldView:
    """Returns what a character sees of the world as it was at the end of a tick. Raises KeyError if it was not in
    it."""
    world = reading.world_at(tick)
    return seen(scenario, world, weather(scenario, reading.seeds, world), agent)
