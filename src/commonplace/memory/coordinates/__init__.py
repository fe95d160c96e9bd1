"""The coordinate document: a memory by time, space, agent, emotion and content, and the way to a record and back."""

from commonplace.memory.coordinates.document import (
    AgentCoordinate,
    Content,
    EmotionCoordinate,
    MemoryCoordinate,
    Metadata,
    Relations,
    SpaceCoordinate,
    TimeCoordinate,
)
from commonplace.memory.coordinates.ids import memory_id, unused_id
from commonplace.memory.coordinates.table import from_memory, to_memory

__all__ = [
    "AgentCoordinate",
    "Content",
    "EmotionCoordinate",
    "MemoryCoordinate",
    "Metadata",
    "Relations",
    "SpaceCoordinate",
    "TimeCoordinate",
    "from_memory",
    "memory_id",
    "to_memory",
    "unused_id",
]
