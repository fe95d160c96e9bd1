"""The run file: created, opened, extended by one tick at a time, closed."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from shlex import quote

from commonplace import whole_file
from commonplace.errors import CommonplaceError, DiskFull, UsageError, command
from commonplace.lock import LOCK, ProcessLock
from commonplace.run import schema
from commonplace.run.manifest import Manifest, package_version
from commonplace.run.place import Connection, Place
from commonplace.run.reading import Reading
from commonplace.run.rows import TickRecord
from commonplace.run.schema import RUN
from commonplace.run.store import RunStore, lay_out
from commonplace.run.tables import refuse_missing
from commonplace.run.talks import talks_of
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

_log = logging.getLogger(__name__)
_NOT_FOLDED = "%s: its last ticks are in %s (%s); keep the two files together until the run is opened again"


class RunFile(RunStore):
    """A run in a file; closing it leaves a single file that can be copied."""

    def __init__(self, path: Path, connection: sqlite3.Connection, manifest: Manifest, lock: ProcessLock) -> None:
        """Internal: use `create` or `open`."""
        super().__init__(path, connection, manifest)
        self._file = connection
        self._lock = lock
        self._ended = False
        self._place = Path(os.path.realpath(path))
        self._identity, self._in_place = Identity(path), Identity(self._place)
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
        lock = ProcessLock(beside(place, LOCK), str(path), hint=in_use(path))
        with ExitStack() as undo:
            undo.callback(lock.release)
            connection, manifest = _opened(path, synchronous)
            undo.callback(connection.close)
            with RUN.errors(str(path)):
                run = cls(path, connection, manifest, lock)
            undo.pop_all()
        return run

    @contextmanager
    def changing(self) -> Generator[Connection]:
        """Opens a transaction. A caller that changes what is outside the history renews its seals in it."""
        if not self._ended and not self._identity.is_unchanged():
            raise self._gone()
        with RUN.errors(str(self.path)), super().changing() as connection:
            yield connection

    def vacuum(self) -> None:
        """Give back the pages of what was deleted, now or by a process that had no time for this."""
        with RUN.errors(str(self.path)):
            if self._file.execute("PRAGMA freelist_count").fetchone() != (0,):
                self._file.execute("VACUUM")

    def close(self) -> None:
        """Release the run. Leaves one file in DELETE mode, unless somebody is still reading it. May be called twice.

        Raises CommonplaceError when the file has been moved, deleted or replaced meanwhile.
        """
        super().close()
        try:
            if not self._ended:
                self._end()
        finally:
            self._lock.release()

    def _end(self) -> None:
        if not self._identity.is_unchanged():
            raise self._gone()
        self._ended = True
        why = close(self._file)
        if has_journal(self._place):
            _log.warning(_NOT_FOLDED, self.path, beside(self._place, "-wal"), why)

    # ── a file that somebody moves, deletes or replaces ─────────────────────────────────────────────────────────────

    def _gone(self) -> CommonplaceError:
        """End the use of a file that is no longer at its path; returns the error that says where its content is."""
        self._ended = True
        if self._in_place.is_unchanged():
            close(self._file)
            what = "the link leads to another file than when the run was opened"
            hint = f"the run is in {self._place}: {command('resume', self._place)}"
            return CommonplaceError(what, where=str(self.path), hint=hint)
        what = "somebody moved, deleted or replaced the file while the run went on"
        try:
            hint = f"everything up to tick {self._last} is kept: {command('resume', self._saved())}"
        except (CommonplaceError, sqlite3.Error) as error:
            hint = f"a copy of everything up to tick {self._last} could not be written: {error}"
        self._file.close()  # SQLite leaves a journal alone whose file is not in its place
        for journal in self._journals:
            if journal.is_unchanged():  # it would be applied to the file that is there now
                journal.path.unlink(missing_ok=True)
        return CommonplaceError(what, where=str(self.path), hint=hint)

    def _saved(self) -> Path:
        """Copy what is committed to a new file beside where the run was."""
        names = (beside(self._place, f".saved{number or ''}") for number in count())
        target = next(path for path in names if not path.exists())
        with written_whole(target) as part:
            copy_into(self._file, part)
        return target


# ── creating and opening ────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def written_run(path: str | Path, *, force: bool = False) -> Generator[Path]:
    """Gives the path to write a run to, which appears when the block ends, as with `whole_file.written_whole`.

    The talks about a run that is replaced are deleted: its characters are not those of the new one.
    """
    path = Path(path)
    with written_whole(path, force=force, instead=_instead(path), in_use=in_use(path)) as part:
        yield part
    shutil.rmtree(talks_of(path), ignore_errors=True)


def refuse_existing(path: str | Path, *, force: bool) -> None:
    """Raises UsageError for a path at which no run can be written: a folder and, unless `force`, a file that exists."""
    whole_file.refuse_existing(Path(path), force, _instead(Path(path)))


@contextmanager
def full_disk_resumed(path: Place) -> Generator[None]:
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


def in_use(path: Path) -> str:
    """Returns what to do about a run that another process goes on with."""
    return f"follow it with: {command('watch', path)}, or end that process"


def _write_new(part: Path, manifest: Manifest, first: TickRecord | None, synchronous: Synchronous) -> None:
    with RUN.errors(str(part)), closing(connect(part)) as connection, transaction(connection):
        schema.create(connection)
        lay_out(connection, manifest, first, synchronous)


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
