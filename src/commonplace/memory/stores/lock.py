"""One process owns a store: an operating-system lock on a file beside it, gone with the process however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from commonplace.errors import CommonplaceError, UsageError

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30
    """The byte locked: beyond the pid, since Windows locks keep others from reading what they cover."""

    def _taken(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _taken(descriptor: int) -> bool:
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


def seize(descriptor: int) -> bool:
    """Locks an open file for this process alone, not for its forks; False if it is locked already."""
    if not _taken(descriptor):
        return False
    _held.add(descriptor)
    return True


def held(descriptor: int) -> bool:
    """Whether this process has locked it: a fork has not."""
    return descriptor in _held


def give_up(descriptor: int) -> None:
    """Closes a file that `seize` has locked, and so unlocks it."""
    _held.discard(descriptor)
    os.close(descriptor)


class StoreLock:
    """Held from construction to `release`. Raises UsageError naming the holder when the store is in use.

    The file stays. It holds the holder's process id, and nothing after a proper release: `left` says whether an
    earlier holder ended without one.
    """

    def __init__(self, path: Path, where: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            what = f"its folder cannot be written ({error.strerror})"
            raise CommonplaceError(what, where=where, hint="work on a copy in a folder that can be written") from error
        before = os.read(descriptor, 32).decode("ascii", "replace").strip()
        if not seize(descriptor):
            os.close(descriptor)
            hint = "close the store there, end that process, or work on a copy"
            raise UsageError(f"in use by process {before or 'unknown'}", where=where, hint=hint)
        self.left = bool(before)
        self._descriptor: int | None = descriptor
        self._write(b"%d\n" % os.getpid())

    def release(self) -> None:
        """Give the store up. May be called twice; in a fork it does nothing, because the parent has the store."""
        if self._descriptor is not None and held(self._descriptor):
            self._write(b"")
            give_up(self._descriptor)
        self._descriptor = None  # its number may soon be another file's

    def _write(self, holder: bytes) -> None:
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, holder)
