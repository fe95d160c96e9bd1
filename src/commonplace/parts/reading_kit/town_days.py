"""A town day by day, in figures: how new its talk is, how true, and what comes of it.

Every figure is a count, so that runs can be added up; `FIGURES` says which of them are shown, and as a share of what.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from commonplace.clock import parse_iso
from commonplace.memory.record import Memory
from commonplace.parts.reading_kit.chronicle import Chronicle, SpokenLine, plain
from commonplace.parts.reading_kit.claims import claims, questions
from commonplace.parts.reading_kit.wordings import wordings
from commonplace.run.reading import Reading
from commonplace.text import sentences
from commonplace.world.events import ConversationEnded, of_kind
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Failed,
    Happening,
    Read,
    Said,
    Seen,
    Sky,
    Tried,
    Voiced,
    happening_of,
)

__all__ = ["FIGURES", "Figure", "added_up", "town_days"]

Day = Counter[str]
Days = Mapping[int, Day]

AGAIN = 30
"""Days within which a sentence is not to be said twice to one hearer."""
OVER = 24 * 60
"""Minutes after its end from which on an event is no longer asked about."""
BANDS = (-100, -20, 0, 15, 50, 80, 101)
"""Bounds of the bands in which warmth is counted."""
CAUSES: Mapping[type[Happening], str] = {
    Sky: "weather", Befell: "event", Read: "event", Said: "talk", Voiced: "voice", Seen: "people", Came: "people",
    Tried: "people", Failed: "failure", Absent: "failure", Changed: "failure",
}  # fmt: skip
"""What a changed plan rests on → its cause; anything else is `other`."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table."""

    name: str
    part: str
    """The count, or the sum of the counts that begin like this where it ends with a dot."""
    whole: str = ""
    """What it is a share of; empty for the count itself."""
    times: int = 100
    """100 for per cent, 1 for a ratio."""

    def value(self, day: Mapping[str, int], runs: int = 1) -> float | None:
        """Returns the figure for counts added up over so many runs; None for a share of nothing."""
        part = sum(count for name, count in day.items() if name == self.part or self.part[-1:] == "." == name[-1:])
        if not self.whole:
            return part / runs
        whole = day.get(self.whole, 0)
        return self.times * part / whole if whole else None


FIGURES = (
    Figure("lines said", "lines"),
    Figure("sentences never said before, %", "sentences.new", "sentences"),
    Figure("sentences said to this hearer before, %", "sentences.again", "sentences.counted"),
    Figure("written lines of the scenario used so far, %", "author.used", "author.written"),
    Figure("templates of the offline mind used so far, %", "templates.used", "templates.written"),
    Figure("lines that rest on a reflection, %", "lines.reflection", "lines"),
    Figure("questions asked", "questions"),
    Figure("answered, %", "questions.answered", "questions"),
    Figure("evaded by a phrase, %", "questions.evaded", "questions"),
    Figure("turned away from, %", "questions.turned", "questions"),
    Figure("without a reply, %", "questions.silence", "questions"),
    Figure("questions whose answer is known", "known"),
    Figure("of these not answered, %", "known.unanswered", "known"),
    Figure("statements about one's own past, checked", "claims"),
    Figure("false", "claims.false"),
    Figure("false, %", "claims.false", "claims"),
    Figure("false: was there, says not", "claims.false.absent"),
    Figure("false: had heard, told, seen, says not", "claims.false.denied"),
    Figure("false: says more than was", "claims.false.claimed"),
    Figure("questions about an event", "event.asked"),
    Figure("over for more than a day, %", "event.over", "event.asked"),
    Figure("asked the same person before, %", "event.again", "event.asked"),
    Figure("happenings that somebody perceived", "happenings"),
    Figure("of these spoken of by a witness, %", "happenings.told", "happenings"),
    Figure("promises made", "promises.made"),
    Figure("promises kept", "promises.kept"),
    Figure("promises broken", "promises.broken"),
    Figure("wishes had", "wishes.made"),
    Figure("wishes planned for and fulfilled", "wishes.kept"),
    Figure("wishes planned for and missed", "wishes.broken"),
    Figure("goals finished", "goals.done"),
    Figure("goals given up", "goals.given_up"),
    Figure("goals overtaken by others", "goals.overtaken"),
    Figure("relations that got warmer", "relations.warmer"),
    Figure("relations that got colder", "relations.colder"),
    Figure("mean warmth", "relations.warmth", "relations", 1),
    Figure("warmth below 0, %", "relations.cool", "relations"),
    Figure("warmth from 80 on, %", "relations.80", "relations"),
    Figure("density of acquaintance", "pairs.acquainted", "pairs", 1),
    Figure("reflections, a person", "reflections", "people", 1),
    Figure("of these with a new insight, %", "reflections.kept", "reflections"),
    Figure("insights kept, a person", "insights", "people", 1),
    Figure("insights that name somebody or something of the day, %", "insights.specific", "insights"),
    Figure("insights in words not used before, names aside, %", "insights.new", "insights"),
    Figure("re-plans", "replans"),
    Figure("for the weather", "replans.weather"),
    Figure("for an event", "replans.event"),
    Figure("for what somebody said", "replans.talk"),
    Figure("for people near, or a failure", "replans.near"),
    Figure("people who say nothing all day, %", "people.silent", "people"),
    Figure("conversations", "talks"),
    Figure("of three or more, %", "talks.many", "talks"),
    Figure("places with a conversation", "talks.places"),
)
"""The lines of the table, in order."""


