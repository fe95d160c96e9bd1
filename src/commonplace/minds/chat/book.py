"""What a mind on a model server needs to know of prompts."""

from __future__ import annotations

from typing import Any, Protocol

from commonplace.minds.asking import Ask
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import Prompt


class Book(Protocol):
    """Puts questions into words and reads answers."""

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", last: str = "") -> Prompt:
        """The question in words. `drop`: so many of the lowest-scored memories are left out. `complaint` and `last`:
        what was wrong with the last raw answer, and that answer."""
        ...

    def read(self, ask: Ask[Any, Any], data: object) -> Value:
        """The typed answer of parsed JSON. Raises Unusable."""
        ...

    def read_text(self, ask: Ask[Any, Any], text: str) -> Value | None:
        """The typed answer of free text; None for a task where free text is none."""
        ...
