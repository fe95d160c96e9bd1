"""A run being lived: the file, the engine and the mind, joined."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.intervention import foreseen
from commonplace.engine.life import opening, restored
from commonplace.engine.lockstep import Lockstep, Tick
from commonplace.engine.stage import Stage
from commonplace.minds.mind import Mind
from commonplace.run.file import RunFile, Synchronous
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.scenario import Scenario
from commonplace.world.inputs import as_dict, from_dict, validate


class Run:
    """One run, owned by this process. Use it as a context manager, or close it."""

    def __init__(self, file: RunFile, scenario: Scenario, engine: Lockstep, mind: Mind) -> None:
        """Not for use from outside: `start` or `go_on`."""
        self.file = file
        self.scenario = scenario
        self._mind = mind
        self._engine = engine

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
            life, first = opening(scenario, manifest.seed)
            file.commit(first)
        except BaseException:
            file.close()
            raise
        engine = Lockstep(life, stage, _driver(file, mind, manifest.seed, concurrency))
        return cls(file, scenario, engine, mind)

    @classmethod
    def go_on(cls, file: RunFile, scenario: Scenario, *, stage: Stage, mind: Mind, concurrency: int = 32) -> Run:
        """An existing run, from its last committed tick on; from its opening when it was killed before that."""
        if file.last_tick < 0:
            life, first = opening(scenario, file.manifest.seed)
            file.commit(first)
        else:
            life = restored(file.reading, scenario, file.last_tick)
        engine = Lockstep(life, stage, _driver(file, mind, file.manifest.seed, concurrency))
        return cls(file, scenario, engine, mind)

    @property
    def tick(self) -> int:
        """The last committed tick."""
        return self.file.last_tick

    @property
    def reading(self) -> Reading:
        """What has been committed."""
        return self.file.reading

    async def play(self, ticks: int | None = None, *, until: int | None = None) -> AsyncIterator[Tick]:
        """Live so many ticks, or up to a tick; yields each once it is committed. It may be left at any tick."""
        last = until if until is not None else self.tick + (ticks or 0)
        while self.tick < last:
            inputs = self.file.queued()
            number = self.tick + 1
            stamped = [row.stamped(number) for row in inputs]
            lived = await self._engine.live(stamped)
            self.file.commit(lived.record)
            self._engine.take_up(lived)
            yield lived.tick

    async def foreseen(self, text: str) -> dict[str, Any]:
        """The input a god-mode sentence comes to, to be shown and then submitted."""
        life = self._engine.life
        return await foreseen(text, self.scenario, life.world, self._mind, life.seed)

    def submit(self, body: Mapping[str, Any]) -> int:
        """Queue an outside influence; it is applied at the end of the next tick. Raises WrongUse for unknown names."""
        item = from_dict({"seq": 0, **body})
        validate(item, self.scenario.geography, self.scenario.personas)
        plain = as_dict(item)
        plain.pop("seq")
        return self.file.queue(plain)

    def why(self, event_id: str) -> dict[str, Any]:
        """The reasons of an event, from its committed turn. Raises WrongUse for an unknown id."""
        return why(self.reading, event_id)

    def close(self) -> None:
        """Give the run up: one file is left, which can be copied."""
        self.file.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _driver(file: RunFile, mind: Mind, seed: int, concurrency: int) -> Driver:
    """Minds whose answers cost nothing are asked again rather than looked up: the same request, the same answer."""
    durable = mind.costs
    journal = file.journal if durable else NoJournal()
    return Driver(mind, journal, seed, durable=durable, concurrency=concurrency)
