"""The interface of a store of memories. The stream works in RAM; the store makes it durable."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.analyser import Analyser
from commonplace.memory.embedding import Embedder, Vector
from commonplace.memory.record import Kind, Memory


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything a store holds of one character, as `MemoryStream.restore` wants it."""

    memories: Sequence[Memory] = ()
    """In the order of their ids 1, 2, 3 …, with importance and last access as of now; those forgotten (as `tombstone`)
    or archived are there too, so that no id is used twice."""
    vectors: Sequence[Vector | None] = ()
    """One per memory, float32 as it was given, of any length; a `VectorRows` where that is faster."""
    forgotten: frozenset[int] = frozenset()
    archived: frozenset[int] = frozenset()
    """Set aside: not candidates until they are restored."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the character's stream was made with: `embedder`, `dimensions`, `language`, `analyser`; JSON."""
    mark: Any = None
    """Where `changes` of this store goes on; None in a store without it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What has become of a character since a mark. May contain memories that have not changed."""

    last_id: int
    memories: Sequence[Memory]
    """New and changed ones, ascending, as in `Stored`; every one behind the last id that was known is there."""
    vectors: Sequence[Vector | None]
    """One per memory."""
    forgotten: frozenset[int]
    """Which of these are forgotten."""
    archived: frozenset[int]
    settings: Mapping[str, Any]
    mark: Any

    @classmethod
    def of_all(cls, stored: Stored) -> Changes:
        """Everything, for a store that cannot tell what has changed."""
        last, memories, vectors = len(stored.memories), stored.memories, stored.vectors
        return cls(last, memories, vectors, stored.forgotten, stored.archived, stored.settings, stored.mark)


Access = Literal["read", "write", "create"]
"""To open a store: to read, when nothing is made, repaired or changed; to write; to write, and made where missing."""


class Readable(Protocol):
    """A store that is only read."""

    where: str
    """Path or URL without a password, for messages."""
    repairs: tuple[str, ...]
    """What opening the store repaired, a sentence each, or left out where it is only read; empty after a proper
    close."""

    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        ...

    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for an unknown one."""
        ...

    def close(self) -> None:
        """Close files and connections. May be called twice."""
        ...


class Store(Readable, Protocol):
    """Memories of many characters. What a method has acknowledged survives the death of the process.

    Any number of threads may use one open store.

    Where two processes would lose something of each other's, the later one is refused. Errors of drivers and disks
    become `CommonplaceError`s that name the store and the next step. Names of characters can be anything: slashes,
    quotes, dots, Hangul, emoji (see `checked_agent`). Ids that are not there raise `Gone`, a UsageError, and change
    nothing; only `touch` leaves them out. What a killed process had under way is there or not, memory by memory; only
    `append` is whole or not at all. A reader sees the whole of a call or nothing of it.

    A store whose readers compare vectors themselves may declare `compares = True`: it is then given also the vectors
    that follow from the text (see `Embedder`).

    A store that can tell what has changed may have `changes(agent, mark, known)`: the `Changes` since the `mark` of a
    `Stored` or of other `Changes`, for a reader who has the memories up to the id `known`; None if the character was
    deleted since. Without it `MemoryStream.refresh` loads everything.
    """

    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with, instead of what was kept before."""
        ...

    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids: all of them or none. Raises `OtherId` for other ids, `Overtaken` where
        another handle of the store was quicker."""
        ...

    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Set access times: memory id → moment. Those of memories that are not there are left out: another stream may
        forget a memory after this one has found it."""
        ...

    def update(
        self,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] | None = None,
        *,
        before: Sequence[Memory] = (),
    ) -> None:
        """Replace what may change of memories that are here: text, tags, importance, emotion, details; vectors where
        given. Last accesses stay.

        `before`: memories as the caller knows them. Raises `Overtaken`, and changes nothing, if one of them has been
        changed since, other than by an access.
        """
        ...

    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. Text and vector are gone from the store's current data."""
        ...

    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Compress and set aside; `load` reports them as archived. Archived ones stay as they are."""
        ...

    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Restore from the archive. Those that are not archived stay as they are."""
        ...

    def delete(self, agent: str) -> int:
        """Delete everything of a character, archived memories, settings and name included; how many memories it had.

        One who is added again under this name begins with memory 1. 0 for an unknown one.
        """
        ...


