"""The lock of a store belongs to one process, and not to its forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from commonplace.errors import UsageError
from commonplace.memory.stores.lock import StoreLock

WITH_A_WORKER = """
import os, sys, time
from pathlib import Path
from commonplace.memory.stores.lock import StoreLock
lock = StoreLock(Path(sys.argv[1]), "the store")
if os.fork() == 0:
    lock.release()
    print("released", os.getpid(), flush=True)
    time.sleep(60)
time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_neither_releases_nor_keeps_the_lock_of_its_parent(tmp_path):
    path = tmp_path / "lock"
    process = subprocess.Popen([sys.executable, "-c", WITH_A_WORKER, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline().split()[1])
    try:
        with pytest.raises(UsageError, match=f"process {process.pid}"):
            StoreLock(path, "the store")
        process.kill()
        process.wait()
        lock = StoreLock(path, "the store")
        assert lock.left
        lock.release()
    finally:
        process.kill()
        os.kill(worker, signal.SIGKILL)
        process.stdout.close()


def test_one_that_was_released_leaves_nothing_behind(tmp_path):
    StoreLock(tmp_path / "lock", "the store").release()
    lock = StoreLock(tmp_path / "lock", "the store")
    assert not lock.left
    lock.release()
    lock.release()
