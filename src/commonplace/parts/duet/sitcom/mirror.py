"""The characters' memories in Chroma: a collection each, kept in step with the run after every turn.

The run's own memory decides what is retrieved, so that a run is the same with and without Chroma. The mirror can be
read by any Chroma client, and its search is compared with the exact one on every turn
([why](docs/decisions/chroma-mirrors.md)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonplace.memory.embedding import Vector
from commonplace.memory.stores.store import Add, Touch, Writer
from commonplace.parts.stores.chroma import ChromaStore
from commonplace.run.reading import Reading


@dataclass(frozen=True, slots=True)
class Agreement:
    """A comparison of Chroma's nearest memories with the exact ones."""

    wanted: int
    """As many as the policy lets compete, or as there are."""
    shared: int
    """Of them found by Chroma too."""


class Mirror:
    """A Chroma folder. Raises what Chroma raises: a missing package, a folder in use, a damaged file."""

    def __init__(self, folder: Path, names: Mapping[str, str]) -> None:
        """`names`: character id → the name its collection has: `memories_agent_NAME`."""
        self.folder = folder
        self._names = names
        self._store = ChromaStore(folder.resolve())  # Chroma knows an open folder by its path

    def sync(self, reading: Reading) -> None:
        """Brings every collection up to date with the run: new memories, access times, forgotten memories."""
        for agent, name in self._names.items():
            stream = reading.stream_at(agent)
            memories = list(stream)
            writer = Writer(self._store, name)
            there = {memory.id: memory for memory in writer.stored.memories}
            fresh = [memory for memory in memories if memory.id not in there]
            moved = {
                one.id: one.accessed_at for one in memories if one.accessed_at != there.get(one.id, one).accessed_at
            }
            writer.write(Add(fresh, [stream.vector(memory.id) for memory in fresh]), Touch(moved))

    def agreement(self, agent: str, vector: Vector | None, exact: Sequence[int]) -> Agreement | None:
        """Compares the memories Chroma finds nearest to a query with the exact ids.

        Returns None for a query without a vector.
        """
        if vector is None or not exact:
            return None
        found = {id for id, _ in self._store.nearest(self._names[agent], vector, len(exact))}
        return Agreement(len(exact), len(found & set(exact)))

    def empty(self) -> None:
        """Deletes the collections."""
        for name in self._names.values():
            self._store.delete(name)

    def close(self) -> None:
        """Closes and unlocks the folder."""
        self._store.close()