def town_days(reading: Reading | Chronicle) -> dict[int, Day]:
    """Returns the counts by day, for the days that a run has whole; 1 is the calendar day on which it begins."""
    chronicle = reading if isinstance(reading, Chronicle) else Chronicle(reading)
    days: dict[int, Day] = defaultdict(Counter)
    for measure in _MEASURES:
        measure(chronicle, days)
    return {day: days[day] for day in chronicle.days}


def added_up(runs: Iterable[Mapping[int, Mapping[str, int]]]) -> dict[int, Day]:
    """Returns the counts of several runs together, by day."""
    total: dict[int, Day] = defaultdict(Counter)
    for run in runs:
        for day, counts in run.items():
            total[day].update(counts)
    return dict(sorted(total.items()))


# ── talk ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _novelty(chronicle: Chronicle, days: Days) -> None:
    """Sentences by whether anybody has said them before, and whether this speaker has to this hearer.

    Greetings and leave-taking are not counted against a speaker; see `wordings.KINDS["greeting"]`.
    """
    said: set[str] = set()
    last: dict[tuple[str, str, str], int] = {}
    for line in chronicle.lines:
        day = days[line.day]
        day["lines"] += 1
        greetings = {one for part in line.parts if part.is_a("greeting") for one in sentences(part.text)}
        for sentence in sentences(line.text):
            words = plain(sentence)
            day["sentences"] += 1
            day["sentences.new"] += words not in said
            said.add(words)
            if sentence in greetings:
                continue
            key = (line.speaker, line.hearer, words)
            day["sentences.counted"] += 1
            day["sentences.again"] += key in last and line.day - last[key] < AGAIN
            last[key] = line.day


def _written(chronicle: Chronicle, days: Days) -> None:
    """Counts how much of the written lines has been said, up to each day."""
    language = chronicle.scenario.language
    author = {
        plain(text)
        for memories in chronicle.scenario.memories.values()
        for memory in memories
        for text in memory.lines
    }  # fmt: skip
    templates, used = wordings(language).written, set[str]()
    unsaid = set(author)
    by_day = _by_day(chronicle.lines)
    for number in chronicle.days:
        lines = by_day.get(number, ())
        talk = "\n".join(plain(line.text) for line in lines)
        unsaid = {text for text in unsaid if text not in talk}
        used |= {part.template for line in lines for part in line.parts if part.template}
        day = days[number]
        day["author.written"], day["author.used"] = len(author), len(author) - len(unsaid)
        day["templates.written"], day["templates.used"] = len(templates), len(templates & used)


def _by_day(lines: Sequence[SpokenLine]) -> dict[int, list[SpokenLine]]:
    found: dict[int, list[SpokenLine]] = defaultdict(list)
    for line in lines:
        found[line.day].append(line)
    return found


def _questions(chronicle: Chronicle, days: Days) -> None:
    asked_of: set[tuple[str, str, str]] = set()
    for question in questions(chronicle):
        line, day = question.line, days[question.line.day]
        day["questions"] += 1
        day[f"questions.{question.outcome}"] += 1
        if question.is_known:
            day["known"] += 1
            day["known.unanswered"] += question.outcome in {"evaded", "turned"}
        for occasion in chronicle.occasions:
            if (occasion.is_announced or question.kind == "ask.event") and occasion.is_named(line):
                key = (line.speaker, line.hearer, occasion.id)
                day["event.asked"] += 1
                day["event.over"] += line.tick > occasion.last + chronicle.clock.ticks(OVER)
                day["event.again"] += key in asked_of
                asked_of.add(key)


