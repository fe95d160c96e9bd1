"""A stream whose memories stay in PostgreSQL: for streams larger than RAM, and for many readers of one character.

The database scores in its own arithmetic and supplies the best candidates with a margin, together with the rows that
have the lowest and highest value of each part. Over these few rows the one scoring function, `retrieval.retrieve`,
gives what it would give over all rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.memory.analyser import Analyser, analyser_of
from commonplace.memory.columns import micros
from commonplace.memory.embedding import (
    LATTICE_NORM,
    UNUSABLE,
    Embedder,
    Vector,
    default_embedder,
    is_pure,
    norm_of,
    query_vector,
    usable,
)
from commonplace.memory.explain import WhyNot
from commonplace.memory.importance import shared_rater
from commonplace.memory.policies import Policy
from commonplace.memory.preparing import EMBEDDING_ERROR, Item, embedded, flagged, mended, prepared, vectors_of
from commonplace.memory.reader import StoredReader
from commonplace.memory.record import (
    Memory,
    MemoryFields,
    Rater,
    checked_count,
    checked_ids,
)
from commonplace.memory.reflection import after
from commonplace.memory.retrieval import Retrieval, RetrievalQuery, retrieve
from commonplace.memory.search import Filters
from commonplace.memory.stores.codec import COLUMNS, stored_memory
from commonplace.memory.stores.keeper import refuse_other_embedder, settings_of
from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.store import (
    ARCHIVED,
    FORGOTTEN,
    THERE,
    Add,
    Archive,
    Configure,
    Forget,
    Operation,
    Overtaken,
    Restore,
    Revise,
    Touch,
)
from commonplace.memory.table import MemoryTable, View
from commonplace.memory.threads import locked
from commonplace.parts.stores.postgres import STORED, Mark, PostgresStore, stored_rows, stored_vectors
from commonplace.parts.stores.postgres_filters import EXPIRING, Narrowed, narrowed

_MORE = 32
"""Candidates fetched beyond those asked for, at first."""
_BATCH = 500
_END = (1 << 31) - 1


class DatabaseStream(StoredReader):
    """One character's memories in PostgreSQL, with nothing of them in RAM.

    It reads, writes and retrieves as `MemoryStream` does, and gives the same hits. Each call is at least one query, and
    what it writes is stored when it returns, accesses included. Any number of streams and processes may add to one
    character. Policies that need the words of all memories or their order of access (`lexical`, `recall`, `repo2023`)
    are refused, and so is any with a part that SQL does not score (`_SCORED`). It has no drafts and no snapshots.
    """

    def __init__(
        self, store: PostgresStore, agent: str, policy: Policy, embedder: Embedder, rater: Rater, analyser: Analyser
    ) -> None:
        self.store = store
        self.guard = store.guard
        self.agent = agent
        self.policy = policy
        self._parts = (embedder, rater, analyser)
        self._own = False

    @classmethod
    def open(
        cls,
        where: str | PostgresStore,
        agent: str,
        policy: Policy = policies.PARK,
        *,
        embedder: Embedder | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
    ) -> DatabaseStream:
        """Opens a character's memories in a PostgreSQL store: its URL, `embedded:FOLDER`, or the store.

        The other arguments are those of `MemoryStream.open`. Raises UsageError for another kind of store, and where the
        vectors were made by another embedder.
        """
        store = open_store(where) if isinstance(where, str) else where
        try:
            if not isinstance(store, PostgresStore):
                raise UsageError("not a PostgreSQL store", where=store.where, hint="MemoryStream.open opens any store")
            embedder = embedder or default_embedder()
            settings = json.loads(store.now(agent).settings)
            analyser = analyser or analyser_of(settings)
            refuse_other_embedder(settings, embedder, store.where)
        except BaseException:
            if store is not where:
                store.close()
            raise
        stream = cls(store, agent, policy, embedder, rater or shared_rater(analyser.language), analyser)
        stream._own = store is not where
        if not settings:
            stream._write(lambda _: [Configure(settings_of(embedder, stream._parts[2]))])
        if is_pure(embedder):
            # streams in RAM keep no vectors that follow from the text; here the database compares them
            stream.reembed(_BATCH)
        return stream

    def remember(self, text: str, *, at: datetime | None = None, **fields: Unpack[MemoryFields]) -> Memory:
        """Adds a memory and returns it with its id; arguments and errors as of `MemoryStream.remember`."""
        embedder, rater, analyser = self._parts
        memory, vector = prepared(
            Item(text, self._moment(at), fields),
            id=self.last_id + 1,
            agent=self.agent,
            embedder=embedder,
            rater=rater,
            language=analyser.language,
            exists=self.__contains__,
        )[:2]
        if vector is None:
            (vector,), failed = embedded(self.agent, embedder, [memory.text])
            memory = flagged(memory, {EMBEDDING_ERROR: failed}) if failed else memory
        vector = usable(vector, embedder.dimensions)[1]
        after = self._write(lambda mark: [Add([replace(memory, id=mark.last_id + 1)], [vector])])
        return replace(memory, id=after.last_id)

    @locked
    def _write(self, deed: Callable[[Mark], Sequence[Operation]]) -> Mark:
        """Writes what `deed` makes of what there is now, and again where somebody else was quicker; the new mark."""
        while True:
            mark = self.store.now(self.agent)
            with suppress(Overtaken):
                return self.store.write(self.agent, deed(mark), mark)

    @property
    def _embedder(self) -> Embedder:
        return self._parts[0]

    @property
    @locked
    def unembedded(self) -> tuple[int, ...]:
        """Ids of the memories without a vector; `reembed` makes them."""
        query = f"SELECT id FROM commonplace_memory WHERE agent = %s AND state = {THERE} AND width = 0 ORDER BY id"
        with self.store.mended():
            return tuple(id for (id,) in self.store.connection.execute(query, (self._number,)))

    @locked
    def reembed(self, batch: int = 256) -> int:
        """As `MemoryStream.reembed`."""
        missing, count = self.unembedded, 0
        for first in range(0, len(missing), checked_count("batch", batch, 1)):
            some = missing[first : first + batch]
            while some:
                vectors = self._embed(some)
                count += sum(vector is not None for vector in vectors.values())
                some = [id for id in some if id not in vectors]  # somebody has forgotten or revised them meanwhile
                some = sorted({*some}.intersection(self.unembedded)) if some else ()
        return count

    def _embed(self, ids: Sequence[int]) -> dict[int, Vector | None]:
        """Gives those of these memories that still say the same their vectors; id → vector of these."""
        memories, _ = self._rows(ids)
        texts, given = [memory.text for memory in memories], dict[int, Vector | None]()
        made = dict(zip(texts, vectors_of(self._parts[0], texts), strict=True))

        def deed(_: Mark) -> list[Operation]:
            there = [memory for memory in self._rows(ids)[0] if memory.text in made]
            given.clear()
            given.update((memory.id, made[memory.text]) for memory in there)
            return [Revise([mended(memory) for memory in there], list(given.values()))]

        self._write(deed)
        return given

    @locked
    def _answer(self, query: RetrievalQuery, *, touch: bool) -> Retrieval:
        _refuse(query.policy)
        embedder, vector, failed = self._parts[0], query.vector, ""
        if vector is None and query.text:
            vector, failed = query_vector(embedder, query.text)
        asked = _Query(
            self._number,
            _compared(vector, embedder.dimensions),
            embedder.dimensions,
            query.policy,
            query.at,
            sorted(query.exclude | self._expired(query.at)),
            bool(query.text) or query.vector is not None,
            query.min_relevance,
            narrowed(self.agent, query.filters),
        )
        # what does not compete is left out by the database
        over_rows = query._replace(k=min(query.k, _END), vector=vector, exclude=frozenset(), filters=Filters())
        with self.store.moment():
            found = self._found(over_rows, asked)
        given = vector if failed else query.vector
        found = replace(
            found, excluded=tuple(sorted(query.exclude)), vector=given, query_error=failed, filters=query.filters
        )
        if not touch or not found.found:
            return found
        self._write(lambda _: [Touch(dict.fromkeys(found.ids, found.at))])
        return replace(found, accessed=(micros(found.at),) * len(found))

    @locked
    def forget(
        self, ids: Iterable[int] | None = None, *, where: Filters | None = None, dry_run: bool = False
    ) -> tuple[int, ...]:
        """As `MemoryStream.forget`."""
        return self._moved(self._meant(ids, where), Forget, f"state != {FORGOTTEN}", dry_run=dry_run)

    @locked
    def archive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """As `MemoryStream.archive`."""
        return self._moved(ids, Archive, f"state = {THERE}")

    @locked
    def unarchive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """As `MemoryStream.unarchive`."""
        return self._moved(ids, Restore, f"state = {ARCHIVED}")

    @locked
    def importance_since_reflection(self) -> float:
        """Sum of the importance of observations and actions after the last reflection."""
        last = self._one("SELECT max(id) FROM commonplace_memory WHERE agent = %s AND kind = 'reflection'")
        total = 0.0
        for memory in self._read("id > %(last)s", {"last": last or 0}):
            total = after(total, memory)
        return total

    @locked
    def search(self, *, limit: int | None = None, **wanted: Unpack[Filters]) -> list[Memory]:
        """As `MemoryStream.search`."""
        only = narrowed(self.agent, wanted)
        rows = self._read(only.where, only.values, backwards=True)
        found = (memory for memory in rows if all(test(memory) for test in only.tests))
        return list(islice(found, None if limit is None else checked_count("limit", limit, 0)))

    @property
    @locked
    def last_id(self) -> int:
        """The id of the latest memory, forgotten or not; 0 before the first."""
        return self._one("SELECT coalesce(max(id), 0) FROM commonplace_memory WHERE agent = %s")

    @locked
    def __len__(self) -> int:
        return self._one(f"SELECT count(*) FROM commonplace_memory WHERE agent = %s AND state = {THERE}")

    def __iter__(self) -> Iterator[Memory]:
        return self._read("true")

    @locked
    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and self._found_by_id(id) is not None

    def _found_by_id(self, id: int) -> Memory | None:
        return next(self._read("id = %(id)s", {"id": id}), None) if 0 < id < 1 << 31 else None

    @locked
    def vector(self, id: int) -> Vector | None:
        """Returns the embedding, float32 of shape (dimensions,); None if unusable. Raises UsageError as `get` does."""
        self.get(id)
        _, vectors = self._rows([id])
        return usable(vectors[0], self._parts[0].dimensions)[1]

    def backwards(self) -> Iterator[Memory]:
        """Yields the memories as they were added, latest first."""
        return self._read("true", backwards=True)

    def why_not(self, id: int, retrieval: Retrieval) -> WhyNot:  # noqa: ARG002 - as every reader's
        """Raises UsageError: an answer would need the scores of all memories."""
        hint = "open the stream with MemoryStream.open and ask there"
        raise UsageError(f"a stream in the database cannot explain why memory {id} is not among the hits", hint=hint)

    @locked
    def close(self) -> None:
        """Closes the store, if the stream has opened it. May be called twice."""
        if self._own:
            self.store.close()

    def _expired(self, at: datetime) -> set[int]:
        some = self._read(EXPIRING)
        return {memory.id for memory in some if memory.expires_at is not None and memory.expires_at <= at}

    def _found(self, query: RetrievalQuery, asked: _Query) -> Retrieval:
        """Fetches more candidates until the best are sure to be among them."""
        connection, policy = self.store.connection, asked.policy
        if asked.only.tests:
            asked = replace(asked, passing=_passing(connection, asked, self.agent))
        over = _extent(connection, asked)
        limit = query.k + _MORE
        while True:
            if not asked.scored:
                ids = _newest(connection, asked, limit)
                bound = 0.0 if len(ids) < over.count else -math.inf
            elif policy.nearest:
                ids, bound = _nearest(connection, asked, over), -math.inf
            else:
                ids, bound = _best(connection, asked, over, limit)
            found = self._ranked(query, ids)
            if bound == -math.inf or (len(found) == found.k and _surpasses(found, bound)):
                break
            limit *= 4
        unusable = over.unusable | ({"query": 1} if asked.vector is None else {})
        return replace(
            found,
            candidates=found.candidates if policy.nearest and asked.scored else over.count,
            length=self.last_id,
            unusable=unusable if asked.scored and over.count else {},
        )

    def _ranked(self, query: RetrievalQuery, ids: list[int]) -> Retrieval:
        """Ranks these rows with the one scoring function."""
        memories, vectors = self._rows(ids)
        embedder, rater, analyser = self._parts
        rows = MemoryTable(self.agent, embedder, rater, analyser)
        rows.extend(memories, vectors)
        return retrieve(View(rows, len(memories)), query)

    def _rows(self, ids: Sequence[int]) -> tuple[list[Memory], Sequence[Vector | None]]:
        """Reads memories and vectors, ordered by id."""
        query = f"SELECT {STORED} FROM commonplace_memory WHERE agent = %s AND id = ANY(%s) ORDER BY id"
        number = self._number
        rows = self.store.connection.execute(query, (number, list(ids)), binary=True).fetchall()
        return [stored_memory(self.agent, *row) for row in stored_rows(rows)], stored_vectors(rows)

    _latest = backwards

    def _read(
        self, where: str, values: Mapping[str, Any] = MappingProxyType({}), *, backwards: bool = False
    ) -> Iterator[Memory]:
        """Yields memories that are there, read a batch at a time."""
        number = self._number
        after_it, order = ("<", "DESC") if backwards else (">", "ASC")
        query = (
            f"SELECT {COLUMNS}, state, packed FROM commonplace_memory WHERE agent = %(agent)s AND state = {THERE}"
            f" AND {where} AND id {after_it} %(after)s ORDER BY id {order} LIMIT {_BATCH}"
        )
        last, rows = _END if backwards else 0, [()]
        while rows:
            with self.guard, self.store.mended():
                rows = self.store.connection.execute(query, {**values, "agent": number, "after": last}).fetchall()
            for row in stored_rows(rows):
                yield stored_memory(self.agent, *row)
            if rows:
                last = rows[-1][0]

    @property
    def _number(self) -> int:
        return self.store.now(self.agent).number

    def _one(self, query: str) -> Any:
        with self.store.mended():
            return self.store.connection.execute(query, (self._number,)).fetchone()[0]

    def _moved(
        self, ids: Iterable[int], how: type[Forget | Archive | Restore], where: str, *, dry_run: bool = False
    ) -> tuple[int, ...]:
        wanted, there = sorted(checked_ids(ids)), list[int]()

        def deed(mark: Mark) -> list[Operation]:
            if wanted and not 1 <= wanted[0] <= wanted[-1] <= mark.last_id:
                what = f"the memories {wanted[:10]} of {self.agent} do not all exist"
                raise UsageError(what, where=self.store.where, hint=f"ids go from 1 to {mark.last_id}")
            query = f"SELECT id FROM commonplace_memory WHERE agent = %s AND id = ANY(%s) AND {where} ORDER BY id"
            with self.store.mended():
                there[:] = [id for (id,) in self.store.connection.execute(query, (mark.number, wanted))]
            return [how(there)]

        if dry_run:
            deed(self.store.now(self.agent))
        else:
            self._write(deed)
        return tuple(there)


def _compared(vector: Vector | None, dimensions: int) -> Vector | None:
    """Returns the question's vector; None if memories cannot be compared with it."""
    _, found = usable(vector, dimensions)
    return found if found is not None and found.any() else None


