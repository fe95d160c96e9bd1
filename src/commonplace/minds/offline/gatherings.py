"""Events to go to: their names, whether the character goes, whether the other does, and the stroke that leads there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from commonplace.languages.language import Language, language
from commonplace.minds.notes import FactNote, ItemNote, News, Person, Recalled, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import content, heard, remembered
from commonplace.minds.offline.moment import OfNews, temper
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.offline.told import minutes_since
from commonplace.minds.tasks import ConverseInput, ReactInput, Stroke
from commonplace.world.happenings import Said

GOES = 56
"""Score from which the character goes."""
EARLY = 15
"""Minutes the character arrives before the event begins."""
LINGER = 20
"""Minutes the character stays after the event."""


def event_name(note: FactNote, spoken: Language) -> str:
    """Returns the name of an event: `the lantern festival`."""
    return spoken.noun_phrase(note.text)


def moment_minutes(time: str) -> int:
    """Returns minutes after midnight for a time such as `19:05`."""
    return int(time[:2]) * 60 + int(time[3:5])


def hhmm(minutes: int) -> str:
    """Returns a time such as `19:05` for minutes after midnight."""
    minutes %= 24 * 60
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


# ── in a talk ────────────────────────────────────────────────────────────────────────────────────────────────────────


def goes_to(talk: ConverseInput, note: FactNote) -> bool:
    """Tells whether the speaker's plan includes the event, if it is today and not over."""
    moment = talk.situation.moment
    if note.starts[:10] != moment[:10] or minutes_since(moment, note) > (note.minutes or 60):
        return False
    now = (talk.now,) if talk.now else ()
    return any(_is_for(item, note, language(talk.who.language)) for item in (*now, *talk.later))


def _is_for(item: ItemNote, note: FactNote, spoken: Language) -> bool:
    """Tells whether a stretch of plan is for the event: it is named so, or at the event's place when it begins."""
    name = spoken.bare(event_name(note, spoken))
    if name and name in item.do:
        return True
    waited = moment_minutes(note.starts[11:16]) - moment_minutes(item.start)
    begins_there = 0 <= waited <= 30 and waited < item.minutes
    return bool(note.place) and item.location == note.place and (bool(item.because) or begins_there)


def has_said_yes(talk: ConverseInput, note: FactNote) -> bool:
    """Tells whether the hearer is known to go: they have said so, or asked the speaker along."""
    you, name = talk.hearer.id, talk.who.language
    if any(line.speaker == you and heard(line, name).act == "accept" for line in talk.lines):
        return True
    for memory in talk.recalled:
        if isinstance(memory.happening, Said) and memory.happening.who == you:
            act = remembered(memory.happening, name).act
            if act == "accept" or (note.id in memory.facts and act in {"invite", "ask.going"}):
                return True
    return False


# ── whether one goes ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class EventDecision:
    """A decision about an event: the same whenever it is asked for, with the reason."""

    goes: bool
    why: str
    """The rule of the reason."""
    event: str
    x: str
    """Who told it."""


def wish_to_go(who: Who, note: FactNote, hearing: Recalled, warmth: int, dice: Dice) -> EventDecision:
    """Returns the decision, by who told it and how close they are, how sociable the character is, and its interests."""
    mood = temper(who)
    teller = hearing.happening.called if isinstance(hearing.happening, Said) else ""
    interest = _interest(who, note)
    score = 34 + warmth * 2 // 5 + 9 * mood.sociable + 12 * interest + 6 * min(1, mood.curious) - 4 * mood.busy
    score += dice.steady().below(31, "go", note.id) - 8
    if not teller:
        score += 25
    name, goes = event_name(note, language(who.language)), score >= GOES
    why = "not" if not goes else "liked" if teller and warmth >= 15 else "kind" if interest else "see"
    return EventDecision(goes, f"event.{why}", name, teller)


