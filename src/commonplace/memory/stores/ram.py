"""Memories in RAM: the shortest store, and what a store is in as few words as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import RLock

from commonplace.errors import UsageError
from commonplace.memory.stores.store import Forget, Log, Mark, Operation, checked_agent, compacted, load, overtaken
from commonplace.memory.threads import locked


@dataclass(slots=True)
class _Kept:
    """The operations of one character. The mark of the first is `first`, and grows by one with each."""

    first: int = 0
    operations: list[Operation] = field(default_factory=list[Operation])

    @property
    def mark(self) -> int:
        return self.first + len(self.operations)


class RAMStore:
    """A store that lasts as long as its object. It keeps the operations themselves."""

    where = "RAM"
    repairs: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.guard = RLock()
        self._kept: dict[str, _Kept] = {}
        self._closed = False

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        self._refuse_closed()
        return tuple(sorted(agent for agent, kept in self._kept.items() if kept.operations))

    @locked
    def read(self, agent: str, since: Mark | None = None) -> Log:
        """Returns what has changed in a character since a mark."""
        self._refuse_closed()
        kept = self._kept.get(agent, _Kept())
        if since is None or since < kept.first:
            return Log(tuple(kept.operations), kept.mark, whole=True)
        return Log(tuple(kept.operations[since - kept.first :]), kept.mark, whole=False)

    @locked
    def write(self, agent: str, operations: Sequence[Operation], mark: Mark) -> Mark:
        """Makes the operations, unless anybody has written since the mark."""
        self._refuse_closed()
        kept = self._kept.setdefault(checked_agent(agent), _Kept())
        if mark != kept.mark:
            raise overtaken(agent, self.where)
        kept.operations.extend(operations)
        if any(isinstance(operation, Forget) for operation in operations):
            self._kept[agent] = kept = _Kept(kept.mark + 1, list(compacted(agent, kept.operations)))
        return kept.mark

    @locked
    def delete(self, agent: str) -> int:
        """Deletes everything of a character; returns how many memories it had."""
        stored = load(self, agent)
        if agent in self._kept:
            self._kept[agent] = _Kept(self._kept[agent].mark + 1)
        return len(stored.memories) - len(stored.forgotten)

    @locked
    def close(self) -> None:
        """Ends the store. May be called twice."""
        self._closed = True

    def _refuse_closed(self) -> None:
        if self._closed:
            raise UsageError("the store is closed", where=self.where, hint="make another")
