"""The world between two ticks, as values. Only the executor makes the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonplace.world.circumstances import Circumstance, Circumstances
from commonplace.world.events import Acted, Began, ConversationEnded, Ended, Event, GodSpoke, Moved, Phase, Received
from commonplace.world.geography import Geography
from commonplace.world.weather import Imposed

PUBLIC_INPUTS = ("JOINED", "LEFT", "CONVERSATION_ENDED")
"""Events of inputs that everybody in their area notices."""
TO_MIND = ("INNER_VOICE", "TAKEN_OVER", "GIVEN_BACK")
"""Events of inputs that reach one mind and that nobody else sees."""
NOWHERE = ""
"""The parent of an object that is gone."""
UNNOTICED = ("FORGOT", "CHANGED")
"""What nobody perceives, not even the character it happens to."""


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
class ThingState:
    """An object's state and parent: an area, the character that carries it, or `NOWHERE`."""

    state: str
    parent: str
    progress: int = 0
    """Attempts made so far at what takes several, in this state."""


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance of a conversation."""

    tick: int
    speaker: str
    to: str
    utterance: str
    speech_act: str = ""
    topic: str = ""


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
class Message:
    """A message that waits for its readers; see `events.Post`. Its id is that of the event with which it was sent."""

    words: str
    to: str = ""
    by: str = ""
    handed: bool = False
    read_by: tuple[str, ...] = ()
    """Those who have read a notice, sorted, with who wrote it."""


@dataclass(frozen=True, slots=True)
class World:
    """Everything canonical at the end of `tick`. Mappings are never changed in place."""

    tick: int
    bodies: Mapping[str, Body]
    things: Mapping[str, ThingState]
    conversations: Mapping[str, tuple[Conversation, ...]] = field(default_factory=dict[str, tuple[Conversation, ...]])
    """By area; an area without talk has no entry."""
    barred: frozenset[str] = frozenset()
    """Ways (by id) that an input or scripted event has closed."""
    occasions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Occasion → the tick it happened in last."""
    imposed: Imposed | None = None
    """The sky that an input has put in place of the drawn one; it may be over."""
    circumstances: Circumstances = field(default_factory=dict[str, Circumstance])
    """What is so, and what was lately."""
    messages: Mapping[str, Message] = field(default_factory=dict[str, Message])
    """By id, sorted: those that may still be read."""
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
    _scenes: dict[str, AreaScene] = field(init=False, default_factory=dict[str, "AreaScene"], compare=False, repr=False)
    """Scenes by area, made when first asked for: all who are in an area see the same one and act on it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "occupants", _grouped((body.area, me) for me, body in self.bodies.items()))
        object.__setattr__(self, "contents", _grouped((thing.parent, id) for id, thing in self.things.items()))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for parent, child in pairs:
        groups.setdefault(parent, []).append(child)
    return {parent: tuple(sorted(children)) for parent, children in sorted(groups.items())}


@dataclass(frozen=True, slots=True)
class AreaScene:
    """One area at the end of a tick: all that those who are in it can see or act on, and nothing else."""

    area: str
    bodies: Mapping[str, Body]
    """Who is here, in the order of ids."""
    things: Mapping[str, ThingState]
    """Objects lying here, and those that somebody here carries, in the order of ids."""
    conversations: tuple[Conversation, ...] = ()
    happened: tuple[Event, ...] = ()
    """The record of the tick: actions and consequences here, and the moves into and out of here."""

    def awake(self, me: str) -> tuple[str, ...]:
        """Returns the others here who are awake."""
        return tuple(other for other, body in self.bodies.items() if other != me and not body.asleep)


def scene(world: World, area: str) -> AreaScene:
    """Returns the scene of one area; empty for an area without characters and objects."""
    known = world._scenes.get(area)  # pyright: ignore[reportPrivateUsage] - a function of the class's own module
    if known is None:
        known = world._scenes[area] = _scene(world, area)  # pyright: ignore[reportPrivateUsage]
    return known


def _scene(world: World, area: str) -> AreaScene:
    occupants = world.occupants.get(area, ())
    things = world.things
    held = list(world.contents.get(area, ()))  # sorted, and so is all of it if nobody carries anything
    for me in occupants:
        held += world.contents.get(me, ())
    return AreaScene(
        area=area,
        bodies={me: world.bodies[me] for me in occupants},
        things={id: things[id] for id in sorted(held)},
        conversations=world.conversations.get(area, ()),
        happened=world.happened.get(area, ()),
    )


def opening(geography: Geography, agents: Iterable[str] | None = None) -> World:
    """Returns tick 0: every object in its opening state, and every character in its place (with `agents` only these;
    the rest may join)."""
    present = None if agents is None else set(agents)
    nodes = geography.nodes.values()
    return World(
        tick=0,
        bodies={
            node.id: Body(node.parent_id, node.parent_id)
            for node in nodes
            if node.type == "agent" and (present is None or node.id in present)
        },
        things={
            node.id: ThingState(node.state or geography.kinds[node.kind].initial, node.parent_id)
            for node in nodes
            if node.type == "object"
        },
        barred=frozenset(way.id for way in geography.ways.values() if way.closed),
    )


# ── the record of a tick: who is reached by what happened ────────────────────────────────────────────────────────────


def recorded(world: World, events: Iterable[Event]) -> World:
    """Returns the world with `happened`, `outcomes`, `heard`, `ambient` and `told` as the events of its tick make them.

    A run stores only states and events; this makes the world of any tick complete again, equal to the executor's.
    """
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
    """Tells whether others at the place notice an event. They notice neither events of a mind nor rejected actions."""
    if event.phase == Phase.ACTION:
        return event.ordinal == 0 and event.type != "ACTION_REJECTED"
    return event.phase == Phase.CONSEQUENCE or event.type in PUBLIC_INPUTS


def _happened(events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    areas: dict[str, list[Event]] = {}
    for event in events:
        if public(event):
            for area in (event.place, event.body.to) if isinstance(event.body, Moved) else (event.place,):
                areas.setdefault(area, []).append(event)
    return _frozen(areas)


def _outcomes(world: World, events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    own: dict[str, list[Event]] = {}
    for event in events:
        if event.agent_id in world.bodies and event.type not in (*TO_MIND, *UNNOTICED):
            own.setdefault(event.agent_id, []).append(event)
    return _frozen(own)


def _heard(world: World, events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    """Returns what was done to everybody who left during the tick, and the end of their talks, except their own
    events."""
    heard: dict[str, list[Event]] = {}
    for event in events:
        match event.body:
            case Acted(to_agent_id=other):
                meant = (other,)
            case ConversationEnded(members=members):
                meant = members
            case _:
                continue
        for me in meant:
            body = world.bodies.get(me)
            if body and body.came_from == event.place != body.area and me != event.agent_id:
                heard.setdefault(me, []).append(event)
    return _frozen(heard)


def _told(world: World, events: Sequence[Event]) -> dict[str, tuple[Event, ...]]:
    told: dict[str, list[Event]] = {}
    for event in events:
        reached: list[str] = []
        if isinstance(event.body, GodSpoke):
            reached = [me for me, _ in event.body.percepts]
        elif isinstance(event.body, Began | Ended):
            reached = [*event.body.seen_by]
        elif isinstance(event.body, Received):
            reached = [*event.body.readers]
        elif event.type in TO_MIND:
            reached = [event.agent_id]
        for me in reached:
            if me in world.bodies:
                told.setdefault(me, []).append(event)
    return _frozen(told)


def _frozen(groups: dict[str, list[Event]]) -> dict[str, tuple[Event, ...]]:
    return {key: tuple(events) for key, events in groups.items()}
