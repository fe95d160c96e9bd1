"""The tables of a run file, the two numbers that say who can read it, and how an older file is brought up to date."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from commonplace.errors import CommonplaceError, RunDamaged, UsageError
from commonplace.run.place import Address
from commonplace.sqlite import FileKind

FORMAT = 5
"""Number of the table layout. A newer file is refused; an older one passes through `MIGRATIONS`."""
OLDEST = 3
"""The first format that can be brought up to date. Formats 1 and 2 were never released."""
SEMANTICS = 16
"""Number of the rules that make history: the same scenario, seed and answers give the same digests under one number."""

RUN = FileKind(
    name="a Commonplace run",
    application_id=0x436F6D50,  # `ComP`
    format=FORMAT,
    expected="give a file made by `commonplace run`",
    again="try again",
    inspect="`commonplace rescue {where} -o NEW`",
    damage=RunDamaged,
)

RESTORE = "go back to a copy, or to a backup of the database"
"""What to do about a damaged run in a database."""


def damage(where: str, why: str) -> CommonplaceError:
    """Returns the error for a run that cannot be read. `where`: its place, as it is shown."""
    if Address.parsed(where):
        return RunDamaged(f"the run is damaged ({why})", where=where, hint=RESTORE)
    return RUN.damaged(where, why)


TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- the three chains; parts: one 16-byte digest per kind of row (see digest.KINDS), so that damage can be named
CREATE TABLE tick(
  n INTEGER PRIMARY KEY, history BLOB NOT NULL, state BLOB NOT NULL, record BLOB NOT NULL, parts BLOB NOT NULL);
-- a digest over all rows of a kind that belong to no committed tick (see seals)
CREATE TABLE seal(kind TEXT PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE event(
  tick INTEGER NOT NULL, phase INTEGER NOT NULL, agent TEXT NOT NULL, ordinal INTEGER NOT NULL,
  type TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(tick, phase, agent, ordinal)) WITHOUT ROWID;

-- created: microseconds since 1970; details: the fields that most memories leave at their default, as compressed JSON;
-- removed: the tick it was forgotten in, NULL while it is remembered
CREATE TABLE memory(
  agent TEXT NOT NULL, id INTEGER NOT NULL, tick INTEGER NOT NULL, kind TEXT NOT NULL, importance REAL NOT NULL,
  text TEXT NOT NULL, created INTEGER NOT NULL, vector INTEGER, citations TEXT NOT NULL, event TEXT NOT NULL,
  details BLOB NOT NULL, removed INTEGER, PRIMARY KEY(agent, id)) WITHOUT ROWID;
CREATE TABLE vector(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, value BLOB NOT NULL);
-- at: microseconds since 1970; ids: see rows.packed_ids
CREATE TABLE touch(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, at INTEGER NOT NULL, ids BLOB NOT NULL,
  PRIMARY KEY(agent, tick)) WITHOUT ROWID;

-- the state at t is the last version ≤ t; clustered by tick because a commit appends, sought through the index
CREATE TABLE version(
  tick INTEGER NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(tick, owner, kind, key)) WITHOUT ROWID;
CREATE INDEX version_at ON version(kind, owner, key, tick);

-- used: the tick whose turns used the answer, NULL until it is committed (a deferred job is used later than asked);
-- clustered by tick, as versions are
CREATE TABLE answer(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  task TEXT NOT NULL, request BLOB NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL, usage TEXT NOT NULL,
  used INTEGER, PRIMARY KEY(tick, agent, ordinal, attempt)) WITHOUT ROWID;
CREATE INDEX answer_waiting ON answer(agent, tick, ordinal, attempt) WHERE used IS NULL;
-- what a fork's parent was answered after the fork: taken when the same question is asked again, else ignored
CREATE TABLE offered(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  task TEXT NOT NULL, request BLOB NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL, usage TEXT NOT NULL,
  PRIMARY KEY(agent, tick, ordinal, attempt)) WITHOUT ROWID;

-- what was said to and by a mind at each attempt (see journal)
CREATE TABLE primer(id INTEGER PRIMARY KEY, agent TEXT NOT NULL, series INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX primer_of ON primer(agent, series);
CREATE TABLE model_call(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  primer INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(agent, tick, ordinal, attempt));

-- tick: NULL while an input is queued
CREATE TABLE input(seq INTEGER PRIMARY KEY AUTOINCREMENT, tick INTEGER, body TEXT NOT NULL);
CREATE INDEX input_at ON input(tick);

-- why everybody did what they did; may be trimmed
CREATE TABLE trace(agent TEXT NOT NULL, tick INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(tick, agent));
"""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    type: str
    """INTEGER, REAL, TEXT or BLOB."""
    required: bool
    key: int
    """Its place in the primary key, from 1; 0 for the others."""


