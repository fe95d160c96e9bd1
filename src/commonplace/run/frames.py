"""Frames: whole ticks as views draw them. Live view, replay and fork read frames and nothing else.

A frame shows the state at its tick, which is carried forward from the tick before by the versions written in between.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.character.plan import Plan, PlanItem
from commonplace.clock import iso
from commonplace.run.rows import event_json, item_phrase, listed
from commonplace.run.tick_record import Version
from commonplace.run.versions import SHOWN_KINDS, as_body, as_circumstance, as_item, as_sky
from commonplace.scenario.circumstances import now_sentence
from commonplace.world.circumstances import Circumstance
from commonplace.world.events import Event, Spoke, of_kind
from commonplace.world.state import Body, ThingState
from commonplace.world.weather import Imposed, ambient_at

if TYPE_CHECKING:
    from commonplace.run.reading import Reading

SPAN = 16
"""Ticks whose frames are made together."""
KEPT = 32
"""Spans kept at a time; of a large town fewer: at least two, and up to `MOST_AGENTS` agent frames."""
MOST_AGENTS = 100_000
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
        """JSON-ready: moments in ISO format, events as the public contract has them."""
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


class Frames:
    """The frames of a run, made and kept a span of ticks at a time. May be used by several threads.

    Stepping through time reads each span once, in either direction. A span after a kept one goes on from its end; any
    other one begins with looking up the state. Committed ticks never change, so nothing kept is ever out of date.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._spans: OrderedDict[int, _Span] = OrderedDict()
        self._lock = Lock()

    def at(self, tick: int) -> Frame:
        """The frame of a committed tick."""
        number, place = divmod(tick, SPAN)
        with self._lock:
            span = self._spans.get(number) or self._started(number)
            self._spans.move_to_end(number)
            if place >= len(span.frames):  # new, or the run has gone on since
                span.extend(self._reading, number * SPAN + len(span.frames), (number + 1) * SPAN - 1)
            return span.frames[place]

    def _started(self, number: int) -> _Span:
        before = self._spans.get(number - 1)
        if before is not None and len(before.frames) == SPAN:
            state = before.state.copy()
        else:
            state = _State(self._reading)
            state.apply(self._reading.shown_at(number * SPAN - 1))
        span = self._spans[number] = _Span(state, [])
        if len(self._spans) > max(2, min(KEPT, MOST_AGENTS // (SPAN * max(1, len(state.scenario.personas))))):
            self._spans.popitem(last=False)
        return span


@dataclass(slots=True)
class _Span:
    """Consecutive frames, and the state at the last of them."""

    state: _State
    frames: list[Frame]

    def extend(self, reading: Reading, first: int, last: int) -> None:
        """Add the frames first … last, or up to the last committed tick."""
        histories = reading.histories(first, last)  # read first: a tick committed meanwhile is left for the next time
        events = {tick: tuple(rows) for tick, rows in groupby(reading.events(first, last), lambda event: event.tick)}
        changes = {
            tick: [version for _, version in rows]
            for tick, rows in groupby(reading.versions(first, last, SHOWN_KINDS), lambda row: row[0])
        }
        self.state.seeds, self.state.scenario = reading.seeds, reading.scenario
        for tick, history in histories:
            self.state.apply(changes.get(tick, ()))
            self.frames.append(self.state.frame(tick, events.get(tick, ()), history))


class _State:
    """What frames show of the state at a tick."""

    def __init__(self, reading: Reading) -> None:
        self.scenario = reading.scenario
        self.seeds = reading.seeds
        self._bodies: dict[str, Body] = {}
        self._objects: dict[str, ObjectFrame] = {}
        self._plans: dict[str, _Planned] = {}
        self._imposed: Imposed | None = None
        self._so: dict[str, Circumstance] = {}

    def copy(self) -> _State:
        """One that can be carried forward by itself."""
        twin = copy(self)
        twin._bodies = dict(self._bodies)
        twin._objects = dict(self._objects)
        twin._so = dict(self._so)
        twin._plans = {me: planned.copy() for me, planned in self._plans.items()}
        return twin

    def apply(self, versions: Iterable[Version]) -> None:
        """Carry the state forward to where these versions are the last."""
        for version in versions:
            match version.kind:
                case "body" if version.value is None:
                    self._bodies.pop(version.owner, None)
                case "body":
                    self._bodies[version.owner] = as_body(version.value)
                case "thing" if version.value is None:
                    self._objects.pop(version.owner, None)
                case "thing":
                    self._objects[version.owner] = self._object(version.owner, listed(ThingState, version.value))
                case "sky":
                    self._imposed = as_sky(version.value)
                case "circumstance" if version.value is None:
                    self._so.pop(version.owner, None)
                case "circumstance":
                    self._so[version.owner] = as_circumstance(version.owner, version.value)
                case "plan" | "day":
                    self._plans.setdefault(version.owner, _Planned()).apply(version)
                case _:
                    pass

    def frame(self, tick: int, events: tuple[Event, ...], history: bytes) -> Frame:
        """The frame of the tick reached, with what happened in it."""
        scenario = self.scenario
        time = scenario.clock.time(tick)
        ambient = ambient_at(scenario.climate, self.seeds.at(tick), scenario.clock, tick, self._imposed)
        said = {event.agent_id: spoke for event, spoke in of_kind(events, Spoke)}
        return Frame(
            tick=tick,
            time=time,
            part_of_day=ambient.part_of_day,
            sky=ambient.sky,
            wind=ambient.wind,
            temperature=ambient.temperature,
            agents={me: self._agent(me, body, time, said.get(me)) for me, body in sorted(self._bodies.items())},
            objects=dict(sorted(self._objects.items())),
            circumstances=tuple(self._circumstance(one) for _, one in sorted(self._so.items()) if one.holds),
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
        """One that can be carried forward by itself."""
        twin = copy(self)
        twin._items = dict(self._items)
        return twin

    def apply(self, version: Version) -> None:
        """Items are added, changed and removed one by one, also at the end of their day."""
        self._until = None
        if version.kind == "plan" and version.value is None:
            self._items.pop(version.key, None)
        elif version.kind == "plan":
            self._items[version.key] = as_item(version.key, version.value)

    def current(self, moment: datetime) -> str:
        """The deepest opened item, as a phrase. Moments come in order: it is the same until an item begins or ends."""
        if self._until is None or moment >= self._until:
            items = self._items.values()
            self._now = item_phrase(Plan(0, tuple(items)).current(moment))
            ends = (one for item in items for one in (item.start_time, item.end_time) if one > moment)
            self._until = min(ends, default=NEVER)
        return self._now
