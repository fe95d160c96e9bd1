"""The run file: made, opened, added to one tick at a time, closed. Reading is `reading.Reading`'s."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from commonplace.errors import CommonplaceError, UsageError, command
from commonplace.memory.stores.sqlite_file import transaction
from commonplace.run import commit, connection, schema
from commonplace.run.commit import START, Digests
from commonplace.run.connection import Lock, mended, refuse_missing, writer
from commonplace.run.journal import Journal
from commonplace.run.manifest import Manifest, package_version
from commonplace.run.reading import Reading
from commonplace.run.tick_record import TickRecord

Synchronous = Literal["NORMAL", "FULL"]
"""What a commit waits for. NORMAL survives the process being killed; FULL the machine losing power, too.

After a power cut under NORMAL the file is sound but may lack its last ticks. Neither survives a disk that lies.
"""


class RunFile:
    """One run, owned by this process. A context manager; closing it leaves a single file that can be copied.

    All methods raise CommonplaceError (a full disk, a locked or read-only file) or RunDamaged (bytes that are no longer
    what was written). Whatever is raised, every tick committed before is still there.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, manifest: Manifest, lock: Lock) -> None:
        """Not for use from outside: `create` or `open`."""
        self.path = path
        self.manifest = manifest
        self.journal = Journal(connection, str(path))
        self._connection = connection
        self._lock = lock
        self._reading: Reading | None = None
        self._last, self._digests = _last(connection)

    @classmethod
    def create(
        cls, path: str | Path, manifest: Manifest, *, force: bool = False, synchronous: Synchronous = "NORMAL"
    ) -> RunFile:
        """A new run without ticks. Raises UsageError when there is something at the path, unless `force`."""
        path = Path(path)
        _refuse_existing(path, force)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommonplaceError(f"its folder cannot be made ({error.strerror})", where=str(path)) from error
        lock = Lock(path)
        try:
            _refuse_existing(path, force)
            _remove(path)
            if not manifest.version:
                manifest = replace(manifest, version=package_version())
            connection = _created(path, manifest, synchronous)
        except BaseException:
            lock.release()
            raise
        return cls(path, connection, manifest, lock)

    @classmethod
    def open(cls, path: str | Path, *, synchronous: Synchronous | None = None) -> RunFile:
        """A run to go on with; a killed process's work is recovered. `synchronous`: as it was made, if None.

        Raises UsageError for a missing file, another kind of file, a newer format, or a run that is in use.
        """
        path = Path(path)
        refuse_missing(path)
        lock = Lock(path)
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
            digests = commit.write(self._connection, record, self._digests, self.manifest.embedder)
        self._last, self._digests = record.tick, digests
        return digests

    def queue(self, body: Mapping[str, Any]) -> int:
        """Keep an outside influence until a tick is stamped on it; returns its number within the run."""
        with mended(str(self.path)):
            return connection.queue(self._connection, body)

    def queued(self) -> tuple[connection.InputRow, ...]:
        """The inputs no tick has been stamped on, in order; their `tick` is −1."""
        with mended(str(self.path)):
            return connection.queued(self._connection)

    def note(self, key: str, value: str) -> None:
        """Keep a remark beside the history (`control:…`, `parent` …): in no digest."""
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def close(self) -> None:
        """Give the run up. Leaves one file in DELETE mode, unless somebody is still reading it. May be called twice."""
        if self._reading is not None:
            self._reading.close()
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        self._lock.release()

    def __enter__(self) -> RunFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with mended(str(self.path)), transaction(self._connection):
            yield


def _refuse_existing(path: Path, force: bool) -> None:
    if path.is_dir():
        raise UsageError("a folder, not a run", where=str(path), hint="give a file name: NAME.run")
    if path.exists() and not force:
        instead = f"resume it with: {command('resume', path)}" if _is_run(path) else "give another name with -o"
        hint = f"{instead}, or replace it with --force"
        raise UsageError("there is a file already", where=str(path), hint=hint)


def _is_run(path: Path) -> bool:
    try:
        Reading.open(path).close()
    except CommonplaceError:
        return False
    return True


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _created(path: Path, manifest: Manifest, synchronous: Synchronous) -> sqlite3.Connection:
    with mended(str(path)):
        connection = writer(path, synchronous)
    try:
        with mended(str(path)), transaction(connection):
            schema.create(connection)
            rows = {"manifest": manifest.to_json(), "synchronous": synchronous, "semantics": str(manifest.semantics)}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
    except BaseException:
        connection.close()
        _remove(path)
        raise
    return connection


def _opened(path: Path, synchronous: Synchronous | None) -> tuple[sqlite3.Connection, Manifest]:
    where = str(path)
    with Reading.open(path) as reading:  # refuses what is no run before anything is written to it
        number, manifest = reading.format, reading.manifest
        level = synchronous or reading.meta("synchronous") or "NORMAL"
    with mended(where):
        connection = writer(path, level)
    try:
        with mended(where):
            if number < schema.FORMAT:
                _upgrade(connection, path, number)
    except BaseException:
        connection.close()
        raise
    return connection, manifest


def _upgrade(connection: sqlite3.Connection, path: Path, number: int) -> None:
    """Migrate after copying the file to NAME.run.format-N."""
    backup = sqlite3.connect(path.with_name(f"{path.name}.format-{number}"))
    try:
        connection.backup(backup)
    finally:
        backup.close()
    with transaction(connection):
        schema.migrate(connection, number)


def _last(connection: sqlite3.Connection) -> tuple[int, Digests]:
    row = connection.execute("SELECT n, history, state FROM tick ORDER BY n DESC LIMIT 1").fetchone()
    return (-1, Digests(START, START)) if row is None else (row[0], Digests(row[1], row[2]))
