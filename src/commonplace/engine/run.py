"""A run being lived: the file, the engine and the mind, joined."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from commonplace.engine.budget import Budget, BudgetReached
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.god_mode import preview
from commonplace.engine.live_state import opening, restored
from commonplace.engine.lockstep import Lockstep, Prefetch, Tick
from commonplace.engine.stage import Stage
from commonplace.errors import Paused, UsageError
from commonplace.minds.mind import Mind
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.scenario import Scenario
from commonplace.sqlite import Synchronous
from commonplace.world.inputs import as_dict, from_dict, validate


class Run:
    """One run, owned by this process. Use it as a context manager, or close it."""

    def __init__(self, file: RunFile, scenario: Scenario, engine: Lockstep, mind: Mind) -> None:
        """Not for use from outside: `start` or `go_on`."""
        self.file = file
        self.scenario = scenario
        self._mind = mind
        self._engine = engine
        self._session: Prefetch | None = None

    @classmethod
    def start(
        cls,
        path: str | Path,
        manifest: Manifest,
        scenario: Scenario,
        *,
        stage: Stage,
        mind: Mind,
        force: bool = False,
        synchronous: Synchronous = "NORMAL",
        concurrency: int = 32,
    ) -> Run:
        """A new run, its opening state committed as tick 0. Errors as of `RunFile.create`."""
        file = RunFile.create(path, manifest, force=force, synchronous=synchronous)
        try:
            live_state, first = opening(scenario, manifest.seed)
            file.commit(first)
        except BaseException:
            file.close()
            raise
        engine = Lockstep(live_state, stage, _driver(file, mind, manifest.seed, concurrency))
        return cls(file, scenario, engine, mind)

    @classmethod
    def resume(cls, file: RunFile, scenario: Scenario, *, stage: Stage, mind: Mind, concurrency: int = 32) -> Run:
        """An existing run, from its last committed tick on; from its opening when it was killed before that."""
        if file.last_tick < 0:
            live_state, first = opening(scenario, file.manifest.seed)
            file.commit(first)
        else:
            live_state = restored(file.reading, scenario, file.last_tick)
        engine = Lockstep(live_state, stage, _driver(file, mind, file.manifest.seed, concurrency))
        return cls(file, scenario, engine, mind)

    @property
    def tick(self) -> int:
        """The last committed tick."""
        return self.file.last_tick

    @property
    def reading(self) -> Reading:
        """What has been committed."""
        return self.file.reading

    async def play(
        self, ticks: int | None = None, *, until: int | None = None, budget: Budget | None = None
    ) -> AsyncGenerator[Tick, None]:
        """Live so many ticks, or up to a tick; yields each once it is committed. It may be left at any tick.

        `budget`: what this sitting may spend. Raises Paused at a tick boundary when it is reached, or when the mind
        cannot be had: the tick under way has not happened, answers that came are kept, and the run can go on.
        """
        last = until if until is not None else self.tick + (ticks or 0)
        prefetch = self._start_session(budget)
        try:
            prefetch.begin(self._engine.live_state.waiting, last)
            while self.tick < last:
                yield await self._tick(prefetch, last)
        except BudgetReached as error:
            await prefetch.drain()
            raise self._paused(error) from error
        except Paused as error:
            raise self._paused(error) from error
        except UsageError as error:
            raise self._refused(error) from error
        finally:
            await self._end_session(prefetch)

    async def _tick(self, prefetch: Prefetch, last: int) -> Tick:
        """One tick: lived, committed, taken up; then what is due later is begun."""
        stamped = [row.stamped(self.tick + 1) for row in self.file.queued()]
        lived = await self._engine.live(stamped)
        self.file.commit(lived.record)
        self._engine.apply(lived)
        prefetch.begin(self._engine.live_state.waiting, last)
        return lived.tick

    def _start_session(self, budget: Budget | None) -> Prefetch:
        self._engine.driver.renew(budget or Budget())
        self._session = self._engine.start_session()
        return self._session

    async def _end_session(self, prefetch: Prefetch) -> None:
        """End what is under way. A sitting that was left and followed by another leaves the mind to that."""
        await prefetch.end()
        if self._session is prefetch:
            self._session = None
            self._engine.driver.renew(Budget())
            await self._mind.close()

    def _paused(self, error: Paused) -> Paused:
        """The same, with where the run stands and how it goes on."""
        path, number = self.file.path, self.tick + 1
        where = f"{path}, tick {self.tick}"
        if isinstance(error, BudgetReached):
            hint = f"commonplace resume {path} {error.option} N goes on"
            return Paused(f"{error.what} at tick {number}, which has not happened yet", where=where, hint=hint)
        what = f"{error.where}: {error.what}" if error.where else error.what
        again = f"commonplace resume {path} goes on"
        other = f"with another mind: commonplace fork {path} --at {self.tick} -o NEW --mind NAME"
        hint = "; ".join(filter(None, (error.hint, again, other)))
        return Paused(what, where=where, hint=hint)

    def _refused(self, error: UsageError) -> UsageError:
        """The same, with where the run stands: a key or a model that a server does not take can be put right."""
        place = f"{error.where}, tick {self.tick}" if error.where else f"{self.file.path}, tick {self.tick}"
        again = f"nothing is lost; commonplace resume {self.file.path} goes on"
        return UsageError(error.what, where=place, hint="; ".join(filter(None, (error.hint, again))))

    async def preview(self, text: str) -> dict[str, Any]:
        """The input a god-mode sentence comes to, to be shown and then submitted. Raises Paused as `play` does."""
        try:
            return await preview(text, self.scenario, self._engine.live_state.world, self._engine.driver)
        except Paused as error:
            raise self._paused(error) from error
        finally:
            if self._session is None:
                await self._mind.close()

    def submit(self, body: Mapping[str, Any]) -> int:
        """Queue an outside influence; it is applied at the end of the next tick. Raises UsageError for unknown
        names.
        """
        item = from_dict({"seq": 0, **body})
        validate(item, self.scenario.geography, self.scenario.personas)
        plain = as_dict(item)
        plain.pop("seq")
        return self.file.queue(plain)

    def why(self, event_id: str) -> dict[str, Any]:
        """The reasons of an event, from its committed turn. Raises UsageError for an unknown id."""
        return why(self.reading, event_id)

    def close(self) -> None:
        """Give the run up: one file is left, which can be copied."""
        self._engine.prefetch.cancel()
        self.file.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _driver(file: RunFile, mind: Mind, seed: int, concurrency: int) -> Driver:
    """Minds whose answers cost nothing are asked again rather than looked up: the same request, the same answer."""
    durable = mind.paid
    journal = file.journal if durable else NoJournal()
    return Driver(mind, journal, seed, durable=durable, concurrency=concurrency)