def _surpasses(found: Retrieval, bound: float) -> bool:
    """Tells whether the hits are final: no row that was not fetched can be among them."""
    return found.chosen_by == "newest" or found.hits[-1].score > bound


def _refuse(policy: Policy) -> None:
    """Raises UsageError for a policy whose candidates the database cannot find."""
    known = policy.relevance == "cosine" and policy.recency in ("access", "creation")
    known = known and policy.weights.keys() <= _SCORED.keys()
    if not known or policy.without_tags or policy.without_words:
        raise UsageError(
            f"policy {policy.name} cannot be used in the database",
            hint="use park or two_stage, or open the character with MemoryStream.open",
        )


_UNITS = 2.0**30
_HOUR = 3_600_000_000
_LOOSE = 2e-5 * _UNITS
"""How far the database's similarity of vectors that are not on the lattice may be off, in units."""
_FAR = 40.0
"""Exponents beyond which e^x − 1 is e^x."""


@dataclass(frozen=True, slots=True)
class _Query:
    """One question to one character's memories."""

    agent: int
    """Number of the character."""
    vector: Vector | None
    """Of the question; None if it cannot be embedded."""
    dimensions: int
    policy: Policy
    at: datetime
    exclude: Sequence[int]
    """Ids that do not compete."""
    scored: bool
    """False for an empty question, which brings the newest."""
    least: float
    """The lowest relevance of a hit, 0–1."""
    only: Narrowed
    """The filters."""
    passing: Sequence[int] | None = None
    """The ids that pass the filters which no column answers; None without any."""

    @property
    def row(self) -> dict[str, Any]:
        """The values that every query takes."""
        values: dict[str, Any] = {"agent": self.agent, "exclude": list(self.exclude), "d": self.dimensions}
        values |= self.only.values
        if self.passing is not None:
            values["passing"] = list(self.passing)
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
        when = "created" if self.policy.recency == "creation" else "accessed"
        return (
            f"SELECT id, created, {when} AS t, importance, {units} AS units, width, exact, dimensions, norm, embedding"
            " FROM commonplace_memory WHERE agent = %(agent)s AND state = 0 AND NOT id = ANY(%(exclude)s)"
            f" AND created <= {micros(self.at)}"
            f" AND {self.only.where if self.passing is None else 'id = ANY(%(passing)s)'}"
        )


