"""What a store of memories can do. The stream in RAM works; the store makes it last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from commonplace.errors import WrongUse
from commonplace.memory.embedding import Vector
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
    """Put away, and can be brought back; until then they are no candidates."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the character's stream was made with: `embedder`, `dimensions`, `language`; JSON."""


class Store(Protocol):
    """Memories of many characters. What a method has acknowledged survives the death of the process.

    Where two processes would lose something of each other's, the later one is refused. Errors of drivers and disks
    become `CommonplaceError`s that name the store and the next step. Names of characters may be anything: slashes,
    quotes, dots, Hangul, emoji (see `checked_agent`). Ids that are not there raise WrongUse and change nothing. What a
    killed process had under way is there or not, memory by memory; only `append` is whole or not at all.
    """

    where: str
    """Path or URL without a password, for messages."""
    repairs: tuple[str, ...]
    """What opening it found broken and mended, a sentence each; empty after a proper close."""

    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        ...

    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for one unknown."""
        ...

    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with, instead of what was kept before."""
        ...

    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids. All of them are kept, or none. Raises WrongUse for other ids."""
        ...

    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Id → when it was last accessed."""
        ...

    def update(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None = None) -> None:
        """Replace what may change of memories that are here: importance, emotion, details; vectors where given."""
        ...

    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. Text and vector are gone from the store's current data."""
        ...

    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Put away, compressed; `load` reports them as archived. Those that are archived stay so."""
        ...

    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Bring back from the archive. Those that are not archived stay as they are."""
        ...

    def close(self) -> None:
        """Give up files and connections. May be called twice."""
        ...


_NEVER = datetime(1, 1, 1, tzinfo=UTC)


def tombstone(agent: str, id: int, kind: Kind = "observation") -> Memory:
    """What stands in the place of a memory that was forgotten. Its kind stays: a forgotten reflection took place."""
    return Memory(id, agent, kind, "", _NEVER, _NEVER, 0, 1.0)


def checked_agent(agent: str) -> str:
    """A name a store can keep. Raises WrongUse for an empty one and for what is not Unicode text."""
    try:
        usable = bool(agent) and b"\0" not in agent.encode()
    except (UnicodeEncodeError, AttributeError):
        usable = False
    if not usable:
        raise WrongUse(f"a character named {agent!r}", todo="give a name of at least one character, without NUL bytes")
    return agent


def refuse_other_ids(agent: str, memories: Sequence[Memory], last_id: int, where: str) -> None:
    """Raises WrongUse unless the memories have the ids after `last_id`."""
    for expected, memory in enumerate(memories, start=last_id + 1):
        if memory.id != expected:
            raise WrongUse(
                f"memory {memory.id} of {agent} where {expected} should be",
                where=where,
                todo="a store adds at the end; open the stream again to see what it holds",
            )


def refuse_missing(agent: str, ids: Sequence[int], there: int, where: str) -> None:
    """Raises WrongUse unless all `ids` were found (`there` of them)."""
    if there != len(set(ids)):
        raise WrongUse(
            f"{len(set(ids)) - there} of the memories {sorted(set(ids))[:10]} of {agent} are not here",
            where=where,
            todo="they were forgotten, or never were; open the stream again to see what it holds",
        )