_NEVER = datetime(1, 1, 1, tzinfo=UTC)


def tombstone(agent: str, id: int, kind: Kind = "observation") -> Memory:
    """What replaces a forgotten memory. Its kind stays, because a forgotten reflection still took place."""
    return Memory(id, agent, kind, "", _NEVER, _NEVER, 0, 1.0)


def checked_agent(agent: str) -> str:
    """A name a store can keep. Raises UsageError for an empty one and for anything but Unicode text."""
    try:
        usable = bool(agent) and b"\0" not in agent.encode()
    except (UnicodeEncodeError, AttributeError):
        usable = False
    if not usable:
        raise UsageError(
            f"{agent!r} is not a name a store can keep", hint="give at least one character, and no NUL bytes"
        )
    return agent


class OtherId(UsageError):
    """A memory does not have the next id, perhaps because another stream has added one."""


class Overtaken(CommonplaceError):
    """Another stream has used an id, or changed a memory, first."""


class Gone(UsageError):
    """A memory is not there, perhaps because another stream has forgotten it."""


BEHIND = (OtherId, Overtaken, Gone)
"""What a store raises for a stream that does not know what another has done: it brings that in, and does again what it
was about to do."""


def refuse_other_ids(agent: str, memories: Sequence[Memory], last_id: int, where: str) -> None:
    """Raises UsageError unless the memories have the ids after `last_id`."""
    for expected, memory in enumerate(memories, start=last_id + 1):
        if memory.id != expected:
            raise OtherId(
                f"expected memory {expected} of {agent}, got memory {memory.id}",
                where=where,
                hint="memories are added at the end: `refresh` the stream to see what the store holds",
            )


def refuse_missing(agent: str, ids: Sequence[int], there: int, where: str) -> None:
    """Raises `Gone` unless all `ids` were found (`there` of them)."""
    if there != len(set(ids)):
        raise Gone(
            f"{len(set(ids)) - there} of the memories {sorted(set(ids))[:10]} of {agent} do not exist",
            where=where,
            hint="they were forgotten, or never existed: `refresh` the stream to see what the store holds",
        )


def no_store(where: str) -> UsageError:
    """The error for a place without a store, where one is to be read or changed."""
    hint = "give a run, or the file, folder or URL of a store; `commonplace copy-memories RUN STORE` makes one"
    return UsageError("no store here", where=where, hint=hint)


def overtaken(agent: str, where: str) -> Overtaken:
    """The error for ids that another process has used meanwhile."""
    hint = "`refresh` the stream, and add them again"
    return Overtaken(f"another stream has added memories to {agent}", where=where, hint=hint)


def damaged(why: str, where: str) -> CommonplaceError:
    """The error for damaged rows."""
    return CommonplaceError(f"the store is damaged ({why})", where=where, hint="go back to a copy of it")


class ChangeLog:
    """What a store that one process owns has changed since it was opened."""

    def __init__(self) -> None:
        self._latest: dict[str, dict[int, int]] = defaultdict(dict)
        """Character → id → the number of the latest change of this memory."""
        self._count = 0
        self._deleted: Counter[str] = Counter()

    def note(self, agent: str, ids: Iterable[int]) -> None:
        """These memories were changed. What was added need not be noted."""
        self._count += 1
        self._latest[agent].update(dict.fromkeys(ids, self._count))

    def delete(self, agent: str) -> None:
        """The character was deleted."""
        self._latest.pop(agent, None)
        self._deleted[agent] += 1

    def mark(self, agent: str) -> tuple[int, int]:
        """The `mark` of what is read now."""
        return self._deleted[agent], self._count

    def since(self, agent: str, mark: tuple[int, int], known: int, last: int) -> list[int] | None:
        """The ids changed since the mark, and those from `known` to `last`; None if the character was deleted."""
        deleted, count = mark
        if deleted != self._deleted[agent]:
            return None
        changed = {id for id, number in self._latest[agent].items() if number > count}
        return sorted(changed.union(range(known + 1, last + 1)))


