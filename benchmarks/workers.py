"""What workers gain and cost: the same town in this process, and with its characters in workers on this machine.

    python benchmarks/workers.py [--people 100] [--ticks 96] [--workers 0 1 2] [--seed 7] [--json]

The town is a scenario as `commonplace new --size N` makes it, played by the offline mind from six in the morning. A
line for each number of workers: seconds of the wall clock without the start, seconds of processor time of the driver
and of the workers, bytes sent to the workers and received from them for each turn of a character, the share of all
processor time that the driver takes, and the digest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from commonplace.api import mind_named, prepared
from commonplace.cli import expect_many_objects
from commonplace.engine.run import Run
from commonplace.engine.workers import Link
from commonplace.minds.mind import Mind
from commonplace.parts.cluster.ray_cluster import RayCluster
from commonplace.parts.new_town.scaffold import new
from commonplace.run.manifest import Manifest
from commonplace.scenario.scenario import Scenario
from commonplace.stages import by_name


@dataclass
class Counted:
    """A cluster whose messages are counted."""

    cluster: RayCluster
    sent: int = 0
    received: int = 0
    links: list[CountedLink] = field(default_factory=list["CountedLink"])

    @property
    def count(self) -> int:
        """How many workers there are to be."""
        return self.cluster.count

    def start(self) -> CountedLink:
        """Starts a worker."""
        self.links.append(CountedLink(self, self.cluster.start()))
        return self.links[-1]

    def close(self) -> None:
        """Ends all workers."""
        self.cluster.close()


@dataclass
class CountedLink:
    """A link whose messages are counted."""

    counted: Counted
    link: Link

    def send(self, data: bytes) -> Future[bytes]:
        """Sends a message."""
        self.counted.sent += len(data)
        reply = self.link.send(data)
        reply.add_done_callback(self._came)
        return reply

    def end(self) -> None:
        """Ends the worker."""
        self.link.end()

    def _came(self, reply: Future[bytes]) -> None:
        with suppress(Exception):
            self.counted.received += len(reply.result())


def workers_now() -> list[psutil.Process]:
    """Returns the processes of all workers that belong to this process."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.cmdline()[:1] and process.cmdline()[0].startswith("ray::RayWorker"):
                found.append(process)
    return found


def worker_seconds() -> float:
    """Returns the processor time of all workers that belong to this process."""
    return sum(sum(process.cpu_times()[:2]) for process in workers_now())


async def measured(
    path: Path, loaded: Scenario, manifest: Manifest, mind: Mind, ticks: int, workers: int
) -> dict[str, Any]:
    """The figures of one run."""
    cluster = Counted(RayCluster(workers, manifest, path, answers=True)) if workers else None
    with Run.start(path, manifest, loaded, stage=by_name(manifest.stage), mind=mind, cluster=cluster) as run:
        sent, received = (cluster.sent, cluster.received) if cluster else (0, 0)
        wall, driver, others = time.perf_counter(), time.process_time(), worker_seconds()
        async for _ in run.play(ticks):
            pass
        wall, driver = time.perf_counter() - wall, time.process_time() - driver
        others = worker_seconds() - others
        turns = ticks * len(loaded.personas)
        return {
            "workers": workers,
            "seconds": round(wall, 2),
            "driver": round(driver, 2),
            "in workers": round(others, 2),
            "bytes to": round((cluster.sent - sent) / turns) if cluster else 0,
            "bytes from": round((cluster.received - received) / turns) if cluster else 0,
            "driver's share": f"{driver / (driver + others):.1%}",
            "digest": run.file.digests.history.hex(),
        }


def main() -> None:
    """Print a line for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--ticks", type=int, default=96)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    expect_many_objects()
    with tempfile.TemporaryDirectory() as folder:
        loaded, manifest = prepared(new(Path(folder) / "town", given.people), given.seed)
        for workers in given.workers:
            mind = mind_named("offline", loaded)
            path = Path(folder) / f"{workers}.run"
            row = asyncio.run(measured(path, loaded, manifest, mind, given.ticks, workers))
            print(
                json.dumps(row) if given.json else " · ".join(f"{key} {value}" for key, value in row.items()),
                flush=True,
            )


if __name__ == "__main__":
    main()