def _happenings(chronicle: Chronicle, days: Days) -> None:
    """Counts the perceived happenings, and those of which a witness has said a word that rests on the perception."""
    ids = {event.id: event.tick for event in chronicle.happenings}
    witnessed: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for agent, memories in chronicle.memories.items():
        for memory in memories.values():
            if memory.event in ids and memory.kind == "observation":
                witnessed[memory.event].add((agent, memory.id))
    told = {(line.speaker, memory) for line in chronicle.lines for memory in line.because}
    for event, witnesses in witnessed.items():
        day = days[chronicle.day(ids[event])]
        day["happenings"] += 1
        day["happenings.told"] += not told.isdisjoint(witnesses)


def _claims(chronicle: Chronicle, days: Days) -> None:
    for claim in claims(chronicle):
        day = days[claim.line.day]
        if claim.is_true is None:
            day["claims.unchecked"] += 1
            continue
        day["claims"] += 1
        if not claim.is_true:
            denies = claim.kind in {"unheard", "first", "unseen"}
            day["claims.false"] += 1
            day[f"claims.false.{'absent' if claim.kind == 'absent' else 'denied' if denies else 'claimed'}"] += 1


def _talks(chronicle: Chronicle, days: Days) -> None:
    """Conversations by place and by how many took part, people who said nothing, lines that rest on a reflection."""
    for event, talk in of_kind(chronicle.events, ConversationEnded):
        day = days[chronicle.day(event.tick)]
        size = len({name for line in talk.lines for name in line[:2]} | {*talk.members})
        day["talks"] += 1
        day["talks.many"] += size > 2
        day[f"talks.size.{size}"] += 1
        day[f"talks.at.{event.place}"] += 1
    for number, lines in _by_day(chronicle.lines).items():
        for line in lines:
            memories = chronicle.memories.get(line.speaker, {})
            days[number]["lines.reflection"] += any(
                memories[one].kind == "reflection" for one in line.because if one in memories
            )
    for number in chronicle.days:
        day = days[number]
        here = chronicle.people(number)
        spoke = {line.speaker for line in chronicle.lines if line.day == number}
        day["people"], day["people.silent"] = len(here), len(here - spoke)
        day["talks.places"] = sum(name.startswith("talks.at.") for name in day)


# ── what comes of it ─────────────────────────────────────────────────────────────────────────────────────────────────


def _promises(chronicle: Chronicle, days: Days) -> None:
    """Promises made, kept and broken, by the rows of people's accounts of their past."""
    kinds = {"promised": "made", "kept": "kept", "broke": "broken"}
    for tick, version in _versions(chronicle, "account"):
        kind = kinds.get(version.key.partition("/")[0])
        if kind and version.value is not None:
            days[chronicle.day(tick)][f"promises.{kind}"] += 1


def _wishes(chronicle: Chronicle, days: Days) -> None:
    """Wishes that insights carry, and what became of the strokes of a plan that are for one.

    A wish that is about somebody is fulfilled by a word with them while the stroke lasts, any other by being there.
    """
    wishes: dict[tuple[str, int], str] = {}
    for agent, memories in chronicle.memories.items():
        for memory in memories.values():
            concluded = happening_of(memory.details)
            if isinstance(concluded, Concluded) and concluded.wish:
                wishes[agent, memory.id] = concluded.about
                days[chronicle.day(memory.tick)]["wishes.made"] += 1
    for agent, stroke in _strokes(chronicle):
        about = next((wishes[agent, one] for one in stroke.get("because", ()) if (agent, one) in wishes), None)
        first = chronicle.clock.tick(parse_iso(stroke["start_time"])) + 1
        last = first - 1 + chronicle.clock.ticks(stroke["duration_minutes"])
        if about is None or last > chronicle.last:
            continue
        if about in chronicle.scenario.personas:
            kept = any(
                {agent, about} == {one.speaker, one.hearer} and first <= one.tick <= last for one in chronicle.lines
            )
        else:
            kept = any(chronicle.places[agent].get(tick) == stroke["location"] for tick in range(first, last + 1))
        days[chronicle.day(last)][f"wishes.{'kept' if kept else 'broken'}"] += 1


def _strokes(chronicle: Chronicle) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields everybody's strokes of all days, as they were planned last."""
    latest: dict[tuple[str, str], Any] = {}
    for _, version in _versions(chronicle, "plan"):
        if version.key.count(".") == 1 and version.value is not None:
            latest[version.owner, version.key] = version.value
    yield from ((owner, value) for (owner, _), value in sorted(latest.items()))


def _versions(chronicle: Chronicle, kind: str) -> Iterator[tuple[int, Any]]:
    """Returns (tick, version) of one kind in order."""
    return ((tick, version) for tick, version in chronicle.versions if version.kind == kind)


