"""Three people, five areas, a kettle and a kite: a scenario small enough to know by heart, lived in RAM.

Anna and Ben know each other; Cora knows nobody. The loft and the cabin are private. The run begins at ten: Anna stands
in the bakery, Ben and Cora in the barn, and nobody has a plan of the day before their first one is delivered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any

from commonplace.character.plan import Plan
from commonplace.character.state import CharacterState
from commonplace.cognition.turn import Turn
from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.live_state import initial_state
from commonplace.engine.lockstep import Lockstep, Tick
from commonplace.engine.stage import Stage
from commonplace.memory import Memory
from commonplace.minds.mind import Ask, Mind, RequestKey
from commonplace.minds.tasks import ActOutput, ReactOutput
from commonplace.run.rows import InputRow
from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.scenario import Scenario
from commonplace.stages.town import TOWN
from commonplace.testing import ScriptedMind
from commonplace.world.events import Event
from commonplace.world.state import Body

TICK = 5
"""Minutes."""


def _routine(home: str, work: str, place: str) -> list[dict[str, Any]]:
    return [
        {"at": "07:00", "do": "getting up", "place": home},
        {"at": "08:00", "do": work, "place": place},
        {"at": "12:00", "do": "having lunch", "place": "green", "outdoor": True},
        {"at": "13:00", "do": f"{work} again", "place": place},
        {"at": "18:00", "do": "session at home", "place": home},
        {"at": "22:00", "do": "sleeping", "place": home},
    ]


BASE: dict[str, Any] = {
    "name": "hamlet",
    "clock": {"start": "2031-10-04T10:00:00", "tick_minutes": TICK},
    "world": {
        "kinds": {
            "kettle": {
                "states": ["cold", "hot"],
                "verbs": {"USE": [{"from": "cold", "to": "hot", "seen": "The kettle begins to sing."}]},
                "refusals": {"USE hot": "The kettle is hot already."},
                "words": {"cold": "is cold", "hot": "is hot"},
            },
            "kite": {"states": ["folded", "flying"], "portable": True, "verbs": {"USE": [{"to": "flying"}]}},
        },
        "root": {
            "id": "green",
            "name": "Village Green",
            "outdoor": True,
            "areas": [
                {"id": "bakery", "name": "Bakery", "objects": [{"id": "kettle", "name": "kettle", "kind": "kettle"}]},
                {"id": "barn", "name": "Barn", "objects": [{"id": "kite", "name": "red kite", "kind": "kite"}]},
                {"id": "loft", "name": "Loft", "private": True},
                {"id": "cabin", "name": "Cabin", "private": True},
            ],
        },
    },
    "characters": [
        {
            "id": "anna",
            "name": "Anna Berg",
            "age": 30,
            "pronoun": "she",
            "traits": ["kind"],
            "goals": ["bake a better loaf"],
            "home": "loft",
            "starts_at": "bakery",
            "routine": _routine("loft", "baking bread", "bakery"),
            "relations": [{"to": "ben", "label": "friend", "warmth": 40}],
            "memories": [
                {"text": "Anna Berg keeps a sourdough called Otto.", "importance": 5},
                {"text": "Ben Cole lent Anna Berg a ladder.", "importance": 4, "about": "ben"},
            ],
        },
        {
            "id": "ben",
            "name": "Ben Cole",
            "age": 41,
            "pronoun": "he",
            "traits": ["shy"],
            "home": "cabin",
            "starts_at": "barn",
            "routine": _routine("cabin", "mending the roof", "barn"),
            "relations": [{"to": "anna", "label": "friend", "warmth": 30}],
        },
        {
            "id": "cora",
            "name": "Cora Dunn",
            "age": 9,
            "pronoun": "she",
            "traits": ["curious"],
            "home": "barn",
            "routine": _routine("barn", "reading a comic", "barn"),
        },
    ],
    "climate": {"sky": "clear", "weights": {"clear": {"clear": 1}}},
    "cognition": {"deferred_minutes": TICK},
}


def hamlet(change: Callable[[dict[str, Any]], object] | None = None, **cognition: Any) -> Scenario:
    """The scenario, with cognition settings and one change made to its document before it is compiled."""
    document = deepcopy(BASE)
    document["cognition"] |= cognition
    if change is not None:
        change(document)
    return compiled_from_text(json.dumps(document, ensure_ascii=False), "hamlet")


def person(document: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """A character's part of the document."""
    return next(one for one in document["characters"] if one["id"] == agent)


def festival(document: dict[str, Any]) -> None:
    """Ben alone knows of a festival in the barn, where he, Cora and Anna are."""
    document["facts"] = [
        {
            "id": "buns",
            "text": {"en": "The bun festival is in the barn at eleven."},
            "groups": {"en": [["bun", "buns"], ["festival"]]},
            "originators": ["ben"],
            "place": "barn",
            "starts": "2031-10-04T11:00:00",
            "minutes": 30,
        }
    ]
    person(document, "anna")["starts_at"] = "barn"


def standing(**places: str) -> Callable[[dict[str, Any]], None]:
    """A change: who starts where."""

    def change(document: dict[str, Any]) -> None:
        for agent, place in places.items():
            person(document, agent)["starts_at"] = place

    return change


