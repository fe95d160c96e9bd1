"""A run copied, row by row, between files and databases. Its digests and seals stay the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from commonplace.errors import UsageError
from commonplace.registry import RUNS, found
from commonplace.run import integrity, schema
from commonplace.run.file import RunFile, written_run
from commonplace.run.place import Address, Connection, Place, is_same
from commonplace.run.reading import Reading
from commonplace.run.schema import FORMAT, RUN, described, inserting
from commonplace.run.tables import Tables, open_read_only
from commonplace.run.talks import put_talks, talks_in
from commonplace.sqlite import connect, copy_into, transaction

TOGETHER = 5_000
"""Rows written at once."""
COUNTER = "SELECT name, seq FROM sqlite_sequence WHERE name = 'input'"


def copy_run(source: Place, target: Place, *, force: bool = False) -> Place:
    """Copies a run, as it is now, to a file or a database; returns where it is then. It appears whole or not at all.

    In a database without a name it gets the source's. Raises RunDamaged for a run that is not intact, and UsageError,
    unless `force`, for an existing target.
    """
    with Reading.open(source) as reading:
        source = reading.path
        if isinstance(target, Address) and not target.name:
            target = target.named(source.stem)
        if is_same(source, target):
            raise UsageError("a copy cannot replace its run", where=str(target), hint="give another name")
        integrity.check(reading)
        talks = talks_in(source)
        if isinstance(target, Path):
            with written_run(target, force=force) as part:
                write_copy(source, part, writes=part)
        elif reading.format == FORMAT:
            found(RUNS["copy"])(reading, target, force=force)
        else:
            with tempfile.TemporaryDirectory(prefix="commonplace-") as folder:
                newer = Path(folder, "newer.run")
                write_copy(source, newer, writes=newer)
                RunFile.open(newer).close()  # which brings it up to date
                with closing(Tables.open(newer)) as updated:
                    found(RUNS["copy"])(updated, target, force=force)
    put_talks(target, talks)
    return target


def write_copy(source: Place, target: Path, *, writes: Path) -> None:
    """Writes a run, as it is now, to a new file. `writes`: the file that an error about a full disk names."""
    if isinstance(source, Address):
        with (
            closing(Tables.open(source)) as stored,
            RUN.errors(str(writes)),
            closing(connect(target)) as connection,
            transaction(connection),
        ):
            schema.create(connection)
            copy_rows(stored, connection)
    else:
        with RUN.errors(str(source), writes=str(writes)), closing(open_read_only(source)) as connection:
            copy_into(connection, target)


def copy_rows(source: Tables, connection: Connection) -> None:
    """Copies all rows of a run into empty tables. Runs in the caller's transaction."""
    with source.snapshot():
        for table, columns in described().items():
            key = ", ".join(one.name for one in sorted(columns, key=lambda one: one.key) if one.key)
            names = ", ".join(one.name for one in columns)
            for rows in _batches(source.each(f"SELECT {names} FROM {table} ORDER BY {key}")):
                connection.executemany(inserting(table), rows)
        # a new input set it to the highest number there is, and the highest there ever was may be gone
        connection.execute("DELETE FROM sqlite_sequence WHERE name = 'input'")
        connection.executemany("INSERT INTO sqlite_sequence VALUES (?, ?)", source.all(COUNTER))


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(tuple(row))
        if len(batch) >= TOGETHER:
            yield batch
            batch = []
    if batch:
        yield batch
