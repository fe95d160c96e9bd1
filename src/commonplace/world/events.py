"""What happened: immutable records with ids made of tick, character and ordinal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from commonplace.canon import canonical

NOBODY = "-"
"""The character of events that no character caused."""


class Phase(IntEnum):
    """Canonical order within a tick."""

    AMBIENT = 0
    ACTION = 1
    CONSEQUENCE = 2
    INPUT = 3


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened at a tick. Canonical order is (tick, phase, agent_id, ordinal).

    `ordinal` counts a character's events of one tick over all phases, so (tick, agent_id, ordinal) names the event.
    `place` is the id of the area where it happened, empty when it happened everywhere. `body` holds strings,
    integers, booleans, null and lists of these, never floats.
    """

    tick: int
    phase: Phase
    agent_id: str
    ordinal: int
    type: str
    place: str
    body: Mapping[str, Any]

    @property
    def id(self) -> str:
        """`t12.mira.0`."""
        return f"t{self.tick}.{self.agent_id}.{self.ordinal}"

    @property
    def order(self) -> tuple[int, int, str, int]:
        """The key of canonical order."""
        return (self.tick, int(self.phase), self.agent_id, self.ordinal)

    def body_bytes(self) -> bytes:
        """The canonical bytes that are stored and hashed: type and place with the body."""
        return canonical({"type": self.type, "place": self.place, **self.body})


def parse_id(event_id: str) -> tuple[int, str, int]:
    """(tick, character, ordinal) of an event id. Raises ValueError."""
    head, agent, ordinal = event_id.split(".")
    if not head.startswith("t"):
        raise ValueError(event_id)
    return int(head[1:]), agent, int(ordinal)
