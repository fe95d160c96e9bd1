"""Worlds to test with: one village written out, random ones by seed, and a few words to say things about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hypothesis import HealthCheck, settings

from commonplace.clock import Clock
from commonplace.rng import below, choice
from commonplace.world.actions import Action, Idle, Interact, Move, Say
from commonplace.world.deeds import HouseRules, Intent
from commonplace.world.events import Event
from commonplace.world.executor import PLAIN, step
from commonplace.world.geography import Geography
from commonplace.world.script import Audience, Scripted, due
from commonplace.world.state import World, opening
from commonplace.world.tree import Node, ObjectKind, Transition, Way
from commonplace.world.weather import Climate, ambient_at, ambient_events

CLOCK = Clock(datetime(2031, 10, 4, 6, tzinfo=UTC), 5)
IDLE = Idle(doing="reading")
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For property tests: a busy machine is no reason to fail."""

KINDS = {
    "stove": ObjectKind(
        "stove",
        ("off", "lit", "broken"),
        "off",
        (
            Transition("USE", "off", "lit", "blue flames lick up", (("kettle", "hot"),)),
            Transition("USE", "lit", "off"),
            Transition("CLOSE", "*", "broken"),
        ),
        {("USE", "broken"): "the stove is broken"},
        words={"lit": "is burning"},
    ),
    "kettle": ObjectKind("kettle", ("cold", "hot"), "cold", (Transition("USE", "hot", "cold"),), portable=True),
    "fridge": ObjectKind("fridge", ("full", "empty"), "full", (Transition("TAKE", "full", "empty"),)),
    "cup": ObjectKind("cup", ("whole",), "whole", refusals={("DROP", "whole"): "it might break"}, portable=True),
    "lamp": ObjectKind("lamp", ("off", "on"), "off", (Transition("USE", "off", "on"), Transition("USE", "on", "off"))),
}
AGENTS = ("ann", "bob", "cyd", "dee")
NODES = (
    Node("town", "Town", "area", "", outdoor=True),
    Node("home", "Home", "area", "town"),
    Node("kitchen", "Kitchen", "area", "home"),
    Node("cafe", "Café", "area", "town"),
    Node("attic", "Attic", "area", "home"),
    Node("library", "Library", "area", "town"),
    Node("stove", "Stove", "object", "kitchen", kind="stove"),
    Node("kettle", "Kettle", "object", "kitchen", kind="kettle"),
    Node("fridge", "Fridge", "object", "kitchen", kind="fridge"),
    Node("cup", "Cup", "object", "cafe", kind="cup"),
    Node("lamp", "Lamp", "object", "library", kind="lamp"),
    Node("ann", "Ann", "agent", "kitchen"),
    Node("bob", "Bob", "agent", "kitchen"),
    Node("cyd", "Cyd", "agent", "kitchen"),
    Node("dee", "Dee", "agent", "town"),
)
WAYS = (Way("back-door", "cafe", "library"), Way("hatch", "home", "attic", closed=True))


def village(edge_cost: int = 1, ways: Sequence[Way] = WAYS) -> Geography:
    return Geography.build(NODES, KINDS, ways, edge_cost)


def lived(
    geography: Geography, world: World, *ticks: Mapping[str, Action], rules: HouseRules = PLAIN, clock: Clock = CLOCK
) -> tuple[World, tuple[Event, ...]]:
    """The world after some ticks and the events of the last; whoever is not mentioned goes on reading."""
    events: tuple[Event, ...] = ()
    for actions in ticks:
        intents = {me: Intent(actions.get(me, IDLE)) for me in world.bodies}
        world, events = step(geography, world, intents, clock=clock, rules=rules)
    return world, events


def placed(geography: Geography, **areas: str) -> World:
    """The opening state, with characters elsewhere than at home."""
    world = opening(geography)
    moved = {me: type(body)(areas.get(me, body.area), areas.get(me, body.area)) for me, body in world.bodies.items()}
    return World(0, moved, world.things, barred=world.barred)


