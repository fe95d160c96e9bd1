"""The languages of characters and of screens: a folder each, with everything that is worded in it.

- `phrases.toml`: what the world, memories, views and pages say, in tables by who says it
- `circumstances.toml`: what is said of what is so
- `talk/`, `answers.txt`, `panel.txt`, `themes.txt`: templates of the offline mind
- `prompts/`: what models are asked, a Jinja2 file a task
- `questions.txt`, `errands.txt`, `happens.toml`: how a question, an inner voice and a god-mode sentence are read
- `words.json`, `feelings.json`: word lists of memory, of events, feelings, relations, promises, quarrels and grammar
- `restatements.toml`: how a sentence says that an earlier one is no longer true
- `grammar.py`: what no list of words can say

`function_words.toml` tells languages in the same letters apart.

A folder here is a language. What it lacks is said in English.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Literal

from commonplace.errors import UsageError

DEFAULT = "en"
_FOLDER = files(__name__)
LANGUAGES = tuple(sorted(one.name for one in _FOLDER.iterdir() if one.joinpath("phrases.toml").is_file()))
if TYPE_CHECKING:
    LanguageName = str
else:
    LanguageName = Literal[LANGUAGES]
"""The name of a language, where a scenario or an answer of the server is checked."""


def known(language: object) -> str:
    """Returns the language, or English if it is not one."""
    return language if isinstance(language, str) and language in LANGUAGES else DEFAULT


def _folder(language: str) -> Traversable:
    """Returns a language's folder; the English one for an unknown name, which may come from a file."""
    return _FOLDER / known(language)


def has(language: str, name: str) -> bool:
    """Tells whether a language has a file of its own with this name."""
    return _FOLDER.joinpath(language, name).is_file()


@cache
def file_text(language: str, name: str) -> str:
    """Returns a file of a language, such as `answers.txt`; the English one if it has none."""
    file = _folder(language) / name
    return (file if file.is_file() else _folder(DEFAULT) / name).read_text(encoding="utf-8")


@cache
def file_texts(language: str, folder: str) -> Mapping[str, str]:
    """Returns file name → text of a folder, in the order of names; for a file that the language lacks, the English
    one."""
    found = {} if language == DEFAULT else dict(file_texts(DEFAULT, folder))
    inside = _folder(language) / folder
    found |= {name: (inside / name).read_text(encoding="utf-8") for name in own_files(language, folder)}
    return dict(sorted(found.items()))


def own_files(language: str, folder: str) -> frozenset[str]:
    """Returns the names of the texts that a language has in a folder itself."""
    inside = _folder(language) / folder
    names = (one.name for one in inside.iterdir()) if inside.is_dir() else ()
    return frozenset(name for name in names if name.endswith(".txt"))


@cache
def phrases(language: str, table: str) -> Mapping[str, str]:
    """Returns a table of `phrases.toml`: key → words, with slots in braces; in English where the language lacks a
    phrase."""
    own = own_phrases(language, table)
    return own if language == DEFAULT else {**phrases(DEFAULT, table), **own}


def own_phrases(language: str, table: str) -> Mapping[str, str]:
    """Returns the phrases of a table that the language has itself."""
    return _tables(language).get(table, {})


@cache
def _tables(language: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(file_text(language, "phrases.toml"))


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """Returns language → words that nearly every sentence of it has, for languages in Latin letters, also those without
    towns."""
    told = tomllib.loads((_FOLDER / "function_words.toml").read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in told.items()}


def rows(language: str, table: str, key: str) -> list[tuple[str, str]]:
    """Returns the lines of a phrase that has two columns, `left | right`."""
    pairs = (line.partition("|") for line in phrases(language, table)[key].splitlines())
    return [(left.strip(), right.strip()) for left, _, right in pairs]


@cache
def weekdays(language: str) -> tuple[str, ...]:
    """Returns the days of the week from Monday."""
    return tuple(phrases(language, "days")["weekdays"].split())


@cache
def months(language: str) -> tuple[str, ...]:
    """Returns the months from January."""
    return tuple(phrases(language, "days")["months"].split())


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
