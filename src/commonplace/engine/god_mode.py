"""God mode: a sentence becomes perceptions for the right characters or a message, shown before it is applied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec import to_builtins
from msgspec.structs import replace

from commonplace.clock import hhmm, iso
from commonplace.cognition.known_circumstances import concerning, is_healer, kept_alone
from commonplace.cognition.situation import spot
from commonplace.engine.driver import Driver
from commonplace.errors import UsageError
from commonplace.languages import phrases, rows
from commonplace.languages.language import language, said
from commonplace.minds.mind import Ask
from commonplace.minds.notes import Person, ThingHere
from commonplace.minds.offline.happens import message, sentence
from commonplace.minds.tasks import PERCEIVE_EVENT, PerceiveEventInput, PerceiveEventOutput
from commonplace.minds.tasks.offers import people
from commonplace.minds.tasks.perceive_event import GONE
from commonplace.scenario.circumstances import carrying, now_sentence, over_sentence, possible
from commonplace.scenario.compiling import character_json, may_come, newcomer
from commonplace.scenario.scenario import Scenario, derived
from commonplace.world.circumstances import CircumstanceKind, Raise, subject_of
from commonplace.world.deeds import HouseRules
from commonplace.world.events import NOBODY, Post
from commonplace.world.geography import Geography
from commonplace.world.inputs import IMPOSED_MINUTES, GodEvent, from_dict, next_areas, percepts
from commonplace.world.messages import form_of, playing, readers_of
from commonplace.world.script import Audience
from commonplace.world.state import NOWHERE, World
from commonplace.world.tree import Way

CLOSEST = 3
"""How many of those who like somebody are named."""
GROWN = 35
"""Age of somebody new of whom the sentence does not say it."""


async def preview(text: str, scenario: Scenario, world: World, driver: Driver) -> dict[str, Any]:
    """Returns the input that a god-mode sentence stands for: what is perceived, by whom, and what changes.

    The same sentence is asked about once before a tick. Raises Paused when the mind is unavailable, and UsageError with
    a question where it is not clear whom or what the sentence is about.
    """
    given = asked(text, scenario, world)
    if written := message(given):
        question = asked(written.post.words, scenario, world)
        return {
            "kind": "god_event", "text": sentence(text), "to": Audience().as_dict(), "sets": [], "opens": [],
            "closes": [], "message": await stated(written.post, question, scenario, world, driver),
        }  # fmt: skip
    answer = await driver.answer(NOBODY, world.tick + 1, Ask(PERCEIVE_EVENT, given))
    output: PerceiveEventOutput = answer.value
    if output.unclear:
        raise UsageError(output.unclear)
    agents = [agent for agent in output.people if agent in scenario.personas]
    areas = [area for area in output.areas if area in scenario.geography.edges]
    # whoever is with somebody perceives what happens to them
    begins = list(_begun(output, scenario))
    raises = [Raise(kind, of, _other(kind, of, output.by, begins), output.hours) for kind, of in begins]
    percept = carrying(output.percept, raises, scenario, world.tick)
    shut = {one.key: one for one in _left_shut(raises, scenario)}  # whoever comes sees it at the door
    raises += [one for key, one in shut.items() if key not in output.begins]
    brought = dict(_brought(raises, areas, scenario, world))
    around = (brought.get(agent, world.bodies[agent].area) for agent in agents if agent in world.bodies)
    areas = areas or sorted(set(around))
    unseen = {of for kind, of in begins if scenario.kinds[kind].unseen}
    agents = [agent for agent in agents if agent not in unseen]
    agents += [one for one in _told(raises, scenario) if one not in agents]
    changes = [change for change in output.sets if change[0] in world.things]
    body: dict[str, Any] = {
        "kind": "god_event",
        "text": percept,
        "to": {"everybody": output.everybody or not (areas or agents), "areas": areas, "agents": agents},
        "sets": [list(change) for change in changes if is_state(change, scenario)],
        "opens": doors(scenario.geography, output.unlocked),
        "closes": doors(scenario.geography, output.locked),
        "moves": [[thing, NOWHERE] for thing, state in changes if not is_state((thing, state), scenario)],
        "sky": output.sky,
        "befalls": [*map(list, output.befalls(people(given.people))), *_woken(output, areas, scenario, world)],
        "far": output.far if areas else "",
        "raises": [one.as_dict() for one in raises],
        "ends": [*output.ends, *_reopened(output.ends, scenario, world)],
    }
    comes = _newcomer(output.newcomer, output.areas, areas, scenario)
    return body | ({"newcomer": comes} if comes else {}) | ({"brings": brought} if brought else {})


def _told(raises: Iterable[Raise], scenario: Scenario) -> Iterator[str]:
    """Yields those who live with somebody that goes away for a time, and say so."""
    away = {one.of for one in raises if scenario.kinds[one.kind].gone and scenario.kinds[one.kind].hours}
    homes = {scenario.personas[one].home for one in away}
    yield from (one.id for one in scenario.personas.values() if one.home in homes and one.id not in away)


def _left_shut(raises: Iterable[Raise], scenario: Scenario) -> Iterator[Raise]:
    """Yields the rooms that close because whoever keeps them alone is away, for as long."""
    for one in raises:
        kind = scenario.kinds[one.kind]
        if kind.gone and kind.hours:
            hours = one.hours or kind.hours
            yield from (Raise("closed", room, hours=hours) for room in kept_alone(scenario, one.of))


def _reopened(ends: Iterable[str], scenario: Scenario, world: World) -> tuple[str, ...]:
    """Returns the rooms that closed when those who keep them left, and open again with their return."""
    back = [one for one in map(world.circumstances.get, ends) if one and scenario.kinds[one.kind].gone]
    shut = ((one, world.circumstances.get(f"closed.{room}")) for one in back for room in kept_alone(scenario, one.of))
    return tuple(room.key for one, room in shut if room and room.holds and room.since == one.since)


def _begun(output: PerceiveEventOutput, scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yields kind and subject of what begins; what is mutual is of both."""
    for kind, of in map(subject_of, output.begins):
        yield kind, of
        if scenario.kinds[kind].mutual and output.by and f"{kind}.{output.by}" not in output.begins:
            yield kind, output.by


