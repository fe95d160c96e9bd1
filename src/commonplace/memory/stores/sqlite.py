"""Memories in one SQLite file, of as many characters and from as many processes as you like."""

from __future__ import annotations

import gc
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.embedding import Vector, encoded, gathered
from commonplace.memory.segments import Segment, write_segment
from commonplace.memory.stores.codec import (
    COLUMNS,
    UNREADABLE,
    StoredRow,
    as_json,
    cells_of,
    inflated,
    kept_of,
    operations_in,
    room,
)
from commonplace.memory.stores.store import (
    FORGOTTEN,
    Access,
    Index,
    Kept,
    Log,
    Operation,
    Rows,
    checked_agent,
    fold,
    no_store,
    overtaken,
)
from commonplace.memory.threads import locked
from commonplace.paths import kind_of
from commonplace.sqlite import (
    BUSY_SECONDS,
    FileKind,
    Identity,
    Synchronous,
    application_id,
    beside,
    close,
    connect,
    has_journal,
    transaction,
    write_ahead,
)

STORE = FileKind(
    name="a store of memories",
    application_id=0x436F6D4D,  # `ComM`
    format=2,
    expected="give a file made by MemoryStream.open, or a new name; of a run: `copy-memories {where} NEW.db`",
    again="open it again",
    inspect="`commonplace copy-memories {where} NEW.db`",
)

# key: number of the character · 2³² + id, so that one character's rows lie together; state: 0 there, 1 archived,
# 2 forgotten; width: bytes a dimension; times: microseconds since the year 1; change: the memories that are no longer
# what was inserted, in the order of their last change (a sequence that is never used again); id 0 is the character
_CHANGE = "CREATE TABLE change(sequence INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL UNIQUE)"
_TABLES = (
    "CREATE TABLE agent(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL)",
    "CREATE TABLE memory(key INTEGER PRIMARY KEY, state INTEGER NOT NULL, tick INTEGER NOT NULL, kind TEXT NOT NULL,"
    " importance REAL NOT NULL, created INTEGER NOT NULL, accessed INTEGER NOT NULL, text TEXT NOT NULL,"
    " rest TEXT NOT NULL)",
    "CREATE TABLE vector(key INTEGER PRIMARY KEY, width INTEGER NOT NULL, value BLOB NOT NULL)",
    "CREATE TABLE archive(key INTEGER PRIMARY KEY, packed BLOB NOT NULL, width INTEGER NOT NULL, vector BLOB)",
    _CHANGE,
)
_MEMORY = f"SELECT key - ? AS {COLUMNS}, state FROM memory"
_ARCHIVE = "SELECT key - ?, packed, width, vector FROM archive"
_VECTOR = "SELECT key - ?, width, value FROM vector"
_ALL = "key BETWEEN ? AND ?"
_SEQUENCE = "coalesce((SELECT sequence FROM change WHERE key = number << 32), 0)"
_NOW = (
    f"SELECT number, {_SEQUENCE}, coalesce((SELECT max(key) FROM memory"
    " WHERE key BETWEEN number << 32 AND number << 32 | 4294967295), number << 32) - (number << 32), settings"
    " FROM agent WHERE name = ?"
)
_NEWS = f"({_ALL} OR key IN (SELECT key FROM change WHERE sequence > ? AND {_ALL}))"

# files: names of segments, a JSON list; the table is made when the first index is kept
_INDEX = (
    "CREATE TABLE IF NOT EXISTS kept_index(number INTEGER PRIMARY KEY, made_with TEXT NOT NULL,"
    " sequence INTEGER NOT NULL, last_id INTEGER NOT NULL, files TEXT NOT NULL)"
)
_HAS_INDEX = "SELECT count(*) FROM sqlite_schema WHERE name = 'kept_index'"
_KEPT = "SELECT made_with, sequence, last_id, files FROM kept_index WHERE number = ?"
_FILE = re.compile("[0-9a-f]{16}")

_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
_DELETED = "\0"
"""How the names of deleted characters begin, which no name can."""


class _Mark(NamedTuple):
    number: int
    """Of the character; 0 for an unknown one."""
    sequence: int
    """Of its latest change other than an addition: the one noted under id 0, which no memory has. −1 where it is not
    known."""
    last_id: int