@dataclass(frozen=True, slots=True)
class _Extent:
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


def _passing(connection: Any, asked: _Query, agent: str) -> list[int]:
    """Returns the ids of the memories that pass all filters, also those that no column answers."""
    query = (
        f"SELECT {COLUMNS}, state, packed FROM commonplace_memory WHERE agent = %(agent)s AND state = {THERE}"
        f" AND {asked.only.where} AND id > %(after)s ORDER BY id LIMIT {_BATCH}"
    )
    found, last, rows = list[int](), 0, [()]
    while rows:
        rows = connection.execute(query, {**asked.only.values, "agent": asked.agent, "after": last}).fetchall()
        memories = [stored_memory(agent, *row) for row in stored_rows(rows)]
        found += [memory.id for memory in memories if all(test(memory) for test in asked.only.tests)]
        last = rows[-1][0] if rows else last
    return found


def _extent(connection: Any, asked: _Query) -> _Extent:
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
        return _Extent(0, (0, 0), (0.0, 0.0), (0.0, 0.0), exact, unusable)
    return _Extent(row[0], row[1:3], row[3:5], row[5:7], exact, unusable)


def _nearest(connection: Any, asked: _Query, over: _Extent) -> list[int]:
    """Returns ids among which the nearest `policy.nearest` are."""
    relation = f"WITH c AS MATERIALIZED ({_slim(asked, over)})"
    best = "SELECT id, units FROM c ORDER BY units DESC, created DESC, id DESC LIMIT %(limit)s"
    values = {**asked.row, "limit": asked.policy.nearest, "slack": 2 * over.slack}
    if over.exact:
        query = f"{relation} SELECT id FROM ({best}) AS b"
    else:
        query = f"{relation}, b AS ({best}) SELECT id FROM c WHERE units >= (SELECT min(units) FROM b) - %(slack)s"
    return [id for (id,) in connection.execute(query, values)]


