"""The characters of a run take their turns: here all of them in this process, in `workers` in others.

Both make of a turn what is stored of it, and hand out only that and what the character tries to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from commonplace.cognition.turn import JobView, Turn
from commonplace.engine.attempts import attempt_of
from commonplace.engine.changes import NO_CHANGES, changes_of
from commonplace.engine.driver import JOB_ORDINALS, Drive, Driver, together
from commonplace.engine.live_state import JobKey, LiveState, Surroundings, job_key
from commonplace.engine.stage import Stage
from commonplace.errors import Paused
from commonplace.run.digest import rows_of
from commonplace.run.rows import Rows, TickRecord
from commonplace.run.versions import state_versions
from commonplace.world.deeds import Intent
from commonplace.world.events import Event
from commonplace.world.inputs import Attempt, Input
from commonplace.world.state import World


@dataclass(frozen=True, slots=True)
class Played:
    """What a character has done in a tick that is not committed yet."""

    intent: Intent
    attempt: Attempt | None
    """What lies in a new doing in its own words; None for nothing."""
    rows: Rows
    """All that is stored of its turn; without the answers of a mind that is asked in another process."""
    turn: Turn | None = None
    """None where it was taken in another process."""
    questions: Sequence[tuple[str, int, int]] = ()
    """There, the questions that others have answered: character, tick, ordinal."""


@dataclass(frozen=True, slots=True)
class Amended:
    """What the inputs at the end of a tick change of characters."""

    rows: Sequence[Rows] = ()
    """Versions of the states of those who changed, and the memories of newcomers."""
    changed: frozenset[str] = frozenset()
    """Whose versions stand in place of those of their turns."""
    removed: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """The memories that are forgotten, by character."""
    cards: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The cards of those who changed."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """New settings of the run."""


class Session(Protocol):
    """The deferred jobs of one session, which are asked ahead of time."""

    def start(self, last: int) -> None:
        """Starts the jobs that are due up to a tick, in the background. Needs a running event loop."""
        ...

    async def drain(self) -> None:
        """Waits for what is in flight, whatever its outcome: when the budget is reached, nothing follows it."""
        ...

    def cancel(self) -> None:
        """Cancels all that is under way. From now on it writes nothing."""
        ...

    async def end(self) -> None:
        """Cancels all that is under way and waits until it has ended."""
        ...


class Cast(Protocol):
    """The characters of a run, wherever they are."""

    driver: Driver
    """Answers what they ask."""

    @property
    def surroundings(self) -> Surroundings:
        """The run besides its characters."""
        ...

    def start_session(self) -> Session:
        """Begins the jobs of a session, which the caller ends. The session before is over."""
        ...

    async def play(self) -> Mapping[str, Played]:
        """Takes the turns of the next tick; returns what came of them, by character, sorted. Nothing is changed yet."""
        ...

    async def amend(self, inputs: Sequence[Input], events: Sequence[Event]) -> Amended:
        """Returns what inputs change of characters after these turns, as far as the events of the tick say so."""
        ...

    def apply(self, world: World, amended: Amended) -> None:
        """Advances to the tick, after its commit."""
        ...


class Characters:
    """Characters of this process: all of a run, or those of a worker."""

    def __init__(self, live_state: LiveState, stage: Stage, driver: Driver) -> None:
        self.live_state = live_state
        self._stage = stage
        self.driver = driver
        self._prefetch = Prefetch(live_state, stage, driver)
        self._turns: list[Turn] = []
        self._changes = NO_CHANGES

    @property
    def surroundings(self) -> LiveState:
        """The run, with its characters."""
        return self.live_state

    def start_session(self) -> Prefetch:
        """Begins the jobs of a session, which the caller ends. The session before is over."""
        self._prefetch.cancel()
        self._prefetch = Prefetch(self.live_state, self._stage, self.driver)
        return self._prefetch

    async def play(self) -> dict[str, Played]:
        """Takes the turns of the next tick. Nothing is changed yet."""
        acting = self.live_state.acting(self._stage)
        drives: dict[str, tuple[Drive, ...]] = {}
        if self.driver.mind.paid:
            await together(self._run_turn(agent, drives) for agent in acting)
        else:
            for agent in acting:
                await self._run_turn(agent, drives)
        # From here on in the order of `acting`, whichever turn was done first.
        self.begin()
        return {agent: self.take(drives[agent]) for agent in acting}

    def begin(self) -> None:
        """Forgets turns that were taken and did not come to be a tick."""
        self._turns, self._changes = [], NO_CHANGES

    def take(self, drives: Sequence[Drive]) -> Played:
        """Takes the result of a character's turn, the last of its drives; returns what came of it."""
        turn: Turn = drives[-1].result
        state, delta = self.live_state, turn.delta
        self._turns.append(turn)
        record = TickRecord(
            tick=turn.tick,
            events=(),
            deltas={turn.agent: delta} if delta.memories or delta.touched else {},
            versions=state_versions(turn.agent, state.states[turn.agent], turn.state),
            answers=tuple(row for drive in drives for row in drive.rows),
            traces={turn.agent: turn.trace},
        )
        attempt = attempt_of(turn.agent, turn.action, state.scenario, state.world)
        return Played(Intent(turn.action, turn.notes), attempt, rows_of(record), turn)

    async def amend(self, inputs: Sequence[Input], events: Sequence[Event]) -> Amended:
        """Returns what inputs change of characters after these turns."""
        return self.amended(inputs, events)

    def amended(
        self, inputs: Sequence[Input], events: Sequence[Event], newcomers: Container[str] | None = None
    ) -> Amended:
        """Returns what inputs change of characters after these turns. `newcomers`: see `changes_of`."""
        state, tick = self.live_state, self.live_state.tick + 1
        after = {**state.states, **{turn.agent: turn.state for turn in self._turns}}
        changes = self._changes = changes_of(tick, inputs, events, after, state.scenario, newcomers)
        versions = [
            version
            for agent, new in changes.states.items()
            for version in state_versions(agent, state.states.get(agent), new)
        ]
        deltas = {agent: delta for agent, delta in changes.newcomers.items() if delta.memories}
        return Amended(
            (rows_of(TickRecord(tick, (), deltas, tuple(versions), ())),),
            frozenset(changes.states),
            state.forgotten(events),
            changes.cards,
            changes.settings,
        )

    def apply(self, world: World, amended: Amended) -> None:
        """Advances to the tick, after its commit. `amended`: what inputs have changed of all characters of the run."""
        changes = replace(self._changes, cards=amended.cards, settings=amended.settings)
        self.live_state.apply(world, self._turns, amended.removed, changes)

    async def _run_turn(self, agent: str, drives: dict[str, tuple[Drive, ...]]) -> None:
        """Runs a character's deferred jobs that are due, then its turn; notes them under its name."""
        jobs = await self._prefetch.results(agent, self.live_state.due(agent))
        turn = turn_drive(self._stage, self.live_state, agent, jobs)
        await self.driver.run([turn])
        drives[agent] = (*jobs, turn)


