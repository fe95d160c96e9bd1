"""The program as somebody at a shell has it: one command, its status, what it prints where."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.api import open_run
from commonplace.cli import main
from e2e.forking import Forked, can_fork
from sizes import PROVE

PROGRAM = (sys.executable, "-W", "error", "-m", "commonplace")
LENIENT = (sys.executable, "-m", "commonplace")
"""As people have it: what Python itself leaves open when it is stopped in an import is not told."""
SOURCE = str(Path(commonplace.__file__).resolve().parent.parent)
PATIENCE = 240
"""Seconds until a command counts as hanging."""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    command: tuple[str, ...]
    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Standard output as a JSON value a line."""
        return [json.loads(line) for line in self.lines]


def environment(**changes: str) -> dict[str, str]:
    """This process's, with the package under test first, wherever the command is started."""
    paths = [SOURCE, *changes.pop("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **changes}


def started(
    *arguments: object,
    env: dict[str, str] | None = None,
    program: Sequence[str] = PROGRAM,
    anew: bool = PROVE,
    closed: Sequence[int] = (),
    **settings: Any,
) -> subprocess.Popen[str]:
    """A command under way, its two outputs on pipes unless told otherwise, without the standard streams `closed`.

    `anew`: not forked where it could be.
    """
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "encoding": "utf-8"}
    given |= settings
    env, words = env or environment(), list(map(str, arguments))
    if program is PROGRAM and not anew and can_fork(env, given):
        return Forked(words, env=env, closed=closed, **given)
    if closed:
        given["preexec_fn"] = lambda: [os.close(standard) for standard in closed]
    return subprocess.Popen([*program, *words], env=env, **given)


def command(*arguments: object, status: int | None = 0, cwd: Path | None = None, **settings: Any) -> Done:
    """Run a command to its end. Whatever it is asked, it ends with the status expected and never with a traceback.

    It runs in this process, which saves a second each time; with an environment or streams of its own it is a process.
    """
    if settings:
        process = started(*arguments, cwd=cwd, **settings)
        return finished(process, arguments, status)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with chdir(cwd or Path.cwd()), redirect_stdout(out), redirect_stderr(err):
        ended = main([str(argument) for argument in arguments])
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))  # pyright: ignore[reportAttributeAccessIssue]
    return _as_expected(Done(tuple(map(str, arguments)), ended, *texts), status)


def finished(process: subprocess.Popen[str], arguments: tuple[object, ...] = (), status: int | None = 0) -> Done:
    """The end of a command under way."""
    with process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    done = Done(tuple(map(str, arguments)), process.returncode, out or "", err or "")
    for word in ("Traceback", "Exception ignored", "Warning"):
        assert word not in done.err, f"{done.command}\n{done.err}"
    return _as_expected(done, status)


def _as_expected(done: Done, status: int | None) -> Done:
    assert "Traceback (most recent call last)" not in done.err, done.err
    assert status is None or done.status == status, f"{done.command} → {done.status}\n{done.err}"
    return done


@dataclass(frozen=True)
class Ends:
    """What two runs are compared by: the last tick, and both digests at it."""

    tick: int
    history: str
    state: str


def ends(run: Path, at: int | None = None) -> Ends:
    """Of a run file, at its last tick unless another is given."""
    with open_run(run) as reading:
        tick = reading.tick(at)
        return Ends(tick, reading.digest(tick), reading.digest(tick, state=True))


def copied(run: Path, folder: Path, name: str = "copy.run") -> Path:
    """A copy to spoil."""
    return Path(shutil.copy(run, folder / name))


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of so many kilobytes, where one can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def tables(run: Path) -> Iterator[sqlite3.Connection]:
    """The file's tables behind the program's back; what is changed is kept."""
    with closing(sqlite3.connect(run)) as connection:
        yield connection
        connection.commit()
