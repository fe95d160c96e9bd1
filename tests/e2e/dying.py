"""A process that runs a command again and again in children, each killed one database statement later than the last.

    python dying.py FOLDER FIRST STEP [--of PREPARED.run] COMMAND…

`@` in the command stands for the run file. After each kill the run is gone on with in another child; a line of JSON
tells how that ended. It stops after the first child that comes to its end alive.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.errors import CommonplaceError

OUT_OF_TIME = 3600


class Mortal(sqlite3.Connection):
    """Connections of a process that is killed before a certain statement."""

    left = 0

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        _count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        _count()
        return super().executemany(*arguments)

    def close(self) -> None:
        _count()
        super().close()


def _count() -> None:
    Mortal.left -= 1
    if Mortal.left < 0:
        os.kill(os.getpid(), signal.SIGKILL)


def child(doing: Callable[[], int], log: Path) -> int:
    """Do something in a process of its own; its status, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(OUT_OF_TIME)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os._exit(doing())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def mortal(arguments: Sequence[str], statements: int) -> int:
    """The command, killed after so many statements."""
    connect = sqlite3.connect

    def mortal_connect(*given: Any, **named: Any) -> sqlite3.Connection:
        _count()
        return connect(*given, factory=Mortal, **named)

    sqlite3.connect = mortal_connect
    Mortal.left = statements
    return main(arguments)


def ends(run: Path) -> list[Any]:
    """Last tick and digests; empty where there is no run."""
    try:
        with open_run(run) as reading:
            tick = reading.tick()
            return [tick, reading.digest(), reading.digest(state=True)] if tick >= 0 else []
    except CommonplaceError:
        return []


def sweep(folder: Path, first: int, step: int, prepared: Path | None, arguments: Sequence[str]) -> None:
    """Kill, look, go on; one statement further each time."""
    statements, status = first, -signal.SIGKILL
    log = folder / "log.txt"
    while status == -signal.SIGKILL:
        run = folder / f"after-{statements}.run"
        if prepared:
            shutil.copy(prepared, run)
        given = [str(run) if word == "@" else word for word in arguments]
        status = child(lambda given=given, count=statements: mortal(given, count), log)
        left = ends(run)
        resume = ["resume", str(run), "--view", "none"]
        again = child(lambda resume=resume: main(resume), log)
        if again and not left:  # nothing had been committed yet, not even what the run is to be
            again = child(lambda given=given: main([*given, "--force"]), log)
        report = {"statements": statements, "status": status, "left": left, "again": again, "ends": ends(run)}
        print(json.dumps({**report, "said": log.read_text() if again else ""}), flush=True)
        for file in folder.glob(f"{run.name}*"):
            file.unlink()
        statements += step


if __name__ == "__main__":
    _, target, begin, stride, *rest = sys.argv
    source = Path(rest[1]) if rest[0] == "--of" else None
    sweep(Path(target), int(begin), int(stride), source, rest[2:] if source else rest)