BEFORE = ("newcomer", "brings")
"""What of a preview becomes inputs of its own, before the sentence: who comes, and who is put where it happens."""


def inputs_of(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Returns the inputs that a preview stands for."""
    joins = [{"kind": "join", **body["newcomer"]}] if "newcomer" in body else []
    brings = body.get("brings", {}).items()
    puts = [{"kind": "set", "agent_id": agent, "field": "place", "value": area} for agent, area in brings]
    return (*joins, *puts, {key: value for key, value in body.items() if key not in BEFORE})


def _brought(
    raises: Iterable[Raise], areas: Sequence[str], scenario: Scenario, world: World
) -> Iterator[tuple[str, str]]:
    """Yields character and area of those whom something befalls elsewhere than where they are, and of who insults
    somebody."""
    placed = set[str]()
    for one in raises:
        kind, there = scenario.kinds[one.kind], world.bodies.get(one.of)
        if there is None or kind.gone or kind.unseen or one.of in placed:
            continue
        area = areas[0] if len(areas) == 1 else there.area
        by = (one.by,) if kind.warmth < 0 and one.by in world.bodies else ()
        placed |= {one.of, *by}
        yield from ((agent, area) for agent in (one.of, *by) if world.bodies[agent].area != area)


def _woken(output: PerceiveEventOutput, areas: Sequence[str], scenario: Scenario, world: World) -> Iterator[list[str]]:
    """Yields character and doing of those there and next to it whom what is noticed from afar wakes; the dark wakes
    nobody."""
    is_dark = any(subject_of(key)[0] == "dark" for key in output.begins)
    within = {*areas, *next_areas(scenario.geography, areas)} if output.far and not is_dark else ()
    doing = phrases(scenario.language, "god_mode")["woken"]
    yield from ([me, doing] for me, body in sorted(world.bodies.items()) if body.asleep and body.area in within)


def _other(kind: str, of: str, by: str, begins: Sequence[tuple[str, str]]) -> str:
    """Returns who did something to somebody; of two to whom the same befalls, as of two in love, the other one."""
    return by if by != of else next((one for name, one in begins if name == kind and one != of), "")


def _newcomer(given: str, named: Sequence[str], areas: Sequence[str], scenario: Scenario) -> dict[str, Any]:
    """Returns the `join` input, without its kind, of somebody new as `NAME; AGE; WORK; PRONOUN`; empty for nobody."""
    name, age, work, pronoun = (part.strip() for part in (*given.split(";"), "", "", "")[:4])
    if not name or not may_come(scenario):
        return {}
    homes, places = {persona.home for persona in scenario.personas.values()}, scenario.geography.destinations
    near = (*areas, places[0])[0]
    area = min(places, key=lambda one: (one not in named, one in homes, scenario.geography.distance(near, one), one))
    indoors = [one for one in places if not scenario.geography.nodes[one].outdoor] or places
    lodging = min(indoors, key=lambda one: (one in homes, scenario.geography.distance(area, one), one))
    lodging = area if area in indoors else lodging  # nobody sleeps on the square
    known = {*scenario.personas, *scenario.geography.nodes}
    id = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "newcomer"
    character = {
        "id": next(one for one in (id, *(f"{id}-{number}" for number in range(2, 1000))) if one not in known),
        "name": name, "age": int(age) if age.isdigit() else GROWN, "work": work, "home": lodging,
        "pronoun": pronoun if pronoun in ("she", "he") else "they",
        "traits": [phrases(scenario.language, "god_mode")["trait"]],
        "routine": [
            {"at": at, "do": do, "place": lodging} for at, do in rows(scenario.language, "god_mode", "routine")
        ],
    }  # fmt: skip
    return {"area": area, "character": character_json(newcomer(character, scenario))}


def is_state(change: tuple[str, str], scenario: Scenario) -> bool:
    """Returns whether a thing can be in a state; it cannot be `GONE`, unless its kind says so."""
    thing, state = change
    geography = scenario.geography
    return state != GONE or GONE in geography.kinds[geography.nodes[thing].kind].states


def doors(geography: Geography, areas: Collection[str]) -> list[str]:
    """Returns the ways between two of the areas, if there are any; else all ways that lead out of one of them."""
    ways = {way.id: way for area in areas for _, way in geography.edges.get(area, ())}
    between = [way.id for way in ways.values() if {way.a, way.b} <= set(areas)]
    return sorted(between or {way.id for area in areas for way in _ways_out(geography, geography.inside(area))})


def _ways_out(geography: Geography, areas: Collection[str]) -> Iterator[Way]:
    """Returns the ways that lead from one of the areas to another one."""
    return (way for area in areas for _, way in geography.edges[area] if (way.a in areas) != (way.b in areas))


def described(body: Mapping[str, Any], scenario: Scenario, world: World) -> str:
    """Returns what an input will do, in one line in the scenario's language; also that it reaches nobody, as the world
    is."""
    return "; ".join(language(scenario.language).joined(part) for part in _parts(body, scenario, world))


def _parts(body: Mapping[str, Any], scenario: Scenario, world: World) -> Iterator[str]:
    words, ways, named = phrases(scenario.language, "god_mode"), scenario.geography.ways, scenario.geography.name
    to, text, raises = body["to"], body["text"], body.get("raises", ())
    names = [*(words["at"].format(place=named(area)) for area in to["areas"]), *map(named, to["agents"])]
    event = cast(GodEvent, from_dict({"seq": 0, **{key: body[key] for key in body if key not in BEFORE}}))
    if event.message:
        yield foreseen(event.message, scenario, world)
    else:
        yield words["perceived"].format(who=words["all"] if to["everybody"] else ", ".join(names), text=text)
    if not (event.message or percepts(scenario.geography, world, event)):
        yield words["later" if raises and not to["everybody"] else "nobody"]
    if body.get("far"):
        yield words["far" if body["far"] != text else "far_too"].format(text=body["far"])
    if comes := body.get("newcomer"):
        card = comes["character"]
        who = ", ".join(filter(None, (str(card["age"]), card.get("work", ""))))
        yield words["comes"].format(name=card["name"], who=who, place=named(comes["area"]))
    yield from (words["brought"].format(name=named(id), place=named(to)) for id, to in body.get("brings", {}).items())
    yield from (words["becomes"].format(thing=named(thing), state=state) for thing, state in body["sets"])
    for thing, area in body.get("moves", ()):
        yield words["moved" if area else "gone"].format(thing=named(thing), place=named(area) if area else "")
    for key in ("closes", "opens"):
        yield from (words[key].format(a=named(ways[way].a), b=named(ways[way].b)) for way in body[key])
    yield from (f"{named(agent)}: {doing}" for agent, doing in body.get("befalls", ()))
    for one in raises:
        yield from _begins(Raise(**one), scenario)
    yield from (_clause(over_sentence(scenario, key)) for key in body.get("ends", ()))
    if body.get("sky"):
        yield words["sky"].format(sky=body["sky"], time=_time(IMPOSED_MINUTES // 60, scenario))
    if not any(body.get(key) for key in CHANGES):
        yield words["words"]


CHANGES = (*BEFORE, "sets", "moves", "closes", "opens", "befalls", "sky", "raises", "ends")
"""What of an input changes the world; without any of it there is only a sentence to perceive."""


def _begins(one: Raise, scenario: Scenario) -> Iterator[str]:
    """Yields what will be so, for how long, what follows it, and whom it concerns most."""
    kind, words = scenario.kinds[one.kind], phrases(scenario.language, "god_mode")
    hours = one.hours or kind.hours
    lasts = _time(hours, scenario) if hours else words["ever" if kind.gone else "open"]
    yield f"{_clause(now_sentence(scenario, one.kind, one.of, one.by))} ({lasts})"
    outdoors = one.of in scenario.geography.nodes and scenario.geography.nodes[one.of].outdoor
    for name, hours in () if outdoors else kind.then.items():
        sentence = _clause(now_sentence(scenario, name, one.of))
        yield words["then"].format(sentence=sentence, time=_time(hours or scenario.kinds[name].hours, scenario))
    if close := ", ".join(_concerned(one, kind, scenario)):
        yield words["concerns"].format(names=close)


def _concerned(one: Raise, kind: CircumstanceKind, scenario: Scenario) -> Iterator[str]:
    """Yields those who like somebody most, whom a place concerns, and who heals."""
    others = [persona for persona in scenario.personas.values() if persona.id not in (one.of, one.by)]
    ties = ((scenario.states[persona.id].relations.get(one.of), persona) for persona in others
            if persona.id in scenario.states)  # fmt: skip
    liked = [(tie, persona) for tie, persona in ties if tie is not None and tie.warmth > 0]
    for tie, persona in sorted(liked, key=lambda found: -found[0].warmth)[:CLOSEST]:
        yield f"{persona.called} ({tie.label})" if tie.label else persona.called
    near = concerning(scenario, one.of) if scenario.geography.inside(one.of) else ()
    for persona in others:
        if persona.id in near:
            yield persona.called
        elif kind.rests and is_healer(persona):
            yield f"{persona.called} ({persona.work})"


def _time(hours: int, scenario: Scenario) -> str:
    unit, number = ("hours", hours) if hours % 24 else ("days", hours // 24)
    return said(scenario.language, "god_mode", unit if number > 1 else unit[:-1], number=str(number))


def _clause(sentence: str) -> str:
    return sentence.rstrip(".")


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def stated(
    post: Post, question: PerceiveEventInput, scenario: Scenario, world: World, driver: Driver
) -> dict[str, Any]:
    """Returns the message as JSON; it also says in plain words what it says is so, where its own words do not carry
    that. `question`: its words, as a mind is asked about them. Raises Paused when the mind is unavailable."""
    answer = await driver.answer(NOBODY, world.tick + 1, Ask(PERCEIVE_EVENT, question))
    raises = [Raise(*subject_of(key)) for key in answer.value.begins]
    return to_builtins(replace(post, words=carrying(post.words, raises, scenario, world.tick)))


def foreseen(post: Post, scenario: Scenario, world: World) -> str:
    """Returns who will read a message, and when, as things are now."""
    geography, words = scenario.geography, phrases(scenario.language, "god_mode")
    rules = HouseRules(0, scenario.language, scenario.kinds, {me: one.home for me, one in scenario.personas.items()})
    form, time = form_of(geography, post.to), hhmm(scenario.clock.time(world.tick + 2))
    readers = [geography.name(me) for found in readers_of(geography, world, post, rules).values() for me in found]
    names = words["now"].format(names=", ".join(readers)) if readers else words["none"]
    slots = {"name": geography.name(post.to) if post.to else "", "time": time, "text": post.words, "names": names}
    if form == "letter":
        home = geography.name(rules.homes[post.to])
        return said(scenario.language, "god_mode", "handed" if post.handed else "letter", place=home, **slots)
    places = [geography.name(area) for area in ((post.to,) if post.to else playing(geography, world, rules))]
    return said(scenario.language, "god_mode", form if places else "silent", place=", ".join(places), **slots)


# ── what a mind is asked ─────────────────────────────────────────────────────────────────────────────────────────────


@derived
def _homes(scenario: Scenario) -> tuple[str, ...]:
    return tuple(sorted({persona.home for persona in scenario.personas.values()}))


def asked(text: str, scenario: Scenario, world: World, within: Sequence[str] | None = None) -> PerceiveEventInput:
    """Returns a sentence with all names of the scenario, the state of things, and what may be so. Who shares a short
    name with others goes by the full one: `Ada Moreau falls ill` concerns one Ada.

    `within`: the areas that are named, if not all; then `world` holds what is in them.
    """
    geography, personas = scenario.geography, list(scenario.personas.values())
    areas, circumstances = geography.destinations, possible(scenario)
    if within is not None:
        personas = [scenario.personas[me] for me in world.bodies]
        areas = [area for area in within if not geography.nodes[area].passage]
        subjects = (*world.bodies, *within, *world.things)
        keys = [f"{kind}.{of}" for kind in scenario.kinds for of in subjects]
        circumstances = {key: circumstances[key] for key in keys if key in circumstances}
    bearers = Counter(persona.called for persona in personas)
    short = {one.id: one.called if bearers[one.called] == 1 else one.name for one in personas}
    return PerceiveEventInput(
        text=text,
        areas=tuple(spot(scenario, area) for area in areas),
        people=tuple(Person(id=persona.id, name=persona.name, called=short[persona.id]) for persona in personas),
        things=tuple(
            ThingHere(id=thing, name=geography.name(thing), state=seen.state)
            for thing, seen in sorted(world.things.items())
        ),
        located={
            thing: world.bodies[seen.parent].area if seen.parent in world.bodies else seen.parent  # carried, or not
            for thing, seen in sorted(world.things.items())
        },
        states={thing: geography.kinds[geography.nodes[thing].kind].states for thing in sorted(world.things)},
        circumstances=circumstances,
        so=tuple(key for key, one in world.circumstances.items() if one.holds),
        words={name: scenario.kinds[name].words.carrying for name in scenario.part.circumstances},
        homes=_homes(scenario),
        now=iso(scenario.clock.time(world.tick)),
        language=scenario.language,
    )
