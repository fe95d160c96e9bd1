"""What rows of `react` say of an event, somebody in distress, rain, and a thing that does not work."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Self

from commonplace import rng
from commonplace.clock import parse_iso
from commonplace.minds.notes import COLD, Person, Spot
from commonplace.minds.offline.dice import CHANCES, Dice
from commonplace.minds.offline.moment import OfNews
from commonplace.minds.offline.perceive_event import event_kind, named_place
from commonplace.minds.tasks import ReactInput, Stroke
from commonplace.world.circumstances import TOWN, subject_of
from commonplace.world.happenings import Befell, Happening, Sky

TROUBLES = frozenset({"worry", "concern", "loss"})
"""Sorts of occasions with which somebody may need help."""
WET = frozenset({"rain", "storm", "snow"})
FEW = 5
"""People in one place of whom an event there concerns everybody; of a crowd, so many on average."""
HELPING = frozenset({"helpful", "handy", "brave", "cook"})
"""Manners of those who are able to do something about an event."""


class Noticed(OfNews):
    """Something that all who are here have just noticed."""

    @cached_property
    def order(self) -> list[str]:
        """Returns those awake here, me included, in an order that all of them draw alike: every second one is told by
        the one before what both have just noticed."""
        here = [self.given.who.id, *(one.id for one in self.people if one.can_be_spoken_to and not one.asleep)]
        return rng.shuffled(sorted(here), self.dice.key[0], "remark", self.here, self.given.situation.moment)

    @property
    def spoken_to(self) -> bool:
        """Tells whether somebody else here will speak to me about it."""
        return not self.talking and self.order.index(self.given.who.id) % 2 == 1

    @cached_property
    def hearer(self) -> Person | None:
        """Returns the person to whom I speak about it: who spoke to me last, else the next in the order."""
        if self.talking:
            return self.seen(self.given.lines[-1].speaker) if self.given.floor else None
        place = self.order.index(self.given.who.id)
        other = self.seen(self.order[place + 1]) if place % 2 == 0 and place + 1 < len(self.order) else None
        return other if other is not None and other.warmth >= COLD else None


class Incident(Noticed):
    """Something has happened that is no news of a scenario's: go and help, look, keep away or make the best of it."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        so = {one.id for one in given.so if one.holds and not one.barred and one.subject in {"place", "town"}}
        for one in cls.first(given, dice, "event"):
            is_news = bool(one.news.facts) and befallen(one.news.happening) not in so
            if not is_news and not (one.now is not None and one.now.asleep and not one.named):
                yield one

    @property
    def named(self) -> bool:
        """Tells whether the character is named in it."""
        return self.given.who.called in self.news.text or self.given.who.name in self.news.text

    @cached_property
    def kind(self) -> str:
        """Returns its kind by its words: `fire`, `cry`, `dark`, `water`, `loud`, `wonder` or `other`."""
        return event_kind(self.rules, self.news.text)

    @property
    def sort(self) -> str:
        """Returns the sort that its author gave it; if there is none, it is a worry."""
        return (self.news.happening.sort if isinstance(self.news.happening, Befell) else "") or "worry"

    @property
    def troubles(self) -> bool:
        """Tells whether somebody may need help with it: not if its author calls it a joke."""
        return self.kind != "other" or self.sort in TROUBLES

    @cached_property
    def manner(self) -> str:
        """Returns how a character of this temper reacts: `helpful`, `handy`, `cook`, `brave`, `cautious` or `plain`."""
        mood, kind = self.mood, self.kind
        if not self.troubles:
            return "brave" if mood.brave > 0 else "plain"
        if mood.cook and kind == "dark":
            return "cook"
        if mood.handy and kind in {"dark", "water", "loud", "wonder"}:
            return "handy"
        if mood.helpful and kind in {"dark", "fire", "cry", "water", "loud", "other"}:
            return "helpful"
        return "brave" if mood.brave > 0 else "cautious" if mood.brave < 0 else "plain"

    @cached_property
    def response(self) -> str:
        """Returns the manner, or `leave`: a guest may leave a place that has become dark."""
        leaves = self.kind == "dark" and self.manner in {"plain", "cautious"} and self._may_leave
        return "leave" if leaves and self.dice.chance(CHANCES["event.leaves"], "leave") else self.manner

    @property
    def _may_leave(self) -> bool:
        place = self.given.situation.place
        return place.id != self.given.who.home and self.given.who.called not in place.name and not place.outdoor

    @cached_property
    def concerned(self) -> bool:
        """Tells whether it concerns the character: it is named, lives or works there, or is near and one of a few.

        In a crowd those who are able to help come first. Elsewhere it is something to talk about.
        """
        if self.named:
            return True
        happening, text = self.news.happening, self.news.text
        places = set(happening.areas.split()) if isinstance(happening, Befell) else set[str]()
        places |= {self._named_place.id} if self._named_place else set()
        if places & {self.given.who.home, self.now.location if self.now else ""} and not self._is_guest(places):
            return True
        if places and self.here not in places:
            return False
        crowd = 1 + sum(1 for person in self.people if not person.asleep)
        share = FEW * CHANCES["event.helps" if self.manner in HELPING else "event.deals"] // crowd
        return crowd <= FEW or self.dice.steady().chance(min(100, share), "concern", text)

    @cached_property
    def _named_place(self) -> Spot | None:
        """Returns the place that it names, unless it is of the whole town."""
        is_of_the_town = subject_of(befallen(self.news.happening))[1] == TOWN
        return None if is_of_the_town else named_place(self.given.places, self.news.text)

    def _is_guest(self, places: set[str]) -> bool:
        """Tells whether the plan has the character at the place, not at home, only to eat, rest or meet somebody."""
        now = self.now
        if now is None or now.location not in places or now.location == self.given.who.home:
            return False
        return not self.rules.has("kind.work", now.do)

    @property
    def respond(self) -> Stroke:
        """Returns the stroke of dealing with it: at the place it names, on the way home, else here."""
        do = self.rules.say(f"event.{self.kind}.{self.response}", {}, self.dice)
        minutes = 15 + 5 * self.dice.below(6, "event")
        if self.response == "leave":
            return self.from_now(do, minutes, self.given.who.home, emoji="👀")
        place = self._named_place if self.response in HELPING else None
        return self.from_now(do, minutes, place.id if place else "", emoji="👀")

    @property
    def what(self) -> str:
        """Returns the name of the event."""
        if self.kind == "dark":
            return self.rules.first("the_dark", {})
        named = self.spoken.with_article(self.news.happening.topic) or self.spoken.noun_phrase(self.news.text)
        return named or self.rules.first("what_happened", {})


