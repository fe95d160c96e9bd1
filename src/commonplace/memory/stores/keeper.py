"""The link between a stream and its store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from commonplace.errors import UsageError
from commonplace.memory.analyser import Analyser
from commonplace.memory.blocks import BLOCKS
from commonplace.memory.embedding import Embedder
from commonplace.memory.segments import FORMAT
from commonplace.memory.stores.store import (
    Add,
    Archive,
    Configure,
    Forget,
    Indexed,
    Log,
    Mark,
    Operation,
    Restore,
    Revise,
    Store,
    Touch,
    Writer,
)
from commonplace.memory.table import MemoryTable

Progress = Callable[[int, int], None]
"""Called with (done, of how many) while something takes long."""

_BATCH = 256
_LEAST = 1024
"""Memories below which a stream is made of its rows in no time."""
_CHANGED, _SHARE = 256, 256
"""An index is kept anew when so many memories, and this part of all, have been added or changed since."""
_SEGMENTS = 16
"""When there are so many, they are made one. Each has the columns that may change for all memories."""


class Keeper:
    """Writes what one stream does into its store, before the stream shows it.

    Accesses are collected, and written with the next operation, by `flush` and by `close`.
    """

    def __init__(
        self,
        store: Store,
        agent: str,
        mark: Mark,
        settings: Mapping[str, Any],
        made_with: Mapping[str, Any],
        *,
        own: bool,
    ) -> None:
        """`mark`, `settings`: of what the stream has read. `made_with`: the settings of the stream, written with its
        first memory. `own`: whether `close` closes the store."""
        self.store = store
        self.mark = mark
        """Of what the stream knows."""
        self.settings = made_with if settings == made_with else settings
        """Those in the store, as far as the stream knows; empty for a character that is new or was deleted."""
        self.accesses: dict[int, datetime] = {}
        """Those that are to be written: memory id → moment."""
        self.files: list[Path] = []
        """The index that the store keeps, if the stream was made of it or has made it."""
        self.changed = 0
        """Memories that were added or changed since."""
        self._agent = agent
        self.made_with = made_with
        self._own = own

    def write(self, *operations: Operation) -> None:
        """Makes the operations in the store, after the accesses collected. Raises `Overtaken`."""
        settings, before = {**self.settings, **self.made_with}, list[Operation]()
        if settings != self.settings and any(isinstance(one, Add) for one in operations):
            before.append(Configure(settings))
        if self.accesses:
            before.append(Touch(dict(self.accesses)))
        self.mark = self.store.write(self._agent, (*before, *operations), self.mark)
        for one in (*before, *operations):
            match one:
                case Add(memories) | Revise(memories):
                    self.changed += len(memories)
                case Touch(accesses):
                    self.changed += len(accesses)
                case Forget() if self.files:  # with which the store has dropped the index
                    self.files, self.changed = [], sys.maxsize
                case Archive(ids) | Restore(ids) | Forget(ids):
                    self.changed += len(ids)
                case Configure():
                    pass
        self.accesses.clear()
        if any(isinstance(one, Configure) for one in before):
            self.settings = settings

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Replaces the settings, but for what the stream is made with. Raises `Overtaken`."""
        settings = {**settings, **self.made_with}
        self.write(Configure(settings))
        self.settings = settings

    def touch(self, ids: Iterable[int], at: datetime) -> None:
        """Collects accesses."""
        self.accesses.update(dict.fromkeys(ids, at))

    def delete(self) -> int:
        """Deletes everything of the character; the next memory begins anew."""
        count = self.store.delete(self._agent)
        self.mark, self.settings = self.store.read(self._agent).mark, {}
        self.accesses.clear()
        return count

    def news(self) -> Log:
        """Reads what the store has that the stream may not have."""
        log = self.store.read(self._agent, self.mark)
        self.changed += sum(len(one.memories) for one in log.operations if isinstance(one, Add | Revise))
        return log

    def keep(self, table: MemoryTable, failed: Sequence[int]) -> None:
        """Has the store keep the index of the stream, if enough has changed for that.

        Some that are new take a segment of their own; the others are left as they are.
        """
        rows = table.committed
        if rows < _LEAST or self.changed < max(_CHANGED, rows // _SHARE) or not hasattr(self.store, "keep"):
            return
        if table.kept is None or len(self.files) >= _SEGMENTS or not self.files:
            table.kept, self.files = None, []
        segment = table.segment(failed)
        store = cast(Indexed, self.store)
        place = store.keep(self._agent, self.mark, index_made_with(table), self.files, segment)
        self.changed = 0  # and not again before as much has changed
        table.kept, self.files = (segment.counts, [*self.files, place]) if place else (None, [])

    def close(self) -> None:
        """Closes the store if it is the stream's own. May be called twice."""
        if self._own:
            self.store.close()


def settings_of(embedder: Embedder, analyser: Analyser) -> Mapping[str, Any]:
    """Returns the settings of a stream that a store keeps. Streams share them."""
    return _settings(embedder.name, embedder.dimensions, analyser.language, analyser.kind)


@lru_cache(maxsize=64)
def _settings(embedder: str, dimensions: int, language: str, analyser: str) -> Mapping[str, Any]:
    return {"embedder": embedder, "dimensions": dimensions, "language": language, "analyser": analyser}


def refuse_other_embedder(settings: Mapping[str, Any], embedder: Embedder, where: str) -> None:
    """Raises UsageError when the vectors were made by another embedder, or only some by this one."""
    made_by = settings.get("embedder", embedder.name)
    if made_by != embedder.name:
        raise UsageError(
            f"its vectors were made by {made_by}; those of {embedder.name} cannot be compared with them",
            where=where,
            hint=f"give the embedder {made_by}, or reembed=True to make all vectors again",
        )
    if settings.get("unfinished"):
        raise UsageError(
            f"making its vectors again with {made_by} was interrupted",
            where=where,
            hint="open it with reembed=True to go on",
        )


def make_vectors(writer: Writer, embedder: Embedder, analyser: Analyser, progress: Progress | None) -> None:
    """Gives all memories vectors of this embedder. Can be interrupted and done again."""
    settings, stored = settings_of(embedder, analyser), writer.stored
    if BLOCKS in stored.settings:
        settings = {**settings, BLOCKS: stored.settings[BLOCKS]}
    writer.write(Configure({**settings, "unfinished": True}))
    kept = [memory for memory in stored.memories if memory.id not in stored.forgotten]
    for first in range(0, len(kept), _BATCH):
        some = kept[first : first + _BATCH]
        writer.write(Revise(some, embedder.embed([memory.text for memory in some])))
        if progress is not None:
            progress(first + len(some), len(kept))
    writer.write(Configure(settings))


def index_made_with(table: MemoryTable) -> str:
    """Returns what an index depends on besides the memories: whoever has another one makes it again."""
    embedder, analyser = table.embedder, table.analyser
    return f"{FORMAT} {analyser.kind} {analyser.name} {embedder.dimensions} {embedder.name}"