OLDER: Mapping[int, Mapping[str, str]] = {
    3: {
        "tick": "CREATE TABLE tick(n INTEGER PRIMARY KEY, history BLOB NOT NULL, state BLOB NOT NULL,"
        " parts BLOB NOT NULL)",
        "seal": "",
        "answer_waiting": "",
    },
    4: {
        "event_of": "CREATE INDEX event_of ON event(agent, tick)",
        "answer": "CREATE TABLE answer( agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL,"
        " attempt INTEGER NOT NULL, task TEXT NOT NULL, request BLOB NOT NULL, outcome TEXT NOT NULL,"
        " body TEXT NOT NULL, usage TEXT NOT NULL, used INTEGER,"
        " PRIMARY KEY(agent, tick, ordinal, attempt)) WITHOUT ROWID",
        "trace": "CREATE TABLE trace(agent TEXT NOT NULL, tick INTEGER NOT NULL, body BLOB NOT NULL,"
        " PRIMARY KEY(agent, tick))",
    },
}
"""Format → what was different from the next one: the statement of each table and index; empty if there was none."""


def layout(number: int = FORMAT) -> dict[str, str]:
    """Returns table or index → the statement that makes it, in a file of the format."""
    # not `executescript`, which would commit the transaction
    plain = " ".join(line for line in TABLES.splitlines() if not line.startswith("--"))
    statements = [" ".join(one.split()) for one in plain.split(";")]
    found = {re.split(r"[ (]", one)[2]: one for one in statements if one}
    for older in range(FORMAT - 1, number - 1, -1):
        found |= OLDER.get(older, {})
    return {name: statement for name, statement in found.items() if statement}


@cache
def described() -> dict[str, tuple[Column, ...]]:
    """Returns table → its columns, as SQLite reads `TABLES`."""
    with closing(sqlite3.connect(":memory:")) as empty:
        for statement in layout().values():
            empty.execute(statement)
        names = [name for name, statement in layout().items() if statement.startswith("CREATE TABLE")]
        return {
            name: tuple(
                Column(column, type, bool(required), key)
                for _, column, type, required, _, key in empty.execute(f"PRAGMA table_info({name})")
            )
            for name in names
        }


@cache
def inserting(table: str) -> str:
    """Returns the statement that adds a row, whose cells are in the order of the columns."""
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(described()[table]))})"


@cache
def replacing(table: str) -> str:
    """Returns the statement that adds a row, in place of one with the same key."""
    return inserting(table).replace("INSERT", "INSERT OR REPLACE", 1)


def create(connection: sqlite3.Connection) -> None:
    """Lay out an empty run. Runs in the caller's transaction."""
    for statement in layout().values():
        connection.execute(statement)
    RUN.mark(connection)


def check(connection: sqlite3.Connection, where: str) -> int:
    """Returns the format of the file, after checking that its tables are those of the format.

    Raises UsageError for anything but a run that this version can read, RunDamaged for other tables, and for triggers
    and views, before anything else is read.
    """
    number = RUN.format_of(connection, where)
    if number < OLDEST:
        hint = "make the run again with the same scenario and seed: with the offline mind its history is the same"
        what = f"a run of format {number}, made by an older Commonplace; this one reads formats from {OLDEST}"
        raise UsageError(what, where=where, hint=hint)
    refuse_other(connection, number, where)
    return number


