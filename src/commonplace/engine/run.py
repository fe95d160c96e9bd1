"""A run under way: the file, the engine and the mind, joined. `Run.play` is the loop over ticks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any

from commonplace.engine import attempts
from commonplace.engine.attempts import attempted
from commonplace.engine.budget import Budget, BudgetReached
from commonplace.engine.changes import queueable, with_queued
from commonplace.engine.characters import Characters, Session
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.god_mode import described, inputs_of, preview
from commonplace.engine.live_state import Surroundings, initial_state, opening_record, restored_state, scenario_at
from commonplace.engine.lockstep import Lockstep, Tick
from commonplace.engine.meter import meter, move_to
from commonplace.engine.stage import Keeper, Stage
from commonplace.engine.worker import Make, Restore
from commonplace.engine.workers import Cluster, Workers, started
from commonplace.errors import Paused, UsageError, command
from commonplace.minds.mind import Mind
from commonplace.rng import Seeds
from commonplace.run.file import full_disk_resumed, refuse_existing
from commonplace.run.integrity import blame
from commonplace.run.manifest import Manifest
from commonplace.run.opening import create_store
from commonplace.run.place import Place, absolute, place, typed
from commonplace.run.reading import Reading
from commonplace.run.rows import InputRow
from commonplace.run.store import RunStore
from commonplace.run.why import why
from commonplace.scenario.scenario import Scenario
from commonplace.sqlite import Synchronous
from commonplace.world.inputs import Input, as_dict

MEMORIES = "SELECT count(*) FROM memory WHERE removed IS NULL"
_log = logging.getLogger(__name__)


class Run:
    """One run, owned by this process. Use it as a context manager, or close it."""

    def __init__(
        self,
        file: RunStore,
        engine: Lockstep,
        mind: Mind,
        stage: Stage,
        keep: Keeper | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        """Joins the parts that `start` or `resume` has made."""
        self.file = file
        self._stage = stage
        self._keep = keep
        self._cluster = cluster
        self._mind = mind
        self._engine = engine
        self._session: Session | None = None

    @classmethod
    def start(
        cls,
        path: str | Place,
        manifest: Manifest,
        scenario: Scenario,
        *,
        stage: Stage,
        mind: Mind,
        force: bool = False,
        synchronous: Synchronous = "NORMAL",
        concurrency: int = 32,
        keep: Keeper | None = None,
        cluster: Cluster | None = None,
    ) -> Run:
        """Begins a new run with its opening state as tick 0. Raises what `create_store` raises.

        `keep`: keeps elsewhere what has been committed. `cluster`: starts the workers that are to have the characters.
        """
        make = partial(create_store, path, manifest, force=force, synchronous=synchronous)
        if cluster is None:
            live_state, rows = initial_state(scenario, manifest.seed)
            file = make(opening_record(scenario, rows))
            driver = _driver(file, mind, manifest.seed, concurrency)
            return cls(file, Lockstep(Characters(live_state, stage, driver)), mind, stage, keep)
        if isinstance(target := place(path), Path):
            refuse_existing(target, force=force)  # before workers are started, which takes seconds
        lines, made = started(cluster, scenario, lambda agents: Make(agents, manifest.seed))
        file = make(opening_record(scenario, *made))
        driver = _driver(file, mind, manifest.seed, concurrency)
        surroundings = Surroundings(scenario, Seeds(manifest.seed), scenario.opening)
        return cls(file, Lockstep(Workers(lines, surroundings, driver, _where(file))), mind, stage, keep, cluster)

    @classmethod
    def resume(
        cls,
        file: RunStore,
        scenario: Scenario,
        *,
        stage: Stage,
        mind: Mind,
        concurrency: int = 32,
        keep: Keeper | None = None,
        cluster: Cluster | None = None,
    ) -> Run:
        """Continues an existing run from its last committed tick; from its opening when it was killed before that."""
        if file.last_tick < 0:
            _, rows = initial_state(scenario, file.manifest.seed)
            file.commit(opening_record(scenario, rows))
        reading, last = file.reading, file.last_tick
        driver = _driver(file, mind, reading.seeds, concurrency)
        if cluster is None:
            live_state = restored_state(reading, scenario, last)
            return cls(file, Lockstep(Characters(live_state, stage, driver)), mind, stage, keep)
        surroundings = Surroundings(scenario_at(reading, scenario, last), reading.seeds, reading.world_at(last))
        where = _where(file)
        lines, _ = started(cluster, surroundings.scenario, lambda agents: Restore(agents, where, last))
        return cls(file, Lockstep(Workers(lines, surroundings, driver, where)), mind, stage, keep, cluster)

    @property
    def tick(self) -> int:
        """The last committed tick."""
        return self.file.last_tick

    @property
    def scenario(self) -> Scenario:
        """As inputs have changed it up to the last committed tick."""
        return self._engine.surroundings.scenario

    @property
    def stage(self) -> str:
        """The name of the stage."""
        return self._stage.name

    @property
    def length(self) -> int | None:
        """The tick the stage ends with; None if it goes on."""
        return self._stage.length(self.scenario) if self._stage.length else None

    @property
    def reading(self) -> Reading:
        """The run as committed."""
        return self.file.reading

    async def play(
        self, ticks: int | None = None, *, until: int | None = None, budget: Budget | None = None
    ) -> AsyncGenerator[Tick, None]:
        """Runs a number of ticks, or up to a tick; yields each once it is committed. The caller may stop after any
        tick.

        A stage that ends, such as a panel, ends the run by itself.

        `budget`: what this session may spend. Raises Paused at a tick boundary when it is reached, or when the mind is
        unavailable: the tick under way has not happened, answers that came are kept, and the run can be resumed.
        """
        last = until if until is not None else self.tick + (ticks or 0)
        last = min(last, self.length or last)
        if self._keep:
            self._keep(self.file.reading)  # what a process that died had not kept yet
        self._engine.driver.start_session(budget or Budget())
        session = self._session = self._engine.start_session()
        characters = len(self.scenario.personas)
        meter().started(self.file.path, self.tick, characters, self.reading.one(MEMORIES)[0])
        move_to(self.file.path, self.tick)
        _log.info("running up to tick %d", last, extra={"event": "started", "fields": {"characters": characters}})
        try:
            with full_disk_resumed(self.file.path):
                session.start(last)
                while self.tick < last:
                    yield await self._run_tick(session, last)
        except BudgetReached as error:
            await session.drain()
            raise self._paused(error) from error
        except Paused as error:
            raise self._paused(error) from error
        except UsageError as error:  # a wrong key or model name can be corrected and the run resumed
            place = error.where or str(self.file.path)
            again = f"nothing is lost; {command('resume', self.file.path)} continues it"
            hint = "; ".join(filter(None, (error.hint, again)))
            raise UsageError(error.what, where=f"{place}, tick {self.tick}", hint=hint) from error
        finally:
            await session.end()
            if self._session is session:  # no other session has begun meanwhile and needs the mind
                self._session = None
                self._engine.driver.start_session(Budget())
                await self._mind.close()

    def play_sync(
        self, ticks: int | None = None, *, until: int | None = None, budget: Budget | None = None
    ) -> Generator[Tick]:
        """Plays for a program without an event loop: `for tick in run.play_sync(ticks=12)`.

        Raises UsageError where a loop runs already, as in a notebook: there, `async for tick in run.play(…)`.
        """
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            raise UsageError("an event loop runs here already", hint="write `async for tick in run.play(…)`")
        played = self.play(ticks, until=until, budget=budget)
        made: list[Tick] = []

        async def follow() -> bool:  # and not the tick: Python 3.11 makes the `repr` of what a Runner returns, twice
            async for tick in played:
                made.append(tick)
                return True
            return False

        with asyncio.Runner() as runner:
            try:
                while runner.run(follow()):
                    yield made.pop()
            finally:
                runner.run(played.aclose())

    def __repr__(self) -> str:
        return f"<Run {self.file.path}: {self.scenario.part.title}, tick {self.tick}>"

    async def _run_tick(self, session: Session, last: int) -> Tick:
        """Runs one tick. It is committed before it is applied: what fails before the commit leaves the run at the tick
        before."""
        began = perf_counter()
        move_to(self.file.path, self.tick + 1)
        queued = self.file.queued()
        inputs = [row.stamped(self.tick + 1) for row in _due(queued)]
        proposed = await self._engine.run_tick(inputs)
        meter().entered("commit")
        self.file.commit(proposed.record)
        self._engine.apply(proposed)
        meter().committed(proposed.record, len(queued) - len(inputs))
        fields = {
            "seconds": round(perf_counter() - began, 4),
            "turns": sum(len(rows.traces) for rows in proposed.record.made),
        }
        _log.info("tick %d committed", self.tick, extra={"event": "committed", "fields": fields})
        if self._keep:
            self._keep(self.file.reading)
        session.start(last)
        return proposed.tick

    def _paused(self, error: Paused) -> Paused:
        """Returns the same error, with where the run stands and how to resume it."""
        path, number = self.file.path, self.tick + 1
        _log.info("paused: %s", error.what, extra={"event": "paused"})
        where = f"{path}, tick {self.tick}"
        if isinstance(error, BudgetReached):
            hint = f"{command('resume', path, error.option)} N continues it"
            return Paused(f"{error.what} at tick {number}, which has not happened yet", where=where, hint=hint)
        what = f"{error.where}: {error.what}" if error.where else error.what
        again = f"{command('resume', path)} continues it"
        other = f"with another mind: {command('fork', path, '--at', self.tick)} -o NEW --mind NAME"
        hint = "; ".join(filter(None, (error.hint, again, other)))
        return Paused(what, where=where, hint=hint)

    async def preview(self, text: str, agent: str = "") -> dict[str, Any]:
        """Returns the input that a god-mode sentence stands for, or what a character (`agent`) attempts, to be shown
        and submitted. Raises Paused as `play` does, and UsageError for a sentence without words."""
        if not any(map(str.isalnum, text)):
            raise UsageError("the sentence has no words", hint="say what happens: The lights go out.")
        world, driver = self._engine.surroundings.world, self._engine.driver
        try:
            if agent:
                return await attempted(agent, text, self.scenario, world, driver)
            return await preview(text, self.scenario, world, driver)
        except Paused as error:
            raise self._paused(error) from error
        finally:
            if self._session is None:
                await self._mind.close()

    def described(self, body: Mapping[str, Any]) -> str:
        """Returns what the input of a `preview` will do, in one line for the person who wrote the sentence."""
        describe = attempts.described if body["kind"] == "attempt" else described
        return describe(body, self.scenario, self._engine.surroundings.world)

    def plays(self, agent: str) -> bool:
        """Returns whether a person decides for a character."""
        return agent in self.scenario.personas and self.reading.state_at(agent).played

    def submit(self, body: Mapping[str, Any]) -> int:
        """Queues an input; it is applied at the end of the next tick. Raises UsageError for unknown names."""
        return queue_input(self.file, self.scenario, *inputs_of(body))

    def why(self, event_id: str) -> dict[str, Any]:
        """Returns the reasons of an event, from its committed turn. Raises UsageError for an unknown id."""
        return why(self.reading, event_id)

    def close(self) -> None:
        """Closes the run; its one file can be copied from now on."""
        if self._session:
            self._session.cancel()
        if self._keep:
            self._keep.close()
        if self._cluster:
            self._cluster.close()
        self.file.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        blame(self.file.path, error)


def queue_input(file: RunStore, scenario: Scenario, *bodies: Mapping[str, Any]) -> int:
    """Queues inputs for the next tick of a run, all or none; needs no mind. Raises UsageError for unknown names.

    `scenario` as inputs have changed it; what is queued already is added to it.
    """
    scenario = with_queued(scenario, file.queued())
    items: list[Input] = []
    for body in bodies:
        item, scenario = queueable(body, scenario)
        items.append(item)
    return file.queue(*({name: value for name, value in as_dict(item).items() if name != "seq"} for item in items))


def _due(queued: Iterable[InputRow]) -> list[InputRow]:
    """Returns the queued inputs that the next tick takes.

    A character does one thing in a tick, so a `take_over` or an `attempt` holds back all that is queued for its
    character after it: actions given one after another are done one after another, and giving it back waits for the
    last of them.
    """
    due: list[InputRow] = []
    acting: set[str] = set()
    for row in queued:
        agent = row.body.get("agent_id", "")
        if agent not in acting:
            due.append(row)
        if row.body["kind"] in ("take_over", "attempt"):
            acting.add(agent)
    return due


def _where(file: RunStore) -> str:
    """Returns where other processes find a run."""
    return typed(absolute(file.path))


def _driver(file: RunStore, mind: Mind, seed: int | Seeds, concurrency: int) -> Driver:
    """Makes the driver. A mind that costs nothing is asked again instead of looked up: it gives the same answer."""
    journal = file.journal if mind.paid else NoJournal()
    return Driver(mind, journal, seed, durable=mind.paid, concurrency=concurrency)
