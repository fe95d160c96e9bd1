"""Where a run is kept: in a file, or in a database under a name. Both take the same statements (`Connection`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.errors import UsageError
from commonplace.text import without_password

_SERVER = re.compile(r"(?:postgres(?:ql)?://|embedded:)(?=[^#])")
_OTHER = re.compile(r"[a-z][a-z0-9+.-]*://|(?:postgres(?:ql)?|embedded):(?=/|#|$)")
FORMS = "postgresql://USER@HOST/DATABASE#RUN, or embedded:FOLDER#RUN"


@dataclass(frozen=True, slots=True)
class Address:
    """A run in a database: `postgresql://USER@HOST/DATABASE#RUN`, or `embedded:FOLDER#RUN` for an embedded PostgreSQL.

    Shown without the password.
    """

    server: str
    """The part before `#`; it may hold a password."""
    name: str = ""
    """The run's name in the database; empty for the only one there."""

    @classmethod
    def parsed(cls, text: str) -> Address | None:
        """Reads an address; None for a text that names a file."""
        if not _SERVER.match(text):
            return None
        server, _, name = text.partition("#")
        if "@" in name:  # what stands before it may be half of a password
            hint = "write a password with %23 for # and %40 for @, or give it in PGPASSWORD or ~/.pgpass"
            raise UsageError("the name of a run cannot hold @", where=server.partition("://")[0] + "://…", hint=hint)
        return cls(server, name)

    @property
    def stem(self) -> str:
        """The name, as a file's without its ending."""
        return self.name

    def with_suffix(self, suffix: str) -> Path:
        """Returns the name of a file, in the current folder, that is about the run."""
        return Path(f"{self.name}{suffix}")

    @property
    def is_embedded(self) -> bool:
        """Whether the server is started from a folder."""
        return self.server.startswith("embedded:")

    def named(self, name: str) -> Address:
        """Returns the address of another run in the same database."""
        return replace(self, name=name)

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def __str__(self) -> str:
        return without_password(self.server) + (f"#{self.name}" if self.name else "")


if TYPE_CHECKING:
    Place = Path | Address
else:

    class Place:
        """A path or an address; a class, because Typer takes no union."""


def place(where: str | Place) -> Place:
    """Returns the address or the path that a person has typed. Raises UsageError for an address of another kind."""
    if not isinstance(where, str):
        return where
    address = Address.parsed(where)
    if address is None and (other := _OTHER.match(where)):
        raise UsageError(f"{other[0]} is not how a database is named", hint=f"write it as {FORMS}")
    return address or Path(where)


def typed(where: Place) -> str:
    """Returns what `place` reads: for another process, because it may hold a password."""
    if isinstance(where, Address):
        return f"{where.server}#{where.name}" if where.name else where.server
    return str(where)


def is_same(one: Place, other: Place) -> bool:
    """Tells whether two places hold the same run."""
    if isinstance(one, Path) and isinstance(other, Path):
        return os.path.realpath(one) == os.path.realpath(other)
    return one == other


def absolute(where: Place) -> Place:
    """Returns the same place, whatever the current folder is."""
    if isinstance(where, Path):
        return where.absolute()
    if where.is_embedded:
        scheme, _, folder = where.server.partition(":")
        return replace(where, server=f"{scheme}:{Path(folder).absolute()}")
    return where


class Cursor(Protocol):
    """The rows that a statement gave."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchone(self) -> Any:
        """Returns the next row; None after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """Returns the rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """The tables of one run, through SQLite's own connection or one that takes the same statements.

    The statements are those of `run`: reads in the SQL that SQLite and PostgreSQL share, and the writes that `schema`
    spells. Begins no transaction by itself.
    """

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def execute(self, query: str, values: Any = ..., /) -> Cursor:
        """Runs a statement with `?` or `:name` in the places of values."""
        ...

    def executemany(self, query: str, rows: Iterable[Any], /) -> object:
        """Runs a statement for each of many rows."""
        ...

    def rollback(self) -> None:
        """Ends the transaction; nothing of it remains."""
        ...

    def close(self) -> None:
        """Closes the connection."""
        ...