def say(to: str, words: str = "hello") -> Say:
    return Say(to_agent_id=to, utterance=words)


def go(to: str) -> Move:
    return Move(to_location_id=to)


def do(verb: str, thing: str) -> Interact:
    return Interact(object_id=thing, verb=verb)


def of_type(events: Sequence[Event], type: str) -> list[Event]:
    return [event for event in events if event.type == type]


@dataclass(frozen=True)
class Small:
    """A random world with everything that a schedule could get wrong."""

    seed: int
    geography: Geography
    rules: HouseRules
    script: tuple[Scripted, ...]
    climate: Climate
    clock: Clock
    ticks: int

    def outside(self, tick: int) -> tuple[Event, ...]:
        return tuple(ambient_events(self.climate, self.seed, self.clock, tick))

    def now(self, tick: int) -> tuple[Scripted, ...]:
        return due(self.script, tick)

    def ambient(self, tick: int):
        return ambient_at(self.climate, self.seed, self.clock, tick)


def small(seed: int) -> Small:
    """4 to 9 areas, 3 to 6 characters, 12 ticks; every second world has notice, every third passages."""
    areas = [f"r{number}" for number in range(4 + below(6, seed, "areas"))]
    agents = [f"a{number}" for number in range(3 + below(4, seed, "agents"))]
    nodes = [Node("r0", "R0", "area", "", outdoor=True)]
    nodes += [Node(areas[at], areas[at].upper(), "area", _parent(seed, areas, at)) for at in range(1, len(areas))]
    for number in range(below(8, seed, "things") + 2):
        kind = choice(("stove", "kettle", "lamp", "cup", "fridge"), seed, number, "kind")
        nodes.append(Node(f"o{number}", f"O{number}", "object", choice(areas, seed, number, "place"), kind=kind))
    nodes += [Node(me, me.upper(), "agent", choice(areas, seed, me, "start")) for me in agents]
    hours = (470 + below(30, seed, "opens"), 510 + below(30, seed, "closes"))
    ways = (Way("door", "r0", areas[-1], open_hours=hours),)
    geography = Geography.build(nodes, _kinds(nodes), ways, 2 if seed % 3 == 0 else 1)
    return Small(
        seed=seed,
        geography=geography,
        rules=HouseRules(leave_notice=(0, 1, 0, 3)[seed % 4]),
        script=_script(seed, geography, agents),
        climate=Climate(step_hours=1),
        clock=Clock(datetime(2031, 10, 4, 7, 40, tzinfo=UTC), 5),
        ticks=12,
    )


def _parent(seed: int, areas: Sequence[str], at: int) -> str:
    """Long rows of rooms more often than stars: distance is what a schedule lives on."""
    return areas[below(at, seed, at, "parent")] if below(3, seed, at, "shape") == 0 else areas[at - 1]


def _kinds(nodes: Sequence[Node]) -> dict[str, ObjectKind]:
    """The village's, with a stove that sets the first object along when both are in one room."""
    first = KINDS[next(node.kind for node in nodes if node.id == "o0")]
    stove = Transition("USE", "*", "lit", also=(("o0", first.states[-1]),))
    return {**KINDS, "stove": ObjectKind("stove", ("off", "lit", "broken"), "off", (stove,))}


def _script(seed: int, geography: Geography, agents: Sequence[str]) -> tuple[Scripted, ...]:
    way = choice(sorted(geography.ways), seed, "script way")
    lamps = [node.id for node in geography.nodes.values() if node.kind == "lamp"]
    return (
        Scripted("bell", 3, "a bell rings", Audience(areas=("r0", "r1")), closes=(way,)),
        Scripted(
            "dark", 6, "the lights flicker", Audience(agents=(agents[0],)), tuple((lamp, "off") for lamp in lamps)
        ),
        Scripted("free", 8, "", Audience(), opens=(way,)),
    )
