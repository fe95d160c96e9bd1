"""The interface of a store of memories, and what is common to all: operations, and what they make of a character."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.embedding import Vector
from commonplace.memory.record import Kind, Memory, accessed

if TYPE_CHECKING:
    from commonplace.memory.segments import Segment

THERE, ARCHIVED, FORGOTTEN = range(3)
"""States of a stored memory."""

Mark = Any
"""A moment in the history of one character, as one store writes it; compared with `==`."""
_Value = TypeVar("_Value")
Access = Literal["read", "write", "create"]
"""To open a store: to read, when nothing is made, repaired or changed; to write; to write, and made where missing."""


# ── Operations ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Add:
    """Adds memories, which have the next ids."""

    memories: Sequence[Memory]
    vectors: Sequence[Vector | None]
    """One per memory, float32 as it was given, of any length; a `VectorRows` where that is faster."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Sets access times: memory id → moment. Those of memories that are not there are left out."""

    accesses: Mapping[int, datetime]


@dataclass(frozen=True, slots=True)
class Revise:
    """Replaces what may change of memories: text, kind, place, source, tags, importance, emotion, details.

    Last accesses stay.
    """

    memories: Sequence[Memory]
    vectors: Sequence[Vector | None] | None = None
    """One per memory; None where all keep what they have."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Forgets memories for good. Their ids stay used."""

    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Archive:
    """Sets memories aside: they are not candidates until they are restored."""

    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Restore:
    """Brings memories back from the archive."""

    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Configure:
    """Replaces what the character's stream was made with: `embedder`, `dimensions`, `language`, `analyser`; JSON."""

    settings: Mapping[str, Any]


Operation = Add | Touch | Revise | Forget | Archive | Restore | Configure


@dataclass(frozen=True, slots=True)
class Log:
    """What a store has of a character: operations that bring a reader up to date."""

    operations: Sequence[Operation]
    mark: Mark
    """Where the next `read` goes on, and what the next `write` needs."""
    whole: bool
    """Whether this is everything, for a reader who knows nothing."""


# ── Stores ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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

    def read(self, agent: str, since: Mark | None = None) -> Log:
        """Returns what has changed in a character since a mark.

        Returns everything if the mark is None, if the character was deleted since, or if the store cannot tell. May
        repeat what the reader knows. Returns nothing for an unknown character.
        """
        ...

    def close(self) -> None:
        """Closes files and connections. May be called twice."""
        ...


class Store(Readable, Protocol):
    """Memories of many characters. What `write` has acknowledged survives the death of the process.

    A store checks nothing but the mark: whoever has the latest one knows what there is. `fold` says what an operation
    means. Any number of threads may use one open store. Where two processes would lose something of each other's, the
    later one is refused. Errors of drivers and disks become `CommonplaceError`s that name the store and the next step.
    Names of characters can be anything: slashes, quotes, dots, Hangul, emoji (see `checked_agent`). A reader sees the
    whole of a `write` or nothing of it.

    A store whose readers compare vectors themselves may declare `compares = True`: it is then given also the vectors
    that follow from the text (see `Embedder`).
    """

    def write(self, agent: str, operations: Sequence[Operation], mark: Mark) -> Mark:
        """Makes the operations, all or none, and returns the new mark. Raises `Overtaken`, and changes nothing, if
        anybody has written to this character since `mark`.

        Text and vector of what is forgotten are gone from the store's current data. What is archived is compressed.
        What a killed process had under way is there or not, memory by memory; only an `Add` is whole or not at all.
        """
        ...

    def delete(self, agent: str) -> int:
        """Deletes everything of a character, archived memories, settings and name included; returns how many memories
        it had.

        One who is added again under this name begins with memory 1. 0 for an unknown one.
        """
        ...


class Index(NamedTuple):
    """What a store has beside the rows of a character, so that its stream need not be made of them."""

    made_with: str
    """What else it depends on. One that was made with something else is of no use."""
    files: tuple[Path, ...]
    """Segments, in their order."""
    mark: Mark
    """The moment of which it is."""
    last_id: int
    settings: Mapping[str, Any]
    """Those of the character, as of now."""


class Indexed(Protocol):
    """A store that keeps indexes. To it an index is a list of files."""

    where: str

    def index(self, agent: str) -> Index | None:
        """Returns the index of a character; None if there is none."""
        ...

    def keep(self, agent: str, mark: Mark, made_with: str, before: Sequence[Path], segment: Segment) -> Path | None:
        """Adds a segment to those of `before`, or puts it in the place of all; returns where it is.

        None, and nothing is kept, if anybody has written to the character since `mark`, has kept another index, or if
        the file cannot be written.
        """
        ...


