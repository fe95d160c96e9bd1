"""Memories from one store into another, with nothing lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonplace.errors import WrongUse
from commonplace.memory.stores.store import Store, Stored

CopyProgress = Callable[[str, int, int], None]
"""Called with (character, memories done, of how many)."""

_BATCH = 1000


def copy(source: Mapping[str, Stored], target: Store, progress: CopyProgress | None = None) -> int:
    """Writes characters (name → all there is of them) into a store; how many memories they have now.

    Forgotten ones are copied as forgotten, so that ids stay used, and are not counted. Raises WrongUse, before anything
    is written, when the target has something of one of them.
    """
    taken = [agent for agent in source if target.load(agent).memories]
    if taken:
        raise WrongUse(
            f"it has memories of {', '.join(taken)} already",
            where=target.where,
            todo="copy into a new store, or name the characters to copy",
        )
    return sum(_copied(agent, stored, target, progress) for agent, stored in source.items())


def _copied(agent: str, stored: Stored, target: Store, progress: CopyProgress | None) -> int:
    count = len(stored.memories)
    target.configure(agent, stored.settings)
    for first in range(0, count, _BATCH):
        some = slice(first, first + _BATCH)
        target.append(agent, stored.memories[some], stored.vectors[some])
        if progress is not None:
            progress(agent, min(first + _BATCH, count), count)
    if stored.forgotten:
        target.remove(agent, sorted(stored.forgotten))
    if stored.archived:
        target.archive(agent, sorted(stored.archived))
    return count - len(stored.forgotten)
