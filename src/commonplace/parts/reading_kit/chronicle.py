"""A run read once, for measuring: what was said to whom, who was where, what everybody remembers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from commonplace.canon import parsed
from commonplace.character.fact import Fact
from commonplace.languages.language import language
from commonplace.memory.record import Memory
from commonplace.parts.reading_kit.wordings import LinePart, wordings
from commonplace.run.reading import Reading
from commonplace.run.rows import Version
from commonplace.text import sentences, words
from commonplace.world.area import SILENCE
from commonplace.world.events import NOBODY, Event, Idled, Intervened, Moved, Phase, ScriptPlayed, Spoke, of_kind
from commonplace.world.happenings import Said, happening_of

__all__ = ["AttendedEvent", "Chronicle", "SpokenLine", "plain"]

REACH = 3
"""Lines of others that may come between a line and its reply, where several talk."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """Something said."""

    event: Event
    spoke: Spoke
    """What the event says."""
    day: int
    """1 on the calendar day on which the run begins."""
    before: SpokenLine | None
    """The line before it in the same talk; None for the first one."""
    parts: tuple[LinePart, ...]
    """Its sentences, with the rules that word them."""

    @property
    def tick(self) -> int:
        """The tick in which it was said."""
        return self.event.tick

    @property
    def speaker(self) -> str:
        """Character id."""
        return self.event.agent_id

    @property
    def hearer(self) -> str:
        """The id of the character it was said to."""
        return self.spoke.to_agent_id

    @property
    def text(self) -> str:
        """The words."""
        return self.spoke.utterance

    @property
    def act(self) -> str:
        """The speech act, as its speaker's mind named it; empty if the mind did not."""
        return self.spoke.speech_act

    @property
    def topic(self) -> str:
        """The topic, as its speaker's mind named it."""
        return self.spoke.topic

    @property
    def facts(self) -> frozenset[str]:
        """The ids of the seed facts that its words carry."""
        return frozenset(self.spoke.facts)

    @property
    def because(self) -> frozenset[int]:
        """The ids of the speaker's memories that it cites."""
        return frozenset(self.spoke.because)

    @property
    def began(self) -> int:
        """The tick of the first line of its talk."""
        line = self
        while line.before is not None:
            line = line.before
        return line.tick

    def is_a(self, kind: str) -> bool:
        """Tells whether one of its sentences is of the kind, one of `wordings.KINDS`."""
        return any(part.is_a(kind) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AttendedEvent:
    """An event that people can have attended."""

    id: str
    """Of a fact, or of the event that it was."""
    name: str
    """As it is named in talk, without an article; lower case."""
    places: frozenset[str]
    first: int
    """The ticks first … last end while it goes on."""
    last: int
    is_announced: bool = True
    """Whether it is an event of a seed fact; else something that simply happened."""

    def is_named(self, line: SpokenLine) -> bool:
        """Tells whether a line is about it."""
        return self.id in line.facts or self.name in line.text.lower() or self.name in line.topic.lower()


def plain(sentence: str) -> str:
    """Returns a sentence without capitals and punctuation. Two sentences with the same result count as the same."""
    return " ".join(words(sentence))


def _goes_on(before: SpokenLine, pair: set[str]) -> bool:
    """Tells whether a line continues the talk of the line before it between the same two."""
    shared = pair & {before.speaker, before.hearer}
    return len(shared) == 2 or (len(shared) == 1 and before.act != "farewell")


@dataclass
class Chronicle:
    """The data behind the measures. Everything is read on first use and kept."""

    reading: Reading
    last: int = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.reading.last_tick
        self.scenario = self.reading.scenario_at(self.last)
        self.clock = self.scenario.clock
        self.spoken = language(self.scenario.language)

    def day(self, tick: int) -> int:
        """Returns the day of a tick: 1 is the calendar day on which the run begins.

        Midnight belongs to the day it ends.
        """
        return self.clock.day(max(0, tick - 1)) + 1

    @cached_property
    def days(self) -> tuple[int, ...]:
        """The days that the run has whole (the first one from its beginning on); its only day where it has none."""
        whole = self.day(self.last) - (0 if self.day(self.last + 1) > self.day(self.last) else 1)
        return tuple(range(1, max(1, whole) + 1))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every event but IDLE; idling is in `places`."""
        return tuple(event for event in self._all if not isinstance(event.body, Idled))

    @cached_property
    def _all(self) -> tuple[Event, ...]:
        return self.reading.events(0, self.last)

    @cached_property
    def places(self) -> Mapping[str, Mapping[int, str]]:
        """Character → tick → area id at its end. Ticks in which somebody is not in the world are left out."""
        places: dict[str, dict[int, str]] = defaultdict(dict)
        for event in self._all:
            if event.phase == Phase.ACTION and event.agent_id != NOBODY:
                moved = event.body.to if isinstance(event.body, Moved) else event.place
                places[event.agent_id][event.tick] = moved
        return places

    def people(self, day: int) -> frozenset[str]:
        """Returns who was in the world on a day."""
        return self._people.get(day, frozenset())

    @cached_property
    def _people(self) -> Mapping[int, frozenset[str]]:
        days = [self.day(tick) for tick in range(self.last + 1)]
        found: dict[int, set[str]] = defaultdict(set)
        for agent, ticks in self.places.items():
            for day in {days[tick] for tick in ticks}:
                found[day].add(agent)
        return {day: frozenset(agents) for day, agents in found.items()}

    @cached_property
    def lines(self) -> tuple[SpokenLine, ...]:
        """Everything said, in order."""
        known, found = wordings(self.scenario.language), list[SpokenLine]()
        latest: dict[str, list[SpokenLine]] = defaultdict(list)
        for event, spoke in of_kind(self.events, Spoke):
            pair = {event.agent_id, spoke.to_agent_id}
            here = [one for one in latest[event.place] if one.tick >= event.tick - SILENCE - 1]
            talk = (one for one in reversed(here) if one.tick < event.tick and _goes_on(one, pair))
            before = next(talk, None)
            text = spoke.utterance
            line = SpokenLine(event, spoke, self.day(event.tick), before, tuple(self._credited(text, known.of(text))))
            found.append(line)
            latest[event.place] = [*here, line]
        return tuple(found)

    def _credited(self, text: str, parts: Iterable[LinePart]) -> Iterator[LinePart]:
        """Yields the parts of a line. The author's words also count without the rules that could have worded them."""
        said = plain(text)
        told = {one for whole, own in self._written.items() if whole in said for one in own}
        for part in parts:
            is_authors = bool(told) and all(plain(one) in told for one in sentences(part.text))
            yield LinePart(part.text, is_authors=True) if is_authors else part

    @cached_property
    def _written(self) -> Mapping[str, frozenset[str]]:
        """The texts that the authors of the scenario have given to say → their sentences, all as `plain` has them."""
        parts = [part for memories in self.scenario.memories.values() for part in memories]
        given = [*(text for part in parts for text in part.lines), *self.scenario.answers.values()]
        return {plain(text): frozenset(map(plain, sentences(text))) for text in given}

    @cached_property
    def replies(self) -> Mapping[str, SpokenLine]:
        """Event id of a line → the first of the next lines of its talk that is by the one it was said to."""
        found: dict[str, SpokenLine] = {}
        for line in self.lines:
            before, steps = line.before, 0
            while before is not None and before.hearer != line.speaker and steps < REACH:
                before, steps = before.before, steps + 1
            if before is not None and before.hearer == line.speaker:
                found.setdefault(before.event.id, line)
        return found

    @cached_property
    def memories(self) -> Mapping[str, Mapping[int, Memory]]:
        """Character → id → memory, forgotten ones included."""
        return {
            agent: {one.id: one for one in self.reading.memories(agent, forgotten=True)}
            for agent in self.reading.agent_ids
        }

    @cached_property
    def occasions(self) -> tuple[AttendedEvent, ...]:
        """The events of the scenario's facts that have a place and a time, and what happened in single areas."""
        return (*self._announced(), *self._happened())

    def _announced(self) -> Iterator[AttendedEvent]:
        for fact in self.scenario.facts:
            if fact.starts is None or not fact.place:
                continue
            name = self._named(fact.text.get(self.scenario.language, ""))
            first = self.clock.tick(fact.starts) + 1
            last = first - 1 + self.clock.ticks(fact.minutes or 60)
            if name:
                yield AttendedEvent(fact.id, name, frozenset({fact.place}), first, last)

    def _happened(self) -> Iterator[AttendedEvent]:
        for event, played in of_kind(self.happenings, ScriptPlayed):
            name, areas = self._named(played.text), frozenset(played.areas)
            if name and areas:
                yield AttendedEvent(event.id, name, areas, event.tick, event.tick + 1, is_announced=False)

    def _named(self, text: str) -> str:
        return self.spoken.bare(self.spoken.noun_phrase(text)).lower()

    @cached_property
    def happenings(self) -> tuple[Event, ...]:
        """The perceptible happenings that the scenario or somebody outside caused."""
        return tuple(event for event, outside in of_kind(self.events, Intervened) if outside.text)

    def attended(self, agent: str, occasion: AttendedEvent) -> int:
        """Ticks that somebody was at the place of an occasion while it went on."""
        places = self.places.get(agent, {})
        return sum(places.get(tick) in occasion.places for tick in range(occasion.first, occasion.last + 1))

    @cached_property
    def heard(self) -> Mapping[str, Mapping[str, int]]:
        """Character → sentence (`plain`) → the tick in which it was first heard, as remembered."""
        return {agent: self._heard(agent) for agent in self.memories}

    def _heard(self, agent: str) -> dict[str, int]:
        first: dict[str, int] = {}
        for memory in self.memories[agent].values():
            said = happening_of(memory.details)
            if isinstance(said, Said):
                for sentence in sentences(said.quote):
                    first.setdefault(plain(sentence), memory.tick)
        return first

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The seed facts and all circumstances that were news."""
        return self.reading.facts(self.last)

    @cached_property
    def known_since(self) -> Mapping[tuple[str, str], int]:
        """(character, fact id) → the tick of the first memory that carries the fact; 0 for the starting memories."""
        first: dict[tuple[str, str], int] = {}
        for agent, memories in self.memories.items():
            for memory in memories.values():
                for fact in self.facts:
                    if (agent, fact.id) not in first and fact.carried_by(memory.text):
                        first[agent, fact.id] = memory.tick
        return first

    @cached_property
    def versions(self) -> tuple[tuple[int, Version], ...]:
        """(tick, version) of what changed in anybody's state, in order."""
        return tuple(self.reading.versions(0, self.last))

    def said_before(self, speaker: str, tick: int) -> Iterator[SpokenLine]:
        """Yields the lines of somebody before a tick."""
        for line in self._by_speaker[speaker]:
            if line.tick >= tick:
                return
            yield line

    @cached_property
    def _by_speaker(self) -> Mapping[str, list[SpokenLine]]:
        found: dict[str, list[SpokenLine]] = defaultdict(list)
        for line in self.lines:
            found[line.speaker].append(line)
        return found

    def reaction(self, agent: str, tick: int) -> Mapping[str, Any]:
        """Returns what somebody decided in a tick, with `reason` and `because`; empty where no question was asked."""
        asked = self.reading.trace(agent, tick).get("reaction", {}).get("asked")
        rows = self.reading.answers(tick, tick, agent=agent)
        row = next((one for one in reversed(rows) if one.ordinal == asked and one.outcome == "value"), None)
        return parsed(row.body) if row is not None else {}

    def name(self, id_: str) -> str:
        """Returns the short name of a character, or the name of an object or place, in lower case; else nothing."""
        persona, node = self.scenario.personas.get(id_), self.scenario.geography.nodes.get(id_)
        return (persona.called if persona else node.name if node else "").lower()

    def named(self, text: str) -> str:
        """Returns the character a text names; empty when it names none, or several."""
        found = {
            agent
            for agent, persona in self.scenario.personas.items()
            if self.spoken.names(text, persona.name, persona.called)
        }
        return found.pop() if len(found) == 1 else ""
