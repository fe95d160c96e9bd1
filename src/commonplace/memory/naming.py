"""Whom and what a memory is of, by how its text begins, and whom and what a question names."""

from __future__ import annotations

import re

from commonplace.memory.record import Memory
from commonplace.memory.words import word_list
from commonplace.text import HANGUL, words

_PREAMBLE = re.compile(r"(?:\[[^\[\]]{0,60}\]|\([^()]{0,60}\)|[0-9 .,/|:-])*")
"""A time or date in front of the text."""
_SPEAKER = re.compile(r"([^:：]{1,40})[:：] ")
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00de][A-Za-z0-9\u00c0-\u017f'’-]*")
_HANGUL = re.compile(f"[{HANGUL}]")
_ASIDE = re.compile(r" *(?:\[[^\[\]]*\]|\([^()]*\)) *$")
_CLOSING = "\"'”’」』)] "
_MOST = 3
"""Capitalised words a subject may have."""
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


def subject(memory: Memory) -> tuple[str, ...]:
    """The words for who speaks or acts: `Maria Lopez: …`, `Klaus is reading`, `민수가 …`, and the memory's source."""
    text = memory.text[_end_of(_PREAMBLE, memory.text) :]
    spoken = _SPEAKER.match(text)
    return _names(f"{spoken[1] if spoken else _opening(text)} {memory.source}")


def place(memory: Memory) -> tuple[str, ...]:
    """The words of the place's names."""
    return _names(" ".join(memory.place))


def named(question: str) -> list[str]:
    """The words of a question that may be names, Hangul ones without what may be their particle, each once."""
    found: list[str] = []
    for word in _contentful(question):
        found += [word[:size] for size in range(2, len(word) + 1)] if _HANGUL.match(word) else [word]
    return list(dict.fromkeys(found))


def is_question(text: str) -> bool:
    """Whether the text ends in a question mark, whatever closes or is added in brackets after it."""
    return _ASIDE.sub("", text).rstrip(_CLOSING).endswith(("?", "？"))


def quiet(question: str) -> frozenset[str]:
    """The words of a question that only carry grammar. One that is written like a name, as May, does not."""
    found = word_list("en").function.intersection(words(question))
    return found.difference(word.lower() for word in _CAPITAL_INSIDE.findall(question))


def _names(text: str) -> tuple[str, ...]:
    endings = word_list("ko").function
    found: list[str] = []
    for word in _contentful(text):
        found.append(word)
        if _HANGUL.match(word):
            found += [word[:-size] for size in (1, 2) if len(word) >= size + 2 and word[-size:] in endings]
    return tuple(dict.fromkeys(found))


def _contentful(text: str) -> list[str]:
    grammar = word_list("en").function
    found = [word.removesuffix("'s") for word in words(text.replace("’", "'"))]
    return [word for word in found if word not in grammar]


def _opening(text: str) -> str:
    """The capitalised words a text begins with; of one in Hangul the first word."""
    found: list[str] = []
    for word in text.split(" ", _MOST)[:_MOST]:
        if not found and _HANGUL.match(word):
            return word
        match = _CAPITALISED.match(word)
        if not match:
            break
        found.append(match[0])
    return " ".join(found)


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0