def _goals(chronicle: Chronicle, days: Days) -> None:
    """Goals by how they end: `done`, `given_up`, `overtaken`."""
    ended: dict[tuple[str, str], str] = {}
    for tick, version in _versions(chronicle, "goal"):
        value: dict[str, Any] = version.value or {}
        key, status = (version.owner, version.key), str(value.get("status", "open"))
        if status not in {"open", ended.get(key, "open")}:
            days[chronicle.day(tick)][f"goals.{status}"] += 1
        ended[key] = status


def _relations(chronicle: Chronicle, days: Days) -> None:
    """Changes of warmth a day, and at the end of it warmth and who knows whom."""
    warmth: dict[tuple[str, str], int] = {}
    changes = list(_versions(chronicle, "relation"))
    at = 0
    for number in chronicle.days:
        day = days[number]
        while at < len(changes) and chronicle.day(changes[at][0]) <= number:
            version = changes[at][1]
            value: dict[str, Any] = version.value or {}
            key, new = (version.owner, version.key), int(value.get("warmth", 0))
            old = warmth.get(key, 0)
            if changes[at][0] > 0 and new != old:
                day["relations.warmer" if new > old else "relations.colder"] += 1
            warmth[key] = new
            at += 1
        people = chronicle.people(number)
        day["relations"], day["relations.warmth"] = len(warmth), sum(warmth.values())
        day["relations.cool"] = sum(one < 0 for one in warmth.values())
        for low, high in pairwise(BANDS):
            day[f"relations.{low}"] = sum(low <= one < high for one in warmth.values())
        pairs = list(combinations(sorted(people), 2))
        day["pairs"] = len(pairs)
        day["pairs.acquainted"] = sum((a, b) in warmth and (b, a) in warmth for a, b in pairs)


def _reflections(chronicle: Chronicle, days: Days) -> None:
    names = _names(chronicle)
    forms: set[str] = set()
    asked = {(row.agent, row.tick) for row in chronicle.reading.answers(0, chronicle.last) if row.task == "insights"}
    for _, tick in asked:
        days[chronicle.day(tick)]["reflections"] += 1
    for event in chronicle.events:
        days[chronicle.day(event.tick)]["reflections.kept"] += event.type == "REFLECTED"
    thoughts = [
        one for memories in chronicle.memories.values() for one in memories.values() if one.kind == "reflection"
    ]
    for memory in sorted(thoughts, key=lambda one: (one.tick, one.agent, one.id)):
        number = chronicle.day(memory.tick)
        form = names.sub("…", memory.text)
        days[number]["insights"] += 1
        days[number]["insights.new"] += form not in forms
        days[number]["insights.specific"] += _is_of_the_day(chronicle, memory, number)
        forms.add(form)


def _names(chronicle: Chronicle) -> re.Pattern[str]:
    """Returns every name of a person, thing or place, and every pronoun, which goes with a name."""
    personas, nodes = chronicle.scenario.personas.values(), chronicle.scenario.geography.nodes.values()
    names = {
        *(name for one in personas for name in (one.name, one.called)),
        *(one.name for one in nodes),
        "he", "she", "they", "him", "her", "them", "his", "their",
    }  # fmt: skip
    found = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"\b(?:{found})\b", re.IGNORECASE)


def _is_of_the_day(chronicle: Chronicle, insight: Memory, day: int) -> bool:
    """Tells whether an insight names a person, thing or place that its owner perceived on the day."""
    text = insight.text.lower()
    for memory in chronicle.memories[insight.agent].values():
        if memory.tick > insight.tick:
            return False
        if memory.kind == "observation" and chronicle.day(memory.tick) == day:
            seen = happening_of(memory.details)
            ids = (id for id in (seen.who, seen.object, seen.place) if id)
            if any(name and name in text for name in map(chronicle.name, ids)):
                return True
    return False


def _replans(chronicle: Chronicle, days: Days) -> None:
    """Changes of plan by the memory that the reaction rests on."""
    for event in chronicle.events:
        if event.type == "PLAN_CHANGED":
            cause = _cause(chronicle, event.agent_id, event.tick)
            day = days[chronicle.day(event.tick)]
            day["replans"] += 1
            day[f"replans.{cause}"] += 1
            day["replans.near"] += cause in {"people", "failure"}


def _cause(chronicle: Chronicle, agent: str, tick: int) -> str:
    because = chronicle.reaction(agent, tick).get("because", ())
    memories = chronicle.memories.get(agent, {})
    kinds = [type(happening_of(memories[one].details)) for one in because if one in memories]
    return next((CAUSES[kind] for kind in kinds if kind in CAUSES), "other")


_MEASURES: tuple[Callable[[Chronicle, Days], None], ...] = (
    _novelty, _written, _questions, _happenings, _claims, _talks, _promises, _wishes, _goals, _relations, _reflections,
    _replans,
)  # fmt: skip
