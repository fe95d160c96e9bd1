"""The words of a text in any script, and the tokens of a word of a script without an analysis of its own.

What is a letter, a mark or a digit is read from `letters.txt`, which `tools/letters.py` writes: Python's own tables
change with its version. Hangul is left to `analyser.py`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from unicodedata import combining, is_normalized, normalize

from commonplace.text import HANGUL

FOLDED = 0.5
"""How much a word without its accents counts in a question, besides the word itself."""
CHARACTER = 0.5
"""How much a single ideograph counts, besides the pairs."""
PART = 0.5
"""How much each part of a word counts, and the whole."""
INSIDE = "~"
"""In front of a part of a word, which no whole word begins with."""

_LATIN = (
    "a-z0-9\u00df-\u00f6\u00f8-\u024f\u0250-\u02af\u1d00-\u1dbf\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua787\ua78b-\ua7ff"
    "\uab30-\uab64"
)
_ACCENTS = "\u0300-\u036f\u1dc0-\u1dff"
_IDEOGRAPHS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_KANA = f"{_IDEOGRAPHS}\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff\uaa60-\uaadf"
"""Thai, Lao, Burmese, Khmer, Tai, Balinese and Javanese: sentences without spaces between words."""
_COMPATIBLE = re.compile("[^\u3131-\u318e]+")
"""Normal forms would take single Hangul letters, as in ㅋㅋ, for parts of syllables."""
_DROPPED = "\u00ad\u055a\u055b\u055c\u055e\u0640\u070f\u180e\u200c\u200d"
"""Signs inside words that are not letters: soft hyphens, Armenian tones, the Arabic stroke, joiners."""
_APOSTROPHES = "\u2018\u2019\u02bb\u02bc\uff07\u05f3\ua78c"
_LATIN_WORD = re.compile(f"[{_LATIN}]")
_RUN = re.compile(f"[{_HAN_KANA}{_UNSPACED}]")
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_ETHIOPIC = re.compile("[\u1200-\u135a]")
_INDIC = re.compile("[\u0900-\u0dff]")
"""Marks that are vowels, not accents."""
_PLAIN = str.maketrans(
    {
        "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
        "ŧ": "t", "ŋ": "ng", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ɛ": "e", "ɔ": "o", "ə": "e", "ς": "σ",
        "ة": "ه", "ى": "ي", "ی": "ي", "ک": "ك", "ٱ": "ا",
    }
)  # fmt: skip
"""Letters that are often written as another one, where it is not a matter of accents."""


@cache
def _signs() -> tuple[re.Pattern[str], dict[str, str]]:
    """Returns what finds a sign that is replaced, and what replaces it: digits of every script by those of ASCII,
    apostrophes, what is dropped."""
    signs = dict.fromkeys(_DROPPED, "") | dict.fromkeys(_APOSTROPHES, "'") | {"״": '"', "ς": "σ"}
    zeros = [int(zero, 16) for zero in _table("zeros")]
    signs |= {chr(zero + digit): str(digit) for zero in zeros for digit in range(10)}
    return re.compile(f"[{''.join(signs)}]"), signs


@cache
def _word() -> re.Pattern[str]:
    letters = "".join(
        f"\\U{int(first, 16):08x}-\\U{int(last, 16):08x}"
        for first, last in (span.split("-") for span in _table("letters"))
    )
    other = f"(?:(?![{_LATIN}{HANGUL}{_HAN_KANA}{_UNSPACED}])[{letters}])+"
    return re.compile(
        f"[{_LATIN}][{_LATIN}{_ACCENTS}]*(?:'[{_LATIN}][{_LATIN}{_ACCENTS}]*)?|[{HANGUL}]+|[{_HAN_KANA}]+|[{_UNSPACED}]+"
        f"|{other}(?:(?:'|(?<=[\u05d0-\u05ea])\"){other})*"
    )


def _table(name: str) -> list[str]:
    lines = (files("commonplace.memory") / "letters.txt").read_text(encoding="ascii").splitlines()
    return next(line.split()[1:] for line in lines if line.startswith(name))


def plain(text: str) -> str:
    """Returns the text in lower case and one form of each character: full-width letters, ligatures and digits of other
    scripts become common ones; signs inside words that are not letters go."""
    if not is_normalized("NFKC", text):
        text = _COMPATIBLE.sub(lambda found: normalize("NFKC", found[0]), text)
    replaced, signs = _signs()
    return replaced.sub(lambda found: signs[found[0]], text.lower())


def segments(text: str) -> list[str]:
    """Returns the words of a plain text, in order. Scripts without spaces give runs of several words."""
    return _word().findall(text)


def without_accents(word: str) -> str:
    """Returns the word with plain letters: `phở` → `pho`."""
    return "".join(one for one in normalize("NFD", word) if not combining(one)).translate(_PLAIN)


_ELIDED = re.compile("[ldjmtsnc]|(?:jus|lors|puis|quoi|pres)?qu|un|(?:a|de|ne|da|su|co|que|be)ll|quest|sant|gl")
"""What French, Italian and Catalan write before an apostrophe, in front of a word that begins with a vowel."""
_CONTRACTED = ("s", "t", "re", "ve", "ll", "d", "m")
"""What English writes behind one. The stemmer knows `'s`."""
_SHORTEST = 3
"""Letters that a word has at least which an apostrophe parts from its ending."""


def without_clitics(word: str) -> str:
    """Returns a Latin word without the short word in front of its apostrophe or the ending behind it: `l'école` →
    `école`, `dell'arte` → `arte`, `istanbul'da` → `istanbul`, `o'brien` → `obrien`. English contractions stay, and
    possessives."""
    before, apostrophe, after = word.partition("'")
    if not apostrophe:
        return word
    if before == "o":
        return before + after
    if _ELIDED.fullmatch(before) and without_accents(after)[:1] in ("a", "e", "i", "o", "u", "h"):
        return after
    return before if len(before) >= _SHORTEST and after not in _CONTRACTED else word


def is_latin(word: str) -> bool:
    """Tells whether a segment is written in Latin letters or digits."""
    return _LATIN_WORD.match(word) is not None


def parts(word: str) -> list[tuple[str, float]]:
    """Returns the tokens of a segment in neither Latin letters nor Hangul, each with how much it counts in a question.

    Han and kana become pairs of characters and single ideographs. Scripts without spaces become pairs of characters. A
    word of another script stays whole, and its runs of three letters (of Ethiopic syllables, two consonants) find it
    under other endings and prefixes.
    """
    if _RUN.match(word):
        alone = CHARACTER if len(word) > 1 else 1.0
        found = [(one, alone) for one in word if len(word) == 1 or _IDEOGRAPH.match(one)]
        return found + [(word[at : at + 2], 1.0) for at in range(len(word) - 1)]
    word = word.replace("'", "").replace('"', "")
    if _ETHIOPIC.match(word):
        bare, size = _ETHIOPIC.sub(_consonant, word), 2
    else:
        bare, size = word if _INDIC.match(word) else without_accents(word), 3
    inside = [INSIDE + bare[at : at + size] for at in range(max(1, len(bare) - size + 1))]
    return [(word, PART), *((one, PART) for one in inside)]


def _consonant(letter: re.Match[str]) -> str:
    """Returns an Ethiopic letter with the first of its vowels, which endings change."""
    return chr(ord(letter[0]) & ~7)
