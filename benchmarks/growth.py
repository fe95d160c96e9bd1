"""What towns of any size take: measured at two sizes, computed from them for others.

    python benchmarks/growth.py [--people 100 400] [--ticks 288] [--seed 7] [--json]

Towns as `commonplace new` makes them are played by the offline mind in two workers on this machine. The first lines are
what was measured: seconds of the wall clock, of processor time of the driver and of the workers, megabytes of the
driver and of the larger worker at the start and at the end, megabytes of the run file.

A line for each size from 1,000 to a million says what follows from them for a day of 288 ticks: how many workers are of
use (with more, the driver is what takes the time), hours of the day with so many on cores of their own, gigabytes of
the driver and of each worker, gigabytes of the run file. That is arithmetic: it says what would be needed if nothing
else broke.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from workers import worker_seconds, workers_now

from commonplace.api import mind_named, prepared
from commonplace.cli import expect_many_objects
from commonplace.engine.run import Run
from commonplace.parts.cluster.ray_cluster import RayCluster
from commonplace.parts.new_town.scaffold import new
from commonplace.stages import by_name

DAY = 288
SIZES = (1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000)
WORKERS = 2


def sizes() -> tuple[float, float]:
    """Returns megabytes of this process and of its largest worker."""
    each = [process.memory_info().rss / 1e6 for process in (psutil.Process(), *workers_now())]
    return each[0], max(each[1:])


async def measured(folder: Path, people: int, ticks: int, seed: int) -> dict[str, Any]:
    """The figures of one town."""
    loaded, manifest = prepared(new(folder / "town", people, force=True), seed)
    path, mind = folder / f"{people}.run", mind_named("offline", loaded)
    cluster = RayCluster(WORKERS, manifest, path, answers=True)
    with Run.start(path, manifest, loaded, stage=by_name(manifest.stage), mind=mind, cluster=cluster) as run:
        first = sizes()
        wall, driver, others = time.perf_counter(), time.process_time(), worker_seconds()
        async for _ in run.play(ticks):
            pass
        last = sizes()
        return {
            "people": people,
            "ticks": ticks,
            "seconds": time.perf_counter() - wall,
            "driver": time.process_time() - driver,
            "in workers": worker_seconds() - others,
            "driver MB": first[0],
            "driver MB at the end": last[0],
            "worker MB": first[1],
            "worker MB at the end": last[1],
            "file MB": path.stat().st_size / 1e6,
        }


def computed(small: dict[str, Any], large: dict[str, Any], people: int) -> dict[str, Any]:
    """What follows for a town of another size."""

    def each(name: str) -> float:
        """What a further character adds."""
        return (large[name] - small[name]) / (large["people"] - small["people"])

    turns = DAY * people
    driver, workers = (large[name] / large["ticks"] / large["people"] * turns for name in ("driver", "in workers"))
    of_use = max(1, round(workers / driver))
    grown = (large["worker MB at the end"] - large["worker MB"]) * WORKERS / large["people"] / large["ticks"] * DAY
    known = [large[name] + each(name) * (people - large["people"]) for name in ("driver MB at the end", "worker MB")]
    return {
        "people": people,
        "workers of use": of_use,
        "hours of a day": (driver + workers / of_use) / 3600,
        "driver GB": known[0] / 1e3,
        "worker GB": (known[1] + grown * people / of_use) / 1e3,
        "file GB": large["file MB"] / large["ticks"] / large["people"] * turns / 1e3,
    }


def main() -> None:
    """Print what was measured and what follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs=2, default=[100, 400])
    parser.add_argument("--ticks", type=int, default=DAY)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    expect_many_objects()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for people in sorted(given.people):
            rows.append(asyncio.run(measured(Path(folder), people, given.ticks, given.seed)))
    for row in (*rows, *(computed(*rows, people) for people in SIZES)):
        shown = {name: float(f"{value:.3g}") if isinstance(value, float) else value for name, value in row.items()}
        print(json.dumps(shown) if given.json else " · ".join(f"{name} {value:,}" for name, value in shown.items()))


if __name__ == "__main__":
    main()
