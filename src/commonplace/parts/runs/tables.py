"""The tables of runs in a database: those of a run file, with the number of the run in front of each key.

They lie in the schema `commonplace`, beside views for people (docs/runs-in-postgresql.md).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from commonplace.errors import CommonplaceError, UsageError, refuse_newer
from commonplace.parts.stores.postgres import NO_PGVECTOR
from commonplace.run.schema import Column, described, layout

FORMAT = 1
"""Number of the table layout in a database. A newer one is refused."""
OLDEST_SERVER = 140_000
"""The first version of PostgreSQL that has all that the tables need, as the server counts."""
OLDEST_PGVECTOR = (0, 7)
"""The first version with half-precision vectors."""
MAKING = 0x436F6D50
"""The advisory lock under which tables are made, and the first half of the one that a run's writer holds."""
HELD = (
    f"locktype = 'advisory' AND classid = {MAKING} AND objid = %(run)s AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
"""Which of `pg_locks` says that a run has a writer."""
_TYPES = {"INTEGER": "bigint", "REAL": "float8", "TEXT": 'text COLLATE "C"', "BLOB": "bytea"}
"""SQLite's types → PostgreSQL's. Texts are in the order of their characters, as in a file."""
COUNTER = "sqlite_sequence"
"""Where SQLite keeps the last number that an input had."""

OWN = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE SCHEMA IF NOT EXISTS commonplace",
    "CREATE TABLE IF NOT EXISTS commonplace.format(number int PRIMARY KEY)",
    # a fork sees of its parent the ticks up to `at`, and the vectors and primers up to these numbers
    "CREATE TABLE IF NOT EXISTS commonplace.run("
    ' id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,'
    " parent int REFERENCES commonplace.run, at bigint, vectors bigint, primers bigint,"
    " start timestamptz, tick_minutes int,"  # of the scenario's clock: so that views know simulated times
    " created timestamptz NOT NULL DEFAULT now())",
    # who forgot what and when: a fork may forget what its parent remembers
    "CREATE TABLE IF NOT EXISTS commonplace.removal("
    ' run int NOT NULL, agent text COLLATE "C" NOT NULL, id bigint NOT NULL, tick bigint NOT NULL,'
    " PRIMARY KEY(run, agent, id))",
    "CREATE TABLE IF NOT EXISTS commonplace.talk("
    ' run int NOT NULL REFERENCES commonplace.run ON DELETE CASCADE, agent text COLLATE "C" NOT NULL,'
    " number int NOT NULL, ordinal int NOT NULL, line text NOT NULL, PRIMARY KEY(run, agent, number, ordinal))",
    f"CREATE TABLE IF NOT EXISTS commonplace.{COUNTER}("
    ' run int NOT NULL, name text COLLATE "C" NOT NULL, seq bigint NOT NULL, PRIMARY KEY(run, name))',
)
COUNTED = f"""
CREATE OR REPLACE FUNCTION commonplace.counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO commonplace.{COUNTER} VALUES (NEW.run, 'input', NEW.seq)
  ON CONFLICT (run, name) DO UPDATE SET seq = greatest({COUNTER}.seq, excluded.seq);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER counted AFTER INSERT ON commonplace.input
  FOR EACH ROW EXECUTE FUNCTION commonplace.counted()
"""
VIEWS = r"""
-- jsonb has no NUL, which JSON writes as \u0000
CREATE OR REPLACE FUNCTION commonplace.parsed(text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (CASE WHEN position('\u0000' IN $1) = 0 THEN $1
    ELSE regexp_replace($1, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g') END)::jsonb
$$;

CREATE OR REPLACE VIEW commonplace.lineage AS
  WITH RECURSIVE line(run, source, at, vectors) AS (
    SELECT id, id, NULL::bigint, NULL::bigint FROM commonplace.run WHERE name NOT LIKE '%.unfinished'
    UNION ALL
    SELECT line.run, up.parent, least(line.at, up.at), least(line.vectors, up.vectors)
    FROM line JOIN commonplace.run up ON up.id = line.source WHERE up.parent IS NOT NULL)
  SELECT line.run, run.name, line.source, line.at, line.vectors, run.start,
    run.tick_minutes * interval '1 minute' AS step
  FROM line JOIN commonplace.run run ON run.id = line.run;

CREATE OR REPLACE VIEW commonplace.runs AS
  SELECT run.name, manifest ->> 'scenario' AS scenario, (manifest ->> 'seed')::bigint AS seed,
    manifest ->> 'mind' AS mind, manifest ->> 'language' AS language, manifest ->> 'policy' AS policy,
    (SELECT max(n) FROM commonplace.lineage l JOIN commonplace.tick t ON t.run = l.source
     WHERE l.run = run.id AND (l.at IS NULL OR t.n <= l.at)) AS last_tick,
    parent.name AS parent, run.at AS forked_at, run.start, run.tick_minutes, run.created
  FROM commonplace.run run
  JOIN commonplace.meta meta ON meta.run = run.id AND meta.key = 'manifest'
  LEFT JOIN commonplace.run parent ON parent.id = run.parent
  CROSS JOIN LATERAL (SELECT commonplace.parsed(meta.value) AS manifest) AS parsed
  WHERE run.name NOT LIKE '%.unfinished';

CREATE OR REPLACE VIEW commonplace.ticks AS
  SELECT l.name AS run, t.n AS tick, l.start + t.n * l.step AS time, t.written
  FROM commonplace.lineage l JOIN commonplace.tick t ON t.run = l.source AND (l.at IS NULL OR t.n <= l.at);

CREATE OR REPLACE VIEW commonplace.events AS
  SELECT l.name AS run, e.tick, l.start + e.tick * l.step AS time, e.agent, e.type,
    't' || e.tick || '.' || e.agent || '.' || e.ordinal AS id, parsed.body ->> 'place' AS place, parsed.body
  FROM commonplace.lineage l JOIN commonplace.event e ON e.run = l.source AND (l.at IS NULL OR e.tick <= l.at)
  CROSS JOIN LATERAL (SELECT commonplace.parsed(e.body) AS body) AS parsed;

CREATE OR REPLACE VIEW commonplace.said AS
  SELECT run, tick, time, id, agent AS speaker, body ->> 'to_agent_id' AS hearer, body ->> 'utterance' AS words,
    place, body ->> 'topic' AS topic, body -> 'facts' AS facts
  FROM commonplace.events WHERE type = 'SAY';

CREATE OR REPLACE VIEW commonplace.memories AS
  SELECT l.name AS run, m.agent, m.id, m.tick, to_timestamp(m.created / 1000000.0) AS time, m.kind, m.importance,
    m.text, coalesce(commonplace.parsed(nullif(m.citations, '')), '[]') AS citations, m.event,
    gone.tick AS forgotten, v.embedding
  FROM commonplace.lineage l
  JOIN commonplace.memory m ON m.run = l.source AND (l.at IS NULL OR m.tick <= l.at)
  -- a fork may forget what its parent remembers, and share a vector with it
  LEFT JOIN (SELECT o.name, r.agent, r.id, r.tick FROM commonplace.lineage o JOIN commonplace.removal r
    ON r.run = o.source AND (o.at IS NULL OR r.tick <= o.at)) gone
    ON gone.name = l.name AND gone.agent = m.agent AND gone.id = m.id
  LEFT JOIN (SELECT o.name, v.id, v.embedding FROM commonplace.lineage o JOIN commonplace.vector v
    ON v.run = o.source AND (o.vectors IS NULL OR v.id <= o.vectors)) v ON v.name = l.name AND v.id = m.vector;

CREATE OR REPLACE VIEW commonplace.states AS
  SELECT l.name AS run, v.tick, l.start + v.tick * l.step AS time, v.owner, v.kind, v.key,
    commonplace.parsed(v.value) AS value
  FROM commonplace.lineage l JOIN commonplace.version v ON v.run = l.source AND (l.at IS NULL OR v.tick <= l.at);

CREATE OR REPLACE VIEW commonplace.doings AS
  SELECT run, owner AS agent, tick, lead(tick) OVER later AS until, time, lead(time) OVER later AS until_time,
    value ->> 'area' AS place, value ->> 'doing' AS doing
  FROM commonplace.states WHERE kind = 'body' WINDOW later AS (PARTITION BY run, owner ORDER BY tick);

CREATE OR REPLACE VIEW commonplace.stays AS
  SELECT run, agent, place, tick, lead(tick) OVER later AS until, time, lead(time) OVER later AS until_time
  FROM (SELECT *, lag(place) OVER (PARTITION BY run, agent ORDER BY tick) IS DISTINCT FROM place AS came
        FROM commonplace.doings) AS moves
  WHERE came WINDOW later AS (PARTITION BY run, agent ORDER BY tick);

CREATE OR REPLACE VIEW commonplace.relations AS
  SELECT run, tick, time, owner AS agent, key AS other, coalesce((value ->> 'warmth')::int, 0) AS warmth,
    value ->> 'label' AS label, value ->> 'summary' AS summary
  FROM commonplace.states WHERE kind = 'relation';

CREATE OR REPLACE VIEW commonplace.answers AS
  SELECT l.name AS run, a.tick, l.start + a.tick * l.step AS time, a.agent, a.ordinal, a.attempt, a.task, a.outcome,
    commonplace.parsed(nullif(a.body, '')) AS answer,
    coalesce((parsed.usage ->> 'prompt_tokens')::bigint, 0) AS prompt_tokens,
    coalesce((parsed.usage ->> 'answer_tokens')::bigint, 0) AS answer_tokens,
    coalesce((parsed.usage ->> 'cost')::float8, 0) AS cost
  FROM commonplace.lineage l
  JOIN commonplace.answer a ON a.run = l.source AND (l.at IS NULL OR a.used <= l.at)
  CROSS JOIN LATERAL (SELECT commonplace.parsed(nullif(a.usage, '')) AS usage) AS parsed;
"""


