"""What is remembered as this speaker says it to this hearer: the slots that templates name.

A template asks for `{past}` or `{at}` and gets it of the memory that is told; where that is empty, it is not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from commonplace.languages.language import Language, language
from commonplace.minds.notes import FactNote, ItemNote, Person, Recalled, Who
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

LONG, LONGEST = 80, 90
"""Characters above which a report is told only up to its first comma, because nobody recites; the second where one is
asked."""
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
        """Returns the language both speak."""
        return language(self.me.language)

    def place(self, name: str) -> str:
        """Returns a place or a thing as these two call it."""
        return self.language.place(name, self.me, self.you)

    def at(self, name: str) -> str:
        """Returns a place with its preposition, as these two call it: `in my flat`; empty for no place."""
        return self.language.at_place(name, self.me, self.you)


class Told:
    """A happening as one tells the other of it; `SLOTS` has what templates may name besides its properties."""

    def __init__(self, pair: Pair, it: Happening, id: int = 0, minutes_ago: int = -1, text: str = "") -> None:
        self.pair, self.spoken, self.it, self.id, self.minutes_ago = pair, pair.language, it, id, minutes_ago
        self.written = (it.text if isinstance(it, Befell | Voiced) else "") or text

    def slot(self, name: str) -> str:
        """Returns the value of a name in a template; empty for nothing."""
        row = SLOTS.get(name)
        return row(self) if row else getattr(self, name, "") or self.forms.get(name, "")

    @property
    def when(self) -> str:
        """Returns when it was; empty if it is not a memory."""
        say = self.spoken.when if self.pair.you else self.spoken.dated
        return say(self.pair.moment, self.minutes_ago) if self.minutes_ago >= 0 else ""

    @property
    def then(self) -> tuple[int, int]:
        """Returns when it was, as (days ago, minutes after midnight)."""
        now = datetime.fromisoformat(self.pair.moment)
        then = now - timedelta(minutes=self.minutes_ago)
        return (now.date() - then.date()).days, then.hour * 60 + then.minute

    @cached_property
    def doing(self) -> str:
        """Returns the doing, in a form that follows `I was`; empty if I did it to the hearer, who knows it."""
        it, (me, _, you), is_own = self.it, self.pair, isinstance(self.it, OWN | Planned)
        doing = it.do if isinstance(it, Planned) else it.doing
        if you is None:
            return self.spoken.busy(me, doing, own=is_own) if doing else ""
        if not is_own and it.who == you.id:
            return self.spoken.addressed(self.spoken.taken(doing, you.pronoun, "your"), me.name, me.called)
        doing = self.spoken.taken(doing, me.pronoun, "my") if is_own else doing
        said = self.spoken.addressed(doing, you.name, you.called)
        return "" if is_own and self.spoken.addresses(said) else said

    @cached_property
    def forms(self) -> Mapping[str, str]:
        """Returns the doing or the state in other forms, by the names that the language has for them."""
        if isinstance(self.it, Changed):
            return self.spoken.state(self.it.words, self.minutes_ago)
        return self.spoken.doing(self.doing)

    @property
    def time(self) -> str:
        """Returns when a stretch of plan begins."""
        start = self.it.start if isinstance(self.it, Planned) else ""
        return (self.spoken.clock if self.pair.you else self.spoken.at_time)(start) if start else ""

    @property
    def at(self) -> str:
        """Returns where it was."""
        return self.pair.at(self.it.place_name)

    @property
    def where(self) -> str:
        """Returns where it was, unless the doing says so."""
        return "" if names_place(self.doing, self.it.place_name) else self.at

    @property
    def past(self) -> str:
        """Returns what happened, told in the past."""
        if not isinstance(self.it, Befell | Sky):
            return ""
        text, you = self.written.strip().rstrip(".!"), self.pair.you
        text = self.spoken.addressed(text, you.name, you.called) if you else self.mine(text)
        head = text.partition(",")[0]
        is_long = self.spoken.length(text) > LONG if you else len(text) > LONGEST
        return self.spoken.told(head if is_long and len(head.split()) >= 4 else text)

    def mine(self, text: str) -> str:
        """Returns what happened to me, told by me to a person."""
        is_mine = re.search(rf"(?<!\w){re.escape(self.pair.me.called)}(?!\w)", text) is not None
        return " ".join(self.spoken.first_person(self.pair.me, text)) or text if is_mine else text

    @property
    def quote(self) -> str:
        """Returns what was said, word for word; to others only if it cannot be reported."""
        if self.pair.you is None:
            return self.it.quote.strip().strip('“”"')
        return "" if self.report else self.spoken.quotable(self.it.quote, self.it.topic)

    @cached_property
    def report(self) -> str:
        """Returns what was said, passed on."""
        return self.spoken.reported(self.it.quote, self.it.pronoun, self.it.topic)

    @property
    def thing(self) -> str:
        """Returns the thing it was done to, or is about."""
        return self.pair.place(self.it.object_name)

    @property
    def why(self) -> str:
        """Returns why it was in vain."""
        return self.spoken.why(self.it.why) if isinstance(self.it, Failed | Tried) else ""

    @property
    def marks(self) -> tuple[str, ...]:
        """Returns what a line may say about it: to say that again is a repetition."""
        state = f"{self.thing} {self.it.words}" if isinstance(self.it, Changed) else ""
        return tuple(filter(None, (self.quote, self.past, state, self.doing, self.written.rstrip("."))))


SLOTS: Mapping[str, Callable[[Told], str]] = {
    "part": lambda told: told.spoken.part(*told.then, told.pair.moment),
    "place": lambda told: told.pair.place(told.it.place_name),
    "other": lambda told: told.pair.place(told.it.other_name),
    "x": lambda told: told.it.called,
    "teller": lambda told: told.it.called if isinstance(told.it, Said) and told.it.to_me else "",
    "he": lambda told: told.spoken.pronouns(told.it.pronoun).get("he") or ("" if told.pair.you else told.it.called),
    "him": lambda told: told.spoken.pronouns(told.it.pronoun).get("him") or told.it.called,
    "to": lambda told: told.it.to_called,
    "doing": lambda told: told.forms.get("doing", told.doing),
    "doing_at": lambda told: f"{told.doing} {told.where}".strip(),
    "day": lambda told: told.spoken.span(told.then[0], 0, 24 * 60, told.pair.moment),
    "at_often": lambda told: f"{told.where} {told.forms.get('often', '')}".strip(),
    "text": lambda told: ended(told.written if told.pair.you else told.mine(told.written)),
    "bare_thing": lambda told: told.spoken.bare(told.thing) if told.spoken.is_common(told.thing) else "",
}


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills a template: words that are given for it, else what is told."""

    given: Mapping[str, str]
    told: tuple[Told, ...] = ()

    def get(self, name: str, /) -> str:
        """Returns the value of a name, after `cap_` with a capital; empty for nothing."""
        if name.startswith("cap_"):
            value = self.get(name[4:])
            return value[:1].upper() + value[1:]
        if name in self.given:
            return self.given[name]
        return next(filter(None, (one.slot(name) for one in self.told)), "")


