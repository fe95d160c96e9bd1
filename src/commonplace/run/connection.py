"""Connections to run files, and SQLite's errors in words a person can use.

Nothing in this process may open a run file by other means than SQLite: closing any descriptor of a file drops the
POSIX locks that SQLite holds on it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from commonplace.errors import CommonplaceError, RunDamaged, UsageError, command
from commonplace.memory.stores.lock import give_up, held, seize
from commonplace.run.codec import text_of
from commonplace.run.schema import not_a_run
from commonplace.run.tick_record import InputRow

__all__ = ["QUEUED", "InputRow", "queue", "queued", "stamped"]


# ── connection ───────────────────────────────────────────────────────────────────────────────────────────────────────


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
        "every committed tick is safe: free some space, then `{resume}`",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed ({error})",
        "look at the disk, then see what is left: `{verify}`",
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
    """Turns SQLite's errors into CommonplaceError, RunDamaged or UsageError. Programming errors stay what they are."""
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
    what, hint = MEANINGS.get(code, ("SQLite says: {error}", ""))
    hint = hint.format(resume=command("resume", where), verify=command("verify", where))
    return CommonplaceError(what.format(error=error), where=where, hint=hint)


def damaged(where: str, why: str) -> RunDamaged:
    """The error for bytes that are not what was written."""
    hint = f"go back to a copy, or read what is left: `{command('events', where)}`"
    return RunDamaged(f"the file is damaged ({why})", where=where, hint=hint)


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
    """Raises UsageError when there is no file at the path."""
    if path.is_dir():
        raise UsageError("a folder, not a run", where=str(path), hint="give the run file in it")
    if not path.exists():
        raise UsageError("no such run", where=str(path), hint="`commonplace run SCENARIO` makes one")


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


# ── lock ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# One process owns a run: an operating-system lock on `NAME.run.lock`, gone with the process however it ends.


class Lock:
    """Held from construction to `release`. Raises UsageError naming the holder when another process has it."""

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
            hint = "copy the run to a folder that can be written"
            raise CommonplaceError(what, where=str(run), hint=hint) from error
        if not seize(descriptor):
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            if holder == str(os.getpid()):
                raise UsageError("this process has it open", where=str(run), hint="close it first: run.close()")
            hint = f"follow it with `{command('watch', run)}`, or end process {holder}"
            raise UsageError(f"in use by process {holder}", where=str(run), hint=hint)
        if _still_there(descriptor, path):
            return descriptor
        give_up(descriptor)  # its holder unlinked it between our opening and locking it


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


# ── inputs ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Outside influences: queued as they arrive, stamped with a tick when it is committed, numbered in order.


QUEUED = -1
"""`InputRow.tick` of an input that no tick has been stamped on."""


def queue(connection: sqlite3.Connection, body: Mapping[str, Any]) -> int:
    """Keep an input; returns its number. Numbers grow and are never given twice."""
    cursor = connection.execute("INSERT INTO input(body) VALUES (?)", (text_of(dict(body)),))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def queued(connection: sqlite3.Connection) -> tuple[InputRow, ...]:
    """Those not stamped yet, in order."""
    rows = connection.execute("SELECT seq, body FROM input WHERE tick IS NULL ORDER BY seq").fetchall()
    return tuple(InputRow(seq, QUEUED, json.loads(body)) for seq, body in rows)


def stamped(connection: sqlite3.Connection, first: int, last: int) -> tuple[InputRow, ...]:
    """Those of the ticks first … last, in order."""
    rows = connection.execute(
        "SELECT seq, tick, body FROM input WHERE tick BETWEEN ? AND ? ORDER BY tick, seq", (first, last)
    ).fetchall()
    return tuple(InputRow(seq, tick, json.loads(body)) for seq, tick, body in rows)
