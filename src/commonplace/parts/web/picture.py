"""A run as the page sees it: committed ticks, characters and measures as the models of `server/model.py`.

Nothing here knows of HTTP. Live feed, REST and the one-file replay make everything they send with it, so they cannot
differ. What a tick gives depends on committed rows alone and never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from threading import Lock
from typing import Any, Literal

from commonplace.analysis.diffusion import diffusion
from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.parts.web import model as wire
from commonplace.run.frames import AgentFrame, Frame, ObjectFrame
from commonplace.run.reading import Reading
from commonplace.scenario.model import ScenarioPart
from commonplace.scenario.scenario import Scenario
from commonplace.text import clean
from commonplace.views.lines import CATEGORIES, NarratedEvent, Narrator
from commonplace.views.town_names import TownNames, nested_areas
from commonplace.world.actions import ACTIONS
from commonplace.world.events import (
    NOBODY,
    ConversationEnded,
    ConversationStarted,
    Event,
    Forgot,
    Idled,
    Reflected,
    Spoke,
    WeatherChanged,
    of_kind,
)
from commonplace.world.geography import Geography

MOST_TICKS = 288
"""Ticks that `frames` gives at a time."""
MOST_LINES = 1000
"""Lines that `lines` gives at a time."""
CHUNK = 96
"""Ticks read at a time when lines are looked for, from the last one back."""
ROUTINE = tuple(kind for kind in ACTIONS if kind != "SAY")
"""Events that a narrator remembers."""
MARKS: dict[str, Literal["conversation", "reflection", "plan", "intervention", "scripted", "arrival"]] = {
    "CONVERSATION_STARTED": "conversation",
    "REFLECTED": "reflection",
    "PLAN_CHANGED": "plan",
    "SCRIPTED": "scripted",
    "JOINED": "arrival",
    "LEFT": "arrival",
    "GOD_EVENT": "intervention",
    "INNER_VOICE": "intervention",
    "VOICE_ANSWERED": "intervention",
    "TAKEN_OVER": "intervention",
    "GIVEN_BACK": "intervention",
    "CHANGED": "intervention",
    "FORGOT": "intervention",
    "BEGAN": "scripted",
    "ENDED": "scripted",
}
"""Events that the time-line marks."""


class Picture:
    """The answers to a page about one run. None as a tick means the last one. Threads may share it.

    Each method raises UsageError for a tick or a character that the run does not have.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._named: tuple[ScenarioPart, TownNames] | None = None
        self._timeline: wire.Timeline | None = None
        self._making = Lock()
        """Who asks while it is made waits, instead of making the same."""

    # ── what does not change from tick to tick ──────────────────────────────────────────────────────────────────────

    def town(self, card: wire.RunCard, may: Sequence[str] = ()) -> wire.Town:
        """Returns everything a page needs before the first tick. `may`: what can be done with the run there."""
        scenario = self.reading.scenario
        part, town = scenario.part, self.names
        nested = tuple(nested_areas(part.world.root, ""))
        return wire.Town(
            **card.model_dump(),
            theme=part.layout.theme,
            start=iso(scenario.clock.start),
            tick_minutes=scenario.clock.tick_minutes,
            areas=[
                wire.Area(
                    id=area.id,
                    name=town.where(area.id),
                    parent=parent,
                    outdoor=area.outdoor,
                    private=area.private,
                    box=part.layout.map.get(area.id),
                )
                for area, parent in nested
            ],
            ways=list(part.world.ways),
            things=[
                wire.Thing(
                    id=thing.id,
                    name=town.what(thing.id),
                    kind=thing.kind,
                    area=area.id,
                    states=list(part.world.kinds[thing.kind].states),
                    portable=part.world.kinds[thing.kind].portable,
                )
                for area, _ in nested
                for thing in area.objects
            ],
            characters=[
                wire.Character(
                    id=who.id,
                    name=town.who(who.id),
                    called=town.short(who.id),
                    age=who.age,
                    pronoun=who.pronoun,
                    work=clean(who.work),
                    traits=[clean(trait) for trait in who.traits],
                    background=clean(who.background),
                    goals=[clean(goal.want) for goal in who.goals],
                    home=who.home,
                    look=clean(part.layout.looks.get(who.id, "")),
                )
                for who in part.characters
            ],
            facts=[
                wire.SeedFact(
                    id=fact.id,
                    text=clean(fact.text.get(part.language) or next(iter(fact.text.values()), "")),
                    originators=list(fact.originators),
                    place=fact.place,
                    starts=fact.starts,
                    minutes=fact.minutes,
                )
                for fact in part.facts
            ],
            policies=self._policies(scenario),
            may=list(may),  # pyright: ignore[reportArgumentType] – validated by the model
        )

    @property
    def names(self) -> TownNames:
        """The names of all characters, also of those who have come since the run was made."""
        part = self.reading.scenario.part
        if self._named is None or self._named[0] is not part:
            self._named = (part, TownNames.of(part))
        return self._named[1]

    @staticmethod
    def _policies(scenario: Scenario) -> list[str]:
        own = scenario.cognition.policy
        return list(dict.fromkeys((own, *scenario.part.policies, *policies.NAMES)))

    # ── ticks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def snapshot(self, tick: int | None = None) -> wire.Snapshot:
        """Returns the whole state at a tick, with what happened in it."""
        tick = self.reading.tick(tick)
        frame, geography = self.reading.frame(tick), self.reading.scenario.geography
        return wire.Snapshot(
            type="snapshot",
            **_head(frame),
            agents=[_agent(agent, frame, geography) for agent in frame.agents.values()],
            objects=[_object(thing) for thing in frame.objects.values()],
            lines=[line for _, lines in self._narrated(tick, tick) for line in lines],
        )

    def deltas(self, first: int, last: int) -> Iterator[wire.Delta]:
        """Yields the changes of each of the ticks first … last; `first` is 1 or more."""
        if first > last:
            return
        geography = self.reading.scenario.geography
        narrated = dict(self._narrated(first, last))
        before = self.reading.frame(first - 1)
        for tick in range(first, last + 1):
            frame = self.reading.frame(tick)
            yield wire.Delta(
                type="delta",
                **_head(frame),
                agents=list(_changed(before, frame, geography)),
                objects=[_object(thing) for me, thing in frame.objects.items() if before.objects.get(me) != thing],
                gone=[me for me in before.agents if me not in frame.agents],
                lines=narrated.get(tick, []),
            )
            before = frame

    def frames(self, first: int, last: int) -> wire.Frames:
        """Returns the ticks first … last, both included, without those beyond the last committed one.

        Raises UsageError for more than `MOST_TICKS` of them.
        """
        first = self.reading.tick(first)
        last = min(last, self.reading.last_tick)
        if not first <= last < first + MOST_TICKS:
            what = f"ticks {first} to {last} are not 1 to {MOST_TICKS} ticks"
            raise UsageError(what, hint=f"ask for at most {MOST_TICKS} ticks at a time, in order")
        return wire.Frames(first=self.snapshot(first), rest=list(self.deltas(first + 1, last)))

    # ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def lines(
        self,
        to: int | None = None,
        *,
        text: str = "",
        agent: str = "",
        category: str = "",
        place: str = "",
        limit: int = 200,
    ) -> list[wire.EventLine]:
        """Returns the latest lines up to a tick that fit all filters, oldest first.

        `text` occurs in the line, in any case; `agent` said or did it, or was spoken to; `place` is the area where it
        happened. Raises UsageError for an unknown category.
        """
        if category and category not in CATEGORIES.values():
            known = ", ".join(dict.fromkeys(CATEGORIES.values()))
            raise UsageError(f"there is no category {category!r}", hint=f"the categories are {known}")
        sought, found = clean(text).casefold(), list[wire.EventLine]()
        for last in range(self.reading.tick(to), -1, -CHUNK):
            lines = [line for _, lines in self._narrated(max(0, last - CHUNK + 1), last) for line in lines]
            for line in reversed(lines):
                if (not category or line.category == category) and agent in ("", line.agent_id, line.to):
                    if sought not in line.text.casefold() or place not in ("", line.place):
                        continue
                    found.append(line)
                    if len(found) >= limit:
                        return found[::-1]
        return found[::-1]

    def _narrated(self, first: int, last: int) -> Iterator[tuple[int, list[wire.EventLine]]]:
        """Yields (tick, its lines) of the ticks first … last, as told by a narrator of all ticks before."""
        narrator = Narrator(self.names)
        frames = list(self.reading.frames(first, last))
        narrator.doing = self._doing_before(first, chain.from_iterable(frame.events for frame in frames))
        for frame in frames:
            events = {event.id: event for event in frame.events}
            time = iso(frame.time)
            yield frame.tick, [_line(entry, events[entry.event_id], time) for entry in narrator.narrate(frame.events)]

    def _doing_before(self, tick: int, events: Iterable[Event]) -> dict[str, str]:
        """Returns what a narrator knows, before the tick, about the characters who are idle in the events."""
        idle = {event.agent_id for event, _ in of_kind(events, Idled)}
        if tick == 0 or not idle:
            return {}
        before = {event.agent_id: event for event in self.reading.frame(tick - 1).events if event.type in ROUTINE}
        last = [before.get(agent) or self.reading.last_event(agent, tick, ROUTINE) for agent in idle]
        return {event.agent_id: idled.doing for event, idled in of_kind(filter(None, last), Idled)}

    # ── the run at a glance ─────────────────────────────────────────────────────────────────────────────────────────

    def timeline(self) -> wire.Timeline:
        """Returns marks, weather and the number of events of all ticks.

        Reads only what was committed since the last call.
        """
        with self._making:
            return self._made_timeline()

    def _made_timeline(self) -> wire.Timeline:
        reading, known = self.reading, self._timeline
        last = reading.last_tick
        first = 0 if known is None else known.last_tick + 1
        if known is not None and first > last:
            return known
        town, counted = self.names, reading.counts(first, last)
        events = [event for kind in (*MARKS, "WEATHER_CHANGED") for event in reading.events(first, last, type=kind)]
        narrated = {entry.event_id: entry for entry in Narrator(town).narrate(events)}
        marks = [_mark(event, narrated[event.id]) for event in events if event.type in MARKS]
        sky = [(event.tick, changed.to) for event, changed in of_kind(events, WeatherChanged)]
        old = known or wire.Timeline(last_tick=0, activity=[], weather=[(0, reading.frame(0).sky)], marks=[])
        marks += [mark for mark in old.marks if mark.kind != "fact"]
        marks += self._facts_told(last)
        self._timeline = wire.Timeline(
            last_tick=max(0, last),
            activity=[*old.activity, *(counted.get(tick, 0) for tick in range(first, last + 1))],
            weather=[*old.weather, *(one for one in sorted(sky) if one[0])],
            marks=sorted(marks, key=lambda mark: (mark.tick, mark.event_id, mark.kind)),
        )
        return self._timeline

    def _facts_told(self, last: int) -> Iterator[wire.Mark]:
        """Yields a mark for each time that news reached somebody new."""
        for row in diffusion(self.reading, last) if last >= 0 else ():
            for edge in row["tree"]:
                people = [one for one in (edge["from"], edge["to"]) if one != NOBODY]
                mark = "✉ " if "read" in edge else ""
                text = f"{mark}{' → '.join(map(self.names.short, people))}: {clean(row['text'])}"
                yield wire.Mark(
                    tick=edge["tick"],
                    kind="fact",
                    event_id=edge["event_id"],
                    agent_id=people[0],
                    people=people,
                    text=text,
                )


