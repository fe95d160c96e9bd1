"""At an event: who is welcomed, to whom one says something when nothing is new, and what one says there.

`rules/at_event.txt` lists the cases of a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from commonplace import rng
from commonplace.minds.notes import Gathering, News, PastNote, Person
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.gatherings import event_name, has_said_yes, moment_minutes
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.moment import OfNews
from commonplace.minds.offline.openings import opening
from commonplace.minds.offline.rule_tables import RuleTable, read_table
from commonplace.minds.offline.sayings import Saying
from commonplace.minds.offline.scene import DraftLine, TalkScene
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.minds.offline.template_grammar import Grammar
from commonplace.minds.offline.told import minutes_since
from commonplace.minds.tasks import ReactInput

LAST = 10
"""Minutes before the end of an event, or of what the plan has there, from which one takes leave."""
MEANS = 25
"""Minutes within which somebody who means to raise a glass, or to thank somebody, does so."""
WET = frozenset({"rain", "storm", "snow"})


def is_solemn(rules: Grammar, event: Gathering) -> bool:
    """Tells whether it is an event at which nobody makes small talk: a funeral."""
    return rules.has("solemn", event.note.text)


def is_over(event: Gathering | None, moment: str) -> bool:
    """Tells whether it has ended, or is about to end."""
    return event is not None and minutes_since(moment, event.note) >= (event.note.minutes or 60) - LAST


# ── whether one says something ───────────────────────────────────────────────────────────────────────────────────────


class Newcomer(OfNews):
    """Somebody has come to the event that the character is at."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        if given.gathering is not None and not given.gathering.just_come and not given.lines:
            for one in (cls(given, dice, news) for news in given.news if news.kind == "arrived"):
                if one.person is not None and not is_solemn(one.rules, given.gathering):
                    yield one

    @cached_property
    def person(self) -> Person | None:
        """Returns the person who has come."""
        return self.seen(self.news.who)

    @cached_property
    def welcomes(self) -> bool:
        """Tells whether I am the one to welcome them: the host of the event if free, else somebody who is free, by the
        same draw for all."""
        event = self.given.gathering
        here = [one.id for one in self.people if one.free and not one.talk and not one.walking]
        here = sorted({self.given.who.id, *here} - {self.news.who})
        if event is not None and event.host in here:
            return event.host == self.given.who.id
        key = (self.dice.key[0], "welcomes", self.news.who, self.given.situation.moment)
        return here[rng.below(len(here), *key)] == self.given.who.id


