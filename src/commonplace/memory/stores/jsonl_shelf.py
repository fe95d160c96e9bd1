"""What the JSONL store holds of one character in RAM, and how a memory becomes a line of a session and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.memory.coordinates.document import MemoryCoordinate
from commonplace.memory.coordinates.table import from_memory, to_memory
from commonplace.memory.embedding import Vector
from commonplace.memory.record import Memory
from commonplace.memory.stores.vectors import decoded, encoded

_WIDTHS = {"int16": 2, "float32": 4}
_TYPES = {width: name for name, width in _WIDTHS.items()}


@dataclass(slots=True)
class Shelf:
    """By id − 1: memories with a tombstone for each that is forgotten, vectors, and names in documents."""

    memories: list[Memory] = field(default_factory=list[Memory])
    vectors: list[Vector | None] = field(default_factory=list["Vector | None"])
    names: list[str] = field(default_factory=list[str])
    forgotten: set[int] = field(default_factory=set[int])
    archived: set[int] = field(default_factory=set[int])
    touched: set[int] = field(default_factory=set[int])
    """Accessed since their documents were written."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def there(self, id: int) -> bool:
        """Whether there is such a memory, archived or not."""
        return 1 <= id <= len(self.memories) and id not in self.forgotten


@dataclass(slots=True)
class Line:
    """A document found in a file."""

    document: MemoryCoordinate
    record: Memory
    vector: Vector | None
    batch: int
    """The last id of those added together with it; 0 if it was added alone."""
    archived: bool

    @property
    def key(self) -> tuple[str, int]:
        """(character, id); id 0 where a document has no number."""
        id = self.document.memory.get("id")
        return self.document.agent.persona_id, id if isinstance(id, int) and id > 0 else 0

    def memory(self, id: int) -> Memory:
        """The memory, which is to have this id."""
        return self.record if self.record.id == id else replace(self.record, id=id)


def line_of(memory: Memory, name: str, vector: Vector | None, batch: int = 0) -> dict[str, Any]:
    """The document of a memory, its vector last in `memory`."""
    document = from_memory(memory, name)
    width, data = encoded(vector)
    if batch:
        document.memory["batch"] = batch
    if data is not None:
        document.memory["embedding"] = {_TYPES[width]: base64.b64encode(data).decode("ascii")}
    return document.to_dict()


def line_from(plain: Any, *, archived: bool) -> Line:
    """The inverse. Raises WrongUse for what is no document, ValueError for a vector that is none."""
    document = MemoryCoordinate.from_dict(plain)
    document.memory = dict(document.memory)
    batch = document.memory.pop("batch", 0)
    embedding: Mapping[str, str] = document.memory.pop("embedding", {})
    vector = None
    for kind, data in embedding.items():
        vector = decoded(_WIDTHS.get(kind, 0), base64.b64decode(data, validate=True))
    return Line(document, to_memory(document), vector, batch if isinstance(batch, int) else 0, archived)
