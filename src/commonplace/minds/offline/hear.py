"""What a line just heard does: asks, thanks, complains, takes leave …, and what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.grammar.speech import topic
from commonplace.text import words


@dataclass(frozen=True, slots=True)
class Heard:
    """A line understood, as far as rules can."""

    act: str
    """bye, hello, thanks, apology, trouble, joy, weather, intend, kind, statement, or `ask` with what is asked:
    ask.going, .seen, .well, .doing, .help, .who, .what, .think, .since, .topic."""
    topic: str
    """What it is about, as the hearer would say it; empty when nothing in it can be named."""
    words: frozenset[str]
    """Its words of four letters and more."""
    asks: bool


@lru_cache(maxsize=8192)
def heard(text: str, language: str = "en") -> Heard:
    """The line understood."""
    rules = grammar(language)
    spoken = f" {' '.join(words(text))} "
    last = text.rstrip("\"”' ").endswith("?")
    about = topic(_last_part(text) if last else text) or topic(text)
    telling = frozenset(word for word in spoken.split() if len(word) > 3 and word not in _COMMON)
    return Heard(_question(rules, spoken) if last else _statement(rules, spoken, text), about, telling, last)


_COMMON = frozenset(
    "that this with have from they them been were what when where just still about there here your would could should"
    " into over then than some more very much know like really think going come back well good time today only never"
    " always again after before says said telling something anything nothing everything somebody".split()
)


def content(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about."""
    return frozenset(word for word in words(text) if len(word) > 3 and word not in _COMMON)


def _last_part(text: str) -> str:
    for mark in (". ", "! ", "? "):
        text = text.rpartition(mark)[2] or text
    return text


def _has(rules: Grammar, name: str, spoken: str) -> bool:
    return any(f" {phrase} " in spoken for phrase in rules.words(name))


_QUESTIONS = (
    ("ask.going", "seek.going"),
    ("ask.seen", "seek.seen"),
    ("ask.well", "seek.well"),
    ("ask.doing", "seek.doing"),
    ("ask.help", "seek.help"),
    ("ask.who", "seek.who"),
    ("ask.what", "seek.what"),
    ("ask.think", "seek.think"),
    ("ask.since", "seek.since"),
    ("ask.topic", "seek.topic"),
)


def _question(rules: Grammar, spoken: str) -> str:
    for act, name in _QUESTIONS:
        if _has(rules, name, spoken):
            return act
    return "ask"


_STATEMENTS = (
    ("thanks", "thank"),
    ("trouble", "trouble"),
    ("kind", "kindly"),
    ("joy", "joy"),
    ("weather", "weatherly"),
    ("intend", "intend"),
    ("apology", "apology"),
)


def _statement(rules: Grammar, spoken: str, text: str) -> str:
    if _has(rules, "bye", spoken):
        return "bye"
    for act, name in _STATEMENTS:
        if _has(rules, name, spoken):
            return act
    return "hello" if len(text) < 32 and _has(rules, "hello", spoken) else "statement"
