"""The moment at which a character may do something else than planned: what the conditions of its rows are about.

Part of it is the character's temper, read from its traits and its work: the numbers that tilt every decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

from commonplace import rng
from commonplace.languages.language import Language
from commonplace.minds.notes import TABLE, ItemNote, News, Person, So, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.rule_tables import Facts
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.minds.tasks import ReactInput, Stroke
from commonplace.rng import Key

VOICES = ("warm", "dry", "brisk", "shy", "dreamy", "formal")


@dataclass(frozen=True, slots=True)
class Temper:
    """Counts of trait words; 0 means that nothing in the traits speaks of it."""

    voice: str
    """One of `VOICES`: how the character words things."""
    sociable: int
    """−2 … 2."""
    brave: int
    """−2 … 2; negative is cautious."""
    helpful: int
    curious: int
    handy: int
    early: int
    """1 an early person, −1 a late one."""
    busy: int
    cook: int


def temper(who: Who) -> Temper:
    """Returns the temper of a character. It depends only on traits, work and language."""
    return _temper(who.id, who.traits, who.work, who.language)


@lru_cache(maxsize=1 << 14)
def _temper(name: str, traits: tuple[str, ...], work: str, language: str) -> Temper:
    rules = grammar(language)
    said = [trait.lower() for trait in traits]
    full = [*said, work.lower()]
    return Temper(
        voice=_voice(rules, name, said),
        sociable=_within(_count(rules, "sociable", said) - 2 * _count(rules, "reserved", said)),
        brave=_within(_count(rules, "brave", said) - _count(rules, "cautious", said)),
        helpful=_count(rules, "helpful", said),
        curious=_count(rules, "curious", full),
        handy=_count(rules, "handy", full),
        early=_sign(_count(rules, "early", full) - _count(rules, "late", full)),
        busy=_count(rules, "busy", said),
        cook=_count(rules, "cook", full),
    )


def _voice(rules: Grammar, name: str, traits: list[str]) -> str:
    """Returns the voice that most of the traits suggest; the earlier trait decides a tie, and a draw decides if none
    suggests one."""
    best, score = "", 0
    for voice in VOICES:
        words = rules.words(f"voice.{voice}")
        found = sum(10 - min(5, index) for index, trait in enumerate(traits) if _matches(trait, words))
        if found > score:
            best, score = voice, found
    return best or rng.choice(VOICES, "voice", name)


def _count(rules: Grammar, name: str, traits: list[str]) -> int:
    words = rules.words(name)
    return sum(1 for trait in traits if _matches(trait, words))


def _matches(trait: str, beginnings: frozenset[str]) -> bool:
    """Tells whether a word of the trait begins with one of these; `not shy` and `unkind` do not count."""
    return any(f" {beginning}" in f" {trait}" for beginning in beginnings) and not trait.startswith(("not ", "un"))


def _within(value: int) -> int:
    return max(-2, min(2, value))


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


HOUR = 60
WEIGHTY = 8
"""Importance from which what has become so is on one's mind all day."""


class Draws:
    """Numbers of 0 … 99, by what they are drawn for, and by what else they depend on."""

    def __init__(self, dice: Dice, *more: Key) -> None:
        self._dice, self._more = dice, more

    def __getattr__(self, purpose: str) -> int:
        return self._dice.below(100, purpose.replace("_", " "), *self._more)


def is_grave(so: So) -> bool:
    """Tells whether a circumstance leaves no other thought: for an hour; if it is weighty, or of the character or its
    kin, for the day."""
    lasts = 12 * HOUR if so.weight >= WEIGHTY or so.tie in {"own", "kin"} else HOUR
    return so.holds and so.sort != "joy" and so.minutes_ago <= lasts


