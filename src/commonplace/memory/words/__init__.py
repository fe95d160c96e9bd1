"""Word lists as data, a file per language: what tells an eventful, an emotional or a personal sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ...errors import UsageError

LANGUAGES = ("en", "ko")


@dataclass(frozen=True, slots=True)
class WordList:
    """The lists of one language. English ones are matched by stem, Korean ones by how a word begins."""

    eventful: frozenset[str]
    emotional: frozenset[str]
    relation: frozenset[str]
    function: frozenset[str]
    """Words that carry grammar and no content; in Korean the endings a noun may carry."""


@cache
def word_list(language: str) -> WordList:
    """The lists of a language. Raises UsageError for one that has none."""
    if language not in LANGUAGES:
        raise UsageError(f"language {language!r}", hint=f"the languages are {', '.join(LANGUAGES)}")
    data: dict[str, str] = json.loads(files(__name__).joinpath(f"{language}.json").read_text(encoding="utf-8"))
    return WordList(**{name: frozenset(text.split()) for name, text in data.items()})
