"""What a sentence feels like, by rules: word lists per language, negation, and sums that are the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from typing import Any, cast

import Stemmer

from commonplace.errors import UsageError
from commonplace.languages import DEFAULT, LANGUAGES, file_text
from commonplace.memory.record import Emotion
from commonplace.text import words

_NOT = frozenset(("not", "no", "never", "cannot", "without", "hardly"))
"""And every word that ends in n't."""
_NOT_BEFORE = frozenset(("안", "못", "별로"))
_NOT_AFTER = ("않", "못하", "못했", "없")
_REACH = 3
"""Words over which an English negation reaches."""
_NEGATED = -0.5
"""What is left of the valence of a feeling that is denied: not happy is less than sad."""
_LONGEST = 6
_MOST_KNOWN = 65_536
"""Words whose feelings are kept."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class _Feeling:
    name: str
    valence: float
    arousal: float


class RuleFeeler:
    """Text → Emotion, or None for a text without words of feeling. Raises UsageError for a language without word lists.

    Valence and arousal are means over the words found, negated ones turned; confidence is n / (n + 1) of n words;
    keywords are the names of the feelings that are not denied, in the order they occur.
    """

    def __init__(self, language: str = DEFAULT) -> None:
        self.language = language
        self._feelings = _feelings(language)
        self._known: dict[str, _Feeling | None] = {}

    def __call__(self, text: str) -> Emotion | None:
        """Returns what the text feels like."""
        found = self._found(text)
        if not found:
            return None
        count = len(found)
        valence = fsum(feeling.valence * (_NEGATED if denied else 1.0) for feeling, denied in found) / count
        arousal = fsum(feeling.arousal for feeling, _ in found) / count
        names = dict.fromkeys(feeling.name for feeling, denied in found if not denied)
        return Emotion(
            round(valence, _DIGITS), round(arousal, _DIGITS), round(count / (count + 1), _DIGITS), tuple(names)
        )

    def _found(self, text: str) -> list[tuple[_Feeling, bool]]:
        """Returns (feeling, whether it is denied) of each word of feeling, in order."""
        tokens = words(text.replace("’", "'"))
        felt = self._known
        known = [(at, felt[token] if token in felt else self._feeling(token)) for at, token in enumerate(tokens)]
        return [(feeling, self._denied(tokens, at)) for at, feeling in known if feeling is not None]

    def _feeling(self, token: str) -> _Feeling | None:
        """Returns the feeling of a word not yet known."""
        if self.language == "en":
            found = self._feelings.get(_stem(token))
        else:
            beginnings = (token[:length] for length in range(min(len(token), _LONGEST), 1, -1))
            found = next((self._feelings[one] for one in beginnings if one in self._feelings), None)
        if len(self._known) >= _MOST_KNOWN:
            self._known = {}
        self._known[token] = found
        return found

    def _denied(self, tokens: Sequence[str], at: int) -> bool:
        if self.language == "en":
            return any(one in _NOT or one.endswith("n't") for one in tokens[max(0, at - _REACH) : at])
        before, after = tokens[max(0, at - 1) : at], tokens[at + 1 : at + 2]
        return not _NOT_BEFORE.isdisjoint(before) or any(one.startswith(_NOT_AFTER) for one in after)


def estimate_sentiment(text: str, language: str = "") -> float:
    """Returns −1 (unpleasant) … 1 (pleasant); 0 where nothing is felt. `language`: as the text's letters say, if
    empty."""
    felt = feeler(language or language_of(text))(text)
    return felt.valence if felt else 0.0


def extract_emotion_keywords(text: str, language: str = "") -> list[str]:
    """Returns the names of the feelings of a text. `language`: as the text's letters say, if empty."""
    felt = feeler(language or language_of(text))(text)
    return list(felt.keywords) if felt else []


def language_of(text: str) -> str:
    """Returns `ko` for a text with more syllables of Hangul than Latin words, else `en`."""
    if text.isascii():
        return "en"
    hangul = sum("가" <= letter <= "힣" for letter in text)
    return "ko" if hangul > sum(word.isascii() for word in words(text)) else "en"


@cache
def feeler(language: str) -> RuleFeeler:
    """Returns the feeler of a language, made once."""
    return RuleFeeler(language)


@cache
def _feelings(language: str) -> dict[str, _Feeling]:
    """Returns stem or beginning → feeling. The first list a word is in counts."""
    if language not in LANGUAGES:
        raise UsageError(f"language {language!r} has no word lists", hint=f"the languages are {', '.join(LANGUAGES)}")
    data: dict[str, Any] = json.loads(file_text(language, "feelings.json"))
    found: dict[str, _Feeling] = {}
    for name, about in data.items():
        for word in about["words"].split():
            found.setdefault(
                _stem(word) if language == "en" else word, _Feeling(name, about["valence"], about["arousal"])
            )
    return found


_stem: Callable[[str], str] = cast(Any, Stemmer).Stemmer("english", 4096).stemWord