class Moment(Facts):
    """The character here and now."""

    ids: tuple[int, ...] = ()
    """The memories that a reaction to it rests on."""

    def __init__(self, given: ReactInput, dice: Dice) -> None:
        self.given, self.dice = given, dice

    @property
    def draw(self) -> Draws:
        """Returns a number of 0 … 99, anew for each question: `draw.leave < 50` holds half of the time."""
        return Draws(self.dice)

    @cached_property
    def mood(self) -> Temper:
        """Returns the character's temper, by its traits."""
        return temper(self.given.who)

    @property
    def rules(self) -> Grammar:
        """Returns the grammar of the character's language."""
        return grammar(self.given.who.language)

    @property
    def spoken(self) -> Language:
        """Returns the character's language."""
        return self.rules.language

    @property
    def now(self) -> ItemNote | None:
        """Returns the plan's item for now."""
        return self.given.now

    @property
    def here(self) -> str:
        """Returns the id of the place."""
        return self.given.situation.place.id

    @property
    def people(self) -> tuple[Person, ...]:
        """Returns the people in sight."""
        return self.given.situation.people

    @property
    def talking(self) -> bool:
        """Tells whether the character is in a talk."""
        return bool(self.given.lines)

    @property
    def busy(self) -> bool:
        """Tells whether the plan has it do something with a thing, or it is always busy by temper."""
        return self.now is not None and (self.mood.busy > 0 or self.now.object_id != "")

    @property
    def walking(self) -> bool:
        """Tells whether the plan has it somewhere else now."""
        return self.now is not None and self.now.location != self.here

    @property
    def pressing(self) -> bool:
        """Tells whether the character is dealing with something that began within the hour: it has no time for small
        talk."""
        because = self.now.because if self.now else ()
        return any(one.memory in because and one.holds and one.minutes_ago <= HOUR for one in self.given.so)

    @property
    def bursting(self) -> bool:
        """Tells whether the character speaks of what has happened without waiting for its turn."""
        return any(map(is_grave, self.given.so))

    @property
    def sleeps_on(self) -> bool:
        """Tells whether it sleeps and nothing wakes it: no thought, no event, no question to it."""
        given = self.given
        if given.now is None or not given.now.asleep or any(one.kind in ("voice", "event") for one in given.news):
            return False
        return not (given.floor and self.talking and heard(given.lines[-1], given.who.language).asks)

    @cached_property
    def opens(self) -> bool:
        """Tells whether I am one of the few awake and free people here who may open a talk now. The answer is the same
        for all, so that people do not speak at once: there is one for each `TABLE` people, and others with every
        tick."""
        me, situation = self.given.who.id, self.given.situation
        here = sorted([me, *(one.id for one in situation.people if one.free and not one.talk)])
        key = (self.dice.key[0], "opens", situation.place.id, situation.moment)
        if len(here) <= TABLE:
            return here[rng.below(len(here), *key)] == me
        return me in rng.shuffled(here, *key)[: -(-len(here) // TABLE)]

    @property
    def hour(self) -> str:
        """Returns the day and the hour, which are part of draws that hold for an hour."""
        return f"{self.given.situation.day}.{self.given.situation.time[:2]}"

    def seen(self, id: str) -> Person | None:
        """Returns the person with this id, if in sight."""
        return next((one for one in self.people if one.id == id), None)

    def best(self, people: list[Person]) -> Person | None:
        """Returns the one of these people whom the character likes best."""
        return max(people, key=lambda one: (one.warmth, one.id), default=None)

    def from_now(self, do: str, minutes: int, place: str = "", *, emoji: str = "") -> Stroke:
        """Returns a stretch of plan that begins now, here unless a place is named."""
        return Stroke(
            start=self.given.situation.time, minutes=minutes, location=place or self.here,
            do=do or self.rules.first("event.other.look", {}), because=self.ids, emoji=emoji,
        )  # fmt: skip


class Here(Moment):
    """Whatever there is."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        yield cls(given, dice)


class OfNews(Moment):
    """The moment at which the character notices something."""

    def __init__(self, given: ReactInput, dice: Dice, news: News) -> None:
        super().__init__(given, dice)
        self._news = news
        self.ids = (news.memory_id,) if news.memory_id else ()

    @property
    def news(self) -> News:
        """Returns the news that the character has noticed."""
        return self._news

    @classmethod
    def first(cls, given: ReactInput, dice: Dice, *kinds: str) -> Iterator[Self]:
        """Yields the facts about the first news of these kinds, if there is any."""
        yield from (cls(given, dice, one) for one in [n for n in given.news if n.kind in kinds][:1])
