"""Candidates for a retrieval, found inside the database: a few rows among which the best are sure to be.

The database scores in its own arithmetic and supplies the best with a margin, together with the rows that have the
lowest and highest value of each part; over these the one scoring function gives what it would give over all rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from commonplace.memory.columns import UNUSABLE, norm_of
from commonplace.memory.embedding import LATTICE_NORM, Vector
from commonplace.memory.policy import Policy
from commonplace.memory.recency import micros

_UNITS = 2.0**30
_HOUR = 3_600_000_000
_LOOSE = 2e-5 * _UNITS
"""How far the database's similarity of vectors that are not on the lattice may be off, in units."""
_FAR = 40.0
"""Exponents beyond which e^x − 1 is e^x."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of one character's memories."""

    agent: int
    """Number of the character."""
    vector: Vector | None
    """Of the question; None if it cannot be embedded."""
    dimensions: int
    policy: Policy
    at: datetime
    exclude: Sequence[int]
    """Ids that do not compete."""

    @property
    def row(self) -> dict[str, Any]:
        """The values that every query takes."""
        values: dict[str, Any] = {"agent": self.agent, "exclude": list(self.exclude), "d": self.dimensions}
        return values if self.vector is None else {**values, "q": self.vector, "n": norm_of(self.vector)}

    @property
    def relation(self) -> str:
        """The competing rows with the moment that recency counts from and their similarity in units."""
        units = "0::float8"
        if self.vector is not None:
            units = (
                f"round(CASE WHEN dimensions = %(d)s AND norm > 0 THEN -(embedding <#> %(q)s) / norm / %(n)s"
                f" ELSE 0 END * {_UNITS:.0f})"
            )
        # what was made after the question has no age yet
        when = f"least(created, {micros(self.at)})" if self.policy.recency == "creation" else "accessed"
        return (
            f"SELECT id, created, {when} AS t, importance, {units} AS units, width, exact, dimensions, norm, embedding"
            " FROM commonplace_memory WHERE agent = %(agent)s AND state = 0 AND NOT id = ANY(%(exclude)s)"
        )


@dataclass(frozen=True, slots=True)
class Extent:
    """What is true of all competing rows."""

    count: int
    times: tuple[int, int]
    importance: tuple[float, float]
    units: tuple[float, float]
    exact: bool
    """Whether the database's similarities are those of NumPy, to the last bit: all vectors are on the lattice."""
    unusable: dict[str, int]

    @property
    def slack(self) -> float:
        """How far a similarity may be off, in units."""
        return 0.0 if self.exact else _LOOSE


def extent(connection: Any, asked: Asked) -> Extent:
    """Count, extremes and what cannot be compared, in one pass."""
    row = connection.execute(
        "SELECT count(*), min(t), max(t), min(importance), max(importance), min(units), max(units),"
        f" coalesce(bool_and(width = 0 OR (width = 2 AND norm <= {LATTICE_NORM})), true),"
        " count(*) FILTER (WHERE width = 0),"
        " count(*) FILTER (WHERE width > 0 AND octet_length(exact) / width = %(d)s AND embedding IS NULL),"
        " count(*) FILTER (WHERE width > 0 AND octet_length(exact) / width <> %(d)s)"
        f" FROM ({asked.relation}) AS c",
        asked.row,
    ).fetchone()
    unusable = {why: row[7 + state] for state, why in UNUSABLE.items() if row[7 + state]}
    exact = row[7] and (asked.vector is None or _on_lattice(asked.vector))
    if not row[0]:
        return Extent(0, (0, 0), (0.0, 0.0), (0.0, 0.0), exact, unusable)
    return Extent(row[0], row[1:3], row[3:5], row[5:7], exact, unusable)


def nearest(connection: Any, asked: Asked, over: Extent) -> list[int]:
    """The ids among which the nearest `policy.nearest` are."""
    relation = f"WITH c AS MATERIALIZED ({_slim(asked, over)})"
    best = "SELECT id, units FROM c ORDER BY units DESC, created DESC, id DESC LIMIT %(limit)s"
    values = {**asked.row, "limit": asked.policy.nearest, "slack": 2 * over.slack}
    if over.exact:
        query = f"{relation} SELECT id FROM ({best}) AS b"
    else:
        query = f"{relation}, b AS ({best}) SELECT id FROM c WHERE units >= (SELECT min(units) FROM b) - %(slack)s"
    return [id for (id,) in connection.execute(query, values)]


