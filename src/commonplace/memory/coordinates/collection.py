"""Memories of many characters in RAM, by name and newest last, with what is derived of them: children, references."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from commonplace.memory.recency import micros
from commonplace.memory.record import Memory

Place = tuple[int, int, str]
"""(microseconds since the year 1, number of arrival, name): the order of memories."""


class Collection:
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
