"""Lock-step: everybody lives the same tick at the same time; the slowest is waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.cognition.turn import Turn
from commonplace.engine.ahead import Ahead
from commonplace.engine.driver import Drive, Driver, together
from commonplace.engine.life import Life
from commonplace.engine.stage import Stage
from commonplace.run.record import InputRow, TickRecord, Version
from commonplace.run.versions import state_versions, world_versions
from commonplace.world.actions import Idle
from commonplace.world.events import Event
from commonplace.world.executor import Intent, step
from commonplace.world.inputs import from_dict
from commonplace.world.script import due
from commonplace.world.state import World
from commonplace.world.weather import ambient_events


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick as a program that plays a run sees it."""

    number: int
    time: datetime
    events: tuple[Event, ...]
    turns: Mapping[str, Turn]
    """By character; those whose turn it was not are left out."""


@dataclass(frozen=True, slots=True)
class Lived:
    """A tick that has been lived and waits to be committed."""

    tick: Tick
    record: TickRecord
    world: World


class Lockstep:
    """Lives one tick after another. What it makes is handed out to be committed before it is taken up."""

    def __init__(self, life: Life, stage: Stage, driver: Driver) -> None:
        self.life = life
        self.driver = driver
        self.ahead = Ahead(driver, stage)
        self._stage = stage

    def sit_down(self) -> Ahead:
        """Begin a sitting; what is thought of ahead in it is to be ended by the caller. The one before is over."""
        self.ahead.cancel()
        self.ahead = Ahead(self.driver, self._stage)
        return self.ahead

    async def live(self, inputs: Sequence[InputRow] = ()) -> Lived:
        """The next tick, everybody's turn and what came of it. Nothing is changed yet."""
        life, number = self.life, self.life.tick + 1
        acting = [agent for agent in self._stage.acts(life.scenario, number) if agent in life.world.bodies]
        drives: dict[str, tuple[Drive, ...]] = {}
        if self.driver.mind.costs:
            await together(self._act(agent, drives) for agent in acting)
        else:
            for agent in acting:
                await self._act(agent, drives)
        turns: dict[str, Turn] = {agent: drives[agent][-1].result for agent in acting}
        world, events = self._executed(turns, inputs)
        record = TickRecord(
            tick=number,
            events=events,
            deltas={agent: turn.delta for agent, turn in turns.items() if turn.delta.memories or turn.delta.touched},
            versions=(*world_versions(life.world, world), *self._state_versions(turns)),
            answers=tuple(row for agent in acting for drive in drives[agent] for row in drive.rows),
            inputs=tuple(inputs),
            traces={agent: turn.trace for agent, turn in turns.items()},
            removed=life.forgotten(events),
        )
        return Lived(Tick(number, life.scenario.clock.time(number), events, turns), record, world)

    def take_up(self, lived: Lived) -> None:
        """After the commit: the tick becomes the present."""
        self.life.apply(lived.world, lived.tick.turns.values(), lived.record.removed)

    async def _act(self, agent: str, drives: dict[str, tuple[Drive, ...]]) -> None:
        """A character's deferred jobs that are due, then its turn; noted under its name."""
        thoughts = await self.ahead.done(agent, self.life.due(agent))
        view = self.life.view(agent, tuple(drive.result for drive in thoughts))
        turn = Drive(agent, view.tick, self._stage.turn(view))
        await self.driver.run([turn])
        drives[agent] = (*thoughts, turn)

    def _executed(self, turns: Mapping[str, Turn], inputs: Sequence[InputRow]) -> tuple[World, tuple[Event, ...]]:
        life, number = self.life, self.life.tick + 1
        intents: dict[str, Intent] = {}
        for agent, body in life.world.bodies.items():
            turn = turns.get(agent)
            still = Intent(Idle(doing=body.doing, asleep=body.asleep, emoji=body.emoji))
            intents[agent] = Intent(turn.action, turn.notes) if turn else still
        return step(
            life.scenario.geography,
            life.world,
            intents,
            clock=life.scenario.clock,
            rules=life.rules,
            ambient=ambient_events(life.scenario.climate, life.seed, life.scenario.clock, number),
            scripted=due(life.scenario.script, number),
            inputs=[from_dict({**row.body, "seq": row.seq}) for row in inputs],
        )

    def _state_versions(self, turns: Mapping[str, Turn]) -> list[Version]:
        before = self.life.states
        return [version for agent in turns for version in state_versions(agent, before[agent], turns[agent].state)]
