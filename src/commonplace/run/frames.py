"""Frames from rows: one tick from the state at it, the next ones by carrying that state forward."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from commonplace.character.plan import Plan, PlanItem
from commonplace.clock import Clock, iso
from commonplace.run.codec import event_json, item_phrase
from commonplace.run.tick_record import Version
from commonplace.run.versions import as_body, as_item
from commonplace.world.events import Event
from commonplace.world.state import Body
from commonplace.world.weather import ambient_at

if TYPE_CHECKING:
    from commonplace.run.reading import Reading


# ── frame ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# A frame: one whole tick as views draw it. Live view, replay and fork read frames and nothing else.


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

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: moments in ISO format, events as the public contract has them."""
        ambient = {"part_of_day": self.part_of_day, "sky": self.sky, "wind": self.wind, "temperature": self.temperature}
        return {
            "tick": self.tick,
            "time": iso(self.time),
            **ambient,
            "agents": {me: asdict(agent) for me, agent in self.agents.items()},
            "objects": {object_id: asdict(thing) for object_id, thing in self.objects.items()},
            "events": [event_json(event, self.time) for event in self.events],
            "history": self.history,
        }


# ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────────────


CHUNK = 256
"""Ticks read at once."""


def frame_at(reading: Reading, tick: int) -> Frame:
    """One frame: the state at the tick as everybody could see it. Raises UsageError for a tick not lived."""
    return next(frames(reading, tick, tick))


def frames(reading: Reading, first: int, last: int) -> Iterator[Frame]:
    """The frames first … last, or up to the last tick lived. Each costs what changed in it, not what there is."""
    first = reading.tick(first)
    last = min(last, reading.last_tick)
    stage = _Carried(reading)
    stage.take(reading.shown_at(first))
    for begin in range(first, last + 1, CHUNK):
        end = min(begin + CHUNK - 1, last)
        events = _by_tick(reading.events(begin, end))
        changes = {
            tick: [version for _, version in rows]
            for tick, rows in groupby(reading.versions(begin, end), key=lambda row: row[0])
        }
        for tick, history in reading.histories(begin, end):
            if tick > first:
                stage.take(changes.get(tick, ()))
            yield stage.frame(tick, events.get(tick, ()), history)


def _by_tick(events: Iterable[Event]) -> dict[int, tuple[Event, ...]]:
    return {tick: tuple(group) for tick, group in groupby(events, key=lambda event: event.tick)}


class _Carried:
    """What frames show of the state, as of the tick reached."""

    def __init__(self, reading: Reading) -> None:
        self._scenario = reading.scenario
        self._seed = reading.manifest.seed
        self._bodies: dict[str, Body] = {}
        self._objects: dict[str, ObjectFrame] = {}
        self._plans: dict[str, _Planned] = {}

    def take(self, versions: Iterable[Version]) -> None:
        """Bring the state to where these versions are the last."""
        for version in versions:
            match version.kind:
                case "body" if version.value is None:
                    self._bodies.pop(version.owner, None)
                case "body":
                    self._bodies[version.owner] = as_body(version.value)
                case "thing" if version.value is None:
                    self._objects.pop(version.owner, None)
                case "thing":
                    self._objects[version.owner] = self._object(version.owner, *version.value)
                case "plan" | "day":
                    self._plans.setdefault(version.owner, _Planned()).take(version)
                case _:
                    pass

    def frame(self, tick: int, events: tuple[Event, ...], history: bytes) -> Frame:
        """The frame of the tick reached."""
        scenario = self._scenario
        ambient = ambient_at(scenario.climate, self._seed, scenario.clock, tick)
        said = {event.agent_id: event for event in events if event.type == "SAY"}
        return Frame(
            tick=tick,
            time=scenario.clock.time(tick),
            part_of_day=ambient.part_of_day,
            sky=ambient.sky,
            wind=ambient.wind,
            temperature=ambient.temperature,
            agents={me: self._agent(me, body, tick, said.get(me)) for me, body in sorted(self._bodies.items())},
            objects=dict(sorted(self._objects.items())),
            events=events,
            history=history.hex(),
        )

    def _agent(self, me: str, body: Body, tick: int, said: Event | None) -> AgentFrame:
        persona = self._scenario.personas.get(me)
        planned = self._plans.get(me)
        return AgentFrame(
            agent_id=me,
            name=persona.name if persona else me,
            called=persona.called if persona else me,
            position=body.area,
            doing=body.doing,
            plan_item=item_phrase(planned.current(self._scenario.clock, tick)) if planned else "",
            dialogue=said.body["utterance"] if said else "",
            to=said.body["to_agent_id"] if said else "",
            emoji=body.emoji,
            asleep=body.asleep,
            goal=body.goal,
        )

    def _object(self, object_id: str, state: str, parent: str) -> ObjectFrame:
        node = self._scenario.geography.nodes.get(object_id)
        return ObjectFrame(object_id, node.name if node else object_id, state, parent)


class _Planned:
    """A character's plan as it grows, and what it says to do now."""

    def __init__(self) -> None:
        self._items: dict[str, PlanItem] = {}
        self._now: PlanItem | None = None

    def take(self, version: Version) -> None:
        """A new day begins with no items; each item comes, changes or goes by itself."""
        self._now = None
        if version.kind == "plan" and version.value is None:
            self._items.pop(version.key, None)
        elif version.kind == "plan":
            self._items[version.key] = as_item(version.key, version.value)

    def current(self, clock: Clock, tick: int) -> PlanItem | None:
        """The deepest opened item at the tick."""
        moment = clock.time(tick)
        if self._now is None or self._now.level != "action" or not self._now.covers(moment):
            self._now = Plan(0, tuple(self._items.values())).current(moment)
        return self._now
