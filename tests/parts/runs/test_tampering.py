"""Whatever is changed in the rows of a run in a database, `verify` notices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import RunDamaged
from commonplace.parts.runs import tables
from commonplace.run import integrity
from commonplace.run.copying import copy_run
from commonplace.run.reading import Reading
from e2e.lived import once
from e2e.test_tampering import with_offers
from run.databases import Database, fresh
from run.small_runs import make
from run.test_damage import READS, TICKS

OTHER = {"INTEGER": "{0} + 1000", "REAL": "{0} + 0.001", "TEXT": "{0} || 'x'", "BLOB": r"{0} || '\x00'"}
"""Type → another value in place of one."""
CHANGES = [(table, column) for table, columns in tables.columns().items() for column in (*columns, None)]
"""(table, column) that is changed; None: a row is deleted."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[Database]:
    """A run with rows of every kind."""
    path: Path = once(tmp_path_factory, "whole.run", with_offers)
    with fresh(postgres_url) as database:
        copy_run(path, database / "whole")
        yield database


def test_it_is_sound_with_rows_of_every_kind(whole: Database) -> None:
    with Reading.open(whole / "whole") as run:
        assert integrity.check(run) == run.last_tick
    for table in (*tables.columns(), "removal"):
        assert whole.execute(f"SELECT count(*) > 0 FROM {table}") == [(True,)], table


@pytest.mark.parametrize(("table", "column"), CHANGES, ids=lambda one: getattr(one, "name", str(one)))
def test_a_changed_cell_and_a_deleted_row_are_noticed(whole: Database, table: str, column: tables.Column) -> None:
    if (table, column and column.name) == ("memory", "removed"):
        table, name, other = "removal", "tick", "tick + 1"
    else:
        name = column.name if column else ""
        other = OTHER[column.type].format(name) if column else ""
        if column and not column.required and not column.key:
            other = f"CASE WHEN {name} IS NULL THEN 1 ELSE NULL END"
    where = f"ctid = (SELECT ctid FROM {table} ORDER BY ctid DESC LIMIT 1)"
    whole.execute(f"CREATE TABLE kept AS SELECT * FROM {table}")
    try:
        change = f"UPDATE {table} SET {name} = {other}" if name else f"DELETE FROM {table}"
        done = whole.execute(f"{change} WHERE {where}")
        assert done == 1
        with pytest.raises(RunDamaged) as raised, Reading.open(whole / "whole") as run:
            integrity.check(run)
        assert "rescue" not in str(raised.value)
        assert "file" not in str(raised.value)
    finally:
        whole.execute(f"DELETE FROM {table}")
        whole.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        whole.execute(f"INSERT INTO {table} SELECT * FROM kept")
        whole.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        whole.execute("DROP TABLE kept")


@pytest.mark.parametrize("name", [name for name in READS if name not in ("a weight", "a digest")])
def test_what_cannot_be_read_is_named(database: Database, name: str) -> None:
    """A column of a database has one type, so an infinite weight and a digest of text cannot be written at all."""
    statement, read, what = READS[name]
    make(database / "a.run", TICKS)
    database.execute(re.sub(r"x'([0-9a-f]+)'", r"'\\x\1'", statement))
    reading = Reading.open(database / "a.run")
    try:
        with pytest.raises(RunDamaged, match="the run is damaged") as raised:
            read(reading)
        assert what in str(raised.value)
        assert "backup" in raised.value.hint
    finally:
        reading.close()
