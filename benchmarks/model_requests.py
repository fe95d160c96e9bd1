"""What a day costs a model server: requests and prompt tokens, and whether it is kept busy.

    python benchmarks/model_requests.py [--ticks 288] [--fidelity F] [--characters 25] [--busy-ticks 36] [--json]

Lives `latticeville` against the test server, which answers from the offline mind over HTTP: requests and prompt tokens
of a character-day, by task, and the share of prompt tokens in a prefix that an earlier prompt began with. Then a new
town of 25 with 200 ms latency and 32 requests in flight: the wall time of busy ticks against their longest chain of
requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commonplace import create_run, open_run
from commonplace.engine.driver import JOB_ORDINALS
from commonplace.errors import UsageError
from commonplace.parts.new_town.scaffold import new
from commonplace.testing.server import Entry, ModelServer

LATENCY = 0.2
CONCURRENCY = 32
BARS = {"requests": (300, 150), "in a known prefix": (0.5, 0.7)}
"""Floor and ambition: requests a character-day, share of prompt tokens in a stable prefix."""


async def lived(
    path: Path, scenario: str, mind: str, fidelity: str, ticks: int
) -> tuple[int, list[tuple[float, float]]]:
    """(characters, seconds of wall and of processor time each tick took)."""
    with create_run(path, scenario, seed=7, mind=mind, fidelity=fidelity, concurrency=CONCURRENCY) as run:
        seconds: list[tuple[float, float]] = []
        began = time.monotonic(), time.process_time()
        async for _ in run.play(ticks):
            now = time.monotonic(), time.process_time()
            seconds.append((now[0] - began[0], now[1] - began[1]))
            began = now
        return len(run.scenario.personas), seconds


def day(folder: Path, fidelity: str, ticks: int) -> tuple[int, list[Entry]]:
    """(characters, requests) of latticeville."""
    with ModelServer() as server:
        name = f"day-{fidelity}.run"
        characters, _ = asyncio.run(lived(folder / name, "latticeville", server.url, fidelity, ticks))
    if not server.log.asked:
        raise UsageError(f"nobody asks anything in {ticks} ticks", hint="try a larger --ticks")
    return characters, server.log.asked


def by_task(entries: list[Entry], character_days: float) -> dict[str, dict[str, float]]:
    """Task → its requests and prompt tokens a character-day, tokens a request, share in a known prefix."""
    tasks = {entry.task: [one for one in entries if one.task == entry.task] for entry in entries}
    rows: dict[str, dict[str, float]] = {}
    for task, some in [*sorted(tasks.items()), ("all", entries)]:
        tokens = sum(entry.usage.prompt for entry in some)
        cached = sum(entry.usage.cached for entry in some)
        rows[task] = {
            "requests": len(some) / character_days,
            "tokens": tokens / character_days,
            "tokens each": tokens / len(some),
            "answer tokens each": sum(entry.usage.answer for entry in some) / len(some),
            "in a known prefix": cached / tokens,
        }
    return rows


@contextmanager
def elsewhere(latency: float) -> Iterator[str]:
    """The URL of a test server in a process of its own, as a model server is."""
    program = [sys.executable, "-m", "commonplace.testing.server", "--port", "0", "--latency", str(int(latency * 1000))]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[3]
        finally:
            server.terminate()


def chains(path: Path) -> dict[int, Counter[str]]:
    """Tick → how many questions each character put in it, one after the other; deferred jobs run beside."""
    asked: dict[int, Counter[str]] = {}
    with open_run(path) as run:
        for row in run.answers():
            if row.ordinal < JOB_ORDINALS and not row.usage.get("needless"):
                asked.setdefault(row.tick, Counter())[row.agent] += 1
    return asked


def busy(folder: Path, size: int, ticks: int) -> dict[str, float]:
    """Wall time of ticks in which a third of the characters ask, against that of their longest chains."""
    scenario, path = new(folder / "busy.yaml", size), folder / "busy.run"
    with elsewhere(LATENCY) as url:
        _, seconds = asyncio.run(lived(path, str(scenario), url, "when_needed", ticks))
    wanted = {tick: asked for tick, asked in chains(path).items() if tick > 1 and len(asked) >= size / 3}
    if not wanted:
        what = f"in {ticks} ticks there is none in which a third of the {size} characters ask"
        raise UsageError(what, hint="try a larger --busy-ticks")
    wall, processor = (sum(seconds[tick - 1][which] for tick in wanted) for which in (0, 1))
    longest = sum(max(asked.values()) for asked in wanted.values()) * LATENCY
    together = sum(asked.total() for asked in wanted.values()) * LATENCY
    return {
        "busy ticks": len(wanted),
        "wall time of a busy tick, s": wall / len(wanted),
        "its longest chain of requests, s": longest / len(wanted),
        "the sum of its requests, s": together / len(wanted),
        "processor time in it, s": processor / len(wanted),
        "wall time as a multiple of the longest chain": wall / longest,
    }


def main() -> None:
    """Print a table, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=288)
    parser.add_argument("--fidelity", choices=("when_needed", "every_tick"), default="when_needed")
    parser.add_argument("--characters", type=int, default=25, help="of the busy town")
    parser.add_argument("--busy-ticks", type=int, default=36)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as name:
            figures = busy(Path(name), given.characters, given.busy_ticks)
            characters, entries = day(Path(name), given.fidelity, given.ticks)
    except UsageError as error:
        sys.exit(f"model_requests: {error}")
    rows = by_task(entries, characters * given.ticks / 288)
    if given.json:
        print_lines(rows, figures)
    else:
        print_table(rows, figures)


def print_lines(rows: dict[str, dict[str, float]], figures: dict[str, float]) -> None:
    """A JSON line for each figure, with floor and ambition where there is a bar."""
    for task, row in rows.items():
        for name, value in row.items():
            floor, ambition = BARS.get(name, (None, None)) if task == "all" else (None, None)
            print(json.dumps({"name": f"{task}: {name}", "value": value, "floor": floor, "ambition": ambition}))
    for name, value in figures.items():
        print(json.dumps({"name": name, "value": value}))


def print_table(rows: dict[str, dict[str, float]], figures: dict[str, float]) -> None:
    """A row for each task, then the busy ticks."""
    print(f"{'a character-day':<14}{'requests':>10}{'tokens':>10}{'each':>8}{'answer':>8}{'prefix':>8}")
    for task, row in rows.items():
        requests, tokens, each, answer, share = row.values()
        print(f"{task:<14}{requests:>10.1f}{tokens:>10.0f}{each:>8.0f}{answer:>8.0f}{share:>8.0%}")
    for name, (floor, ambition) in BARS.items():
        print(f"{name}: {rows['all'][name]:.2f} (floor {floor}, ambition {ambition})")
    for name, value in figures.items():
        print(f"{name}: {value:.2f}")


if __name__ == "__main__":
    main()
