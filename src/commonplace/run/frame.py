"""A frame: one whole tick as views draw it. Live view, replay and fork read frames and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from commonplace.clock import iso
from commonplace.run.shown import event_json
from commonplace.world.events import Event


@dataclass(frozen=True, slots=True)
class AgentFrame:
    """One character at the end of a tick."""

    agent_id: str
    name: str
    called: str
    position: str
    """Area id."""
    doing: str
    """What it is seen doing, as a phrase."""
    plan_item: str
    """What the plan says to do now, with its time: `07:00–08:00 running the noodle bar`; empty without a plan."""
    dialogue: str
    """What it said in this tick; empty when it was silent."""
    to: str
    """Whom it spoke to, by id."""
    emoji: str
    asleep: bool
    goal: str
    """Area id it is walking to."""


@dataclass(frozen=True, slots=True)
class ObjectFrame:
    """One object at the end of a tick."""

    object_id: str
    name: str
    state: str
    parent: str
    """Area id, or the id of the character that carries it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole tick."""

    tick: int
    time: datetime
    part_of_day: str
    sky: str
    wind: str
    temperature: str
    agents: Mapping[str, AgentFrame]
    """By id, sorted."""
    objects: Mapping[str, ObjectFrame]
    events: tuple[Event, ...]
    """In canonical order."""
    history: str
    """Chained digest up to this tick, hexadecimal."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: moments in ISO format, events as the public contract has them."""
        ambient = {"part_of_day": self.part_of_day, "sky": self.sky, "wind": self.wind, "temperature": self.temperature}
        return {
            "tick": self.tick,
            "time": iso(self.time),
            **ambient,
            "agents": {me: asdict(agent) for me, agent in self.agents.items()},
            "objects": {object_id: asdict(thing) for object_id, thing in self.objects.items()},
            "events": [event_json(event, self.time) for event in self.events],
            "history": self.history,
        }
