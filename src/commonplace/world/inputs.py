"""Inputs from outside a run: typed, numbered, part of history. They take effect at the very end of a tick."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, TypeVar, cast

import msgspec

from commonplace.clock import Clock
from commonplace.errors import UsageError
from commonplace.languages.language import said
from commonplace.world.area import ending
from commonplace.world.circumstances import TOWN, Circumstance, Kinds, Raise, holding, subject_of, turned
from commonplace.world.deeds import HouseRules
from commonplace.world.events import (
    NOBODY,
    ActionRejected,
    Adjusted,
    Began,
    Departed,
    Ended,
    Event,
    EventBody,
    Forgot,
    GivenBack,
    GodSpoke,
    Joined,
    Pairs,
    Phase,
    Post,
    Proposed,
    TakenOver,
    Whispered,
)
from commonplace.world.geography import Geography
from commonplace.world.script import Audience, audience, barred_after
from commonplace.world.state import NOWHERE, Body, Conversation, ThingState, World
from commonplace.world.weather import SKIES, Ambient, Imposed, weather_change


@dataclass(frozen=True, slots=True)
class GodEvent:
    """Something happens: its audience perceives the text, objects change, ways open or close."""

    seq: int
    """The number of the input within its run."""
    text: str
    to: Audience
    sets: tuple[tuple[str, str], ...] = ()
    """(object, state), written after everybody's actions of the tick."""
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    """(object, area it lies in from now on); the area `NOWHERE` for one that is gone."""
    sky: str = ""
    """The sky from now on, for `IMPOSED_MINUTES`; empty to leave the weather alone."""
    befalls: tuple[tuple[str, str], ...] = ()
    """(character, what it does now, whatever it had planned)."""
    far: str = ""
    """What those in the next areas notice; empty for nothing."""
    raises: tuple[Raise, ...] = ()
    """What is so from now on."""
    ends: tuple[str, ...] = ()
    """Keys of circumstances that are over."""
    message: Post | None = None
    """What is sent; it is read from the next tick on."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A character does what no kind of action provides for, where it is; it has been judged what comes of it.

    What lies out of its reach when the input is applied is left out. A character that sleeps, or has to rest, does
    nothing.
    """

    seq: int
    agent_id: str
    text: str
    """What those here perceive."""
    sets: tuple[tuple[str, str], ...] = ()
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    """(object, area or character it goes to); see `GodEvent`."""
    far: str = ""
    raises: tuple[Raise, ...] = ()
    ends: tuple[str, ...] = ()
    why: str = ""
    """What does not come of it, for whoever plays the character."""
    message: Post | None = None
    """What is sent; of its words only those know who read them."""


@dataclass(frozen=True, slots=True)
class Turning:
    """Circumstances that begin and end with no input from outside: the executor's own, before all others."""

    seq: int
    raises: tuple[Raise, ...] = ()
    ends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InnerVoice:
    """A thought that one character believes to be its own."""

    seq: int
    agent_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Join:
    """A character that is not in the world comes in, with what it carried when it left."""

    seq: int
    agent_id: str
    area: str
    character: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Who it is, for somebody who has never been here: the keys of a scenario's character, as JSON without floats."""


@dataclass(frozen=True, slots=True)
class Leave:
    """A character goes away and takes along what it carries; it can join again from the next tick on."""

    seq: int
    agent_id: str


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A person decides for a character from the next tick on, until it is given back."""

    seq: int
    agent_id: str
    action: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it does in the next tick, as the `act` tool words it; empty to wait. A walk goes on by itself."""