@dataclass(slots=True)
class _Job:
    drive: Drive
    task: asyncio.Task[None]


class Prefetch:
    """The deferred jobs of one session: started as soon as they have a snapshot, waited for when they are due.

    Only minds that cost something are asked ahead of time. That decides when a question is asked, never its answer:
    a job sees its snapshot and nothing later.
    """

    def __init__(self, live_state: LiveState, stage: Stage, driver: Driver) -> None:
        self._live_state = live_state
        self._stage = stage
        self._driver = driver
        self._jobs: dict[JobKey, _Job] = {}

    def start(self, last: int) -> None:
        """Starts the jobs that are due up to a tick, in the background. Needs a running event loop."""
        if not self._driver.mind.paid:
            return
        due = self._live_state.due_by(last)
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
        key = job_key(agent, view)
        job = self._jobs.get(key)
        if job is None or (job.task.done() and (job.task.cancelled() or isinstance(job.task.exception(), Paused))):
            return self._start(key, view)
        return job

    def _start(self, key: JobKey, view: JobView) -> _Job:
        drive = job_drive(self._stage, key[0], view)
        task = asyncio.ensure_future(self._driver.run([drive]))
        task.add_done_callback(partial(_close, drive))
        job = self._jobs[key] = _Job(drive, task)
        return job


def turn_drive(stage: Stage, live_state: LiveState, agent: str, jobs: Sequence[Drive]) -> Drive:
    """Makes a character's next turn, which can be driven. `jobs`: those that were due, done."""
    view = live_state.view(agent, tuple(drive.result for drive in jobs))
    return Drive(agent, view.tick, stage.turn(view))


def job_drive(stage: Stage, agent: str, view: JobView) -> Drive:
    """Makes a job that can be driven: its questions belong to the tick it was requested in, with ordinals of their
    own."""
    return Drive(agent, view.job.asked_at, stage.run_job(view), JOB_ORDINALS * (1 + view.job.number))


def _close(drive: Drive, task: asyncio.Task[None]) -> None:
    """Closes a job after its end; it may have been cancelled before it began."""
    drive.asking.close()
    if not task.cancelled():
        task.exception()  # asyncio warns about an error that nobody looks at, and nobody may be waiting for this job


async def _wait(task: asyncio.Task[None]) -> None:
    await task