class SQLiteStore:
    """A store in one file, in WAL mode while it is open.

    Several processes may use it at once. Each write is a transaction that waits for the others'.
    """

    def __init__(self, path: str | Path, *, synchronous: Synchronous = "NORMAL", access: Access = "create") -> None:
        """Raises UsageError for a file of another kind or a newer format, and for a missing one unless it is made."""
        self.guard = RLock()
        self.where = str(path)
        self._connection, self.repairs = _opened(Path(path), synchronous, access)
        self._file = Identity(Path(path))
        self._indexes = beside(Path(path), "-index")
        """A folder for each character. A stream does without one that is missing or cannot be written."""
        self._reads = access == "read"
        self._leftover = False
        """Whether the journal and the pages behind it may still have what was forgotten."""
        try:
            with STORE.errors(self.where):
                old = STORE.format_of(self._connection, self.where) < STORE.format  # and cannot be written
        except BaseException:
            self._connection.close()
            raise
        self._now_query = _NOW.replace(_SEQUENCE, "-1") if old else _NOW

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        with STORE.errors(self.where):
            names = [name for (name,) in self._connection.execute("SELECT name FROM agent")]
        return tuple(sorted(name for name in names if not name.startswith(_DELETED)))

    @locked
    def read(self, agent: str, since: _Mark | None = None) -> Log:
        """Returns what has changed in a character since a mark."""
        with STORE.errors(self.where), _uncollected():
            self._connection.execute("BEGIN")  # all tables as of one moment
            try:
                mark, settings = self._now(agent)
                base, last = mark.number << _SHIFT, mark.number << _SHIFT | _LAST
                where, span, known = _ALL, (base, last), 0
                whole = since is None or since.number != mark.number or mark.sequence < 0
                if not whole and since is not None:
                    known = since.last_id
                    where, span = _NEWS, (base | known + 1, last, since.sequence, base, last)
                rows, vectors = self._rows(base, where, span)
                return Log(operations_in(agent, rows, vectors, json.loads(settings), known), mark, whole)
            except UNREADABLE as error:
                raise STORE.damaged(self.where, f"{agent}: {error}") from error
            finally:
                self._connection.execute("ROLLBACK")

    @locked
    def write(self, agent: str, operations: Sequence[Operation], mark: _Mark) -> _Mark:
        """Makes the operations, unless anybody has written since the mark."""
        dropped: list[Path] = []
        with self._transaction():
            now, _ = self._now(agent)
            if now != mark:
                raise overtaken(agent, self.where)
            target = Rows(agent, mark.last_id, partial(self._rows_of, agent, mark.number))
            fold(operations, target)
            if not target.changes:
                return mark
            execute, number = self._connection.execute, mark.number
            if not number:
                query = "INSERT INTO agent(name, settings) VALUES (?, '{}') RETURNING number"
                (number,) = execute(query, (checked_agent(agent),)).fetchone()
            self._put(number, target.rows, mark.last_id)
            if target.settings is not None:
                query = "UPDATE agent SET settings = ? WHERE number = ?"
                execute(query, (as_json(dict(target.settings)), number))
            if any(kept.state == FORGOTTEN for kept in target.rows.values()):
                dropped = self._drop_index(number)  # it has their texts
            sequence = mark.sequence
            if target.settings is not None or any(id <= mark.last_id for id in target.rows):
                sequence = execute("INSERT OR REPLACE INTO change(key) VALUES (?)", (number << _SHIFT,)).lastrowid or 0
            after = _Mark(number, sequence, target.last_id)
        self._leftover |= any(kept.state == FORGOTTEN for kept in target.rows.values())
        self._wipe(dropped)
        return after

    @locked
    def delete(self, agent: str) -> int:
        """Deletes everything of a character. SQLite overwrites what it held with zeros."""
        with self._transaction():
            (number, *_), _ = self._now(agent)
            if not number:
                return 0
            span = number << _SHIFT, number << _SHIFT | _LAST
            query = f"SELECT count(*) FROM memory WHERE {_ALL} AND state != {FORGOTTEN}"
            (count,) = self._connection.execute(query, span).fetchone()
            for table in ("memory", "vector", "archive", "change"):
                self._connection.execute(f"DELETE FROM {table} WHERE {_ALL}", span)
            # the number stays used, or another process that knows it would write to whoever gets it next
            query = "UPDATE agent SET name = ?, settings = '{}' WHERE number = ?"
            self._connection.execute(query, (f"{_DELETED}{number}", number))
            dropped = self._drop_index(number)
        self._leftover = True
        self._wipe(dropped)
        return count

    @locked
    def index(self, agent: str) -> Index | None:
        """Returns the index that is kept beside the file; None if there is none."""
        with STORE.errors(self.where):
            mark, settings = self._now(agent)
            kept = self._kept(mark.number)
        if kept is None:
            return None
        made_with, sequence, last_id, names = kept
        folder = self._indexes / str(mark.number)
        try:
            files = tuple(folder / name for name in json.loads(names) if _FILE.fullmatch(name))
            return Index(made_with, files, _Mark(mark.number, sequence, last_id), last_id, json.loads(settings))
        except UNREADABLE:  # it is made anew, or says what is damaged, when the rows are read
            return None

    def keep(self, agent: str, mark: _Mark, made_with: str, before: Sequence[Path], segment: Segment) -> Path | None:
        """Keeps an index beside the file. The transaction that names its files decides that it is there."""
        if self._reads:
            return None
        folder = self._indexes / str(mark.number)
        place, is_kept = folder / os.urandom(8).hex(), False
        files, known = [*before, place], json.dumps([path.name for path in before])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_segment(place, segment)
            with self.guard, self._transaction():
                kept = self._kept(mark.number)
                is_kept = self._now(agent)[0] == mark and (not before or (kept is not None and kept[3] == known))
                if is_kept:
                    names = json.dumps([path.name for path in files])
                    self._connection.execute(_INDEX)
                    query = "INSERT OR REPLACE INTO kept_index VALUES (?, ?, ?, ?, ?)"
                    self._connection.execute(query, (mark.number, made_with, mark.sequence, mark.last_id, names))
        except (OSError, CommonplaceError):
            is_kept = False
        if not is_kept:
            _remove([place])
            return None
        _remove({*folder.glob("*")}.difference(files))  # somebody else's of this moment, too: a missing one is no error
        return place

    def _wipe(self, files: Iterable[Path]) -> None:
        """Deletes files, and empties the journal if it, or the file that it is to overwrite, has what was forgotten.

        While somebody reads, that cannot be done: then it is with the next write or at the end.
        """
        _remove(files)
        if self._leftover:
            execute = self._connection.execute
            with suppress(sqlite3.OperationalError), _impatient(self._connection):
                (busy, *_) = execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._leftover = bool(busy)

    def _kept(self, number: int) -> tuple[str, int, int, str] | None:
        """(what it was made with, sequence, last id, names of files) of a character's index."""
        execute = self._connection.execute
        return execute(_KEPT, (number,)).fetchone() if execute(_HAS_INDEX).fetchone()[0] else None

    def _drop_index(self, number: int) -> list[Path]:
        """Forgets that there is an index; returns all files of the character, of processes that were killed, too.

        Nobody else can be keeping one: the mark is not the latest any more.
        """
        if self._connection.execute(_HAS_INDEX).fetchone()[0]:
            self._connection.execute("DELETE FROM kept_index WHERE number = ?", (number,))
        return [*(self._indexes / str(number)).glob("*")]

    @locked
    def close(self) -> None:
        """Leaves a single file that can be copied, unless another process has it open. May be called twice."""
        close(self._connection)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        if not self._file.is_unchanged():
            hint = "nothing more can be stored there: restore the file or a copy, and open it again"
            raise CommonplaceError("the file was deleted or replaced", where=str(self._file.path), hint=hint)
        with STORE.errors(self.where), transaction(self._connection):
            yield

    def _now(self, agent: str) -> tuple[_Mark, str]:
        """(the latest mark of a character, settings)."""
        found = self._connection.execute(self._now_query, (agent,)).fetchone()
        return (_Mark(*found[:3]), found[3]) if found else (_Mark(0, 0, 0), "{}")

    def _rows_of(self, agent: str, number: int, ids: Sequence[int]) -> list[Kept]:
        base = number << _SHIFT
        keys = json.dumps([base | id for id in ids])
        try:
            return kept_of(agent, *self._rows(base, "key IN (SELECT value FROM json_each(?))", (keys,)))
        except UNREADABLE as error:
            raise STORE.damaged(self.where, f"{agent}: {error}") from error

    def _rows(self, base: int, where: str, values: tuple[Any, ...]) -> tuple[list[StoredRow], Sequence[Vector | None]]:
        """Reads memories, ordered by id, and the vector of each."""
        memory, archive, vector = (
            self._connection.execute(f"{query} WHERE {where} ORDER BY key", (base, *values)).fetchall()
            for query in (_MEMORY, _ARCHIVE, _VECTOR)
        )
        packed = {id: data for id, data, _, _ in archive}
        rows = [(row[:8], row[8], packed.get(row[0])) for row in memory]
        place = {row[0]: at for at, (row, _, _) in enumerate(rows)} if vector or archive else {}
        found = [(place[id], width, value) for id, width, value in vector]
        found += [(place[id], width, inflated(data, most=room(data))) for id, _, width, data in archive if data]
        return rows, gathered(len(rows), found)

    def _put(self, number: int, rows: Mapping[int, Kept], last_id: int) -> None:
        """Writes rows; `last_id`: of those that were there."""
        base, many = number << _SHIFT, self._connection.executemany
        changed = [(base | id,) for id in rows if id <= last_id]
        if changed:
            for table in ("vector", "archive"):
                many(f"DELETE FROM {table} WHERE key = ?", changed)
            many("INSERT OR REPLACE INTO change(key) VALUES (?)", changed)
        memories, vectors, archived = list[tuple[Any, ...]](), list[tuple[Any, ...]](), list[tuple[Any, ...]]()
        for id, kept in rows.items():
            row, packed = cells_of(kept)
            width, data = encoded(kept.vector)
            memories.append((base | id, kept.state, *row[1:]))
            if packed is not None:
                archived.append((base | id, packed, width, data and zlib.compress(data)))
            elif data is not None:
                vectors.append((base | id, width, data))
        many("INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", memories)
        many("INSERT INTO vector VALUES (?, ?, ?)", vectors)
        many("INSERT INTO archive VALUES (?, ?, ?, ?)", archived)


