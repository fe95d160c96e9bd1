"""One process owns a run: an operating-system lock on `NAME.run.lock`, gone with the process however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from commonplace.errors import CommonplaceError, WrongUse

if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 30
    """The byte locked: beyond the pid, since Windows locks keep others from reading what they cover."""

    def _seize(descriptor: int) -> bool:
        os.lseek(descriptor, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _seize(descriptor: int) -> bool:
        # flock, not lockf: it belongs to the open file, so that a second attempt in this very process is refused too
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_held: set[int] = set()
"""Descriptors of the locks this process holds."""


def _forget() -> None:
    # A forked worker would keep the lock beyond its parent's death; closing its copy leaves the parent's lock alone.
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Lock:
    """Held from construction to `release`. Raises WrongUse naming the holder when another process has it."""

    def __init__(self, run: Path) -> None:
        self.path = run.with_name(run.name + ".lock")
        descriptor = _acquired(self.path, run)
        _held.add(descriptor)
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, b"%d\n" % os.getpid())
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the run up. May be called twice."""
        if self._descriptor is None:
            return
        if sys.platform != "win32":
            self.path.unlink(missing_ok=True)  # while it is held, so that nobody's lock is unlinked
        _held.discard(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None  # its number may soon be another lock's


def _acquired(path: Path, run: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            what = f"its folder cannot be written ({error.strerror})"
            todo = "copy the run to a folder that can be written"
            raise CommonplaceError(what, where=str(run), todo=todo) from error
        if not _seize(descriptor):
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            todo = f"look on with `commonplace watch {run}`, or end process {holder}"
            raise WrongUse(f"in use by process {holder}", where=str(run), todo=todo)
        if _still_there(descriptor, path):
            return descriptor
        os.close(descriptor)  # its holder unlinked it between our opening and locking it


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
