"""A mistake in a scenario file: where it stands, what is wrong, what was expected, and the nearest valid name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from commonplace.scenario.plain import Path, below

LISTED = 12
"""Valid names shown when none of them is near the wrong one."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing to mend."""

    file: str
    line: int
    """From 1; 0 when it belongs to no line."""
    where: str
    """`characters › mira › routine › 2 › place`; list positions count from 1. Empty for the whole file."""
    what: str
    """A clause without a full stop: `there is no area "nodle_bar"`."""
    expected: str = ""
    """What would be right; empty when `what` says it."""
    nearest: str = ""
    """The valid name that is most like the wrong one; empty when none is like it."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        where = f"{self.where}: " if self.where else ""
        if self.nearest:
            return f'{place}{where}{self.what} — did you mean "{self.nearest}"?'
        return f"{place}{where}{self.what}{f' — expected {self.expected}' if self.expected else ''}"


def report(mistakes: Iterable[Mistake]) -> str:
    """The mistakes as text, one line each, in the order given."""
    return "\n".join(str(mistake) for mistake in mistakes)


def nearest(name: str, valid: Iterable[str]) -> str:
    """The valid name most like this one, upper and lower case alike; empty when none is."""
    by_folded = {one.lower(): one for one in valid}
    found = get_close_matches(name.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def choice(valid: Collection[str]) -> str:
    """`a, b or c`; of a long list only the beginning, and how many there are."""
    names = sorted(valid)
    if len(names) > LISTED:
        return f"one of {len(names)} names such as {', '.join(names[:LISTED])}"
    if len(names) < 2:
        return names[0] if names else "a name that is defined; there is none yet"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def label(document: object, path: Path) -> str:
    """The path as a person reads it: an item that has an id is called by it, any other by its number from 1."""
    words: list[str] = []
    here = document
    for key in path:
        here = below(here, key)
        words.append(_id(here) or str(key + 1) if isinstance(key, int) else key)
    return " › ".join(words)


def _id(item: object) -> str:
    named = below(item, "id")
    return named if isinstance(named, str) else ""