class Overtaken(CommonplaceError):
    """Somebody else has written to the character: read what is new, and do it again."""


def overtaken(agent: str, where: str) -> Overtaken:
    """Returns the error for a mark that is not the latest."""
    hint = "`refresh` the stream, and do it again"
    return Overtaken(f"another stream has written to {agent}", where=where, hint=hint)


def no_store(where: str) -> UsageError:
    """Returns the error for a place without a store, where one is to be read or changed."""
    hint = "give a run, or the file, folder or URL of a store; `commonplace copy-memories RUN STORE` makes one"
    return UsageError("no store here", where=where, hint=hint)


def damaged(why: str, where: str) -> CommonplaceError:
    """Returns the error for damaged rows."""
    return CommonplaceError(f"the store is damaged ({why})", where=where, hint="go back to a copy of it")


def checked_agent(agent: str) -> str:
    """Returns the name if a store can keep it. Raises UsageError for an empty one and for anything but Unicode text."""
    try:
        usable = bool(agent) and b"\0" not in agent.encode()
    except (UnicodeEncodeError, AttributeError):
        usable = False
    if not usable:
        raise UsageError(
            f"{agent!r} is not a name a store can keep", hint="give at least one character, and no NUL bytes"
        )
    return agent


# ── What operations mean ─────────────────────────────────────────────────────────────────────────────────────────────


class Target(Protocol):
    """What operations are folded into: a stream's table, a list of memories, the rows of a store."""

    agent: str

    @property
    def last_id(self) -> int:
        """The id of the latest memory; 0 before the first."""
        ...

    def states(self, ids: Sequence[int]) -> Mapping[int, int]:
        """Id → state of those of these memories that were ever added."""
        ...

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Adds the next memories."""
        ...

    def access(self, accesses: Mapping[int, datetime]) -> None:
        """Sets the last access of memories that are not forgotten."""
        ...

    def revise(self, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None) -> None:
        """Replaces memories that are not forgotten, but not their last accesses."""
        ...

    def move(self, ids: Sequence[int], state: int) -> None:
        """Gives memories that are not forgotten another state."""
        ...

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Replaces the settings."""
        ...


_BEFORE = {FORGOTTEN: (THERE, ARCHIVED), ARCHIVED: (THERE,), THERE: (ARCHIVED,)}
"""State → those from which a memory can get it."""


_STATE_AFTER: Mapping[type, int] = {Forget: FORGOTTEN, Archive: ARCHIVED, Restore: THERE}


def fold(operations: Iterable[Operation], target: Target) -> None:
    """Makes the operations, one after the other.

    Those that are about forgotten memories do nothing to these. Raises UsageError for memories that do not have the
    next ids, and for ids that were never used, except those of a `Touch`.
    """
    for operation in operations:
        match operation:
            case Add(memories, vectors):
                ids = [memory.id for memory in memories]
                expected = range(target.last_id + 1, target.last_id + 1 + len(ids))
                if ids != list(expected):
                    wanted, given = next((one, other) for one, other in zip(expected, ids, strict=True) if one != other)
                    what = f"expected memory {wanted} of {target.agent}, got memory {given}"
                    raise UsageError(what, hint="memories are added at the end, in the order of their ids")
                if memories:
                    target.extend(memories, vectors)
            case Touch(accesses):
                states = target.states(list(accesses))
                target.access({id: at for id, at in accesses.items() if states.get(id, FORGOTTEN) != FORGOTTEN})
            case Revise(memories, vectors):
                states = _known(target, [memory.id for memory in memories])
                places = [place for place, memory in enumerate(memories) if states[memory.id] != FORGOTTEN]
                given = None if vectors is None else [vectors[place] for place in places]
                target.revise([memories[place] for place in places], given)
            case Configure(settings):
                target.configure(settings)
            case _:
                state = _STATE_AFTER[type(operation)]
                states = _known(target, operation.ids)
                if ids := [id for id in sorted(states) if states[id] in _BEFORE[state]]:
                    target.move(ids, state)


def _known(target: Target, ids: Sequence[int]) -> Mapping[int, int]:
    """Returns the states of all these memories. Raises UsageError for an id that was never used."""
    states = target.states(ids)
    if missing := sorted({*ids} - states.keys()):
        what = f"the memories {missing[:10]} of {target.agent} do not exist"
        raise UsageError(what, hint=f"ids go from 1 to {target.last_id}")
    return states


def tombstone(agent: str, id: int, kind: Kind = "observation") -> Memory:
    """Returns what replaces a forgotten memory. Its kind stays, because a forgotten reflection still took place."""
    return Memory(id, agent, kind, "", _NEVER, _NEVER, 0, 1.0)


