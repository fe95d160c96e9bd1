"""`MemoryStore`: memories by their coordinates, over any store; on a path it is a folder of JSON lines."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict, Unpack, cast
from weakref import WeakValueDictionary, finalize

from commonplace.errors import UsageError
from commonplace.ledger import Ledger, read
from commonplace.memory.columns import micros
from commonplace.memory.coordinates import (
    MemoryCoordinate,
    from_memory,
    is_number,
    reweighed,
    scaled,
    to_memory,
    unused_id,
)
from commonplace.memory.record import Memory, checked_count, checked_string, checked_time
from commonplace.memory.retention import Forgetting, Going, Held, RetentionPolicy, audit, carry_out, now_of, plan
from commonplace.memory.search import TOLERANCE, Feeling, Filter, filters, found_in, paths
from commonplace.memory.stores.jsonl import JSONLStore
from commonplace.memory.stores.jsonl_files import StoreConfig
from commonplace.memory.stores.store import Store
from commonplace.text import clean

# ── collection ───────────────────────────────────────────────────────────────────────────────────────────────────────
# Memories of many characters in RAM, by name and newest last, with what is derived of them: children, references.


Place = tuple[int, int, str]
"""(microseconds since the year 1, number of arrival, name): the order of memories."""


class CoordinateIndex:
    """Those that are there; what is forgotten or archived is taken out."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.sessions: dict[str, dict[str, None]] = {}
        """Session → names, in the order of arrival."""
        self._order: list[Place] = []
        self._places: dict[str, Place] = {}
        self._names: dict[tuple[str, int], str] = {}
        self.texts: dict[str, str] = {}
        """What a word is searched in: text and tags in small letters, apart by line ends."""
        self._children: dict[str, list[str]] = defaultdict(list)
        self._references: Counter[str] = Counter()
        self._cited: Counter[tuple[str, int]] = Counter()
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self.memories)

    def add(self, name: str, memory: Memory) -> None:
        """Takes a memory in under a name that is not taken."""
        self._arrivals += 1
        place = (micros(memory.created_at), self._arrivals, name)
        insort(self._order, place)
        self._places[name] = place
        self._names[memory.agent, memory.id] = name
        self.memories[name] = memory
        self.texts[name] = "\n".join((memory.full_text, *memory.tags)).lower()
        if memory.session:
            self.sessions.setdefault(memory.session, {})[name] = None
        self._relate(name, memory, 1)

    def remove(self, name: str) -> Memory:
        """Takes a memory out."""
        memory = self.memories.pop(name)
        place = self._places.pop(name)
        del self._order[bisect_left(self._order, place)]
        self._names.pop((memory.agent, memory.id), None)
        del self.texts[name]
        if memory.session:
            del self.sessions[memory.session][name]
            if not self.sessions[memory.session]:
                del self.sessions[memory.session]
        self._relate(name, memory, -1)
        return memory

    def replace(self, name: str, memory: Memory) -> None:
        """Puts another version of a memory in its place; relations, text and time are the same."""
        self.memories[name] = memory

    def newest(self) -> Iterator[str]:
        """Names, the newest first; of the same moment, the latest arrival."""
        return (name for _, _, name in reversed(self._order))

    def oldest(self) -> Iterator[str]:
        """Names, the oldest first."""
        return (name for _, _, name in self._order)

    def name_of(self, agent: str, id: int) -> str:
        """The name of a character's memory; empty if it is not there."""
        return self._names.get((agent, id), "")

    def children(self, name: str) -> list[str]:
        """Memories whose parent this is, in the order of arrival."""
        return list(self._children.get(name, ()))

    def references(self, name: str) -> int:
        """How many other memories name this one in their relations, or cite it."""
        memory = self.memories.get(name)
        cited = self._cited[memory.agent, memory.id] if memory else 0
        return self._references[name] + cited

    def _relate(self, name: str, memory: Memory, by: int) -> None:
        parent = memory.details.get("parent_memory_id")
        if isinstance(parent, str):
            if by > 0:
                self._children[parent].append(name)
            else:
                self._children[parent].remove(name)
        for other in related(memory.details) - {name}:
            self._references[other] += by
        for id in set(memory.citations):
            self._cited[memory.agent, id] += by


