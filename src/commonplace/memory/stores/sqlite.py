"""Memories in one SQLite file, of as many characters and from as many processes as you like."""

from __future__ import annotations

import gc
import json
import sqlite3
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector, encoded, gathered
from commonplace.memory.record import Memory
from commonplace.memory.stores.codec import (
    ARCHIVED,
    COLUMNS,
    FORGOTTEN,
    THERE,
    UNREADABLE,
    as_json,
    inflated,
    packed_text,
    refuse_changed,
    room,
    row_of,
    stored_memory,
    stored_of,
    unpacked_text,
)
from commonplace.memory.stores.store import (
    Access,
    Changes,
    Stored,
    checked_agent,
    no_store,
    overtaken,
    refuse_missing,
    refuse_other_ids,
)
from commonplace.memory.threads import locked
from commonplace.paths import kind_of
from commonplace.sqlite import (
    BUSY_SECONDS,
    FileKind,
    Identity,
    Synchronous,
    application_id,
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
# what was inserted, in the order of their last change (a sequence that is never used again)
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
_SETTINGS = "SELECT number, settings FROM agent WHERE name = ?"
_MEMORY = f"SELECT key - ? AS {COLUMNS}, state FROM memory"
_ARCHIVE = "SELECT key - ?, packed, width, vector FROM archive"
_VECTOR = "SELECT key - ?, width, value FROM vector"
_NEWS = "(key BETWEEN ? AND ? OR key IN (SELECT key FROM change WHERE sequence > ? AND key BETWEEN ? AND ?))"

_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
_INSERT = "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_ONE = (
    "INSERT INTO memory SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?"
    " WHERE EXISTS (SELECT 1 FROM agent WHERE number = ? AND name = ?)"
)
_DELETED = "\0"
"""How the names of deleted characters begin, which no name can."""


