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
    attempt: int = 0
    """0 at first; one more each time an unusable answer is asked for again."""
    before: Reply | None = None
    """The unusable reply of the attempt before, to be mended."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a mind returned: a validated value, or why there is none."""

    value: Value | None
    outcome: str = "value"
    """`value`, `malformed` or `fault`."""
    error: str = ""
    """What was wrong, for people; never told to a character."""
    kind: str = ""
    """The kind of fault in a word, to be counted by: `timeout`, `empty`, `json`, `schema`, `range` …"""
    prompt: str = ""
    """What a model was asked, as text; empty where there is no prompt."""
    raw: str = ""
    """The raw answer of a model; empty where there is none."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt's tokens the server had read before."""
    answer_tokens: int = 0
    calls: int = 0
    """Requests made to a server for it, retries included."""


class Mind(Protocol):
    """Answers at once with a `Reply`, or with something to await for one. An answer depends on its request alone."""

    name: str
    costs: bool
    """Whether an answer costs time or money to have again; then it is journaled before it is used."""
    tries: int
    """How often a question is put before its fallback counts; 1 for a mind that would only repeat itself."""

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply | Awaitable[Reply]:
        """The reply to one question. Never raises for a bad answer: that is a `malformed` or `fault` reply.

        Raises Paused when no answer can be had now and the run should wait for one: a server that stays away.
        """
        ...

    async def rest(self) -> None:
        """Give up connections; nobody waits for an answer. It may be asked again later."""
        ...
