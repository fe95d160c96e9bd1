"""What differs between languages besides their words: one value per language says it, and `language()` finds it.

A language names things and places, tells the time, turns words from one mouth to another, and gives the slots that its
templates have for a doing, a state or a report. `Language` is one without articles, cases and speech levels;
`languages/NAME/grammar.py` says what is otherwise in a language, in `GRAMMAR`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from commonplace.languages import DEFAULT, LANGUAGES, has, phrases
from commonplace.text import words

Slots = Mapping[str, str]


class Called(Protocol):
    """Somebody by name."""

    @property
    def name(self) -> str:
        """Returns the full name."""
        ...

    @property
    def called(self) -> str:
        """Returns the short name."""
        ...


class Speaker(Called, Protocol):
    """Who speaks or thinks."""

    @property
    def pronoun(self) -> str:
        """Returns `she`, `he` or `they`."""
        ...


class Hearer(Called, Protocol):
    """Whom one speaks to."""

    @property
    def address(self) -> str:
        """Returns what the speaker calls them to their face; empty if the name will do."""
        ...

    @property
    def level(self) -> str:
        """Returns the speech level; empty if the language has only one."""
        ...


class Living(Speaker, Protocol):
    """Somebody of an age, with work."""

    @property
    def age(self) -> int:
        """Returns the age in years."""
        ...

    @property
    def work(self) -> str:
        """Returns what the character does for a living, in words."""
        ...


class Manner(NamedTuple):
    """How one character speaks to another, and of them."""

    level: str = ""
    """`polite` or `plain`; empty where the language has no levels."""
    address: str = ""
    """What it calls them to their face: `철수야`, `할머니`, `민수 씨`."""
    reference: str = ""
    """What it calls them to others: `철수`, `순자 할머니`, `민수 씨`."""


class Language:
    """How one language says what the rules have decided."""

    english_name = "English"
    """As prompts and complaints name it."""
    letters = re.compile("[A-Za-z\u00c0-\u024f]")
    """The letters it is written in."""
    least_own = 0.5
    """Least share of letters of its own in what a model says; lower where foreign names are common in speech."""
    leak = 40
    """So many characters of the instructions in a row are a leak."""
    shortest_echo = 8
    """Characters from which on a piece of the description of a field is nothing that a person says."""
    shortest_word = 4
    """Letters of a word by which a name or a matter is found."""
    has_particles = False
    """Whether words carry particles and endings, so that they are matched by their beginnings."""
    has_levels = False
    """Whether one speaks differently to different people, and of them."""

    # ── text ──

    def levelled(self, template: str, level: str) -> str:
        """Returns a template at a speech level."""
        del level
        return template

    def said(self, text: str, level: str) -> str:
        """Returns an author's sentence at a speech level."""
        del level
        return text

    def leads_in(self, text: str) -> bool:
        """Tells whether an author's sentences ask for attention themselves, so that nothing need come before them."""
        del text
        return False

    def spelt_out(self, template: str) -> str:
        """Returns a template as a formal speaker would say it."""
        return template

    def joined(self, text: str) -> str:
        """Returns a filled template with its particles decided."""
        return text

    def finished(self, text: str) -> str:
        """Returns a finished line: with its blanks, capitals, articles and particles right."""
        return self.joined(" ".join(text.split()))

    def lowered(self, text: str) -> str:
        """Returns a sentence as it stands at the end of another one."""
        return text

    def length(self, text: str) -> int:
        """Returns the length of a line, in letters of English."""
        return len(text)

    def occurs(self, phrases: Iterable[str], text: str) -> bool:
        """Tells whether a text has one of the phrases in it."""
        spoken = f" {' '.join(words(text))} "
        return any(f" {one} " in spoken for one in phrases)

    def in_order(self, text: str) -> tuple[str, ...]:
        """Returns the words of a text as word lists have them, in order."""
        return words(text)

    def speaks(self, text: str) -> bool:
        """Tells whether a text is in this language; an offline town may have English lines in another one."""
        return bool(text)

    def counts(self, text: str) -> bool:
        """Tells whether a text has a number in it."""
        return any(sign.isdigit() for sign in text)

    # ── time and place ──

    def when(self, moment: str, minutes_ago: int) -> str:
        """Returns when something was, from an ISO moment and the minutes since: `this morning`; empty if that goes
        without saying."""
        del moment, minutes_ago
        return ""

    def dated(self, moment: str, minutes_ago: int) -> str:
        """Returns when something was to somebody who asked: `on Monday evening`."""
        return self.when(moment, minutes_ago)

    def clock(self, time: str) -> str:
        """Returns `HH:MM` as it is said."""
        return time

    def at_time(self, time: str) -> str:
        """Returns a time with its preposition: `at half past seven`."""
        return self.clock(time)

    def part(self, days: int, start: int, moment: str) -> str:
        """Returns a part of a day, from the days ago and minutes after midnight: `yesterday morning`."""
        del days, start, moment
        return ""

    def span(self, days: int, start: int, end: int, moment: str) -> str:
        """Returns the span of time that a question names: `yesterday`, `tonight`."""
        del end
        return self.part(days, start, moment)

    def times(self, count: int) -> str:
        """Returns a count in words: `twice`."""
        return f"{count} ×"

    def named(self, name: str) -> str:
        """Returns the name of a thing or a place inside a sentence."""
        return name

    def the(self, name: str) -> str:
        """Returns the name of a place or a thing inside the simulator's own sentence: `stock pot` → `the stock pot`."""
        return name

    def the_thing(self, name: str) -> str:
        """Returns the name of a thing that may be called like a person: `the Moon Courier machine`."""
        return name

    def at(self, name: str) -> str:
        """Returns a place with its preposition: `at the workshop`; empty for no place."""
        return name

    def owned(self, text: str, me: Speaker, you: Hearer | None = None) -> str:
        """Returns a text as these two say it if something in it belongs to one of them: `Ines's father` → `your
        father`."""
        del me, you
        return text

    def place(self, name: str, me: Speaker, you: Hearer | None = None) -> str:
        """Returns a place as these two call it: `my flat`. Without `you`, the hearer is a person who asks."""
        del me, you
        return name

    def at_place(self, name: str, me: Speaker, you: Hearer | None = None) -> str:
        """Returns a place with its preposition, as these two call it: `in my flat`; empty for no place."""
        return self.at(self.place(name, me, you))

    # ── people ──

    def manner(self, me: Living, you: Living, label: str, back: str, *, close: bool) -> Manner:
        """Returns how `me` speaks to `you`. `label`: what `you` is to `me`; `back`: what `me` is to `you`; `close`:
        whether both like each other well."""
        del me, you, label, back, close
        return Manner()

    def level(self, you: Hearer) -> str:
        """Returns the speech level to this hearer; empty if the language has only one."""
        del you
        return ""

    def vocative(self, you: Hearer) -> str:
        """Returns what one calls the hearer."""
        return you.called

    def third(self, called: str, level: str) -> str:
        """Returns the name of somebody spoken of, to a hearer of this level."""
        del level
        return called

    def possessed(self, called: str) -> str:
        """Returns a name in the possessive: `Jun's`."""
        return called

    def pronouns(self, pronoun: str) -> Slots:
        """Returns the slots `he`, `him` and `his`, if a pronoun says something."""
        del pronoun
        return {}

    def mentions(self, text: str, name: str, called: str) -> bool:
        """Tells whether somebody's name occurs in a text."""
        return name in text or called in text

    def names(self, text: str, name: str, called: str) -> bool:
        """Tells whether a thought names somebody, in any case of letters."""
        return self.mentions(text, name, called)

    def addressed(self, text: str, name: str, called: str) -> str:
        """Returns a text with somebody's name turned to `you`; empty if that is not possible."""
        return "" if self.mentions(text, name, called) else text

    def addresses(self, text: str) -> bool:
        """Tells whether a text says `you`."""
        del text
        return False

    def taken(self, doing: str, pronoun: str, person: str) -> str:
        """Returns what somebody does in their own words (`my`) or as said to them (`your`)."""
        del pronoun, person
        return doing

    def as_oneself(self, message: str) -> str:
        """Returns what an inner voice says to somebody as they say it themselves: `you are late` → `I am late`."""
        return message

    def is_own(self, line: str) -> bool:
        """Tells whether a line is about its speaker."""
        del line
        return False

    def first_person(self, me: Speaker, text: str) -> list[str]:
        """Returns sentences about the character in its own words."""
        del me
        return [text] if text else []

    def label(self, me: Speaker, label: str) -> str:
        """Returns what somebody is to the character: `neighbour I owe`."""
        del me
        return label

    def is_mine(self, label: str) -> bool:
        """Tells whether one says `my` with a label: `my neighbour`, but `a light in the window`."""
        return bool(label)

    def many(self, names: Sequence[str]) -> str:
        """Returns several names as a list in words: `Jun, Kit and Mira`."""
        return ", ".join(names)

    # ── topics ──

    def noun_phrase(self, text: str, subject: str = "") -> str:
        """Returns what a text is about; empty if nothing in it can be named."""
        del text
        return subject

    def with_article(self, subject: str) -> str:
        """Returns a subject as it is named in a sentence."""
        return subject

    def a(self, phrase: str) -> str:
        """Returns a phrase with the article of something not named before."""
        return phrase

    def bare(self, topic: str) -> str:
        """Returns a topic without article."""
        return topic

    def turned(self, topic: str, my: str = "your", your: str = "my") -> str:
        """Returns a topic in another's words: `my roof` → `your roof`."""
        del my, your
        return topic

    def may_be_yours(self, topic: str) -> bool:
        """Tells whether a topic may belong to the hearer."""
        return bool(topic)

    def is_common(self, topic: str) -> bool:
        """Tells whether a topic belongs to nobody in particular."""
        return bool(topic)

    def is_news(self, topic: str) -> bool:
        """Tells whether a topic is specific enough to be something that everybody speaks of."""
        return self.is_common(topic)

    def both(self, topics: list[str]) -> str:
        """Returns topics in a row."""
        return ", ".join(topics)

    def topic(self, text: str) -> str:
        """Returns what a question is about, as the answer names it."""
        return text.strip()

    def asks_yes(self, prompt: str) -> bool:
        """Tells whether a question is answered with yes or no."""
        return "?" in prompt

    def sides(self, prompt: str) -> tuple[str, str] | None:
        """Returns the two things between which a question asks to choose."""
        del prompt
        return None

    # ── doings, states, reports ──

    def in_memory(self, slots: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the slots of a remembered sentence, with the doing in the form that its templates take."""
        return slots

    def is_doing(self, text: str) -> bool:
        """Tells whether a text has the form of a doing that the templates take."""
        return bool(text)

    def head(self, doing: str) -> str:
        """Returns the main word of a doing."""
        return doing.split(" ", 1)[0]

    def doing(self, doing: str) -> Slots:
        """Returns the slots of a doing: the doing itself, and the forms in which templates take it."""
        return {"doing": doing}

    def busy(self, me: Speaker, doing: str, *, own: bool = True) -> str:
        """Returns what somebody does, as the character says it; `own` tells that it is the character's own doing."""
        del me, own
        return doing.strip().rstrip(".")

    def gerund(self, phrase: str) -> str:
        """Returns a command or a wish as a doing."""
        return phrase

    def goal(self, me: Speaker, goal: str) -> str:
        """Returns a goal as it follows `I want to`."""
        del me
        return goal.strip().rstrip(".")

    def intended(self, text: str, name: str) -> str:
        """Returns the doing that somebody intends, from a sentence about them; empty for none."""
        del text, name
        return ""

    def commanded(self, text: str) -> str:
        """Returns the doing that a thought commands: `Go to the canal.` → `going to the canal`; empty for none."""
        del text
        return ""

    def state(self, words: str, minutes_ago: int) -> Slots:
        """Returns the slots `words` and `still` for the state of a thing."""
        del minutes_ago
        return {"words": words, "still": words}

    def why(self, sentence: str) -> str:
        """Returns a refusal as it stands inside a sentence."""
        return sentence.strip().rstrip(".")

    def uttered(self, sentence: str) -> str:
        """Returns a written sentence as it is said to somebody."""
        return sentence

    def told(self, sentence: str) -> str:
        """Returns a report in the present as it is told afterwards; empty if that is not possible."""
        del sentence
        return ""

    def reported(self, quote: str, pronoun: str, topic: str) -> str:
        """Returns what somebody said about themselves on a topic, passed on; empty if it would not read well."""
        del quote, pronoun, topic
        return ""

    def deed(self, text: str, me: Speaker) -> str:
        """Returns what somebody says they do, as others say it of them: `I lock the shed` → `Ilse locks the shed`."""
        return f"{me.called}: {text}"

    def sentences(self, doing: str, called: str) -> tuple[str, ...]:
        """Returns sentences that say that somebody does it, one of which is well spelt: `setting …` → `Mira sets …`."""
        return (f"{called} {doing}",)

    def quotable(self, quote: str, topic: str) -> str:
        """Returns a sentence on a topic that may be repeated word for word; empty if none can stand alone."""
        del quote, topic
        return ""


def part_at(hour: int, parts: Mapping[str, int]) -> str:
    """Returns the part of a day that an hour belongs to; `parts` in order, each with the hour at which it ends."""
    return next(part for part, end in parts.items() if hour < end)


@cache
def language(name: str) -> Language:
    """Returns a language by its code; English if the code has no grammar."""
    known = name if name in LANGUAGES and has(name, "grammar.py") else DEFAULT
    return cast(Language, import_module(f"commonplace.languages.{known}.grammar").GRAMMAR)


def said(name: str, table: str, key: str, /, **slots: str) -> str:
    """Returns a phrase of a language with its slots filled in. Raises KeyError for a key that English does not have."""
    return language(name).joined(phrases(name, table)[key].format_map(slots))
