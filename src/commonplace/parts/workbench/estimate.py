"""What a run would ask of a model server: the run with the offline mind, every prompt measured and discarded."""

from __future__ import annotations

import json
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from commonplace.engine.driver import JOB_ORDINALS
from commonplace.engine.run import Run
from commonplace.engine.stage import Stage
from commonplace.minds.mind import Ask, Mind, Reply, RequestKey, estimated_tokens
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Prompt
from commonplace.minds.tasks import EmbedInput
from commonplace.minds.tasks.wire import written
from commonplace.parts.model_servers.request import Capabilities, chat_body, prompt_text
from commonplace.run.manifest import Manifest
from commonplace.run.rows import AnswerRow
from commonplace.scenario.scenario import Scenario
from commonplace.servers import is_server, server_named

Cached = Callable[[int], int]
"""Tokens of a repeated prefix → how many of them the provider takes from its cache."""
OPENAI_SHORTEST, OPENAI_BLOCK = 1024, 128
"""Tokens of the shortest prefix OpenAI's cache holds, and of the steps in which longer ones count."""


_BEST = Capabilities(server="", model="")
"""A server that takes all there is to a request."""


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """The requests for one task."""

    task: str
    calls: int
    prompt: int
    """Tokens."""
    cached: int
    """Those of the prompt's tokens that repeat the beginning of an earlier prompt."""
    answer: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The requests of a run, if it went as it does with the offline mind."""

    ticks: int
    characters: int
    days: float
    """Simulated days."""
    tasks: tuple[TaskEstimate, ...]
    """By name; tasks without a question are left out."""
    rounds: int
    """Requests that have to wait for one another, summed over the ticks: the least time of the run, in answers."""

    @property
    def total(self) -> TaskEstimate:
        """All tasks together."""
        return summed("total", self.tasks)


async def estimate(scenario: Scenario, manifest: Manifest, stage: Stage, mind: Mind, concurrency: int) -> Estimate:
    """Runs `manifest.ticks` ticks in a temporary file. `mind`: one that measures what it is asked, a `SizedMind`."""
    with TemporaryDirectory(prefix="commonplace-") as folder:
        path = Path(folder) / "estimate.run"
        with Run.start(path, manifest, scenario, stage=stage, mind=mind) as run:
            async for _ in run.play(until=manifest.ticks):
                pass
            ticks = run.tick  # fewer where the stage ends
            answers = [row for row in run.reading.answers() if row.usage.get("prompt_tokens")]
    return Estimate(
        ticks=ticks,
        characters=len(scenario.personas),
        days=ticks * scenario.clock.tick_minutes / 1440,
        tasks=_tasks(answers),
        rounds=_rounds(answers, concurrency),
    )


def _tasks(answers: Iterable[AnswerRow]) -> tuple[TaskEstimate, ...]:
    tasks: dict[str, list[TaskEstimate]] = {}
    for row in answers:
        tokens = (row.usage.get(name, 0) for name in ("prompt_tokens", "cached_tokens", "answer_tokens"))
        tasks.setdefault(row.task, []).append(TaskEstimate(row.task, 1, *tokens))
    return tuple(summed(task, rows) for task, rows in sorted(tasks.items()))


def summed(name: str, rows: Iterable[TaskEstimate]) -> TaskEstimate:
    """Adds up some rows under one name."""
    rows = tuple(rows)
    sums = (sum(getattr(row, part) for row in rows) for part in ("calls", "prompt", "cached", "answer"))
    return TaskEstimate(name, *sums)


def _rounds(answers: Iterable[AnswerRow], concurrency: int) -> int:
    """Adds up, over ticks, the requests that wait for one another.

    In a tick that is the longest chain of one character's questions, or, where there are many, all questions divided by
    `concurrency`. Deferred jobs run meanwhile and only count towards the second.
    """
    asked: Counter[int] = Counter()
    chains: dict[int, Counter[str]] = {}
    for row in answers:
        asked[row.tick] += 1
        if row.ordinal < JOB_ORDINALS:
            chains.setdefault(row.tick, Counter())[row.agent] += 1
    longest = {tick: max(chains.get(tick, Counter({"": 0})).values()) for tick in asked}
    return sum(max(longest[tick], -(-count // concurrency)) for tick, count in asked.items())


class SizedMind:
    """A mind that answers as the offline mind does, with the tokens a model server would have read and written.

    Sizes are estimates: tokens by `estimated_tokens`; a prefix shared with an earlier prompt of the same mind counts as
    cached.
    """

    name = "offline"
    paid = False
    max_attempts = 1

    def __init__(self, book: PromptBook, language: str, asked: Callable[[str, str], str]) -> None:
        """`asked`: (character, task) → the name of the mind that would answer."""
        self._mind = OfflineMind(language)
        self._book = book
        self._asked = asked
        self._prompts: dict[str, list[str]] = {}
        """Mind → its prompts in order, so that the neighbours of a new one share the longest prefix with it."""

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the offline mind's reply with the tokens of its prompt and of its answer in wire form."""
        if ask.unless is not None and (needless := ask.unless(ask.input, request_key)) is not None:
            return needless
        reply = self._mind.answer(ask, request_key)
        if isinstance(ask.input, EmbedInput):
            return replace(reply, prompt_tokens=estimated_tokens(prompt_text({"input": ask.input.texts})), calls=1)
        worded = self._book.prompt(ask)
        prompt = prompt_counted(worded)
        mind = self._asked(request_key.agent, ask.task.name)
        answer = "" if reply.value is None else json.dumps(written(ask, reply.value), ensure_ascii=False)
        written_out = estimated_tokens(answer)
        return replace(
            reply,
            prompt_tokens=estimated_tokens(prompt),
            cached_tokens=caching(mind)(estimated_tokens(prompt[: self._shared(prompt, mind)])),
            answer_tokens=min(written_out, worded.max_tokens) if worded.small else written_out,
            calls=1,
        )

    async def close(self) -> None:
        """Does nothing."""

    def _shared(self, prompt: str, mind: str) -> int:
        """Returns how many of its first characters an earlier prompt of the mind began with."""
        prompts = self._prompts.setdefault(mind, [])
        place = bisect_left(prompts, prompt)
        neighbours = prompts[max(0, place - 1) : place + 1]
        insort(prompts, prompt)
        return max((common(prompt, other) for other in neighbours), default=0)


def prompt_counted(prompt: Prompt) -> str:
    """Returns what a provider would count as the prompt of a question, the JSON Schema included."""
    return prompt_text(chat_body(prompt, _BEST, _BEST.structured, seed=0))


def common(one: str, other: str) -> int:
    """Returns the length of the longest common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def caching(mind: str) -> Cached:
    """Returns how much a mind's server reads from its cache: OpenAI whole blocks above a minimum, others all of it."""
    if is_server(mind) and server_named(mind).kind == "openai":
        return lambda shared: shared // OPENAI_BLOCK * OPENAI_BLOCK if shared >= OPENAI_SHORTEST else 0
    return lambda shared: shared
