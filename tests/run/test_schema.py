"""Files of older formats: brought up to date with a backup, or refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.run import schema
from commonplace.run.file import RunFile
from commonplace.run.fork import fork
from commonplace.run.reading import Reading
from run.small_runs import make, tampering

OLDER = schema.FORMAT - 1


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A run that says it is of the format before."""
    path = make(tmp_path / "older.run", 4)
    with tampering(path) as connection:
        connection.execute(f"PRAGMA user_version = {OLDER}")
    return path


@pytest.fixture
def migration(monkeypatch: pytest.MonkeyPatch) -> None:
    def add_table(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE added(value)")

    monkeypatch.setattr(schema, "OLDEST", OLDER)
    monkeypatch.setattr(schema, "MIGRATIONS", (("a table is added", add_table),))


def test_an_older_file_without_a_migration_is_refused(older: Path) -> None:
    before = older.read_bytes()
    for use in (Reading.open, RunFile.open):
        with pytest.raises(UsageError, match=f"format {OLDER}, made by an older"):
            use(older)
    assert older.read_bytes() == before


@pytest.mark.usefixtures("migration")
def test_an_older_file_is_read_as_it_is_and_migrated_when_it_continues(older: Path) -> None:
    with Reading.open(older) as reading:
        assert reading.format == OLDER
        digests = reading.digests()
    with RunFile.open(older) as run:
        assert run.digests == digests
        assert run.reading.one("SELECT count(*) FROM added") == (0,)
    with Reading.open(older) as reading, Reading.open(older.with_name(f"older.run.format-{OLDER}")) as backup:
        assert (reading.format, backup.format) == (schema.FORMAT, OLDER)
        assert backup.digests() == digests


@pytest.mark.usefixtures("migration")
def test_a_fork_of_an_older_file_is_migrated_and_the_source_is_not(older: Path, tmp_path: Path) -> None:
    with fork(older, 2, tmp_path / "b.run") as run:
        assert run.reading.format == schema.FORMAT
    with Reading.open(older) as reading:
        assert reading.format == OLDER
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["b.run", "older.run"]
