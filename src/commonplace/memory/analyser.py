"""What counts as a word: the tokens of a memory and of a question that BM25 compares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache, cached_property, lru_cache
from itertools import repeat
from typing import Any, cast

import Stemmer

from commonplace.errors import UsageError
from commonplace.languages import AUTO, DEFAULT, LANGUAGES, months, weekdays, word_list
from commonplace.languages.ko import morphology as korean
from commonplace.memory import scripts
from commonplace.memory.emotion import language_of
from commonplace.text import HANGUL, words

EVERY_SCRIPT, TOWNS = 3, 2
"""Versions of the tokens: that of new streams, and that of runs, whose histories depend on it."""
STEM = 0.5
"""How much the stem of a Hangul word counts in a question, besides its pairs of syllables."""
ROOT = "~"
"""In front of a root, which no token of another sort begins with."""
LAST = 0.3
"""How much the last syllable of a stem counts, unless it is all there is before a particle: 소금빵 is a 빵."""

_ISO_DATE = re.compile(r"(?<![0-9-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9-])")
_KOREAN_DATE = re.compile(r"(?<![0-9])([0-9]{1,2}[월일])")
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
_HANGUL = re.compile(f"[{HANGUL}]")
_STEMMER = cast(Any, Stemmer).Stemmer("english", 0)
_IDEOGRAPHIC = "\u3041"
"""In version 2: from here on a run of letters holds several words without spaces."""
_QUESTIONS = 256
"""Questions whose tokens are kept: those who see the same thing ask the same of their memories."""
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


class Analyser:
    """Splits texts into the tokens BM25 counts. The script of a word decides how; the language, which date words.

    A Latin word becomes its Porter2 stem, and that of the word without accents. A Hangul word becomes its pairs of
    syllables, which survive wrong spacing; the root of its stem, the same under every particle and ending; and the last
    syllable of its stem, which a noun of one syllable has in common with its compounds. `scripts.parts` says what other
    words become. There is no stop list: BM25's idf does that work.

    `language`: `auto` gives each memory the date words of the language it is in. `version`: 3, or 2 for the tokens of
    runs, which know Latin, Hangul, Greek, Cyrillic, kana and Han only. ASCII text and Hangul have the same in both, but
    for words with an apostrophe that are no English contractions: `dell'arte` is a form of `arte` in version 3 only.
    `name` changes whenever a token would, so the version of PyStemmer is in it. Raises UsageError for an unknown
    language.
    """

    kind = "plain"
    """What a store or the manifest of a run calls this class."""

    def __init__(self, language: str = AUTO, version: int = EVERY_SCRIPT) -> None:
        if language != AUTO and language not in LANGUAGES:
            raise UsageError(
                f"language {language!r} is unknown", hint=f"the languages are {', '.join([AUTO, *LANGUAGES])}"
            )
        self.language = language
        self.version = version
        self.name = f"porter2-{cast(Any, Stemmer).version()}-hangul-dates-{language}-v{version}"
        self._stem = cast(Any, Stemmer).Stemmer("english", 0).stemWord
        self._tokens: dict[str, tuple[str, ...]] = {}
        self._shares: dict[str, tuple[float, ...]] = {}
        """Hangul word → how much each of its tokens counts in a question."""
        self._dates: dict[tuple[date, str], tuple[str, ...]] = {}
        self._questions: dict[tuple[str, float], Mapping[str, float]] = {}
        """The latest questions, each with a weight of grammar words, and what `weighted` gave."""

    def query(self, text: str) -> list[str]:
        """Returns the tokens of a text, in order, repeated as often as they occur. Dates written 2031-10-04 stay
        whole."""
        tokens, found = self._read(text)
        known = self._tokens
        for word in found:
            tokens += known.get(word) or self._analysed(word)
        return tokens

    def weighted(self, question: str, grammar: float) -> Mapping[str, float]:
        """Returns token → how much it counts in a question: the sum of its occurrences, each 1 or less.

        An occurrence in a grammar word counts `grammar` times as much.
        """
        known = self._questions.get((question, grammar))
        if known is None:
            known = self._weighted(question, grammar)
            if len(self._questions) >= _QUESTIONS:
                self._questions.clear()
            self._questions[question, grammar] = known
        return known

    def _weighted(self, question: str, grammar: float) -> Mapping[str, float]:
        quiet = grammar_words(question) if grammar != 1 else frozenset[str]()
        dates, asked = self._read(question)
        found: dict[str, float] = dict.fromkeys(dates, 1.0)
        for word in asked:
            once = grammar if word in quiet else 1.0
            tokens = self._tokens.get(word) or self._analysed(word)
            for token, share in zip(tokens, self._shares.get(word) or repeat(1.0), strict=False):
                found[token] = found.get(token, 0.0) + once * share
        return found

    def _read(self, text: str) -> tuple[list[str], Sequence[str]]:
        """Returns (the dates that stay whole, the words of the rest)."""
        if self.version == TOWNS or text.isascii():
            dates, rest = _split_dates(text)
            return dates, words(rest)
        dates, rest = _split_dates(scripts.plain(text))
        return dates, scripts.segments(rest)

    def document(self, text: str, created_at: datetime) -> list[str]:
        """Returns the tokens of a memory: those of its text, then weekday, month, day and ISO date of its creation
        (UTC)."""
        return [*self.query(text), *self.date(created_at.date(), text)]

    def date(self, day: date, text: str = "") -> tuple[str, ...]:
        """Returns the tokens by which a query can name a day; where the language is `auto`, in that of the text."""
        return self._date(day, language_of(text) if self.language == AUTO else self.language)

    def is_of_date(self, token: str) -> bool:
        """Returns whether a memory may have the token only because of the day it was made."""
        return token in self._of_dates or _ISO_DATE.fullmatch(token) is not None

    @cached_property
    def _of_dates(self) -> frozenset[str]:
        days = [*(date(2024, 1, day) for day in range(1, 32)), *(date(2024, month, 1) for month in range(2, 13))]
        languages = LANGUAGES if self.language == AUTO else (self.language,)
        return frozenset(token for day in days for language in languages for token in self._date(day, language))

    def _date(self, day: date, language: str) -> tuple[str, ...]:
        known = self._dates.get((day, language))
        if known is None:
            weekday, month = weekdays(language)[day.weekday()], months(language)[day.month - 1]
            if language == "ko":
                named: Iterable[str] = (month, f"{day.day}일", *pairs(weekday))
            else:
                named = self.query(f"{weekday} {month} {day.day}")
            known = self._dates[day, language] = (*named, day.isoformat())
        return known

    def hangul(self, word: str) -> Sequence[tuple[str, float]]:
        """Returns the tokens of a Hangul word, each with how much it counts in a question."""
        stem = korean.stem(word)
        last = 1.0 if len(korean.without_particle(word)) == 1 else LAST
        return [*((pair, 1.0) for pair in pairs(word)), (stem[-1], last), (ROOT + korean.root(stem), STEM)]

    def _analysed(self, word: str) -> tuple[str, ...]:
        if len(self._tokens) >= 65_536:
            self._tokens.clear()
            self._shares.clear()
        if _HANGUL.match(word):
            found, self._shares[word] = zip(*self.hangul(word), strict=True)
        elif self.version == TOWNS and word[0] >= _IDEOGRAPHIC:
            found = tuple(pairs(word)) or (word,)
        elif self.version == TOWNS or word.isascii():
            ordinal = _ORDINAL.fullmatch(word)
            bare = word if self.version == TOWNS else scripts.without_clitics(word)
            found = (ordinal[1] if ordinal else self._stem(bare),)
        elif scripts.is_latin(word):
            alone = scripts.without_clitics(word)
            bare = scripts.without_accents(alone)
            found = (self._stem(alone), self._stem(bare)) if bare != alone else (self._stem(alone),)
            self._shares[word] = (1.0, scripts.FOLDED)
        else:
            found, self._shares[word] = zip(*scripts.parts(word), strict=True)
        self._tokens[word] = found
        return found


def shared_analyser(language: str = AUTO, kind: str = Analyser.kind, version: int = EVERY_SCRIPT) -> Analyser:
    """Returns the analyser all streams of a language share, so that a word is stemmed once. Raises UsageError."""
    return made_analyser(language, kind, version)


def analyser_of_run(language: str, kind: str = Analyser.kind) -> Analyser:
    """Returns the analyser of the runs of a language. Raises UsageError."""
    return made_analyser(language, kind, TOWNS)


@cache  # by position: for the cache, an argument by name or left out is another one
def made_analyser(language: str, kind: str, version: int) -> Analyser:
    """Returns the analyser of a language, a kind and a version, made once."""
    if kind == Analyser.kind:
        return Analyser(language, version)
    if kind == "kiwi":
        from commonplace.memory.kiwi import KiwiAnalyser  # noqa: PLC0415 - an optional extra, slow to load

        return KiwiAnalyser(language, version)
    raise UsageError(f"there is no analyser {kind!r}", hint=f"the analysers are {Analyser.kind}, kiwi")


def analyser_of(settings: Mapping[str, Any]) -> Analyser:
    """Returns the analyser that the settings of a stored stream name."""
    return shared_analyser(settings.get("language", AUTO), settings.get("analyser", Analyser.kind))


def grammar_words(question: str) -> frozenset[str]:
    """Returns the words of a question that only carry grammar, except those written like a name: `May` inside a
    sentence."""
    asked = words(question)
    found = word_list(DEFAULT).function.intersection(asked)
    found = found.difference(word.lower() for word in _CAPITAL_INSIDE.findall(question))
    return found if question.isascii() else found.union(filter(korean.is_grammar, filter(_HANGUL.match, asked)))


def content_words(text: str) -> frozenset[str]:
    """Returns what a text is about: the stems of its words, without those that only carry grammar and single
    letters."""
    quiet = grammar_words(text)
    return frozenset(_stemmed(word) for word in words(text) if len(word) > 1 and word not in quiet)


@lru_cache(maxsize=16_384)
def _stemmed(word: str) -> str:
    return korean.root(korean.stem(word)) if _HANGUL.match(word) else _STEMMER.stemWord(word)


def pairs(word: str) -> list[str]:
    """Returns the pairs of neighbouring characters."""
    return [word[i : i + 2] for i in range(len(word) - 1)]


def _split_dates(text: str) -> tuple[list[str], str]:
    """Returns (the dates that stay whole, the rest of the text)."""
    text = text.replace("’", "'")
    tokens: list[str] = []
    if "-" in text:
        tokens += _ISO_DATE.findall(text)
        text = _ISO_DATE.sub(" ", text)
    if not text.isascii():
        tokens += _KOREAN_DATE.findall(text)
        text = _KOREAN_DATE.sub(" ", text)
    return tokens, text
