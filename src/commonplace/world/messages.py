"""Messages: letters, notices and broadcasts, news that comes from elsewhere or from earlier.

A message is state of the world from the end of the tick in which it is sent. At the end of a later tick, whoever is
awake where it is to be read reads it, once: the addressee of a letter at home, or anywhere if it was handed over; all
who are at the place of a notice. A broadcast is heard in the next tick, by those who are where a radio plays, and by
nobody afterwards. What a message says does not become true by being said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from commonplace.clock import Clock
from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.world.circumstances import TOWN, holding
from commonplace.world.deeds import HouseRules
from commonplace.world.events import NOBODY, Event, Form, Intervened, Phase, Post, Received, of_kind, parse_id
from commonplace.world.geography import Geography
from commonplace.world.inputs import area_of
from commonplace.world.state import Message, World

HANGS = 7 * 24 * 60
"""Minutes after which a notice is taken down."""


def sent(events: Iterable[Event]) -> dict[str, Message]:
    """Returns the messages that the events of a tick send. Their author need not read them."""
    posts = ((event.id, one.message) for event, one in of_kind(events, Intervened) if one.message)
    return {id: Message(post.words, post.to, post.by, post.handed, (post.by,) if post.by else ()) for id, post in posts}


def form_of(geography: Geography, to: str) -> Form:
    """Returns the form of a message, by its addressee: somebody, a place or nobody."""
    return "broadcast" if not to else "notice" if to in geography.edges else "letter"


def delivered(
    geography: Geography,
    world: World,
    new: Mapping[str, Message],
    events: Sequence[Event],
    *,
    clock: Clock,
    rules: HouseRules,
) -> tuple[World, list[Event]]:
    """Returns the world at the end of a tick, after its messages and the `new` ones have been read, with the events of
    the reading, numbered after those of the tick so far."""
    kept: dict[str, Message] = {}
    read: list[Event] = []
    first = sum(event.agent_id == NOBODY for event in events)
    for id, one in world.messages.items():
        form, after = form_of(geography, one.to), one
        for area, readers in readers_of(geography, world, one, rules).items():
            body = Received(message=id, form=form, words=one.words, by=one.by, readers=readers)
            read.append(Event(world.tick, Phase.INPUT, NOBODY, first + len(read), area, body))
            after = replace(after, read_by=tuple(sorted((*after.read_by, *readers))))
        hangs = form == "notice" and world.tick - parse_id(id)[0] < clock.ticks(HANGS)
        if hangs or (form == "letter" and after is one):
            kept[id] = after
    return replace(world, messages=dict(sorted({**kept, **new}.items()))), read


def readers_of(
    geography: Geography, world: World, one: Message | Post, rules: HouseRules
) -> dict[str, tuple[str, ...]]:
    """Returns area → characters who read a message there, as the world is now, and have not read it before."""
    known = one.read_by if isinstance(one, Message) else (one.by,)
    awake = {me: body.area for me, body in sorted(world.bodies.items()) if not body.asleep and me not in known}
    match form_of(geography, one.to):
        case "letter":
            area = awake.get(one.to, "")
            return {area: (one.to,)} if area and (one.handed or area == rules.homes.get(one.to)) else {}
        case "notice":
            areas = (one.to,)
        case _:
            areas = playing(geography, world, rules)
    found = {area: tuple(me for me, at in awake.items() if at == area) for area in areas}
    return {area: readers for area, readers in found.items() if readers}


def playing(geography: Geography, world: World, rules: HouseRules) -> tuple[str, ...]:
    """Returns the areas in which a radio plays, sorted. A radio is known by its name; it does not play in a silent
    state, or while a circumstance of it or of its place mutes it, such as a power cut."""
    words = phrases(rules.language, "radio")
    names, silent = words["names"].split(" | "), words["silent"].split(" | ")
    spoken, areas = language(rules.language), set[str]()
    for id, thing in world.things.items():
        if thing.state not in silent and spoken.occurs(names, geography.name(id)):
            area = area_of(geography, world, id)
            where = {id, TOWN, *geography.holders(area)} if area in geography.edges else set[str]()
            if where and not any(rules.kinds[one.kind].mutes for one in holding(world.circumstances, where)):
                areas.add(area)
    return tuple(sorted(areas))
