"""What a store of memories can do. The stream in RAM works; the store makes it last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from commonplace.memory.embedding import Vector
from commonplace.memory.record import Memory


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything a store holds of one character, as `MemoryStream.restore` wants it."""

    memories: tuple[Memory, ...] = ()
    """In the order of their ids 1, 2, 3 …, with importance and last access as of now; those forgotten or archived are
    there too, so that no id is used twice."""
    vectors: tuple[Vector | None, ...] = ()
    forgotten: frozenset[int] = frozenset()
    archived: frozenset[int] = frozenset()
    """Put away, and can be brought back; until then they are no candidates."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the character's stream was made with: `embedder`, `dimensions`, `analyser`; JSON."""


class Store(Protocol):
    """Memories of many characters. What a method has acknowledged survives the death of the process.

    A store belongs to one process at a time, which it refuses to share where sharing would lose something. Errors of
    drivers and disks become `CommonplaceError`s that name the store and the next step. Names of characters may be
    anything: slashes, quotes, dots, Hangul, emoji.
    """

    where: str
    """Path or URL without a password, for messages."""

    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        ...

    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for one unknown."""
        ...

    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        ...

    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids. All of them are kept, or none."""
        ...

    def touch(self, agent: str, ids: Sequence[int], at: datetime) -> None:
        """They were last accessed then."""
        ...

    def update(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None = None) -> None:
        """Replace what may change of memories that are here: importance, details; vectors where given."""
        ...

    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. Text and vector are gone from the store's current data."""
        ...

    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Put away, compressed; `load` reports them as archived."""
        ...

    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Bring back from the archive."""
        ...

    def close(self) -> None:
        """Give up files and connections."""
        ...