@dataclass(frozen=True, slots=True)
class GiveBack:
    """A character decides for itself again."""

    seq: int
    agent_id: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Memories of a character are removed for good. It does not notice."""

    seq: int
    agent_id: str
    memory_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """Something of a character, or a setting of the run (character `-`), is changed by hand. Nobody notices how."""

    seq: int
    agent_id: str
    field: str
    """One of `BODY_FIELDS`, or a field that `engine.changes` knows."""
    value: Any
    """JSON without floats."""


IMPOSED_MINUTES = 180
"""How long a sky lasts that an input has put up."""
PAIRS, LISTS = ("sets", "moves", "befalls"), ("opens", "closes", "ends")
"""Fields of a GodEvent or an Attempt that are lists of pairs and of names."""
ADDED = ("moves", "sky", "befalls", "far", "raises", "ends", "why", "message")
"""Fields of them that are left out where they are empty, as inputs of earlier runs leave them out."""
BODY_FIELDS = ("place", "doing", "emoji", "asleep")
"""What a `Set` changes of a body; the world knows of no other field."""
Input = GodEvent | Attempt | Turning | InnerVoice | Join | Leave | TakeOver | GiveBack | Forget | Set
KINDS: Mapping[str, type[Input]] = {
    "god_event": GodEvent,
    "attempt": Attempt,
    "inner_voice": InnerVoice,
    "join": Join,
    "leave": Leave,
    "take_over": TakeOver,
    "give_back": GiveBack,
    "forget": Forget,
    "set": Set,
}


def as_dict(item: Input) -> dict[str, Any]:
    """Returns plain values for canonical JSON, the inverse of `from_dict`."""
    kind = next(name for name, cls in KINDS.items() if isinstance(item, cls))
    plain: dict[str, Any] = {"kind": kind} | {one.name: getattr(item, one.name) for one in fields(item)}
    if isinstance(item, GodEvent | Attempt):
        plain |= {name: list(plain[name]) for name in LISTS if name in plain}
        plain |= {name: [list(pair) for pair in plain[name]] for name in PAIRS if name in plain}
        plain |= {"raises": [one.as_dict() for one in item.raises], "message": msgspec.to_builtins(item.message)}
        plain = {name: value for name, value in plain.items() if value or name not in ADDED}
    if isinstance(item, GodEvent):
        plain["to"] = item.to.as_dict()
    if isinstance(item, Forget):
        plain["memory_ids"] = list(item.memory_ids)
    if isinstance(item, Join) and not item.character:
        del plain["character"]
    return plain


Listed = TypeVar("Listed")


def from_dict(plain: Mapping[str, Any]) -> Input:
    """Returns the input that `as_dict` wrote. Raises UsageError for an unknown kind or field."""
    values = dict(plain)
    kind = values.pop("kind", None)
    if kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of input", hint=f"kinds are {', '.join(KINDS)}")
    if kind == "forget":
        values["memory_ids"] = tuple(cast("Iterable[int]", values.get("memory_ids", ())))
    if kind == "god_event":
        values["to"] = audience(values.get("to", {}))
    if kind in ("god_event", "attempt"):
        values |= {key: tuple((one, other) for one, other in values[key]) for key in PAIRS if key in values}
        values |= {key: _listed(key, values[key], str) for key in LISTS if key in values}
        values["raises"] = _listed("raises", values.get("raises", ()), Raise)
        values["message"] = _made("message", values.get("message"), Post | None)
    try:
        return KINDS[kind](**values)
    except TypeError as error:
        raise UsageError(f"the {kind} input does not fit: {error}") from error


def _listed(name: str, values: object, what: type[Listed]) -> tuple[Listed, ...]:
    return _made(name, values, tuple[what, ...])


def _made(name: str, value: object, what: Any) -> Any:
    try:
        return msgspec.convert(value, what)
    except msgspec.ValidationError as error:
        raise UsageError(f"{name!r} of the input does not fit: {error}") from error


def validate(item: Input, geography: Geography, agents: Collection[str]) -> None:
    """Checks every name against the world and the scenario's characters. Raises UsageError with the nearest valid
    name."""
    if isinstance(item, GodEvent):
        _validate_god(item, geography, agents)
        return
    if isinstance(item, Turning) or (isinstance(item, Set) and item.agent_id == NOBODY):
        return
    _known("character", item.agent_id, agents)
    if isinstance(item, Attempt):
        _validate_changes(item, geography, agents)
        _validate_message(item, geography, agents)
    if isinstance(item, Join):
        _known("area", item.area, geography.destinations)


Weather = Callable[[Imposed | None], Ambient]
"""The weather at the end of the tick, under an imposed sky or none."""


def apply_inputs(
    geography: Geography,
    world: World,
    inputs: Iterable[Input],
    events: Sequence[Event],
    *,
    clock: Clock,
    rules: HouseRules,
    weather: Weather | None = None,
) -> tuple[World, list[Event]]:
    """Returns the state after the inputs of its tick, in the order of `seq`, and their events (see `state.recorded`).

    `weather` gives the weather of the tick; a world without weather has none, and no sky is imposed on it.

    `events` are those of the tick so far; the events of the inputs are numbered after them. An input that no longer
    applies (its character has left meanwhile, or is here already) does nothing.
    """
    book = _Book(world.tick, list(events), clock, rules)
    lasts = clock.ticks(IMPOSED_MINUTES)
    for item in sorted(inputs, key=lambda one: one.seq):
        match item:
            case GodEvent():
                world = _turned(geography, _god(geography, world, item, book), item, book, was=world)
                if item.sky and weather is not None:
                    world = _under(world, Imposed(item.sky, world.tick, world.tick + lasts), weather, book)
            case Attempt():
                world = _attempted(geography, world, item, book)
            case Turning():
                world = _turned(geography, world, item, book, was=world)
            case InnerVoice():
                world = _to_mind(world, item.agent_id, Whispered(text=item.text), book)
            case Join():
                world = world if _is_gone(world, item.agent_id, book) else _join(geography, world, item, book)
            case Leave():
                world = _leave(world, item, book)
            case TakeOver():
                world = _to_mind(world, item.agent_id, TakenOver(action=dict(item.action)), book)
            case GiveBack():
                world = _to_mind(world, item.agent_id, GivenBack(), book)
            case Forget():
                world = _to_mind(world, item.agent_id, Forgot(memory_ids=item.memory_ids), book)
            case Set():
                world = _set(geography, world, item, book)
    return world, book.events[len(events) :]


@dataclass(slots=True)
class _Book:
    """The events of the tick; a character's new ones are numbered on from those it has."""

    tick: int
    events: list[Event]
    clock: Clock
    rules: HouseRules

    def add(self, agent_id: str, place: str, body: EventBody, phase: Phase = Phase.INPUT) -> None:
        ordinal = sum(event.agent_id == agent_id for event in self.events)
        self.events.append(Event(self.tick, phase, agent_id, ordinal, place, body))

    def has_left(self, agent_id: str) -> bool:
        return any(event.agent_id == agent_id and isinstance(event.body, Departed) for event in self.events)


