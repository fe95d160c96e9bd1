"""Minds whose answers are laid down, and answers that come late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from commonplace.minds.asking import Ask
from commonplace.minds.mind import Asker, Mind, Reply
from commonplace.minds.notes import Value
from commonplace.rng import unit

Script = Callable[[Any, Asker], Value | None]
"""An answer to a typed input; None for a fault, which meets the task's fallback."""


class ScriptedMind:
    """Answers by task name from functions; a task without one meets its fallback."""

    name = "scripted"
    costs = False
    tries = 1

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self.scripts = dict(scripts or {})
        self.asked: list[tuple[Asker, Ask[Any, Any]]] = []
        """Every question put, in order."""

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        """The scripted answer."""
        self.asked.append((asker, ask))
        script = self.scripts.get(ask.task.name)
        value = script(ask.input, asker) if script else None
        return Reply(value) if value is not None else Reply(None, "fault")

    async def rest(self) -> None:
        """It holds nothing."""


class SlowMind:
    """Another mind's answers, each after a delay drawn from its key: completion order is shuffled, answers are not."""

    costs = True
    tries = 1

    def __init__(self, mind: Mind, salt: int, longest: float = 0.002) -> None:
        self.name = mind.name
        self._mind = mind
        self._salt = salt
        self._longest = longest

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Awaitable[Reply]:
        """The other mind's answer, later."""
        return self._later(ask, asker)

    async def _later(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        await asyncio.sleep(self._longest * unit(self._salt, asker.agent, asker.tick, asker.number))
        reply = self._mind.answer(ask, asker)
        return reply if isinstance(reply, Reply) else await reply

    async def rest(self) -> None:
        """The other mind's."""
        await self._mind.rest()
