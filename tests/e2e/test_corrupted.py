"""A file that holds anything anywhere: every command ends with a status and words, in bounded memory."""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import pytest

from e2e.command import command, copied, tables
from e2e.test_tampering import TABLES, whole
from sizes import PROVE

__all__ = ["whole"]

MEGABYTE = 1 << 20
BOMB = zlib.compress(bytes(64 * MEGABYTE), 9)
NASTY: dict[str, Any] = {
    "nothing": None,
    "empty": "",
    "no JSON": "{",
    "another shape": "[]",
    "null": "null",
    "a list of odd things": '[null,true,[],{},"x",0.5]',
    "nested": "[" * 100_000,
    "nested, whole": '{"a":' * 400 + "1" + "}" * 400,
    "not a number": '{"a":NaN,"place":"","type":"SAY"}',
    "infinite": '[1e999,{"a":Infinity}]',
    "a number of many digits": "9" * 5000,
    "negative": -1,
    "huge": (1 << 62) + 1,
    "a fraction": 2.5,
    "infinity": math.inf,
    "bytes": b"\xff\xfe\x00",
    "no bytes": b"",
    "not UTF-8": b"\xc3\x28",
    "a bomb": BOMB,
    "a bomb after a length": b"\xff\xff" + bytes(65535) + zlib.compress(bytes(MEGABYTE), 9)[2:-4],
    "terminal escapes": "\x1b]0;title\x07\x1b[2J\u202e",
}
TEXT = {"no JSON", "not UTF-8"}
"""Bytes of these become text that is not UTF-8."""
COLUMNS = {
    "event": "tick phase agent ordinal type body",
    "memory": "agent id tick kind importance text created vector citations event details removed",
    "vector": "id digest value",
    "touch": "agent tick at ids",
    "version": "tick owner kind key value",
    "answer": "agent tick ordinal attempt task request outcome body usage used",
    "offered": "agent tick ordinal attempt task request outcome body usage",
    "primer": "id agent series body",
    "model_call": "agent tick ordinal attempt primer body",
    "input": "seq tick body",
    "trace": "agent tick body",
    "tick": "n history state record parts",
    "seal": "kind digest",
    "meta": "key value",
    "sqlite_sequence": "name seq",
}
CELLS = [(table, column) for table in TABLES for column in COLUMNS[table].split()]


def commands(run: Path, events: list[str]) -> list[list[object]]:
    return [
        ["digest", run, "--state"],
        ["events", run, "--json"],
        ["why", run],
        *(["why", run, event, "--prompts"] for event in events),
        ["replay", run, "--view", "plain"],
        ["memories", run, "ines", "--json"],
        ["memories", run, "ines", "--query", "the door"],
        ["agents", run],
        ["usage", run],
        ["diffusion", run],
        ["verify", run],
        ["fork", run, "--at", "20", "-o", run.with_name("fork.run"), "--force"],
        ["resume", run, "--ticks", "1", "--view", "none"],
    ]


def ends_in_words(run: Path, words: list[object], where: str) -> None:
    done = command(*words, status=None)
    assert done.status in {0, 1, 2}, f"{where}: {words} → {done.status}"
    assert "a bug in Commonplace" not in done.err, f"{where}: {words}\n{done.err}"
    assert done.status == 0 or len(done.err) < 20_000, where


@pytest.mark.parametrize(("table", "column"), CELLS, ids=lambda cell: cell)
def test_anything_in_a_column(table: str, column: str, whole: Path, tmp_path: Path) -> None:
    number = CELLS.index((table, column))
    chosen = list(NASTY) if PROVE else [list(NASTY)[(number * 5 + turn * 8) % len(NASTY)] for turn in range(2)]
    for turn, name in enumerate(chosen):
        run = copied(whole, tmp_path)
        events = spoilt(run, table, column, name)
        every = commands(run, events)
        for place, words in enumerate(every):
            if PROVE or place % 4 == (number + turn) % 4:
                ends_in_words(run, words, f"{table}.{column} = {name}")


def spoilt(run: Path, table: str, column: str, name: str) -> list[str]:
    """Put the value in half of the rows that take it; the ids of some events."""
    with tables(run) as connection:
        ids = "SELECT 't' || tick || '.' || agent || '.' || ordinal FROM event WHERE type = ? ORDER BY tick LIMIT 1"
        found = [connection.execute(ids, (type_,)).fetchone() for type_ in ("SAY", "MOVE")]
        value = "CAST(? AS TEXT)" if name in TEXT else "?"
        half = " WHERE abs(random()) % 2" if table not in {"meta", "sqlite_sequence"} else ""
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}{half}", (NASTY[name],))
    return [row[0] for row in found if row and isinstance(row[0], str)]
