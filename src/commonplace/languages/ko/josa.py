"""Korean particles, whose form depends on the sound before them.

A template writes both forms, as printed forms do: `은(는)`, `이(가)`, `을(를)`, `과(와)`, `아(야)`, `(으)로`, `(이)다`.
`(이)` may stand before any ending: `(이)랑`, `(이)라고`, `(이)에요`. Latin letters count as they are mostly read.
"""

from __future__ import annotations

import re

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_RIEUL = 8
_DIGIT_FINALS = {"0": 21, "1": _RIEUL, "3": 16, "6": 1, "7": _RIEUL, "8": _RIEUL}
"""Final sounds of the digits as they are read: 영, 일, 삼, 육, 칠, 팔; the others end in a vowel."""
_CHOICES = {
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "아(야)": ("아", "야"),
}
_NOUNS = ("이야기", "경기", "고기", "감기", "공기", "악기", "무기", "전기", "일기", "연기", "사기")
"""Nouns in -기 that name things, not activities."""
_AFTER_VOWEL = {"이에요": "예요", "이었": "였", "이어": "여"}
"""Endings of 이다 that contract with a vowel before them."""
_MARK = re.compile(
    r"(?P<before>.)(?P<closing>[\"”’')\]]*)"
    r"(?P<mark>은\(는\)|이\(가\)|을\(를\)|과\(와\)|아\(야\)|\(으\)로|\(이\)(?P<ending>에요|었|어)?)"
)


def resolved(text: str) -> str:
    """Returns the text with each pair of forms decided by the sound before it; after a letter of unknown sound both
    forms stay."""
    return _MARK.sub(_decided, text) if "(" in text else text  # every mark has one


def ongoing(doing: str) -> str:
    """Returns an activity as a noun phrase that a sentence can continue: `그물 손질하기` → `그물 손질하는 중`."""
    if not doing.endswith("기") or len(doing) < 2 or doing.endswith(_NOUNS) or _final(doing[-2]) is None:
        return doing
    stem = doing[:-1]
    if _final(stem[-1]) == _RIEUL:  # 만들기 → 만드는 중
        stem = stem[:-1] + chr(ord(stem[-1]) - _RIEUL)
    return f"{stem}는 중"


_ONGOING = re.compile(r"(\S*[가-힣])는 중(?:이다|입니다|이에요)?$")


def planned(doing: str) -> str:
    """Returns the inverse of `ongoing`: `국물을 내는 중` → `국물을 내기`; any other text does not change."""
    return _ONGOING.sub(lambda found: f"{whole(found[1])}기", doing)


_LOSE_RIEUL = frozenset("우노여거부도파아푸써다미조머")
"""Stems of one syllable that lose their ㄹ before ㄴ: 울다, 놀다, 열다; `드` does so at the end of any: 만들다."""


def whole(stem: str) -> str:
    """Returns a stem with the ㄹ that it lost before ㄴ: `만드` → `만들`, `문을 여` → `문을 열`."""
    word = stem.rsplit(" ", 1)[-1]
    return stem[:-1] + chr(ord(stem[-1]) + _RIEUL) if word in _LOSE_RIEUL or word.endswith("드") else stem


def _decided(found: re.Match[str]) -> str:
    before, mark, ending = found["before"], found["mark"], found["ending"] or ""
    sound = _final(before) if not before.isascii() or not before.isalpha() else _latin_final(found)
    if sound is None:
        return found.group()
    start = before + found["closing"]
    if mark in _CHOICES:
        with_final, without = _CHOICES[mark]
        return start + (with_final if sound else without)
    if mark == "(으)로":
        return start + ("로" if sound in (0, _RIEUL) else "으로")
    if sound:
        return f"{start}이{ending}"
    return start + _AFTER_VOWEL.get(f"이{ending}", ending)


def _latin_final(found: re.Match[str]) -> int:
    """Returns the final sound of a word in Latin letters as it is usually read: `Kim` has one, `Mira` and `Ines`
    none."""
    text, end = found.string.lower(), found.end("before")
    last, before = text[end - 1], text[end - 2] if end > 1 else ""
    if last == "l":
        return _RIEUL
    if last in "mn" or text[end - 2 : end] in ("ng", "ck"):
        return 1
    return 1 if last in "bckpt" and before in "aeiou" and before else 0


def _final(letter: str) -> int | None:
    """Returns the number of the final consonant, 0 for none; None if the sound is unknown."""
    if _FIRST <= ord(letter) <= _LAST:
        return (ord(letter) - _FIRST) % _FINALS
    return _DIGIT_FINALS.get(letter, 0) if letter.isascii() and letter.isdigit() else None