def _attempted(geography: Geography, world: World, item: Attempt, book: _Book) -> World:
    """Returns the world with the part of an attempt that its doer can reach; all of it counts as done by the doer."""
    me = item.agent_id
    why = forbidden(world, me, book.rules.kinds)
    if why and me in world.bodies:
        words = said(book.rules.language, "attempt", why, name=geography.name(me)).rstrip(".")
        book.add(me, world.bodies[me].area, ActionRejected(proposed=Proposed(kind="IDLE", doing=item.text), why=words))
    if why:
        return world
    done = within_reach(geography, world, book.rules.kinds, item)
    event = GodEvent(
        item.seq, item.text, Audience(areas=(world.bodies[me].area,)), done.sets, done.opens, done.closes, done.moves,
        far=item.far, raises=done.raises, ends=done.ends, message=done.message,
    )  # fmt: skip
    return _turned(geography, _god(geography, world, event, book, by=me), event, book, was=world)


def forbidden(world: World, me: str, kinds: Kinds) -> str:
    """Returns why somebody can attempt nothing, as a key of the phrases `attempt`; empty if it can."""
    if me not in world.bodies:
        return "gone"
    if any(kinds[one.kind].rests for one in holding(world.circumstances, {me})):
        return "rests"
    return "asleep" if world.bodies[me].asleep else ""


