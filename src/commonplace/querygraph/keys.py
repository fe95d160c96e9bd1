"""What makes two questions the same: the normalised text and its hash.

Spaces never count, because Korean is written with and without them; neither do case, width and most punctuation.
Marks that change what is meant stay: `3.5`, `10:30`, `C++`, `C#`, `50%`, `-5`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from xxhash import xxh3_128_hexdigest

from commonplace.querygraph.arguments import string
from commonplace.text import clean

NORM_VERSION = 1
"""Rises when `normalised` gives another text for any input; keys of another version are made again from the texts."""

CANONICAL: dict[str, Any] = {"norm_version": NORM_VERSION, "hash_algo": "xxh3-128", "seed": 0}
"""How keys are made; stored with every snapshot and checkpoint."""

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MARKS = re.compile(
    r"(?<=\d)\s*([.,:/+*-])\s*(?=\d)"  # within a number, a date, a time or a sum
    r"|(?<=\w)([+#]+)(?!\w)"  # C++, C#
    r"|(?<=\d)\s*(%)"
    r"|(?<!\w)(-)(?=\d)"
    r"|[\W_]"
)


@lru_cache(maxsize=4096)
def normalised(text: str) -> str:
    """Returns the text in NFKC, case folded, without spaces and punctuation; of pure punctuation, all of it."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", clean(text)).casefold())
    bare = _MARKS.sub(_kept, _THOUSANDS.sub("", folded))
    return bare or "".join(folded.split())


def _kept(found: re.Match[str]) -> str:
    if found.lastindex:
        return found[found.lastindex]
    return found[0] if unicodedata.category(found[0]).startswith("M") else ""  # vowel signs of Indic scripts and Thai


def canonical_key(text: str) -> str:
    """Returns 32 hexadecimal digits: xxh3-128 of the normalised text."""
    return hashed(normalised(string(text, "the text")))


def hashed(*parts: str) -> str:
    """Returns xxh3-128 of the parts, as 32 hexadecimal digits."""
    return xxh3_128_hexdigest("\0".join(parts).encode(), seed=CANONICAL["seed"])
