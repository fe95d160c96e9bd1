from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.run.connection import Lock
from commonplace.run.file import RunFile
from run.small_runs import MANIFEST, make

HOLD = """
import sys, time
from pathlib import Path
from commonplace.run.connection import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""
HOLD_WITH_A_WORKER = """
import os, sys, time
from pathlib import Path
from commonplace.run.connection import Lock
lock = Lock(Path(sys.argv[1]))
if os.fork() == 0:
    print("held", os.getpid(), flush=True)
    time.sleep(60)
time.sleep(60)
"""


def holder(path: Path, program: str = HOLD) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process


def test_the_second_is_refused_naming_the_first(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1)
    process = holder(path)
    try:
        assert process.stdout and process.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=f"process {process.pid}"):
            RunFile.open(path)
        with pytest.raises(UsageError, match=f"process {process.pid}"):
            RunFile.create(path, MANIFEST, force=True)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout and process.stdout.close()
    with RunFile.open(path):
        pass


def test_a_worker_does_not_keep_the_lock_of_its_dead_parent(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    process = holder(path, HOLD_WITH_A_WORKER)
    assert process.stdout is not None
    worker = int(process.stdout.readline().split()[1])
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    try:
        Lock(path).release()
    finally:
        os.kill(worker, signal.SIGKILL)
        process.stdout.close()


def test_in_one_process_too(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1)
    with RunFile.open(path), pytest.raises(UsageError, match=f"process {os.getpid()}"):
        RunFile.open(path)


def test_releasing_twice_leaves_the_next_holder_alone(tmp_path: Path) -> None:
    first = Lock(tmp_path / "a.run")
    first.release()
    second = Lock(tmp_path / "a.run")
    first.release()
    with pytest.raises(UsageError):
        Lock(tmp_path / "a.run")
    second.release()
    assert not list(tmp_path.iterdir())