def within_reach(geography: Geography, world: World, kinds: Kinds, item: Attempt) -> Attempt:
    """Returns the part of an attempt that concerns the doer's place, and the people and things there; nobody would
    perceive the rest.

    A place next to it can be closed and opened, and a fire in it put out.
    """
    area = world.bodies[item.agent_id].area
    near = next_areas(geography, [area])
    ways = {way.id for _, way in geography.edges[area]}

    def reached(of: str, *, next_to: bool = False) -> bool:
        place = area_of(geography, world, of)
        return place == area or (next_to and of in near)

    return replace(
        item,
        sets=tuple(one for one in item.sets if reached(one[0])),
        moves=tuple(one for one in item.moves if reached(one[0])),
        opens=tuple(way for way in item.opens if way in ways),
        closes=tuple(way for way in item.closes if way in ways),
        raises=tuple(one for one in item.raises if reached(one.of, next_to=kinds[one.kind].shut)),
        ends=tuple(key for key in item.ends if reached(subject_of(key)[1], next_to=True)),
        message=_reaching(item.message, area_of(geography, world, item.message.to), area) if item.message else None,
    )


def _reaching(post: Post, place: str, area: str) -> Post | None:
    """Returns a message as it can be sent from an area; None if it is a notice for another place. A notice hangs where
    its board is, and a letter to somebody elsewhere is brought home."""
    if post.to == place and place != area:
        return None
    return msgspec.structs.replace(post, handed=post.handed and place == area)


def _god(geography: Geography, world: World, item: GodEvent, book: _Book, *, by: str = "") -> World:
    named = (*item.to.agents, *(agent for agent, _ in item.befalls if agent not in item.to.agents))
    seen, post = percepts(geography, world, item), item.message
    if by and post:
        whole = f"{item.text.rstrip('.')}: “{post.words}”"
        seen = tuple((me, whole if me == by else text) for me, text in seen)
    spoke = GodSpoke(
        text=item.text, percepts=seen, agents=named, sets=item.sets, moves=item.moves, message=post,
        befalls=item.befalls, opens=item.opens, closes=item.closes, sky=item.sky, far=item.far,
        raises=tuple(one.key for one in item.raises), ends=item.ends, by=by,
    )  # fmt: skip
    book.add(NOBODY, item.to.place, spoke)
    return replace(
        world,
        things=with_moves(with_states(world.things, dict(item.sets)), dict(item.moves)),
        barred=barred_after(world.barred, item.opens, item.closes),
    )


def _turned(geography: Geography, world: World, item: GodEvent | Turning, book: _Book, *, was: World) -> World:
    """Returns the world with the circumstances that begin and end: somebody who is gone leaves it, somebody who is back
    comes home. `was` is the world before the input, in which things are where they were."""
    kinds, homes = book.rules.kinds, book.rules.homes
    outdoors = frozenset(area for area in geography.destinations if geography.nodes[area].outdoor)
    turn = turned(world.circumstances, kinds, book.clock, world.tick, item.raises, item.ends, outdoors)
    world = world if turn.after == world.circumstances else replace(world, circumstances=turn.after)
    for one in turn.ended:
        if kinds[one.kind].gone and not _is_gone(world, one.of, book):
            world = _join(geography, world, Join(item.seq, one.of, homes.get(one.of, "")), book, one.key)
        thing = world.things.get(one.of)
        if thing is not None and thing.parent == NOWHERE:  # what was lost is back where it was
            world = replace(world, things=with_moves(world.things, {one.of: one.at}))
        place, seen = area_of(geography, world, one.of), _witnesses(geography, world, one, book)
        book.add(NOBODY, place, Ended(circumstance=one.key, seen_by=seen))
    for one in turn.began:
        gone, place = kinds[one.kind].gone, area_of(geography, world, one.of)
        seen = _witnesses(geography, world, one, book) if gone else ()
        book.add(NOBODY, place, Began(circumstance=one.key, until=one.until, by=one.by, seen_by=seen))
        if gone:
            world = _leave(_without_burden(world, one), Leave(item.seq, one.of), book, one.key)
    stays = {one.key for one in turn.began if one.of in was.things or (kinds[one.kind].gone and not one.until)}
    after = {
        key: replace(one, at=area_of(geography, was, one.of)) if key in stays else one
        for key, one in turn.after.items()
    }
    return world if not stays else replace(world, circumstances=after)


