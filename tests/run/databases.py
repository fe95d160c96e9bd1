"""Databases for tests of runs: an empty one each, on the server of the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from commonplace.parts.runs import tables
from commonplace.run.place import Address, Place
from commonplace.run.tables import Tables

_numbers = count(1)


class Database:
    """A database in which tests keep runs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __truediv__(self, name: str) -> Address:
        return Address(self.url, name)

    def execute(self, statement: str, *values: object) -> Any:
        """Runs a statement behind the program's back, among the tables of runs; its rows, or how many it changed."""
        import psycopg

        with closing(psycopg.connect(self.url, autocommit=True)) as connection:
            connection.execute("SET search_path TO commonplace, public")
            done = connection.execute(statement, values or None)  # pyright: ignore[reportArgumentType]
            return done.fetchall() if done.description else done.rowcount


Home = Path | Database
"""A folder or a database: what a run's name is put after."""


@contextmanager
def fresh(server: str) -> Iterator[Database]:
    """An empty database on a server, which is dropped when the block ends."""
    import psycopg

    name = f"runs_{next(_numbers)}"
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield Database(urlunsplit(urlsplit(server)._replace(path=f"/{name}")))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    """An empty database for runs."""
    with fresh(postgres_url) as made:
        yield made


def rows_of(place: Place, *, seals: bool = True) -> dict[str, list[Any]]:
    """Table → its rows, sorted: those of a run, wherever it is kept."""
    with closing(Tables.open(place)) as run, run.snapshot():
        found: dict[str, list[Any]] = {}
        for table, columns in tables.columns().items():
            if seals or table != "seal":
                names = ", ".join(one.name for one in columns)
                found[table] = sorted((tuple(row) for row in run.each(f"SELECT {names} FROM {table}")), key=repr)
        return found
