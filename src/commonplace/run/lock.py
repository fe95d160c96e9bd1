"""One process owns a run: an operating-system lock on `NAME.run.lock`, gone with the process however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from commonplace.errors import CommonplaceError, WrongUse
from commonplace.memory.stores.lock import give_up, held, seize


class Lock:
    """Held from construction to `release`. Raises WrongUse naming the holder when another process has it."""

    def __init__(self, run: Path) -> None:
        self.path = run.with_name(run.name + ".lock")
        descriptor = _acquired(self.path, run)
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, b"%d\n" % os.getpid())
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the run up. May be called twice; in a fork it does nothing, because the parent has the run."""
        if self._descriptor is not None and held(self._descriptor):
            if sys.platform != "win32":
                self.path.unlink(missing_ok=True)  # while it is held, so that nobody's lock is unlinked
            give_up(self._descriptor)
        self._descriptor = None  # its number may soon be another lock's


def _acquired(path: Path, run: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            what = f"its folder cannot be written ({error.strerror})"
            todo = "copy the run to a folder that can be written"
            raise CommonplaceError(what, where=str(run), todo=todo) from error
        if not seize(descriptor):
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            todo = f"look on with `commonplace watch {run}`, or end process {holder}"
            raise WrongUse(f"in use by process {holder}", where=str(run), todo=todo)
        if _still_there(descriptor, path):
            return descriptor
        give_up(descriptor)  # its holder unlinked it between our opening and locking it


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
