"""Seed facts: news that can be followed through a society by the words that carry it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from commonplace.text import words

EXAMINED = 65_536
"""Texts whose result is cached."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A text *carries* the fact when one word or phrase of every group occurs in it.

    `groups` are per language. `place`, `starts` and `minutes` make it an event somebody can go to, shown as `emoji`.
    `tell` lists ways to say it, per language; each carries the fact.
    """

    id: str
    text: Mapping[str, str]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    originators: tuple[str, ...] = ()
    place: str = ""
    starts: datetime | None = None
    minutes: int = 0
    emoji: str = ""
    tell: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _examined: dict[str, tuple[str, ...]] = field(init=False, default_factory=dict[str, tuple[str, ...]], compare=False)
    """Cache: the same memories are examined again and again."""

    def said_in(self, language: str) -> str:
        """Returns its text in a language; the first text if it has none in that language."""
        return self.text.get(language) or next(iter(self.text.values()))

    def goes_on(self, at: datetime) -> bool:
        """Tells whether it is an event that goes on at a moment; an event without a length lasts an hour."""
        return self.starts is not None and self.starts <= at < self.starts + timedelta(minutes=self.minutes or 60)

    def carried_by(self, text: str) -> bool:
        """Tells whether a text carries the fact, in the words of any one language."""
        return bool(self.carrying_words(text))

    def carrying_words(self, text: str) -> tuple[str, ...]:
        """Returns the words of the text that carry it, one for each group; empty if the text does not carry it."""
        found = self._examined.get(text)
        if found is None:
            found = next((spoken for groups in self.groups.values() if (spoken := _matches(text, groups))), ())
            if len(self._examined) >= EXAMINED:
                self._examined.clear()
            self._examined[text] = found
        return found


def carried(facts: Sequence[Fact], text: str) -> tuple[str, ...]:
    """Returns the ids of the facts that the text carries, in the scenario's order."""
    return tuple([fact.id for fact in facts if fact.carrying_words(text)])


def _matches(text: str, groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    spoken = f" {' '.join(words(text))} "
    found: list[str] = []
    for group in groups:
        word = next((word for word in group if _sought(word) in spoken), None)
        if word is None:
            return ()
        found.append(word)
    return tuple(found)


@lru_cache(maxsize=64)  # all facts are looked for in a text, one after the other
@lru_cache(maxsize=4096)
def _sought(word: str) -> str:
    """Returns what to search for in a text. Latin words match whole, Korean ones as the beginning of a word, since
    particles follow them."""
    folded = " ".join(words(word))
    is_korean = any("\uac00" <= letter <= "\ud7a3" for letter in folded)
    return f" {folded}" if is_korean else f" {folded} "
