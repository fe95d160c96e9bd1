"""What many readers cost the writer of a run in PostgreSQL, and what the database costs against a file.

    python benchmarks/readers.py [--people 100] [--ticks 48] [--readers 20] [--again 3] [--json]

The town is a scenario as `commonplace new --size N` makes it, played by the offline mind; the database is the embedded
one. A line for each of: a file, a database, a database with readers. Each reader is a thread of other processes that
asks for the latest frame, and for a character's state and memories, twice a second, as an open page does. Seconds are
the least of the repetitions: of the wall clock, of processor time of the writer's process, and of the wall clock in
commits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from commonplace.api import create_run, open_run
from commonplace.cli import expect_many_objects
from commonplace.parts.new_town.scaffold import new
from commonplace.parts.stores.embedded import joined

A_PROCESS = 5
"""Readers of a process."""
TWICE = 0.5


def read(where: str, number: int) -> None:
    """Read as so many views, until the process is ended."""
    with ExitStack() as open_ones:
        views = [open_ones.enter_context(open_run(where)) for _ in range(number)]
        print("reading", flush=True)
        while True:
            began = time.monotonic()
            for view in views:
                frame = view.frame()
                agent = sorted(frame.agents)[frame.tick % len(frame.agents)]
                view.state_at(agent)
                view.memories(agent)
            time.sleep(max(0.0, TWICE - (time.monotonic() - began)))


@contextmanager
def readers(where: str, number: int) -> Generator[None]:
    """Other processes that read the run while the block runs."""
    command = [sys.executable, __file__, "--read", where, "--readers"]
    counts = [min(A_PROCESS, number - begin) for begin in range(0, number, A_PROCESS)]
    with ExitStack() as undo:
        for count in counts:
            process = undo.enter_context(subprocess.Popen([*command, str(count)], stdout=subprocess.PIPE, text=True))
            undo.callback(process.kill)
            assert process.stdout is not None
            process.stdout.readline()
        yield


def measured(where: str, scenario: Path, ticks: int, number: int) -> dict[str, Any]:
    """The figures of one run."""
    with ExitStack() as undo:
        run = undo.enter_context(create_run(where, scenario, force=True))
        commit, spent = run.file.commit, 0.0

        def timed(record: Any) -> Any:
            nonlocal spent
            began = time.perf_counter()
            done = commit(record)
            spent += time.perf_counter() - began
            return done

        run.file.commit = timed  # pyright: ignore[reportAttributeAccessIssue]
        if number:
            undo.enter_context(readers(where, number))
        wall, own = time.perf_counter(), time.process_time()
        for _ in run.play_sync(ticks):
            pass
        return {
            "seconds": time.perf_counter() - wall,
            "processor": time.process_time() - own,
            "in commits": spent,
            "digest": run.reading.digest(),
        }


def main() -> None:
    """Print a line for each way to keep the run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--ticks", type=int, default=48)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--again", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        read(given.read, given.readers)
        return
    expect_many_objects()
    with tempfile.TemporaryDirectory(prefix="commonplace-") as folder:
        Path(folder).chmod(0o755)  # the embedded server may run as another user
        scenario, server = new(Path(folder) / "town", given.people), Path(folder) / "server"
        ways = {
            "file": (str(Path(folder) / "a.run"), 0),
            "database": (f"embedded:{server}#a", 0),
            f"database, {given.readers} readers": (f"embedded:{server}#a", given.readers),
        }
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
        with joined(server, create=True):
            for _ in range(given.again):
                for name, (where, number) in ways.items():
                    rows[name].append(measured(where, scenario, given.ticks, number))
        for name, found in rows.items():
            assert len({row["digest"] for row in found}) == 1
            row = {"run": name, **{key: round(min(one[key] for one in found), 2) for key in list(found[0])[:3]}}
            row["digest"] = found[0]["digest"]
            print(json.dumps(row) if given.json else " · ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
