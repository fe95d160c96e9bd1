"""What is remembered as this speaker says it to this hearer: the slots that templates name.

A template asks for `{past}` or `{at}` and gets it of the memory that is told. It is not used where one of them is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from commonplace.languages.language import Language, language
from commonplace.minds.notes import Item, Person, Recalled, Who
from commonplace.world.happenings import (
    Absent,
    Befell,
    Changed,
    Did,
    Failed,
    Happened,
    Happening,
    ISaid,
    Planned,
    Said,
    Sky,
    Tried,
    Voiced,
    Walked,
)

OWN = Did | Walked | ISaid | Failed | Absent
"""One's own doing."""


class Pair(NamedTuple):
    """Who speaks to whom, and when."""

    me: Who
    moment: str
    """ISO."""
    you: Person | None = None
    """None for a person who asks."""

    @property
    def language(self) -> Language:
        """The language both speak."""
        return language(self.me.language)

    def place(self, name: str) -> str:
        """A place or a thing as these two call it."""
        return self.language.place(name, self.me, self.you)

    def at(self, name: str) -> str:
        """`in my flat`; empty for no place."""
        return self.language.at_place(name, self.me, self.you)


class Told:
    """A happening as one tells the other of it; `SLOTS` has what templates may name besides its properties."""

    def __init__(self, pair: Pair, it: Happening, text: str = "", minutes_ago: int | None = None) -> None:
        self.pair, self.it, self.minutes_ago = pair, it, minutes_ago
        self.written = (it.text if isinstance(it, Befell | Voiced) else "") or text

    def slot(self, name: str) -> str:
        """What stands for a name in a template; empty for nothing."""
        row = SLOTS.get(name)
        return row(self) if row else self.forms.get(name, "")

    @property
    def when(self) -> str:
        """When it was; empty for what is no memory."""
        if self.minutes_ago is None:
            return ""
        spoken = self.pair.language
        return (spoken.when if self.pair.you else spoken.dated)(self.pair.moment, self.minutes_ago)

    @cached_property
    def doing(self) -> str:
        """What is done, in a form that follows `I was`."""
        it, me = self.it, self.pair.me
        doing = it.do if isinstance(it, Planned) else it.doing
        return self.pair.language.busy(me, doing, own=isinstance(it, OWN | Planned)) if doing else ""

    @cached_property
    def forms(self) -> Mapping[str, str]:
        """The doing in other forms, by the names that a language has for them."""
        return self.pair.language.forms(self.doing)

    @property
    def at(self) -> str:
        """Where it was."""
        return self.pair.at(self.it.place_name)

    @property
    def where(self) -> str:
        """Where it was, unless the doing says so."""
        return "" if names_place(self.doing, self.it.place_name) else self.at

    @property
    def past(self) -> str:
        """What happened, told afterwards."""
        if not isinstance(self.it, Befell | Sky):
            return ""
        past = self.pair.language.past(self.written)
        return past if isinstance(self.it, Befell) else (past or self.written).rstrip(".")

    @property
    def quote(self) -> str:
        """What was said, word for word."""
        return self.it.quote.strip().strip('“”"')

    @property
    def thing(self) -> str:
        """What it was done to, or is about."""
        return self.pair.place(self.it.object_name)

    @property
    def words(self) -> str:
        """The state in which a thing is."""
        return self.it.words if isinstance(self.it, Changed) else ""

    @property
    def marks(self) -> tuple[str, ...]:
        """What a line may say of it: to say that again is a repetition."""
        state = f"{self.thing} {self.words}" if self.words else ""
        return tuple(filter(None, (self.quote, self.past, state, self.doing, self.written.rstrip("."))))


def _time(told: Told) -> str:
    """When a stretch of plan begins."""
    spoken, start = told.pair.language, told.it.start if isinstance(told.it, Planned) else ""
    return (spoken.clock if told.pair.you else spoken.at_time)(start) if start else ""


SLOTS: Mapping[str, Callable[[Told], str]] = {
    "when": lambda told: told.when,
    "time": _time,
    "at": lambda told: told.at,
    "where": lambda told: told.where,
    "place": lambda told: told.pair.place(told.it.place_name),
    "other": lambda told: told.pair.place(told.it.other_name),
    "x": lambda told: told.it.called,
    "teller": lambda told: told.it.called if isinstance(told.it, Said) and told.it.to_me else "",
    "he": lambda told: told.it.pronoun if told.it.pronoun in _HIM else told.it.called,
    "him": lambda told: _HIM.get(told.it.pronoun, told.it.called),
    "to": lambda told: told.it.to_called,
    "doing": lambda told: told.doing,
    "doing_at": lambda told: f"{told.doing} {told.where}".strip(),
    "at_often": lambda told: f"{told.where} {told.forms.get('often', '')}".strip(),
    "quote": lambda told: told.quote,
    "past": lambda told: told.past,
    "text": lambda told: ended(told.written),
    "thing": lambda told: told.thing,
    "words": lambda told: told.words,
    "why": lambda told: told.pair.language.why(told.it.why) if isinstance(told.it, Failed | Tried) else "",
}
_HIM = {"she": "her", "he": "him"}


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills a template: words that are given for it, else what is told."""

    given: Mapping[str, str]
    told: tuple[Told, ...] = ()

    def get(self, name: str, /) -> str:
        """What stands for a name, after `cap_` with a capital; empty for nothing."""
        if name.startswith("cap_"):
            value = self.get(name[4:])
            return value[:1].upper() + value[1:]
        if name in self.given:
            return self.given[name]
        return next(filter(None, (one.slot(name) for one in self.told)), "")


def told(pair: Pair, of: Recalled | Item | Person | Happening) -> Told:
    """A memory, a stretch of plan, a person or what goes on, as it is told."""
    match of:
        case Recalled():
            return Told(pair, of.happening, of.text, of.minutes_ago)
        case Item():
            return Told(pair, Planned(start=of.start, do=of.do, place=of.location, place_name=of.location_name))
        case Person():
            return Told(pair, Happened(who=of.id, called=of.called, pronoun=of.pronoun, doing=of.doing))
        case _:
            return Told(pair, of)


def names_place(doing: str, place: str) -> bool:
    """Whether a doing names its place already: `serving breakfast at the noodle bar`."""
    words = [word for word in re.findall(r"[^\W\d_]+", place.lower()) if len(word) > 1]
    return bool(words) and words[-1] in doing.lower()


def ended(text: str) -> str:
    """A text that ends as a sentence does."""
    return text if not text or text.endswith((".", "!", "?", "…", "”", '"')) else f"{text}."
