"""What is opened: files of older formats, brought up to date with a backup or refused, and tables of another kind."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commonplace.errors import RunDamaged, UsageError
from commonplace.run import integrity, schema
from commonplace.run.file import RunFile
from commonplace.run.reading import Reading
from run.small_runs import answer, downgraded, fork, make, tampering

TICKS = 6
TABLES = ("tick", "seal", "answer", "trace")


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    """With a note, a queued input and an answer that waits."""
    path = make(tmp_path / "newest.run", TICKS)
    with RunFile.open(path) as run:
        run.note("control:speed", "fast")
        run.queue({"kind": "inner_voice"})
        run.journal.keep(answer("ann", TICKS + 1))
    return path


@pytest.fixture
def older(newest: Path) -> Path:
    """The same as format 3."""
    return downgraded(Path(shutil.copy(newest, newest.with_name("older.run"))))


def test_a_file_too_old_is_refused(older: Path) -> None:
    with tampering(older) as connection:
        connection.execute("PRAGMA user_version = 2")
    before = older.read_bytes()
    for use in (Reading.open, RunFile.open):
        with pytest.raises(UsageError, match="format 2, made by an older"):
            use(older)
    assert older.read_bytes() == before


def test_an_older_file_is_read_as_it_is(older: Path, newest: Path) -> None:
    before = older.read_bytes()
    with Reading.open(older) as reading, Reading.open(newest) as other:
        assert reading.format == 3
        assert reading.digests() == other.digests()
        assert reading.events() == other.events()
        assert integrity.check(reading) == TICKS
        assert "format 3 has no digest of traces" in integrity.unchecked(reading)[0]
        assert integrity.unchecked(other) == []
    assert older.read_bytes() == before


@pytest.mark.parametrize("number", [3, 4])
def test_an_older_file_is_migrated_when_it_continues(number: int, newest: Path) -> None:
    older = downgraded(Path(shutil.copy(newest, newest.with_name("older.run"))), number)
    RunFile.open(older).close()
    with Reading.open(older) as reading, Reading.open(older.with_name(f"older.run.format-{number}")) as backup:
        assert (reading.format, backup.format) == (schema.FORMAT, number)
        assert integrity.check(reading) == integrity.check(backup) == TICKS
    with closing(sqlite3.connect(older)) as one, closing(sqlite3.connect(newest)) as other:
        for table in TABLES:  # as if the run had been made under this format
            query = f"SELECT * FROM {table}"
            assert one.execute(query).fetchall() == other.execute(query).fetchall()


def test_a_fork_of_an_older_file_is_migrated_and_the_source_is_not(older: Path, tmp_path: Path) -> None:
    with fork(older, 2, tmp_path / "b.run") as run:
        assert run.reading.format == schema.FORMAT
        assert integrity.check(run.reading) == 2
    with Reading.open(older) as reading:
        assert reading.format == 3


@pytest.mark.parametrize("number", range(schema.OLDEST, schema.FORMAT + 1))
def test_the_layout_of_a_format_is_the_one_in_its_files(number: int, newest: Path) -> None:
    file = newest if number == schema.FORMAT else downgraded(newest, number)
    with closing(sqlite3.connect(file)) as connection:
        schema.refuse_other(connection, number, "")
        for other in {*range(schema.OLDEST, schema.FORMAT + 1)} - {number}:
            with pytest.raises(RunDamaged):
                schema.refuse_other(connection, other, "")


OTHERS = {
    "a trigger": "CREATE TRIGGER spy AFTER INSERT ON event BEGIN DELETE FROM trace; END",
    "a view": "CREATE VIEW seen AS SELECT * FROM event",
    "a table": "CREATE TABLE extra(value)",
    "an index": "CREATE INDEX extra ON event(abs(tick))",
    "an index taken away": "DROP INDEX version_at",
    "a table in another's place": "ALTER TABLE event ADD COLUMN more AS (upper(body))",
    "a view in a table's place": "ALTER TABLE offered RENAME TO hidden; CREATE VIEW offered AS SELECT * FROM hidden",
    "another format": "PRAGMA user_version = 3",
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_other_tables_are_refused_before_anything_is_read(newest: Path, change: str, tmp_path: Path) -> None:
    with tampering(newest) as connection:
        connection.executescript(change)
    before = newest.read_bytes()
    for use in (Reading.open, RunFile.open, lambda path: fork(path, 1, tmp_path / "b.run")):
        with pytest.raises(RunDamaged, match=r"part of|not that of format"):
            use(newest)
    assert newest.read_bytes() == before
    assert not (tmp_path / "b.run").exists()


def test_a_function_in_a_schema_is_not_called(newest: Path) -> None:
    with Reading.open(newest) as reading:
        assert reading.one("PRAGMA trusted_schema") == (0,)
