"""The index of a `MemoryStore` in RAM: all memories by name, in the order of their time, their words and relations."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from commonplace.memory.analyser import shared_analyser
from commonplace.memory.bm25 import LexicalIndex
from commonplace.memory.columns import micros
from commonplace.memory.record import Memory
from commonplace.memory.stores.store import Store, Writer
from commonplace.parts.coordinates.document import unused_id
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.retention import Candidate


class Index:
    """All memories of a store by name, the order of those that are not archived, and who refers to whom."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.memories: dict[str, Memory] = {}
        self.archived: dict[str, Memory] = {}
        self.names: dict[tuple[str, int], str] = {}
        """(character, id) → name, of both."""
        self.sessions: dict[str, dict[str, None]] = {}
        """Session → its memories in the order they were added."""
        self._writers: dict[str, Writer] = {}
        self.children: dict[str, list[str]] = defaultdict(list)
        self._order: list[tuple[int, int, str]] = []
        """(microseconds since the year 1, number of arrival, name), sorted."""
        self._places: dict[str, tuple[int, int, str]] = {}
        self._references: Counter[str | tuple[str, int]] = Counter()
        """By name, which relations use; by (character, id), which citations use."""
        self._arrivals = 0
        self._words: Words | None = None
        for agent in store.agents():
            stored = self.writer(agent).stored
            names = store.names(agent) if isinstance(store, JSONLStore) else ()
            for memory in stored.memories:
                if memory.id not in stored.forgotten:
                    name = names[memory.id - 1] if names else memory.details.get("memory_id")
                    if not isinstance(name, str) or not name or name in self:
                        name = unused_id(memory.created_at, self, seed, agent, memory.id)
                    self.add(name, memory, archived=memory.id in stored.archived)

    def __contains__(self, name: object) -> bool:
        return name in self.memories or name in self.archived

    def writer(self, agent: str) -> Writer:
        """Returns the `Writer` of a character, which knows what the store holds."""
        if agent not in self._writers:
            self._writers[agent] = Writer(self.store, agent)
        return self._writers[agent]

    def delete(self, agent: str) -> None:
        """Deletes a character whose memories have been removed."""
        self.store.delete(agent)
        self._writers.pop(agent, None)

    def add(self, name: str, memory: Memory, *, archived: bool = False) -> None:
        """Add a memory under an unused name."""
        self.names[memory.agent, memory.id] = name
        if archived:
            self.archived[name] = memory
            return
        self._arrivals += 1
        self.memories[name] = memory
        self._places[name] = micros(memory.created_at), self._arrivals, name
        insort(self._order, self._places[name])
        if memory.session:
            self.sessions.setdefault(memory.session, {})[name] = None
        self._count_references(name, memory, 1)
        if self._words is not None:
            self._words.add(name, memory)

    @property
    def words(self) -> Words:
        """The words of all memories that are not archived; made for the first query."""
        if self._words is None:
            self._words = Words()
            for name in self.oldest():
                self._words.add(name, self.memories[name])
        return self._words

    def remove(self, memory: Memory) -> None:
        """Remove a memory, archived or not."""
        name = self.names.pop((memory.agent, memory.id))
        if self.archived.pop(name, None) is not None:
            return
        self._words = None
        memory = self.memories.pop(name)
        del self._order[bisect_left(self._order, self._places.pop(name))]
        if memory.session:
            del self.sessions[memory.session][name]
            if not self.sessions[memory.session]:
                del self.sessions[memory.session]
        self._count_references(name, memory, -1)

    def update(self, memories: Iterable[Memory]) -> None:
        """Replace memories by versions with another importance, rating or evidence."""
        for memory in memories:
            name = self.names[memory.agent, memory.id]
            (self.archived if name in self.archived else self.memories)[name] = memory

    def newest(self) -> Iterator[str]:
        """Names, the newest first; of one moment, the last added."""
        return (name for _, _, name in reversed(self._order))

    def oldest(self, among: Iterable[str] | None = None) -> list[str]:
        """Names, the oldest first; of one moment, the first added."""
        return [name for _, _, name in (self._order if among is None else sorted(self._places[one] for one in among))]

    def candidates(self) -> list[Candidate]:
        """Returns what retention may forget: the memories, oldest first, then the archived ones."""
        here = [Candidate(self.memories[name]) for name in self.oldest()]
        return here + [Candidate(memory, archived=True) for memory in self.archived.values()]

    def references(self, name: str) -> int:
        """Counts the other memories that name this one in their relations, or cite it."""
        memory = self.memories.get(name)
        cited = self._references[memory.agent, memory.id] if memory else 0
        return self._references[name] + cited

    def _count_references(self, name: str, memory: Memory, by: int) -> None:
        parent = memory.details.get("parent_memory_id")
        if isinstance(parent, str):
            (self.children[parent].append if by > 0 else self.children[parent].remove)(name)
        keys = ("parent_memory_id", "child_memory_ids", "related_memory_ids")
        related = [other for key in keys for other in values(memory.details.get(key)) if isinstance(other, str)]
        for other in {*related, *((memory.agent, id) for id in memory.citations)} - {name}:
            self._references[other] += by


class Words:
    """BM25 over the texts and tags of memories."""

    def __init__(self) -> None:
        self._analyser = shared_analyser()
        self._index = LexicalIndex()
        self._names: list[str] = []

    def add(self, name: str, memory: Memory) -> None:
        """Add the words of a memory under its name."""
        self._names.append(name)
        self._index.append(self._analyser.query("\n".join((memory.full_text, *memory.tags))))

    def scores(self, query: str) -> dict[str, float]:
        """Name → score of those that share a word with the query; grammar counts only if there is nothing else."""
        terms = self._analyser.weighted(query, 0.0)
        if not any(terms.values()):
            terms = self._analyser.weighted(query, 1.0)
        scores = self._index.scores({term: weight for term, weight in terms.items() if weight})
        return {self._names[place]: float(scores[place]) for place in np.flatnonzero(scores).tolist()}


def values(value: Any) -> list[Any]:
    return list(cast("Iterable[Any]", value)) if isinstance(value, list | tuple | set | frozenset) else [value]
