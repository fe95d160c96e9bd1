"""Lock-step: everybody lives the same tick at the same time; the slowest is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from commonplace.cognition.turn import JobView, Turn
from commonplace.engine.driver import JOB_ORDINALS, Drive, Driver, together
from commonplace.engine.live_state import LiveState
from commonplace.engine.stage import Stage
from commonplace.errors import Paused
from commonplace.run.tick_record import InputRow, TickRecord, Version
from commonplace.run.versions import state_versions, world_versions
from commonplace.world.actions import Idle
from commonplace.world.events import Event
from commonplace.world.executor import Intent, step
from commonplace.world.inputs import from_dict
from commonplace.world.script import due
from commonplace.world.state import World
from commonplace.world.weather import ambient_events

# ── ahead ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Deferred jobs thought of ahead: asked as soon as there is a snapshot for them, waited for when they are due.


Key = tuple[str, int, int]
"""Character, the tick the job was asked for in, its number there."""


@dataclass(slots=True)
class _Begun:
    drive: Drive
    task: asyncio.Task[None]


class Prefetch:
    """The jobs under way in one sitting. Only minds that cost something are asked ahead of time.

    It decides when a question is put, never what comes of it: a job sees its snapshot and nothing later.
    """

    def __init__(self, driver: Driver, stage: Stage) -> None:
        self._driver = driver
        self._stage = stage
        self._begun: dict[Key, _Begun] = {}

    def begin(self, waiting: Mapping[str, Sequence[JobView]], last: int) -> None:
        """Start those that are due up to a tick, in the background. Needs a running event loop."""
        if not self._driver.mind.paid:
            return
        due = {_key(agent, view): view for agent, views in waiting.items() for view in views if view.job.due <= last}
        self._begun = {key: begun for key, begun in self._begun.items() if key in due or not begun.task.done()}
        for key, view in due.items():
            if key not in self._begun:
                self._start(key, view)

    async def done(self, agent: str, views: Sequence[JobView]) -> tuple[Drive, ...]:
        """The jobs of a character, done. Raises what they raise."""
        if not views:
            return ()
        if not self._driver.mind.paid:
            drives = tuple(thought(self._stage, agent, view) for view in views)
            await self._driver.run(drives)
            return drives
        begun = [self._found(agent, view) for view in views]
        await together(_ended(one.task) for one in begun)
        return tuple(one.drive for one in begun)

    async def drain(self) -> None:
        """Wait for what is in flight, whatever comes of it: when the budget is reached nothing follows it."""
        await asyncio.gather(*(begun.task for begun in self._begun.values()), return_exceptions=True)

    def cancel(self) -> None:
        """Give everything up. Nothing that is still under way writes anything from now on."""
        for begun in self._begun.values():
            begun.task.cancel()

    async def end(self) -> None:
        """Give everything up and wait until it is gone."""
        self.cancel()
        await self.drain()

    def _found(self, agent: str, view: JobView) -> _Begun:
        """The job under way; anew if its mind could not be had when it was begun."""
        key = _key(agent, view)
        begun = self._begun.get(key)
        if begun is None or _paused(begun.task):
            begun = self._start(key, view)
        return begun

    def _start(self, key: Key, view: JobView) -> _Begun:
        drive = thought(self._stage, key[0], view)
        task = asyncio.ensure_future(self._driver.run([drive]))
        task.add_done_callback(partial(_over, drive))
        begun = self._begun[key] = _Begun(drive, task)
        return begun


def thought(stage: Stage, agent: str, view: JobView) -> Drive:
    """A job to be driven: its questions belong to the tick it was asked for in, with ordinals of their own."""
    return Drive(agent, view.job.asked_at, stage.think(view), JOB_ORDINALS * (1 + view.job.number))


def _key(agent: str, view: JobView) -> Key:
    return (agent, view.job.asked_at, view.job.number)


def _paused(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or isinstance(task.exception(), Paused))


def _over(drive: Drive, task: asyncio.Task[None]) -> None:
    """The end of a job, which may have come before its beginning. An error is news only to whoever waits for it."""
    drive.asking.close()
    if not task.cancelled():
        task.exception()


async def _ended(task: asyncio.Task[None]) -> None:
    await task


# ── lockstep ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick as a program that plays a run sees it."""

    number: int
    time: datetime
    events: tuple[Event, ...]
    turns: Mapping[str, Turn]
    """By character; those whose turn it was not are left out."""


