"""The world between two ticks, as values. Only the executor makes the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from commonplace.world.events import Event


@dataclass(frozen=True, slots=True)
class Body:
    """Where a character is and what others see of it, at the end of a tick."""

    area: str
    came_from: str
    """Its area one tick earlier; the same as `area` when it stayed."""
    doing: str = ""
    emoji: str = ""
    asleep: bool = False
    goal: str = ""
    """The area a walk in progress leads to; empty when it does not walk."""
    departs: int = 0
    """With `leave_notice`: the first tick at which an announced departure may take effect; 0 for none."""
    shut: tuple[str, ...] = ()
    """Ways (by id, sorted) found closed on the walk in progress, so that a detour does not lead back to them."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object's state and parent (an area, or the character that carries it)."""

    state: str
    parent: str


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance of a conversation."""

    tick: int
    speaker: str
    to: str
    utterance: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A talk going on in an area. The id is `area.tick.starter`; the addressee of the last line has the floor."""

    id: str
    area: str
    starter: str
    members: tuple[str, ...]
    """Who has spoken or been spoken to and is still here, sorted."""
    lines: tuple[Line, ...]
    floor: str


@dataclass(frozen=True, slots=True)
class World:
    """Everything canonical at the end of `tick`. Mappings are never changed in place."""

    tick: int
    bodies: Mapping[str, Body]
    things: Mapping[str, Thing]
    conversations: Mapping[str, tuple[Conversation, ...]] = field(default_factory=dict[str, tuple[Conversation, ...]])
    """By area; an area without talk has no entry."""
    barred: frozenset[str] = frozenset()
    """Ways (by id) that an input or scripted event has closed."""
    happened: Mapping[str, tuple[Event, ...]] = field(default_factory=dict[str, tuple[Event, ...]])
    """The record of `tick` by area, canonical order: actions and consequences as others see them.

    A MOVE is in the record of both its areas. What only a mind knows (plans, reflections, rejected proposals) is not.
    """
    outcomes: Mapping[str, tuple[Event, ...]] = field(default_factory=dict[str, tuple[Event, ...]])
    """Each character's own events of `tick`."""
    heard: Mapping[str, tuple[Event, ...]] = field(default_factory=dict[str, tuple[Event, ...]])
    """SAYs of `tick` to somebody who left during it, and talks that ended as it left, by who left."""
    ambient: tuple[Event, ...] = ()
    """Ambient and scripted events of `tick`, perceived by those they are for."""
    told: Mapping[str, tuple[Event, ...]] = field(default_factory=dict[str, tuple[Event, ...]])
    """Inputs of `tick` that reach a character (god mode, inner voice), by character."""
    occupants: Mapping[str, tuple[str, ...]] = field(init=False, compare=False, repr=False)
    """Derived: who is in an area, sorted; an empty area has no entry."""
    contents: Mapping[str, tuple[str, ...]] = field(init=False, compare=False, repr=False)
    """Derived: the objects in an area or carried by a character, sorted; without any there is no entry."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "occupants", _grouped((body.area, me) for me, body in self.bodies.items()))
        object.__setattr__(self, "contents", _grouped((thing.parent, id) for id, thing in self.things.items()))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for parent, child in pairs:
        groups.setdefault(parent, []).append(child)
    return {parent: tuple(sorted(children)) for parent, children in sorted(groups.items())}


@dataclass(frozen=True, slots=True)
class Scene:
    """One area at the end of a tick: all that those who are in it can see or act on, and nothing else."""

    area: str
    bodies: Mapping[str, Body]
    """Who is here, in the order of ids."""
    things: Mapping[str, Thing]
    """Objects lying here, and those that somebody here carries."""
    conversations: tuple[Conversation, ...] = ()
    happened: tuple[Event, ...] = ()
    """The record of the tick: actions and consequences here, and the moves into and out of here."""


def scene(world: World, area: str) -> Scene:
    """The part of the world that an area is. An area where nobody and nothing is gives an empty scene."""
    occupants = world.occupants.get(area, ())
    things = world.things
    held = {id: things[id] for id in world.contents.get(area, ())}
    for me in occupants:
        for id in world.contents.get(me, ()):
            held[id] = things[id]
    return Scene(
        area=area,
        bodies={me: world.bodies[me] for me in occupants},
        things=held,
        conversations=world.conversations.get(area, ()),
        happened=world.happened.get(area, ()),
    )
