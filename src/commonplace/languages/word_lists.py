"""Word lists as data, a file per language: words of events, feelings, relations, promises and quarrels, and grammar."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache

from commonplace.errors import UsageError
from commonplace.languages import LANGUAGES, file_text

AUTO = "auto"
"""In place of a language: that of each text, found by its script."""


def listed(text: str) -> frozenset[str]:
    """Returns the words of a text as a set, for a list written as running text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class WordList:
    """The lists of one language. English words are matched by their stems, Korean ones by their beginnings."""

    eventful: frozenset[str]
    emotional: frozenset[str]
    relation: frozenset[str]
    kin: frozenset[str]
    """Words for relatives."""
    promise: frozenset[str]
    """Words of giving one's word."""
    conflict: frozenset[str]
    """Words of quarrel and reproach."""
    function: frozenset[str]
    """Grammar words, without content; Korean nouns without particles, Korean verbs with 다."""


@cache
def word_list(language: str) -> WordList:
    """Returns the lists of a language, or those of all for `AUTO`: words of different scripts cannot be confused.

    Raises UsageError for a language without lists.
    """
    if language == AUTO:
        lists = [word_list(one) for one in LANGUAGES]
        every = {
            one.name: frozenset[str]().union(*(getattr(each, one.name) for each in lists)) for one in fields(WordList)
        }
        return WordList(**every)
    if language not in LANGUAGES:
        raise UsageError(f"language {language!r} has no word lists", hint=f"the languages are {', '.join(LANGUAGES)}")
    data: dict[str, str] = json.loads(file_text(language, "words.json"))
    return WordList(**{name: frozenset(words.split()) for name, words in data.items()})