def related(details: Mapping[str, Any]) -> set[str]:
    """The memories a document names in its relations."""
    found: set[str] = set()
    for key in ("parent_memory_id", "child_memory_ids", "related_memory_ids"):
        value = details.get(key)
        for name in value if isinstance(value, list) else [value]:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(name, str):
                found.add(name)
    return found


# ── holding ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# A store and what of it is in RAM, kept level: every memory by its name, those put away apart.


class Holding:
    """All characters of a store."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.there = CoordinateIndex()
        self.away: dict[str, Memory] = {}
        """Name → what is archived."""
        self.taken: set[str] = set()
        self.last: dict[str, int] = {}
        """Character → the last id used."""
        self._names: dict[tuple[str, int], str] = {}
        for agent in store.agents():
            self._load(agent, seed)

    def _load(self, agent: str, seed: int) -> None:
        stored = self.store.load(agent)
        written = self.store.names(agent) if isinstance(self.store, JSONLStore) else ()
        self.last[agent] = len(stored.memories)
        for memory in stored.memories:
            if memory.id in stored.forgotten:
                continue
            said = written[memory.id - 1] if written else memory.details.get("memory_id")
            if not isinstance(said, str) or not said or said in self.taken:
                said = unused_id(memory.created_at, self.taken, seed, agent, memory.id)
            self._enter(said, memory)
            if memory.id in stored.archived:
                self.away[said] = memory
            else:
                self.there.add(said, memory)

    def _enter(self, name: str, memory: Memory) -> None:
        self.taken.add(name)
        self._names[memory.agent, memory.id] = name

    def name(self, memory: Memory) -> str:
        """The name of a memory that is there or put away."""
        return self._names[memory.agent, memory.id]

    def records(self) -> list[Held]:
        """Everything, for a plan: oldest first, of the same moment in the order of arrival."""
        here = [Held(self.there.memories[name]) for name in self.there.oldest()]
        return here + [Held(memory, archived=True) for memory in self.away.values()]

    def add(self, name: str, memory: Memory) -> None:
        """Keeps a memory, whose id must be its character's next, under a name that is not taken."""
        self.store.append(memory.agent, [memory], [None])
        self.last[memory.agent] = memory.id
        self._enter(name, memory)
        self.there.add(name, memory)

    def update(self, memories: Sequence[Memory]) -> None:
        """Keeps other versions of memories that are there."""
        for agent in sorted({memory.agent for memory in memories}):
            self.store.update(agent, [memory for memory in memories if memory.agent == agent])
        self._renew(memories)

    def going(self, names: Iterable[str], why: str) -> Forgetting:
        """A plan to remove memories by name."""
        return Forgetting(remove=[Going(self.there.memories[name], why) for name in names])

    def carry_out(self, forgetting: Forgetting) -> dict[tuple[str, int], str]:
        """Does what a plan says; gives the names of what went, which are gone with it."""
        carry_out(self.store, forgetting)
        self._renew(forgetting.folded)
        for one in forgetting.archive:
            name = self.name(one.memory)
            self.away[name] = self.there.remove(name)
        went: dict[tuple[str, int], str] = {}
        for one in forgetting.remove:
            name = went[one.memory.agent, one.memory.id] = self._names.pop((one.memory.agent, one.memory.id))
            self.taken.discard(name)
            if self.away.pop(name, None) is None:
                self.there.remove(name)
        return went

    def unarchive(self, names: Iterable[str]) -> None:
        """Brings memories back from the archive."""
        for name in names:
            memory = self.away.pop(name)
            self.store.restore(memory.agent, [memory.id])
            self.there.add(name, memory)

    def _renew(self, memories: Iterable[Memory]) -> None:
        for memory in memories:
            name = self.name(memory)
            if name in self.away:
                self.away[name] = memory
            else:
                self.there.replace(name, memory)


# ── matching ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# The filters of the coordinate document's search, as tests on records.


One = str | Collection[str]
"""A value, or several of which one will do."""


