"""A mind: whatever answers typed questions."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

from commonplace.minds.asking import Ask
from commonplace.minds.notes import Value


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks and when: the key of an answer in the journal and of every keyed draw a mind makes."""

    seed: int
    agent: str
    tick: int
    number: int
    """The question's ordinal in the character's tick."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a mind returned: a validated value, or why there is none."""

    value: Value | None
    outcome: str = "value"
    """`value`, `malformed` or `fault`."""
    raw: str = ""
    """The raw answer of a model; empty where there is none."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0


class Mind(Protocol):
    """Answers at once with a `Reply`, or with something to await for one. An answer depends on its request alone."""

    name: str
    costs: bool
    """Whether an answer costs time or money to have again; then it is journaled before it is used."""

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply | Awaitable[Reply]:
        """The reply to one question. Never raises for a bad answer: that is a `malformed` or `fault` reply."""
        ...
