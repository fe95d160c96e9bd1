"""God mode: a sentence becomes perceptions for the right characters, shown before it is applied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from commonplace.cognition.situation import spot
from commonplace.engine.driver import Driver
from commonplace.minds.mind import Ask
from commonplace.minds.notes import Person, ThingHere
from commonplace.minds.tasks import PERCEIVE_EVENT, PerceiveEventInput, PerceiveEventOutput
from commonplace.minds.tasks.offers import people
from commonplace.minds.tasks.perceive_event import GONE
from commonplace.scenario.circumstances import fact_of, now_sentence, over_sentence, possible
from commonplace.scenario.scenario import Scenario
from commonplace.world.circumstances import Circumstance, Raise, subject_of
from commonplace.world.events import NOBODY
from commonplace.world.geography import Geography
from commonplace.world.inputs import IMPOSED_MINUTES, GodEvent, from_dict, percepts
from commonplace.world.state import NOWHERE, World


async def preview(text: str, scenario: Scenario, world: World, driver: Driver) -> dict[str, Any]:
    """The input that a god-mode sentence stands for: what is perceived, by whom, and what changes.

    The same sentence is asked about once before a tick. Raises Paused when the mind is unavailable.
    """
    given = asked(text, scenario, world)
    answer = await driver.answer(NOBODY, world.tick + 1, Ask(PERCEIVE_EVENT, given))
    output: PerceiveEventOutput = answer.value
    agents = [agent for agent in output.people if agent in scenario.personas]
    areas = [area for area in output.areas if area in scenario.geography.edges]
    # whoever is with somebody perceives what happens to them
    areas = areas or sorted({world.bodies[agent].area for agent in agents if agent in world.bodies})
    raises = [Raise(*subject_of(key), output.by, output.hours) for key in output.begins]
    changes = [change for change in output.sets if change[0] in world.things]
    return {
        "kind": "god_event",
        "text": carrying(output.percept, raises, scenario, world.tick),
        "to": {"everybody": output.everybody or not (areas or agents), "areas": areas, "agents": agents},
        "sets": [list(change) for change in changes if is_state(change, scenario)],
        "opens": doors(scenario.geography, output.unlocked),
        "closes": doors(scenario.geography, output.locked),
        "moves": [[thing, NOWHERE] for thing, state in changes if not is_state((thing, state), scenario)],
        "sky": output.sky,
        "befalls": [list(pair) for pair in output.befalls(people(given.people))],
        "far": output.far if areas else "",
        "raises": [one.as_dict() for one in raises],
        "ends": list(output.ends),
    }


def carrying(text: str, raises: Iterable[Raise], scenario: Scenario, tick: int) -> str:
    """A sentence, and after it in plain words what of all that it raises it does not say itself."""
    facts = [(one, fact_of(scenario, Circumstance(one.kind, one.of, tick, by=one.by))) for one in raises]
    more = [now_sentence(scenario, one.kind, one.of, one.by) for one, fact in facts if not fact.carried_by(text)]
    return " ".join((text, *more))


def is_state(change: tuple[str, str], scenario: Scenario) -> bool:
    """Whether a thing can be in a state; it cannot be `GONE`, unless its kind says so."""
    thing, state = change
    geography = scenario.geography
    return state != GONE or GONE in geography.kinds[geography.nodes[thing].kind].states


def doors(geography: Geography, areas: Collection[str]) -> list[str]:
    """The ways between two of the areas, if there are any; else all ways that lead out of one of them."""
    between = [way.id for way in geography.ways.values() if {way.a, way.b} <= set(areas)]
    if between:
        return sorted(between)
    found = {
        way.id
        for area in areas
        for way in geography.ways.values()
        if (way.a in (inside := _inside(geography, area))) != (way.b in inside)
    }
    return sorted(found)


def _inside(geography: Geography, area: str) -> set[str]:
    """An area with those in it."""
    children = (child for child in geography.nodes[area].children if geography.nodes[child].type == "area")
    return {area}.union(*(_inside(geography, child) for child in children))


def described(body: Mapping[str, Any], scenario: Scenario, world: World) -> str:
    """What an input will do, in one line; also that it reaches nobody, as the world is now."""
    to, name, ways = body["to"], scenario.geography.name, scenario.geography.ways
    names = [name(node) for node in (*to["areas"], *to["agents"])]
    reached = "everybody" if to["everybody"] else ", ".join(names)
    parts = [f"{reached} will perceive “{body['text']}”"]
    if not percepts(scenario.geography, world, cast(GodEvent, from_dict({"seq": 0, **body}))):
        parts.append("nobody is there now, so that nobody will perceive it unless somebody comes")
    if body.get("far") and body["far"] != body["text"]:
        parts.append(f"next to it one notices “{body['far']}”")
    elif body.get("far"):
        parts.append("it is noticed next to it too")
    parts += [f"{name(thing)} becomes {state}" for thing, state in body["sets"]]
    parts += [_moved(name(thing), name(area)) for thing, area in body.get("moves", ())]
    parts += [f"the way {name(ways[way].a)} – {name(ways[way].b)} closes" for way in body["closes"]]
    parts += [f"the way {name(ways[way].a)} – {name(ways[way].b)} opens" for way in body["opens"]]
    parts += [f"{name(agent)}: {doing}" for agent, doing in body.get("befalls", ())]
    parts += [
        _clause(now_sentence(scenario, one["kind"], one["of"], one.get("by", ""))) for one in body.get("raises", ())
    ]
    parts += [_clause(over_sentence(scenario, key)) for key in body.get("ends", ())]
    if body.get("sky"):
        parts.append(f"the sky: {body['sky']}, for {IMPOSED_MINUTES // 60} hours")
    if not any(body.get(key) for key in ("sets", "moves", "closes", "opens", "befalls", "sky", "raises", "ends")):
        parts.append("nothing else changes")
    return "; ".join(parts)


def _clause(sentence: str) -> str:
    return sentence.rstrip(".")


def _moved(thing: str, area: str) -> str:
    return f"{thing} goes to {area}" if area else f"{thing} is gone"


def asked(text: str, scenario: Scenario, world: World) -> PerceiveEventInput:
    """A sentence with all names of the scenario, the state of things, and what may be so."""
    geography = scenario.geography
    personas = scenario.personas.values()
    return PerceiveEventInput(
        text=text,
        areas=tuple(spot(scenario, area) for area in geography.destinations),
        people=tuple(Person(id=persona.id, name=persona.name, called=persona.called) for persona in personas),
        things=tuple(
            ThingHere(id=thing, name=geography.name(thing), state=seen.state)
            for thing, seen in sorted(world.things.items())
        ),
        located={thing: _area(seen.parent, world) for thing, seen in sorted(world.things.items())},
        states={thing: geography.kinds[geography.nodes[thing].kind].states for thing in sorted(world.things)},
        circumstances=possible(scenario, world.things),
        so=tuple(key for key, one in world.circumstances.items() if one.holds),
        language=scenario.language,
    )


def _area(parent: str, world: World) -> str:
    """The area something is in, also when somebody carries it."""
    return world.bodies[parent].area if parent in world.bodies else parent
