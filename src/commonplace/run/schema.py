"""The tables of a run file, the two numbers that say who can read it, and how an older file is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from commonplace.errors import RunDamaged, UsageError
from commonplace.sqlite import FileKind

FORMAT = 3
"""Number of the table layout. A newer file is refused; an older one passes through `MIGRATIONS`."""
OLDEST = 3
"""The first format that can be brought up to date. Formats 1 and 2 were never released."""
SEMANTICS = 3
"""Number of the rules that make history: the same scenario, seed and answers give the same digests under one number."""

RUN = FileKind(
    name="a Commonplace run",
    application_id=0x436F6D50,  # `ComP`
    format=FORMAT,
    expected="give a file made by `commonplace run`",
    resume="`commonplace resume {where}`",
    inspect="`commonplace events {where}`",
    damage=RunDamaged,
)

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- parts: one 16-byte digest per kind of row (see digest.KINDS), so that damage can be named
CREATE TABLE tick(n INTEGER PRIMARY KEY, history BLOB NOT NULL, state BLOB NOT NULL, parts BLOB NOT NULL);

CREATE TABLE event(
  tick INTEGER NOT NULL, phase INTEGER NOT NULL, agent TEXT NOT NULL, ordinal INTEGER NOT NULL,
  type TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(tick, phase, agent, ordinal)) WITHOUT ROWID;
CREATE INDEX event_of ON event(agent, tick);

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

-- what was said to and by a mind at each attempt (see journal); in no digest
CREATE TABLE primer(id INTEGER PRIMARY KEY, agent TEXT NOT NULL, series INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX primer_of ON primer(agent, series);
CREATE TABLE model_call(
  agent TEXT NOT NULL, tick INTEGER NOT NULL, ordinal INTEGER NOT NULL, attempt INTEGER NOT NULL,
  primer INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(agent, tick, ordinal, attempt));

-- tick: NULL while an input is queued
CREATE TABLE input(seq INTEGER PRIMARY KEY AUTOINCREMENT, tick INTEGER, body TEXT NOT NULL);
CREATE INDEX input_at ON input(tick);

-- in no digest
CREATE TABLE trace(agent TEXT NOT NULL, tick INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(agent, tick));
"""

Migration = Callable[[sqlite3.Connection], None]

MIGRATIONS: Sequence[tuple[str, Migration]] = ()
"""(name, function) in order; the n-th turns format `OLDEST` + n into the next. None may touch the bytes of events."""


def create(connection: sqlite3.Connection) -> None:
    """Lay out an empty run. Runs in the caller's transaction."""
    # not `executescript`, which would commit the transaction
    plain = "\n".join(line for line in TABLES.splitlines() if not line.startswith("--"))
    for statement in filter(str.strip, plain.split(";")):
        connection.execute(statement)
    RUN.mark(connection)


def check(connection: sqlite3.Connection, where: str) -> int:
    """The format of the file. Raises UsageError for anything but a run that this version can read."""
    number = RUN.format_of(connection, where)
    if number < OLDEST:
        hint = "make the run again with the same scenario and seed: with the offline mind its history is the same"
        what = f"a run of format {number}, made by an older Commonplace; this one reads formats from {OLDEST}"
        raise UsageError(what, where=where, hint=hint)
    return number


def migrate(connection: sqlite3.Connection, number: int) -> None:
    """Bring a file of an older format up to date. Runs in the caller's transaction, after a backup was made."""
    for _, migration in MIGRATIONS[number - OLDEST :]:
        migration(connection)
    RUN.mark(connection)
