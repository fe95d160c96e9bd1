"""What joins a stream to the store that makes it last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from commonplace.errors import WrongUse
from commonplace.memory.embedding import Embedder, Vector
from commonplace.memory.record import Memory
from commonplace.memory.stores.store import Store, Stored

Progress = Callable[[int, int], None]
"""Called with (done, of how many) while something takes long."""

_BATCH = 256


class Keeper:
    """Writes what one stream does into its store.

    What is remembered, forgotten, archived or changed is stored before the stream shows it. Accesses are collected, and
    written by the next of these, by `flush` and by `close`.
    """

    def __init__(self, store: Store, agent: str, settings: Mapping[str, Any], *, own: bool) -> None:
        """`settings`: of the stream; kept with the first memory. `own`: whether `close` closes the store."""
        self.store = store
        self._agent = agent
        self._settings: Mapping[str, Any] | None = settings
        self._own = own
        self._accesses: dict[int, datetime] = {}

    def append(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Store the next memories."""
        if self._settings is not None:
            self.store.configure(self._agent, self._settings)
            self._settings = None
        if self._accesses:
            self.flush()
        self.store.append(self._agent, memories, vectors)

    def touch(self, ids: Iterable[int], at: datetime) -> None:
        """Collect accesses."""
        self._accesses.update(dict.fromkeys(ids, at))

    def update(self, memory: Memory) -> None:
        """Store what has changed of a memory."""
        self.flush()
        self.store.update(self._agent, [memory])

    def remove(self, ids: Sequence[int]) -> None:
        """Forget in the store."""
        self.flush()
        self.store.remove(self._agent, ids)

    def archive(self, ids: Sequence[int]) -> None:
        """Put away in the store."""
        self.flush()
        self.store.archive(self._agent, ids)

    def restore(self, ids: Sequence[int]) -> None:
        """Bring back in the store."""
        self.flush()
        self.store.restore(self._agent, ids)

    def flush(self) -> None:
        """Write the accesses collected."""
        if self._accesses:
            self.store.touch(self._agent, self._accesses)
            self._accesses = {}

    def close(self) -> None:
        """Flush, and close the store if it is the stream's own. May be called twice."""
        try:
            self.flush()
        finally:
            if self._own:
                self.store.close()


def settings_of(embedder: Embedder, language: str) -> dict[str, Any]:
    """What is kept of how a stream was made."""
    return {"embedder": embedder.name, "dimensions": embedder.dimensions, "language": language}


def refuse_other_embedder(settings: Mapping[str, Any], embedder: Embedder, where: str) -> None:
    """Raises WrongUse when the vectors were made by another embedder, or only some by this one."""
    made_by = settings.get("embedder", embedder.name)
    if made_by != embedder.name:
        raise WrongUse(
            f"its vectors were made by {made_by}, and {embedder.name} cannot be compared with them",
            where=where,
            todo=f"give the embedder {made_by}, or reembed=True to make all vectors again",
        )
    if settings.get("unfinished"):
        raise WrongUse(
            f"making its vectors again with {made_by} was interrupted",
            where=where,
            todo="open it with reembed=True to go on",
        )


def reembedded(
    store: Store, agent: str, stored: Stored, embedder: Embedder, language: str, progress: Progress | None
) -> Stored:
    """The same memories with vectors of this embedder, in the store too. Can be interrupted and done again."""
    settings = settings_of(embedder, language)
    store.configure(agent, {**settings, "unfinished": True})
    vectors: list[Vector | None] = [None] * len(stored.memories)
    kept = [memory for memory in stored.memories if memory.id not in stored.forgotten]
    for first in range(0, len(kept), _BATCH):
        some = kept[first : first + _BATCH]
        made = embedder.embed([memory.text for memory in some])
        store.update(agent, some, made)
        for memory, vector in zip(some, made, strict=True):
            vectors[memory.id - 1] = vector
        if progress is not None:
            progress(first + len(some), len(kept))
    store.configure(agent, settings)
    return replace(stored, vectors=vectors, settings=settings)
