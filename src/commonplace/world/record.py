"""Who is reached by what happened: the records of a tick, from its events and the state at its end.

A run stores states and events; with this the world of any tick is whole again, equal to the one the executor made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.world.events import Event, Phase
from commonplace.world.state import World

PUBLIC_INPUTS = ("JOINED", "LEFT", "CONVERSATION_ENDED")
"""Events of inputs that everybody in their area notices."""


TO_MIND = ("INNER_VOICE", "TAKEN_OVER", "GIVEN_BACK")
"""Events of inputs that one mind meets and nobody sees."""

UNNOTICED = ("FORGOT",)
"""What nobody perceives, not even whom it happens to."""


def recorded(world: World, events: Iterable[Event]) -> World:
    """The world with `happened`, `outcomes`, `heard`, `ambient` and `told` as the events of its tick make them."""
    events = sorted(events, key=lambda event: event.order)
    return replace(
        world,
        happened=_happened(events),
        outcomes=_outcomes(world, events),
        heard=_heard(world, events),
        ambient=tuple(event for event in events if event.phase == Phase.AMBIENT),
        told=_told(world, events),
    )


def public(event: Event) -> bool:
    """Whether others notice it where it happens: not what only a mind knows, nor what never took place."""
    if event.phase == Phase.ACTION:
        return event.ordinal == 0 and event.type != "ACTION_REJECTED"
    return event.phase == Phase.CONSEQUENCE or event.type in PUBLIC_INPUTS


def _happened(events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    areas: dict[str, list[Event]] = {}
    for event in events:
        if public(event):
            for area in (event.place, event.body["to"]) if event.type == "MOVE" else (event.place,):
                areas.setdefault(area, []).append(event)
    return _frozen(areas)


def _outcomes(world: World, events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    own: dict[str, list[Event]] = {}
    for event in events:
        if event.agent_id in world.bodies and event.type not in (*TO_MIND, *UNNOTICED):
            own.setdefault(event.agent_id, []).append(event)
    return _frozen(own)


def _heard(world: World, events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    """Speech to whoever left during the tick, and the end of the talks it took part in, but for its own events."""
    heard: dict[str, list[Event]] = {}
    for event in events:
        meant: list[str] = []
        if event.type == "SAY":
            meant = [event.body["to_agent_id"]]
        elif event.type == "CONVERSATION_ENDED":
            meant = event.body["members"]
        for me in meant:
            body = world.bodies.get(me)
            if body and body.came_from == event.place != body.area and me != event.agent_id:
                heard.setdefault(me, []).append(event)
    return _frozen(heard)


def _told(world: World, events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    told: dict[str, list[Event]] = {}
    for event in events:
        reached: list[str] = []
        if event.type == "GOD_EVENT":
            reached = [me for me, _ in event.body["percepts"]]
        elif event.type in TO_MIND:
            reached = [event.agent_id]
        for me in reached:
            if me in world.bodies:
                told.setdefault(me, []).append(event)
    return _frozen(told)


def _frozen(groups: dict[str, list[Event]]) -> dict[str, tuple[Event, ...]]:
    return {key: tuple(events) for key, events in groups.items()}
