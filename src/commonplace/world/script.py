"""Scripted events: what a scenario lets happen at a given tick, and whom it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.world.circumstances import Raise
from commonplace.world.events import NOBODY, Event, Phase, Post, ScriptPlayed


@dataclass(frozen=True, slots=True)
class Audience:
    """Whom something reaches: everybody, those who are in some areas at the end of the tick, or some by id."""

    everybody: bool = False
    areas: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def reaches(self, agent_id: str, area: str) -> bool:
        """Tells whether it reaches a character who is in the area at the end of the tick."""
        return self.everybody or agent_id in self.agents or area in self.areas

    @property
    def place(self) -> str:
        """Returns the area it is confined to; empty if it is not confined to one."""
        return self.areas[0] if len(self.areas) == 1 and not self.agents and not self.everybody else ""

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, the inverse of `audience`."""
        return {"everybody": self.everybody, "areas": list(self.areas), "agents": list(self.agents)}


def audience(body: Mapping[str, Any]) -> Audience:
    """Returns the audience of a stored input; a missing field counts as empty."""
    return Audience(bool(body.get("everybody")), tuple(body.get("areas", ())), tuple(body.get("agents", ())))


@dataclass(frozen=True, slots=True)
class Scripted:
    """One scripted event. What it sets, opens and closes holds from the end of its tick."""

    id: str
    tick: int
    text: str
    """What its audience perceives; empty when it is not to be noticed."""
    to: Audience = Audience()
    sets: tuple[tuple[str, str], ...] = ()
    """(object, state); somebody's action on the object in the same tick is written after it."""
    opens: tuple[str, ...] = ()
    """Ways (by id) no longer barred; a timetable goes on regardless."""
    closes: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    """(object, area it lies in from now on), after everybody's actions; an empty area for one that is gone."""
    far: str = ""
    """What those in the next areas notice; empty for nothing."""
    near: tuple[str, ...] = ()
    """These areas."""
    raises: tuple[Raise, ...] = ()
    ends: tuple[str, ...] = ()
    """Keys of circumstances."""
    message: Post | None = None
    """What is sent with it."""
    recurs: bool = False
    """Whether it is an occasion: the world keeps when it happened last."""


def due(script: Iterable[Scripted], tick: int) -> tuple[Scripted, ...]:
    """Returns what the script holds for a tick, in the order of ids."""
    return tuple(sorted((one for one in script if one.tick == tick), key=lambda one: one.id))


def scripted_events(now: Sequence[Scripted], tick: int, first_ordinal: int) -> tuple[Event, ...]:
    """Returns an event for each, numbered after the ambient events of the tick."""
    return tuple(
        Event(tick, Phase.AMBIENT, NOBODY, ordinal, one.to.place, _body(one))
        for ordinal, one in enumerate(now, first_ordinal)
    )


def barred_after(barred: frozenset[str], opens: Iterable[str], closes: Iterable[str]) -> frozenset[str]:
    """Returns the barred ways after some open and some close; a way in both is closed."""
    after = barred.difference(opens).union(closes)
    return barred if after == barred else after


def _body(one: Scripted) -> ScriptPlayed:
    to = one.to
    return ScriptPlayed(
        text=one.text, script=one.id, everybody=to.everybody, areas=to.areas, agents=to.agents, sets=one.sets,
        opens=one.opens, closes=one.closes, moves=one.moves, far=one.far, near=one.near,
        raises=tuple(raised.key for raised in one.raises), ends=one.ends, message=one.message,
    )  # fmt: skip


def reaches(played: ScriptPlayed, agent_id: str, area: str) -> bool:
    """Tells whether it reaches a character who is in the area at the end of the tick."""
    return Audience(played.everybody, played.areas, played.agents).reaches(agent_id, area)
