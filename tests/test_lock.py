"""A lock belongs to one process, not to its forks, and ends with it."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.lock import ProcessLock
from commonplace.run.file import RunFile
from run.small_runs import MANIFEST, make

HOLD = """
import sys, time
from pathlib import Path
from commonplace.lock import ProcessLock
lock = ProcessLock(Path(sys.argv[1]), "the store")
print(0, flush=True)
time.sleep(60)
"""
HOLD_WITH_A_WORKER = """
import os, sys, time
from pathlib import Path
from commonplace.lock import ProcessLock
lock = ProcessLock(Path(sys.argv[1]), "the store")
if os.fork() == 0:
    lock.release()
    print(os.getpid(), flush=True)
time.sleep(60)
"""


@contextmanager
def holder(path: Path, program: str = HOLD) -> Generator[subprocess.Popen[str]]:
    """A process that holds the lock, killed at the end together with its worker."""
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        worker = int(process.stdout.readline())
        try:
            yield process
        finally:
            process.kill()
            if worker:
                os.kill(worker, signal.SIGKILL)


def test_the_second_process_is_refused_naming_the_first(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1)
    with holder(tmp_path / "a.run.lock") as process:
        with pytest.raises(UsageError, match=f"process {process.pid}"):
            RunFile.open(path)
        with pytest.raises(UsageError, match=f"process {process.pid}"):
            RunFile.create(path, MANIFEST, force=True)
    with RunFile.open(path):
        pass


def test_one_process_is_refused_a_second_time_too(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1)
    with RunFile.open(path), pytest.raises(UsageError, match="this process has it open"):
        RunFile.open(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_neither_releases_nor_keeps_the_lock_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path, HOLD_WITH_A_WORKER) as process:
        with pytest.raises(UsageError, match=f"process {process.pid}"):
            ProcessLock(path, "the store")
        process.kill()
        process.wait()
        lock = ProcessLock(path, "the store")
        assert lock.left
        lock.release()


def test_releasing_twice_leaves_the_next_holder_alone(tmp_path: Path) -> None:
    first = ProcessLock(tmp_path / "lock", "the store")
    first.release()
    second = ProcessLock(tmp_path / "lock", "the store")
    assert not second.left
    first.release()
    with pytest.raises(UsageError):
        ProcessLock(tmp_path / "lock", "the store")
    second.release()
    assert not list(tmp_path.iterdir())


def test_only_its_own_file_is_deleted(tmp_path: Path) -> None:
    """The folder may have been deleted meanwhile, and made again by somebody else who holds the lock now."""
    path = tmp_path / "runs" / "a.run.lock"
    first = ProcessLock(path, "the run")
    shutil.rmtree(path.parent)
    with holder(path):
        first.release()
        assert path.exists()
        with pytest.raises(UsageError, match="in use"):
            ProcessLock(path, "the run")


def test_a_full_disk_is_locked_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        lock = ProcessLock(tmp_path / "a.run.lock", "the run")
    with pytest.raises(UsageError, match="process unknown"):
        ProcessLock(tmp_path / "a.run.lock", "the run")
    lock.release()
    assert not list(tmp_path.iterdir())
