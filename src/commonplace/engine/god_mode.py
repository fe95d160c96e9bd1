"""God mode: a sentence becomes perceptions for the right characters, shown before it is applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace.cognition.situation import spot
from commonplace.engine.driver import Driver
from commonplace.minds.mind import Ask
from commonplace.minds.notes import Person, ThingHere
from commonplace.minds.tasks import PERCEIVE_EVENT, PerceiveEventInput, PerceiveEventOutput
from commonplace.scenario.scenario import Scenario
from commonplace.world.events import NOBODY
from commonplace.world.state import World


async def preview(text: str, scenario: Scenario, world: World, driver: Driver) -> dict[str, Any]:
    """The input that a god-mode sentence stands for: what is perceived, by whom, and which objects change.

    The same sentence is asked about once before a tick. Raises Paused when the mind is unavailable.
    """
    answer = await driver.answer(NOBODY, world.tick + 1, Ask(PERCEIVE_EVENT, _input(text, scenario, world)))
    output: PerceiveEventOutput = answer.value
    nowhere = not (output.areas or output.people)
    return {
        "kind": "god_event",
        "text": output.percept,
        "to": {
            "everybody": output.everybody or nowhere,
            "areas": [area for area in output.areas if area in scenario.geography.edges],
            "agents": [agent for agent in output.people if agent in scenario.personas],
        },
        "sets": [list(change) for change in output.sets if change[0] in world.things],
        "opens": [],
        "closes": [],
    }


def described(body: Mapping[str, Any], scenario: Scenario) -> str:
    """What an input will do, in one line."""
    to = body["to"]
    names = [scenario.geography.name(node) for node in (*to["areas"], *to["agents"])]
    reached = "everybody" if to["everybody"] else ", ".join(names)
    changes = "".join(f"; {scenario.geography.name(thing)} becomes {state}" for thing, state in body["sets"])
    return f"{reached} will perceive: {body['text']}{changes}"


def _input(text: str, scenario: Scenario, world: World) -> PerceiveEventInput:
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
        language=scenario.language,
    )


def _area(parent: str, world: World) -> str:
    """The area something is in, also when somebody carries it."""
    return world.bodies[parent].area if parent in world.bodies else parent
