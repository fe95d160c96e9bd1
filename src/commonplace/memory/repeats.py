"""Memories that say the same in nearly the same words, of which a list of hits needs one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from commonplace.memory.blend import is_question
from commonplace.memory.record import Memory
from commonplace.text import HANGUL, words

_IDLE = frozenset(("a", "an", "the", "oh", "ah", "um", "uh", "hmm", "please", "음", "아", "응", "네", "그냥"))
"""Words without which a text says the same. `Not`, `on` and `from` are not among them, nor is any number."""
_SHORT = (("n't", " not"), ("'m", " am"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))
_SPACED = re.compile(f"(?<=[{HANGUL}]) (?=[{HANGUL}])")


def wording(memory: Memory) -> tuple[str, bool, str]:
    """Returns what two memories have in common if one says the same as the other.

    That is who says it, whether it asks, and its words in order, apart from capitals, punctuation, articles,
    interjections, English contractions, the spaces between Korean words and a polite 요 at the end.
    """
    text = memory.full_text.lower().replace("’", "'")
    for short, long in _SHORT:
        text = text.replace(short, long)
    left = " ".join(word for word in words(text) if word not in _IDLE)
    return memory.source, is_question(memory.text), _SPACED.sub("", left).removesuffix("요") or text


def first_of_each(ranked: Iterable[int], record: Callable[[int], Memory], most: int | None) -> dict[int, list[int]]:
    """Returns the first `most` rows that say something of their own, each with the rows between that only repeat
    it."""
    seen: dict[tuple[str, bool, str], int] = {}
    found: dict[int, list[int]] = {}
    for row in ranked:
        first = seen.setdefault(wording(record(row)), row)
        if first != row:
            found[first].append(row)
        elif len(found) == most:
            break
        else:
            found[row] = []
    return found