# The link between a stream and its store.


Progress = Callable[[int, int], None]
"""Called with (done, of how many) while something takes long."""

_BATCH = 256


class Keeper:
    """Writes what one stream does into its store.

    What is remembered, forgotten, archived or changed is stored before the stream shows it. Accesses are collected, and
    written by the next of these, by `flush` and by `close`.
    """

    def __init__(self, store: Store, agent: str, settings: Mapping[str, Any], mark: Any, *, own: bool) -> None:
        """`settings`: of the stream; kept with the first memory. `mark`: of what was loaded. `own`: whether `close`
        closes the store."""
        self.store = store
        self._agent = agent
        self._made_with = settings
        self._settings: Mapping[str, Any] | None = settings
        self._own = own
        self._accesses: dict[int, datetime] = {}
        self._mark = mark

    def append(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Store the next memories."""
        if self._settings is not None:
            self.store.configure(self._agent, self._settings)
        self.flush()
        self.store.append(self._agent, memories, vectors)
        self._settings = None

    def touch(self, ids: Iterable[int], at: datetime) -> None:
        """Collect accesses."""
        self._accesses.update(dict.fromkeys(ids, at))

    def update(
        self, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None, before: Sequence[Memory]
    ) -> None:
        """Store what has changed of memories since `before`, their vectors too if given."""
        self.flush()
        self.store.update(self._agent, memories, vectors, before=before)

    def remove(self, ids: Sequence[int]) -> None:
        """Forget in the store."""
        self.flush()
        self.store.remove(self._agent, ids)

    def archive(self, ids: Sequence[int]) -> None:
        """Archive in the store."""
        self.flush()
        self.store.archive(self._agent, ids)

    def restore(self, ids: Sequence[int]) -> None:
        """Restore from the archive of the store."""
        self.flush()
        self.store.restore(self._agent, ids)

    def flush(self) -> None:
        """Write the accesses collected."""
        if self._accesses:
            self.store.touch(self._agent, self._accesses)
            self._accesses = {}

    def delete(self) -> int:
        """Delete everything of the character; the next memory begins anew."""
        self._accesses = {}
        self._settings = self._made_with
        return self.store.delete(self._agent)

    def changes(self, known: int) -> tuple[Changes, bool]:
        """(what the store has that the stream, which knows the ids up to `known`, may not have; whether that is all it
        has). `follow` says that the stream has it now."""
        self.flush()
        changes = getattr(self.store, "changes", None)
        found: Changes | None = changes(self._agent, self._mark, known) if changes and self._mark is not None else None
        return (found, False) if found else (Changes.of_all(self.store.load(self._agent)), True)

    def follow(self, found: Changes) -> None:
        """The stream has these changes: the next are those after them."""
        self._mark = found.mark
        if not found.settings:  # the character was deleted
            self._settings = self._made_with
        elif self._settings is not None:
            self._settings = {**found.settings, **self._settings}

    def close(self) -> None:
        """Flush, and close the store if it is the stream's own. May be called twice."""
        try:
            self.flush()
        finally:
            if self._own:
                self.store.close()


def settings_of(embedder: Embedder, analyser: Analyser) -> dict[str, Any]:
    """The settings of a stream that a store keeps."""
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


def reembedded(
    store: Store, agent: str, stored: Stored, embedder: Embedder, analyser: Analyser, progress: Progress | None
) -> Stored:
    """The same memories with vectors of this embedder, in the store too. Can be interrupted and done again."""
    settings = settings_of(embedder, analyser)
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