def _best(connection: Any, asked: _Query, over: _Extent, limit: int) -> tuple[list[int], float]:
    """(the ids of the best `limit` and of the extremes, a bound that no other score exceeds)."""
    query = (
        f"WITH c AS MATERIALIZED ({_slim(asked, over)}),"
        f" s AS MATERIALIZED (SELECT *, {_total(asked, over)} AS total FROM c),"
        " b AS (SELECT id, total FROM s WHERE units >= %(least)s"
        " ORDER BY total DESC, created DESC, id DESC LIMIT %(limit)s)"
        " SELECT id, total FROM b UNION ALL SELECT id, 'Infinity' FROM ("
        f"{_extremes(over)}) AS e"
    )
    values = {
        **asked.row,
        "limit": limit,
        "least": asked.least * _UNITS - 1 - 2 * over.slack if asked.least > 0 else -math.inf,
        "low": over.units[0] + 2 * over.slack,
        "high": over.units[1] - 2 * over.slack,
    }
    rows = connection.execute(query, values).fetchall()
    ids, totals = sorted({id for id, _ in rows}), [total for _, total in rows if total < math.inf]
    bound = min(totals) + _margin(asked, over) if len(totals) == limit < over.count else -math.inf
    return ids, bound


def _newest(connection: Any, asked: _Query, limit: int) -> list[int]:
    query = f"SELECT id FROM ({asked.relation}) AS c ORDER BY created DESC, id DESC LIMIT %(limit)s"
    return [id for (id,) in connection.execute(query, {**asked.row, "limit": limit})]


