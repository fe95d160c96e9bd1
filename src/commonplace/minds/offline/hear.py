"""What a line does and what it is about: as its speaker's mind said so, else understood from its words.

The offline mind says with each of its lines which speech act it performs and on which topic, and reads both from the
lines of others. Lines of people and of models carry neither; for them alone the words are searched for phrases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from commonplace.character.account import digests_of
from commonplace.languages import listed
from commonplace.languages.ko.grammar import content_word, is_korean
from commonplace.languages.language import language as spoken_language
from commonplace.minds.notes import Spoken
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.text import words
from commonplace.world.happenings import QUESTIONS, Happening, Speech

_IN_WORDS = ("loss", "secret", "long_ago", "feeling")
"""Sorts that can be told from words, in the order in which their phrases are searched for."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A line as the hearer understands it."""

    act: str
    """One of `world.happenings.ACTS`; empty for no line."""
    topic: str
    """What it is about, as the hearer names it; empty when nothing in it can be named."""
    words: frozenset[str]
    """The words that tell what it is about."""
    sort: str = ""
    """What sort of thing it tells: `loss`, `joke` …; empty where it is nothing in particular."""

    @property
    def kind(self) -> str:
        """Returns the kind that a reply has to fit: the sort of what is told, else the act."""
        return self.sort or self.act

    @property
    def asks(self) -> bool:
        """Tells whether the line waits for an answer."""
        return self.act.startswith("ask") or self.act in {"invite", "comfort"}


NOTHING = Heard("", "", frozenset())


def heard(line: Spoken, language: str) -> Heard:
    """Returns a line of the present talk as it is understood."""
    return _heard(line.text, line.speech_act, line.topic, language)


@lru_cache(maxsize=4096)
def digests_to_a_friend(text: str, language: str) -> frozenset[str]:
    """Returns the digests of a text's sentences as one says them to a friend: the same for every hearer."""
    return digests_of(spoken_language(language).said(text, "plain"))


def remembered(line: Happening, language: str) -> Heard:
    """Returns a remembered line as it is understood; an empty one if it is not a line."""
    return _heard(line.quote, line.speech_act, line.topic, language) if isinstance(line, Speech) else NOTHING


@lru_cache(maxsize=4096)
def _heard(text: str, act: str, topic: str, language: str) -> Heard:
    if not act:
        return understood(text, language)
    act, _, sort = act.partition(".") if act.startswith("tell.") else (act, "", "")
    topic = spoken_language(language).turned(topic)
    return Heard(act, topic, content(text), sort or _sort(grammar(language), act, text))


def _sort(rules: Grammar, act: str, text: str) -> str:
    return next((sort for sort in _IN_WORDS if rules.has(sort, text)), "") if act == "tell" else ""


_COMMON = listed(
    "that this with have from they them been were what when where just still about there here your would could "
    "should into over then than some more very much know like really think going come back well good time today "
    "only never always again after before says said telling something anything nothing everything somebody night "
    "week year years days morning evening everybody everyone people little thing things long ever last make made "
    "take took find found keep kept half tell told look looks want ones once gets doing does done same first next "
    "most many that's it's i'm i've don't can't won't didn't"
)


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """Returns the words of a text that carry its content."""
    return frozenset(_telling(word) for word in words(text)) - {""}


def _telling(word: str) -> str:
    """Returns the word in the form in which it is compared; empty if it has no content."""
    if is_korean(word):
        return content_word(word)
    return word if len(word) > 3 and word not in _COMMON else ""


# ── words without an act ─────────────────────────────────────────────────────────────────────────────────────────────


LONGEST_BYE = 64
"""Characters of a last sentence that may be a farewell."""
LEAD_IN = 38
"""Characters below which a first sentence only leads up to what follows."""
SHORT = 62
"""Characters up to which a line with rain in it is about the weather, and one with thanks in it thanks."""
NOD = 46
"""Characters below which a statement about nothing that can be named only keeps a talk going."""
LONGEST_ANSWER = 110
"""Characters up to which a line may be a yes or a no to an invitation."""
_SENTENCE = re.compile(r"[^.!?]+[.!?…]*[\"”']?\s*")
_STATEMENTS = ("thank", "complain", "praise", "rejoice", "weather", "intend", "apologise")
_ONLY_SHORT = frozenset({"thank", "weather", "apologise", "praise"})


@lru_cache(maxsize=8192)
def understood(text: str, language: str) -> Heard:
    """Returns words without an act as they are understood: the last sentence tells whether they ask or take leave, the
    rest gives the topic."""
    rules = grammar(language)
    sentences = _SENTENCE.findall(text.strip()) or [text]
    last, main = sentences[-1].strip(), _without_lead_in(rules, sentences)
    if rules.language.length(last) < LONGEST_BYE and "?" not in last and rules.has("farewell", last):
        return Heard("farewell", "", frozenset())
    if rules.has("snub", last):
        return Heard("snub", "", content(main))
    topic = _topic(rules, main)
    if last.rstrip("\"”'").endswith("?"):
        return Heard(_question(rules, last, alone=main.strip() == last), _topic(rules, last) or topic, content(main))
    if rules.has("ask.going", last):
        return Heard("invite", topic, content(main))
    act = _statement(rules, main, text, topic)
    return Heard(act, topic, content(main), _sort(rules, act, text))


def refuses(text: str, language: str) -> bool:
    """Tells whether words in answer to an invitation refuse it: there, a bare `I can't` is enough."""
    return grammar(language).has("refuse", text)


def _topic(rules: Grammar, text: str) -> str:
    return rules.language.turned(rules.language.noun_phrase(text))


def _without_lead_in(rules: Grammar, sentences: list[str]) -> str:
    first = 0
    while first < len(sentences) - 1 and rules.language.length(sentences[first].strip()) < LEAD_IN:
        first += 1
    return "".join(sentences[first:])


def _question(rules: Grammar, last: str, *, alone: bool) -> str:
    act = next((act for act in QUESTIONS if rules.has(act, last)), "ask")
    # Who only asks whether one goes takes the event as known; with something told before it, it is an invitation.
    return "invite" if act == "ask.going" and not alone else act


def _statement(rules: Grammar, main: str, text: str, topic: str) -> str:
    length = rules.language.length
    if length(text) < LONGEST_ANSWER:
        for answer in ("accept", "decline", "hesitate"):
            if rules.has(answer, text):
                return answer
    for act in _STATEMENTS:
        if (act not in _ONLY_SHORT or length(main) < SHORT) and rules.has(act, main):
            return act
    if length(text) < LEAD_IN and rules.has("greet", text):
        return "greet"
    return "acknowledge" if length(text) < NOD and not topic else "tell"
