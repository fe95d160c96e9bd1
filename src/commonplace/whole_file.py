"""A file that appears whole or not at all: written beside its place, synced, then renamed.

For SQLite files and others. Whenever the process is killed or the disk is full, the place holds what it held before, or
the whole new file. What a killed process left behind is replaced by the next attempt.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from commonplace.errors import CommonplaceError, DiskFull, UsageError
from commonplace.lock import LOCK, ProcessLock, drop_left
from commonplace.paths import kind_of
from commonplace.sqlite import JOURNALS, beside, has_journal, is_full

UNFINISHED = ".unfinished"
"""Ending of the name under which a file is written until it is whole."""
_TRY_AGAIN = "try again; what was there is unchanged"


@contextmanager
def written_whole(
    target: str | Path, *, force: bool = False, instead: str = "give another name with -o", in_use: str = ""
) -> Generator[Path]:
    """Gives the path to write to. That file takes its place at `target` when the block ends without an error.

    Nobody else can write the target meanwhile: its lock is held. An existing target keeps its content until then, and
    for good if anything fails. Files that the block has open at the path must be closed when it ends.

    Raises UsageError when the target exists, unless `force`, and for anything but a file; CommonplaceError for a full
    disk and a folder that cannot be written. `instead` and `in_use` are hints: what to do about an existing target, and
    about one that is in use. Errors that name the path given are raised with the target's name.
    """
    target = Path(target)
    place = Path(os.path.realpath(target))
    part, lock_file = beside(place, UNFINISHED), beside(place, LOCK)
    try:
        refuse_existing(target, force, instead)
    except UsageError:
        drop_left(lock_file)  # of a process that was killed when its file was whole: nobody else would come by
        raise
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if DiskFull.explains(error):
            raise DiskFull(str(target), place.parent, _TRY_AGAIN) from error
        raise CommonplaceError(f"its folder cannot be made ({error.strerror})", where=str(target)) from error
    lock = ProcessLock(lock_file, str(target), **({"hint": in_use} if in_use else {}))
    try:
        refuse_existing(target, force, instead)
        with _explained(target, place, part):
            try:
                _delete(part)
                yield part
                _fold_journals(part, target)
                _sync(part)
                _replace(part, place, target)
            except BaseException:
                _delete(part)
                raise
    finally:
        lock.release()


def refuse_existing(target: Path, force: bool, instead: str) -> None:
    """Raises UsageError for anything but a file and, unless `force`, for a file that exists."""
    kind = kind_of(target)
    if kind == "folder":
        raise UsageError("a folder, not a file", where=str(target), hint="give the name of a file")
    if kind == "file" and not force:
        raise UsageError("the file already exists", where=str(target), hint=f"{instead}, or replace it with --force")


def _replace(part: Path, place: Path, target: Path) -> None:
    # SQLite would apply a journal of the old file to the new one. What such a journal holds belongs to the old file,
    # which must stay whole if the process is killed here; so it goes there before it is deleted.
    _fold_journals(place, target)
    for ending in JOURNALS:
        beside(place, ending).unlink(missing_ok=True)
    part.replace(place)
    _sync(place.parent)


def _fold_journals(path: Path, target: Path) -> None:
    """Bring what a SQLite file's journals hold into the file itself. Does nothing for another kind of file."""
    if not has_journal(path) or not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # undoes what was not committed
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        if is_full(error, path):
            raise DiskFull(str(target), path.parent, _TRY_AGAIN) from error
        what = f"the journal of the file that was there cannot be brought into it ({error})"
        raise CommonplaceError(what, where=str(target), hint=_TRY_AGAIN) from error
    except sqlite3.DatabaseError:
        return  # it is damaged or not SQLite's: nothing can be saved
    if busy:
        raise CommonplaceError("somebody is reading the file", where=str(target), hint=f"end that, then {_TRY_AGAIN}")


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _delete(path: Path) -> None:
    for ending in ("", *JOURNALS, LOCK):
        beside(path, ending).unlink(missing_ok=True)


def tidy(folder: Path, ending: str) -> None:
    """Delete what killed processes left of files with this ending: those that never became whole. Others stay.

    The next attempt at a name does so, too; this is for names that nobody tries again.
    """
    for part in folder.glob(f"*{ending}{UNFINISHED}"):
        place = part.with_name(part.name.removesuffix(UNFINISHED))
        with suppress(CommonplaceError):  # it is being written, or the folder cannot be
            lock = ProcessLock(beside(place, LOCK), str(place))
            try:
                _delete(part)
            finally:
                lock.release()


@contextmanager
def _explained(target: Path, place: Path, part: Path) -> Generator[None]:
    """Raises the file system's errors in words; makes errors about the unfinished file name the target."""
    try:
        yield
    except DiskFull as error:
        if error.where not in map(str, (part, place, target)):
            raise
        raise DiskFull(str(target), error.folder, _TRY_AGAIN) from error
    except CommonplaceError as error:
        error.where = error.where.replace(str(part), str(target))
        error.hint = error.hint.replace(str(part), str(target))
        raise
    except OSError as error:
        if DiskFull.explains(error):
            raise DiskFull(str(target), place.parent, _TRY_AGAIN) from error
        if error.filename in map(str, (part, place, place.parent)):
            what = f"the file cannot be written ({error.strerror})"
            hint = "check the permissions of its folder; what was there is unchanged"
            raise CommonplaceError(what, where=str(target), hint=hint) from error
        raise
