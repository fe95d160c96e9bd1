"""What a line just heard does: asks, thanks, complains, takes leave …, and what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from commonplace.minds.offline.grammar.english import listed
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.grammar.speech import topic
from commonplace.text import words


@dataclass(frozen=True, slots=True)
class Heard:
    """A line understood, as far as rules can."""

    act: str
    """bye, hello, thanks, apology, trouble, joy, weather, intend, kind, accepts, declines, report, statement, or `ask`
    with what is asked: ask.going, .seen, .well, .doing, .help, .who, .else, .then, .what, .think, .why, .feel,
    .since, .topic."""
    topic: str
    """What it is about, as the hearer would say it; empty when nothing in it can be named."""
    words: frozenset[str]
    """Its words of four letters and more."""
    asks: bool


@lru_cache(maxsize=8192)
def heard(text: str, language: str = "en") -> Heard:
    """The line understood: by its last sentence whether it asks or takes leave, by its main one what it is about."""
    rules = grammar(language)
    sentences = _SENTENCE.findall(text.strip()) or [text]
    last = sentences[-1].strip()
    spoken = _padded(last)
    if len(last) < LONGEST_BYE and "?" not in last and _takes_leave(rules, spoken, last):
        return Heard("bye", "", frozenset(), False)
    main = text if len(sentences) == 1 else _main(sentences, language)
    if last.rstrip("\"”'").endswith("?"):
        return Heard(_question(rules, spoken), topic(last) or topic(main), content(main), True)
    return Heard(_statement(rules, _padded(main), text), topic(main), content(main), False)


_SENTENCE = re.compile(r"[^.!?]+[.!?…]*[\"”']?\s*")
LONGEST_BYE = 64
"""Characters of a last sentence that may be a farewell."""
OPENER = 38
"""Characters below which a first sentence only leads up to what follows."""


def _padded(text: str) -> str:
    return f" {' '.join(words(text))} "


def _main(sentences: list[str], language: str) -> str:
    """What remains without greetings, lead-ins and reactions; the last sentence when there is nothing else."""
    own = _lead_ins(language)
    first = 0
    while first < len(sentences) - 1:
        sentence = sentences[first]
        if len(sentence.strip()) >= OPENER and not any(piece in sentence for piece in own):
            break
        first += 1
    return "".join(sentences[first:]).strip()


@lru_cache(maxsize=4)
def _lead_ins(language: str) -> tuple[str, ...]:
    """Longer pieces of what the grammar says before it comes to the point."""
    found: set[str] = set()
    for name, lines in grammar(language).rules.items():
        if name.startswith(("greet.", "lead", "reminds", "turn", "react.", "answer.")):
            found.update(piece.strip() for line in lines for piece in line.pieces[::2] if len(piece) > 16)
    return tuple(sorted(found))


def _takes_leave(rules: Grammar, spoken: str, last: str) -> bool:
    """A farewell begins with its words or ends with them; `say a goodbye to Wren tomorrow` is none."""
    for phrase in rules.words("bye"):
        at = spoken.find(f" {phrase} ")
        if 0 <= at < 18 or (0 <= at < 26 and len(last) < 34):
            return True
    return False


_COMMON = listed(
    "that this with have from they them been were what when where just still about there here your would could "
    "should into over then than some more very much know like really think going come back well good time today "
    "only never always again after before says said telling something anything nothing everything somebody night "
    "week year years days morning evening everybody everyone people little thing things long ever last make made "
    "take took find found keep kept half tell told look looks want ones once gets doing does done same first next "
    "most many that's it's i'm i've don't can't won't didn't"
)


@lru_cache(maxsize=4)
def _reactions(language: str) -> tuple[str, ...]:
    """How the grammar's own reactions begin."""
    rules = grammar(language).rules
    begun = {line.pieces[0] for name, lines in rules.items() if name.startswith("react.") for line in lines}
    return tuple(sorted(text for text in begun if len(text) > 8))


def is_nod(text: str, language: str = "en") -> bool:
    """Whether a line only reacts: one or two short sentences, begun as reactions begin."""
    sentences = _SENTENCE.findall(text.strip())
    return len(sentences) <= 2 and len(text) < 90 and text.startswith(_reactions(language))


@lru_cache(maxsize=16384)
def content(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about."""
    return frozenset(word for word in words(text) if len(word) > 3 and word not in _COMMON)


def has_any(rules: Grammar, name: str, text: str) -> bool:
    """Whether a phrase of the list occurs in the text."""
    return _has(rules, name, _padded(text))


def _has(rules: Grammar, name: str, spoken: str) -> bool:
    return any(f" {phrase} " in spoken for phrase in rules.words(name))


_QUESTIONS = (
    ("ask.event", "seek.event"),
    ("ask.going", "seek.going"),
    ("ask.seen", "seek.seen"),
    ("ask.well", "seek.well"),
    ("ask.doing", "seek.doing"),
    ("ask.help", "seek.help"),
    ("ask.who", "seek.who"),
    ("ask.else", "seek.else"),
    ("ask.then", "seek.then"),
    ("ask.think", "seek.think"),
    ("ask.why", "seek.why"),
    ("ask.feel", "seek.feel"),
    ("ask.since", "seek.since"),
    ("ask.topic", "seek.topic"),
    ("ask.what", "seek.what"),
)


def _question(rules: Grammar, spoken: str) -> str:
    if _has(rules, "reports", spoken):
        return "report"
    for act, name in _QUESTIONS:
        if _has(rules, name, spoken):
            return act
    return "ask"


SHORT = 62
"""Characters up to which a line about rain is about the weather, and one with thanks in it thanks."""
_SHORT = frozenset({"thanks", "weather", "apology", "kind"})
LONGEST_ANSWER = 110
"""Characters up to which a line may be a yes or a no to an invitation."""

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
    whole = _padded(text)
    if _has(rules, "reports", whole):
        return "report"
    if len(text) < LONGEST_ANSWER:
        for answer in ("accepts", "declines"):
            if _has(rules, answer, whole):
                return answer
    for act, name in _STATEMENTS:
        if (act not in _SHORT or len(spoken) < SHORT) and _has(rules, name, spoken):
            return act
    return "hello" if len(text) < 32 and _has(rules, "hello", spoken) else "statement"
