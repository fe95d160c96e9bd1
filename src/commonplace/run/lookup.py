"""State at a tick: the last version ≤ tick of each value, found by skipping along the index.

The cost depends on how many values there are, not on how many ticks were lived.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from commonplace.run.record import Version
from commonplace.run.versions import STATE_KINDS

OWNERS = """
WITH RECURSIVE found(owner) AS (
  SELECT min(owner) FROM version WHERE kind = :kind
  UNION ALL
  SELECT (SELECT min(owner) FROM version WHERE kind = :kind AND owner > found.owner) FROM found
  WHERE found.owner IS NOT NULL)
SELECT owner FROM found WHERE owner IS NOT NULL
"""
OF_ALL = f"""
SELECT owner, (SELECT value FROM version WHERE kind = :kind AND owner = live.owner AND key = '' AND tick <= :at
               ORDER BY tick DESC LIMIT 1)
FROM ({OWNERS}) AS live
"""
OF_ONE = """
WITH RECURSIVE found(key) AS (
  SELECT min(key) FROM version WHERE kind = :kind AND owner = :owner AND key >= :low
  UNION ALL
  SELECT (SELECT min(key) FROM version WHERE kind = :kind AND owner = :owner AND key > found.key) FROM found
  WHERE found.key < :high)
SELECT key, (SELECT value FROM version WHERE kind = :kind AND owner = :owner AND key = found.key AND tick <= :at
             ORDER BY tick DESC LIMIT 1)
FROM found WHERE key < :high
"""
LAST = """
SELECT value FROM version WHERE kind = ? AND owner = ? AND key = ? AND tick <= ? ORDER BY tick DESC LIMIT 1
"""
TOP = "\U0010ffff"
"""Above every key."""


def owners(connection: sqlite3.Connection, kind: str) -> list[str]:
    """Everybody and everything that ever had a version of the kind, sorted."""
    return [owner for (owner,) in connection.execute(OWNERS, {"kind": kind}).fetchall()]


def agents(connection: sqlite3.Connection) -> list[str]:
    """Every character that ever had a body or a state, sorted."""
    return sorted({owner for kind in ("body", *STATE_KINDS) for owner in owners(connection, kind)})


def of_all(connection: sqlite3.Connection, kind: str, at: int) -> list[Version]:
    """The values of a kind of which every owner has one."""
    rows = connection.execute(OF_ALL, {"kind": kind, "at": at}).fetchall()
    return [Version(owner, kind, "", json.loads(value)) for owner, value in rows if value is not None]


def of_one(connection: sqlite3.Connection, kind: str, owner: str, at: int, prefix: str = "") -> list[Version]:
    """The values of a kind that one owner has, of keys that begin with the prefix."""
    bounds = {"low": prefix, "high": prefix + TOP}
    rows = connection.execute(OF_ONE, {"kind": kind, "owner": owner, "at": at, **bounds}).fetchall()
    return [Version(owner, kind, key, json.loads(value)) for key, value in rows if value is not None]


def last(connection: sqlite3.Connection, kind: str, owner: str, key: str, at: int) -> Version | None:
    """One value."""
    row = connection.execute(LAST, (kind, owner, key, at)).fetchone()
    return None if row is None else Version(owner, kind, key, json.loads(row[0]))


def world(connection: sqlite3.Connection, at: int) -> list[Version]:
    """All that `restore_world` needs."""
    found = [version for kind in ("body", "thing", "talk", "barred") for version in of_all(connection, kind, at)]
    for version in [version for version in found if version.kind == "talk"]:
        for talk_id, _, _, count, _ in version.value or ():
            keys = (f"{talk_id}#{number}" for number in range(count))
            found += _existing(last(connection, "line", version.owner, key, at) for key in keys)
    return found


def state(connection: sqlite3.Connection, agent: str, at: int) -> list[Version]:
    """All that `restore_state` needs. Items of days gone by are not even looked at: their ids begin with the day."""
    single = _existing(last(connection, kind, agent, "", at) for kind in ("day", "closed", "jobs", "reflect_after"))
    day = next((version.value for version in single if version.kind == "day"), None)
    plan = of_one(connection, "plan", agent, at, f"{day}.") if day is not None else []
    return [*single, *plan, *of_one(connection, "belief", agent, at), *of_one(connection, "relation", agent, at)]


def shown(connection: sqlite3.Connection, at: int) -> list[Version]:
    """All that a frame shows: bodies, things and the plans of the day."""
    found = [*of_all(connection, "body", at), *of_all(connection, "thing", at)]
    for day in of_all(connection, "day", at):
        found += of_one(connection, "plan", day.owner, at, f"{day.value}.")
    return found


def _existing(versions: Iterable[Version | None]) -> list[Version]:
    return [version for version in versions if version is not None]
