"""The tables of a run, read-only: a connection for each thread, rows of queries, notes and the manifest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from commonplace.errors import CommonplaceError, UsageError
from commonplace.lock import LOCK, held_by
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.paths import kind_of
from commonplace.registry import RUNS, found
from commonplace.run import schema
from commonplace.run.manifest import Manifest
from commonplace.run.place import Address, Connection, Place, place
from commonplace.run.rows import KEY
from commonplace.run.schema import RUN, damage
from commonplace.sqlite import Identity, Readers, beside, connect
from commonplace.text import clean, shortened

T = TypeVar("T")

SHOWN = 120
"""Characters of a cell, or of what is wrong with it, in a message."""


class Source(Protocol):
    """What a run is read from. It puts the errors of the database into words."""

    place: Place
    number: int
    """The format of its tables."""

    @property
    def mine(self) -> Connection | None:
        """The connection that is lent to this thread."""
        ...

    def lent(self) -> AbstractContextManager[Connection]:
        """Lends a connection to this thread; the same one inside another `lent`."""
        ...

    def each(self, query: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yields the rows of a query without holding them all; within a transaction of the connection lent."""
        ...

    def held(self) -> bool:
        """Tells whether some process goes on with the run."""
        ...

    def written(self) -> datetime:
        """Returns when the run was last written, in whole seconds."""
        ...

    def is_there(self) -> bool:
        """Tells whether the run is still at its place."""
        ...

    def close(self) -> None:
        """Closes all connections. May be called twice."""
        ...


class Tables:
    """The tables of a run. Several threads may read them."""

    def __init__(self, source: Source) -> None:
        """Internal: use `open`."""
        self.path = source.place
        self.format = source.number
        self._source = source

    @classmethod
    def open(cls, path: str | Place, *, lenient: bool = False) -> Self:
        """Opens a file or a run in a database. Needs no writable folder.

        `lenient` reads text that is not UTF-8 as surrogates instead of raising RunDamaged.

        Raises UsageError for a missing file or run, another kind of file or a newer format, CommonplaceError if the
        server cannot be reached.
        """
        where = place(path)
        return cls(found(RUNS["source"])(where) if isinstance(where, Address) else RunFileSource(where, lenient))

    def close(self) -> None:
        """Closes the run; may be called twice."""
        self._source.close()

    @cached_property
    def manifest(self) -> Manifest:
        """Everything the run was resolved to when it was made."""
        text = self.meta("manifest")
        if text is None:
            raise damage(str(self.path), "it has no manifest")
        return Manifest.from_json(text, str(self.path))

    def held(self) -> bool:
        """Tells whether some process goes on with the run."""
        return self._source.held()

    def written(self) -> datetime:
        """Returns when the run was last written, in whole seconds, UTC."""
        return self._source.written()

    def is_there(self) -> bool:
        """Tells whether the run is still at its place: not deleted, nor replaced by another."""
        return self._source.is_there()

    def meta(self, key: str) -> str | None:
        """Returns a note stored outside the history; None if there is no note of that name."""
        row = self.one("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else str(row[0])

    def one(self, query: str, *values: Any) -> Any:
        """Returns the first row of a query of this package; None without rows."""
        with self._source.lent() as connection:
            return connection.execute(query, values).fetchone()

    def all(self, query: str, *values: Any) -> list[Any]:
        """Returns the rows of a query of this package at once: a half-read cursor would hold a transaction open."""
        with self._source.lent() as connection:
            return connection.execute(query, values).fetchall()

    def each(self, query: str, *values: Any) -> Iterator[Any]:
        """Yields the rows of a query of this package one by one. They must be read to the end, within a `snapshot`."""
        assert self._source.mine is not None, "outside of a snapshot"
        yield from self._source.each(query, values)

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Gives everything read inside the same committed ticks, although another process may go on with the run."""
        with self._source.lent() as connection:
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.rollback()

    @contextmanager
    def connection(self, what: str) -> Generator[Connection]:
        """Lends this thread a connection. What cannot be read inside is raised as damage of `what`."""
        try:
            with self._source.lent() as connection:
                yield connection
        except UNREADABLE as error:
            raise self.damaged(what, error) from error

    def made(self, table: str, make: Callable[[Any], T], query: str, *values: Any) -> list[T]:
        """Returns what `make` makes of each row of a query of a table."""
        found: list[T] = []
        for row in self.all(query, *values):
            try:
                found.append(make(row))
            except UNREADABLE as error:
                key = ", ".join(shortened(repr(cell), SHOWN) for cell in row[: KEY[table]])
                raise self.damaged(f"table {table}, row {key}", error) from error
        return found

    def damaged(self, what: str, error: BaseException) -> CommonplaceError:
        """Returns the error to raise when `what` cannot be read."""
        why = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        return damage(str(self.path), f"{what}: {shortened(clean(why), SHOWN)}")


class RunFileSource(Readers[sqlite3.Connection]):
    """A run file, read."""

    def __init__(self, path: Path, lenient: bool) -> None:
        self.place: Place = path
        self._file = Identity(path)
        super().__init__(partial(self._another, path, lenient))
        try:
            with self.lent() as connection:
                self.number = schema.check(connection, str(path))
        except BaseException:
            self.close()
            raise

    @contextmanager
    def lent(self) -> Generator[sqlite3.Connection]:
        """Lends a connection to this thread; the same one inside another `lent`."""
        with RUN.errors(str(self.place)), super().lent() as connection:
            yield connection

    def each(self, query: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yields the rows of a query without holding them all."""
        with self.lent() as connection:
            yield from connection.execute(query, values)

    def held(self) -> bool:
        """Tells whether some process goes on with the run."""
        return held_by(beside(self._file.path.resolve(), LOCK)) > 0

    def written(self) -> datetime:
        """Returns when the run or its journal was last written, in whole seconds."""
        return last_write(self._file.path)

    def is_there(self) -> bool:
        """Tells whether the file is still at its path."""
        return self._file.is_unchanged()

    def _another(self, path: Path, lenient: bool) -> sqlite3.Connection:
        connection = open_read_only(path, lenient=lenient)
        if not self._file.is_unchanged():
            connection.close()
            raise UsageError("another file has taken its place", where=str(path), hint="open it again")
        return connection


def last_write(path: Path) -> datetime:
    """Returns when a run file or its journal was last written, in whole seconds."""
    files = (path, beside(path, "-wal"))
    return datetime.fromtimestamp(int(max(file.stat().st_mtime for file in files if file.exists())), UTC)


def open_read_only(path: Path, *, lenient: bool = False) -> sqlite3.Connection:
    """Opens a connection that cannot write and works in a read-only folder, too; `lenient` as of `Tables.open`."""
    refuse_missing(path)
    with RUN.errors(str(path)):
        connection = connect(path, read_only=True)
    if lenient:
        connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    return connection


def refuse_missing(path: Path) -> None:
    """Raises UsageError when there is no file at the path."""
    kind = kind_of(path)
    if kind == "folder":
        raise UsageError("a folder, not a run", where=str(path), hint="give the run file in it")
    if kind == "nothing":
        raise UsageError("no such run", where=str(path), hint="`commonplace run SCENARIO` makes one")
