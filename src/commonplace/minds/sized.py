"""A mind that answers as the offline mind does and tells what a model server would have read and written for it."""

from __future__ import annotations

import json
from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from commonplace.memory.columns import estimate_tokens
from commonplace.minds.asking import Ask
from commonplace.minds.chat.servers import is_server, server_named
from commonplace.minds.mind import Asker, Reply
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.wire import written
from commonplace.minds.tasks import EmbedInput

Cached = Callable[[int], int]
"""How many tokens of a prefix read before a provider takes from its cache."""
OPENAI_SHORTEST, OPENAI_BLOCK = 1024, 128
"""Tokens of the shortest prefix OpenAI's cache holds, and of the steps in which longer ones count."""


class SizedMind:
    """Sizes are estimates: tokens by `estimate_tokens`, the prefix shared with any earlier prompt as read before."""

    name = "offline"
    costs = False
    tries = 1

    def __init__(self, book: PromptBook, language: str, cached: Cached) -> None:
        self._mind = OfflineMind(language)
        self._book = book
        self._cached = cached
        self._prompts: list[str] = []
        """In order, so that the neighbours of a new one share the longest prefix with it."""

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        """The offline mind's reply with the tokens of its prompt and of its answer in wire form."""
        reply = self._mind.answer(ask, asker)
        if isinstance(ask.input, EmbedInput):
            return replace(reply, prompt_tokens=sum(map(estimate_tokens, ask.input.texts)), calls=1)
        prompt = "\n".join(message.text for message in self._book.prompt(ask).messages)
        answer = "" if reply.value is None else json.dumps(written(ask, reply.value), ensure_ascii=False)
        return replace(
            reply,
            prompt_tokens=estimate_tokens(prompt),
            cached_tokens=self._cached(estimate_tokens(prompt[: self._shared(prompt)])),
            answer_tokens=estimate_tokens(answer),
            calls=1,
        )

    async def rest(self) -> None:
        """It holds nothing."""

    def _shared(self, prompt: str) -> int:
        """How many of its first characters an earlier prompt began with."""
        place = bisect_left(self._prompts, prompt)
        neighbours = self._prompts[max(0, place - 1) : place + 1]
        insort(self._prompts, prompt)
        return max((common(prompt, other) for other in neighbours), default=0)


def common(one: str, other: str) -> int:
    """Length of the longest common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def caching(mind: str) -> Cached:
    """What a mind's server takes from its cache: OpenAI whole blocks of prefixes that are long enough, others all."""
    if is_server(mind) and server_named(mind).kind == "openai":
        return lambda shared: shared // OPENAI_BLOCK * OPENAI_BLOCK if shared >= OPENAI_SHORTEST else 0
    return lambda shared: shared