@cache
def columns() -> dict[str, tuple[Column, ...]]:
    """Returns table → its columns, without the run."""
    return {
        **described(),
        COUNTER: (Column("name", "TEXT", True, 1), Column("seq", "INTEGER", True, 0)),
    }


def stored() -> dict[str, list[str]]:
    """Returns table → the columns of a file's tables that a database has, too."""
    return {
        name: [one.name for one in found if (name, one.name) != ("memory", "removed")]
        for name, found in columns().items()
    }


def key(table: str) -> list[str]:
    """Returns the columns of the primary key, without the run."""
    return [one.name for one in sorted(columns()[table], key=lambda one: one.key) if one.key]


def statements() -> list[str]:
    """Returns what makes all tables and views, and does nothing where they are there."""
    return [*OWN, *map(_table, described()), *_indexes(), COUNTED, VIEWS]


def _table(name: str) -> str:
    cells = [
        f"{one.name} {_TYPES[one.type]}{' NOT NULL' if one.required or one.key else ''}"
        for one in described()[name]
        if (name, one.name) != ("memory", "removed")
    ]
    cells += {"vector": ["embedding halfvec"], "tick": ["written timestamptz NOT NULL DEFAULT now()"]}.get(name, [])
    cells.append(f"PRIMARY KEY(run, {', '.join(key(name))})")
    return f"CREATE TABLE IF NOT EXISTS commonplace.{name}(run int NOT NULL, {', '.join(cells)})"