@dataclass(frozen=True, slots=True)
class ProposedTick:
    """A tick that has been lived and waits to be committed."""

    tick: Tick
    record: TickRecord
    world: World


class Lockstep:
    """Lives one tick after another. What it makes is handed out to be committed before it is taken up."""

    def __init__(self, live_state: LiveState, stage: Stage, driver: Driver) -> None:
        self.live_state = live_state
        self.driver = driver
        self.prefetch = Prefetch(driver, stage)
        self._stage = stage

    def start_session(self) -> Prefetch:
        """Begin a sitting; what is thought of ahead in it is to be ended by the caller. The one before is over."""
        self.prefetch.cancel()
        self.prefetch = Prefetch(self.driver, self._stage)
        return self.prefetch

    async def live(self, inputs: Sequence[InputRow] = ()) -> ProposedTick:
        """The next tick, everybody's turn and what came of it. Nothing is changed yet."""
        live_state, number = self.live_state, self.live_state.tick + 1
        acting = [agent for agent in self._stage.acts(live_state.scenario, number) if agent in live_state.world.bodies]
        drives: dict[str, tuple[Drive, ...]] = {}
        if self.driver.mind.paid:
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
            versions=(*world_versions(live_state.world, world), *self._state_versions(turns)),
            answers=tuple(row for agent in acting for drive in drives[agent] for row in drive.rows),
            inputs=tuple(inputs),
            traces={agent: turn.trace for agent, turn in turns.items()},
            removed=live_state.forgotten(events),
        )
        return ProposedTick(Tick(number, live_state.scenario.clock.time(number), events, turns), record, world)

    def apply(self, lived: ProposedTick) -> None:
        """After the commit: the tick becomes the present."""
        self.live_state.apply(lived.world, lived.tick.turns.values(), lived.record.removed)

    async def _act(self, agent: str, drives: dict[str, tuple[Drive, ...]]) -> None:
        """A character's deferred jobs that are due, then its turn; noted under its name."""
        thoughts = await self.prefetch.done(agent, self.live_state.due(agent))
        view = self.live_state.view(agent, tuple(drive.result for drive in thoughts))
        turn = Drive(agent, view.tick, self._stage.turn(view))
        await self.driver.run([turn])
        drives[agent] = (*thoughts, turn)

    def _executed(self, turns: Mapping[str, Turn], inputs: Sequence[InputRow]) -> tuple[World, tuple[Event, ...]]:
        live_state, number = self.live_state, self.live_state.tick + 1
        intents: dict[str, Intent] = {}
        for agent, body in live_state.world.bodies.items():
            turn = turns.get(agent)
            still = Intent(Idle(doing=body.doing, asleep=body.asleep, emoji=body.emoji))
            intents[agent] = Intent(turn.action, turn.notes) if turn else still
        return step(
            live_state.scenario.geography,
            live_state.world,
            intents,
            clock=live_state.scenario.clock,
            rules=live_state.rules,
            ambient=ambient_events(live_state.scenario.climate, live_state.seed, live_state.scenario.clock, number),
            scripted=due(live_state.scenario.script, number),
            inputs=[from_dict({**row.body, "seq": row.seq}) for row in inputs],
        )

    def _state_versions(self, turns: Mapping[str, Turn]) -> list[Version]:
        before = self.live_state.states
        return [version for agent in turns for version in state_versions(agent, before[agent], turns[agent].state)]
