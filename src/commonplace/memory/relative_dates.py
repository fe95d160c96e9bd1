"""The days that a question names from where it stands: yesterday, last Monday, two weeks ago, 어제, 지난주, 작년."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from commonplace.languages import months, weekdays
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
_AFTER = f"(?:에|에는|엔|에도|에만|의|은|는|도|만|부터|까지|동안|간|쯤|과|와|이?랑|하고)?(?![{HANGUL}])"
"""A particle, and then the word is over: `이번 주` but not `이번 주문`."""
_UNIT = "(days?|nights?|weeks?|fortnights?|months?|years?)"
_ENGLISH_DAY = f"({'|'.join(weekdays('en'))})".lower()
_MONTH = f"(?:{'|'.join(months('en'))})"
_KOREAN_DAY = "([월화수목금토일](?:요일|욜))"
_PART = "(?:morning|afternoon|evening|night)"
_NO_LATEST = "".join(f"(?<!{word} )" for word in ("every", "each", "any", "next", "coming"))
_NO_LATEST_KO = "".join(f"(?<!{word} )" for word in ("매주", "다음", "다음주", " 주", "오는", "어느", "어떤", "모든"))


def _with_final(number: int, but: str = "") -> str:
    """Returns the Hangul syllables that end in this final sound (8 ㄹ, 20 ㅆ)."""
    return "".join(syllable for syllable in map(chr, range(0xAC00 + number, 0xD7A4, 28)) if syllable not in but)


class Dated(NamedTuple):
    """A question whose words for days are read."""

    days: tuple[date, ...]
    """In order, none after the question; empty if it names none."""
    rest: str
    """The question without the words that name them."""
    longer: tuple[date, ...] = ()
    """The same as `days`, of spans longer than `LONGEST`."""


def dated(question: str, at: datetime) -> Dated:
    """Returns the days that words of the question name from `at`.

    English and Korean. Weeks begin on Monday; days are those of `at` (UTC), as those of memories are. `last Monday` is
    the latest before today, and so is `on Monday`, unless the question is about what is to come. Dates that are written
    out are not of this sort: `Analyser` reads them, and beside one of them relative words count from there (`the week
    before 4 October`), so they name nothing here.
    """
    if not _readable(question):
        return Dated((), question)
    today, found, longer, rest = at.date(), set[date](), set[date](), question
    for pattern, read in _phrases():
        while phrase := pattern.search(rest):
            open_ended = _is_open(phrase)
            rest = f"{rest[: phrase.start()]} {rest[phrase.end() :]}"
            with suppress(OverflowError):  # before the year 1
                first, last = read(phrase, today)
                if open_ended and (today - first).days < _YEAR:
                    last = today
                size, count = (last - first).days + 1, (min(last, today) - first).days + 1
                if size <= _YEAR:
                    (found if size <= LONGEST else longer).update(first + timedelta(days) for days in range(count))
    return Dated(tuple(sorted(found)), rest if found or longer else question, tuple(sorted(longer)))


def _is_open(phrase: re.Match[str]) -> bool:
    """Returns whether it means all days since then: `since Monday`, `월요일부터`."""
    before, after = phrase.string[: phrase.start()].lower(), phrase.string[phrase.end() :]
    return before.endswith(("since ", "since the ")) or phrase[0].endswith("부터") or after.startswith("부터")


@lru_cache(maxsize=256)
def _readable(question: str) -> bool:
    """Returns whether the question may have such words and has no date that is written out."""
    return bool(_ANY.search(question)) and not _WRITTEN_OUT.search(question)


@cache
def _phrases() -> list[tuple[re.Pattern[str], Reader]]:
    """Compiles the phrases when a question first needs them, which makes the program start sooner."""
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


def _weekend(weeks: int) -> Reader:
    """Returns the weekend so many weeks before the latest one that began before today."""

    def read(_: re.Match[str], today: date) -> Span:
        saturday = today - timedelta(((today.weekday() - 5) % 7 or 7) + 7 * weeks)
        return saturday, saturday + timedelta(1)

    return read


def _latest(language: str, *, today_too: bool = False, weeks: int = 0) -> Reader:
    """Returns the latest such weekday, or that many weeks before it."""

    def read(found: re.Match[str], today: date) -> Span:
        back = (today.weekday() - _weekday(language, found[1])) % 7
        return _day(today, (back if back or today_too else 7) + 7 * weeks)

    return read


def _bare(language: str) -> Reader:
    """Returns the latest such weekday, or no day in a question about what is to come."""
    latest = _latest(language)

    def read(found: re.Match[str], today: date) -> Span:
        return (today + timedelta(1), today) if re.search(_TO_COME, found.string) else latest(found, today)

    return read


def _of_week(language: str, weeks: int, group: int = 1) -> Reader:
    """Returns that day of this week or an earlier one."""

    def read(found: re.Match[str], today: date) -> Span:
        day = _week(today, weeks)[0] + timedelta(_weekday(language, found[group]))
        return day, day

    return read


def _weekday(language: str, name: str) -> int:
    return [one.lower() for one in weekdays(language)].index(name.lower().replace("욜", "요일"))


def _number(word: str, known: Mapping[str, int]) -> int:
    return known.get(word.lower()) or int(word)


def _back(unit: str, count: int, today: date) -> Span:
    """Returns the day so many days, weeks, months or years ago; for weeks also the days around it."""
    if unit.lower().startswith(("year", "년")):
        return _year(today, count)
    if unit.lower().startswith(("month", "달", "개월")):
        return _month(today, count)
    if unit.lower().startswith(("week", "주")):
        return _day(today, 7 * count, 3)
    if unit.lower().startswith("fortnight"):
        return _day(today, 14 * count, 3)
    return _day(today, count)


def _few(found: re.Match[str], today: date) -> Span:
    """Returns a few days, weeks or months ago: some four days, three weeks, three months."""
    unit = found[1].lower()
    if unit.startswith(("month", "달", "개월")):
        return _day(today, 90, 30)
    return _day(today, 21, 7) if unit.startswith(("week", "주")) else _day(today, 4, 2)


def _within(unit: str, count: int, today: date) -> Span:
    """Returns the last so many days, weeks, fortnights, months or years up to today."""
    days = {"d": 1, "n": 1, "일": 1, "w": 7, "주": 7, "f": 14, "y": 365, "년": 365}.get(unit[0].lower(), 30)
    return _day(today, min(count, _FURTHEST) * days)[0], today


_READERS: tuple[tuple[str, Reader], ...] = (
    (r"\bday before yesterday\b|\bnight before last\b", _ago(2)),
    (r"\b(?:yesterday|last (?:night|evening))\b", _ago(1)),
    (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", _ago(0)),
    (r"\bthe other (?:day|night|morning|afternoon|evening)\b", _ago(4, 2)),
    (r"\b(?:(?:a )?few|several) (days|nights|weeks|months) (?:ago|earlier|back)\b", _few),
    (r"\bhalf a year ago\b", lambda _, today: _month(today, 6)),
    (
        rf"\b(?:the |a )?{_NUMBER} (?:of )?{_UNIT} (?:ago|earlier|back)\b",
        lambda found, today: _back(found[2], _number(found[1], _ENGLISH), today),
    ),
    (
        rf"\b(?:last|past) {_NUMBER} (?:of )?{_UNIT}\b",
        lambda found, today: _within(found[2], _number(found[1], _ENGLISH), today),
    ),
    (r"\b(?:last|past) few days\b", lambda _, today: _within("day", 5, today)),
    (r"\b(?:last|past) few (weeks|months)\b", lambda found, today: _within(found[1], 3, today)),
    (rf"\blast week(?: on|'s|,)? {_ENGLISH_DAY}\b", _of_week("en", 1)),
    (rf"\b{_ENGLISH_DAY} (?:of )?last week\b", _of_week("en", 1)),
    (r"\bweek before last\b", lambda _, today: _week(today, 2)),
    (r"\bweekend before last\b", _weekend(1)),
    (r"\bmonth before last\b", lambda _, today: _month(today, 2)),
    (r"\byear before last\b", lambda _, today: _year(today, 2)),
    (rf"\b{_ENGLISH_DAY} before last\b", _latest("en", weeks=1)),
    (
        r"\b(?:past|(?:in|over|during|within|for) the last|last(?= fortnight)) (day|week|fortnight|month|year)\b"
        r"(?! of\b)",
        lambda found, today: _within(found[1], 1, today),
    ),
    (r"\b(?:last|previous) week\b", lambda _, today: _week(today, 1)),
    (r"\bthis week\b", lambda _, today: _week(today, 0)),
    (r"\b(?:last|this|past) weekend\b", _weekend(0)),
    (r"\b(?:last|previous) month\b", lambda _, today: _month(today, 1)),
    (r"\bthis month\b", lambda _, today: _month(today, 0)),
    (r"\b(?:last|previous) year\b", lambda _, today: _year(today, 1)),
    (r"\bthis year\b", lambda _, today: _year(today, 0)),
    (rf"\b(?:last|past|previous) {_ENGLISH_DAY}\b", _latest("en")),
    (rf"\bthis {_ENGLISH_DAY}\b", _latest("en", today_too=True)),
    (
        rf"{_NO_LATEST}(?:\bon |(?<=\bsince )|\b(?=\w+ {_PART}\b)){_ENGLISH_DAY}\b"
        rf"(?! (?:next|week|{_PART}s)\b|,? (?:the )?[0-9])",
        _bare("en"),
    ),
    (rf"{_BEFORE}그끄(?:저께|제){_AFTER}", _ago(3)),
    (rf"{_BEFORE}(?:엊그제|엊그저께)", _ago(2, 1)),
    (rf"{_BEFORE}(?:그저께|그제(?!야|서)|그젯밤)", _ago(2)),
    (rf"{_BEFORE}(?:어제|어저께|어젯밤|엊저녁|간밤|지난 ?밤{_AFTER})", _ago(1)),
    (rf"{_BEFORE}(?:오늘(?!날)|아까)", _ago(0)),
    (rf"{_BEFORE}(?:며칠|몇일) ?전", _ago(4, 2)),
    (rf"{_BEFORE}몇 ?(주|달|개월) ?전", _few),
    (rf"{_BEFORE}(?:요|최근|지난) ?며칠{_AFTER}", lambda _, today: _within("일", 5, today)),
    (rf"{_BEFORE}({'|'.join(_KOREAN_DAYS)}) ?전", lambda found, today: _day(today, _KOREAN_DAYS[found[1]])),
    (rf"{_BEFORE}일주일 ?전", _ago(7, 3)),
    (rf"{_BEFORE}반 ?년 ?전", lambda _, today: _month(today, 6)),
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
    (rf"{_BEFORE}(?:지지난|저저번) ?주 ?{_KOREAN_DAY}", _of_week("ko", 2)),
    (rf"{_BEFORE}(?:지난|저번) ?주 ?{_KOREAN_DAY}", _of_week("ko", 1)),
    (rf"{_BEFORE}이번 ?주 ?{_KOREAN_DAY}", _of_week("ko", 0)),
    (rf"{_BEFORE}(?:지지난|저저번) ?주말", _weekend(1)),
    (rf"{_BEFORE}(?:지난|저번|이번) ?주말", _weekend(0)),
    (rf"{_BEFORE}(?:지지난|저저번) ?주{_AFTER}", lambda _, today: _week(today, 2)),
    (rf"{_BEFORE}(?:지난|저번) ?주{_AFTER}", lambda _, today: _week(today, 1)),
    (rf"{_BEFORE}(?:이번 ?주|금주){_AFTER}", lambda _, today: _week(today, 0)),
    (rf"{_BEFORE}(?:지지난|저저번) ?달{_AFTER}", lambda _, today: _month(today, 2)),
    (rf"{_BEFORE}(?:지난|저번) ?달{_AFTER}", lambda _, today: _month(today, 1)),
    (rf"{_BEFORE}(?:이번 ?달|이달){_AFTER}", lambda _, today: _month(today, 0)),
    (rf"{_BEFORE}재작년{_AFTER}", lambda _, today: _year(today, 2)),
    (rf"{_BEFORE}(?:작년|지난 ?해){_AFTER}", lambda _, today: _year(today, 1)),
    (rf"{_BEFORE}(?:올해|올 해|금년|이번 ?해){_AFTER}", lambda _, today: _year(today, 0)),
    (rf"{_BEFORE}(?:지지난|저저번) ?{_KOREAN_DAY}", _latest("ko", weeks=1)),
    (rf"{_BEFORE}(?:지난|저번) ?{_KOREAN_DAY}", _latest("ko")),
    (rf"{_BEFORE}이번 ?{_KOREAN_DAY}", _latest("ko", today_too=True)),
    (rf"{_BEFORE}{_NO_LATEST_KO}{_KOREAN_DAY}(?:날|아침|점심|저녁|밤|낮|오전|오후|새벽)?{_AFTER}", _bare("ko")),
)
"""Phrase → the days it names; a longer phrase before one that is part of it."""
_TO_COME = (
    r"\b(?:will|shall|going to|plan|plans|planning|next|tomorrow)\b|^Will\b|'ll\b|"
    r"\b(?:am|[Ii]s|[Aa]re) (?:\w+ ){0,2}\w+ing\b|내일|모레|다음|"
    rf"(?<![{_with_final(20)}])[{_with_final(8, but='일')}] ?(?:거(?:야|예요|에요|니|지|냐|죠)|건가|까|예정|계획)"
)
"""In questions about what is to come: `on Monday` is then the next one. `왔을까` asks about the past."""
_WRITTEN_OUT = re.compile(
    rf"\b(?:[12][0-9]{{3}}\b|{_MONTH}\.? [0-9]|[0-9]{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b)|[0-9]월",
    re.IGNORECASE,
)
_ANY = re.compile(
    rf"yesterday|today|tonight|\b(?:last|past|this|previous|ago|earlier|back|other|{_ENGLISH_DAY})\b|"
    r"어제|어저께|어젯|엊|간밤|오늘|아까|그제|그젯|저께|전|며칠|지난|저번|이번|이달|최근|금주|작년|올 ?해|금년|요일|욜",
    re.IGNORECASE,
)
"""In every question that has one of the phrases."""
