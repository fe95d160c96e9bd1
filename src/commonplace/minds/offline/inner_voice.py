"""An inner voice: what it asks for, whether the character does it, and the words for whom it is to be said to.

A thought that names somebody is an errand: to somebody here it is said at once; somebody else is looked for, and told
when met. A thought that names a place or a thing leads there. What the character refuses, it refuses with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Self

from commonplace.languages import file_text
from commonplace.languages.language import language
from commonplace.minds.notes import News, Person, Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.moment import Moment, OfNews
from commonplace.minds.offline.perceive_event import meant, named_place, spoken_words
from commonplace.minds.offline.scene import DraftLine, TalkScene
from commonplace.minds.tasks import ReactInput, Stroke
from commonplace.world.happenings import Voiced

DAY = 24 * 60
"""Minutes an errand is kept in mind."""
SEEKS = 60
"""Minutes somebody is looked for."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What a thought wants said to somebody."""

    message: str
    """As it is said to them; empty where there is nothing to say but hello."""
    act: str = "tell"


# ── what a thought asks for ──────────────────────────────────────────────────────────────────────────────────────────


@cache
def _errands(language: str) -> list[tuple[str, str, str]]:
    """Returns pattern, template and act of each errand in `errands.txt`."""
    rows = [row for row in file_text(language, "errands.txt").splitlines() if row and not row.startswith("#")]
    lead = rows.pop(0).removeprefix("lead: ") if rows[0].startswith("lead: ") else ""
    parts = [re.fullmatch(r"(.+) => ?(.*) <(.+)>", row) for row in rows]
    return [(lead + part[1], part[2], part[3]) for part in parts if part]


def errand(text: str, name: str, called: str, spoken: str) -> Errand | None:
    """Returns what a thought wants said to somebody of that name; None if it wants nothing of the kind."""
    thought = text.strip().rstrip(".!").strip()
    names = "|".join(re.escape(one) for one in (name, called))
    for pattern, template, act in _errands(spoken):
        found = re.fullmatch(pattern.replace("{x}", f"(?:{names})"), thought, re.IGNORECASE)
        if found:
            parts = {
                key: language(spoken).as_oneself(part or "").strip(" ,'\"“”") for key, part in found.groupdict().items()
            }
            said = template.format(**parts)
            return Errand(said[:1].upper() + said[1:], act)
    return None


# ── what the character makes of it ───────────────────────────────────────────────────────────────────────────────────


def thought_in(noted: News | Recalled) -> str:
    """Returns the words of a thought that will not go away."""
    return noted.happening.text if isinstance(noted.happening, Voiced) else noted.text


