"""A SQLite file as a store: its tables, how it is opened, and SQLite's errors in words a person can use."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from commonplace.errors import CommonplaceError, UsageError

Synchronous = Literal["NORMAL", "FULL"]
"""What a write waits for. NORMAL survives the process being killed; FULL the machine losing power, too."""

FORMAT = 1
"""Number of the table layout. A newer file is refused."""
APPLICATION_ID = 0x436F6D4D
"""Marks a SQLite file as a store of memories (`ComM`)."""
_RUN = 0x436F6D50
BUSY_SECONDS = 5.0
"""How long a write waits for another process's."""

# key: number of the character · 2³² + id, so that one character's rows lie together; state: 0 there, 1 archived,
# 2 forgotten; width: bytes a dimension; times: microseconds since the year 1
_TABLES = (
    "CREATE TABLE agent(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL)",
    "CREATE TABLE memory(key INTEGER PRIMARY KEY, state INTEGER NOT NULL, tick INTEGER NOT NULL, kind TEXT NOT NULL,"
    " importance REAL NOT NULL, created INTEGER NOT NULL, accessed INTEGER NOT NULL, text TEXT NOT NULL,"
    " rest TEXT NOT NULL)",
    "CREATE TABLE vector(key INTEGER PRIMARY KEY, width INTEGER NOT NULL, value BLOB NOT NULL)",
    "CREATE TABLE archive(key INTEGER PRIMARY KEY, packed BLOB NOT NULL, width INTEGER NOT NULL, vector BLOB)",
)

_UNWRITABLE = ("it cannot be written", "make the file and its folder writable, or work on a copy")
_LOCKED = ("it is locked by another process", "wait for that one, or end it")
_MEANINGS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "nothing acknowledged is lost: free some space and open it again"),
    sqlite3.SQLITE_IOERR: ("the disk failed ({error})", "look at the disk; what was acknowledged may still be there"),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "look at the permissions of the file and its folder"),
    sqlite3.SQLITE_NOTADB: ("it is no store of memories", "give a file made by MemoryStream.open, or a new name"),
}


@contextmanager
def mended(where: str) -> Generator[None]:
    """Turns SQLite's errors into CommonplaceError. Programming errors stay what they are."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except sqlite3.ProgrammingError as error:
        if "closed" not in str(error):
            raise
        raise UsageError("the store is closed", where=where, hint="open it again") from error
    except sqlite3.Error as error:
        raise explained(error, where) from error


def explained(error: sqlite3.Error, where: str) -> CommonplaceError:
    """The error in words: what is wrong, where, what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_CORRUPT or "no such table" in str(error) or "decode to UTF-8" in str(error):
        return damaged(where, str(error))
    what, hint = _MEANINGS.get(code, ("SQLite says: {error}", "look at the file; `copy-memories` saves what is left"))
    return CommonplaceError(what.format(error=error), where=where, hint=hint)


def damaged(where: str, why: str) -> CommonplaceError:
    """The error for bytes that are not what was written."""
    return CommonplaceError(f"the store is damaged ({why})", where=where, hint="go back to a copy of it")


class Identity:
    """Which file a path stands for. SQLite would go on writing into one that was deleted, for nobody."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._inode = self._found()

    def refuse_gone(self) -> None:
        """Raises CommonplaceError where the file was deleted, or another stands in its place."""
        if self._found() != self._inode:
            hint = "nothing more is kept there: put it back or take a copy, and open that"
            raise CommonplaceError("the file is gone, or another in its place", where=str(self._path), hint=hint)

    def _found(self) -> int | None:
        try:
            return self._path.stat().st_ino
        except OSError:
            return None


def opened(path: Path, synchronous: Synchronous) -> tuple[sqlite3.Connection, tuple[str, ...]]:
    """(a connection that can write where the file can be written, what was repaired). Makes the file if need be."""
    if path.is_dir():
        raise UsageError("a folder, not a file", where=str(path), hint="give a file name, or jsonl:FOLDER")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommonplaceError(
            f"its folder cannot be made ({error.strerror})", where=str(path), hint="give another path"
        ) from error
    left = _left_behind(path)
    with mended(str(path)):
        connection = _connected(path)
    try:
        with mended(str(path)):
            _check(connection, str(path))
            alone = left and _alone(connection)
            _write_ahead(connection, synchronous)
    except BaseException:
        connection.close()
        raise
    hint = "a process that had not closed the store left its journal; what it had acknowledged was taken over"
    return connection, (hint,) if alone else ()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All of it or nothing, a failing COMMIT included."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has already rolled back after some errors
            connection.execute("ROLLBACK")
        raise


def closed(connection: sqlite3.Connection) -> None:
    """Leaves one file that can be copied, unless somebody else has it open."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _connected(path: Path) -> sqlite3.Connection:
    try:
        return _probed(str(path), uri=False)
    except sqlite3.OperationalError:
        if not path.exists() or _left_behind(path):
            raise
    # in WAL mode, nothing pending, in a folder where no index can be made: nobody can be writing it
    return _probed(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)


def _probed(address: str, *, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=uri, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, where: str) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if application == _RUN:
        hint = f"`commonplace copy-memories {where} NEW.db` takes its memories into a store"
        raise UsageError("this is a run, not a store of memories", where=where, hint=hint)
    if application == APPLICATION_ID and number > FORMAT:
        raise UsageError(
            f"a store of format {number}, made by a newer Commonplace; this one reads formats up to {FORMAT}",
            where=where,
            hint="upgrade: pip install --upgrade commonplace",
        )
    if application != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables:
            what, hint = _MEANINGS[sqlite3.SQLITE_NOTADB]
            raise UsageError(what, where=where, hint=hint)
        _create(connection)


def _create(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        if connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,):
            return  # another process was quicker
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _left_behind(path: Path) -> bool:
    """Whether there is a journal with something in it."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def _alone(connection: sqlite3.Connection) -> bool:
    """Whether no other process has the file open: only then can it leave WAL mode."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        return connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    except sqlite3.OperationalError:
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def _write_ahead(connection: sqlite3.Connection, synchronous: Synchronous) -> None:
    with suppress(sqlite3.OperationalError):  # a file that can only be read is read
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    connection.execute("PRAGMA secure_delete = ON")