def tests_of(
    *,
    time_range: Any = None,
    persona_id: One | None = None,
    domain: One | None = None,
    min_importance: float | None = None,
    tags: One | None = None,
    bqi_filters: Mapping[str, Any] | None = None,
    snapshot: Callable[[Memory], Any] | None = None,
) -> list[Filter]:
    """A test per filter given. `snapshot`: where the BQI coordinate of a memory is found if not in its details.

    Raises UsageError for a time that ends before it begins, an importance that is no number from 0 to 1, and what is no
    value of a filter.
    """
    tests: list[Filter] = []
    if time_range is not None:
        tests += filters(time_range=time_range)
    if persona_id is not None:
        personas = _several("persona_id", persona_id)
        tests.append(lambda memory: memory.agent in personas)
    if domain is not None:
        domains = _several("domain", domain)
        tests.append(lambda memory: memory.details.get("domain", "") in domains)
    if min_importance:
        tests.append(_at_least(min_importance))
    if tags is not None:
        labels = {clean(tag) for tag in _several("tags", tags)}
        tests.append(lambda memory: not labels.isdisjoint(memory.tags))
    for path, wanted in paths("bqi_filters", bqi_filters or {}).items():
        if wanted is not None:  # what the asker does not know is not asked for
            tests.append(_bqi(path, wanted, snapshot))
    return tests


def _several(what: str, wanted: One) -> list[str]:
    try:
        return [wanted] if isinstance(wanted, str) else [checked_string(what, one) for one in wanted]
    except TypeError as error:
        raise UsageError(f"{what} {wanted!r:.60}", hint="give a string, or several in a list") from error


def _at_least(lowest: float) -> Filter:
    if not is_number(lowest):
        raise UsageError(f"min_importance {lowest!r}", hint="give a number from 0 to 1")
    return lambda memory: memory.importance >= scaled(lowest) - TOLERANCE


def _bqi(path: str, wanted: Any, elsewhere: Callable[[Memory], Any] | None) -> Filter:
    """Whether a memory's BQI coordinate has a value, or one of several, at a path. Words of an emotion may stand
    among the keywords of the snapshot or of the memory's own emotion."""

    def test(memory: Memory) -> bool:
        snapshot: Any = memory.details.get("bqi_snapshot")
        if snapshot is None and elsewhere is not None:
            snapshot = elsewhere(memory)
        if path == "emotion" and Feeling(keywords=_words(wanted)).matches(memory) and not isinstance(wanted, Mapping):
            return True
        return isinstance(snapshot, Mapping) and _at(cast(Mapping[str, Any], snapshot), path, wanted)

    return test


def _at(snapshot: Mapping[str, Any], path: str, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        within = cast(Mapping[str, Any], wanted)
        return all(_at(snapshot, f"{path}.{key}", value) for key, value in within.items())
    there = found_in(snapshot, path)
    if path == "emotion":
        there += found_in(snapshot, "emotion.keywords")
    return any(value in there for value in _values(wanted))


def _values(wanted: Any) -> list[Any]:
    return list(cast(Iterable[Any], wanted)) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]


def _words(wanted: Any) -> list[str]:
    return [one for one in _values(wanted) if isinstance(one, str)]


# ── memory_store ─────────────────────────────────────────────────────────────────────────────────────────────────────


AUTOMATIC = "automatic_importance"
"""The key of `details` that marks an importance nobody gave: it is computed anew by `recompute`."""
_OPEN: WeakValueDictionary[Path, MemoryStore] = WeakValueDictionary()
"""Who has which folder open in this process."""


class Filters(TypedDict, total=False):
    """The filters of a search beside its words; see `MemoryStore.search`."""

    time_range: tuple[datetime | None, datetime | None] | None
    persona_id: One | None
    domain: One | None
    min_importance: float
    tags: One | None
    bqi_filters: Mapping[str, Any] | None


def automatic(user_rating: float | None, references: int, sentiment: float) -> float:
    """The importance of a memory that nobody weighed, 0–1: the founding document's §6.2."""
    total = 0.3 + (user_rating or 0) / 5 * 0.3 + min(references * 0.05, 0.2) + abs(sentiment) * 0.2
    return min(1.0, max(0.0, total))


