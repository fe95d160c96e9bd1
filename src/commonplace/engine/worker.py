"""A worker has a part of a run's characters, with their states and memories, in a process of its own.

It is told only what its characters can see of the world, and gives back what is stored of their turns. It answers by
the offline mind itself; what is asked of another mind goes to the driver, which has the journal, the budget and the
servers. A message and its reply are bytes, so that a worker does not know how it is reached.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import traceback
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from commonplace.cognition.turn import JobView
from commonplace.engine.characters import Amended, Characters, Played, job_drive, turn_drive
from commonplace.engine.driver import Drive, Driver, NoJournal
from commonplace.engine.live_state import JobKey, LiveState, initial_state, job_key, restored_state
from commonplace.engine.stage import Stage
from commonplace.errors import CommonplaceError
from commonplace.minds.mind import Answer, Ask, Task
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import TASKS
from commonplace.run.reading import Reading
from commonplace.scenario.scenario import Scenario
from commonplace.world.circumstances import Circumstances
from commonplace.world.events import Event
from commonplace.world.inputs import Input
from commonplace.world.state import World

T = TypeVar("T")
QuestionKey = tuple[str, int, int]
"""Character, tick, ordinal."""
Answers = Sequence[tuple[QuestionKey, Answer[Any]]]


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Make:
    """Make these characters as they are at tick 0. The reply is `Rows`, what they add to the record of it."""

    agents: Sequence[str]
    seed: int


@dataclass(frozen=True, slots=True)
class Restore:
    """Read these characters from a run, as they were at the end of a tick. The reply is None."""

    agents: Sequence[str]
    where: str
    """Path or address of the run."""
    tick: int


@dataclass(frozen=True, slots=True)
class Play:
    """Take the turns of the next tick. The reply is a `Step`."""

    answers: Answers = ()
    """To questions of deferred jobs, that have come meanwhile."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the turns and jobs whose answers are here. The reply is a `Step`."""

    answers: Answers = ()


@dataclass(frozen=True, slots=True)
class StartJobs:
    """Start the deferred jobs that are due up to a tick. The reply is a `Step`."""

    last: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Drop all turns and jobs under way: whoever had their questions is gone. The reply is None."""


@dataclass(frozen=True, slots=True)
class Amend:
    """Say what inputs change of these characters after their turns. The reply is `Amended`."""

    inputs: Sequence[Input]
    events: Sequence[Event]
    """Those of the tick that tell what inputs have changed."""
    newcomers: frozenset[str]
    """Those who are to live here."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Advance to the tick whose turns were taken: it is committed. The reply is None."""

    world: World
    """The part that the characters here can see (`part_of`), without circumstances."""
    circumstances: Circumstances | None
    """None where they are those of the tick before."""
    amended: Amended
    """What inputs have changed of all characters, without rows."""


Message = Make | Restore | Play | Resume | StartJobs | Stop | Amend | Commit


