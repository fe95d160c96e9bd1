"""Lock-step: all characters take their turns of a tick at the same time, and the slowest one is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from commonplace.cognition.turn import JobView, Turn
from commonplace.engine.attempts import attempts_of
from commonplace.engine.changes import NO_CHANGES, Changes, changes_of
from commonplace.engine.driver import JOB_ORDINALS, Drive, Driver, together
from commonplace.engine.live_state import LiveState
from commonplace.engine.meter import meter
from commonplace.engine.stage import Stage
from commonplace.errors import Paused
from commonplace.run.rows import InputRow, TickRecord
from commonplace.run.versions import state_versions, world_versions
from commonplace.world.actions import Idle
from commonplace.world.deeds import Intent
from commonplace.world.events import Event
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
    """By character; those whose turn it was not are left out."""


@dataclass(frozen=True, slots=True)
class ProposedTick:
    """A tick that has been computed and is not committed yet."""

    tick: Tick
    record: TickRecord
    world: World
    changes: Changes = NO_CHANGES


class Lockstep:
    """Runs one tick after another. A tick is handed out first, to be committed, and applied only then."""

    def __init__(self, live_state: LiveState, stage: Stage, driver: Driver) -> None:
        self.live_state = live_state
        self.driver = driver
        self.prefetch = Prefetch(driver, stage)
        self._stage = stage

    def start_session(self) -> Prefetch:
        """Begins the jobs of a new session, which the caller ends. The session before is over."""
        self.prefetch.cancel()
        self.prefetch = Prefetch(self.driver, self._stage)
        return self.prefetch

    async def run_tick(self, inputs: Sequence[InputRow] = ()) -> ProposedTick:
        """Computes the next tick: everybody's turn, and what the world makes of them. Nothing is changed yet."""
        state, number = self.live_state, self.live_state.tick + 1
        acting = [agent for agent in self._stage.acts(state.scenario, number) if agent in state.world.bodies]
        drives: dict[str, tuple[Drive, ...]] = {}
        meter().entered("cognition")
        if self.driver.mind.paid:
            await together(self._run_turn(agent, drives) for agent in acting)
        else:
            for agent in acting:
                await self._run_turn(agent, drives)
        meter().entered("world")
        # From here on in the order of `acting`, whichever turn was done first.
        turns: dict[str, Turn] = {agent: drives[agent][-1].result for agent in acting}
        given = [from_dict({**row.body, "seq": row.seq}) for row in inputs]
        world, events = self._step_world(turns, given)
        states = {agent: turn.state for agent, turn in turns.items()}
        changes = NO_CHANGES
        if given:
            changes = changes_of(number, given, events, {**state.states, **states}, state.scenario)
        deltas = {**{agent: turn.delta for agent, turn in turns.items()}, **changes.newcomers}
        record = TickRecord(
            tick=number,
            events=events,
            deltas={agent: delta for agent, delta in deltas.items() if delta.memories or delta.touched},
            versions=(
                *world_versions(state.world, world),
                *(
                    version
                    for agent, after in {**states, **changes.states}.items()
                    for version in state_versions(agent, state.states.get(agent), after)
                ),
                *changes.versions,
            ),
            answers=tuple(row for agent in acting for drive in drives[agent] for row in drive.rows),
            inputs=tuple(inputs),
            traces={agent: turn.trace for agent, turn in turns.items()},
            removed=state.forgotten(events),
        )
        return ProposedTick(Tick(number, state.scenario.clock.time(number), events, turns), record, world, changes)

    def apply(self, proposed: ProposedTick) -> None:
        """Advances to the tick, after its commit."""
        self.live_state.apply(proposed.world, proposed.tick.turns.values(), proposed.record.removed, proposed.changes)
        self.driver.seeds = self.live_state.seeds

    async def _run_turn(self, agent: str, drives: dict[str, tuple[Drive, ...]]) -> None:
        """Runs a character's deferred jobs that are due, then its turn; notes them under its name."""
        jobs = await self.prefetch.results(agent, self.live_state.due(agent))
        view = self.live_state.view(agent, tuple(drive.result for drive in jobs))
        turn = Drive(agent, view.tick, self._stage.turn(view))
        await self.driver.run([turn])
        drives[agent] = (*jobs, turn)

    def _step_world(self, turns: Mapping[str, Turn], inputs: Sequence[Input]) -> tuple[World, tuple[Event, ...]]:
        """Returns the world after the tick, and the tick's events. Whoever had no turn goes on doing what it did."""
        state, number = self.live_state, self.live_state.tick + 1
        scenario = state.scenario
        intents: dict[str, Intent] = {}
        for agent, body in state.world.bodies.items():
            turn = turns.get(agent)
            if turn:
                intents[agent] = Intent(turn.action, turn.notes)
            else:
                intents[agent] = Intent(Idle(doing=body.doing, asleep=body.asleep, emoji=body.emoji))
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
            inputs=(*attempts_of(intents, scenario, state.world), *inputs),
            weather=partial(ambient_at, scenario.climate, state.seeds.at(number), scenario.clock, number),
        )