def _interest(who: Who, note: FactNote) -> int:
    """Returns how many of the character's goals, traits and tasks the event touches, at most 2."""
    event = content(note.text)
    own = [*who.goals, *who.traits, who.work, who.background]
    return min(2, sum(1 for text in own if event & content(text)))


# ── what it puts into the plan ───────────────────────────────────────────────────────────────────────────────────────


class Invited(OfNews):
    """An event of today is news."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, note: FactNote) -> None:
        super().__init__(given, dice, news)
        self._note = note

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        for note in given.facts:  # what was heard before was decided then
            news = next((one for one in given.news if note.id in one.facts and one.memory_id), None)
            if news is not None:
                yield cls(given, dice, news, note)

    @property
    def ahead(self) -> bool:
        """Tells whether it is today and still ahead, or began only a short time ago."""
        note, here = self._note, self.given.situation
        if not note.starts or not note.place or note.starts[:10] != here.moment[:10]:
            return False
        return moment_minutes(note.starts[11:16]) + (note.minutes or 60) // 3 > moment_minutes(here.time)

    @property
    def there(self) -> bool:
        """Tells whether the character is there, or on the way after it began."""
        given, place = self.given, self._note.place
        begun = self._note.starts <= given.situation.moment
        return begun and place in (given.situation.place.id, given.now.location if given.now else "")

    @property
    def planned(self) -> bool:
        """Tells whether the plan includes it already."""
        return _holds(self.given, self._note)

    @cached_property
    def teller(self) -> Person | None:
        """Returns the person who tells it, if in sight."""
        return self.seen(self.news.happening.who)

    @cached_property
    def wish(self) -> EventDecision:
        """Returns whether the character wants to go (`wish.goes`), by who tells it and by its interests."""
        warmth = self.teller.warmth if self.teller else 10
        return wish_to_go(self.given.who, self._note, hearing(self.news), warmth, self.dice)

    @property
    def its_own(self) -> bool:
        """Tells whether news told to somebody else concerns the character, too: it is a friend's, or about something it
        cares for."""
        return self.teller is None or self.teller.warmth >= FRIEND or _interest(self.given.who, self._note) > 0

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke of going there."""
        return event_stroke(self.given.who, self._note, self.news.memory_id, self.given.situation.time)


FRIEND = 30
"""Warmth from which an invitation to somebody else is taken up as one's own."""


def hearing(news: News) -> Recalled:
    """Returns news as a memory of this moment."""
    return Recalled(
        id=news.memory_id, text=news.text, kind="observation", importance=news.importance, minutes_ago=0,
        happening=news.happening, facts=news.facts,
    )  # fmt: skip


def event_stroke(who: Who, note: FactNote, memory: int, now: str = "00:00") -> Stroke:
    """Returns the stroke that leads to an event, a little before it begins."""
    spoken, begins = language(who.language), moment_minutes(note.starts[11:16])
    start = max(begins - EARLY, moment_minutes(now))
    minutes = max(30, min(240, begins - start + (note.minutes or 60) + LINGER))
    return Stroke(
        start=hhmm(start),
        minutes=min(minutes, 24 * 60 - 5 - start) if start < 24 * 60 - 10 else 5,
        location=note.place,
        do=going_to(who, note),
        because=(memory,),
        emoji=note.emoji or "🎉",
        event=spoken.with_article(event_name(note, spoken).rpartition(" ")[2]),
    )


def going_to(who: Who, note: FactNote) -> str:
    """Returns the doing that leads to an event."""
    return grammar(who.language).first("event.go", {"event": event_name(note, language(who.language))})


def _holds(given: ReactInput, note: FactNote) -> bool:
    """Tells whether the plan leads to the event's place by its beginning, or includes the event already."""
    begins, name = moment_minutes(note.starts[11:16]), going_to(given.who, note)
    for item in (*((given.now,) if given.now else ()), *given.later):
        if item.do == name:
            return True
        ahead = max(0, begins - moment_minutes(item.start))
        if item.location == note.place and item.because and (ahead < item.minutes or ahead <= EARLY * 2):
            return True
    return False