Tellable = Recalled | ItemNote | FactNote | Person | Happening
"""A memory, a stretch of plan, an event, a person, or what goes on."""


def told(pair: Pair, of: Tellable) -> Told:
    """Returns something remembered, planned or seen, as it is told."""
    match of:
        case Recalled():
            return Told(pair, of.happening, of.id, of.minutes_ago, of.text)
        case ItemNote():
            return Told(pair, Planned(start=of.start, do=of.do, place=of.location, place_name=of.location_name))
        case FactNote():
            event = Planned(start=of.starts[11:16], place=of.place, place_name=of.place_name)
            return Told(pair, event, 0, minutes_since(pair.moment, of) if of.starts else -1)
        case Person():
            return Told(pair, Happened(who=of.id, called=of.called, pronoun=of.pronoun, doing=of.doing))
        case _:
            return Told(pair, of)


def minutes_since(moment: str, event: FactNote) -> int:
    """Returns the minutes since the event began; negative before."""
    passed = datetime.fromisoformat(moment) - datetime.fromisoformat(event.starts)
    return int(passed.total_seconds() // 60)


def names_place(doing: str, place: str) -> bool:
    """Tells whether a doing names its place already: `serving breakfast at the noodle bar`."""
    words = [word for word in re.findall(r"[^\W\d_]+", place.lower()) if len(word) > 1]
    return bool(words) and words[-1] in doing.lower()


def ended(text: str) -> str:
    """Returns a text that ends as a sentence does."""
    return text if not text or text.endswith((".", "!", "?", "…", "”", '"')) else f"{text}."
