"""A town while everything around it fails: workers, the database, the model server, the driver, the disk.

    python benchmarks/soak.py [--people 25] [--minutes 5] [--workers 2] [--calm 12] [--seed 1] [--folder F] [--json]

`commonplace run` makes the ticks, with its characters in workers, the run in an embedded PostgreSQL and a model server
that answers after 200 ms. About every `--calm` seconds one thing goes wrong: a worker or the database is killed, the
driver is killed, the model server is away for a while, or the disk of the database is full (only as root: the disk is
one in memory). Whenever the command ends before its time, `commonplace resume` goes on. At the end the run is verified:
its integrity, and by running every tick again.

A line for each kind of fault: how often it happened, and the median and the most seconds until the next tick after it.
Then ticks, requests to the model server and answers that the run kept (more requests than attempts are paid twice), the
most memory of driver, workers and database, and what `verify` said.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from commonplace.api import open_run
from commonplace.errors import CommonplaceError
from commonplace.parts.new_town.scaffold import new
from commonplace.testing.server import Latency, ModelServer

AWAY = (3.0, 15.0)
"""Seconds that a model server or room on a disk is missing."""
DISK = "2g"
LATENCY = 0.2
LATE = 600.0
"""Seconds without a tick after which the soak is given up."""


@dataclass
class Soak:
    """A town that is disturbed."""

    folder: Path
    scenario: Path
    workers: int
    people: int
    latency: Latency
    model: ModelServer
    server: Path
    chance: random.Random
    has_disk: bool
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    requests: int = 0
    lost: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Fault → seconds until the next tick, of each time."""
    memory: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def where(self) -> str:
        """The run."""
        return f"embedded:{self.server}#town"

    def keep_going(self) -> None:
        """Starts the run, or goes on with it if it has ended."""
        if self.process is not None and self.process.poll() is None:
            return
        verb = ["run", str(self.scenario), "-o", self.where] if self.starts == 0 else ["resume", self.where]
        mind = self.model.mind("openai")
        options = ["--mind", mind, "--workers", str(self.workers), "--view", "none", "--trust"]
        last = ["--ticks", "1000000"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "commonplace", *verb, *options, *last], stdout=log, stderr=log
            )
        self.starts += 1

    def tick(self) -> int:
        """Returns the last committed tick; −1 while the database is away."""
        with suppress(CommonplaceError, OSError), open_run(self.where) as reading:
            return reading.last_tick
        return -1

    def family(self) -> list[psutil.Process]:
        """The driver and all processes that it has started."""
        assert self.process is not None
        with suppress(psutil.NoSuchProcess):
            driver = psutil.Process(self.process.pid)
            return [driver, *driver.children(recursive=True)]
        return []

    def workers_now(self) -> list[psutil.Process]:
        """The processes in which characters live."""
        found: list[psutil.Process] = []
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                if process.cmdline()[:1] and process.cmdline()[0].startswith("ray::RayWorker"):
                    found.append(process)
        return found

    def weigh(self) -> None:
        """Notes how much memory is taken."""
        sizes = {"driver": self.family()[:1], "a worker": self.workers_now(), "database": self._database()}
        for name, processes in sizes.items():
            with suppress(psutil.NoSuchProcess):
                each = [process.memory_info().rss for process in processes]
                size = sum(each) if name == "database" else max(each, default=0)
                self.memory[name] = max(size, self.memory.get(name, 0))

    def _database(self) -> list[psutil.Process]:
        with suppress(OSError, ValueError, psutil.NoSuchProcess):
            first = psutil.Process(int((self.server / "postmaster.pid").read_text().split()[0]))
            return [first, *first.children()]
        return []

    # ── faults ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def lose_a_worker(self) -> None:
        """Kills a worker."""
        workers = self.workers_now()
        if workers:
            with suppress(psutil.NoSuchProcess):
                self.chance.choice(workers).kill()

    def lose_the_database(self) -> None:
        """Kills the database server."""
        with suppress(OSError, ValueError):
            os.kill(int((self.server / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def lose_the_driver(self) -> None:
        """Kills the command."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def lose_the_model(self) -> None:
        """Stops the model server for a while."""
        port = int(self.model.url.rsplit(":", 1)[1].split("/")[0])
        self.requests += len(self.model.log.asked)
        self.model.__exit__(None, None, None)
        time.sleep(self.chance.uniform(*AWAY))
        self.model = ModelServer(port=port, latency=self.latency)
        self.model.__enter__()

    def fill_the_disk(self) -> None:
        """Fills the database's disk for a while."""
        ballast = self.server.parent / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        time.sleep(self.chance.uniform(*AWAY))
        ballast.unlink()

    def faults(self) -> dict[str, Callable[[], None]]:
        """What can go wrong here."""
        found: dict[str, Callable[[], None]] = {
            "a worker killed": self.lose_a_worker,
            "the database killed": self.lose_the_database,
            "the driver killed": self.lose_the_driver,
            "the model server away": self.lose_the_model,
        }
        return found | ({"the disk full": self.fill_the_disk} if self.has_disk else {})

    def disturb(self) -> None:
        """Lets one thing go wrong, and waits for the next tick."""
        name, act = self.chance.choice(list(self.faults().items()))
        before, began = self.tick(), time.monotonic()
        act()
        while self.tick() <= before:
            self.keep_going()
            self.weigh()
            if time.monotonic() - began > LATE:
                raise SystemExit(f"no tick for {LATE:.0f} s after {name}; see {self.folder / 'log'}")
            time.sleep(0.5)
        self.lost.setdefault(name, []).append(time.monotonic() - began)

    def end(self) -> None:
        """Lets the command end at a tick."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.requests += len(self.model.log.asked)


@contextmanager
def small_disk(folder: Path) -> Generator[bool]:
    """Makes the folder a disk of its own, where this process may."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "tmpfs", str(folder)], capture_output=True, check=False
    )
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def main() -> None:
    """Disturb a town for as long as was asked, and say what became of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=25)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--calm", type=float, default=12.0, help="Mean seconds between faults.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="commonplace-soak-"))
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    for one in (folder, data):
        one.chmod(0o755)  # the embedded server may run as another user
    scenario, latency = new(folder / "town", given.people, force=True), Latency(LATENCY)
    with ExitStack() as undo:
        has_disk = undo.enter_context(small_disk(data))
        model = ModelServer(latency=latency)
        model.__enter__()
        soak = Soak(
            folder, scenario, given.workers, given.people, latency, model, data / "server", random.Random(given.seed),
            has_disk,
        )  # fmt: skip
        undo.callback(lambda: soak.model.__exit__(None, None, None))
        undo.callback(lambda: soak.process and soak.process.kill())
        soak.keep_going()
        until = time.monotonic() + 60 * given.minutes
        while soak.tick() < 1:
            soak.keep_going()
            time.sleep(1)
        while time.monotonic() < until:
            calm = time.monotonic() + soak.chance.expovariate(1 / given.calm)
            while time.monotonic() < min(calm, until):
                soak.keep_going()
                soak.weigh()
                time.sleep(1)
            if time.monotonic() < until:
                soak.disturb()
        soak.end()
        print_report(soak, given.json)
    if given.folder is None:
        shutil.rmtree(folder, ignore_errors=True)


def print_report(soak: Soak, as_json: bool) -> None:
    """Print what became of the town."""
    with open_run(soak.where) as reading:
        ticks, kept = reading.last_tick, reading.usage()[-1]
    verified = subprocess.run(
        [sys.executable, "-m", "commonplace", "verify", soak.where], capture_output=True, text=True, check=False
    )
    report: dict[str, Any] = {
        "faults": {
            name: {"times": len(found), "median": round(statistics.median(found), 1), "most": round(max(found), 1)}
            for name, found in sorted(soak.lost.items())
        },
        "starts": soak.starts,
        "ticks": ticks,
        "requests": soak.requests,
        "kept": kept,
        "memory in MB": {name: size >> 20 for name, size in soak.memory.items()},
        "verify": verified.returncode,
        "said": (verified.stdout + verified.stderr).strip().splitlines(),
    }
    if as_json:
        print(json.dumps(report))
        return
    for name, row in report.pop("faults").items():
        print(f"{name}: {row['times']} times, the next tick after {row['median']} s, at most {row['most']} s")
    for name, value in report.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
