"""The tables of a run file, read-only: a connection for each thread, rows of queries, notes and the manifest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeVar

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.paths import kind_of
from commonplace.run import schema
from commonplace.run.manifest import Manifest
from commonplace.run.rows import KEY
from commonplace.run.schema import RUN
from commonplace.sqlite import Readers, connect
from commonplace.text import clean, shortened

T = TypeVar("T")

SHOWN = 120
"""Characters of a cell, or of what is wrong with it, in a message."""


class Tables:
    """The tables of a run file. Several threads may read them."""

    def __init__(self, path: Path, readers: Readers, number: int) -> None:
        """Internal: use `open`."""
        self.path = path
        self.format = number
        self._readers = readers

    @classmethod
    def open(cls, path: str | Path, *, lenient: bool = False) -> Self:
        """Raises UsageError for a missing file, another kind of file or a newer format. Needs no writable folder.

        `lenient` reads text that is not UTF-8 as surrogates instead of raising RunDamaged.
        """
        path = Path(path)
        readers = Readers(path, partial(open_read_only, lenient=lenient))
        try:
            with RUN.errors(str(path)), readers.lent() as connection:
                number = schema.check(connection, str(path))
        except BaseException:
            readers.close()
            raise
        return cls(path, readers, number)

    def close(self) -> None:
        """Closes the file; may be called twice."""
        self._readers.close()

    @cached_property
    def manifest(self) -> Manifest:
        """Everything the run was resolved to when it was made."""
        text = self.meta("manifest")
        if text is None:
            raise RUN.damaged(str(self.path), "it has no manifest")
        return Manifest.from_json(text, str(self.path))

    def meta(self, key: str) -> str | None:
        """Returns a note stored outside the history; None if there is no note of that name."""
        row = self.one("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else str(row[0])

    def one(self, query: str, *values: Any) -> Any:
        """Returns the first row of a query of this package; None without rows."""
        with RUN.errors(str(self.path)), self._readers.lent() as connection:
            return connection.execute(query, values).fetchone()

    def all(self, query: str, *values: Any) -> list[Any]:
        """Returns the rows of a query of this package at once: a half-read cursor would hold a transaction open."""
        with RUN.errors(str(self.path)), self._readers.lent() as connection:
            return connection.execute(query, values).fetchall()

    def each(self, query: str, *values: Any) -> Iterator[Any]:
        """Yields the rows of a query of this package one by one. They must be read to the end, within a `snapshot`."""
        connection = self._readers.mine
        assert connection is not None, "outside of a snapshot"
        with RUN.errors(str(self.path)):
            yield from connection.execute(query, values)

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Gives everything read inside the same committed ticks, although another process may go on with the run."""
        with self._readers.lent() as connection:
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.rollback()

    @contextmanager
    def connection(self, what: str) -> Generator[sqlite3.Connection]:
        """Lends this thread a connection. What cannot be read inside is raised as damage of `what`."""
        try:
            with RUN.errors(str(self.path)), self._readers.lent() as connection:
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
        return RUN.damaged(str(self.path), f"{what}: {shortened(clean(why), SHOWN)}")


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