def _indexes() -> list[str]:
    """Returns the indexes of a file, each within a run; and one over vectors for what SQLite keeps unique."""
    found = ["CREATE UNIQUE INDEX IF NOT EXISTS vector_digest ON commonplace.vector(run, digest)"]
    for name, statement in layout().items():
        made = re.fullmatch(r"CREATE INDEX \w+ ON (\w+)\((.*?)\)(.*)", statement)
        if made:
            table, cells, rest = made.groups()
            found.append(f"CREATE INDEX IF NOT EXISTS {name} ON commonplace.{table}(run, {cells}){rest}")
    return found


def number(connection: Any) -> int:
    """Returns the format of the tables in a database; 0 where there are none."""
    if connection.execute("SELECT to_regclass('commonplace.format')").fetchone() == (None,):
        return 0
    return connection.execute("SELECT coalesce(max(number), 0) FROM commonplace.format").fetchone()[0]


def may_write(connection: Any, table: str) -> bool:
    """Tells whether rows can be added to a table: by the role, and on this server."""
    query = (
        "SELECT has_table_privilege(%s, 'INSERT') AND NOT pg_is_in_recovery()"
        " AND current_setting('default_transaction_read_only') = 'off'"
    )
    return connection.execute(query, (f"commonplace.{table}",)).fetchone()[0]


def refuse_reader(connection: Any, where: str) -> None:
    """Raises CommonplaceError where a run can only be read."""
    if not may_write(connection, "tick"):
        hint = "use a role that may write to the tables of the schema `commonplace`, on a server that is no standby"
        raise CommonplaceError("it can be read here, and not written", where=where, hint=hint)


def _refuse_server(connection: Any, where: str) -> None:
    """Raises UsageError for a server that is too old, has no pgvector, or lets the role make no tables."""
    if connection.info.server_version < OLDEST_SERVER:
        what = (
            f"the server is PostgreSQL {connection.info.server_version // 10_000}; runs need {OLDEST_SERVER // 10_000}"
        )
        raise UsageError(what, where=where, hint="use a newer server, or embedded:FOLDER, which brings one along")
    query = "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'"
    offered, there = connection.execute(query).fetchone() or (None, None)
    if offered is None:
        raise UsageError("the server has no pgvector extension", where=where, hint=NO_PGVECTOR)
    if _numbers(there or offered) < OLDEST_PGVECTOR:
        what = f"pgvector {there or offered} is too old; runs need {'.'.join(map(str, OLDEST_PGVECTOR))}"
        hint = "update it on the server, then in the database: ALTER EXTENSION vector UPDATE"
        raise UsageError(what, where=where, hint=hint)
    query = (
        "SELECT has_database_privilege(current_database(), 'CREATE'), rolsuper FROM pg_roles"
        " WHERE rolname = current_user"
    )
    may_make, is_superuser = connection.execute(query).fetchone()
    if there is None and not is_superuser:
        what = "the database has no pgvector yet, and the role may not add it"
        raise UsageError(what, where=where, hint="let a superuser do it once in this database: CREATE EXTENSION vector")
    if not may_make:
        user, database = connection.info.user, connection.info.dbname
        hint = f'ask its owner: GRANT CREATE ON DATABASE "{database}" TO "{user}"'
        raise UsageError("the role may make no tables in the database", where=where, hint=hint)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def make(connection: Any, where: str) -> None:
    """Makes what is missing. Raises UsageError for a newer format and where nothing can be made, and the driver's
    errors."""
    there = number(connection)
    refuse_newer("a database of runs", there, FORMAT, where)
    if there == FORMAT:
        return
    if not there:
        _refuse_server(connection, where)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))  # two that start together make them once
        for statement in statements():
            connection.execute(statement)
        connection.execute("INSERT INTO commonplace.format VALUES (%s) ON CONFLICT DO NOTHING", (FORMAT,))