def refuse_other(connection: sqlite3.Connection, number: int, where: str) -> None:
    """Raises RunDamaged unless tables and indexes are those of the format, and there is nothing else."""
    expected = layout(number)
    found = {
        str(name): (kind, " ".join(str(sql).split()))  # damage makes other things than text
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
        if sql is not None and name != "sqlite_sequence"
    }
    for name, (kind, sql) in sorted(found.items()):
        if name not in expected:
            raise _other(f"it has a {kind} {name!r} that is not part of a run", where)
        if sql != expected[name]:
            raise _other(f"its {kind} {name!r} is not that of format {number}", where)
    for name in expected:
        if name not in found:
            raise _other(f"it has no {name!r}, which is part of format {number}", where)


def _other(what: str, where: str) -> RunDamaged:
    hint = "do not trust the file unless you changed it yourself; nothing in it was read"
    return RunDamaged(f"the file is damaged ({what})", where=where, hint=hint)


# ── older formats ───────────────────────────────────────────────────────────────────────────────────────────────────


Migration = Callable[[sqlite3.Connection], None]


def seal_everything(connection: sqlite3.Connection) -> None:
    """Migrates 3 → 4: adds the record chain over traces and usage, and a seal over what belongs to no tick."""
    from commonplace.run import digest, seals  # noqa: PLC0415 – start-up speed

    new = layout(4)
    connection.execute("ALTER TABLE tick RENAME TO tick_3")
    for name in ("tick", "seal", "answer_waiting"):
        connection.execute(new[name])
    traces = _by_tick(connection, "SELECT tick, agent, tick, body FROM trace ORDER BY tick, agent")
    usages = _by_tick(
        connection,
        "SELECT used, agent, tick, ordinal, attempt, usage FROM answer WHERE used IS NOT NULL"
        " ORDER BY used, agent, tick, ordinal, attempt",
    )
    record = digest.START
    for tick, history, state, parts in connection.execute("SELECT * FROM tick_3 ORDER BY n").fetchall():
        added = digest.traces_digest(traces(tick)) + digest.rows_digest(usages(tick))
        record = digest.record_digest(record, parts + added)
        connection.execute("INSERT INTO tick VALUES (?, ?, ?, ?, ?)", (tick, history, state, record, parts + added))
    connection.execute("DROP TABLE tick_3")
    seals.renew(connection)


def _by_tick(connection: sqlite3.Connection, query: str) -> Callable[[int], list[Any]]:
    """Gives the rows of a tick, without the first column; called with ascending ticks. Reads no others ahead."""
    groups = groupby(connection.execute(query), key=itemgetter(0))
    waiting: list[Any] = []

    def rows(tick: int) -> list[Any]:
        while not waiting or waiting[0][0] < tick:
            found = next(groups, None)
            if found is None:
                return []
            waiting[:] = [(found[0], [row[1:] for row in found[1]])]
        return waiting[0][1] if waiting[0][0] == tick else []

    return rows


def cluster_by_tick(connection: sqlite3.Connection) -> None:
    """Migrates 4 → 5: stores answers and traces as a commit appends them, and drops an index that it had to change."""
    new = layout(5)
    connection.execute("DROP INDEX event_of")
    for name in ("answer", "trace"):
        connection.execute(f"ALTER TABLE {name} RENAME TO {name}_4")
        connection.execute(new[name])
        connection.execute(f"INSERT INTO {name} SELECT * FROM {name}_4 ORDER BY tick, agent")
        connection.execute(f"DROP TABLE {name}_4")
    connection.execute(new["answer_waiting"])


MIGRATIONS: Sequence[tuple[str, Migration]] = (
    ("a record chain and seals", seal_everything),
    ("answers and traces by tick", cluster_by_tick),
)
"""(name, function) in order; the n-th turns format `OLDEST` + n into the next. None may touch the bytes of events."""


def migrate(connection: sqlite3.Connection, number: int) -> None:
    """Bring a file of an older format up to date. Runs in the caller's transaction, after a backup was made."""
    for _, migration in MIGRATIONS[number - OLDEST :]:
        migration(connection)
    RUN.mark(connection)