class SQLiteStore:
    """A store in one file, in WAL mode while it is open.

    Several processes may use it at once. Each write is a transaction that waits for the others'; a process that adds
    to a character behind the back of another makes the other's next `append` raise `Overtaken`, until it has loaded
    what there is; so nothing is overwritten.
    """

    def __init__(self, path: str | Path, *, synchronous: Synchronous = "NORMAL", access: Access = "create") -> None:
        """Raises UsageError for a file of another kind or a newer format, and for a missing one unless it is made."""
        self.guard = RLock()
        self.where = str(path)
        self._connection, self.repairs = _opened(Path(path), synchronous, access)
        self._file = Identity(Path(path))
        self._known: dict[str, tuple[int, int]] = {}  # character → (number, last id)

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        with STORE.errors(self.where):
            names = [name for (name,) in self._connection.execute("SELECT name FROM agent")]
        return tuple(sorted(name for name in names if not name.startswith(_DELETED)))

    @locked
    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for an unknown one."""
        with STORE.errors(self.where), _uncollected():
            self._connection.execute("BEGIN")  # all tables as of one moment
            try:
                found = self._connection.execute(_SETTINGS, (agent,)).fetchone()
                if found is None:
                    return Stored()
                number, settings = found
                stored = replace(self._stored(agent, number, json.loads(settings)), mark=(number, self._sequence()))
                self._known[agent] = number, len(stored.memories)
                return stored
            except UNREADABLE as error:
                raise STORE.damaged(self.where, f"{agent}: {error}") from error
            finally:
                self._connection.execute("ROLLBACK")

    @locked
    def changes(self, agent: str, mark: tuple[int, int], known: int) -> Changes | None:
        """What has changed of a character since a mark; None if it was deleted since, or this cannot be told."""
        number, sequence = mark
        base, last = number << _SHIFT, number << _SHIFT | _LAST
        with STORE.errors(self.where):
            self._connection.execute("BEGIN")
            try:
                found = self._connection.execute(_SETTINGS, (agent,)).fetchone()
                if found is None or found[0] != number or sequence < 0:
                    return None
                (latest,) = self._connection.execute(
                    "SELECT max(key) FROM memory WHERE key BETWEEN ? AND ?", (base, last)
                ).fetchone()
                span = (base, base | known + 1, last, sequence, base, last)
                rows, values = self._rows(_NEWS, span)
                now = max(sequence, self._sequence())
            finally:
                self._connection.execute("ROLLBACK")
            last_id = (latest or base) - base
            self._known[agent] = number, last_id
            places = {row[0][0]: place for place, row in enumerate(rows)}
            try:
                return Changes(
                    last_id,
                    [stored_memory(agent, *row) for row in rows],
                    gathered(len(rows), [(places[id], width, value) for id, width, value in values]),
                    frozenset(row[0] for row, state, _ in rows if state == FORGOTTEN),
                    frozenset(row[0] for row, state, _ in rows if state == ARCHIVED),
                    json.loads(found[1]),
                    (number, now),
                )
            except UNREADABLE as error:
                raise STORE.damaged(self.where, f"{agent}: {error}") from error

    @locked
    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        number, _ = self._agent(agent)
        with STORE.errors(self.where):
            query = "UPDATE agent SET settings = ? WHERE number = ? AND name = ?"
            self._connection.execute(query, (as_json(dict(settings)), number, agent))

    @locked
    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids. Raises UsageError for other ids, and where another process was quicker."""
        number, last = self._agent(agent)
        refuse_other_ids(agent, memories, last, self.where)
        base = number << _SHIFT
        rows = [(base | row.id, THERE, *row[1:]) for row in map(row_of, memories)]
        values = self._vector_rows(base, memories, vectors)
        self._refuse_gone()
        try:
            with STORE.errors(self.where):
                here = self._insert(number, agent, rows, values)
        except sqlite3.IntegrityError as error:
            self._known.pop(agent, None)
            raise overtaken(agent, self.where) from error
        if not here:
            self._known.pop(agent, None)
            raise overtaken(agent, self.where)
        self._known[agent] = number, last + len(memories)

    @locked
    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Set access times: memory id → moment."""
        with self._transaction():
            base = self._base(agent)
            there = f"key = ? AND state != {FORGOTTEN}"
            rows = [(micros(at), base | id) for id, at in accesses.items()]
            self._connection.executemany(f"UPDATE memory SET accessed = ? WHERE {there}", rows)
            query = f"INSERT OR REPLACE INTO change(key) SELECT key FROM memory WHERE {there}"
            self._connection.executemany(query, [row[1:] for row in rows])

    @locked
    def update(
        self,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] | None = None,
        *,
        before: Sequence[Memory] = (),
    ) -> None:
        """Replace what may change of memories that are here; vectors where given."""
        ids = [memory.id for memory in memories]
        with self._transaction():
            base = self._base(agent)
            archived_ids = [id for id, state in self._states(agent, base, ids).items() if state == ARCHIVED]
            self._unarchive(base, archived_ids)
            query = f"{_MEMORY} WHERE key = ?"
            there = [self._connection.execute(query, (base, base | memory.id)).fetchone()[:8] for memory in before]
            refuse_changed(agent, there, before, self.where)
            self._connection.executemany(
                "UPDATE memory SET tick = ?, kind = ?, importance = ?, created = ?, text = ?, rest = ? WHERE key = ?",
                [(*row[1:5], *row[6:], base | row.id) for row in map(row_of, memories)],
            )
            if vectors is not None:
                self._clear("vector", base, ids)
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", self._vector_rows(base, memories, vectors)
                )
            self._archive(base, archived_ids)
            self._changed(base | id for id in ids)

    @locked
    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. SQLite overwrites what they held with zeros."""
        with self._transaction():
            base = self._base(agent)
            self._states(agent, base, ids)
            self._clear("vector", base, ids)
            self._clear("archive", base, ids)
            self._connection.executemany(
                f"UPDATE memory SET state = {FORGOTTEN}, tick = 0, importance = 1, created = 0, accessed = 0,"
                " text = '', rest = '' WHERE key = ?",
                [(base | id,) for id in ids],
            )
            self._changed(base | id for id in ids)

    @locked
    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Compress and set aside."""
        with self._transaction():
            base = self._base(agent)
            states = self._states(agent, base, ids)
            self._archive(base, [id for id, state in states.items() if state == THERE])
            self._changed(base | id for id in states)

    @locked
    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Restore from the archive."""
        with self._transaction():
            base = self._base(agent)
            states = self._states(agent, base, ids)
            self._unarchive(base, [id for id, state in states.items() if state == ARCHIVED])
            self._changed(base | id for id in states)

    @locked
    def delete(self, agent: str) -> int:
        """Delete everything of a character. SQLite overwrites what it held with zeros."""
        with self._transaction():
            found = self._connection.execute("SELECT number FROM agent WHERE name = ?", (agent,)).fetchone()
            if found is None:
                return 0
            span = found[0] << _SHIFT, found[0] << _SHIFT | _LAST
            query = f"SELECT count(*) FROM memory WHERE key BETWEEN ? AND ? AND state != {FORGOTTEN}"
            (count,) = self._connection.execute(query, span).fetchone()
            for table in ("memory", "vector", "archive", "change"):
                self._connection.execute(f"DELETE FROM {table} WHERE key BETWEEN ? AND ?", span)
            # the number stays used, or another process that knows it would write to whoever gets it next
            self._connection.execute(
                "UPDATE agent SET name = ?, settings = '{}' WHERE number = ?", (f"{_DELETED}{found[0]}", found[0])
            )
        self._known.pop(agent, None)
        return count

    @locked
    def close(self) -> None:
        """Leaves a single file that can be copied, unless another process has it open. May be called twice."""
        close(self._connection)

    def _refuse_gone(self) -> None:
        if not self._file.is_unchanged():
            hint = "nothing more can be stored there: restore the file or a copy, and open it again"
            raise CommonplaceError("the file was deleted or replaced", where=str(self._file.path), hint=hint)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._refuse_gone()
        with STORE.errors(self.where), transaction(self._connection):
            yield

    def _agent(self, agent: str) -> tuple[int, int]:
        """(number, last id) of a character, added if unknown."""
        known = self._known.get(agent)
        if known is not None:
            return known
        checked_agent(agent)
        with self._transaction():
            execute = self._connection.execute
            execute("INSERT OR IGNORE INTO agent(name, settings) VALUES (?, '{}')", (agent,))
            found = execute(_SETTINGS, (agent,)).fetchone()
            base = found[0] << _SHIFT
            (last,) = execute("SELECT max(key) FROM memory WHERE key BETWEEN ? AND ?", (base, base | _LAST)).fetchone()
        known = self._known[agent] = found[0], (last or base) - base
        return known

    def _base(self, agent: str) -> int:
        """The key before a character's first memory; that of nobody for an unknown one."""
        found = self._known.get(agent) or self._connection.execute(_SETTINGS, (agent,)).fetchone() or (0,)
        return found[0] << _SHIFT

    def _insert(
        self, number: int, agent: str, rows: Sequence[tuple[Any, ...]], values: Sequence[tuple[int, int, bytes]]
    ) -> bool:
        """Whether the character is still the one of that number; if not, nothing was inserted."""
        if len(rows) == 1 and not values:  # a transaction by itself
            return self._connection.execute(_INSERT_ONE, (*rows[0], number, agent)).rowcount > 0
        with transaction(self._connection):
            query = "SELECT 1 FROM agent WHERE number = ? AND name = ?"
            if self._connection.execute(query, (number, agent)).fetchone() is None:
                return False
            self._connection.executemany(_INSERT, rows)
            self._connection.executemany("INSERT INTO vector VALUES (?, ?, ?)", values)
        return True

    def _vector_rows(
        self, base: int, memories: Sequence[Memory], vectors: Sequence[Vector | None]
    ) -> list[tuple[int, int, bytes]]:
        found = ((memory.id, *encoded(vector)) for memory, vector in zip(memories, vectors, strict=True))
        return [(base | id, width, data) for id, width, data in found if data is not None]

    def _stored(self, agent: str, number: int, settings: Mapping[str, Any]) -> Stored:
        base = number << _SHIFT
        rows, values = self._rows("key BETWEEN ? AND ?", (base, base, base | _LAST))
        return stored_of(
            agent, rows, gathered(len(rows), [(id - 1, width, value) for id, width, value in values]), settings
        )

    def _rows(
        self, where: str, values: tuple[int, ...]
    ) -> tuple[list[tuple[tuple[Any, ...], int, bytes | None]], list[tuple[int, int, bytes]]]:
        """(the arguments of `stored_memory` by id, (id, bytes a dimension, vector) of those that have one)."""
        memory, archive, vector = (
            self._connection.execute(f"{query} WHERE {where} ORDER BY key", values).fetchall()
            for query in (_MEMORY, _ARCHIVE, _VECTOR)
        )
        packed = {id: data for id, data, _, _ in archive}
        found = [(id, width, inflated(value, most=room(value))) for id, _, width, value in archive if value is not None]
        return [(row[:8], row[8], packed.get(row[0])) for row in memory], vector + found

    def _sequence(self) -> int:
        """The number of the latest change; −1 in a file of an older format that cannot be written."""
        try:
            return self._connection.execute("SELECT max(sequence) FROM change").fetchone()[0] or 0
        except sqlite3.OperationalError:
            return -1

    def _changed(self, keys: Iterable[int]) -> None:
        """Notes changes of memories that are here."""
        self._connection.executemany("INSERT OR REPLACE INTO change(key) VALUES (?)", [(key,) for key in keys])

    def _states(self, agent: str, base: int, ids: Sequence[int]) -> dict[int, int]:
        """Id → state of memories that are here. Raises UsageError if one is not."""
        query = f"SELECT state FROM memory WHERE key = ? AND state != {FORGOTTEN}"
        found = {id: self._connection.execute(query, (base | id,)).fetchone() for id in sorted(set(ids))}
        there = {id: row[0] for id, row in found.items() if row is not None}
        refuse_missing(agent, ids, len(there), self.where)
        return there

    def _archive(self, base: int, ids: Iterable[int]) -> None:
        for key in [base | id for id in ids]:
            text, rest = self._connection.execute("SELECT text, rest FROM memory WHERE key = ?", (key,)).fetchone()
            vector = self._connection.execute("SELECT width, value FROM vector WHERE key = ?", (key,)).fetchone()
            width, value = (0, None) if vector is None else (vector[0], zlib.compress(vector[1]))
            self._connection.execute(
                "INSERT INTO archive VALUES (?, ?, ?, ?)", (key, packed_text(text, rest), width, value)
            )
            self._connection.execute(
                f"UPDATE memory SET state = {ARCHIVED}, text = '', rest = '' WHERE key = ?", (key,)
            )
            self._connection.execute("DELETE FROM vector WHERE key = ?", (key,))

    def _unarchive(self, base: int, ids: Iterable[int]) -> None:
        for key in [base | id for id in ids]:
            query = "SELECT packed, width, vector FROM archive WHERE key = ?"
            packed, width, value = self._connection.execute(query, (key,)).fetchone()
            self._connection.execute(
                f"UPDATE memory SET state = {THERE}, text = ?, rest = ? WHERE key = ?", (*unpacked_text(packed), key)
            )
            if value is not None:
                row = (key, width, inflated(value, most=room(value)))
                self._connection.execute("INSERT INTO vector VALUES (?, ?, ?)", row)
            self._connection.execute("DELETE FROM archive WHERE key = ?", (key,))

    def _clear(self, table: str, base: int, ids: Iterable[int]) -> None:
        self._connection.executemany(f"DELETE FROM {table} WHERE key = ?", [(base | id,) for id in ids])


def _opened(path: Path, synchronous: Synchronous, access: Access) -> tuple[sqlite3.Connection, tuple[str, ...]]:
    """(a connection that can write where it should and the file can be written, what was repaired)."""
    where = str(path)
    kind = kind_of(path)
    if kind == "folder":
        raise UsageError("a folder, not a file", where=where, hint="give a file name, or jsonl:FOLDER")
    if kind == "nothing" and access != "create":
        raise no_store(where)
    if access == "read":
        return _opened_to_read(path), ()
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


def _opened_to_read(path: Path) -> sqlite3.Connection:
    with STORE.errors(str(path)):
        connection = connect(path, read_only=True)
        try:
            STORE.format_of(connection, str(path))
        except BaseException:
            connection.close()
            raise
    return connection


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
    """Whether no other process has the file open: only then can it leave WAL mode."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        return connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    except sqlite3.OperationalError:
        return False
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