class Puppets(ScriptedMind):
    """Every action is laid down by (character, tick); what is not, is the plan's. The rest is scripts or fallbacks.

    Works in fidelity `every_tick`, where the mind is asked for each action.
    """

    def __init__(self, acts: Mapping[tuple[str, int], ActOutput], **scripts: Callable[[Any, RequestKey], Any]) -> None:
        super().__init__({"act": lambda given, request_key: acts.get((request_key.agent, request_key.tick)), **scripts})

    def inputs(self, task: str, agent: str = "") -> list[Any]:
        """The inputs of the questions of one task, in order."""
        return [
            ask.input for request_key, ask in self.asked if ask.task.name == task and agent in ("", request_key.agent)
        ]

    def ticks(self, task: str, agent: str) -> list[int]:
        """The ticks in which a character was asked."""
        return [
            request_key.tick for request_key, ask in self.asked if ask.task.name == task and request_key.agent == agent
        ]


def go(to: str) -> ActOutput:
    return ActOutput(kind="MOVE", to_location_id=to)


def use(thing: str, verb: str = "USE", doing: str = "") -> ActOutput:
    return ActOutput(kind="INTERACT", object_id=thing, verb=verb, doing=doing)


def tell(to: str, words: str) -> ActOutput:
    return ActOutput(kind="SAY", to_agent_id=to, utterance=words)


def idle(doing: str) -> ActOutput:
    return ActOutput(kind="IDLE", doing=doing)


def talking(to: str, purpose: str = "greet") -> ReactOutput:
    return ReactOutput(decision="talk", target=to, purpose=purpose, reason="there is something to say")


class Town:
    """A scenario being lived; everything about it can be looked at between ticks."""

    def __init__(self, scenario: Scenario, mind: Mind, seed: int = 7, stage: Stage = TOWN) -> None:
        live_state, _ = initial_state(scenario, seed)
        self.mind = mind
        driver = Driver(mind, NoJournal(), seed, durable=False)
        self.engine = Lockstep(Characters(live_state, stage, driver))
        self.ticks: list[Tick] = []

    def live(self, ticks: int = 1, *inputs: Mapping[str, Any]) -> Town:
        """Some ticks more; inputs take effect at the end of the first of them."""
        for _ in range(ticks):
            number = self.engine.live_state.tick + 1
            rows = [InputRow(seq, number, body) for seq, body in enumerate(inputs, 1)]
            lived = at_once(self.engine.run_tick(rows))
            self.engine.apply(lived)
            self.ticks.append(lived.tick)
            inputs = ()
        return self

    def until(self, moment: str) -> Town:
        """Live up to the tick that ends at a time of day (`14:30`, `1 08:00` for the day after the first)."""
        day, _, time = moment.rpartition(" ")
        hours, minutes = time.split(":")
        start = self.scenario.clock.start
        target = (int(day or 0) * 24 + int(hours)) * 60 + int(minutes) - start.hour * 60 - start.minute
        return self.live(target // self.scenario.clock.tick_minutes - self.engine.live_state.tick)

    @property
    def scenario(self) -> Scenario:
        return self.engine.live_state.scenario

    def state(self, agent: str) -> CharacterState:
        return self.engine.live_state.states[agent]

    def plan(self, agent: str) -> Plan:
        return self.state(agent).plan

    def body(self, agent: str) -> Body:
        return self.engine.live_state.world.bodies[agent]

    def memories(self, agent: str, kind: str = "") -> list[Memory]:
        return [memory for memory in self.engine.live_state.streams[agent] if kind in ("", memory.kind)]

    def texts(self, agent: str, kind: str = "") -> list[str]:
        return [memory.text for memory in self.memories(agent, kind)]

    def turn(self, agent: str, tick: int) -> Turn:
        return self.ticks[tick - 1].turns[agent]

    def remembered(self, agent: str, tick: int) -> list[Memory]:
        """What the turn of a tick added."""
        return list(self.turn(agent, tick).delta.memories)

    def events(self, type: str = "", agent: str = "") -> list[Event]:
        return [
            event
            for tick in self.ticks
            for event in tick.events
            if type in ("", event.type) and agent in ("", event.agent_id)
        ]


def puppets(scenario: Scenario, acts: Mapping[tuple[str, int], ActOutput], **scripts: Any) -> tuple[Town, Puppets]:
    """A town whose characters do what is laid down."""
    mind = Puppets(acts, **scripts)
    return Town(scenario, mind), mind


def same_past(before: Plan, after: Plan, now: datetime) -> bool:
    """What is over is as it was; what is under way keeps its beginning, place and words; nothing else is in the past.

    No id names two items.
    """
    over = {item.id: item for item in before.items if item.end_time <= now}
    begun = {item.id: item for item in before.items if item.start_time < now < item.end_time}
    past = {item.id: item for item in after.items if item.start_time < now}
    if len({item.id for item in after.items}) < len(after.items):
        return False
    if past.keys() != over.keys() | begun.keys():
        return False
    lasting = {key: replace(item, duration_minutes=past[key].duration_minutes) for key, item in begun.items()}
    return past == over | lasting and all(past[key].end_time >= now for key in begun)


def at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of something that waits for nobody: no scripted or offline answer needs an event loop."""
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waited")


def asked(pairs: Iterable[tuple[RequestKey, Ask[Any, Any]]], agent: str) -> Sequence[str]:
    """The names of the tasks a character was asked, in order."""
    return [ask.task.name for request_key, ask in pairs if request_key.agent == agent]
