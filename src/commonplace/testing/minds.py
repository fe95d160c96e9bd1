"""Minds with scripted answers, and minds that answer late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
from commonplace.minds.notes import Value
from commonplace.rng import unit

Script = Callable[[Any, RequestKey], Value | None]
"""An answer to a typed input; None for a fault, for which the task's fallback is used."""


class ScriptedMind:
    """Answers by task name from functions; a task without one gets its fallback."""

    name = "scripted"
    paid = False
    max_attempts = 1

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self.scripts = dict(scripts or {})
        self.asked: list[tuple[RequestKey, Ask[Any, Any]]] = []
        """Every question put, in order."""

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """The scripted answer."""
        self.asked.append((request_key, ask))
        script = self.scripts.get(ask.task.name)
        value = script(ask.input, request_key) if script else None
        return Reply(value) if value is not None else Reply(None, "fault")

    async def close(self) -> None:
        """Nothing to close."""


class SlowMind:
    """Another mind's answers, each after a delay drawn from its key: completion order is shuffled, answers are not."""

    paid = True
    max_attempts = 1

    def __init__(self, mind: Mind, salt: int, longest: float = 0.002) -> None:
        self.name = mind.name
        self._mind = mind
        self._salt = salt
        self._longest = longest

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Awaitable[Reply]:
        """The other mind's answer, later."""
        return self._later(ask, request_key)

    async def _later(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        await asyncio.sleep(self._longest * unit(self._salt, request_key.agent, request_key.tick, request_key.number))
        reply = self._mind.answer(ask, request_key)
        return reply if isinstance(reply, Reply) else await reply

    async def close(self) -> None:
        """Close the other mind."""
        await self._mind.close()