def _is_gone(world: World, me: str, book: _Book) -> bool:
    return any(book.rules.kinds[one.kind].gone for one in holding(world.circumstances, {me}))


def _without_burden(world: World, one: Circumstance) -> World:
    """Returns the world in which somebody who is gone for good has left what it carried where it was."""
    body = world.bodies.get(one.of)
    if body is None or one.until:
        return world
    carried = dict.fromkeys(world.contents.get(one.of, ()), body.area)
    return replace(world, things=with_moves(world.things, carried))


def _witnesses(geography: Geography, world: World, one: Circumstance, book: _Book) -> tuple[str, ...]:
    """Returns everybody who sees that a circumstance begins or ends: its subject, and everybody awake at its place; at
    the next places, too, if nobody may be in it."""
    kind, place = book.rules.kinds[one.kind], area_of(geography, world, one.of)
    areas = geography.inside(one.of) or {place}
    if kind.clears or kind.shut:
        areas = areas | next_areas(geography, areas)
    return tuple(
        me for me, body in sorted(world.bodies.items())
        if me == one.of or (not body.asleep and (one.of == TOWN or body.area in areas))
    )  # fmt: skip


def area_of(geography: Geography, world: World, of: str) -> str:
    """Returns the area of a circumstance's subject, which may be the area itself; empty for nowhere."""
    if of in world.bodies:
        return world.bodies[of].area
    if of not in world.things:
        return of if of in geography.edges else ""
    parent = world.things[of].parent
    return world.bodies[parent].area if parent in world.bodies else parent


def percepts(geography: Geography, world: World, item: GodEvent) -> Pairs:
    """Returns pairs (character, what it notices), in the order of ids: the text where it happens, `far` in the next
    areas."""
    struck = {agent for agent, _ in item.befalls}
    near = next_areas(geography, item.to.areas) if item.far and not item.to.everybody else frozenset[str]()
    told = {
        me: item.text if item.to.reaches(me, body.area) or me in struck else item.far
        for me, body in sorted(world.bodies.items())
        if item.to.reaches(me, body.area) or me in struck or (body.area in near and not body.asleep)
    }
    return tuple(told.items())


def next_areas(geography: Geography, areas: Iterable[str]) -> frozenset[str]:
    """Returns the areas one way away from some areas, without the areas themselves."""
    areas = tuple(areas)
    return frozenset(to for area in areas for to, _ in geography.edges[area]).difference(areas)


def _under(world: World, sky: Imposed, weather: Weather, book: _Book) -> World:
    """Returns the world under another sky, with WEATHER_CHANGED if the sky changes."""
    before, now = weather(world.imposed), weather(sky)
    if before.sky != now.sky:
        book.add(NOBODY, "", weather_change(before, now), Phase.AMBIENT)
    return replace(world, imposed=sky)


def _to_mind(world: World, agent_id: str, given: EventBody, book: _Book) -> World:
    """Adds an event that only the mind of one character perceives."""
    body = world.bodies.get(agent_id)
    if body is not None:
        book.add(agent_id, body.area, given)
    return world


def _join(geography: Geography, world: World, item: Join, book: _Book, held: str = "") -> World:
    me = item.agent_id
    if me in world.bodies or item.area not in geography.edges or book.has_left(me):
        return world
    book.add(me, item.area, Joined(held=held))
    return replace(world, bodies={**world.bodies, me: Body(item.area, item.area)})


