"""Facts of memories, found by a mind."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from commonplace.errors import CommonplaceError
from commonplace.memory import Fact, Memory
from commonplace.memory.emotion import language_of
from commonplace.minds.mind import Ask, Flaws, Mind, Reply, RequestKey
from commonplace.minds.notes import Value
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Prompt, PromptSetting
from commonplace.minds.tasks import FACTS, FactsInput, FactsOutput, Line
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.parts.model_servers.local import LocalMind
from commonplace.run.manifest import OFFLINE
from commonplace.servers import LOCAL, server_named

LONGEST_WAIT = 0.5
"""The most seconds between two attempts at a server."""


class FactsByMind:
    """Finds the facts of memories with a mind: the `facts` of a `MemoryStream`.

    `mind` is the name of one, such as `ollama:qwen3:4b` or the URL of a model server, or a Mind of yours. One that is
    named is asked in the language of the memories, English or Korean. `timeout`: seconds that a server has for an
    answer. Any number of threads may use it. Raises UsageError for a name that is not a mind's.
    """

    def __init__(self, mind: str | Mind, *, timeout: float = 120.0) -> None:
        self.mind = _named(mind, timeout) if isinstance(mind, str) else mind

    def __call__(self, memories: Sequence[Memory], before: Sequence[Memory]) -> list[Fact]:
        """Returns what the mind finds. Raises CommonplaceError if its answer cannot be used, or there is none."""
        language = language_of(" ".join(memory.full_text for memory in memories))
        given = FactsInput(
            lines=tuple(map(_line, memories)),
            before=tuple(map(_line, before)),
            day=f"{memories[0].created_at:%A %Y-%m-%d}",
            language=language,
        )
        found = _run(_answer(self.mind, Ask(FACTS, given)))
        return [Fact(one.fact, one.words, one.line) for one in found.facts]


class _Books:
    """The prompts of all languages: each question is put in its own, by one mind."""

    @staticmethod
    @cache
    def _of(language: str) -> PromptBook:
        return PromptBook(language, PromptSetting(title="", places=()))

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", tool: bool = False) -> Prompt:
        return self._of(ask.input.language).prompt(ask, drop=drop, complaint=complaint, tool=tool)

    def read(
        self, ask: Ask[Any, Any], data: object, citable: Collection[int] = (), flaws: Flaws | None = None
    ) -> Value:
        return self._of(ask.input.language).read(ask, data, citable, flaws)

    def read_text(self, ask: Ask[Any, Any], text: str, flaws: Flaws | None = None) -> Value | None:
        return self._of(ask.input.language).read_text(ask, text, flaws)

    def read_words(self, ask: Ask[Any, Any], text: str, *, cut: bool = False, flaws: Flaws | None = None) -> Value:
        return self._of(ask.input.language).read_words(ask, text, cut=cut, flaws=flaws)


def _named(name: str, timeout: float) -> Mind:
    if name == OFFLINE:
        return OfflineMind()
    if server_named(name).kind != LOCAL:
        return ChatMind(name, _Books(), timeout=timeout, on_outage="fallback", sleep=_briefly)
    mind = LocalMind(name, _Books(), timeout=timeout, on_outage="fallback", sleep=_briefly)
    mind.stays = True  # else the model would be loaded for each question
    return mind


async def _briefly(seconds: float) -> None:
    """Waits for a server only shortly: whoever remembers something waits, too, and can ask again later."""
    await asyncio.sleep(min(seconds, LONGEST_WAIT))


def _line(memory: Memory) -> Line:
    return Line(speaker=memory.source, text=memory.full_text)


async def _answer(mind: Mind, ask: Ask[Any, Any]) -> FactsOutput:
    reply: Reply | None = None
    try:
        for attempt in range(mind.max_attempts):
            given = mind.answer(ask, RequestKey(0, "", 0, 0, attempt, reply))
            reply = given if isinstance(given, Reply) else await given
            if reply.outcome != "malformed":
                break
    finally:
        await mind.close()
    if reply is None or not isinstance(reply.value, FactsOutput):
        why = (reply and (reply.error or reply.outcome)) or "no answer"
        raise CommonplaceError(f"{mind.name} found no facts: {why}")
    return reply.value


def _run(answer: Any) -> FactsOutput:
    """Runs a coroutine to its end, also below an event loop, which cannot wait for it itself."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, answer).result()
