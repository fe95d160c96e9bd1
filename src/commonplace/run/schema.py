"""The tables of a run file, the two numbers that say who can read it, and how an older file is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from commonplace.errors import UsageError

FORMAT = 2
"""Number of the table layout. A newer file is refused; an older one passes through `MIGRATIONS`."""
EXCHANGED = 2
"""The first format that keeps exchanges. Older files are read as they are, and brought up to date when gone on with."""
SEMANTICS = 3
"""Number of the rules that make history: the same scenario, seed and answers give the same digests under one number."""
APPLICATION_ID = 0x436F6D50
"""Marks a SQLite file as a run (`ComP`)."""

EXCHANGES = """
-- what was said between the run and a mind at each attempt (see exchange); `trim` may drop it; in no digest
CREATE TABLE primer(id INTEGER PRIMARY KEY, agent TEXT NOT NULL, series INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX primer_of ON primer(agent, series);
CREATE TABLE exchange(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  primer INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(agent, tick, ordinal, attempt));
"""
TABLES = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- parts: one 16-byte digest per kind of row (see digest.KINDS), so that damage can be named
CREATE TABLE tick(n INTEGER PRIMARY KEY, history BLOB NOT NULL, state BLOB NOT NULL, parts BLOB NOT NULL);

CREATE TABLE event(
  tick INTEGER NOT NULL, phase INTEGER NOT NULL, agent TEXT NOT NULL, ordinal INTEGER NOT NULL,
  type TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(tick, phase, agent, ordinal)) WITHOUT ROWID;
CREATE INDEX event_of ON event(agent, tick);

-- created: microseconds since 1970; details: see packing.packed_details;
-- removed: the tick it was forgotten in, NULL while it is remembered
CREATE TABLE memory(
  agent TEXT NOT NULL, id INTEGER NOT NULL, tick INTEGER NOT NULL, kind TEXT NOT NULL, importance REAL NOT NULL,
  text TEXT NOT NULL, created INTEGER NOT NULL, vector INTEGER, citations TEXT NOT NULL, event TEXT NOT NULL,
  details BLOB NOT NULL, removed INTEGER, PRIMARY KEY(agent, id)) WITHOUT ROWID;
CREATE TABLE vector(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, value BLOB NOT NULL);
-- at: microseconds since 1970; ids: see packing.packed_ids
CREATE TABLE touch(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, at INTEGER NOT NULL, ids BLOB NOT NULL,
  PRIMARY KEY(agent, tick)) WITHOUT ROWID;

-- the state at t is the last version ≤ t; clustered by tick because a commit appends, sought through the index
CREATE TABLE version(
  tick INTEGER NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(tick, owner, kind, key)) WITHOUT ROWID;
CREATE INDEX version_at ON version(kind, owner, key, tick);

-- used: the tick whose turns used the answer, NULL until it is committed (a deferred job is used later than asked)
CREATE TABLE answer(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  task TEXT NOT NULL, request BLOB NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL, usage TEXT NOT NULL,
  used INTEGER, PRIMARY KEY(agent, tick, ordinal, attempt)) WITHOUT ROWID;
-- what a fork's parent was answered after the fork: taken when the same question is asked again, else ignored
CREATE TABLE offered(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  task TEXT NOT NULL, request BLOB NOT NULL, outcome TEXT NOT NULL, body TEXT NOT NULL, usage TEXT NOT NULL,
  PRIMARY KEY(agent, tick, ordinal, attempt)) WITHOUT ROWID;

{EXCHANGES}
-- tick: NULL while an input is queued
CREATE TABLE input(seq INTEGER PRIMARY KEY AUTOINCREMENT, tick INTEGER, body TEXT NOT NULL);
CREATE INDEX input_at ON input(tick);

-- in no digest; `trim` may drop it
CREATE TABLE trace(agent TEXT NOT NULL, tick INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(agent, tick));
"""

Migration = Callable[[sqlite3.Connection], None]


def _add_exchanges(connection: sqlite3.Connection) -> None:
    for statement in _statements(EXCHANGES):
        connection.execute(statement)


MIGRATIONS: Sequence[tuple[str, Migration]] = (("what was said to minds is kept", _add_exchanges),)
"""(name, function) in order; the n-th turns format n into n + 1. None may touch the bytes of events."""


def create(connection: sqlite3.Connection) -> None:
    """Lay out an empty run. Runs in the caller's transaction."""
    for statement in _statements(TABLES):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def check(connection: sqlite3.Connection, where: str) -> int:
    """The format of the file. Raises UsageError for anything but a run that this version can read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise not_a_run(where)
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if number > FORMAT:
        raise UsageError(
            f"a run of format {number}, made by a newer Commonplace; this one reads formats up to {FORMAT}",
            where=where,
            hint="upgrade: pip install --upgrade commonplace",
        )
    return number


def migrate(connection: sqlite3.Connection, number: int) -> None:
    """Bring a file of an older format up to date. Runs in the caller's transaction, after a backup was made."""
    for _, migration in MIGRATIONS[number - 1 :]:
        migration(connection)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def not_a_run(where: str) -> UsageError:
    """The refusal of a file that is something else."""
    return UsageError("not a Commonplace run", where=where, hint="give a file made by `commonplace run`")


def _statements(script: str) -> list[str]:
    """`executescript` would commit the transaction under way."""
    plain = "\n".join(line for line in script.splitlines() if not line.startswith("--"))
    return [statement for statement in plain.split(";") if statement.strip()]