@dataclass(frozen=True, slots=True)
class Question:
    """A question on its way to the driver."""

    key: QuestionKey
    ask: Ask[Any, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """How far the turns of a tick have come."""

    played: Mapping[str, Played]
    """Those that are done since the last step, by character."""
    asked: Sequence[Question] = ()
    """The questions that have come up since then."""
    needs: Sequence[QuestionKey] = ()
    """The open questions that turns of this tick wait for; none when all are done."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a worker raised while it handled a message."""

    error: Exception


def packed(message: object) -> bytes:
    """Returns a message or a reply as bytes. Tasks go by their names: their functions are not data."""
    data = io.BytesIO()
    pickler = pickle.Pickler(data, protocol=5)
    pickler.dispatch_table = _REDUCERS
    pickler.dump(message)
    return data.getvalue()


def unpacked(data: bytes) -> Any:
    """Reverses `packed`. Raises what a `Failure` holds."""
    message = pickle.loads(data)
    if isinstance(message, Failure):
        raise message.error
    return message


def _by_name(task: Task[Any, Any]) -> str | tuple[Any, ...]:
    if task.name not in TASKS:
        return task.__reduce_ex__(5)
    values = {one.name: getattr(task, one.name) for one in fields(task)}
    return _task, (task.name, {name: value for name, value in values.items() if isinstance(value, int | float | str)})


def _task(name: str, values: Mapping[str, Any]) -> Task[Any, Any]:
    return replace(TASKS[name], **values)


_REDUCERS: dict[type[Any], Any] = {**copyreg.dispatch_table, Task: _by_name}


# ── a worker ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Worker:
    """Some characters of a run. It handles one message at a time."""

    def __init__(self, scenario: Scenario, stage: Stage, *, answers: bool) -> None:
        """`scenario`: as the run was made from it. `answers`: whether the offline mind answers here."""
        self._scenario = scenario
        self._stage = stage
        self._answers = answers

    def handle(self, data: bytes) -> bytes:
        """Does what a message says; returns the reply, which holds what went wrong if something did."""
        try:
            return packed(self._reply(unpacked(data)))
        except Exception as error:
            return packed(_failure(error))

    def _reply(self, message: Message) -> object:  # noqa: PLR0911 – one for each kind of message
        match message:
            case Make(agents, seed):
                live_state, rows = initial_state(self._scenario, seed, frozenset(agents))
                self._hold(live_state)
                return rows
            case Restore(agents, where, tick):
                with Reading.open(where) as reading:
                    self._hold(restored_state(reading, self._scenario, tick, frozenset(agents)))
            case Play(answers):
                if self._answers:
                    played = at_once(self._characters.play())
                    return Step({agent: replace(one, turn=None) for agent, one in played.items()})
                self._characters.begin()
                self._drives.resume(answers)
                return self._drives.play()
            case Resume(answers):
                self._drives.resume(answers)
                return self._drives.step()
            case StartJobs(last):
                return self._drives.start_jobs(last)
            case Stop():
                self._drives.stop()
            case Amend(inputs, events, newcomers):
                return self._characters.amended(inputs, events, newcomers)
            case Commit(world, circumstances, amended):
                before = self._characters.live_state.world.circumstances
                world = replace(world, circumstances=before if circumstances is None else circumstances)
                self._characters.apply(world, amended)
                self._characters.driver.seeds = self._characters.live_state.seeds
        return None

    def _hold(self, live_state: LiveState) -> None:
        driver = Driver(OfflineMind(self._scenario.language), NoJournal(), live_state.seeds, durable=False)
        self._characters = Characters(live_state, self._stage, driver)
        self._drives = Drives(self._characters, self._stage)


class Drives:
    """Turns and deferred jobs whose questions are answered elsewhere; each goes on when its answer has come."""

    def __init__(self, characters: Characters, stage: Stage) -> None:
        self._characters = characters
        self._stage = stage
        self._jobs: dict[JobKey, Drive] = {}
        self._due: dict[str, dict[JobKey, Drive]] = {}
        """The jobs that a character's turn waits for."""
        self._turns: dict[str, list[Drive]] = {}
        """A turn that has begun, with the jobs it was given before it."""
        self._open: dict[QuestionKey, Drive] = {}
        self._asked: list[Question] = []

    def play(self) -> Step:
        """Takes the turns of the next tick as far as they come without an answer."""
        live_state = self._characters.live_state
        for agent in live_state.acting(self._stage):
            due = {job_key(agent, view): view for view in live_state.due(agent)}
            self._due[agent] = {key: self._jobs.get(key) or self._start(key, view) for key, view in due.items()}
        return self.step()

    def start_jobs(self, last: int) -> Step:
        """Starts the jobs that are due up to a tick, and drops those nobody wants any more."""
        due = self._characters.live_state.due_by(last)
        self._jobs = {key: job for key, job in self._jobs.items() if key in due or job.result is None}
        for key, view in due.items():
            if key not in self._jobs:
                self._start(key, view)
        return self.step()

    def resume(self, answers: Answers) -> None:
        """Goes on with those whose answers are here."""
        for key, answer in answers:
            if key in self._open:  # a worker that took over may not have come so far
                self._go_on(self._open.pop(key), answer)

    def step(self) -> Step:
        """Begins the turns whose jobs are done; returns what is new."""
        ready = [agent for agent, jobs in self._due.items() if all(job.result is not None for job in jobs.values())]
        for agent in ready:
            due = self._due.pop(agent)
            jobs = [self._jobs.pop(key) for key in due]
            turn = turn_drive(self._stage, self._characters.live_state, agent, jobs)
            self._turns[agent] = [*jobs, turn]
            self._go_on(turn)
        done = [agent for agent, drives in self._turns.items() if drives[-1].result is not None]
        played = {agent: self._played(self._turns.pop(agent)) for agent in done}
        waited = (*(jobs.values() for jobs in self._due.values()), *self._turns.values())
        awaited = {id(drive) for drives in waited for drive in drives}
        needs = [key for key, drive in self._open.items() if id(drive) in awaited]
        asked, self._asked = self._asked, []
        return Step(played, asked, needs)

    def stop(self) -> None:
        """Drops all that is under way."""
        for drive in (*self._jobs.values(), *(drives[-1] for drives in self._turns.values())):
            drive.asking.close()
        for held in (self._jobs, self._due, self._turns, self._open, self._asked):
            held.clear()

    def _start(self, key: JobKey, view: JobView) -> Drive:
        job = self._jobs[key] = job_drive(self._stage, key[0], view)
        self._go_on(job)
        return job

    def _go_on(self, drive: Drive, answer: Answer[Any] | None = None) -> None:
        try:
            ask = drive.asking.send(answer)  # pyright: ignore[reportArgumentType] – None starts a coroutine
        except StopIteration as stop:
            drive.result = stop.value
            return
        key = (drive.agent, drive.tick, drive.first + drive.questions)
        drive.questions += 1
        self._open[key] = drive
        self._asked.append(Question(key, ask))

    def _played(self, drives: Sequence[Drive]) -> Played:
        questions = [
            (drive.agent, drive.tick, drive.first + number) for drive in drives for number in range(drive.questions)
        ]
        return replace(self._characters.take(drives), turn=None, questions=questions)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Returns the result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise RuntimeError("the offline mind waits for nothing")


def _failure(error: Exception) -> Failure:
    """Returns an error that can be sent; one that cannot goes as its words."""
    if not isinstance(error, CommonplaceError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        if isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return Failure(error)
    except Exception:
        pass
    if isinstance(error, CommonplaceError):
        return Failure(CommonplaceError(error.what, where=error.where, hint=error.hint))
    return Failure(RuntimeError("".join(traceback.format_exception(error))))


# ── what a worker sees ───────────────────────────────────────────────────────────────────────────────────────────────


def part_of(world: World, agents: Iterable[str]) -> World:
    """Returns the areas in which these characters are, and what reaches them: all that `look` shows them, and all that
    `attempt_of` reads. It has no circumstances: they are the same for everybody."""
    ours = [agent for agent in agents if agent in world.bodies]
    areas = {world.bodies[agent].area for agent in ours}
    bodies = {agent: body for agent, body in world.bodies.items() if body.area in areas}
    return World(
        tick=world.tick,
        bodies=bodies,
        things={id: thing for id, thing in world.things.items() if thing.parent in areas or thing.parent in bodies},
        conversations={area: talks for area, talks in world.conversations.items() if area in areas},
        barred=world.barred,
        imposed=world.imposed,
        happened={area: events for area, events in world.happened.items() if area in areas},
        outcomes={agent: world.outcomes[agent] for agent in ours if agent in world.outcomes},
        heard={agent: world.heard[agent] for agent in ours if agent in world.heard},
        ambient=world.ambient,
        told={agent: world.told[agent] for agent in ours if agent in world.told},
    )
