"""Korean particles, whose form depends on the sound before them.

A template writes both forms, as printed forms do: `은(는)`, `이(가)`, `을(를)`, `과(와)`, `(으)로`, `(이)다`.
"""

from __future__ import annotations

import re

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_RIEUL = 8
_DIGIT_FINALS = {"0": 21, "1": _RIEUL, "3": 16, "6": 1, "7": _RIEUL, "8": _RIEUL}
"""Final sounds of the digits as they are read: 영, 일, 삼, 육, 칠, 팔; the others end in a vowel."""
_CHOICES = {"은(는)": ("은", "는"), "이(가)": ("이", "가"), "을(를)": ("을", "를"), "과(와)": ("과", "와")}
_NOUNS = ("이야기", "경기", "고기", "감기", "공기", "악기", "무기", "전기", "일기", "연기", "사기")
"""Nouns in -기 that name things, not activities."""
_MARK = re.compile(r"(.)(은\(는\)|이\(가\)|을\(를\)|과\(와\)|\(으\)로|\(이\)다|\(이\)었다)")


def resolved(text: str) -> str:
    """The text with each pair of forms decided by the syllable before it; after any other letter both forms stay."""
    return _MARK.sub(_decided, text) if "(" in text else text  # every mark has one


def ongoing(doing: str) -> str:
    """An activity as a noun phrase that a sentence can continue: `그물 손질하기` → `그물 손질하는 중`."""
    if not doing.endswith("기") or len(doing) < 2 or doing.endswith(_NOUNS) or _final(doing[-2]) is None:
        return doing
    stem = doing[:-1]
    if _final(stem[-1]) == _RIEUL:  # 만들기 → 만드는 중
        stem = stem[:-1] + chr(ord(stem[-1]) - _RIEUL)
    return f"{stem}는 중"


def _decided(found: re.Match[str]) -> str:
    before, mark = found.groups()
    final = _final(before)
    if final is None:
        return found.group()
    if mark in _CHOICES:
        with_final, without = _CHOICES[mark]
        return before + (with_final if final else without)
    if mark == "(으)로":
        return before + ("로" if final in (0, _RIEUL) else "으로")
    if mark == "(이)었다":
        return before + ("이었다" if final else "였다")
    return before + ("이다" if final else "다")


def _final(letter: str) -> int | None:
    """Number of the final consonant, 0 for none; None where the sound is not known."""
    if _FIRST <= ord(letter) <= _LAST:
        return (ord(letter) - _FIRST) % _FINALS
    return _DIGIT_FINALS.get(letter, 0) if letter.isascii() and letter.isdigit() else None
