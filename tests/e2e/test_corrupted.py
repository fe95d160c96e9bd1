"""A file that holds anything anywhere: every command ends with a status and words, in bounded memory."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from commonplace.canon import canonical
from commonplace.parts.model_servers import client
from commonplace.run import seals
from e2e.command import command, copied, finished, started, tables
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
    paused = {3} if words[0] == "resume" else set[int]()  # nobody runs the model server that the run names
    assert done.status in {0, 1, 2} | paused, f"{where}: {words} → {done.status}"
    assert "a bug in Commonplace" not in done.err, f"{where}: {words}\n{done.err}"
    assert done.status == 0 or len(done.err) < 20_000, where


@pytest.fixture(autouse=True)
def no_wait_for_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two tries to connect."""
    monkeypatch.setattr(client, "LONGEST_WAIT", 0.0)


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
        with suppress(sqlite3.Error):  # a number where SQLite takes nothing else
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}{half}", (NASTY[name],))
    return [row[0] for row in found if row and isinstance(row[0], str)]


# ── bounded memory ──────────────────────────────────────────────────────────────────────────────────────────────────


MOST = 700 * MEGABYTE
"""Resident memory of a command; without a bomb it is about 150 MB."""
HEAVY = 4000
"""Rows that hold a bomb each, or all refer to one: together more than 10 GB."""


def details(connection: sqlite3.Connection) -> None:
    """Details that inflate to 16 MB each."""
    connection.execute("UPDATE memory SET details = ?", (zlib.compress(b'{"source":"' + b"x" * 16 * MEGABYTE + b'"}'),))


def many_details(connection: sqlite3.Connection) -> None:
    """Thousands of memories whose details are a megabyte each."""
    packed = zlib.compress(canonical({"source": "x" * MEGABYTE}))
    multiplied(connection, packed, None)


def vectors(connection: sqlite3.Connection) -> None:
    """Thousands of memories that share one vector of 65,535 dimensions."""
    value = b"\xff\xff" + bytes(65535) + zlib.compress(bytes(65535), 9)[2:-4]
    connection.execute("INSERT INTO vector VALUES (9999, x'00', ?)", (value,))
    multiplied(connection, zlib.compress(b"{}"), 9999)


def multiplied(connection: sqlite3.Connection, packed: bytes, vector: int | None) -> None:
    (last,) = connection.execute("SELECT max(id) FROM memory WHERE agent = 'ines'").fetchone()
    rows = (
        ("ines", last + number, 1, "observation", 1.0, f"bell {number}", 0, vector, "", "", packed, None)
        for number in range(1, HEAVY)
    )
    connection.executemany("INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def traces(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE trace SET body = ?", (BOMB,))


def calls(connection: sqlite3.Connection) -> None:
    """A series of primers that inflate to 64 MB each."""
    connection.execute("UPDATE primer SET body = ?, series = 1", (BOMB,))
    connection.execute(
        "UPDATE model_call SET primer = (SELECT max(id) FROM primer AS p WHERE p.agent = model_call.agent)"
    )


BOMBS = [many_details, traces, vectors, details, calls]


@pytest.mark.parametrize("bomb", BOMBS if PROVE else BOMBS[:1], ids=lambda bomb: bomb.__name__)
def test_memory_stays_bounded(bomb: Any, whole: Path, tmp_path: Path) -> None:
    """Sealed again, so that no digest says so first."""
    run = copied(whole, tmp_path)
    with tables(run) as connection:
        bomb(connection)
        (event,) = connection.execute(
            "SELECT 't' || tick || '.' || agent || '.' || ordinal FROM event WHERE type = 'SAY' ORDER BY tick LIMIT 1"
        ).fetchone()
        seals.renew(connection)
    for words in (["memories", run, "ines", "--json"], ["why", run, event, "--prompts"], ["verify", run]):
        most, status, said = peak(words)
        assert status in {0, 1}, said
        assert "a bug" not in said
        assert "Traceback" not in said
        assert most < MOST, f"{words[0]}: {most >> 20} MB"


WEIGHED = (
    sys.executable,
    "-c",
    "import sys; from commonplace.cli import main; status = main(); "
    "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr); sys.exit(status)",
)
"""The program, which says at its end how many kB it had at most. What the system counts for a child begins with the
size of its parent, and a worker that has run other tests is large."""


def peak(words: list[object]) -> tuple[int, int, str]:
    """Run a command by itself: its most resident bytes, its status, and what it said."""
    done = finished(started(*words, program=WEIGHED, stdout=subprocess.DEVNULL), status=None)
    *said, most = done.err.splitlines()
    return int(most) * 1024, done.status, "\n".join(said)