class Thought(OfNews):
    """A thought that will not go away: say it to somebody, go somewhere, do it here, or refuse."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        yield from cls.first(given, dice, "voice")

    @property
    def text(self) -> str:
        """Returns the words of the thought."""
        return thought_in(self.news)

    @property
    def wrong(self) -> bool:
        """Tells whether it asks for something that nobody here would do."""
        return self.rules.has("voice.wrong", self.text)

    @cached_property
    def person(self) -> Person | None:
        """Returns the person here whom it names."""
        return next((one for one in self.people if self.spoken.names(self.text, one.name, one.called)), None)

    @cached_property
    def wanted(self) -> Errand | None:
        """Returns what it wants said to them."""
        person = self.person
        return errand(self.text, person.name, person.called, self.given.who.language) if person else None

    @property
    def only_hello(self) -> bool:
        """Tells whether there is nothing to say to them but hello."""
        return self.wanted is not None and not self.wanted.message

    @cached_property
    def sought(self) -> str:
        """Returns the name of the person to look for: somebody who cannot be spoken to or, if there is something to say
        to them, is not here."""
        if self.person is not None:
            return self.person.called
        given, names = self.given, self.spoken.names
        called = {one for known in given.recalled for one in (known.happening.called, known.happening.to_called)}
        called |= {spot.name.partition("'s ")[0] for spot in given.places if "'s " in spot.name}
        found = (one for one in sorted(called) if one and one != given.who.called and names(self.text, one, one))
        absent = next(found, "")
        return absent if absent and errand(self.text, absent, absent, given.who.language) is not None else ""

    @property
    def seek(self) -> Stroke:
        """Returns the stroke of looking for them."""
        place = self.here if self.person else self._whereabouts(self.sought)
        return self.from_now(self.rules.first("voice.seek", {"x": self.sought}), SEEKS, place, emoji="💭")

    def _whereabouts(self, called: str) -> str:
        """Returns where somebody was seen last, as far as the character remembers, else a place named after them."""
        seen = [
            (memory.minutes_ago, memory.happening.place) for memory in self.given.recalled
            if memory.happening.called == called and memory.happening.place and memory.minutes_ago < DAY
        ]  # fmt: skip
        known = {spot.id for spot in self.given.places}
        places = [place for _, place in sorted(seen) if place in known and place != self.here]
        own = [spot.id for spot in self.given.places if spot.name.startswith((f"{called}'s ", f"{called}네"))]
        return next(iter((*places, *own)), "")

    @cached_property
    def place(self) -> str:
        """Returns the place it names, or the place of the thing it names, as far as the character remembers it."""
        from_name = named_place(self.given.places, self.text)
        if from_name is not None:
            return from_name.id
        known = {spot.id for spot in self.given.places}
        things = {str(memory.id): memory.happening.object_name for memory in self.given.recalled}
        found = meant({id: thing for id, thing in things.items() if thing}, spoken_words(self.text))
        places = (memory.happening.place for memory in self.given.recalled if str(memory.id) in found)
        return next((place for place in places if place in known), "")

    @cached_property
    def do(self) -> str:
        """Returns the doing that it commands."""
        return self.spoken.commanded(self.text)

    @property
    def obey(self) -> Stroke:
        """Returns the stroke of going there, or of doing it here."""
        do, minutes = self.do or self.rules.first("voice.do", {}), 30 + 5 * self.dice.below(4, "voice")
        return self.from_now(do, minutes, self.place, emoji="💭")


class Delivery(Moment):
    """Somebody is here to whom a thought of today is still to be said."""

    def __init__(self, given: ReactInput, dice: Dice, person: Person, thought: Recalled) -> None:
        super().__init__(given, dice)
        self._person = person
        self.ids = (thought.id,)

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        for memory in given.recalled if not given.lines else ():
            if isinstance(memory.happening, Voiced) and memory.minutes_ago < DAY:
                for one in given.situation.people:
                    if one.can_be_spoken_to and not one.asleep and _is_owed(given, one, memory):
                        yield cls(given, dice, one, memory)

    @property
    def person(self) -> Person:
        """Returns the person."""
        return self._person


def _is_owed(given: ReactInput, person: Person, thought: Recalled) -> bool:
    wanted = errand(thought_in(thought), person.name, person.called, given.who.language)
    if wanted is None or not wanted.message:
        return False
    said = [one.happening.quote for one in given.recalled if one.happening.to == person.id]
    return not any(wanted.message in quote for quote in said)


def thought_aloud(scene: TalkScene) -> DraftLine | None:
    """Returns the line that a thought of today wanted said to the hearer, if it has not been said."""
    for memory in scene.talk.recalled:
        if not isinstance(memory.happening, Voiced) or memory.minutes_ago >= DAY:
            continue
        wanted = errand(thought_in(memory), scene.you.name, scene.you.called, scene.me.language)
        if wanted is None or not wanted.message:
            continue
        message = scene.voiced(wanted.message)
        if any(message in said for said in (*scene.talk.said, *scene.mine, scene.aired)):
            continue
        return DraftLine(message, (memory.id,), wanted.act, scene.language.noun_phrase(wanted.message))
    return None
