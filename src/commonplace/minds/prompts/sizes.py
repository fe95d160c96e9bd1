"""How long prompts are, by how often their parts change: what an estimate and the documentation are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from commonplace.memory import estimate_tokens
from commonplace.minds.mind import Ask
from commonplace.minds.prompts.book import PromptBook


@dataclass(frozen=True, slots=True)
class Size:
    """Estimated tokens of one prompt."""

    rules: int
    """The same for every character at every tick."""
    persona: int
    """The same for one character at every tick."""
    instructions: int
    """The same for one character and task."""
    changing: int

    @property
    def total(self) -> int:
        """The whole prompt."""
        return self.rules + self.persona + self.instructions + self.changing


def size(book: PromptBook, ask: Ask[Any, Any]) -> Size:
    """The size of the prompt of one question."""
    parts = book.parts(ask)
    return Size(**{name: estimate_tokens(text) for name, text in parts.items()})


def mean_size(sizes: Iterable[Size]) -> Size:
    """The mean of at least one, rounded up. Raises ZeroDivisionError for none."""
    every = tuple(sizes)
    fields = ("rules", "persona", "instructions", "changing")
    return Size(**{name: -(-sum(getattr(one, name) for one in every) // len(every)) for name in fields})
