"""`MemoryStore`: adds, searches and forgets coordinate documents, over a folder of JSON lines or any other store.

The store keeps the memories; an index of all of them in RAM answers every question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Literal, cast, get_args
from weakref import WeakValueDictionary, finalize

from commonplace.errors import UsageError
from commonplace.ledger import Ledger, read
from commonplace.memory.record import Memory, checked_count, checked_string, checked_time
from commonplace.memory.search import Feeling, Filter, filters, found_in, paths
from commonplace.memory.stores.store import Add, Restore, Revise, Store
from commonplace.memory.threads import locked
from commonplace.parts.coordinates.document import (
    MemoryCoordinate,
    from_memory,
    scaled,
    to_memory,
    unused_id,
    with_importance,
)
from commonplace.parts.coordinates.index import Index, values
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.jsonl_files import StoreConfig
from commonplace.parts.coordinates.retention import (
    Decision,
    ForgettingPlan,
    RetentionPolicy,
    apply,
    audit,
    by_agent,
    latest_time,
    plan,
)
from commonplace.text import clean

AUTOMATIC = "automatic_importance"
"""The key of `details` that marks a computed importance, which `recompute` computes again."""
OneOrMore = str | Collection[str]
Rank = Literal["newest", "relevance"]
_OPEN: WeakValueDictionary[Path, MemoryStore] = WeakValueDictionary()
"""Folder → the MemoryStore of this process that has it open."""

_GUARDS: WeakValueDictionary[Path, RLock] = WeakValueDictionary()
"""Folder → the lock of all MemoryStores of it."""


class MemoryStore:
    """Adds, searches and forgets memories. What is added is stored when `add` returns.

    Several `MemoryStore`s of one process may use the same folder: each closes the other's before it reads or writes.
    Use `close` or a `with` statement; one that is garbage collected is closed as well.
    """

    def __init__(
        self,
        base_path: str | Path | None = None,
        *,
        store: Store | None = None,
        config: StoreConfig | None = None,
        retention: RetentionPolicy | Mapping[str, Any] | None = None,
        ledger: Ledger | None = None,
        seed: int = 0,
    ) -> None:
        """Open the folder `base_path`, made if missing; or use `store`, which stays open after `close`.

        `config`: written to the folder's `config.json`. `retention`: replaces the policy of that file. `ledger`:
        records what is forgotten, and supplies BQI coordinates for memories that have no snapshot. `seed`: part of the
        key that new memory ids are made from. Raises UsageError for a folder that another process has open.
        """
        if (base_path is None) is (store is None):
            raise UsageError("MemoryStore needs one place to store memories", hint="pass base_path or store, not both")
        self.ledger = ledger
        self._seed = seed
        self._path = Path(os.path.realpath(base_path)) if base_path is not None else None
        self.guard = RLock() if self._path is None else _GUARDS.setdefault(self._path, RLock())
        self._config = config
        self._opened = Index(store, seed) if store is not None else None
        store = self._index.store
        own = store.config.retention_policy if isinstance(store, JSONLStore) else RetentionPolicy()
        self.policy = own if retention is None else RetentionPolicy.model_validate(retention)

    @property
    def path(self) -> Path | None:
        """The folder; None for a store elsewhere."""
        return self._path

    # ── Adding ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def add(self, memory: MemoryCoordinate | Mapping[str, Any]) -> MemoryCoordinate:
        """Store a memory and return it as it is stored, with its id and importance.

        The importance is computed if it is None. The first memory of a session removes the oldest session if there are
        more than `max_sessions`. Raises UsageError for an empty text, a missing persona, an id that is taken.
        """
        index = self._index
        document = MemoryCoordinate.from_dict(memory.to_dict() if isinstance(memory, MemoryCoordinate) else memory)
        agent = document.agent.persona_id
        writer = index.writer(agent)
        id = writer.stored.last_id + 1
        name = document.memory_id or unused_id(document.at, index, self._seed, agent, id)
        if name in index:
            raise UsageError(f"memory_id {name!r} is taken", hint="leave it empty to have one made")
        document.memory_id = name
        record = self._record(document, id)
        is_new_session = bool(record.session) and record.session not in index.sessions
        writer.write(Add([record], [None]))
        index.add(name, record)
        if is_new_session:
            self._limit_sessions(record.session)
        return self._document(name)

    def _record(self, document: MemoryCoordinate, id: int) -> Memory:
        document.memory = {key: value for key, value in document.memory.items() if key != "id"}
        record = to_memory(document, id)
        # A document from elsewhere may cite memories that are not here.
        citations = tuple(
            cited for cited in record.citations if self._index.names.get((record.agent, cited)) in self._index.memories
        )
        if citations != record.citations:
            details = {**record.details, "source_citations": list(record.citations)}
            record = replace(record, citations=citations, details=details)
        if document.metadata.importance is None:
            record = replace(record, details={**record.details, AUTOMATIC: True})
            record = with_importance(record, scaled(self.calculate_importance(document)))
        return record

    def _limit_sessions(self, starting: str) -> None:
        most = self.policy.max_sessions
        if most is not None and len(self._index.sessions) > most:
            records = self._index.candidates()
            forgetting = plan(records, self.policy.only_sessions(), records[-1].memory.created_at, starting=starting)
            self._apply(forgetting, "a new session")

    # ── Searching ───────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def search(
        self,
        query: str | None = None,
        time_range: tuple[datetime | None, datetime | None] | None = None,
        persona_id: OneOrMore | None = None,
        domain: OneOrMore | None = None,
        min_importance: float | None = 0.0,
        tags: OneOrMore | None = None,
        bqi_filters: Mapping[str, Any] | None = None,
        limit: int | None = 10,
        *,
        user_id: OneOrMore | None = None,
        rank: Rank = "newest",
        personas_by_name: bool = False,
    ) -> list[MemoryCoordinate]:
        """Returns the memories that pass all filters, the newest first, at most `limit` (None: all).

        `query`: what a memory contains as it is, in its text or a tag and ignoring case. With `rank="relevance"` it
        may be a question in plain language: also found is what shares a word with it that is not grammar; first comes
        what contains it, then the most relevant (BM25), of equally relevant ones the newest. `personas_by_name`: a
        query that is the id or the name of a persona finds the memories of that persona, and no others.

        `min_importance`: 0–1. `persona_id`, `domain`, `tags`, `user_id`: one value, or several of which one has to
        match; an empty list matches nothing. `bqi_filters`: path in the BQI snapshot → a value, or several of which
        one has to match; None is ignored. Raises UsageError for a value that is not a filter.
        """
        most = None if limit is None else checked_count("limit", limit, 0)
        if rank not in get_args(Rank):
            raise UsageError(f"rank is {rank!r:.60}", hint=f"expected {' or '.join(get_args(Rank))}")
        named = self._named(query) if personas_by_name and query else frozenset[str]()
        if named:
            query, persona_id = (
                None,
                named if persona_id is None else named.intersection(_accepted("persona_id", persona_id)),
            )
        tests = self._tests(
            query=query if rank == "newest" else None,
            user_id=user_id,
            time_range=time_range,
            persona_id=persona_id,
            domain=domain,
            min_importance=min_importance,
            tags=tags,
            bqi_filters=bqi_filters,
        )
        by_relevance = rank == "relevance" and _query(query or "")
        names = self._ranked(query, tests) if by_relevance else self._matching(tests)
        return [self._document(name) for name in islice(names, most)]

    @locked
    def get_recent(self, n: int = 10) -> list[MemoryCoordinate]:
        """Returns the n newest memories, newest first."""
        return self.search(limit=checked_count("n", n, 0))

    @locked
    def get_by_session(self, session_id: str) -> list[MemoryCoordinate]:
        """Returns the memories of a session, oldest first; empty for an unknown session."""
        return [self._document(name) for name in self._index.oldest(self._index.sessions.get(session_id, {}))]

    @locked
    def get_by_id(self, memory_id: str) -> MemoryCoordinate | None:
        """Returns the memory with this id, or None."""
        return self._document(memory_id) if memory_id in self._index.memories else None

    @locked
    def get_all_session_ids(self) -> list[str]:
        """Returns the sessions that have a memory, in the order of their first memory."""
        found = (self._index.memories[name].session for name in self._index.oldest())
        return [session for session in dict.fromkeys(found) if session]

    @locked
    def archived(self) -> list[MemoryCoordinate]:
        """Returns the archived memories, oldest first."""
        found = sorted(self._index.archived.items(), key=lambda one: (one[1].created_at, one[0]))
        return [from_memory(memory, name) for name, memory in found]

    @locked
    def __len__(self) -> int:
        """Counts the memories, without archived ones."""
        return len(self._index.memories)

    # ── Importance ──────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def get_reference_count(self, memory_id: str) -> int:
        """Counts the other memories that name this one as parent, child or related, or cite it."""
        return self._index.references(memory_id)

    @locked
    def calculate_importance(self, memory: MemoryCoordinate) -> float:
        """`importance_of` the memory, with the references to it in this store."""
        return importance_of(memory, self.get_reference_count(memory.memory_id))

    @locked
    def recompute(self, *, given: bool = False) -> int:
        """Compute the automatic importances again; with `given`, also replace those that were given.

        Returns how many have changed.
        """
        changed: list[Memory] = []
        for name, memory in self._index.memories.items():
            if given or memory.details.get(AUTOMATIC):
                updated = self._with_automatic_importance(name, memory)
                if updated.importance != memory.importance:
                    changed.append(updated)
        self._update(changed)
        return len(changed)

    @locked
    def summarize(self, summarize: Callable[[str], str], *, longer_than: int = 0) -> int:
        """Write the `response_summary` of the answers of personas that have none and are longer than that.

        `summarize`: from an answer to its summary. Automatic importances of these are computed again. Returns how many
        were written; those before stay if it raises.
        """
        count = 0
        for name, memory in list(self._index.memories.items()):
            is_answer = memory.details.get("content_type") == "persona_response"
            if is_answer and not memory.details.get("response_summary") and len(memory.full_text) > longer_than:
                summary = clean(summarize(str(memory.full_text)))
                written = replace(memory, details={**memory.details, "response_summary": summary})
                automatic = memory.details.get(AUTOMATIC)
                self._update([self._with_automatic_importance(name, written) if automatic else written])
                count += 1
        return count

    @locked
    def rate(self, memory_id: str, stars: float) -> MemoryCoordinate:
        """Store a person's rating of 1 to 5 stars and return the memory, its automatic importance computed again."""
        memory = self._index.memories.get(memory_id)
        if memory is None:
            raise UsageError(f"there is no memory {memory_id!r}", hint="`search` and `get_recent` list the memories")
        if not _is_number(stars, 1, 5):
            raise UsageError(f"stars is {stars!r:.60}", hint="expected a number from 1 to 5")
        memory = replace(memory, details={**memory.details, "user_rating": stars})
        if memory.details.get(AUTOMATIC):
            memory = self._with_automatic_importance(memory_id, memory)
        self._update([memory])
        return self._document(memory_id)

    @locked
    def ratings(self, persona_id: str, n: int | None = None) -> list[tuple[str, float]]:
        """(memory, stars) of a persona's rated memories, the newest first, at most n (None: all)."""
        memories = self._index.memories
        own = (name for name in self._index.newest() if memories[name].agent == persona_id)
        stars = ((name, memories[name].details.get("user_rating")) for name in own)
        return list(islice(((name, float(given)) for name, given in stars if given is not None), n))

    def _with_automatic_importance(self, name: str, memory: Memory) -> Memory:
        return with_importance(memory, scaled(self.calculate_importance(from_memory(memory, name))))

    def _update(self, memories: list[Memory]) -> None:
        for agent, changed in by_agent(memories).items():
            self._index.writer(agent).write(Revise(changed))
        self._index.update(memories)

    # ── Forgetting ──────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def delete_by_id(self, memory_id: str) -> int:
        """Forget one memory for good; returns how many were forgotten, 0 or 1."""
        return self._delete([memory_id] if memory_id in self._index.memories else [], f"by id {memory_id}")

    @locked
    def delete_by_session(self, session_id: str) -> int:
        """Forget a session for good; returns how many memories were forgotten."""
        return self._delete(list(self._index.sessions.get(session_id, {})), f"by session {session_id}")

    @locked
    def delete_by_persona(self, persona_id: str) -> int:
        """Delete everything of a persona for good, archived memories and its name included.

        Returns how many memories there were. A ledger is told of each.
        """
        index = self._index
        found = [
            memory for memory in (*index.memories.values(), *index.archived.values()) if memory.agent == persona_id
        ]
        self._apply(
            ForgettingPlan(remove=[Decision(memory, f"by persona {persona_id}") for memory in found]), "a person"
        )
        index.delete(persona_id)
        return len(found)

    @locked
    def delete_by_query(self, query: str | None = None, **filters: Any) -> int:
        """Forget everything that passes these filters of `search`, without a limit; returns how many.

        `query`: only what contains it as it is, in its text or a tag and ignoring case; a shared word is not enough to
        forget something. Raises UsageError if no filter excludes anything, since that would forget every memory.
        """
        tests = self._tests(query=query, **filters)
        if not tests:
            raise UsageError(
                "delete_by_query without a filter would forget everything", hint="pass at least one filter"
            )
        return self._delete(list(self._matching(tests)), "by query")

    @locked
    def plan_retention(self, now: datetime | None = None) -> ForgettingPlan:
        """Returns what `apply_retention_policy` would do."""
        records = self._index.candidates()
        moment = latest_time(records) if now is None else now
        return plan(records, self.policy, checked_time(moment)) if moment else ForgettingPlan()

    @locked
    def apply_retention_policy(self, now: datetime | None = None) -> ForgettingPlan:
        """Forget and archive as the policy says, and return what was done. `now`: simulated time; None for the time
        of the newest memory."""
        forgetting = self.plan_retention(now)
        self._apply(forgetting, "retention", now)
        return forgetting

    @locked
    def unarchive(self, memory_ids: Collection[str] | None = None) -> int:
        """Restore memories from the archive, all if None; returns how many."""
        index = self._index
        names = [name for name in (index.archived if memory_ids is None else memory_ids) if name in index.archived]
        for name in names:
            memory = index.archived[name]
            index.writer(memory.agent).write(Restore([memory.id]))
            index.remove(memory)
            index.add(name, memory)
        return len(names)

    @locked
    def flush(self) -> None:
        """Write what is derived from the memories, such as `index.json`; nothing for a store without a folder."""
        store = self._index.store
        if isinstance(store, JSONLStore):
            store.flush()

    @locked
    def close(self) -> None:
        """Close the folder. May be called twice; the next call of another method opens it again."""
        if self._opened is not None and self._path is not None:
            self._opened.store.close()
            self._opened = None

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _delete(self, names: list[str], reason: str) -> int:
        decisions = [Decision(self._index.memories[name], reason) for name in names]
        self._apply(ForgettingPlan(remove=decisions), "a person")
        return len(names)

    def _apply(self, forgetting: ForgettingPlan, trigger: str, now: datetime | None = None) -> None:
        index = self._index
        leaving = [one.memory for one in (*forgetting.archive, *forgetting.remove)]
        names = {(memory.agent, memory.id): index.names[memory.agent, memory.id] for memory in leaving}
        moment = now or latest_time(index.candidates())
        apply(forgetting, index.writer)
        index.update(forgetting.folded)
        for memory in leaving:
            index.remove(memory)
        for memory, _ in forgetting.archive:
            index.add(names[memory.agent, memory.id], memory, archived=True)
        if self.ledger is not None and moment is not None:
            audit(self.ledger, forgetting, at=moment, trigger=trigger, name=lambda one: names[one.agent, one.id])

    @property
    def _index(self) -> Index:
        """The index; reads the folder if it is not open, and takes it from another MemoryStore of this process."""
        if self._opened is None:
            assert self._path is not None
            other = _OPEN.get(self._path)
            if other is not None:
                other.close()
            store = JSONLStore(self._path, config=self._config)
            self._config = None
            self._opened = Index(store, self._seed)
            _OPEN[self._path] = self
            finalize(self, store.close)
        return self._opened

    def _document(self, name: str) -> MemoryCoordinate:
        """Returns the document of a memory, with the children that name it as their parent."""
        document = from_memory(self._index.memories[name], name)
        listed = document.relations.child_memory_ids
        found = [child for child in self._index.children.get(name, ()) if child not in listed]
        document.relations.child_memory_ids = [*listed, *found]
        if document.memory.keys() <= {"id", "without"}:
            document.memory = {}
        return document

    def _matching(self, tests: list[Filter]) -> Iterator[str]:
        memories = self._index.memories
        return (name for name in self._index.newest() if all(test(memories[name]) for test in tests))

    def _ranked(self, query: str | None, tests: list[Filter]) -> list[str]:
        """Returns the names that pass the tests and have to do with the query, the most relevant first."""
        (contains,) = _query(query)
        scores, memories = self._index.words.scores(clean(query or "")), self._index.memories
        ranks = {name: (not contains(memories[name]), -scores.get(name, 0.0)) for name in self._matching(tests)}
        return sorted((name for name, (lacking, score) in ranks.items() if score or not lacking), key=ranks.__getitem__)

    def _named(self, query: str) -> frozenset[str]:
        """Returns the personas with this id or name, ignoring case."""
        wanted = clean(checked_string("query", query)).lower()
        return frozenset(
            memory.agent
            for memory in self._index.memories.values()
            if wanted in (memory.agent.lower(), str(memory.details.get("persona_name", "")).lower())
        )

    def _tests(self, *, bqi_filters: Mapping[str, Any] | None = None, **chosen: Any) -> list[Filter]:
        """Returns the tests of all filters; none if no filter excludes anything."""
        if unknown := chosen.keys() - _TESTS.keys():
            raise UsageError(f"unknown filter {min(unknown)}", hint=f"expected {', '.join(_TESTS)} or bqi_filters")
        tests = [test for name, value in chosen.items() if value is not None for test in _TESTS[name](value)]
        wanted = {path: value for path, value in paths("bqi_filters", bqi_filters or {}).items() if value is not None}
        if wanted:
            tests.append(_bqi(wanted, self._snapshots()))
        return tests

    def _snapshots(self) -> Callable[[Memory], Mapping[str, Any]]:
        """Memory → its BQI coordinate: its own snapshot, or that of its last entry in the ledger."""
        logged: dict[str, Any] = {}
        if self.ledger is not None and self.ledger.latest is not None:
            for entry in read(self.ledger.path):
                for name in (entry.get("memory_id"), *entry.get("memory_refs", ())):
                    if name and entry.get("bqi_coordinate"):
                        logged[name] = entry["bqi_coordinate"]

        def snapshot_of(memory: Memory) -> Mapping[str, Any]:
            snapshot: Any = memory.details.get("bqi_snapshot")
            if snapshot is None:
                snapshot = logged.get(self._index.names[memory.agent, memory.id])
            return cast("Mapping[str, Any]", snapshot) if isinstance(snapshot, Mapping) else {}

        return snapshot_of


