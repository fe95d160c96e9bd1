"""Minds that cost something, made of one that does not, and a clock that does not wait."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from commonplace.api import mind_named
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import Paused
from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
from commonplace.rng import unit
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.scenario.compiling import load
from commonplace.stages import by_name

Key = tuple[str, int, int, int]
"""Character, tick, ordinal, attempt."""


class PaidMind:
    """Another mind's answers after a while; now and then one that is not usable until it is asked for again."""

    paid = True

    def __init__(self, mind: Mind, *, max_attempts: int = 2, slips: float = 0.2, delay: float = 0.001) -> None:
        self.name = mind.name
        self.max_attempts = max_attempts
        self.asked: list[Key] = []
        self.answered: list[Key] = []
        self.at: dict[Key, float] = {}
        """When each was asked, by the loop's clock."""
        self.flying = self.most = self.rests = 0
        self._mind = mind
        self._slips = slips
        self._delay = delay

    async def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """The answer, as if a server had given it."""
        key = (request_key.agent, request_key.tick, request_key.number, request_key.attempt)
        assert (request_key.before is None) == (request_key.attempt == 0)
        self.asked.append(key)
        self.at[key] = asyncio.get_running_loop().time()
        self.flying += 1
        self.most = max(self.most, self.flying)
        try:
            await self.travel(request_key)
        finally:
            self.flying -= 1
        self.answered.append(key)
        before = request_key.before
        wording = before.raw if before else ask.input.who.name
        prompt = f"{ask.task.name}, attempt {request_key.attempt}: {wording}"
        paid: dict[str, Any] = {"prompt": prompt, "prompt_tokens": 100, "answer_tokens": 10, "calls": 1}
        if unit("slip", request_key.agent, request_key.tick, request_key.number, request_key.attempt) < self._slips:
            return Reply(None, "malformed", "it ends too early", "json", raw=f'{{"{ask.task.name}', **paid)
        reply = self._mind.answer(ask, request_key)
        assert isinstance(reply, Reply)
        return Reply(reply.value, reply.outcome, raw="…", **paid)

    async def travel(self, request_key: RequestKey) -> None:
        """The way to the server and back."""
        await asyncio.sleep(self._delay)

    async def close(self) -> None:
        """Counted."""
        self.rests += 1


class FarMind(PaidMind):
    """One whose server goes away after so many answers."""

    def __init__(self, mind: Mind, good: int, **settings: Any) -> None:
        super().__init__(mind, **settings)
        self.good = good

    async def travel(self, request_key: RequestKey) -> None:
        """Nobody answers any more."""
        if len(self.asked) > self.good:
            await asyncio.sleep(self._delay / 2)
            raise Paused("nobody answers", where="http://127.0.0.1:9", hint="start the server")
        await super().travel(request_key)


class VirtualSelector(selectors.DefaultSelector):
    """Does not wait: the time it was to wait for has passed at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.now += timeout or 0
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on whose clock only sleeping takes time."""

    def __init__(self) -> None:
        self.virtual = VirtualSelector()
        super().__init__(self.virtual)

    def time(self) -> float:
        return self.virtual.now


def virtually(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run it without waiting for anything."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


def offline(scenario: str = "latticeville") -> Mind:
    return mind_named("offline", load(scenario))


def opened(path: Path, mind: Mind, scenario: str = "latticeville", concurrency: int = 32) -> Run:
    """A new run, or one to go on with."""
    loaded = load(scenario)
    stage = by_name(loaded.part.stage)
    if path.exists():
        return Run.resume(RunFile.open(path), loaded, stage=stage, mind=mind, concurrency=concurrency)
    manifest = Manifest(scenario=loaded.part.name, text=loaded.text, seed=7, mind=mind.name)
    return Run.start(path, manifest, loaded, stage=stage, mind=mind, concurrency=concurrency)


async def played(run: Run, until: int, budget: Budget | None = None) -> None:
    async for _ in run.play(until=until, budget=budget):
        pass


def lived(path: Path, mind: Mind, until: int, scenario: str = "latticeville", **settings: Any) -> None:
    """Live up to a tick, in one session."""
    budget = settings.pop("budget", None)
    with opened(path, mind, scenario, **settings) as run:
        virtually(played(run, until, budget))