def _leave(world: World, item: Leave, book: _Book, held: str = "") -> World:
    me = item.agent_id
    body = world.bodies.get(me)
    if body is None:
        return world
    book.add(me, body.area, Departed(held=held))
    world = _out_of_talks(world, me, body.area, book)
    return replace(world, bodies={other: there for other, there in world.bodies.items() if other != me})


def _out_of_talks(world: World, me: str, area: str, book: _Book) -> World:
    """Returns the talks of an area without somebody who is suddenly gone; a talk left with a single member ends."""
    ongoing: list[Conversation] = []
    for talk in world.conversations.get(area, ()):
        rest = tuple(member for member in talk.members if member != me)
        if len(rest) < 2:
            book.add(me, area, ending(talk))
        else:
            ongoing.append(replace(talk, members=rest))
    talks = {**world.conversations, area: tuple(ongoing)}
    return replace(world, conversations={area: here for area, here in talks.items() if here})


def _set(geography: Geography, world: World, item: Set, book: _Book) -> World:
    me, name, value = item.agent_id, item.field, item.value
    body = world.bodies.get(me)
    if name in BODY_FIELDS and (body is None or (name == "place" and value not in geography.edges)):
        return world
    book.add(me, body.area if body else "", Adjusted(field=name, value=value))
    if body is None or name not in BODY_FIELDS:
        return world
    if name == "place":
        world = _out_of_talks(world, me, body.area, book)
        changed = Body(value, value, body.doing, body.emoji, body.asleep)
    else:
        changed = replace(body, **{name: value})
    return replace(world, bodies={**world.bodies, me: changed})


def with_states(things: Mapping[str, ThingState], sets: Mapping[str, str]) -> Mapping[str, ThingState]:
    """Returns the things with some of their states changed; the same mapping if there is nothing to change."""
    if not sets:
        return things
    new = {id: state for id, state in sets.items() if things[id].state != state}
    return {**things, **{id: replace(things[id], state=state, progress=0) for id, state in new.items()}}


def with_moves(things: Mapping[str, ThingState], moves: Mapping[str, str]) -> Mapping[str, ThingState]:
    """Returns the things with some of them moved or gone; the same mapping if nothing is moved."""
    if not moves:
        return things
    return {**things, **{id: replace(things[id], parent=area) for id, area in moves.items()}}


def _validate_god(item: GodEvent, geography: Geography, agents: Collection[str]) -> None:
    for area in item.to.areas:
        _known("area", area, geography.areas)
    for agent in (*item.to.agents, *(agent for agent, _ in item.befalls)):
        _known("character", agent, agents)
    _validate_changes(item, geography)
    _validate_message(item, geography, agents)
    if item.sky:
        _known("sky", item.sky, SKIES)


def _validate_changes(item: GodEvent | Attempt, geography: Geography, carriers: Collection[str] = ()) -> None:
    for way in (*item.opens, *item.closes):
        _known("way", way, geography.ways)
    objects = [node.id for node in geography.nodes.values() if node.type == "object"]
    for object_id, state in item.sets:
        _known("object", object_id, objects)
        _known(f"state of {object_id}", state, geography.kinds[geography.nodes[object_id].kind].states)
    for object_id, area in item.moves:
        _known("object", object_id, objects)
        _known("area", area, (*geography.areas, *carriers, NOWHERE))


def _validate_message(item: GodEvent | Attempt, geography: Geography, agents: Collection[str]) -> None:
    if item.message and item.message.to:
        _known("character or area", item.message.to, (*agents, *geography.destinations))


def _known(what: str, name: str, names: Collection[str]) -> None:
    if name in names:
        return
    near = get_close_matches(name, sorted(names), n=1, cutoff=0)
    raise UsageError(f"there is no {what} {name!r}", hint=f"the nearest is {near[0]!r}" if near else "")
