"""Ten real questions to a mind, and what it is fit for by its answers.

They are the first that a model would be asked in an English and in a Korean town, one of each of five tasks: the towns
live their first ticks with the offline mind until these have come up.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from commonplace.api import DEFAULT_SEED, prepared
from commonplace.engine.run import Run
from commonplace.minds.mind import LOST, Ask, Mind, Reply, RequestKey
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.small.form import small_form
from commonplace.stages import by_name

TOWNS = ("latticeville", "sijang")
EACH = 5
"""Tasks that are asked about in a town."""
LAST = 96
"""The tick up to which they are looked for."""

Question = tuple[Ask[Any, Any], RequestKey]

USABLE, MENDED, USELESS = "usable", "mended", "useless"


@dataclass(frozen=True, slots=True)
class Trial:
    """A question and what came of it."""

    question: Question
    language: str
    """`en` or `ko`."""
    grade: str
    """USABLE as it came; MENDED: something was left out or repaired; USELESS: no answer, or its words or action lost.
    """
    why: str
    """What was wrong: kinds, or the error; empty if nothing."""
    seconds: float
    prompt_tokens: int
    answer_tokens: int

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.question[0].task.name


async def questions(town: str, mind: str) -> list[Question]:
    """Returns the first question of each of the first tasks that a mind of that name is asked in a shipped town."""
    scenario, manifest = prepared(town, DEFAULT_SEED, mind, fidelity="every_tick", ticks=LAST)
    listening = _Listening(OfflineMind(scenario.language))
    with TemporaryDirectory(prefix="commonplace-") as folder:
        path = Path(folder) / "trial.run"
        with Run.start(path, manifest, scenario, stage=by_name(scenario.part.stage), mind=listening) as run:
            async for _ in run.play(until=LAST):
                if len(listening.heard) >= EACH:
                    break
    return list(listening.heard.values())[:EACH]


class _Listening:
    """The offline mind, which notes the first question of each task that a model would have been asked."""

    name = "offline"
    paid = False
    max_attempts = 1

    def __init__(self, mind: OfflineMind) -> None:
        self._mind = mind
        self.heard: dict[str, Question] = {}

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the offline mind's reply."""
        if ask.unless is not None and (needless := ask.unless(ask.input, request_key)) is not None:
            return needless
        self.heard.setdefault(ask.task.name, (ask, request_key))
        return self._mind.answer(ask, request_key)

    async def close(self) -> None:
        """Does nothing."""


async def tried(mind: Mind, asked: Sequence[Question], language: str) -> AsyncIterator[Trial]:
    """Asks each question once, one after the other. Raises what the mind raises."""
    for ask, key in asked:
        began = time.monotonic()
        reply = mind.answer(ask, key)
        reply = reply if isinstance(reply, Reply) else await reply
        grade, why = _grade(reply)
        seconds = time.monotonic() - began
        yield Trial((ask, key), language, grade, why, seconds, reply.prompt_tokens, reply.answer_tokens)


def _grade(reply: Reply) -> tuple[str, str]:
    if reply.value is None:
        return USELESS, f"{reply.kind}: {reply.error}"
    flaws = {flaw: count for flaw, count in reply.flaws.items() if count}
    why = ", ".join(f"{flaw} {count}" for flaw, count in flaws.items())
    return (USELESS if not LOST.isdisjoint(flaws) else MENDED if flaws else USABLE), why


def too_hard(found: Iterable[Trial]) -> list[Trial]:
    """Returns the useless answers in the full form to questions with a small form, if half of those are useless."""
    able = [one for one in found if small_form(one.task) is not None]
    useless = [one for one in able if one.grade == USELESS]
    return useless if len(useless) * 2 >= len(able) else []


def fitness(found: Iterable[Trial]) -> dict[str, list[str]]:
    """Maps each grade to its tasks with their language, such as `converse (ko)`; no language if all have it."""
    found = list(found)
    grades: dict[str, dict[str, str]] = {}
    for one in found:
        grades.setdefault(one.task, {})[one.language] = one.grade
    fit: dict[str, list[str]] = {USABLE: [], MENDED: [], USELESS: []}
    for task, by_language in grades.items():
        if len(set(by_language.values())) == 1 and len(by_language) > 1:
            fit[next(iter(by_language.values()))].append(task)
        else:
            for language, grade in by_language.items():
                fit[grade].append(f"{task} ({language})")
    return fit
