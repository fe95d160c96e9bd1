"""A run copied, row by row, between a file and a database. Its digests stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from commonplace.run import schema, seals
from commonplace.run.place import Address, Connection, Place
from commonplace.run.schema import RUN, described, inserting
from commonplace.run.tables import Tables, open_read_only
from commonplace.sqlite import connect, copy_into, transaction

TOGETHER = 5_000
"""Rows written at once."""
LAST_INPUT = "SELECT seq FROM sqlite_sequence WHERE name = 'input'"


def write_copy(source: Place, target: Path, *, writes: Path) -> None:
    """Writes a run, as it is now, to a new file. `writes`: the file that an error about a full disk names."""
    if isinstance(source, Address):
        with closing(Tables.open(source)) as found:
            copy_into_file(found, target)
    else:
        with RUN.errors(str(source), writes=str(writes)), closing(open_read_only(source)) as connection:
            copy_into(connection, target)


def copy_into_file(source: Tables, part: Path) -> None:
    """Copies a run into a new file."""
    with RUN.errors(str(part)), closing(connect(part)) as connection, transaction(connection):
        schema.create(connection)
        copy_rows(source, connection)
        last = source.one(LAST_INPUT)
        if last is not None:  # SQLite wrote the highest number there is, and the highest ever may be gone
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'input'")
            connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('input', ?)", last)
        seals.renew(connection)


def copy_rows(source: Tables, connection: Connection) -> None:
    """Copies all rows of a run into empty tables. Runs in the caller's transaction."""
    with source.snapshot():
        for table, columns in described().items():
            key = ", ".join(one.name for one in sorted(columns, key=lambda one: one.key) if one.key)
            names = ", ".join(one.name for one in columns)
            for rows in _batches(source.each(f"SELECT {names} FROM {table} ORDER BY {key}")):
                connection.executemany(inserting(table), rows)


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(tuple(row))
        if len(batch) >= TOGETHER:
            yield batch
            batch = []
    if batch:
        yield batch