def befallen(happening: Happening) -> str:
    """Returns the key of the circumstance that began or ended, from a memory of noticing it; empty for any other
    memory."""
    event = happening.event if isinstance(happening, Befell) else ""
    return event if subject_of(event)[0] else ""


class Distress(OfNews):
    """Somebody is seen in distress."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        yield from (cls(given, dice, one) for one in given.news if one.kind in {"did", "doing"} and one.who)

    @property
    def seen_in_distress(self) -> bool:
        """Tells whether their doing shows it."""
        return self.rules.has("distress", self.news.text)

    @property
    def person(self) -> Person | None:
        """Returns the person, if in sight."""
        return self.seen(self.news.who)

    @property
    def cares(self) -> bool:
        """Tells whether the character is kind enough or close to them."""
        return self.person is not None and self.person.warmth + 25 * self.mood.helpful >= 10

    @property
    def help(self) -> Stroke:
        """Returns the stroke of staying with them for a while."""
        do = self.rules.say("help.do", {"x": self.person.called if self.person else ""}, self.dice)
        return self.from_now(do, 15 + 5 * self.dice.below(3, "help"), emoji="🤗")


class Rain(OfNews):
    """It begins to rain on an outdoor activity."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        for one in cls.first(given, dice, "weather"):
            happening = one.news.happening
            begins = given.situation.sky in WET and not (isinstance(happening, Sky) and happening.old in WET)
            if begins and one.now is not None and (given.situation.place.outdoor or one.now.outdoor):
                yield one

    @property
    def sky_id(self) -> str:
        """Returns the sky: `rain`, `storm` or `snow`."""
        return self.given.situation.sky

    @property
    def sky(self) -> str:
        """Returns the sky in words."""
        return self.rules.first(f"sky.{self.sky_id}", {})

    @property
    def promised(self) -> bool:
        """Tells whether the character is doing something it has promised somebody."""
        because = self.now.because if self.now else ()
        return any(goal.kind == "promise" and not set(goal.because).isdisjoint(because) for goal in self.given.goals)

    @property
    def sheltered(self) -> bool:
        """Tells whether it has waited for rain to pass today: it does so once a day."""
        said = {
            line.replace("{sky}", self.rules.first(f"sky.{sky}", {})).lower()
            for rule in ("rain.home", "rain.out")
            for line in self.rules.every(rule)
            for sky in WET
        }
        today = parse_iso(self.given.situation.moment)
        minutes = today.hour * 60 + today.minute
        return any(
            note.kind == "did" and note.minutes_ago <= minutes and (note.named or note.topic).lower() in said
            for note in self.given.past.notes
        )

    @property
    def shelter(self) -> Stroke:
        """Returns the stroke of waiting for it to pass: here if it is dry, else at home or in a remembered place."""
        given, home = self.given, self.given.who.home
        place = given.situation.place.id
        if given.situation.place.outdoor:
            seen = {memory.happening.place_name for memory in given.recalled} - {""}
            known = (spot for spot in given.places if not spot.outdoor and spot.id != place)
            place = self.dice.choice([*(s.id for s in known if s.name in seen or s.id == home), home], "shelter")
        do = self.rules.say("rain.home" if place == home else "rain.out", {"sky": self.sky}, self.dice)
        return self.from_now(do, 30 + 5 * self.dice.below(7, "rain"), place, emoji="☔")


class Failure(OfNews):
    """A thing is refused or missing."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        yield from cls.first(given, dice, "outcome", "absent")

    @property
    def thing(self) -> str:
        """Returns the name of the thing."""
        return self.news.happening.object_name

    @cached_property
    def near(self) -> Person | None:
        """Returns the person to ask about it: the best liked of those free here."""
        return self.best([one for one in self.people if one.free and one.warmth >= 0])

    @property
    def asks(self) -> bool:
        """Tells whether the character asks about it and does not just go on: a sociable one does."""
        return self.dice.chance(CHANCES["failure.asks"] + 10 * self.mood.sociable, "ask")

    @property
    def not_lately(self) -> bool:
        """Tells whether the two have not talked within half an hour."""
        return self.near is not None and not 0 <= self.near.minutes_since_talk <= 30