def importance_of(memory: MemoryCoordinate, references: int = 0) -> float:
    """0.3 + rating / 5 × 0.3 + min(references × 0.05, 0.2) + |sentiment| × 0.2, clamped to 0–1.

    `references`: how many other memories name this one in their relations.
    """
    rating = (memory.metadata.user_rating or 0) / 5 * 0.3
    emotion = abs(memory.emotion.sentiment_score) * 0.2
    return min(1.0, max(0.0, 0.3 + rating + min(references * 0.05, 0.2) + emotion))


# ── The filters of a search ──────────────────────────────────────────────────────────────────────────────────────────


def _query(text: Any) -> list[Filter]:
    return filters(text=text) if clean(checked_string("query", text)) else []


def _min_importance(share: Any) -> list[Filter]:
    if share and not _is_number(share, -inf, inf):
        raise UsageError(f"min_importance is {share!r:.60}", hint="expected a number from 0 to 1")
    return filters(min_importance=scaled(share)) if share else []


def _one_of(name: str, values: Callable[[Memory], Collection[str]], wanted: Any) -> list[Filter]:
    accepted = _accepted(name, wanted)
    if name == "tags":
        accepted = set(map(clean, accepted))  # as the tags of a memory are
    return [lambda memory: not accepted.isdisjoint(values(memory))]


