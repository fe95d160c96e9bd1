"""The run file: created, opened, extended by one tick at a time, closed. `reading.Reading` reads it."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Any

from commonplace import whole_file
from commonplace.canon import digest
from commonplace.errors import CommonplaceError, DiskFull, UsageError, command
from commonplace.lock import LOCK, ProcessLock
from commonplace.run import schema, seals
from commonplace.run.digest import BEGINNING, Chains, Digests, chained, rows_of
from commonplace.run.integrity import blame
from commonplace.run.journal import Journal, put_answers
from commonplace.run.manifest import Manifest, package_version
from commonplace.run.reading import Reading
from commonplace.run.rows import (
    InputRow,
    Rows,
    TickRecord,
    packed_vector,
    text_of,
    unpacked_vector,
    vector_digest,
)
from commonplace.run.schema import RUN
from commonplace.run.tables import refuse_missing
from commonplace.sqlite import (
    JOURNALS,
    SAFE,
    Identity,
    Synchronous,
    beside,
    close,
    connect,
    copy_into,
    has_journal,
    transaction,
    write_ahead,
)
from commonplace.whole_file import written_whole

MOST_VECTORS = 2048
"""Vectors of which a commit knows the rows."""
_log = logging.getLogger(__name__)
_NOT_FOLDED = "%s: its last ticks are in %s (%s); keep the two files together until the run is opened again"


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
        self._vectors = _Vectors(connection, manifest.embedder)
        self._lock = lock
        self._ended = False
        self._reading: Reading | None = None
        self._place = Path(os.path.realpath(path))
        self._identity, self._in_place = Identity(path), Identity(self._place)
        self._last, self._chains = _last(connection)
        self._journals = [Identity(beside(self._place, ending)) for ending in JOURNALS]

    @classmethod
    def create(
        cls,
        path: str | Path,
        manifest: Manifest,
        first: TickRecord | None = None,
        *,
        force: bool = False,
        synchronous: Synchronous = "NORMAL",
    ) -> RunFile:
        """Creates a run with tick 0, the `first`, or without ticks. The file appears with all of that or not at all.

        Raises UsageError if the path exists, unless `force`.
        """
        path = Path(path)
        if not manifest.version:
            manifest = replace(manifest, version=package_version())
        with written_run(path, force=force) as part:
            _write_new(part, manifest, first, synchronous)
        with full_disk_resumed(path):
            return cls.open(path)

    @classmethod
    def open(cls, path: str | Path, *, synchronous: Synchronous | None = None) -> RunFile:
        """Opens a run to continue it, and recovers what a killed process had committed.

        With `synchronous` None, the run keeps the setting it was made with. Raises UsageError for a missing file,
        another kind of file, a newer format, or a run that is in use.
        """
        path = Path(path)
        refuse_missing(path)
        place = Path(os.path.realpath(path))  # one run has one lock, whatever links lead to it
        _refuse_two_names(path)
        lock = ProcessLock(beside(place, LOCK), str(path), hint=_in_use(path))
        with ExitStack() as undo:
            undo.callback(lock.release)
            connection, manifest = _opened(path, synchronous)
            undo.callback(connection.close)
            with RUN.errors(str(path)):
                run = cls(path, connection, manifest, lock)
            undo.pop_all()
        return run

    @property
    def last_tick(self) -> int:
        """The last committed tick; −1 for none."""
        return self._last

    @property
    def digests(self) -> Digests:
        """Both chains up to the last tick."""
        return self._chains.digests

    @property
    def reading(self) -> Reading:
        """Reads the committed ticks, through a connection of its own; closed with the run."""
        if self._reading is None:
            self._reading = Reading.open(self.path)
        return self._reading

    @contextmanager
    def changing(self) -> Generator[sqlite3.Connection]:
        """Opens a transaction. A caller that changes what is outside the history renews its seals in it."""
        if not self._ended and not self._identity.is_unchanged():
            raise self._gone()
        with RUN.errors(str(self.path)), transaction(self._connection):
            yield self._connection

    def commit(self, record: TickRecord) -> Digests:
        """Add the next tick in one transaction; returns both chains up to it. Nothing is written when it raises."""
        if record.tick != self._last + 1:
            raise ValueError(f"tick {record.tick} cannot follow tick {self._last}")
        try:
            with self.changing():
                chains = _write(self._connection, record, self._chains, self._vectors)
        except BaseException:
            self._vectors.forget()
            raise
        self._last, self._chains = record.tick, chains
        return chains.digests

    def queue(self, *bodies: Mapping[str, Any]) -> int:
        """Queue inputs until ticks apply them, all or none; returns the number of the last, which is never reused."""
        with self.changing():
            rows = [(text_of(dict(body)),) for body in bodies]
            self._connection.executemany("INSERT INTO input(body) VALUES (?)", rows)
            seals.renew(self._connection, "queued")
            return self._connection.execute("SELECT max(seq) FROM input").fetchone()[0]

    def queued(self) -> tuple[InputRow, ...]:
        """Returns the inputs that have no tick yet, in order; their `tick` is −1."""
        return self.reading.queued()

    def note(self, key: str, value: str) -> None:
        """Store a note outside the history (`control:…`, `parent` …)."""
        with self.changing():
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
            seals.renew(self._connection, "meta")

    def vacuum(self) -> None:
        """Give back the pages of what was deleted, now or by a process that had no time for this."""
        with RUN.errors(str(self.path)):
            if self._connection.execute("PRAGMA freelist_count").fetchone() != (0,):
                self._connection.execute("VACUUM")

    def close(self) -> None:
        """Release the run. Leaves one file in DELETE mode, unless somebody is still reading it. May be called twice.

        Raises CommonplaceError when the file has been moved, deleted or replaced meanwhile.
        """
        if self._reading is not None:
            self._reading.close()
        try:
            if not self._ended:
                self._end()
        finally:
            self._lock.release()

    def __enter__(self) -> RunFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        blame(self.path, error)

    def _end(self) -> None:
        if not self._identity.is_unchanged():
            raise self._gone()
        self._ended = True
        why = close(self._connection)
        if has_journal(self._place):
            _log.warning(_NOT_FOLDED, self.path, beside(self._place, "-wal"), why)

    # ── a file that somebody moves, deletes or replaces ─────────────────────────────────────────────────────────────

    def _gone(self) -> CommonplaceError:
        """End the use of a file that is no longer at its path; returns the error that says where its content is."""
        self._ended = True
        if self._in_place.is_unchanged():
            close(self._connection)
            what = "the link leads to another file than when the run was opened"
            hint = f"the run is in {self._place}: {command('resume', self._place)}"
            return CommonplaceError(what, where=str(self.path), hint=hint)
        what = "somebody moved, deleted or replaced the file while the run went on"
        try:
            hint = f"everything up to tick {self._last} is kept: {command('resume', self._saved())}"
        except (CommonplaceError, sqlite3.Error) as error:
            hint = f"a copy of everything up to tick {self._last} could not be written: {error}"
        self._connection.close()  # SQLite leaves a journal alone whose file is not in its place
        for journal in self._journals:
            if journal.is_unchanged():  # it would be applied to the file that is there now
                journal.path.unlink(missing_ok=True)
        return CommonplaceError(what, where=str(self.path), hint=hint)

    def _saved(self) -> Path:
        """Copy what is committed to a new file beside where the run was."""
        names = (beside(self._place, f".saved{number or ''}") for number in count())
        target = next(path for path in names if not path.exists())
        with written_whole(target) as part:
            copy_into(self._connection, part)
        return target


# ── creating and opening ────────────────────────────────────────────────────────────────────────────────────────────


def talks_of(path: Path) -> Path:
    """Returns the folder beside a run in which talks with its characters are kept."""
    return path.with_name(f"{path.name}.talks")


@contextmanager
def written_run(path: str | Path, *, force: bool = False) -> Generator[Path]:
    """Gives the path to write a run to, which appears when the block ends, as with `whole_file.written_whole`.

    The talks about a run that is replaced are deleted: its characters are not those of the new one.
    """
    path = Path(path)
    with written_whole(path, force=force, instead=_instead(path), in_use=_in_use(path)) as part:
        yield part
    shutil.rmtree(talks_of(path), ignore_errors=True)


def refuse_existing(path: str | Path, *, force: bool) -> None:
    """Raises UsageError for a path at which no run can be written: a folder and, unless `force`, a file that exists."""
    whole_file.refuse_existing(Path(path), force, _instead(Path(path)))


@contextmanager
def full_disk_resumed(path: Path) -> Generator[None]:
    """Makes an error about a full disk advise to resume the run, which exists and so cannot be made again."""
    try:
        yield
    except DiskFull as error:
        raise DiskFull(error.where, error.folder, f"{command('resume', path)}; {SAFE}") from error


def _is_run(path: Path) -> bool:
    try:
        Reading.open(path).close()
    except CommonplaceError:
        return False
    return True


def _instead(path: Path) -> str:
    return f"resume it with: {command('resume', path)}" if _is_run(path) else "give another name with -o"


def _in_use(path: Path) -> str:
    return f"follow it with: {command('watch', path)}, or end that process"


def _write_new(part: Path, manifest: Manifest, first: TickRecord | None, synchronous: Synchronous) -> None:
    with RUN.errors(str(part)), closing(connect(part)) as connection, transaction(connection):
        schema.create(connection)
        rows = {"manifest": manifest.to_json(), "synchronous": synchronous, "semantics": str(manifest.semantics)}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        if first is not None:
            _write(connection, first, BEGINNING, _Vectors(connection, manifest.embedder))
        seals.renew(connection)


def _refuse_two_names(path: Path) -> None:
    """Refuses a file with several names: each would get a journal, and the other names would miss what is in it."""
    names = path.stat().st_nlink
    if names > 1:
        what = f"the file has {names} names (hard links), and a run can be continued only if it has one"
        copy = f"cp {quote(str(path))} NEW.run"
        raise UsageError(what, where=str(path), hint=f"make a copy and continue that: {copy}")


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
    with written_whole(beside(path, f".format-{number}"), force=True) as part:
        copy_into(connection, part)
    with transaction(connection):
        schema.migrate(connection, number)


def _last(connection: sqlite3.Connection) -> tuple[int, Chains]:
    """Returns the last committed tick and the chains at it."""
    row = connection.execute("SELECT n, history, state, record FROM tick ORDER BY n DESC LIMIT 1").fetchone()
    return (-1, BEGINNING) if row is None else (row[0], Chains(*row[1:]))


# ── writing a tick ──────────────────────────────────────────────────────────────────────────────────────────────────


def _write(connection: sqlite3.Connection, record: TickRecord, previous: Chains, vectors: _Vectors) -> Chains:
    """Insert the tick's rows and return the chains after them. Runs in the caller's transaction."""
    rows = rows_of(record)
    chains, parts = chained(rows, previous, vectors.embedder)
    connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", rows.events)
    _write_memories(connection, rows, vectors)
    connection.executemany(
        "UPDATE memory SET removed = ? WHERE agent = ? AND id = ?", [(record.tick, *pair) for pair in rows.removals]
    )
    connection.executemany("INSERT INTO touch VALUES (?, ?, ?, ?)", rows.touches)
    connection.executemany("INSERT INTO version VALUES (?, ?, ?, ?, ?)", rows.versions)
    answers = [(*cells, usage[-1]) for cells, usage in zip(rows.answers, rows.usages, strict=True)]
    put_answers(connection, answers, record.tick)
    if rows.inputs:
        connection.executemany("INSERT OR REPLACE INTO input(seq, tick, body) VALUES (?, ?, ?)", rows.inputs)
        seals.renew(connection, "queued")
    connection.executemany("INSERT INTO trace VALUES (?, ?, ?)", rows.traces)
    connection.execute("INSERT INTO tick VALUES (?, ?, ?, ?, ?)", (record.tick, *chains, parts))
    return chains


def _write_memories(connection: sqlite3.Connection, rows: Rows, vectors: _Vectors) -> None:
    connection.executemany(
        "INSERT INTO memory(agent, id, tick, kind, importance, text, created, citations, event, details, vector)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*cells[:9], details, vectors.number(cells[5], raw) if raw else None)
            for cells, details, raw in rows.memories
        ],
    )


class _Vectors:
    """Finds and adds the rows of vectors. The latest are kept: two memories of three repeat an earlier text."""

    def __init__(self, connection: sqlite3.Connection, embedder: str) -> None:
        self.embedder = embedder
        self._connection = connection
        self._known: dict[str, tuple[bytes, int]] = {}
        """Text → its vector and the number of its row."""

    def number(self, text: str, raw: bytes) -> int:
        """Returns the row number of a vector. A text has one per embedder; a vector that differs gets its own key."""
        known = self._known.get(text)
        if known is not None and known[0] == raw:
            return known[1]
        if len(self._known) >= MOST_VECTORS:
            self._known.clear()
        number = self._number(text, raw)
        self._known[text] = raw, number
        return number

    def forget(self) -> None:
        """Call this after a rolled-back transaction: the rows it added were not stored."""
        self._known.clear()

    def _number(self, text: str, raw: bytes) -> int:
        key = vector_digest(self.embedder, text)
        found = self._stored(key)
        if found is not None and unpacked_vector(found[1]) != raw:
            key = digest(key, raw)
            found = self._stored(key)
        if found is not None:
            return found[0]
        new = (key, packed_vector(raw))
        cursor = self._connection.execute("INSERT INTO vector(digest, value) VALUES (?, ?)", new)
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _stored(self, key: bytes) -> tuple[int, bytes] | None:
        return self._connection.execute("SELECT id, value FROM vector WHERE digest = ?", (key,)).fetchone()