_NEVER = datetime(1, 1, 1, tzinfo=UTC)


_NONE: Mapping[int, Vector | None] = {}


def _owned(values: Sequence[_Value]) -> list[_Value]:
    return values if isinstance(values, list) else list(values)


def _shared(values: Sequence[_Value]) -> Sequence[_Value]:
    """Returns the values as a tuple if they are a list: `Stored` changes in place only a list of its own."""
    return tuple(values) if isinstance(values, list) else values


@dataclass(slots=True)
class Stored:
    """Everything a store holds of one character, as `MemoryStream.restore` wants it; a `Target`."""

    memories: Sequence[Memory] = ()
    """In the order of their ids 1, 2, 3 …, with importance and last access as of now; those forgotten (as `tombstone`)
    or archived are there too, so that no id is used twice."""
    vectors: Sequence[Vector | None] = ()
    """One per memory."""
    forgotten: set[int] = field(default_factory=set[int])
    archived: set[int] = field(default_factory=set[int])
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    agent: str = ""

    @property
    def last_id(self) -> int:
        return len(self.memories)

    def states(self, ids: Sequence[int]) -> dict[int, int]:
        return {
            id: FORGOTTEN if id in self.forgotten else ARCHIVED if id in self.archived else THERE
            for id in ids
            if 1 <= id <= len(self.memories)
        }

    def states_of_gone(self) -> dict[int, int]:
        """Id → state of those that are archived or forgotten, ascending."""
        found = dict.fromkeys(self.archived, ARCHIVED) | dict.fromkeys(self.forgotten, FORGOTTEN)
        return dict(sorted(found.items()))

    def kept(self, ids: Sequence[int]) -> list[Kept]:
        """These memories as rows."""
        states = self.states(ids)
        return [Kept(self.memories[id - 1], self.vectors[id - 1], states[id]) for id in ids]

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        if self.memories:
            self.memories, self.vectors = _owned(self.memories), _owned(self.vectors)
            self.memories += memories
            self.vectors += vectors
        else:  # everything, as a rule: it is copied when it is changed
            self.memories, self.vectors = _shared(memories), _shared(vectors)

    def access(self, accesses: Mapping[int, datetime]) -> None:
        self._replace({id: accessed(self.memories[id - 1], at) for id, at in accesses.items()})

    def revise(self, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None) -> None:
        now = {one.id: accessed(one, self.memories[one.id - 1].accessed_at) for one in memories}
        self._replace(now, {} if vectors is None else dict(zip([one.id for one in memories], vectors, strict=True)))

    def move(self, ids: Sequence[int], state: int) -> None:
        self.archived.difference_update(ids)
        if state == ARCHIVED:
            self.archived.update(ids)
        elif state == FORGOTTEN:
            self.forgotten.update(ids)
            before = [self.memories[id - 1] for id in ids if self.memories[id - 1].text]
            gone = {one.id: tombstone(self.agent, one.id, one.kind) for one in before}
            self._replace(gone, dict.fromkeys(gone))

    def configure(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def _replace(self, memories: Mapping[int, Memory], vectors: Mapping[int, Vector | None] = _NONE) -> None:
        if memories:
            self.memories = _owned(self.memories)
            for id, memory in memories.items():
                self.memories[id - 1] = memory
        if vectors:
            self.vectors = _owned(self.vectors)
            for id, vector in vectors.items():
                self.vectors[id - 1] = vector


class Kept(NamedTuple):
    """A memory as a row of a store has it."""

    memory: Memory
    vector: Vector | None
    state: int


class Rows:
    """The rows of a store that operations are about, read when they are needed; a `Target`. All of them are then to be
    written."""

    def __init__(self, agent: str, last_id: int, read: Callable[[Sequence[int]], Iterable[Kept]]) -> None:
        self.agent = agent
        self.last_id = last_id
        self.rows: dict[int, Kept] = {}
        self.settings: Mapping[str, Any] | None = None
        """None where they stay."""
        self._read = read

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.rows) or self.settings is not None

    def states(self, ids: Sequence[int]) -> dict[int, int]:
        missing = sorted({id for id in ids if 1 <= id <= self.last_id} - self.rows.keys())
        if missing:
            self.rows.update((row.memory.id, row) for row in self._read(missing))
        return {id: self.rows[id].state for id in ids if id in self.rows}

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        for memory, vector in zip(memories, vectors, strict=True):
            self.rows[memory.id] = Kept(memory, vector, THERE)
        self.last_id += len(memories)

    def access(self, accesses: Mapping[int, datetime]) -> None:
        for id, at in accesses.items():
            self.rows[id] = self.rows[id]._replace(memory=accessed(self.rows[id].memory, at))

    def revise(self, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None) -> None:
        for place, memory in enumerate(memories):
            now = self.rows[memory.id]
            vector = now.vector if vectors is None else vectors[place]
            self.rows[memory.id] = now._replace(memory=accessed(memory, now.memory.accessed_at), vector=vector)

    def move(self, ids: Sequence[int], state: int) -> None:
        for id in ids:
            now = self.rows[id]
            gone = Kept(tombstone(self.agent, id, now.memory.kind), None, FORGOTTEN)
            self.rows[id] = gone if state == FORGOTTEN else now._replace(state=state)

    def configure(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings


def operations_of(
    memories: Sequence[Memory],
    vectors: Sequence[Vector | None],
    states: Mapping[int, int],
    settings: Mapping[str, Any],
    known: int = 0,
) -> tuple[Operation, ...]:
    """Returns the operations that bring up to date a reader who has the memories up to the id `known`.

    `memories`: all that are new to the reader and all that have changed, ascending. `states`: of those that are
    archived or forgotten.
    """
    old = bisect_right(memories, known, key=lambda memory: memory.id)
    found: list[Operation] = [Configure(settings)] if settings else []
    if old:
        found.append(Revise(memories[:old], vectors[:old]))
        found.append(Touch({memory.id: memory.accessed_at for memory in memories[:old]}))
        found.append(Restore([memory.id for memory in memories[:old] if memory.id not in states]))
    if old < len(memories):
        found.append(Add(memories[old:] if old else memories, vectors[old:] if old else vectors))
    for kind, state in ((Archive, ARCHIVED), (Forget, FORGOTTEN)):
        if ids := [id for id, one in states.items() if one == state]:
            found.append(kind(ids))
    return tuple(found)


def compacted(agent: str, operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Returns the fewest operations that come to the same. Nothing is left in them of what was forgotten."""
    stored = Stored(agent=agent)
    fold(operations, stored)
    return operations_of(stored.memories, stored.vectors, stored.states_of_gone(), stored.settings)


# ── Reading and writing a whole character ────────────────────────────────────────────────────────────────────────────


def load(store: Readable, agent: str) -> Stored:
    """Reads everything a store holds of a character; nothing for an unknown one."""
    stored = Stored(agent=agent)
    fold(store.read(agent).operations, stored)
    return stored


class Writer:
    """Writes to one character of a store, and has all that is there in RAM."""

    def __init__(self, store: Store, agent: str) -> None:
        self.store = store
        self.agent = checked_agent(agent)
        self.refresh()

    def refresh(self) -> None:
        """Reads the character again."""
        log = self.store.read(self.agent)
        self.stored, self.mark = Stored(agent=self.agent), log.mark
        fold(log.operations, self.stored)

    def write(self, *operations: Operation) -> None:
        """Makes the operations in the store and here. Raises UsageError as `fold` does, and `Overtaken`."""
        fold(operations, Rows(self.agent, self.stored.last_id, self.stored.kept))  # refuses what is wrong
        self.mark = self.store.write(self.agent, operations, self.mark)
        fold(operations, self.stored)

    def change(self, deed: Callable[[Stored], Iterable[Operation]]) -> None:
        """Writes what `deed` makes of what is there, and again where somebody else was quicker."""
        while True:
            try:
                self.write(*deed(self.stored))
            except Overtaken:
                self.refresh()
            else:
                return


class ChangeLog:
    """What a store that one process owns has changed since it was opened."""

    def __init__(self) -> None:
        self._changed: dict[str, dict[int, int]] = defaultdict(dict)
        """Character → id → the number of the latest write that changed this memory."""
        self._writes: Counter[str] = Counter()
        self._begun: Counter[str] = Counter()
        """Character → the number of the write after which it was last empty."""

    def mark(self, agent: str, last_id: int) -> tuple[int, int]:
        """Returns the present mark of a character."""
        return self._writes[agent], last_id

    def note(self, agent: str, ids: Iterable[int]) -> None:
        """Counts a write that has changed these memories."""
        self._writes[agent] += 1
        self._changed[agent].update(dict.fromkeys(ids, self._writes[agent]))

    def delete(self, agent: str) -> None:
        """Notes that the character was deleted."""
        self._changed.pop(agent, None)
        self.note(agent, ())
        self._begun[agent] = self._writes[agent]

    def since(self, agent: str, mark: tuple[int, int] | None) -> list[int] | None:
        """Returns the ids changed since a mark, ascending; None if a reader with this mark has to read everything."""
        if mark is None or mark[0] < self._begun[agent]:
            return None
        return sorted(id for id, number in self._changed[agent].items() if number > mark[0])