def _accepted(name: str, wanted: Any) -> set[str]:
    try:
        return {wanted} if isinstance(wanted, str) else {checked_string(name, one) for one in wanted}
    except TypeError as error:
        raise UsageError(f"{name} is {wanted!r:.60}", hint="expected a string or a list of strings") from error


_TESTS: Mapping[str, Callable[[Any], list[Filter]]] = {
    "query": _query,
    "time_range": lambda span: filters(time_range=span),
    "persona_id": partial(_one_of, "persona_id", lambda memory: (memory.agent,)),
    "domain": partial(_one_of, "domain", lambda memory: (memory.details.get("domain", ""),)),
    "min_importance": _min_importance,
    "user_id": partial(_one_of, "user_id", lambda memory: (memory.details.get("user_id", ""),)),
    "tags": partial(_one_of, "tags", lambda memory: memory.tags),
}
"""Filter → its tests; none for a value that excludes nothing."""


def _bqi(wanted: Mapping[str, Any], snapshot_of: Callable[[Memory], Mapping[str, Any]]) -> Filter:
    """Makes a test for these values at these paths of the BQI coordinate; an emotion may also be the memory's own."""

    def has(memory: Memory, path: str, value: Any) -> bool:
        if isinstance(value, Mapping):
            within = cast("Mapping[str, Any]", value)
            return bool(within) and all(has(memory, f"{path}.{key}", one) for key, one in within.items())
        found = found_in(snapshot_of(memory), path)
        if path == "emotion":
            words = [word for word in values(value) if isinstance(word, str)]
            if Feeling(keywords=words).matches(memory):
                return True
            found += found_in(snapshot_of(memory), "emotion.keywords")
        return any(one in found for one in values(value))

    return lambda memory: all(has(memory, path, value) for path, value in wanted.items())


def _is_number(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
