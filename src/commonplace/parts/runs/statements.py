"""The statements of `commonplace.run`, as PostgreSQL takes them for one run among many.

What a run reads is its own rows and those of its ancestors up to where it was forked: a table in a statement becomes a
subquery over both, which the planner takes apart again. What it writes are rows of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.parts.runs.tables import COUNTER, columns, key, stored

BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN = {"BEGIN": BEGIN_SNAPSHOT, "BEGIN IMMEDIATE": "BEGIN"}
_READ = re.compile(rf"\b(FROM|JOIN)\s+({'|'.join(sorted(columns()))})\b")
_INSERT = re.compile(r"INSERT (OR REPLACE )?INTO (\w+) VALUES \(")
_DELETE = re.compile(r"\s*DELETE FROM (\w+) WHERE (.*)", re.DOTALL)
_NAMED = re.compile(r"(?<!:):(\w+)")
_VISIBLE = {
    "tick": "n <= {at}",
    "answer": "used <= {at}",
    "vector": "id <= {vectors}",
    "primer": "id <= {primers}",
    "model_call": "EXISTS (SELECT 1 FROM commonplace.answer used WHERE used.run = {run} AND used.agent = {table}.agent"
    " AND used.tick = {table}.tick AND used.ordinal = {table}.ordinal AND used.attempt = {table}.attempt"
    " AND used.used <= {at})",
}
"""Table → which rows of an ancestor a run has; those of a tick up to the fork where nothing is said."""
_OWN = frozenset({"meta", "seal", "offered", COUNTER})
"""Tables of which a run has no rows of its ancestors."""


class Ancestor(NamedTuple):
    """A run whose past another one shares."""

    run: int
    at: int
    """The last tick that both have."""
    vectors: int
    """The last vector, by number, that both have."""
    primers: int


class Statements:
    """The statements of one run."""

    def __init__(self, run: int, ancestors: Sequence[Ancestor] = ()) -> None:
        self.run = run
        self._ancestors = tuple(ancestors)
        self._known: dict[str, str] = {}

    def of(self, query: str) -> str:
        """Returns a statement of `commonplace.run` as PostgreSQL takes it."""
        known = self._known.get(query)
        if known is None:
            known = self._known[query] = _BEGIN.get(query) or self._written(query) or self._read(query)
        return known

    def copied(self, table: str) -> str:
        """Returns the COPY statement that adds rows, each with the run in front."""
        names = [*stored()[table], *(["embedding"] if table == "vector" else [])]
        return f"COPY commonplace.{table}(run, {', '.join(names)}) FROM STDIN"

    def visible(self, table: str) -> str:
        """Returns the subquery with all rows of a table that the run has."""
        names = [one.name for one in columns()[table]]
        rows = self._rows(table, stored().get(table, names))
        if table != "memory":
            return rows
        cells = ", ".join("gone.tick AS removed" if name == "removed" else f"kept.{name}" for name in names)
        gone = self._rows("removal", ["agent", "id", "tick"])
        same = "gone.agent = kept.agent AND gone.id = kept.id"
        return f"SELECT {cells} FROM ({rows}) kept LEFT JOIN ({gone}) gone ON {same}"

    def _rows(self, table: str, names: Sequence[str]) -> str:
        cells = ", ".join(names)
        parts = [f"SELECT {cells} FROM commonplace.{table} WHERE run = {self.run}"]
        for one in self._ancestors if table not in _OWN else ():
            condition = _VISIBLE.get(table, "tick <= {at}").format(table=table, **one._asdict())
            parts.append(f"SELECT {cells} FROM commonplace.{table} WHERE run = {one.run} AND {condition}")
        return " UNION ALL ".join(parts)

    def _read(self, query: str) -> str:
        named = _NAMED.sub(r"%(\1)s", query).replace("?", "%s")
        return _READ.sub(lambda found: f"{found[1]} ({self.visible(found[2])}) AS {found[2]}", named)

    def _written(self, query: str) -> str:
        found = _INSERT.match(query)
        if found:
            return self._inserted(found[2], replacing=bool(found[1]))
        found = _DELETE.fullmatch(query)
        if found:
            table, condition = found[1], self._read(found[2])
            return f"DELETE FROM commonplace.{table} AS {table} WHERE run = {self.run} AND ({condition})"
        return ""

    def _inserted(self, table: str, *, replacing: bool) -> str:
        names = [one.name for one in columns()[table]]
        values = ", ".join(["%s"] * len(names))
        query = f"INSERT INTO commonplace.{table}(run, {', '.join(names)}) VALUES ({self.run}, {values})"
        if not replacing:
            return query
        rest = [name for name in names if name not in key(table)]
        changed = ", ".join(f"{name} = excluded.{name}" for name in rest)
        return f"{query} ON CONFLICT (run, {', '.join(key(table))}) DO UPDATE SET {changed}"