def _opened(path: Path, synchronous: Synchronous, access: Access) -> tuple[sqlite3.Connection, tuple[str, ...]]:
    """(a connection that can write where it should and the file can be written, what was repaired)."""
    where = str(path)
    kind = kind_of(path)
    if kind == "folder":
        raise UsageError("a folder, not a file", where=where, hint="give a file name, or jsonl:FOLDER")
    if kind == "nothing" and access != "create":
        raise no_store(where)
    if access == "read":
        with STORE.errors(where):
            return connect(path, read_only=True), ()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"its folder cannot be made ({error.strerror})"
        raise CommonplaceError(what, where=where, hint="give another path") from error
    left = has_journal(path)
    with STORE.errors(where):
        connection = connect(path)
        try:
            if access == "create":
                _make_tables(connection)
            _bring_up_to_date(connection, STORE.format_of(connection, where))
            alone = left and _alone(connection)
            with suppress(sqlite3.OperationalError):  # a file that cannot be written can be read
                write_ahead(connection, synchronous)
            connection.execute("PRAGMA wal_autocheckpoint = 4000")
            connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
    repair = "a process that had not closed the store left its journal; everything it had acknowledged was recovered"
    return connection, (repair,) if alone else ()


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make an empty file a store. Another process may do so at the same time."""
    if _is_empty(connection):
        with transaction(connection):
            if _is_empty(connection):
                for statement in _TABLES:
                    connection.execute(statement)
                STORE.mark(connection)


def _bring_up_to_date(connection: sqlite3.Connection, number: int) -> None:
    """Give a file of an older format what it lacks. One that cannot be written stays as it is, and can be read."""
    if number < STORE.format:
        with suppress(sqlite3.OperationalError), transaction(connection):
            connection.execute(_CHANGE.replace("TABLE", "TABLE IF NOT EXISTS"))
            STORE.mark(connection)


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return not tables and not application_id(connection)


def _alone(connection: sqlite3.Connection) -> bool:
    """Tells whether no other process has the file open: only then can it leave WAL mode."""
    with suppress(sqlite3.OperationalError), _impatient(connection):
        return connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    return False


@contextmanager
def _impatient(connection: sqlite3.Connection) -> Generator[None]:
    """Waits for nobody else who has the file open."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


@contextmanager
def _uncollected() -> Generator[None]:
    """Without the cyclic collector, which would walk all that is loaded again and again and find nothing."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
