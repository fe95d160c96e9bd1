"""What a turn adds to its character's stream, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.memory.embedding import Vector
from commonplace.memory.record import Memory


@dataclass(frozen=True, slots=True)
class Delta:
    """Made by `Draft.delta`, applied by `MemoryStream.apply`."""

    base: int
    """The last id of the stream it extends."""
    memories: tuple[Memory, ...]
    vectors: tuple[Vector | None, ...]
    """One per memory."""
    touched: tuple[int, ...]
    """Ids retrieved, ascending, each once."""
    touched_at: datetime | None
    """Their new access time: the latest at which something was retrieved; None if nothing was."""
