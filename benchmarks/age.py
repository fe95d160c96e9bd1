"""What a run costs as it grows old: speed by day, RAM, resuming, reflections, the list of characters.

    python benchmarks/age.py [--days 5] [--characters 10] [--json] [--keep FILE]

Ten characters are those of `latticeville`; another number is a scenario as `commonplace new` makes it. Speed is
agent-ticks per second of processor time on one core, the run file included. RAM is that of the process after each day,
its growth divided by the memories added since the end of day 2, when the caches are warm. `resume` is the whole command
for one tick, in a process of its own; `agents` opens the file anew in this process. All times are processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from commonplace import create_run, open_run
from commonplace.cli import expect_many_objects
from commonplace.parts.new_town.scaffold import new

SHIPPED = 10
"""Characters of `latticeville`."""
WARM = 2
"""The day from whose end on growth is counted."""


@dataclass(frozen=True)
class Day:
    """One simulated day, as lived by this process."""

    day: int
    speed: float
    """Agent-ticks per second of processor time."""
    resident: int
    """Bytes of RAM at its end."""
    memories: int
    """There are at its end."""
    asked: int
    """Reflections asked of the mind."""
    kept: int
    """Reflections remembered."""


async def lived(path: Path, scenario: str, days: int) -> AsyncIterator[Day]:
    """Each day, after it has been lived."""
    with create_run(path, scenario, seed=7, force=True) as run:
        characters = len(run.scenario.personas)
        ticks = run.scenario.clock.ticks(1440)
        for day in range(1, days + 1):
            began = time.process_time()
            async for _ in run.play(ticks):
                pass
            spent = time.process_time() - began
            gc.collect()
            count = "SELECT count(*) FROM {} WHERE tick > ? AND tick <= ?"
            span = ((day - 1) * ticks, day * ticks)
            yield Day(
                day,
                characters * ticks / spent,
                resident(),
                sum(len(stream) for stream in run._engine.live_state.streams.values()),  # pyright: ignore[reportPrivateUsage]
                run.reading.one(count.format("answer") + " AND task = 'insights'", *span)[0],
                run.reading.one(count.format("memory") + " AND kind = 'reflection'", *span)[0],
            )


def resident() -> int:
    """Bytes of RAM this process has now; where the system does not tell, the most it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return pages * os.sysconf("SC_PAGE_SIZE")


def used_by(*arguments: str) -> tuple[float, int]:
    """(processor seconds, most bytes of RAM) of a command of the program, without what it prints.

    Started by a small process: on Linux the most of a process includes what the one that started it had.
    """
    command = (sys.executable, "-m", "commonplace", *arguments)
    done = subprocess.run([sys.executable, "-c", _SMALL, *command], stdout=subprocess.PIPE, check=False, text=True)
    status, seconds, most = json.loads(done.stdout)
    if status:
        raise SystemExit(f"{' '.join(command[2:])} ended with status {status}")
    return seconds, most * (1 if sys.platform == "darwin" else 1024)


_SMALL = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def listed(path: Path) -> float:
    """Milliseconds until the characters are known, the file opened anew."""
    times: list[float] = []
    for _ in range(5):
        began = time.process_time()
        with open_run(path) as run:
            run.agents()
        times.append(time.process_time() - began)
    return min(times) * 1000


def figures(days: list[Day], path: Path) -> Iterator[tuple[str, float, str]]:
    """(what, value, what is wanted)."""
    seconds, most = used_by("resume", str(path), "--ticks", "1", "--view", "none")
    if len(days) > WARM:
        speeds = [day.speed for day in days[WARM - 1 :]]
        warm, last = days[WARM - 1], days[-1]
        growth = (last.resident - warm.resident) / (last.memories - warm.memories)
        late = [day.kept for day in days[WARM:]]
        yield "speed of the last day, of that of day 2", speeds[-1] / speeds[0], "at least 0.85"
        yield "resident bytes per memory since day 2", growth, "at most 1200"
        yield "reflections kept a day, mean since day 3", sum(late) / len(late), "steady"
    yield "resume --ticks 1, processor seconds", seconds, "at most 2.5"
    yield "resume --ticks 1, MB", most / 1e6, "at most 250"
    yield "agents, milliseconds", listed(path), "below 100"


async def measured(path: Path, scenario: str, options: argparse.Namespace) -> None:
    """Live the days and print each, then the figures."""
    days: list[Day] = []
    if not options.json:
        print(" day  agent-ticks/s       MB  memories  reflections asked  kept")
    async for day in lived(path, scenario, options.days):
        days.append(day)
        if options.json:
            print(json.dumps(asdict(day)), flush=True)
        else:
            made = f"{day.memories:>10,}{day.asked:>19}{day.kept:>6}"
            print(f"{day.day:>4}{day.speed:>15.0f}{day.resident / 1e6:>9.1f}{made}", flush=True)
    for what, value, wanted in figures(days, path):
        if options.json:
            print(json.dumps({"name": what, "value": round(value, 3), "wanted": wanted}))
        else:
            print(f"{what:<48} {value:>9.2f}   {wanted}")


def main() -> None:
    """Print a table, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--characters", type=int, default=SHIPPED)
    parser.add_argument("--keep", type=Path, help="where to leave the run file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    expect_many_objects()  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        few = options.characters == SHIPPED
        scenario = "latticeville" if few else str(new(Path(folder) / "town", options.characters))
        path = options.keep or Path(folder) / "age.run"
        asyncio.run(measured(path, scenario, options))


if __name__ == "__main__":
    main()
