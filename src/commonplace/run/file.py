"""The run file: created, opened, extended by one tick at a time, closed. `reading.Reading` reads it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from commonplace.canon import digest
from commonplace.errors import CommonplaceError, UsageError, command
from commonplace.lock import ProcessLock
from commonplace.run import schema, seals
from commonplace.run.digest import START, Digests, Rows, chained, rows_of
from commonplace.run.journal import Journal, put_answers
from commonplace.run.manifest import Manifest, package_version
from commonplace.run.reading import QUEUED, Reading, blame, refuse_missing
from commonplace.run.rows import (
    input_from,
    packed_memory,
    packed_vector,
    text_of,
    unpacked_vector,
    vector_digest,
)
from commonplace.run.schema import RUN
from commonplace.run.tick_record import InputRow, TickRecord
from commonplace.sqlite import Synchronous, close, connect, transaction, write_ahead


class RunFile:
    """One run, owned by this process. A context manager; closing it leaves a single file that can be copied.

    All methods raise CommonplaceError (a full disk, a locked or read-only file) or RunDamaged (a file whose content
    has changed). Whatever is raised, every tick committed before is still there.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, manifest: Manifest, lock: ProcessLock) -> None:
        """Internal: use `create` or `open`."""
        self.path = path
        self.manifest = manifest
        self.journal = Journal(connection, str(path))
        self._connection = connection
        self._lock = lock
        self._reading: Reading | None = None
        self._last, self._digests, self._record = _last(connection)

    @classmethod
    def create(
        cls, path: str | Path, manifest: Manifest, *, force: bool = False, synchronous: Synchronous = "NORMAL"
    ) -> RunFile:
        """A new run without ticks. Raises UsageError if the path exists, unless `force`."""
        path = Path(path)
        _refuse_existing(path, force)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommonplaceError(f"its folder cannot be made ({error.strerror})", where=str(path)) from error
        lock = _locked(path)
        try:
            _refuse_existing(path, force)
            _delete(path)
            if not manifest.version:
                manifest = replace(manifest, version=package_version())
            connection = _created(path, manifest, synchronous)
        except BaseException:
            lock.release()
            raise
        return cls(path, connection, manifest, lock)

    @classmethod
    def open(cls, path: str | Path, *, synchronous: Synchronous | None = None) -> RunFile:
        """A run to continue; what a killed process had committed is recovered. `synchronous`: as it was made, if None.

        Raises UsageError for a missing file, another kind of file, a newer format, or a run that is in use.
        """
        path = Path(path)
        refuse_missing(path)
        lock = _locked(path)
        try:
            connection, manifest = _opened(path, synchronous)
        except BaseException:
            lock.release()
            raise
        return cls(path, connection, manifest, lock)

    @property
    def last_tick(self) -> int:
        """The last committed tick; −1 for none."""
        return self._last

    @property
    def digests(self) -> Digests:
        """Both chains up to the last tick."""
        return self._digests

    @property
    def reading(self) -> Reading:
        """Reads the committed ticks, through a connection of its own; closed with the run."""
        if self._reading is None:
            self._reading = Reading.open(self.path)
        return self._reading

    def commit(self, record: TickRecord) -> Digests:
        """Add the next tick in one transaction; returns both chains up to it. Nothing is written when it raises."""
        if record.tick != self._last + 1:
            raise ValueError(f"tick {record.tick} cannot follow tick {self._last}")
        with self._transaction():
            digests, kept = _write(self._connection, record, self._digests, self._record, self.manifest.embedder)
        self._last, self._digests, self._record = record.tick, digests, kept
        return digests

    def queue(self, body: Mapping[str, Any]) -> int:
        """Queue an input until a tick applies it; returns its number within the run, which is never reused."""
        with self._transaction():
            cursor = self._connection.execute("INSERT INTO input(body) VALUES (?)", (text_of(dict(body)),))
            seals.renew(self._connection, "queued")
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def queued(self) -> tuple[InputRow, ...]:
        """The inputs that have no tick yet, in order; their `tick` is −1."""
        with RUN.errors(str(self.path)):
            return tuple(input_from(row) for row in self._connection.execute(QUEUED).fetchall())

    def note(self, key: str, value: str) -> None:
        """Store a note outside the history (`control:…`, `parent` …)."""
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
            seals.renew(self._connection, "meta")

    def close(self) -> None:
        """Release the run. Leaves one file in DELETE mode, unless somebody is still reading it. May be called twice."""
        if self._reading is not None:
            self._reading.close()
        close(self._connection)
        self._lock.release()

    def __enter__(self) -> RunFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        blame(self.path, error)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with RUN.errors(str(self.path)), transaction(self._connection):
            yield


# ── creating and opening ────────────────────────────────────────────────────────────────────────────────────────────


def _refuse_existing(path: Path, force: bool) -> None:
    if path.is_dir():
        raise UsageError("a folder, not a run", where=str(path), hint="give a file name: NAME.run")
    if path.exists() and not force:
        instead = f"resume it with: {command('resume', path)}" if _is_run(path) else "give another name with -o"
        raise UsageError("the file already exists", where=str(path), hint=f"{instead}, or replace it with --force")


