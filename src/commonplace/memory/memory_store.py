"""`MemoryStore`: memories by their coordinates, over any store; on a path it is a folder of JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict, Unpack
from weakref import WeakValueDictionary, finalize

from commonplace.errors import WrongUse
from commonplace.ledger import Ledger, read
from commonplace.memory.arguments import checked_count, checked_string
from commonplace.memory.coordinates.document import MemoryCoordinate, is_number
from commonplace.memory.coordinates.holding import Holding
from commonplace.memory.coordinates.ids import unused_id
from commonplace.memory.coordinates.matching import One, tests_of
from commonplace.memory.coordinates.table import from_memory, reweighed, scaled, to_memory
from commonplace.memory.forgetting import audit, now_of
from commonplace.memory.record import Memory, checked_time
from commonplace.memory.retention import Forgetting, RetentionPolicy, plan
from commonplace.memory.stores.jsonl import JSONLStore
from commonplace.memory.stores.jsonl_config import StoreConfig
from commonplace.memory.stores.store import Store
from commonplace.text import clean

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
        `seed`: goes into the names of memories. Raises WrongUse for a folder that another process has open.
        """
        if (base_path is None) is (store is None):
            raise WrongUse("a MemoryStore of no place or of two", todo="give base_path, or store")
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
        where the policy allows no more. Raises WrongUse for an empty text, a missing persona, a name that is taken.
        """
        held = self._holding
        document = MemoryCoordinate.from_dict(memory.to_dict() if isinstance(memory, MemoryCoordinate) else memory)
        agent = document.agent.persona_id
        id = held.last.get(agent, 0) + 1
        name = document.memory_id or unused_id(document.at, held.taken, self._seed, agent, id)
        if name in held.taken:
            raise WrongUse(f"memory_id {name!r} is taken", todo="leave it empty to have a name made")
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
        does not filter. No values at all match nothing. Raises WrongUse for what can never be meant.
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
        """The n latest memories, latest first. Raises WrongUse for an n below 0."""
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
        """Keeps what a person thinks of a memory, 1–5 stars; an automatic importance follows. Raises WrongUse."""
        memory = self._holding.there.memories.get(memory_id)
        if memory is None:
            raise WrongUse(f"there is no memory {memory_id!r}", todo="`search` and `get_recent` show what there is")
        if not is_number(stars) or not 1 <= stars <= 5:
            raise WrongUse(f"{stars!r:.60} stars", todo="give 1 to 5")
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

        Raises WrongUse without a single filter: that would be everything.
        """
        if query is None and not any(one is not None and one != 0 for one in filters.values()):
            raise WrongUse("forgetting by a query that asks for nothing", todo="name at least one filter")
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

    def bring_back(self, memory_ids: Collection[str] | None = None) -> int:
        """Brings memories back from the archive, all if None; gives how many."""
        away = self._holding.away
        names = list(away) if memory_ids is None else [name for name in memory_ids if name in away]
        self._holding.bring_back(names)
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