# ── ticks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _head(frame: Frame) -> dict[str, Any]:
    return {
        "seq": frame.tick,
        "tick": frame.tick,
        "time": iso(frame.time),
        "part_of_day": frame.part_of_day,
        "sky": frame.sky,
        "wind": frame.wind,
        "temperature": frame.temperature,
        "circumstances": [
            wire.CircumstanceState(
                key=one.key, of=one.of, text=clean(one.text), emoji=clean(one.emoji), since=one.since, until=one.until
            )
            for one in frame.circumstances
        ],
    }


def _agent(agent: AgentFrame, frame: Frame, geography: Geography) -> wire.AgentState:
    """Returns a character as of the frame; `path` is the shortest way, with every door open."""
    return wire.AgentState(
        agent_id=agent.agent_id,
        position=agent.position,
        current_action=clean(agent.doing),
        current_plan_item=clean(agent.plan_item),
        dialogue=clean(agent.dialogue),
        to=agent.to,
        emoji=clean(agent.emoji),
        asleep=agent.asleep,
        path=_path(agent, geography),
        timestamp=iso(frame.time),
    )


def _path(agent: AgentFrame, geography: Geography) -> list[str]:
    if not agent.goal or agent.goal == agent.position or agent.goal not in geography.edges:
        return []
    onward = geography.route(agent.position, agent.goal)
    return [agent.position, *onward] if onward else []


