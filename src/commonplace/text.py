"""Unicode in one place: what a text may hold, what of it may be printed, and where its words are.

The tokeniser's ranges are written out instead of using `\\w`, whose tables change with Python's Unicode version: the
words of a memory must be the same on every machine.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape
from typing import Any, TextIO

LATIN = "a-z0-9\u00df-\u00f6\u00f8-\u00ff\u0100-\u017f"
HANGUL = "\uac00-\ud7a3\u3131-\u318e"
OTHER_LETTERS = "\u0370-\u03ff\u0400-\u052f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"

_CONTROL = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINER = re.compile(f"(?<![{_EMOJI}\ufe0f])\u200d|\u200d(?![{_EMOJI}])")
"""A zero-width joiner that is not between two emoji."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"[ \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_UNCLEAN = re.compile(
    "  |[\u0000-\u001f\u007f-\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2069\u3000\ud800-\udfff\ufeff]"
)
"""What `clean` may have to change: every character of the patterns above, and two spaces."""
_UNPRINTABLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What can steer a terminal, turn the direction of writing, or hide: all control characters but tab and new line."""
_BETWEEN = re.compile("(?<=[.!?\u2026])[\"\u201d\u2019']*[ \n]+")
"""Where a sentence ends and another one begins."""
_SENTENCE = 400
"""Characters of a text whose words are kept."""
_WORD = re.compile(f"[{LATIN}]+(?:'[{LATIN}]+)?|[{HANGUL}]+|[{OTHER_LETTERS}]+")


def clean(text: str) -> str:
    """Returns the text in NFC, in one line and without characters that hide or steer. Surrogates become U+FFFD.

    Control, bidi and zero-width characters are removed, except joiners in an emoji. Runs of blanks become one
    space; the ends are trimmed.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")  # most texts, and nothing else needs doing
    if not _UNCLEAN.search(text) and unicodedata.is_normalized("NFC", text):
        return text.strip(" ")  # nearly all others: those with quotation marks or accents
    text = unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", text))
    return _BLANK.sub(" ", _JOINER.sub("", _CONTROL.sub("", _BLANK.sub(" ", text)))).strip()


SHORTEST_NAME = 3
"""Letters of a word that may stand for a whole name."""


def plain_name(name: str) -> str:
    """Returns a name as it is looked for in a text: its words in lower case, without an article."""
    return " ".join(words(name.removeprefix("The ").removeprefix("the ")))


def name_forms(name: str) -> Iterator[str]:
    """Yields the forms of a name, the whole first: `Mira's Noodle Bar` → itself, `noodle bar`, `bar`."""
    yield plain_name(name)
    _, owner, rest = name.partition("'s ")
    parts = words(rest if owner else name)
    for first in range(len(parts)):
        form = " ".join(parts[first:])
        if len(form) >= SHORTEST_NAME:
            yield form


def printable(text: str) -> str:
    """Returns the text without what can steer a terminal, turn the direction of writing or hide; lines and blanks stay.

    For whole outputs. A text from outside that is part of a line needs `clean`, which removes new lines as well.
    """
    if _UNPRINTABLE.search(text) is None and _SURROGATE.search(text) is None and "\u200d" not in text:
        return text
    return _JOINER.sub("", _UNPRINTABLE.sub("", _SURROGATE.sub("\ufffd", text)))


def one_line(text: str) -> str:
    """Does the same as `printable`, with new lines and tabs as blanks: nothing in a line can begin another one."""
    return printable(text).replace("\n", " ").replace("\t", " ")


def printable_json(text: str) -> str:
    """Returns JSON in which the same characters are written as `\\uXXXX`: its value does not change."""
    for pattern in (_UNPRINTABLE, _JOINER, _SURROGATE):
        text = pattern.sub(lambda found: json.dumps(found.group())[1:-1], text)
    return text


class PrintableStream:
    """A text stream to which only printable text is written. `styled` is the stream itself, for styles of our own."""

    def __init__(self, styled: TextIO) -> None:
        self.styled = styled

    def write(self, text: str) -> int:
        """Writes the text without what is not printable; returns the number of characters it had."""
        self.styled.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError("bytes would not be looked at")
        return getattr(self.styled, name)


class NotebookText(str):
    """A text of several lines, which a notebook shows as it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def html_table(head: Iterable[str], rows: Iterable[Iterable[object]], note: str = "") -> str:
    """Returns a table for a notebook; None is an empty cell."""
    texts = (["" if value is None else escape(str(value)) for value in row] for row in rows)
    cells = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in row)}</tr>" for row in texts)
    below = f"<p>{escape(note)}</p>" if note else ""
    titles = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{cells}</tbody></table>{below}"


def words(text: str) -> tuple[str, ...]:
    """Returns the words of a text in lower case, in order: runs of Latin letters and digits, of Hangul, of others."""
    return _words(text) if len(text) <= _SENTENCE else tuple(_WORD.findall(text.lower()))


@lru_cache(maxsize=4096)  # a sentence is rated, felt, embedded and searched for facts
def _words(text: str) -> tuple[str, ...]:
    return tuple(map(sys.intern, _WORD.findall(text.lower())))  # sentences share their words


def is_named(name: str, text: str) -> bool:
    """Tells whether a text has a name in it. In Latin letters it must stand by itself: `Jun` is not in `June`."""
    return name in text and (name[-1:] >= "\u1100" or re.search(rf"\b{re.escape(name)}\b", text) is not None)


def sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences of a text, in order, each with its mark. A text without one is one sentence."""
    return tuple(part for part in _BETWEEN.split(text.strip()) if part)


def without_password(url: str) -> str:
    """Returns the address of a server as it may be shown."""
    return re.sub(r"(?i)(password=)[^&\s#]*", r"\1…", re.sub(r"(://[^:/@?#]*):[^?#]*@", r"\1@", url))


def without_secrets(text: str, url: str) -> str:
    """Returns what somebody says of the address of a server, without any part of its password, which may be quoted."""
    found = re.search(r"://[^:/@?#]*:([^?#]*)@", url), re.search(r"(?i)password=([^&\s#]*)", url)
    secrets = [secret[1] for secret in found if secret]
    parts = {part for secret in secrets for part in (secret, *re.split(r"[@:/%]", secret)) if len(part) > 1}
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, "…")
    return text


def shortened(text: str, limit: int) -> str:
    """Cuts a text to at most `limit` characters, at a space if there is one in the last third, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 2 // 3 else cut).rstrip() + "…"