class MemoryStore:
    """Adds, finds and forgets memories. What is added is kept when `add` returns.

    Where another `MemoryStore` of this process has the same folder open, they take turns: each finds what the other
    wrote. `close` it, or use it in a `with` statement; one that is let go is closed, too.
    """

    def __init__(
        self,
        base_path: str | Path | None = None,
        *,
        store: Store | None = None,
        config: StoreConfig | None = None,
        retention: RetentionPolicy | None = None,
        ledger: Ledger | None = None,
        seed: int = 0,
    ) -> None:
        """`base_path`: a folder, made if there is none; or `store`: one that is open already, and stays open.

        `config`: what the folder's `config.json` is to say. `retention`: the policy, if not the folder's own.
        `ledger`: is told of everything forgotten, and of the BQI coordinates of memories without a snapshot.
        `seed`: goes into the names of memories. Raises UsageError for a folder that another process has open.
        """
        if (base_path is None) is (store is None):
            raise UsageError("a MemoryStore of no place or of two", hint="give base_path, or store")
        self.ledger = ledger
        self._seed = seed
        self._path = Path(base_path).resolve() if base_path is not None else None
        self._config = config
        self._held = Holding(store, seed) if store is not None else None
        store = self._holding.store
        own = store.config.retention_policy if isinstance(store, JSONLStore) else RetentionPolicy()
        self.policy = retention or own

    # ── adding ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, memory: MemoryCoordinate | Mapping[str, Any]) -> MemoryCoordinate:
        """Keeps a memory and gives it as it is kept, with its name and importance.

        Without an importance it gets the automatic one. The first memory of a session makes the oldest session go
        where the policy allows no more. Raises UsageError for an empty text, a missing persona, a name that is taken.
        """
        held = self._holding
        document = MemoryCoordinate.from_dict(memory.to_dict() if isinstance(memory, MemoryCoordinate) else memory)
        agent = document.agent.persona_id
        id = held.last.get(agent, 0) + 1
        name = document.memory_id or unused_id(document.at, held.taken, self._seed, agent, id)
        if name in held.taken:
            raise UsageError(f"memory_id {name!r} is taken", hint="leave it empty to have a name made")
        document.memory_id = name
        record = self._record(document, id)
        starts = bool(record.session) and record.session not in held.there.sessions
        held.add(name, record)
        if starts:
            self._make_room(record.session)
        return self._shown(name)

    def _record(self, document: MemoryCoordinate, id: int) -> Memory:
        """The record of a document, with the importance that is its due and citations of what is there."""
        document.memory = {key: value for key, value in document.memory.items() if key != "id"}
        record = to_memory(document, id)
        there = tuple(one for one in record.citations if self._holding.there.name_of(record.agent, one))
        if there != record.citations:
            details = {**record.details, "source_citations": list(record.citations)}
            record = replace(record, citations=there, details=details)
        if document.metadata.importance is None:
            record = replace(record, details={**record.details, AUTOMATIC: True})
            record = reweighed(record, scaled(self.calculate_importance(document)))
        return record

    # ── finding ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self,
        query: str | None = None,
        time_range: tuple[datetime | None, datetime | None] | None = None,
        persona_id: One | None = None,
        domain: One | None = None,
        min_importance: float = 0.0,
        tags: One | None = None,
        bqi_filters: Mapping[str, Any] | None = None,
        limit: int | None = 10,
    ) -> list[MemoryCoordinate]:
        """The memories all filters accept, newest first, at most `limit` (None: all).

        `query`: occurs in the text or in a tag, whatever the case. `min_importance`: 0–1. Of several tags, personas
        or domains one will do. `bqi_filters`: path in the BQI snapshot → value, or several of which one will do; None
        does not filter. No values at all match nothing. Raises UsageError for what can never be meant.
        """
        names = self._matching(
            query=query,
            time_range=time_range,
            persona_id=persona_id,
            domain=domain,
            min_importance=min_importance,
            tags=tags,
            bqi_filters=bqi_filters,
        )
        return [
            self._shown(name) for name in islice(names, None if limit is None else checked_count("limit", limit, 0))
        ]

    def get_recent(self, n: int = 10) -> list[MemoryCoordinate]:
        """The n latest memories, latest first. Raises UsageError for an n below 0."""
        return [self._shown(name) for name in islice(self._holding.there.newest(), checked_count("n", n, 0))]

    def get_by_session(self, session_id: str) -> list[MemoryCoordinate]:
        """The memories of a session, oldest first; none of one unknown."""
        there = self._holding.there
        names = there.sessions.get(session_id, {})
        return [self._shown(name) for name in there.oldest() if name in names] if names else []

    def get_by_id(self, memory_id: str) -> MemoryCoordinate | None:
        """The memory of this name; None if it is not there."""
        return self._shown(memory_id) if memory_id in self._holding.there.memories else None

    def get_all_session_ids(self) -> list[str]:
        """Sessions that have a memory, in the order of their first."""
        there = self._holding.there
        found = (there.memories[name].session for name in there.oldest())
        return [session for session in dict.fromkeys(found) if session]

    def archived(self) -> list[MemoryCoordinate]:
        """What is put away, oldest first."""
        found = sorted(self._holding.away.items(), key=lambda one: (one[1].created_at, one[0]))
        return [from_memory(memory, name) for name, memory in found]

    def __len__(self) -> int:
        """How many memories there are, without those archived."""
        return len(self._holding.there)

    # ── importance ──────────────────────────────────────────────────────────────────────────────────────────────────

    def get_reference_count(self, memory_id: str) -> int:
        """How many other memories name this one as parent, child or related, or cite it."""
        return self._holding.there.references(memory_id)

    def calculate_importance(self, memory: MemoryCoordinate) -> float:
        """0.3 + rating / 5 × 0.3 + min(references × 0.05, 0.2) + |sentiment| × 0.2, within 0–1."""
        references = self.get_reference_count(memory.memory_id)
        return automatic(memory.metadata.user_rating, references, memory.emotion.sentiment_score)

    def recompute(self, *, given: bool = False) -> int:
        """Computes the automatic importances anew, as each night; `given`: those that were given, too.

        Gives how many have changed.
        """
        changed: list[Memory] = []
        for name, memory in self._holding.there.memories.items():
            if given or memory.details.get(AUTOMATIC):
                importance = self._due(name, memory)
                if importance != memory.importance:
                    changed.append(reweighed(memory, importance))
        self._holding.update(changed)
        return len(changed)

    def rate(self, memory_id: str, stars: float) -> MemoryCoordinate:
        """Keeps what a person thinks of a memory, 1–5 stars; an automatic importance follows. Raises UsageError."""
        memory = self._holding.there.memories.get(memory_id)
        if memory is None:
            raise UsageError(f"there is no memory {memory_id!r}", hint="`search` and `get_recent` show what there is")
        if not is_number(stars) or not 1 <= stars <= 5:
            raise UsageError(f"{stars!r:.60} stars", hint="give 1 to 5")
        memory = replace(memory, details={**memory.details, "user_rating": stars})
        if memory.details.get(AUTOMATIC):
            memory = reweighed(memory, self._due(memory_id, memory))
        self._holding.update([memory])
        return self._shown(memory_id)

    def _due(self, name: str, memory: Memory) -> float:
        """The automatic importance of a record, 1–10."""
        rating = memory.details.get("user_rating")
        felt = memory.emotion.valence if memory.emotion else 0.0
        return scaled(automatic(rating if is_number(rating) else None, self.get_reference_count(name), felt))

    # ── forgetting ──────────────────────────────────────────────────────────────────────────────────────────────────

    def delete_by_id(self, memory_id: str) -> int:
        """Forgets one memory for good; gives how many that were, 0 or 1."""
        there = self._holding.there
        return self._forget([memory_id] if memory_id in there.memories else [], f"by id {memory_id}")

    def delete_by_session(self, session_id: str) -> int:
        """Forgets a session for good; gives how many memories that were."""
        names = self._holding.there.sessions.get(session_id, {})
        return self._forget(list(names), f"by session {session_id}")

    def delete_by_query(self, query: str | None = None, **filters: Unpack[Filters]) -> int:
        """Forgets what `search` would find, without a limit; gives how many that were.

        Raises UsageError without a single filter: that would be everything.
        """
        if query is None and not any(one is not None and one != 0 for one in filters.values()):
            raise UsageError("forgetting by a query that asks for nothing", hint="name at least one filter")
        return self._forget(list(self._matching(query=query, **filters)), "by query")

    def plan_retention(self, now: datetime | None = None) -> Forgetting:
        """What `apply_retention_policy` would do."""
        records = self._holding.records()
        moment = now_of(records) if now is None else now
        return plan(records, self.policy, checked_time(moment)) if moment else Forgetting()

    def apply_retention_policy(self, now: datetime | None = None) -> Forgetting:
        """Does what the policy asks for and gives it. `now`: simulated time; the latest memory's if None."""
        forgetting = self.plan_retention(now)
        self._carry_out(forgetting, "retention", now)
        return forgetting

    def unarchive(self, memory_ids: Collection[str] | None = None) -> int:
        """Brings memories back from the archive, all if None; gives how many."""
        away = self._holding.away
        names = list(away) if memory_ids is None else [name for name in memory_ids if name in away]
        self._holding.unarchive(names)
        return len(names)

    def close(self) -> None:
        """Gives the folder up. May be called twice; used again, it opens again."""
        if self._held is not None and self._path is not None:
            self._held.store.close()
            self._held = None

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def _holding(self) -> Holding:
        """What is held; the folder is taken from whoever in this process has it, if need be."""
        if self._held is None:
            assert self._path is not None
            other = _OPEN.get(self._path)
            if other is not None:
                other.close()
            store = JSONLStore(self._path, config=self._config)
            self._config = None
            self._held = Holding(store, self._seed)
            _OPEN[self._path] = self
            finalize(self, store.close)
        return self._held

    def _shown(self, name: str) -> MemoryCoordinate:
        """The document of a memory, with the children that name it as their parent."""
        there = self._holding.there
        document = from_memory(there.memories[name], name)
        given = document.relations.child_memory_ids
        document.relations.child_memory_ids = [*given, *(one for one in there.children(name) if one not in given)]
        if document.memory.keys() <= {"id", "without"}:
            document.memory = {}
        return document

    def _matching(self, *, query: str | None = None, **filters: Unpack[Filters]) -> Iterator[str]:
        tests = tests_of(**filters, snapshot=self._ledger_snapshots() if filters.get("bqi_filters") else None)
        there = self._holding.there
        wanted = clean(checked_string("query", query)).lower() if query is not None else ""
        return (
            name
            for name in there.newest()
            if all(test(there.memories[name]) for test in tests) and (not wanted or wanted in there.texts[name])
        )

    def _ledger_snapshots(self) -> Callable[[Memory], Any]:
        """Memory → the BQI coordinate the ledger holds of it."""
        found: dict[str, Any] = {}
        if self.ledger is not None and self.ledger.latest is not None:
            for entry in read(self.ledger.path):
                for name in (entry.get("memory_id"), *entry.get("memory_refs", ())):
                    if name and entry.get("bqi_coordinate"):
                        found[name] = entry["bqi_coordinate"]
        return lambda memory: found.get(self._holding.name(memory))

    def _forget(self, names: list[str], why: str) -> int:
        self._carry_out(self._holding.going(names, why), "a person")
        return len(names)

    def _make_room(self, session: str) -> None:
        """A session has begun: where there are too many, the oldest go at once. Age and size wait for their turn."""
        most = self.policy.max_sessions
        held = self._holding
        if most is not None and len(held.there.sessions) > most:
            records = held.records()
            forgetting = plan(records, self.policy.only_sessions(), records[-1].memory.created_at, starting=session)
            self._carry_out(forgetting, "a new session")

    def _carry_out(self, forgetting: Forgetting, trigger: str, now: datetime | None = None) -> None:
        held = self._holding
        names = {(one.memory.agent, one.memory.id): held.name(one.memory) for one in forgetting.archive}
        moment = now or now_of(held.records())
        names |= held.carry_out(forgetting)
        if self.ledger is not None and moment is not None:
            audit(self.ledger, forgetting, at=moment, trigger=trigger, name=lambda one: names[one.agent, one.id])
