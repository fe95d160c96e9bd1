"""A store and what of it is in RAM, kept level: every memory by its name, those put away apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.memory.coordinates.collection import Collection
from commonplace.memory.coordinates.ids import unused_id
from commonplace.memory.forgetting import carry_out
from commonplace.memory.record import Memory
from commonplace.memory.retention import Forgetting, Going, Held
from commonplace.memory.stores.jsonl import JSONLStore
from commonplace.memory.stores.store import Store


class Holding:
    """All characters of a store."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.there = Collection()
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

    def bring_back(self, names: Iterable[str]) -> None:
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
