"""Lock-step: all characters take their turns of a tick at the same time, and the slowest one is waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from commonplace.cognition.turn import Turn
from commonplace.engine.characters import Amended, Cast, Played, Session
from commonplace.engine.live_state import LiveState, Surroundings
from commonplace.engine.meter import meter
from commonplace.run.rows import InputRow, TickRecord, Version
from commonplace.run.versions import world_versions
from commonplace.world.actions import Idle
from commonplace.world.deeds import Intent
from commonplace.world.events import NOBODY, Event
from commonplace.world.executor import step
from commonplace.world.inputs import Input, from_dict
from commonplace.world.script import due, occurring
from commonplace.world.state import World
from commonplace.world.weather import ambient_at, ambient_events


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick as a program that plays a run sees it."""

    number: int
    time: datetime
    events: tuple[Event, ...]
    turns: Mapping[str, Turn]
    """By character; those whose turn it was not are left out. Empty in a run with workers: turns stay there, and what
    is stored of them is in the run."""


@dataclass(frozen=True, slots=True)
class ProposedTick:
    """A tick that has been computed and is not committed yet."""

    tick: Tick
    record: TickRecord
    world: World
    amended: Amended


class Lockstep:
    """Runs one tick after another. A tick is handed out first, to be committed, and applied only then."""

    def __init__(self, cast: Cast) -> None:
        self.driver = cast.driver
        self._cast = cast

    @property
    def surroundings(self) -> Surroundings:
        """The run besides its characters, as of the last tick applied."""
        return self._cast.surroundings

    @property
    def live_state(self) -> LiveState:
        """The run with its characters, where they are in this process."""
        assert isinstance(self.surroundings, LiveState), "the characters are in workers"
        return self.surroundings

    def start_session(self) -> Session:
        """Begins the jobs of a new session, which the caller ends. The session before is over."""
        return self._cast.start_session()

    async def run_tick(self, inputs: Sequence[InputRow] = ()) -> ProposedTick:
        """Computes the next tick: everybody's turn, and what the world makes of them. Nothing is changed yet."""
        before, number = self.surroundings, self.surroundings.tick + 1
        meter().entered("cognition")
        played = await self._cast.play()
        meter().entered("world")
        given = [from_dict({**row.body, "seq": row.seq}) for row in inputs]
        world, events = self._step_world(played, given)
        amended = await self._cast.amend(given, events) if given else Amended()
        made = [
            replace(one.rows, versions=[]) if agent in amended.changed else one.rows for agent, one in played.items()
        ]
        settings = (Version(NOBODY, "setting", name, value) for name, value in sorted(amended.settings.items()))
        record = TickRecord(
            tick=number,
            events=events,
            deltas={},
            versions=(*world_versions(before.world, world), *settings),
            answers=(),
            inputs=tuple(inputs),
            removed=amended.removed,
            made=(*made, *amended.rows),
        )
        turns = {agent: one.turn for agent, one in played.items() if one.turn is not None}
        return ProposedTick(Tick(number, before.scenario.clock.time(number), events, turns), record, world, amended)

    def apply(self, proposed: ProposedTick) -> None:
        """Advances to the tick, after its commit."""
        self._cast.apply(proposed.world, proposed.amended)
        self.driver.seeds = self.surroundings.seeds

    def _step_world(self, played: Mapping[str, Played], inputs: Sequence[Input]) -> tuple[World, tuple[Event, ...]]:
        """Returns the world after the tick, and the tick's events. Whoever had no turn goes on doing what it did."""
        state, number = self.surroundings, self.surroundings.tick + 1
        scenario = state.scenario
        intents = {
            agent: played[agent].intent
            if agent in played
            else Intent(Idle(doing=body.doing, asleep=body.asleep, emoji=body.emoji))
            for agent, body in state.world.bodies.items()
        }
        attempts = (one.attempt for _, one in sorted(played.items()) if one.attempt)
        return step(
            scenario.geography,
            state.world,
            intents,
            clock=scenario.clock,
            rules=state.rules,
            ambient=ambient_events(
                scenario.climate,
                state.seeds.at(number),
                scenario.clock,
                number,
                before=state.ambient,
                imposed=state.world.imposed,
            ),
            scripted=(
                *due(scenario.script, number),
                *occurring(scenario.occasions, state.seeds.at(number), scenario.clock, state.world, state.ambient),
            ),
            inputs=(*attempts, *inputs),
            weather=partial(ambient_at, scenario.climate, state.seeds.at(number), scenario.clock, number),
        )
