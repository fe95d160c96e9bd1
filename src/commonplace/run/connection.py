"""Connections to run files, and SQLite's errors in words a person can use.

Nothing in this process may open a run file by other means than SQLite: closing any descriptor of a file drops the
POSIX locks that SQLite holds on it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from commonplace.errors import CommonplaceError, RunDamaged, WrongUse
from commonplace.run.schema import not_a_run

BUSY_SECONDS = 5.0
"""How long a statement waits for another process that reads or checkpoints."""

UNWRITABLE = (
    "the file or its folder cannot be written",
    "copy the file to a folder that can be written, or make it writable",
)
LOCKED = ("the file is locked by another process", "wait for it, or end it")
MEANINGS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "every committed tick is safe: free some space, then `commonplace resume {where}`",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed ({error})",
        "look at the disk, then see what is left: `commonplace verify {where}`",
    ),
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: UNWRITABLE,
    sqlite3.SQLITE_PERM: UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: ("the file cannot be opened", "look at its permissions and those of its folder"),
}
"""SQLite's primary error code → what it means, what to do."""


@contextmanager
def mended(where: str) -> Generator[None]:
    """Turns SQLite's errors into CommonplaceError, RunDamaged or WrongUse. Programming errors stay what they are."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise
    except sqlite3.Error as error:
        raise explained(error, where) from error


def explained(error: sqlite3.Error, where: str) -> CommonplaceError:
    """The error in words: what is wrong, where, what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_run(where)
    if code == sqlite3.SQLITE_CORRUPT or "decode to UTF-8" in str(error):
        return damaged(where, str(error))
    what, todo = MEANINGS.get(code, ("SQLite says: {error}", ""))
    return CommonplaceError(what.format(error=error), where=where, todo=todo.format(where=where))


def damaged(where: str, why: str) -> RunDamaged:
    """The error for bytes that are not what was written."""
    todo = f"go back to a copy, or read what is left: `commonplace events {where}`"
    return RunDamaged(f"the file is damaged ({why})", where=where, todo=todo)


def writer(path: Path, synchronous: str) -> sqlite3.Connection:
    """The one connection that writes. WAL; nothing is begun unasked."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA cache_size = -16384")
    except BaseException:
        connection.close()
        raise
    return connection


def reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. Works in a read-only folder, and on what a killed process left."""
    refuse_missing(path)
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    with mended(str(path)):
        try:
            return _probed(address)
        except sqlite3.OperationalError:
            if _pending(path):
                raise
        # Left in WAL mode with nothing pending, where no index can be made: nobody can be writing it.
        return _probed(address + "&immutable=1")


def refuse_missing(path: Path) -> None:
    """Raises WrongUse when there is no file at the path."""
    if path.is_dir():
        raise WrongUse("a folder, not a run", where=str(path), todo="give the run file in it")
    if not path.exists():
        raise WrongUse("no such run", where=str(path), todo="`commonplace run SCENARIO` makes one")


def _probed(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _pending(path: Path) -> bool:
    wal = path.with_name(path.name + "-wal")
    return wal.exists() and wal.stat().st_size > 0
