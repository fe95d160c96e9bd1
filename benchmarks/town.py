"""How fast an offline town lives as `commonplace run` plays it, how fast its file grows, how soon a past tick opens.

    python benchmarks/town.py [--ticks 288] [--json]

Figures: agent-ticks a second of processor time on one core, the run file included; bytes a simulated agent-tick adds
to the file; milliseconds to open everybody's state at ticks spread over the run (median and worst of 20).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from commonplace import create_run, open_run
from commonplace.cli import expect_many_objects


async def lived(path: Path, ticks: int) -> tuple[float, int, int]:
    """(processor seconds, characters, bytes of the file at tick 0)."""
    with create_run(path, "latticeville", seed=7) as run:
        at_start = path.stat().st_size + path.with_name(path.name + "-wal").stat().st_size
        characters = len(run.scenario.personas)
        began = time.process_time()
        async for _ in run.play(ticks):
            pass
        return time.process_time() - began, characters, at_start


def opened(path: Path, ticks: int) -> list[float]:
    """Milliseconds to open the world and everybody's state and memories at 20 ticks."""
    times: list[float] = []
    for number in range(20):
        tick = ticks * (number + 1) // 20
        with open_run(path) as run:
            began = time.perf_counter()
            run.world_at(tick)
            run.states_at(tick)
            run.frame(tick)
            times.append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    """Print a table, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=288)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    expect_many_objects()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "town.run"
        seconds, characters, at_start = asyncio.run(lived(path, given.ticks))
        agent_ticks = characters * given.ticks
        opening = opened(path, given.ticks)
        figures = {
            "offline town, agent-ticks per second of one core": (agent_ticks / seconds, 1000, 5000),
            "run file, bytes per agent-tick": ((path.stat().st_size - at_start) / agent_ticks, 2048, 1400),
            "state at any tick opens, median ms": (statistics.median(opening), 200, 20),
            "state at any tick opens, worst ms": (max(opening), 200, 20),
        }
    for name, (value, floor, ambition) in figures.items():
        if given.json:
            print(json.dumps({"name": name, "value": round(value, 1), "floor": floor, "ambition": ambition}))
        else:
            print(f"{name:<52} {value:>9.1f}   floor {floor}, ambition {ambition}")


if __name__ == "__main__":
    main()
