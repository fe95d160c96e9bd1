"""The proof of `verify`: flipped bytes and edited rows, drawn by number, of which none passes unnoticed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from commonplace.memory.stores.codec import inflated
from commonplace.rng import below
from commonplace.run import seals
from commonplace.run.rows import unpacked_vector
from e2e.command import command, copied, tables
from e2e.lived import once
from run.formats.make import COUNTED, made
from sizes import PROVE

FLIPS = 1000 if PROVE else 20
EDITS = 200 if PROVE else 20
AT_A_TIME = 20 if PROVE else 10
TABLES = (
    "event", "memory", "vector", "touch", "version", "answer", "offered", "primer", "model_call", "input", "trace",
    "tick", "seal", "meta", "sqlite_sequence",
)  # fmt: skip


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with rows of every kind: a fork, with model calls, inputs and answers that wait. Not to be written to."""
    return once(tmp_path_factory, "whole.run", with_offers)


def with_offers(run: Path) -> None:
    made(run)
    with tables(run) as connection:
        columns = "agent, tick, ordinal, attempt, task, request, outcome, body, usage"
        connection.execute(f"INSERT OR IGNORE INTO offered SELECT {columns} FROM answer WHERE tick > 20")
        seals.renew(connection)


def test_the_run_has_rows_of_every_kind(whole: Path) -> None:
    with tables(whole) as connection:
        for rows in (*COUNTED, *TABLES):
            assert connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0], rows
        named = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    assert {name for (name,) in named} == set(TABLES)
    assert command("verify", whole).status == 0


@pytest.mark.parametrize("first", range(0, FLIPS, AT_A_TIME))
def test_a_flipped_byte_is_noticed_or_holds_nothing(whole: Path, tmp_path: Path, first: int) -> None:
    content, size = everything(whole), whole.stat().st_size
    for number in range(first, first + AT_A_TIME):
        run = copied(whole, tmp_path)
        place, bits = below(size, "place", number), 1 + below(255, "bits", number)
        with run.open("r+b") as file:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ bits]))
        status = command("verify", run, status=None).status
        assert status in {0, 1, 2}
        if status == 0:  # nothing that can be read from the file is another
            assert everything(run) == content, f"byte {place} ^ {bits}"


@pytest.mark.parametrize("first", range(0, EDITS, AT_A_TIME))
def test_an_edited_row_is_noticed(whole: Path, tmp_path: Path, first: int) -> None:
    for number in range(first, first + AT_A_TIME):
        run = copied(whole, tmp_path)
        edit = edited(run, number)
        done = command("verify", run, status=None)
        assert done.status in {1, 2}, edit
        assert not done.out, edit


def edited(run: Path, number: int) -> str:
    """Change, delete or add one row; what was done."""
    table = TABLES[number % len(TABLES)]
    with tables(run) as connection:
        for attempt in range(100):
            draw = Draw(number, attempt)
            columns = [(name, kind) for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")]
            keys = ", ".join(name for name, _ in columns)
            rows = connection.execute(f"SELECT {keys} FROM {table}").fetchall()
            row = rows[draw.below(len(rows))]
            where = " AND ".join(f"{name} IS ?" for name, _ in columns)
            column = draw.below(len(columns))
            other = list(row)
            other[column] = draw.other(row[column])
            what = ("change", "delete", "add")[draw.below(3)]
            try:
                if what == "delete":
                    connection.execute(f"DELETE FROM {table} WHERE {where}", row)
                elif what == "add":
                    places = ", ".join("?" for _ in row)
                    connection.execute(f"INSERT INTO {table} VALUES ({places})", other)
                else:
                    name = columns[column][0]
                    connection.execute(f"UPDATE {table} SET {name} = ? WHERE {where}", (other[column], *row))
            except sqlite3.Error:
                continue  # a key that exists, a column that cannot be empty
            if connection.execute(f"SELECT {keys} FROM {table}").fetchall() != rows:
                return f"{what} {table}.{columns[column][0]}: {row!r} → {other!r}"
    raise AssertionError(f"nothing to edit in {table}")


class Draw:
    """Choices that follow from two numbers."""

    def __init__(self, *numbers: int) -> None:
        self._numbers: tuple[int, ...] = numbers
        self._count = 0

    def below(self, bound: int) -> int:
        self._count += 1
        return below(bound, *self._numbers, self._count)

    def other(self, cell: Any) -> Any:
        """Another value, usually of the same kind."""
        if self.below(6) == 0:
            return [None, "", b"", 0, -1, 2.5, "x" * 300, 1 << 40][self.below(8)]
        match cell:
            case int() | float():
                return cell + [1, -1, 7, 1000][self.below(4)]
            case str() if cell:
                place = self.below(len(cell))
                return cell[:place] + chr((ord(cell[place]) + 1) % 128) + cell[place + 1 :]
            case bytes() if cell:
                place = self.below(len(cell))
                return cell[:place] + bytes([cell[place] ^ 1 << self.below(8)]) + cell[place + 1 :]
            case _:
                return ["1", 1, b"1"][self.below(3)]


def everything(run: Path) -> list[Any]:
    """All that SQLite can read from the file, with the type of every value and what it holds."""
    return list(_everything(run))


def held(table: str, cell: Any) -> Any:
    """What a value holds: bits that fill up the last byte of what is compressed hold nothing."""
    with suppress(ValueError):
        if isinstance(cell, bytes):
            return unpacked_vector(cell) if table == "vector" else inflated(cell)
    return cell


def _everything(run: Path) -> Iterator[Any]:
    with closing(sqlite3.connect(f"{run.as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        for pragma in ("application_id", "user_version", "encoding"):
            yield connection.execute(f"PRAGMA {pragma}").fetchall()
        yield connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        for table in TABLES:
            for row in connection.execute(f"SELECT * FROM {table}"):
                yield tuple((type(cell), held(table, cell)) for cell in row)