def best(connection: Any, asked: Asked, over: Extent, limit: int) -> tuple[list[int], float]:
    """(the ids of the best `limit` and of the extremes, what the score of none of the others exceeds)."""
    query = (
        f"WITH c AS MATERIALIZED ({_slim(asked, over)}),"
        f" s AS MATERIALIZED (SELECT *, {_total(asked, over)} AS total FROM c),"
        " b AS (SELECT id, total FROM s ORDER BY total DESC, created DESC, id DESC LIMIT %(limit)s)"
        " SELECT id, total FROM b UNION ALL SELECT id, 'Infinity' FROM ("
        f"{_extremes(over)}) AS e"
    )
    values = {
        **asked.row,
        "limit": limit,
        "low": over.units[0] + 2 * over.slack,
        "high": over.units[1] - 2 * over.slack,
    }
    rows = connection.execute(query, values).fetchall()
    ids = sorted({id for id, _ in rows})
    if len(ids) == over.count:
        return ids, -math.inf
    return ids, min(total for _, total in rows) + _margin(asked, over)


def newest(connection: Any, asked: Asked, limit: int) -> list[int]:
    """The ids of the latest made."""
    query = f"SELECT id FROM ({asked.relation}) AS c ORDER BY created DESC, id DESC LIMIT %(limit)s"
    return [id for (id,) in connection.execute(query, {**asked.row, "limit": limit})]


def _slim(asked: Asked, over: Extent) -> str:
    """The relation without what would not fit into the server's working memory."""
    exact = "" if over.exact else ", exact"
    return f"SELECT id, created, t, importance, units{exact} FROM ({asked.relation}) AS every"


def _extremes(over: Extent) -> str:
    """Rows with the lowest and highest value of each part; of similarity, all that may have it."""
    columns = ("t", "importance", "units") if over.exact else ("t", "importance")
    parts = [f"(SELECT id FROM c ORDER BY {column} {way} LIMIT 1)" for column in columns for way in ("ASC", "DESC")]
    if not over.exact:
        parts += [
            f"(SELECT DISTINCT ON (exact) id FROM c WHERE units {where})" for where in ("<= %(low)s", ">= %(high)s")
        ]
    return " UNION ALL ".join(parts)


def _total(asked: Asked, over: Extent) -> str:
    """The score as SQL."""
    policy = asked.policy
    parts = (
        (policy.recency_weight, _recency(asked, over)),
        (policy.importance_weight, _importance(asked, over)),
        (policy.relevance_weight, _similarity(asked, over)),
    )
    return " + ".join(f"({weight!r}::float8) * ({part})" for weight, part in parts)


def _recency(asked: Asked, over: Extent) -> str:
    policy, (first, last) = asked.policy, over.times
    rate = _rate(policy)
    if policy.normalise == "none":
        return f"exp(least(greatest({rate!r}::float8 * (t - {micros(asked.at)}), -700), 300))"
    span = rate * (last - first)
    if not span:
        return repr(policy.all_equal)
    if span > _FAR:
        return f"exp(greatest({rate!r}::float8 * (t - {last}), -700))"
    # (e^x − 1) / (e^X − 1) without losing digits where x is small
    x = f"({rate!r}::float8 * (t - {first}))"
    return f"sinh({x} / 2) / {math.sinh(span / 2)!r}::float8 * exp(({x} - {span!r}::float8) / 2)"


def _importance(asked: Asked, over: Extent) -> str:
    low, high = over.importance
    if asked.policy.normalise == "none":
        return "importance" if asked.policy.importance == "scale" else "(importance - 1) / 9"
    return repr(asked.policy.all_equal) if low == high else f"(importance - {low!r}::float8) / {high - low!r}::float8"


def _similarity(asked: Asked, over: Extent) -> str:
    low, high = over.units
    if asked.policy.normalise == "none":
        return f"units / {_UNITS:.0f}"
    return repr(asked.policy.all_equal) if low == high else f"(units - {low!r}::float8) / {high - low!r}::float8"


def _margin(asked: Asked, over: Extent) -> float:
    """How far the database's total may be off."""
    policy = asked.policy
    rate = _rate(policy)
    if policy.normalise == "none":
        ahead = rate * (over.times[1] - micros(asked.at))
        recency = 1e-9 * math.exp(min(max(ahead, 0.0), 300.0))
        similarity = over.slack / _UNITS
    else:
        spread = -math.expm1(-rate * (over.times[1] - over.times[0]))
        recency = 1.0 if 0 < spread < 1e-9 else 1e-14 / spread if spread else 0.0
        width = over.units[1] - over.units[0]
        similarity = 0.0 if over.exact else min(1.0, 4 * over.slack / width if width else 1.0)
    return 1e-8 * (1 + sum(map(abs, policy.weights.values()))) + (
        abs(policy.recency_weight) * recency + abs(policy.relevance_weight) * similarity
    )


def _rate(policy: Policy) -> float:
    """Recency's exponent per microsecond."""
    return -math.log(policy.decay) / _HOUR


def _on_lattice(vector: Vector) -> bool:
    return norm_of(vector) <= LATTICE_NORM and bool((np.rint(vector) == vector).all())
