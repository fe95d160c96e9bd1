"""What memories put into a day: events heard of, conclusions to act on, things left undone, visits owed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.english import gerund
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.interest import moment_minutes, wish_to_go
from commonplace.minds.offline.invitations import event_stroke
from commonplace.minds.tasks import PlanDayInput, Stroke

MOST_WISHES = 2
"""Wishes besides appointments that one day takes in."""
TIMES = (10 * 60 + 30, 14 * 60 + 30, 16 * 60, 17 * 60 + 30, 19 * 60)
"""When one might find an hour for something, in minutes after midnight."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A stroke that is to go into the day."""

    start: int
    stroke: Stroke
    firm: bool = False
    """An appointment, which may keep one up."""


def wanted(given: PlanDayInput, dice: Dice) -> list[Wanted]:
    """Appointments first, then at most two wishes, each at its own time."""
    events = list(_events(given, dice))
    wishes = [*_insights(given), *_undone(given), *_visits(given, dice)]
    chosen = dice.shuffled(wishes, "wishes")[: _appetite(dice)]
    times = dice.shuffled(TIMES, "times")
    return [*events, *(Wanted(times[index], stroke) for index, stroke in enumerate(chosen))]


def _appetite(dice: Dice) -> int:
    return (1, 1, 2, MOST_WISHES)[dice.below(4, "appetite")]


def _events(given: PlanDayInput, dice: Dice) -> Iterator[Wanted]:
    """Events of this day that one carries the news of and wants to go to."""
    warmth = {person.id: person.warmth for person in given.known}
    reachable = {spot.id for spot in given.places}
    for note in given.facts:
        if (
            note.starts[:10] != given.situation.moment[:10]
            or not note.place
            or (reachable and note.place not in reachable)
        ):
            continue
        carrying = [
            one for one in given.recalled if note.id in one.facts and one.frame.get("what") not in {"i_said", "plan"}
        ]
        if not carrying or note.starts <= given.situation.moment:
            continue
        hearing = max(carrying, key=lambda one: (warmth.get(one.frame.get("who", ""), 10), -one.id))
        if wish_to_go(given.who, note, hearing, warmth.get(hearing.frame.get("who", ""), 10), dice).goes:
            stroke = event_stroke(note, hearing.id)
            yield Wanted(moment_minutes(stroke.start), stroke, firm=True)


def _insights(given: PlanDayInput) -> Iterator[Stroke]:
    """A conclusion that carries a wish."""
    for memory in given.recalled:
        wish = memory.frame.get("wish", "")
        if memory.frame.get("what") == "insight" and wish:
            about = memory.frame.get("about", "")
            place = _seen(given).get(about, "") or memory.frame.get("place", "")
            if place or about not in {person.id for person in given.known}:
                yield _stroke(given, gerund(wish), memory, place)


def _seen(given: PlanDayInput) -> dict[str, str]:
    """Where one remembers seeing people."""
    return {
        memory.frame["who"]: memory.frame["place"]
        for memory in given.recalled
        if memory.frame.get("what") == "doing" and memory.frame.get("place") and memory.frame.get("who")
    }


_INTENDS = re.compile(
    r"\b(?:means|wants|plans|hopes|needs|has|intends|promised|still has|still needs) to ([a-z]+ [^.,;]{3,70})"
)
_THIRD_PERSON = re.compile(r"\b(he|she|they|his|her|their|him|them|him|somebody|one day)\b")


def _undone(given: PlanDayInput) -> Iterator[Stroke]:
    """What one means to do and has not been seen to do."""
    done = " ".join(memory.text for memory in given.recalled if memory.kind == "action")
    for memory in given.recalled:
        if not memory.text.startswith(given.who.name) or memory.frame.get("what") not in {"seed", None}:
            continue
        found = _INTENDS.search(memory.text)
        if (
            found is None
            or _THIRD_PERSON.search(found.group(1))
            or found.group(1).startswith(("be ", "have ", "know "))
        ):
            continue
        doing = gerund(found.group(1))
        if doing not in done:
            yield _stroke(given, doing, memory, memory.frame.get("place", ""))


_VISIT = re.compile(r"\b(come by|drop in|drop by|come and see|visit|look in|stop by)\b", re.IGNORECASE)


def _visits(given: PlanDayInput, dice: Dice) -> Iterator[Stroke]:
    """Somebody asked one to come by: where one has seen them lately."""
    seen = _seen(given)
    for memory in given.recalled:
        frame = memory.frame
        if (
            frame.get("what") == "said"
            and frame.get("to_me")
            and _VISIT.search(frame.get("quote", ""))
            and frame["who"] in seen
        ):
            do = grammar(given.who.language).say("day.visit", "", {"x": frame.get("called", "a friend")}, dice)
            yield _stroke(given, do, memory, seen[frame["who"]])


def _stroke(given: PlanDayInput, do: str, memory: Recalled, place: str) -> Stroke:
    reachable = {spot.id for spot in given.places}
    location = place if place in reachable else given.who.home
    return Stroke(start="00:00", minutes=45, location=location, do=do[:120], because=(memory.id,), emoji="💭")
