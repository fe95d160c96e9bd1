"""Memories in one SQLite file, of as many characters and from as many processes as you like."""

from __future__ import annotations

import gc
import json
import sqlite3
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from commonplace.errors import CommonplaceError
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector, encoded, gathered
from commonplace.memory.record import Memory
from commonplace.memory.stores import sqlite_file
from commonplace.memory.stores.codec import as_json, cells_of, memory_of, packed_text, unpacked_text
from commonplace.memory.stores.sqlite_file import Synchronous, damaged, mended
from commonplace.memory.stores.store import Stored, checked_agent, refuse_missing, refuse_other_ids, tombstone

THERE, ARCHIVED, FORGOTTEN = range(3)
_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
_INSERT = "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class SQLiteStore:
    """A store in one file, in WAL mode while it is open.

    Several processes may use it at once. Each write is a transaction that waits for the others'; a process that adds
    to a character behind the back of another makes the other's next `append` fail, so nothing is overwritten.
    """

    def __init__(self, path: str | Path, *, synchronous: Synchronous = "NORMAL") -> None:
        """Opens or makes the file. Raises UsageError for a file of another kind or a newer format."""
        self.where = str(path)
        self._connection, self.repairs = sqlite_file.opened(Path(path), synchronous)
        self._file = sqlite_file.Identity(Path(path))
        self._known: dict[str, tuple[int, int]] = {}  # character → (number, last id)

    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        with mended(self.where):
            return tuple(sorted(name for (name,) in self._connection.execute("SELECT name FROM agent")))

    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for one unknown."""
        with mended(self.where), _uncollected():
            found = self._connection.execute("SELECT number, settings FROM agent WHERE name = ?", (agent,)).fetchone()
            if found is None:
                return Stored()
            number, settings = found
            self._connection.execute("BEGIN")  # both tables as of one moment
            try:
                return self._stored(agent, number, json.loads(settings))
            except (ValueError, TypeError, zlib.error) as error:
                raise damaged(self.where, f"{agent}: {error}") from error
            finally:
                self._connection.execute("ROLLBACK")

    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        number, _ = self._agent(agent)
        with mended(self.where):
            self._connection.execute(
                "UPDATE agent SET settings = ? WHERE number = ?", (as_json(dict(settings)), number)
            )

    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids. Raises UsageError for other ids, and where another process was quicker."""
        number, last = self._agent(agent)
        refuse_other_ids(agent, memories, last, self.where)
        base = number << _SHIFT
        rows = [(base | cells.id, THERE, *cells[1:]) for cells in map(cells_of, memories)]
        values = self._vector_rows(base, memories, vectors)
        self._file.refuse_gone()
        try:
            with mended(self.where):
                self._insert(rows, values)
        except sqlite3.IntegrityError as error:
            self._known.pop(agent, None)
            what = f"another process has added memories to {agent}"
            hint = "one stream at a time adds to a character: open it again"
            raise CommonplaceError(what, where=self.where, hint=hint) from error
        self._known[agent] = number, last + len(memories)

    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Id → when it was last accessed."""
        base = self._agent(agent)[0] << _SHIFT
        rows = [(micros(at), base | id) for id, at in accesses.items()]
        with self._transaction():
            changed = self._connection.executemany(
                f"UPDATE memory SET accessed = ? WHERE key = ? AND state != {FORGOTTEN}", rows
            )
            refuse_missing(agent, tuple(accesses), changed.rowcount if rows else 0, self.where)

    def update(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None = None) -> None:
        """Replace what may change of memories that are here; vectors where given."""
        ids = [memory.id for memory in memories]
        base = self._agent(agent)[0] << _SHIFT
        with self._transaction():
            archived_ids = [id for id, state in self._states(agent, base, ids).items() if state == ARCHIVED]
            self._unarchive(base, archived_ids)
            self._connection.executemany(
                "UPDATE memory SET tick = ?, kind = ?, importance = ?, created = ?, accessed = ?, text = ?, rest = ?"
                " WHERE key = ?",
                [(*cells[1:], base | cells.id) for cells in map(cells_of, memories)],
            )
            if vectors is not None:
                self._clear("vector", base, ids)
                self._connection.executemany(
                    "INSERT INTO vector VALUES (?, ?, ?)", self._vector_rows(base, memories, vectors)
                )
            self._archive(base, archived_ids)

    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. SQLite overwrites what they held with zeros."""
        base = self._agent(agent)[0] << _SHIFT
        with self._transaction():
            self._states(agent, base, ids)
            self._clear("vector", base, ids)
            self._clear("archive", base, ids)
            self._connection.executemany(
                f"UPDATE memory SET state = {FORGOTTEN}, tick = 0, importance = 1, created = 0, accessed = 0,"
                " text = '', rest = '' WHERE key = ?",
                [(base | id,) for id in ids],
            )

    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Put away, compressed."""
        base = self._agent(agent)[0] << _SHIFT
        with self._transaction():
            states = self._states(agent, base, ids)
            self._archive(base, [id for id, state in states.items() if state == THERE])

    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Bring back from the archive."""
        base = self._agent(agent)[0] << _SHIFT
        with self._transaction():
            states = self._states(agent, base, ids)
            self._unarchive(base, [id for id, state in states.items() if state == ARCHIVED])

    def close(self) -> None:
        """Leaves a single file that can be copied, unless another process has it open. May be called twice."""
        sqlite_file.closed(self._connection)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._file.refuse_gone()
        with mended(self.where), sqlite_file.transaction(self._connection):
            yield

    def _agent(self, agent: str) -> tuple[int, int]:
        """(number, last id) of a character, who is entered if unknown."""
        known = self._known.get(agent)
        if known is not None:
            return known
        checked_agent(agent)
        with mended(self.where):
            execute = self._connection.execute
            found = execute("SELECT number FROM agent WHERE name = ?", (agent,)).fetchone()
            if found is None:
                execute("INSERT OR IGNORE INTO agent(name, settings) VALUES (?, '{}')", (agent,))
                found = execute("SELECT number FROM agent WHERE name = ?", (agent,)).fetchone()
            base = found[0] << _SHIFT
            (last,) = execute("SELECT max(key) FROM memory WHERE key BETWEEN ? AND ?", (base, base | _LAST)).fetchone()
        known = self._known[agent] = found[0], (last or base) - base
        return known

    def _insert(self, rows: Sequence[tuple[Any, ...]], values: Sequence[tuple[int, int, bytes]]) -> None:
        if len(rows) == 1 and not values:
            self._connection.execute(_INSERT, rows[0])  # a transaction by itself
            return
        with sqlite_file.transaction(self._connection):
            self._connection.executemany(_INSERT, rows)
            self._connection.executemany("INSERT INTO vector VALUES (?, ?, ?)", values)

    def _vector_rows(
        self, base: int, memories: Sequence[Memory], vectors: Sequence[Vector | None]
    ) -> list[tuple[int, int, bytes]]:
        found = ((memory.id, *encoded(vector)) for memory, vector in zip(memories, vectors, strict=True))
        return [(base | id, width, data) for id, width, data in found if data is not None]

    def _stored(self, agent: str, number: int, settings: Mapping[str, Any]) -> Stored:
        base = number << _SHIFT
        span = (base, base, base | _LAST)
        query = (
            "SELECT key - ?, tick, kind, importance, created, accessed, text, rest, state FROM memory"
            " WHERE key BETWEEN ? AND ? ORDER BY key"
        )
        rows = self._connection.execute(query, span).fetchall()
        if rows and rows[-1][0] != len(rows):
            raise ValueError(f"the last of {len(rows)} memories has id {rows[-1][0]}")
        states = {row[0]: row[8] for row in rows if row[8]}
        packed = self._connection.execute(
            "SELECT key - ?, packed, width, vector FROM archive WHERE key BETWEEN ? AND ?", span
        ).fetchall()
        texts = {id: unpacked_text(data) for id, data, _, _ in packed}
        memories = [memory_of(agent, row[:8]) for row in rows]
        for id, state in states.items():
            memories[id - 1] = (
                tombstone(agent, id, rows[id - 1][2])
                if state == FORGOTTEN
                else memory_of(agent, (*rows[id - 1][:6], *texts[id]))
            )
        query = "SELECT key - ? - 1, width, value FROM vector WHERE key BETWEEN ? AND ? ORDER BY key"
        values = self._connection.execute(query, span).fetchall()
        values += [(id - 1, width, zlib.decompress(data)) for id, _, width, data in packed if data is not None]
        return Stored(
            memories,
            gathered(len(rows), values),
            frozenset(id for id, state in states.items() if state == FORGOTTEN),
            frozenset(id for id, state in states.items() if state == ARCHIVED),
            settings,
        )

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
                row = (key, width, zlib.decompress(value))
                self._connection.execute("INSERT INTO vector VALUES (?, ?, ?)", row)
            self._connection.execute("DELETE FROM archive WHERE key = ?", (key,))

    def _clear(self, table: str, base: int, ids: Iterable[int]) -> None:
        self._connection.executemany(f"DELETE FROM {table} WHERE key = ?", [(base | id,) for id in ids])


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
