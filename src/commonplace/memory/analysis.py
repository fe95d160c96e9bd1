"""What BM25 counts: stems of Latin words, bigrams of Hangul, and the words of a memory's date."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date, datetime
from functools import cache
from typing import Any, cast

import Stemmer

from commonplace.clock import WEEKDAYS
from commonplace.errors import UsageError
from commonplace.text import HANGUL, words

MONTHS = {
    "en": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
    "ko": tuple(f"{month}월" for month in range(1, 13)),
}  # fmt: skip

_ISO_DATE = re.compile(r"(?<![0-9-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9-])")
_KOREAN_DATE = re.compile(r"(?<![0-9])([0-9]{1,2}[월일])")
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
_HANGUL = re.compile(f"[{HANGUL}]")
_IDEOGRAPHIC = "\u3041"
"""From here on a run of letters holds several words without spaces."""


class Analyser:
    """Splits texts into the tokens BM25 counts. The script of a word decides how; the language, which date words.

    Latin words become Porter2 stems, Hangul, Kana and Han runs character bigrams (a single character stays itself).
    There is no stop list: BM25's idf does that work. `name` changes whenever a token would.
    """

    def __init__(self, language: str = "en") -> None:
        if language not in WEEKDAYS:
            raise UsageError(f"language {language!r}", hint=f"the languages are {', '.join(sorted(WEEKDAYS))}")
        self.language = language
        self.name = f"porter2-bigrams-dates-{language}-v1"
        self._stem = cast(Any, Stemmer).Stemmer("english", 0).stemWord
        self._tokens: dict[str, tuple[str, ...]] = {}
        self._dates: dict[date, tuple[str, ...]] = {}

    def query(self, text: str) -> list[str]:
        """The tokens of a text, in order, repeated as often as they occur. Dates written 2031-10-04 stay whole."""
        tokens, rest = _dated(text)
        known = self._tokens
        for word in words(rest):
            tokens += known.get(word) or self._analysed(word)
        return tokens

    def weighted(self, text: str, grammar: Collection[str], weight: float) -> dict[str, float]:
        """Token → how often it occurs in a text, each time in one of the words of `grammar` counting `weight`."""
        dates, rest = _dated(text)
        found: dict[str, float] = dict.fromkeys(dates, 1.0)
        for word in words(rest):
            once = weight if word in grammar else 1.0
            for token in self._tokens.get(word) or self._analysed(word):
                found[token] = found.get(token, 0.0) + once
        return found

    def document(self, text: str, created_at: datetime) -> list[str]:
        """The tokens of a memory: those of its text, then weekday, month, day and ISO date of its creation (UTC)."""
        return [*self.query(text), *self.date(created_at.date())]

    def date(self, day: date) -> tuple[str, ...]:
        """The tokens by which a query can name a day."""
        known = self._dates.get(day)
        if known is None:
            weekday = WEEKDAYS[self.language][day.weekday()]
            month = MONTHS[self.language][day.month - 1]
            number = f"{day.day}일" if self.language == "ko" else str(day.day)
            known = (*self.query(f"{weekday} {month} {number}"), day.isoformat())
            self._dates[day] = known
        return known

    def _analysed(self, word: str) -> tuple[str, ...]:
        if len(self._tokens) >= 65_536:
            self._tokens.clear()
        if _HANGUL.match(word) or word[0] >= _IDEOGRAPHIC:
            found = tuple(word[i : i + 2] for i in range(len(word) - 1)) or (word,)
        else:
            ordinal = _ORDINAL.fullmatch(word)
            found = (ordinal[1] if ordinal else self._stem(word),)
        self._tokens[word] = found
        return found


def _dated(text: str) -> tuple[list[str], str]:
    """(the dates that stay whole, the rest of the text)."""
    text = text.replace("’", "'")
    tokens: list[str] = []
    if "-" in text:
        tokens += _ISO_DATE.findall(text)
        text = _ISO_DATE.sub(" ", text)
    if not text.isascii():
        tokens += _KOREAN_DATE.findall(text)
        text = _KOREAN_DATE.sub(" ", text)
    return tokens, text


@cache
def analyser(language: str) -> Analyser:
    """The shared analyser of a language: what it has stemmed once it need not stem again."""
    return Analyser(language)
