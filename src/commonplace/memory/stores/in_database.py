"""A stream whose memories stay in PostgreSQL: for those larger than RAM, and for many readers of one character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import Any, Unpack

from commonplace.errors import WrongUse
from commonplace.memory import policies
from commonplace.memory.analysis import Analyser
from commonplace.memory.analysis import analyser as shared_analyser
from commonplace.memory.arguments import checked_count, checked_ids, checked_policy, checked_string, checked_vector
from commonplace.memory.columns import usable
from commonplace.memory.embedding import Embedder, Vector, default_embedder
from commonplace.memory.explain import WhyNot
from commonplace.memory.importance import RuleRater
from commonplace.memory.keeping import refuse_other_embedder, settings_of
from commonplace.memory.policy import Policy
from commonplace.memory.reader import Reader
from commonplace.memory.record import Memory, MemoryFields, accessed, checked_time
from commonplace.memory.reflection import after
from commonplace.memory.retrieval import Retrieval, retrieve
from commonplace.memory.rows import Rater, Rows, made
from commonplace.memory.stores import postgres_candidates as sql
from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.postgres import CELLS, FORGOTTEN, THERE, PostgresStore, memory_from, stored_of
from commonplace.memory.stores.postgres_candidates import Asked
from commonplace.memory.stores.store import refuse_missing
from commonplace.memory.view import View
from commonplace.text import clean

_MORE = 32
"""Candidates fetched beyond those asked for, at first."""
_BATCH = 500
_END = (1 << 31) - 1


class DatabaseStream(Reader):
    """One character's memories in PostgreSQL, with nothing of them in RAM.

    Reading and writing are those of `MemoryStream`, and so is every list of hits; each call is at least one query, and
    what it writes is stored when it returns, accesses included. Policies that need the words of all memories or their
    order of access (`lexical`, `recall`, `repo2023`) are refused. It has neither drafts nor snapshots.
    """

    def __init__(
        self, store: PostgresStore, agent: str, policy: Policy, embedder: Embedder, rater: Rater, analyser: Analyser
    ) -> None:
        self.store = store
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
        """A character's memories in a PostgreSQL store: its URL, `embedded:FOLDER`, or the store.

        The other arguments are those of `MemoryStream.open`. Raises WrongUse for another kind of store, and where the
        vectors were made by another embedder.
        """
        store = open_store(where) if isinstance(where, str) else where
        try:
            if not isinstance(store, PostgresStore):
                raise WrongUse("it is no PostgreSQL", where=store.where, todo="MemoryStream.open opens any store")
            embedder = embedder or default_embedder()
            settings = store.settings(agent)
            analyser = analyser or shared_analyser(settings.get("language", "en"))
            refuse_other_embedder(settings, embedder, store.where)
            if not settings:
                store.configure(agent, settings_of(embedder, analyser.language))
        except BaseException:
            if store is not where:
                store.close()
            raise
        stream = cls(store, agent, policy, embedder, rater or RuleRater(analyser.language), analyser)
        stream._own = store is not where
        return stream

    def remember(self, text: str, *, at: datetime, **fields: Unpack[MemoryFields]) -> Memory:
        """Adds a memory and gives it back with its id; arguments and errors as of `MemoryStream.remember`."""
        embedder, rater, _ = self._parts
        _, last = self.store.agent(self.agent)
        memory = made(text, at, fields, id=last + 1, agent=self.agent, rater=rater, exists=self.__contains__)
        given = checked_vector(fields.get("embedding"))
        _, vector = usable(embedder.embed([memory.text])[0] if given is None else given, embedder.dimensions)
        self.store.append(self.agent, [memory], [vector])
        return memory

    def retrieve(
        self,
        query: str,
        *,
        at: datetime,
        k: int | None = None,
        policy: Policy | None = None,
        purpose: str = "",
        touch: bool = True,
        max_tokens: int | None = None,
        exclude: AbstractSet[int] = frozenset(),
        embedding: Vector | None = None,
    ) -> Retrieval:
        """As `MemoryStream.retrieve`: the same hits, found in the database. Raises WrongUse for other policies."""
        policy = self.policy if policy is None else checked_policy(policy)
        _refuse(policy)
        excluded = frozenset(checked_ids(exclude))
        asked = self._asked(checked_string("the query", query), checked_time(at), policy, excluded, embedding)
        options: dict[str, Any] = {
            "k": None if k is None else min(checked_count("k", k, 1), _END),
            "policy": policy,
            "purpose": purpose,
            "max_tokens": None if max_tokens is None else checked_count("max_tokens", max_tokens, 0),
            "embedding": checked_vector(embedding),
        }
        with self.store.mended(), self.store.connection.transaction():
            self.store.connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            found = self._found(query, asked, options)
        if not touch or not found.hits:
            return found
        self.store.touch(self.agent, dict.fromkeys(found.ids, found.at))
        return replace(found, hits=tuple(hit._replace(memory=accessed(hit.memory, found.at)) for hit in found.hits))

    def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """As `MemoryStream.forget`."""
        return self._moved(ids, self.store.remove, f"state != {FORGOTTEN}")

    def archive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """As `MemoryStream.archive`."""
        return self._moved(ids, self.store.archive, f"state = {THERE}")

    def bring_back(self, ids: Iterable[int]) -> tuple[int, ...]:
        """As `MemoryStream.bring_back`."""
        return self._moved(ids, self.store.restore, "state = 1")

    def importance_since_reflection(self) -> float:
        """Sum of the importance of observations and actions after the last reflection."""
        last = self._one("SELECT max(id) FROM commonplace_memory WHERE agent = %s AND kind = 'reflection'")
        total = 0.0
        for memory in self._read("id > %s", last or 0):
            total = after(total, memory)
        return total

    @property
    def last_id(self) -> int:
        """The id of the latest memory, forgotten or not; 0 before the first."""
        return self._one("SELECT coalesce(max(id), 0) FROM commonplace_memory WHERE agent = %s")

    def __len__(self) -> int:
        return self._one(f"SELECT count(*) FROM commonplace_memory WHERE agent = %s AND state = {THERE}")

    def __iter__(self) -> Iterator[Memory]:
        return self._read("true")

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and 1 <= id <= self.last_id and next(self._read("id = %s", id), None) is not None

    def get(self, id: int) -> Memory:
        """The memory of this id. Raises WrongUse if there is none or it is forgotten."""
        found = next(self._read("id = %s", id), None) if 0 < id < 1 << 31 else None
        if found is None:
            raise WrongUse(f"there is no memory {id!r}", todo=f"ids go from 1 to {self.last_id}; some may be forgotten")
        return found

    def recent(self, n: int) -> list[Memory]:
        """The n latest memories, latest first. Raises WrongUse for an n below 0."""
        return list(islice(self._latest(), checked_count("n", n, 0)))

    def vector(self, id: int) -> Vector | None:
        """The embedding, float32 of shape (dimensions,); `None` without a usable one. Raises WrongUse as `get`."""
        self.get(id)
        _, vectors = self._rows([id])
        return usable(vectors[0], self._parts[0].dimensions)[1]

    def backwards(self) -> Iterator[Memory]:
        """The memories as they were added, latest first."""
        return self._latest()

    def why_not(self, id: int, retrieval: Retrieval) -> WhyNot:  # noqa: ARG002 - as every reader's
        """Not answered here: it takes the scores of all memories."""
        todo = "open the stream with MemoryStream.open and ask there"
        raise WrongUse(f"why memory {id} is not among the hits is not known in the database", todo=todo)

    def close(self) -> None:
        """Closes the store, if the stream has opened it. May be called twice."""
        if self._own:
            self.store.close()

    def __enter__(self) -> DatabaseStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _asked(
        self, query: str, at: datetime, policy: Policy, exclude: AbstractSet[int], embedding: Vector | None
    ) -> Asked:
        embedder = self._parts[0]
        question = clean(query)
        if embedding is None and question:
            embedding = embedder.embed([question])[0]
        _, vector = usable(checked_vector(embedding), embedder.dimensions)
        if vector is not None and not vector.any():
            vector = None
        number, _ = self.store.agent(self.agent)
        return Asked(number, vector, embedder.dimensions, policy, at, sorted(exclude))

    def _found(self, query: str, asked: Asked, options: dict[str, Any]) -> Retrieval:
        """Asks for more candidates until the best are sure to be among them."""
        connection, policy = self.store.connection, asked.policy
        over = sql.extent(connection, asked)
        limit = (options["k"] or policy.k) + _MORE
        while True:
            if not clean(query):
                ids = sql.newest(connection, asked, limit)
                bound = 0.0 if len(ids) < over.count else -1.0
            elif policy.nearest:
                ids, bound = sql.nearest(connection, asked, over), -float("inf")
            else:
                ids, bound = sql.best(connection, asked, over, limit)
            found = self._ranked(query, asked, ids, options)
            sure = bound == -float("inf") or (len(found.hits) == found.k and _surpasses(found, bound))
            if sure or len(ids) >= over.count:
                break
            limit *= 4
        unusable = over.unusable | ({"query": 1} if asked.vector is None else {})
        return replace(
            found,
            candidates=found.candidates if policy.nearest and clean(query) else over.count,
            excluded=tuple(asked.exclude),
            length=self.last_id,
            unusable=unusable if clean(query) and over.count else {},
        )

    def _ranked(self, query: str, asked: Asked, ids: list[int], options: dict[str, Any]) -> Retrieval:
        """The one scoring function, over some rows."""
        memories, vectors = self._rows(ids)
        embedder, rater, analyser = self._parts
        rows = Rows(self.agent, embedder, rater, analyser)
        rows.extend(memories, vectors)
        rows.commit()
        return retrieve(View(rows, len(memories)), query, at=asked.at, **options)

    def _rows(self, ids: Sequence[int]) -> tuple[list[Memory], Sequence[Vector | None]]:
        """Memories and vectors, ascending."""
        query = (
            f"SELECT {CELLS}, state, packed, width, exact FROM commonplace_memory"
            " WHERE agent = %s AND id = ANY(%s) ORDER BY id"
        )
        number, _ = self.store.agent(self.agent)
        rows = self.store.connection.execute(query, (number, list(ids)), binary=True).fetchall()
        numbered = [(place, *row[1:]) for place, row in enumerate(rows, start=1)]
        vectors = stored_of(self.agent, numbered, {}).vectors
        return [memory_from(self.agent, row) for row in rows], vectors

    def _latest(self) -> Iterator[Memory]:
        return self._read("true", backwards=True)

    def _read(self, where: str, *values: Any, backwards: bool = False) -> Iterator[Memory]:
        """Memories that are there, a batch at a time."""
        number, _ = self.store.agent(self.agent)
        after_it, order = ("<", "DESC") if backwards else (">", "ASC")
        query = (
            f"SELECT {CELLS}, state, packed FROM commonplace_memory WHERE agent = %s AND state = {THERE} AND {where}"
            f" AND id {after_it} %s ORDER BY id {order} LIMIT {_BATCH}"
        )
        last, rows = _END if backwards else 0, [()]
        while rows:
            with self.store.mended():
                rows = self.store.connection.execute(query, (number, *values, last)).fetchall()
            for row in rows:
                yield memory_from(self.agent, row)
            if rows:
                last = rows[-1][0]

    def _one(self, query: str) -> Any:
        with self.store.mended():
            return self.store.connection.execute(query, (self.store.agent(self.agent)[0],)).fetchone()[0]

    def _moved(self, ids: Iterable[int], deed: Any, where: str) -> tuple[int, ...]:
        wanted = sorted(checked_ids(ids))
        last = self.last_id
        refuse_missing(self.agent, wanted, sum(1 <= id <= last for id in wanted), self.store.where)
        query = f"SELECT id FROM commonplace_memory WHERE agent = %s AND id = ANY(%s) AND {where} ORDER BY id"
        number, _ = self.store.agent(self.agent)
        with self.store.mended():
            there = tuple(id for (id,) in self.store.connection.execute(query, (number, wanted)))
        if there:
            deed(self.agent, there)
        return there


def _surpasses(found: Retrieval, bound: float) -> bool:
    """Whether no row that was not fetched can be among the hits."""
    return found.chosen_by == "newest" or found.hits[-1].score > bound


def _refuse(policy: Policy) -> None:
    """Raises WrongUse for a policy that the database cannot find candidates for."""
    known = policy.relevance == "cosine" and policy.recency in ("access", "creation")
    if not known or policy.without_tags or policy.without_words:
        raise WrongUse(
            f"policy {policy.name} cannot be asked in the database",
            todo="give park or two_stage, or open it with MemoryStream.open",
        )