class Lull(OfNews):
    """The event goes on, and the character has its turn to say something."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, event: Gathering) -> None:
        super().__init__(given, dice, news)
        self._event = event

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        event = given.gathering
        if event is not None:
            every = (cls(given, dice, one, event) for one in given.news if one.kind == "gathering")
            yield from (one for one in every if not one.walking and not is_solemn(one.rules, event))

    @property
    def event(self) -> str:
        """Returns the name of the event."""
        return event_name(self._event.note, self.spoken)

    @cached_property
    def _others(self) -> list[Person]:
        """Returns the people here that I may speak to, in an order that changes from one moment to the next."""
        free = [one for one in self.people if one.free and not one.talk and not one.walking and not one.cold]
        return rng.shuffled(free, *self.dice.key, "others")

    @cached_property
    def person(self) -> Person | None:
        """Returns the person to whom I have not spoken for longest."""
        never = [one for one in self._others if one.minutes_since_talk < 0]
        return max(never or self._others, key=lambda one: one.minutes_since_talk, default=None)

    @cached_property
    def unparted(self) -> Person | None:
        """Returns somebody with whom I have not talked since people began to take leave."""
        length = self._event.note.minutes or 60
        since = max(0, minutes_since(self.given.situation.moment, self._event.note) - length + LAST)
        return next((one for one in self._others if not 0 <= one.minutes_since_talk <= since), None)

    @property
    def going(self) -> bool:
        """Tells whether I am about to go home: it is nearly over, or my plan has something else soon."""
        if is_over(self._event, self.given.situation.moment):
            return True
        after = next(iter(self.given.later), None)
        if after is None or after.location == self.here:
            return False
        return 0 <= moment_minutes(after.start) - moment_minutes(self.given.situation.time) <= LAST


# ── what one says ────────────────────────────────────────────────────────────────────────────────────────────────────


class Guest(Speaking):
    """The character is at an event and says something there."""

    def __init__(self, scene: TalkScene, options: Sequence[Saying], event: Gathering) -> None:
        super().__init__(scene, options)
        self._event = event

    @property
    def ids(self) -> tuple[int, ...]:
        """Returns the memory from which the speaker knows of the event."""
        return self._event.because

    @property
    def event(self) -> str:
        """Returns the name of the event."""
        return event_name(self._event.note, self._scene.language)

    @property
    def minutes(self) -> int:
        """Returns the minutes since it began; below zero before."""
        return minutes_since(self._scene.moment, self._event.note)

    @property
    def before(self) -> bool:
        """Tells whether it has not begun."""
        return self.minutes < 0

    @property
    def festive(self) -> bool:
        """Tells whether it is an event that people celebrate and have again."""
        return self._scene.rules.has("festive", self._event.note.text)

    @property
    def hosting(self) -> bool:
        """Tells whether the news of it came from me."""
        return self._scene.me.id == self._event.host

    @property
    def to_host(self) -> bool:
        """Tells whether the news of it came from the hearer."""
        return self._scene.you.id == self._event.host

    @cached_property
    def host(self) -> Person | None:
        """Returns the person from whom the news of it came, if they are here and it is neither of us."""
        return next((one for one in self._others if one.id == self._event.host), None)

    @property
    def awaited(self) -> bool:
        """Tells whether the hearer has said they would come."""
        return has_said_yes(self._scene.talk, self._event.note)

    @property
    def toasts(self) -> bool:
        """Tells whether I have chosen this moment to raise a glass."""
        return self._means_to("toast")

    @property
    def thanks(self) -> bool:
        """Tells whether I have chosen this moment to thank the host."""
        return self._means_to("thank")

    def _means_to(self, what: str) -> bool:
        length = max(MEANS, self._event.note.minutes or 60) - MEANS
        chosen = self._scene.dice.steady().below(length + 1, what, self._event.note.id)
        return chosen <= self.minutes < chosen + MEANS

    @cached_property
    def missing(self) -> PastNote | None:
        """Returns somebody who was to come, or knew of it, and is not here."""
        return next(iter(self._shuffled([one for one in self._event.missing if one.other != self.hearer.id])), None)

    @cached_property
    def thing(self) -> str:
        """Returns a thing here that belongs to the event: the two share a word."""
        spoken, about = self._scene.language, content(self._event.note.text)
        place = content(self._scene.talk.situation.place.name)
        named = [spoken.with_article(one.name) for one in self._scene.talk.situation.things if not one.carried]
        fitting = [one for one in named if _related(content(one), about - place)]
        return next(iter(self._shuffled(fitting)), "")

    @property
    def wet(self) -> bool:
        """Tells whether it rains or snows on the two."""
        return self._scene.talk.situation.sky in WET and self._scene.talk.situation.place.outdoor

    @property
    def clear(self) -> bool:
        """Tells whether they stand under a clear sky."""
        return self._scene.talk.situation.sky == "clear" and self._scene.talk.situation.place.outdoor

    @cached_property
    def other(self) -> Person | None:
        """Returns somebody else who is here."""
        return next(iter(self._shuffled([one for one in self._others if not one.cold])), None)

    @property
    def night(self) -> bool:
        """Tells whether it is late enough for a good night."""
        hour = int(self._scene.talk.situation.time[:2])
        return hour >= 20 or hour < 4

    @property
    def story(self) -> DraftLine | None:
        """Returns something remembered, as at any meeting."""
        return opening(self._scene, self._options)

    @property
    def _others(self) -> list[Person]:
        people = self._scene.talk.situation.people
        return [one for one in people if one.id != self.hearer.id and not one.asleep and not one.walking]

    def _shuffled(self, every: Sequence[Any]) -> list[Any]:
        return rng.shuffled(every, *self._scene.dice.key, "at event")


def _related(some: frozenset[str], others: frozenset[str]) -> bool:
    """Tells whether two names share a word, in the singular or the plural."""
    return any(one.startswith(other) or other.startswith(one) for one in some for other in others)


def at_event(scene: TalkScene, options: Sequence[Saying]) -> DraftLine | None:
    """Returns a line for the event that the speaker is at; None if there is no event."""
    event = scene.talk.gathering
    line = Guest(scene, options, event).said(AT_EVENT) if event is not None else None
    return replace(line, ends=line.ends or line.act == "farewell") if line is not None else None


AT_EVENT: RuleTable[Any] = read_table("at_event", Guest)
