"""The link between a stream and its store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from commonplace.errors import UsageError
from commonplace.memory.analyser import Analyser
from commonplace.memory.embedding import Embedder
from commonplace.memory.stores.store import Add, Configure, Log, Operation, Revise, Touch, Writer

Progress = Callable[[int, int], None]
"""Called with (done, of how many) while something takes long."""

_BATCH = 256


class Keeper:
    """Writes what one stream does into its store, before the stream shows it.

    Accesses are collected, and written with the next operation, by `flush` and by `close`.
    """

    def __init__(self, writer: Writer, made_with: Mapping[str, Any], *, own: bool) -> None:
        """`writer`: what the stream has read. `made_with`: the settings of the stream, written with its first memory.
        `own`: whether `close` closes the store."""
        self.store = writer.store
        self.mark = writer.mark
        """Of what the stream knows."""
        self.settings = writer.stored.settings
        """Those in the store, as far as the stream knows; empty for a character that is new or was deleted."""
        self.accesses: dict[int, datetime] = {}
        """Those that are to be written: memory id → moment."""
        self._agent = writer.agent
        self._made_with = made_with
        self._own = own

    def write(self, *operations: Operation) -> None:
        """Makes the operations in the store, after the accesses collected. Raises `Overtaken`."""
        settings, before = {**self.settings, **self._made_with}, list[Operation]()
        if settings != self.settings and any(isinstance(one, Add) for one in operations):
            before.append(Configure(settings))
        if self.accesses:
            before.append(Touch(dict(self.accesses)))
        self.mark = self.store.write(self._agent, (*before, *operations), self.mark)
        self.accesses.clear()
        if any(isinstance(one, Configure) for one in before):
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
        return self.store.read(self._agent, self.mark)

    def close(self) -> None:
        """Closes the store if it is the stream's own. May be called twice."""
        if self._own:
            self.store.close()


def settings_of(embedder: Embedder, analyser: Analyser) -> dict[str, Any]:
    """Returns the settings of a stream that a store keeps."""
    return {
        "embedder": embedder.name,
        "dimensions": embedder.dimensions,
        "language": analyser.language,
        "analyser": analyser.kind,
    }


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
    writer.write(Configure({**settings, "unfinished": True}))
    kept = [memory for memory in stored.memories if memory.id not in stored.forgotten]
    for first in range(0, len(kept), _BATCH):
        some = kept[first : first + _BATCH]
        writer.write(Revise(some, embedder.embed([memory.text for memory in some])))
        if progress is not None:
            progress(first + len(some), len(kept))
    writer.write(Configure(settings))
