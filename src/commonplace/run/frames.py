"""Frames: whole ticks as views draw them. Live view, replay and fork read frames and nothing else.

A frame shows the state at its tick, which is carried forward from the tick before by the versions written in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from commonplace.character.plan import Plan, PlanItem
from commonplace.clock import iso
from commonplace.rng import Seeds
from commonplace.run.rows import Version, event_json, item_phrase
from commonplace.run.versions import SHOWN_KINDS, value_of
from commonplace.scenario.circumstances import now_sentence
from commonplace.scenario.scenario import Scenario
from commonplace.world.circumstances import Circumstance
from commonplace.world.events import NOBODY, Event, Spoke, of_kind
from commonplace.world.state import Body, ThingState
from commonplace.world.weather import ambient_at

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AgentFrame:
    """One character at the end of a tick."""

    agent_id: str
    name: str
    called: str
    position: str
    """Area id."""
    doing: str
    """What it is seen doing, as a phrase."""
    plan_item: str
    """What the plan says to do now, with its time: `07:00–08:00 running the noodle bar`; empty without a plan."""
    dialogue: str
    """What it said in this tick; empty when it was silent."""
    to: str
    """Whom it spoke to, by id."""
    emoji: str
    asleep: bool
    goal: str
    """Area id it is walking to."""


@dataclass(frozen=True, slots=True)
class ObjectFrame:
    """One object at the end of a tick."""

    object_id: str
    name: str
    state: str
    parent: str
    """Area id, or the id of the character that carries it."""


@dataclass(frozen=True, slots=True)
class CircumstanceFrame:
    """Something that is so at the end of a tick."""

    key: str
    """`burning.noodle-bar`."""
    of: str
    """Id of its subject; `-` for the whole town."""
    text: str
    """As a sentence."""
    emoji: str
    since: int
    until: int
    """The tick at whose end it ends by itself; 0 for never."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole tick."""

    tick: int
    time: datetime
    part_of_day: str
    sky: str
    wind: str
    temperature: str
    agents: Mapping[str, AgentFrame]
    """By id, sorted."""
    objects: Mapping[str, ObjectFrame]
    events: tuple[Event, ...]
    """In canonical order."""
    history: str
    """Chained digest up to this tick, hexadecimal."""
    circumstances: tuple[CircumstanceFrame, ...] = ()
    """What is so, by key."""

    def as_dict(self) -> dict[str, Any]:
        """Returns a JSON-ready dict: moments in ISO format, events as the public contract has them."""
        ambient = {"part_of_day": self.part_of_day, "sky": self.sky, "wind": self.wind, "temperature": self.temperature}
        return {
            "tick": self.tick,
            "time": iso(self.time),
            **ambient,
            "agents": {me: asdict(agent) for me, agent in self.agents.items()},
            "objects": {object_id: asdict(thing) for object_id, thing in self.objects.items()},
            "circumstances": [asdict(one) for one in self.circumstances],
            "events": [event_json(event, self.time) for event in self.events],
            "history": self.history,
        }


class FrameState:
    """What frames show of the state at a tick."""

    def __init__(self, scenario: Scenario, seeds: Seeds) -> None:
        self.scenario = scenario
        self.seeds = seeds
        self._values: dict[str, dict[str, Any]] = {kind: {} for kind in SHOWN_KINDS}
        """Kind → owner → value."""
        self._plans: dict[str, _Planned] = {}

    def copy(self) -> FrameState:
        """Returns a copy that can be carried forward by itself."""
        twin = copy(self)
        twin._values = {kind: dict(values) for kind, values in self._values.items()}
        twin._plans = {me: planned.copy() for me, planned in self._plans.items()}
        return twin

    def apply(self, versions: Iterable[Version]) -> None:
        """Carry the state forward to where these versions are the last."""
        for version in versions:
            if version.kind in ("plan", "day"):
                self._plans.setdefault(version.owner, _Planned()).apply(version)
            elif version.value is None:
                self._values[version.kind].pop(version.owner, None)
            else:
                self._values[version.kind][version.owner] = value_of(version)

    def frame(self, tick: int, events: tuple[Event, ...], history: bytes) -> Frame:
        """Returns the frame of the tick reached, with what happened in it."""
        scenario = self.scenario
        time = scenario.clock.time(tick)
        bodies, things, circumstances = (
            sorted(self._values[kind].items()) for kind in ("body", "thing", "circumstance")
        )
        ambient = ambient_at(
            scenario.climate, self.seeds.at(tick), scenario.clock, tick, self._values["sky"].get(NOBODY)
        )
        said = {event.agent_id: spoke for event, spoke in of_kind(events, Spoke)}
        return Frame(
            tick=tick,
            time=time,
            part_of_day=ambient.part_of_day,
            sky=ambient.sky,
            wind=ambient.wind,
            temperature=ambient.temperature,
            agents={me: self._agent(me, body, time, said.get(me)) for me, body in bodies},
            objects={id: self._object(id, thing) for id, thing in things},
            circumstances=tuple(self._circumstance(one) for _, one in circumstances if one.holds),
            events=events,
            history=history.hex(),
        )

    def _agent(self, me: str, body: Body, time: datetime, said: Spoke | None) -> AgentFrame:
        planned = self._plans.get(me)
        persona = self.scenario.personas.get(me)
        return AgentFrame(
            agent_id=me,
            name=persona.name if persona else me,
            called=persona.called if persona else me,
            position=body.area,
            doing=body.doing,
            plan_item=planned.current(time) if planned else "",
            dialogue=said.utterance if said else "",
            to=said.to_agent_id if said else "",
            emoji=body.emoji,
            asleep=body.asleep,
            goal=body.goal,
        )

    def _circumstance(self, one: Circumstance) -> CircumstanceFrame:
        text = now_sentence(self.scenario, one.kind, one.of, one.by)
        return CircumstanceFrame(one.key, one.of, text, self.scenario.kinds[one.kind].words.emoji, one.since, one.until)

    def _object(self, object_id: str, thing: ThingState) -> ObjectFrame:
        node = self.scenario.geography.nodes.get(object_id)
        return ObjectFrame(object_id, node.name if node else object_id, thing.state, thing.parent)


class _Planned:
    """A character's plan as it grows, and what it says to do now."""

    def __init__(self) -> None:
        self._items: dict[str, PlanItem] = {}
        self._now = ""
        self._until: datetime | None = None
        """When `_now` ends; None: it is not known."""

    def copy(self) -> _Planned:
        """Returns a copy that can be carried forward by itself."""
        twin = copy(self)
        twin._items = dict(self._items)
        return twin

    def apply(self, version: Version) -> None:
        """Items are added, changed and removed one by one, also at the end of their day."""
        self._until = None
        if version.kind == "plan" and version.value is None:
            self._items.pop(version.key, None)
        elif version.kind == "plan":
            self._items[version.key] = value_of(version)

    def current(self, moment: datetime) -> str:
        """Returns the deepest opened item as a phrase. Moments come in order: it stays until an item begins or ends."""
        if self._until is None or moment >= self._until:
            items = self._items.values()
            self._now = item_phrase(Plan(0, tuple(items)).current(moment))
            ends = (one for item in items for one in (item.start_time, item.end_time) if one > moment)
            self._until = min(ends, default=NEVER)
        return self._now
