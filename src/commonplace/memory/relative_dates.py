"""The days that a question names from where it stands: yesterday, last Monday, two weeks ago, 어제, 지난주, 작년."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from commonplace.clock import WEEKDAYS
from commonplace.memory.analyser import MONTHS
from commonplace.text import HANGUL

LONGEST = 62
"""Days of a span that are looked for as words of the question are. Those of a longer one together count as one word."""
_YEAR = 366
"""Days of the longest span that is read."""
_FURTHEST = 3660
"""Days before the question, at most."""

Span = tuple[date, date]
"""From … to, both included."""
Reader = Callable[[re.Match[str], date], Span]
"""From a phrase and the day of the question to what it names."""

_ENGLISH = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_KOREAN_DAYS = {
    "하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "여드레": 8, "아흐레": 9, "열흘": 10,
    "보름": 15,
}  # fmt: skip
_KOREAN = {"한": 1, "두": 2, "세": 3, "석": 3, "네": 4, "넉": 4, "다섯": 5, "여섯": 6, "일": 1, "이": 2, "삼": 3}

_NUMBER = rf"([0-9]{{1,4}}|{'|'.join(sorted(_ENGLISH, key=len, reverse=True))})"
_COUNT = rf"([0-9]{{1,4}}|{'|'.join(_KOREAN)})"
_BEFORE = f"(?<![{HANGUL}])"
_AFTER = f"(?:에|에는|엔|의|은|는|도|만|부터|까지|동안|간|쯤)?(?![{HANGUL}])"
"""A particle, and then the word is over: `이번 주` but not `이번 주문`."""
_ENGLISH_DAY = f"({'|'.join(WEEKDAYS['en'])})".lower()
_MONTH = f"(?:{'|'.join(MONTHS['en'])})"
_KOREAN_DAY = f"({'|'.join(WEEKDAYS['ko'])})"


class Dated(NamedTuple):
    """A question whose words for days are read."""

    days: tuple[date, ...]
    """In order, none after the question; empty if it names none."""
    rest: str
    """The question without the words that name them."""
    longer: tuple[date, ...] = ()
    """The same as `days`, of spans longer than `LONGEST`."""


def dated(question: str, at: datetime) -> Dated:
    """The days that words of the question name from `at`.

    English and Korean. Weeks begin on Monday; days are those of `at` (UTC), as those of memories are. `last Monday` is
    the latest before today. Dates that are written out are not of this sort: `Analyser` reads them, and beside one of
    them relative words count from there (`the week before 4 October`), so they name nothing here.
    """
    if not _readable(question):
        return Dated((), question)
    today, found, longer, rest = at.date(), set[date](), set[date](), question
    for pattern, read in _phrases():
        while phrase := pattern.search(rest):
            rest = f"{rest[: phrase.start()]} {rest[phrase.end() :]}"
            with suppress(OverflowError):  # before the year 1
                first, last = read(phrase, today)
                size, count = (last - first).days + 1, (min(last, today) - first).days + 1
                if size <= _YEAR:
                    (found if size <= LONGEST else longer).update(first + timedelta(days) for days in range(count))
    return Dated(tuple(sorted(found)), rest if found or longer else question, tuple(sorted(longer)))


@lru_cache(maxsize=256)
def _readable(question: str) -> bool:
    """Whether the question may have such words and has no date that is written out."""
    return bool(_ANY.search(question)) and not _WRITTEN_OUT.search(question)


@cache
def _phrases() -> list[tuple[re.Pattern[str], Reader]]:
    """Compiled when a question first needs them, which makes the program start sooner."""
    return [(re.compile(pattern, re.IGNORECASE), read) for pattern, read in _READERS]


def _ago(days: int, around: int = 0) -> Reader:
    return lambda _, today: _day(today, days, around)


def _day(today: date, days: int, around: int = 0) -> Span:
    days = min(days, _FURTHEST)
    return today - timedelta(days + around), today - timedelta(max(0, days - around))


def _week(today: date, weeks: int) -> Span:
    monday = today - timedelta(today.weekday() + 7 * weeks)
    return monday, monday + timedelta(6)


def _month(today: date, months: int) -> Span:
    number = today.year * 12 + today.month - 1 - min(months, 12 * today.year - 12)
    first, following = (date(one // 12, one % 12 + 1, 1) for one in (number, number + 1))
    return first, following - timedelta(1)


def _year(today: date, years: int) -> Span:
    year = today.year - min(years, today.year - 1)
    return date(year, 1, 1), date(year, 12, 31)


def _weekend(_: re.Match[str], today: date) -> Span:
    saturday = today - timedelta((today.weekday() - 5) % 7 or 7)
    return saturday, saturday + timedelta(1)


def _latest(language: str, *, today_too: bool = False) -> Reader:
    """The latest such weekday."""

    def read(found: re.Match[str], today: date) -> Span:
        back = (today.weekday() - _weekday(language, found[1])) % 7
        return _day(today, back if back or today_too else 7)

    return read


def _of_week(language: str, weeks: int, group: int = 1) -> Reader:
    """That day of this week or one before."""

    def read(found: re.Match[str], today: date) -> Span:
        day = _week(today, weeks)[0] + timedelta(_weekday(language, found[group]))
        return day, day

    return read


def _weekday(language: str, name: str) -> int:
    return [one.lower() for one in WEEKDAYS[language]].index(name.lower())


def _number(word: str, known: Mapping[str, int]) -> int:
    return known.get(word.lower()) or int(word)


def _back(unit: str, count: int, today: date) -> Span:
    """So many days, weeks, months or years ago; weeks with the days around."""
    if unit.lower().startswith(("year", "년")):
        return _year(today, count)
    if unit.lower().startswith(("month", "달", "개월")):
        return _month(today, count)
    if unit.lower().startswith(("week", "주")):
        return _day(today, 7 * count, 3)
    return _day(today, count)


def _within(unit: str, count: int, today: date) -> Span:
    """The last so many days, weeks, months or years up to today."""
    days = {"d": 1, "일": 1, "w": 7, "주": 7, "y": 365, "년": 365}.get(unit[0].lower(), 30)
    return _day(today, min(count, _FURTHEST) * days)[0], today


_READERS: tuple[tuple[str, Reader], ...] = (
    (r"\bday before yesterday\b", _ago(2)),
    (r"\b(?:yesterday|last night)\b", _ago(1)),
    (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", _ago(0)),
    (r"\b(?:a )?few days ago\b", _ago(4, 2)),
    (
        rf"\b(?:the |a )?{_NUMBER} (?:of )?(days?|weeks?|months?|years?) (?:ago|earlier|back)\b",
        lambda found, today: _back(found[2], _number(found[1], _ENGLISH), today),
    ),
    (
        rf"\b(?:last|past) {_NUMBER} (?:of )?(days?|weeks?|months?|years?)\b",
        lambda found, today: _within(found[2], _number(found[1], _ENGLISH), today),
    ),
    (r"\b(?:last|past) few days\b", lambda _, today: _within("day", 5, today)),
    (rf"\blast week(?: on|'s|,)? {_ENGLISH_DAY}\b", _of_week("en", 1)),
    (rf"\b{_ENGLISH_DAY} (?:of )?last week\b", _of_week("en", 1)),
    (r"\b(?:last|previous) week\b", lambda _, today: _week(today, 1)),
    (r"\bpast week\b", lambda _, today: _within("day", 7, today)),
    (r"\bthis week\b", lambda _, today: _week(today, 0)),
    (r"\b(?:last|this|past) weekend\b", _weekend),
    (r"\b(?:last|previous) month\b", lambda _, today: _month(today, 1)),
    (r"\bthis month\b", lambda _, today: _month(today, 0)),
    (r"\byear before last\b", lambda _, today: _year(today, 2)),
    (r"\b(?:last|previous) year\b", lambda _, today: _year(today, 1)),
    (r"\bpast year\b", lambda _, today: _within("year", 1, today)),
    (r"\bthis year\b", lambda _, today: _year(today, 0)),
    (rf"\b(?:last|past|previous) {_ENGLISH_DAY}\b", _latest("en")),
    (rf"\bthis {_ENGLISH_DAY}\b", _latest("en", today_too=True)),
    (rf"{_BEFORE}그끄(?:저께|제){_AFTER}", _ago(3)),
    (rf"{_BEFORE}(?:엊그제|엊그저께)", _ago(2, 1)),
    (rf"{_BEFORE}(?:그저께|그제(?!야|서))", _ago(2)),
    (rf"{_BEFORE}(?:어제|어저께|어젯밤|간밤)", _ago(1)),
    (rf"{_BEFORE}오늘(?!날)", _ago(0)),
    (rf"{_BEFORE}며칠 ?전", _ago(4, 2)),
    (rf"{_BEFORE}({'|'.join(_KOREAN_DAYS)}) ?전", lambda found, today: _day(today, _KOREAN_DAYS[found[1]])),
    (rf"{_BEFORE}일주일 ?전", _ago(7, 3)),
    (
        rf"{_BEFORE}{_COUNT} ?(일|주일|주|개월|달|년) ?전",
        lambda found, today: _back(found[2], _number(found[1], _KOREAN), today),
    ),
    (
        rf"{_BEFORE}(?:지난|최근) ?{_COUNT} ?(일|주일|주|개월|달|년){_AFTER}",
        lambda found, today: _within(found[2], _number(found[1], _KOREAN), today),
    ),
    (
        rf"{_BEFORE}(?:지난|최근) ?({'|'.join(_KOREAN_DAYS)}){_AFTER}",
        lambda found, today: _within("일", _KOREAN_DAYS[found[1]], today),
    ),
    (rf"{_BEFORE}(?:지난|저번) ?주 ?{_KOREAN_DAY}", _of_week("ko", 1)),
    (rf"{_BEFORE}이번 ?주 ?{_KOREAN_DAY}", _of_week("ko", 0)),
    (rf"{_BEFORE}(?:지난|저번|이번) ?주말", _weekend),
    (rf"{_BEFORE}(?:지난|저번) ?주{_AFTER}", lambda _, today: _week(today, 1)),
    (rf"{_BEFORE}(?:이번 ?주|금주){_AFTER}", lambda _, today: _week(today, 0)),
    (rf"{_BEFORE}(?:지난|저번) ?달{_AFTER}", lambda _, today: _month(today, 1)),
    (rf"{_BEFORE}이번 ?달{_AFTER}", lambda _, today: _month(today, 0)),
    (rf"{_BEFORE}재작년{_AFTER}", lambda _, today: _year(today, 2)),
    (rf"{_BEFORE}(?:작년|지난 ?해){_AFTER}", lambda _, today: _year(today, 1)),
    (rf"{_BEFORE}(?:올해|올 해|금년|이번 ?해){_AFTER}", lambda _, today: _year(today, 0)),
    (rf"{_BEFORE}(?:지난|저번) ?{_KOREAN_DAY}", _latest("ko")),
    (rf"{_BEFORE}이번 ?{_KOREAN_DAY}", _latest("ko", today_too=True)),
)
"""Phrase → the days it names; a longer phrase before one that is part of it."""
_WRITTEN_OUT = re.compile(
    rf"\b(?:[12][0-9]{{3}}\b|{_MONTH}\.? [0-9]|[0-9]{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b)|[0-9]월",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"yesterday|today|tonight|\b(?:last|past|this|previous|ago|earlier|back)\b|어제|어저께|어젯|간밤|오늘|그제|저께|전|"
    r"지난|저번|이번|최근|금주|작년|올 ?해|금년",
    re.IGNORECASE,
)
"""In every question that has one of the phrases."""
