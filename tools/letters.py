"""Write which characters are letters and digits anew: src/commonplace/memory/letters.txt.

    python3.11 tools/letters.py

The tables are those of Unicode 14, which the oldest Python that is supported has: with them, a text has the same words
under every Python. Gaps between letters that are not assigned yet count as letters.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "src" / "commonplace" / "memory" / "letters.txt"
UNICODE = "14.0.0"
_SELECTORS = {0x34F, *range(0x20D0, 0x20F1), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
"""Marks that only say how a sign is drawn, as behind emoji."""


def ranges(among: Callable[[str], bool]) -> str:
    """Returns the code points above ASCII that pass, as `first-last` in hexadecimal."""
    found: list[list[int]] = []
    joins = False
    for code in range(0x80, sys.maxunicode + 1):
        character = chr(code)
        if code not in _SELECTORS and among(character):
            if joins:
                found[-1][1] = code
            else:
                found.append([code, code])
            joins = True
        elif unicodedata.category(character) != "Cn":
            joins = False
    return " ".join(f"{first:x}-{last:x}" for first, last in found)


def text() -> str:
    """Returns the content of the file."""
    letters = ranges(lambda character: unicodedata.category(character)[0] in "LM")
    zeros = " ".join(
        f"{code:x}" for code in range(0x80, sys.maxunicode + 1) if unicodedata.decimal(chr(code), None) == 0
    )
    return f"letters {letters}\nzeros {zeros}\n"


if __name__ == "__main__":
    if unicodedata.unidata_version != UNICODE:
        sys.exit(f"this Python has Unicode {unicodedata.unidata_version}; run it with one that has {UNICODE}: 3.11")
    FILE.write_text(text(), encoding="ascii")