def _slim(asked: _Query, over: _Extent) -> str:
    """Returns the relation without what would not fit into the server's working memory."""
    exact = "" if over.exact else ", exact"
    return f"SELECT id, created, t, importance, units{exact} FROM ({asked.relation}) AS every"


def _extremes(over: _Extent) -> str:
    """Rows with the lowest and highest value of each part; of similarity, all that may have it."""
    columns = ("t", "importance", "units") if over.exact else ("t", "importance")
    parts = [f"(SELECT id FROM c ORDER BY {column} {way} LIMIT 1)" for column in columns for way in ("ASC", "DESC")]
    if not over.exact:
        parts += [
            f"(SELECT DISTINCT ON (exact) id FROM c WHERE units {where})" for where in ("<= %(low)s", ">= %(high)s")
        ]
    return " UNION ALL ".join(parts)


def _total(asked: _Query, over: _Extent) -> str:
    """Returns the score as SQL."""
    weights = asked.policy.weights.items()
    return " + ".join(f"({weight!r}::float8) * ({_SCORED[part](asked, over)})" for part, weight in weights)


def _recency(asked: _Query, over: _Extent) -> str:
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


def _importance(asked: _Query, over: _Extent) -> str:
    low, high = over.importance
    if asked.policy.normalise == "none":
        return "importance" if asked.policy.importance == "scale" else "(importance - 1) / 9"
    return repr(asked.policy.all_equal) if low == high else f"(importance - {low!r}::float8) / {high - low!r}::float8"


def _similarity(asked: _Query, over: _Extent) -> str:
    low, high = over.units
    if asked.policy.normalise == "none":
        return f"units / {_UNITS:.0f}"
    return repr(asked.policy.all_equal) if low == high else f"(units - {low!r}::float8) / {high - low!r}::float8"


_SCORED: Mapping[str, Callable[[_Query, _Extent], str]] = {
    "recency": _recency,
    "importance": _importance,
    "relevance": _similarity,
}
"""Part → SQL of its normalised value. A policy with another part is refused."""


def _margin(asked: _Query, over: _Extent) -> float:
    """Returns how far the database's total may be off."""
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
