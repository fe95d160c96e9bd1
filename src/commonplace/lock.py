"""A lock file that gives one process a run or a store. The operating system drops it when the process ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from commonplace.errors import CommonplaceError, DiskFull, UsageError
from commonplace.paths import kind_of

LOCK = ".lock"
"""Ending of the name of a lock file, after the name of what it locks."""
_LONGEST = 32
"""Bytes that a lock file never has."""
_NOBODY = 0


class ProcessLock:
    """A lock that is held from construction to `release`.

    Raises UsageError that names the holder's process id if there is one.

    The file holds that id; `release` deletes it. A forked child neither holds nor releases the lock of its parent.
    """

    def __init__(self, path: Path, where: str, *, hint: str = "close it there, end that process, or work on a copy"):
        """`where` and `hint` are for messages."""
        self.path, self._where = path, where
        self.left = False
        """Whether the holder before died without releasing the lock."""
        self._descriptor = -1
        # One attempt only: with a time-out the library would also wait in a process that holds the lock itself.
        self._lock = FileLock(path, blocking=False, thread_local=False, fallback_to_soft=False, on_acquired=self._sign)
        kind_of(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            if not path.exists():  # the library also waits where no file can be made
                raise _unwritable(where) from error
            holder = _holder(path)
            if holder == str(os.getpid()):
                raise UsageError(
                    "this process has it open",
                    where=where,
                    hint="close it first: run.close(), or leave the `with` block",
                ) from error
            raise UsageError(f"in use by process {holder}", where=where, hint=hint) from error
        except OSError as error:
            if DiskFull.explains(error):
                raise DiskFull(where, path.parent, "try again") from error
            raise _unwritable(where, str(error.strerror)) from error

    def release(self, *, mended: bool = True) -> None:
        """Lets other processes have the lock. May be called twice; does nothing in a forked child.

        `mended`: nothing is left of a holder that died. Otherwise the file stays, and the next holder knows of it.
        """
        if not self._lock.is_locked:
            return
        if self.left and not mended:
            self._write(_NOBODY)
        elif sys.platform == "win32":
            os.ftruncate(self._descriptor, 0)  # deleted by the library, which may have to leave it to a reader
        elif self._is_in_place():
            self.path.unlink(missing_ok=True)  # while it is held, so that nobody else's lock is unlinked
        self._lock.release()

    def _is_in_place(self) -> bool:
        """Tells whether the file is still this one: somebody may have deleted its folder and made it again."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except OSError:
            return False

    def _sign(self, descriptor: int) -> None:
        before = os.read(descriptor, _LONGEST)
        if before and not (len(before) < _LONGEST and before.strip().isdigit()):  # another program's `yarn.lock`
            what = f"its lock would be {self.path}, and that is another file"
            raise UsageError(what, where=self._where, hint="give another name, or move that file away")
        self._descriptor = descriptor
        self.left = bool(before)
        self._write(os.getpid())

    def _write(self, holder: int) -> None:
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        with suppress(OSError):  # a full disk: the lock is held all the same, by a process that nobody can name
            os.write(self._descriptor, b"%d\n" % holder)


def drop_left(path: Path) -> None:
    """Deletes the lock file at the path if a process left it and died, and its folder permits it."""
    if path.exists():
        with suppress(CommonplaceError):
            ProcessLock(path, str(path)).release()


def held_by(path: Path) -> int:
    """Returns the process that holds the lock at the path, as far as can be seen from outside; 0 for none.

    A process that died holding it left its number; should another one have that number now, this is wrong.
    """
    if not path.exists():
        return 0
    holder = _holder(path)
    if not holder.isdecimal():
        return 0
    if sys.platform == "win32":
        return int(holder)  # what is released is empty there; and `kill` would do more than ask
    try:
        os.kill(int(holder), 0)
    except (ProcessLookupError, OverflowError):
        return 0
    except OSError:
        return int(holder)  # somebody else's
    return int(holder)


def _unwritable(where: str, why: str = "no lock file can be made") -> CommonplaceError:
    what = f"its folder cannot be written ({why})"
    return CommonplaceError(what, where=where, hint="work on a copy in a folder that can be written")


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip() or "unknown"
    except OSError:
        return "unknown"
