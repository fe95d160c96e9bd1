"""A process that lives a run with a mind whose every answer is written on a bill before it is given.

python paying.py RUN BILL SCENARIO UNTIL
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from commonplace.api import mind_named, scenario_of
from commonplace.engine.run import Run
from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
from commonplace.rng import below
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.testing import SlowMind

SLIP = '{"decision": "ke'


class PaidMind(SlowMind):
    """Another mind's answers, later, each noted on a bill when it is given; every fifth is no use at first."""

    max_attempts = 2

    def __init__(self, mind: Mind, bill: Path) -> None:
        super().__init__(mind, salt=1, longest=0.01)
        self._bill = os.open(bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Awaitable[Reply]:
        """The answer, to be paid for."""
        return self._paid(ask, request_key)

    async def _paid(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        assert request_key.attempt == 0 or (request_key.before is not None and request_key.before.raw == SLIP)
        reply = await super().answer(ask, request_key)
        os.write(
            self._bill, f"{request_key.agent} {request_key.tick} {request_key.number} {request_key.attempt}\n".encode()
        )
        if request_key.attempt == 0 and below(5, "slip", request_key.agent, request_key.tick, request_key.number) == 0:
            return Reply(None, "malformed", "cut off", "json", prompt=ask.task.name, raw=SLIP)
        return reply


def opened(path: Path, bill: Path, name: str) -> Run:
    """A new run, or one to go on with."""
    scenario = load(name)
    mind = PaidMind(mind_named("offline", scenario), bill)
    stage = by_name(scenario.part.stage)
    if path.exists():
        file = RunFile.open(path)
        return Run.resume(file, scenario_of(file.manifest), stage=stage, mind=mind)
    manifest = Manifest(scenario=scenario.part.name, text=scenario.text, seed=7, mind="offline")
    return Run.start(path, manifest, scenario, stage=stage, mind=mind)


async def main(path: Path, bill: Path, name: str, until: int) -> None:
    """Live up to a tick; a letter on standard output says that it has begun."""
    with opened(path, bill, name) as run:
        os.write(1, b".")
        async for _ in run.play(until=until):
            pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
