"""How important a sentence is, by rules: the sitcom document's §6.2."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from numbers import Real
from typing import Any, NamedTuple, cast

import Stemmer

from commonplace.languages import AUTO, DEFAULT, word_list
from commonplace.languages.ko.morphology import without_particle
from commonplace.text import HANGUL, clean, words

VERSION = "1"
"""Of the rules: another one may rate a sentence differently."""
BASE = 3
"""Importance of a sentence that no rule applies to, and of an unusable rating."""
EVENTFUL = 2
EMOTIONAL = 1
GOAL = 2
PERSONAL = 1
HIGHEST = 10
_NONE: frozenset[str] = frozenset()

_HANGUL = re.compile(f"[{HANGUL}]")
_LONGEST_BEGINNING = 6


class Rating(NamedTuple):
    """A rating and its reasons: rule (`eventful`, `emotional`, `goal`, `personal`) → the word that made it apply."""

    importance: int
    because: dict[str, str]


class RuleRater:
    """Base 3; +2 once for eventful words, +1 once for emotional ones, +2 once for a content word of the goal, +1 once
    for a name or a word of relation; at most 10.

    English words are matched by their Porter2 stems, Korean ones by their beginnings, so that endings do not matter.
    `auto` applies the lists of all languages. An instance is a `Rater`: call it with a text. Raises UsageError for a
    language without word lists.
    """

    def __init__(self, language: str = AUTO, goal: str = "", names: Iterable[str] = (), base: int = BASE) -> None:
        """`base`: where a sentence starts; 1 for routine, such as a character's own planned actions."""
        eventful, emotional, relation = _listed(language)
        self._base = base
        self._rules = (
            ("eventful", EVENTFUL, eventful),
            ("emotional", EMOTIONAL, emotional),
            ("goal", GOAL, stems(_content(clean(goal)))),
            ("personal", PERSONAL, relation | stems(words(" ".join(map(clean, names))))),
        )
        self._listed = frozenset[str]().union(*(listed for _, _, listed in self._rules))
        self._known: dict[str, frozenset[str]] = {}  # word → the rules it makes apply
        self._shared: dict[frozenset[str], frozenset[str]] = {}

    def __call__(self, text: str) -> int:
        """Returns the rating, from the base to 10."""
        return self.explain(text).importance

    def explain(self, text: str) -> Rating:
        """Returns the rating and, for each rule that applies, the first word that made it apply."""
        known = self._known.get
        telling = [
            (word, rules)
            for word in words(text.replace("’", "'"))
            if (rules := known(word)) or (rules is None and (rules := self._applying(word)))
        ]
        if not telling:  # as for most texts
            return Rating(self._base, {})
        importance = self._base
        because: dict[str, str] = {}
        for rule, points, _ in self._rules:
            word = next((word for word, rules in telling if rule in rules), "")
            if word:
                because[rule] = word
                importance += points
        return Rating(min(HIGHEST, importance), because)

    def _applying(self, word: str) -> frozenset[str]:
        """Returns the rules that apply to a word not yet known."""
        if len(self._known) >= 65_536:
            self._known.clear()
        found = forms(word)
        rules = _NONE
        if not self._listed.isdisjoint(found):  # as of few words
            rules = frozenset(rule for rule, _, listed in self._rules if not listed.isdisjoint(found))
        rules = self._known[word] = self._shared.setdefault(rules, rules)
        return rules


@cache
def shared_rater(language: str) -> RuleRater:
    """Returns the rater of all streams of a language that are given none: its words take 40 kB."""
    return RuleRater(language)


_stem: Callable[[str], str] = cast(Any, Stemmer).Stemmer("english", 4096).stemWord


@cache
def _listed(language: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Returns the stems of a language's eventful and emotional words, and of those of relation."""
    lists = word_list(language)
    return stems(lists.eventful), stems(lists.emotional), stems(lists.relation)


def stems(listed: Iterable[str]) -> frozenset[str]:
    """Returns Listed words as `forms` finds them."""
    return frozenset(word if _HANGUL.match(word) else _stem(word.lower()) for word in listed)


@lru_cache(maxsize=4096)  # many characters hear the same words, each with a rater of its own
def forms(word: str) -> tuple[str, ...]:
    """Returns what a word of a text may be listed as: its stem, or its beginnings."""
    if _HANGUL.match(word):
        return tuple(word[:end] for end in range(min(2, len(word)), min(len(word), _LONGEST_BEGINNING) + 1))
    return (_stem(word),)


def usable_rating(value: object) -> float:
    """Returns a rater's answer as an importance: a finite number is clamped to 1–10, anything else counts as 3."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return float(BASE)
    rating = cast(float, value)
    return float(min(10.0, max(1.0, rating))) if -math.inf < rating < math.inf else float(BASE)


def _content(goal: str) -> list[str]:
    """Returns the content words of a goal, Korean ones without their endings."""
    english = word_list(DEFAULT).function
    found: list[str] = []
    for word in words(goal):
        if _HANGUL.match(word):
            noun = without_particle(word)
            found += [noun] * (len(noun) >= 2)
        else:
            found += [word] * (word not in english)
    return found


def scaled(importance: float) -> float:
    """Converts an importance of 0–1 to the record's scale of 1–10."""
    return 1 + 9 * importance


def unscaled(importance: float) -> float:
    """Returns the inverse of `scaled`, clamped to 0–1."""
    return min(1.0, max(0.0, (importance - 1) / 9))