def _object(thing: ObjectFrame) -> wire.ObjectState:
    return wire.ObjectState(object_id=thing.object_id, state=thing.state, parent=thing.parent)


def _changed(before: Frame, after: Frame, geography: Geography) -> Iterator[wire.AgentState]:
    """Yields the characters whose state a reader of the frame before cannot derive."""
    time = iso(after.time)
    for me, agent in after.agents.items():
        old = before.agents.get(me)
        if (old is agent or old == agent) and not agent.dialogue and not agent.goal:
            continue
        now = _agent(agent, after, geography)
        if old is None or _does(old) != _does(agent) or carried_on(_agent(old, before, geography), time) != now:
            yield now


def _does(agent: AgentFrame) -> tuple[str, str, str, bool]:
    """Returns the part of a character's state that nobody can derive."""
    return agent.doing, agent.plan_item, agent.emoji, agent.asleep


def carried_on(agent: wire.AgentState, time: str) -> wire.AgentState:
    """Derives a character that the next delta leaves out: silent, one area on along its path.

    `frame.ts` does the same.
    """
    path = agent.path[1:]
    return agent.model_copy(
        update={
            "position": path[0] if path else agent.position,
            "path": path if len(path) > 1 else [],
            "dialogue": "",
            "to": "",
            "timestamp": time,
        }
    )


def _line(entry: NarratedEvent, event: Event, time: str) -> wire.EventLine:
    body = event.body
    return wire.EventLine(
        event_id=entry.event_id,
        tick=entry.tick,
        time=time,
        type=entry.type,
        category=entry.category,
        mark=entry.mark,
        agent_id=entry.agent_id,
        to=entry.to,
        place=event.place,
        text=entry.text,
        facts=[*body.facts] if isinstance(body, Spoke) else [],
        memories=[*body.because, *(body.memory_ids if isinstance(body, Reflected | Forgot) else ())],
    )


def _mark(event: Event, entry: NarratedEvent) -> wire.Mark:
    agent, talk = entry.agent_id, event.body
    talks = isinstance(talk, ConversationStarted | ConversationEnded)
    return wire.Mark(
        tick=event.tick,
        kind=MARKS[event.type],
        event_id=event.id,
        agent_id=agent,
        people=[*talk.members] if talks else [agent] if agent else [],
        text=entry.text,
    )