Key = tuple[str, int, int]
"""Character, the tick the job was requested in, its number there."""


@dataclass(slots=True)
class _Job:
    drive: Drive
    task: asyncio.Task[None]


class Prefetch:
    """The deferred jobs of one session: started as soon as they have a snapshot, waited for when they are due.

    Only minds that cost something are asked ahead of time. That decides when a question is asked, never its answer:
    a job sees its snapshot and nothing later.
    """

    def __init__(self, driver: Driver, stage: Stage) -> None:
        self._driver = driver
        self._stage = stage
        self._jobs: dict[Key, _Job] = {}

    def start(self, waiting: Mapping[str, Sequence[JobView]], last: int) -> None:
        """Starts the jobs that are due up to a tick, in the background. Needs a running event loop."""
        if not self._driver.mind.paid:
            return
        due = {_key(agent, view): view for agent, views in waiting.items() for view in views if view.job.due <= last}
        self._jobs = {key: job for key, job in self._jobs.items() if key in due or not job.task.done()}
        for key, view in due.items():
            if key not in self._jobs:
                self._start(key, view)

    async def results(self, agent: str, views: Sequence[JobView]) -> tuple[Drive, ...]:
        """Waits for the jobs of a character. Raises what they raise."""
        if not views:
            return ()
        if not self._driver.mind.paid:
            drives = tuple(job_drive(self._stage, agent, view) for view in views)
            await self._driver.run(drives)
            return drives
        jobs = [self._job(agent, view) for view in views]
        await together(_wait(job.task) for job in jobs)
        return tuple(job.drive for job in jobs)

    async def drain(self) -> None:
        """Waits for what is in flight, whatever its outcome: when the budget is reached, nothing follows it."""
        await asyncio.gather(*(job.task for job in self._jobs.values()), return_exceptions=True)

    def cancel(self) -> None:
        """Cancels all jobs. From now on they write nothing."""
        for job in self._jobs.values():
            job.task.cancel()

    async def end(self) -> None:
        """Cancels all jobs and waits until they have ended."""
        self.cancel()
        await self.drain()

    def _job(self, agent: str, view: JobView) -> _Job:
        """Returns the job under way. One that was paused, because its mind was unavailable, is started again."""
        key = _key(agent, view)
        job = self._jobs.get(key)
        if job is None or (job.task.done() and (job.task.cancelled() or isinstance(job.task.exception(), Paused))):
            return self._start(key, view)
        return job

    def _start(self, key: Key, view: JobView) -> _Job:
        drive = job_drive(self._stage, key[0], view)
        task = asyncio.ensure_future(self._driver.run([drive]))
        task.add_done_callback(partial(_close, drive))
        job = self._jobs[key] = _Job(drive, task)
        return job


def job_drive(stage: Stage, agent: str, view: JobView) -> Drive:
    """Makes a job that can be driven: its questions belong to the tick it was requested in, with ordinals of their
    own."""
    return Drive(agent, view.job.asked_at, stage.run_job(view), JOB_ORDINALS * (1 + view.job.number))


def _key(agent: str, view: JobView) -> Key:
    return (agent, view.job.asked_at, view.job.number)


def _close(drive: Drive, task: asyncio.Task[None]) -> None:
    """Closes a job after its end; it may have been cancelled before it began."""
    drive.asking.close()
    if not task.cancelled():
        task.exception()  # asyncio warns about an error that nobody looks at, and nobody may be waiting for this job


async def _wait(task: asyncio.Task[None]) -> None:
    await task
