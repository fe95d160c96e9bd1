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
from commonplace.minds.asking import Ask
from commonplace.minds.mind import Asker, Mind, Reply
from commonplace.rng import below
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.testing import SlowMind

SLIP = '{"decision": "ke'


class PaidMind(SlowMind):
    """Another mind's answers, later, each noted on a bill when it is given; every fifth is no use at first."""

    tries = 2

    def __init__(self, mind: Mind, bill: Path) -> None:
        super().__init__(mind, salt=1, longest=0.01)
        self._bill = os.open(bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Awaitable[Reply]:
        """The answer, to be paid for."""
        return self._paid(ask, asker)

    async def _paid(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        assert asker.attempt == 0 or (asker.before is not None and asker.before.raw == SLIP)
        reply = await super().answer(ask, asker)
        os.write(self._bill, f"{asker.agent} {asker.tick} {asker.number} {asker.attempt}\n".encode())
        if asker.attempt == 0 and below(5, "slip", asker.agent, asker.tick, asker.number) == 0:
            return Reply(None, "malformed", "cut off", "json", prompt=ask.task.name, raw=SLIP)
        return reply


def opened(path: Path, bill: Path, name: str) -> Run:
    """A new run, or one to go on with."""
    scenario = load(name)
    mind = PaidMind(mind_named("offline", scenario), bill)
    stage = by_name(scenario.part.stage)
    if path.exists():
        file = RunFile.open(path)
        return Run.go_on(file, scenario_of(file.manifest), stage=stage, mind=mind)
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