def _is_run(path: Path) -> bool:
    try:
        Reading.open(path).close()
    except CommonplaceError:
        return False
    return True


def _locked(path: Path) -> ProcessLock:
    hint = f"follow it with: {command('watch', path)}, or end that process"
    return ProcessLock(path.with_name(path.name + ".lock"), str(path), hint=hint)


def _delete(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _created(path: Path, manifest: Manifest, synchronous: Synchronous) -> sqlite3.Connection:
    connection = _writer(path, synchronous)
    try:
        with RUN.errors(str(path)), transaction(connection):
            schema.create(connection)
            rows = {"manifest": manifest.to_json(), "synchronous": synchronous, "semantics": str(manifest.semantics)}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
            seals.renew(connection)
    except BaseException:
        connection.close()
        _delete(path)
        raise
    return connection


def _opened(path: Path, synchronous: Synchronous | None) -> tuple[sqlite3.Connection, Manifest]:
    with Reading.open(path) as reading:  # refuses another kind of file before anything is written to it
        number, manifest = reading.format, reading.manifest
        level = synchronous or reading.synchronous
    connection = _writer(path, level)
    try:
        with RUN.errors(str(path)):
            if number < schema.FORMAT:
                _upgrade(connection, path, number)
    except BaseException:
        connection.close()
        raise
    return connection, manifest


def _writer(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    with RUN.errors(str(path)):
        connection = connect(path)
        try:
            write_ahead(connection, synchronous)
        except BaseException:
            connection.close()
            raise
    return connection


def _upgrade(connection: sqlite3.Connection, path: Path, number: int) -> None:
    """Migrate after copying the file to NAME.run.format-N."""
    backup = sqlite3.connect(path.with_name(f"{path.name}.format-{number}"))
    try:
        connection.backup(backup)
    finally:
        backup.close()
    with transaction(connection):
        schema.migrate(connection, number)


def _last(connection: sqlite3.Connection) -> tuple[int, Digests, bytes]:
    """The last committed tick and the chains at it."""
    row = connection.execute("SELECT n, history, state, record FROM tick ORDER BY n DESC LIMIT 1").fetchone()
    return (-1, Digests(START, START), START) if row is None else (row[0], Digests(row[1], row[2]), row[3])


# ── writing a tick ──────────────────────────────────────────────────────────────────────────────────────────────────


def _write(
    connection: sqlite3.Connection, record: TickRecord, previous: Digests, kept: bytes, embedder: str
) -> tuple[Digests, bytes]:
    """Insert the tick's rows and return the chains after them. Runs in the caller's transaction.

    `kept`: the record chain.
    """
    rows = rows_of(record)
    digests, kept, parts = chained(rows, previous, kept, embedder)
    connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", rows.events)
    _write_memories(connection, rows, embedder)
    connection.executemany(
        "UPDATE memory SET removed = ? WHERE agent = ? AND id = ?", [(record.tick, *pair) for pair in rows.removals]
    )
    connection.executemany("INSERT INTO touch VALUES (?, ?, ?, ?)", rows.touches)
    connection.executemany("INSERT INTO version VALUES (?, ?, ?, ?, ?)", rows.versions)
    put_answers(connection, record.answers, record.tick)
    if rows.inputs:
        connection.executemany("INSERT OR REPLACE INTO input(seq, tick, body) VALUES (?, ?, ?)", rows.inputs)
        seals.renew(connection, "queued")
    connection.executemany("INSERT INTO trace VALUES (?, ?, ?)", rows.traces)
    connection.execute("INSERT INTO tick VALUES (?, ?, ?, ?, ?)", (record.tick, *digests, kept, parts))
    return digests, kept


def _write_memories(connection: sqlite3.Connection, rows: Rows, embedder: str) -> None:
    connection.executemany(
        "INSERT INTO memory(agent, id, tick, kind, importance, text, created, citations, event, details, vector)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*packed_memory(cells), _vector_id(connection, embedder, cells[5], raw) if raw else None)
            for cells, raw in rows.memories
        ],
    )


def _vector_id(connection: sqlite3.Connection, embedder: str, text: str, raw: bytes) -> int:
    """The number of the vector's row. A text has one vector per embedder; one that differs gets a key of its own."""
    key = vector_digest(embedder, text)
    found = _stored_vector(connection, key)
    if found is not None and unpacked_vector(found[1]) != raw:
        key = digest(key, raw)
        found = _stored_vector(connection, key)
    if found is not None:
        return found[0]
    cursor = connection.execute("INSERT INTO vector(digest, value) VALUES (?, ?)", (key, packed_vector(raw)))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _stored_vector(connection: sqlite3.Connection, key: bytes) -> tuple[int, bytes] | None:
    return connection.execute("SELECT id, value FROM vector WHERE digest = ?", (key,)).fetchone()
