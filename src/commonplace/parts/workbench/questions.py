"""What a run asked of its mind: each question with its attempts, and with the typed input behind it.

A run keeps the answers, and of a model the prompts. The typed input is made again by running the turn once more from
the committed state, with the answers of the run, as `verify` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver
from commonplace.engine.live_state import restored_state
from commonplace.engine.lockstep import Lockstep
from commonplace.engine.stage import Stage
from commonplace.engine.verify import CommittedAnswers, NoMind
from commonplace.minds.mind import Answer, Ask, estimated_tokens
from commonplace.minds.notes import Value
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.tasks import TASKS
from commonplace.minds.tasks.wire import written
from commonplace.parts.workbench.estimate import prompt_counted
from commonplace.run.journal import ModelCall
from commonplace.run.reading import MOST_TICKS, Reading
from commonplace.run.rows import AnswerRow
from commonplace.scenario.scenario import Scenario
from commonplace.world.events import NOBODY, Phase

Key = tuple[str, int, int]
"""Character, tick, ordinal."""
USED = "SELECT DISTINCT agent, tick, ordinal, used FROM answer WHERE used IS NOT NULL"
_ROLE = re.compile(r"(?:^|\n\n)\[(system|user|assistant)\]\n")
"""How the text of a prompt begins a message. No value in it holds a bracket."""


@dataclass(frozen=True, slots=True)
class PromptAttempt:
    """One attempt to have a question answered, in words."""

    row: AnswerRow
    call: ModelCall
    made: bool = False
    """Whether prompt and answer were put into words now: nothing was sent to a model, or it is not kept any more."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of a run, with every attempt at it."""

    rows: tuple[AnswerRow, ...]
    turn: int | None
    """The tick whose turn used the answer; None where none did, as for what a person asks."""

    @property
    def key(self) -> Key:
        """The owner of the question and its number."""
        return self.rows[0].agent, self.rows[0].tick, self.rows[0].ordinal

    @property
    def task(self) -> str:
        """The task's name."""
        return self.rows[0].task

    @property
    def needless(self) -> bool:
        """Tells whether rules answered it, because there was nothing to decide."""
        return bool(self.rows[0].usage.get("needless"))


def questions(reading: Reading) -> list[AskedQuestion]:
    """Returns every question that can be put into words, by tick, character and ordinal."""
    used: dict[Key, int] = {(agent, tick, ordinal): turn for agent, tick, ordinal, turn in reading.all(USED)}
    rows = (
        row
        for row in reading.answers(0, MOST_TICKS, used=False)
        if row.task in TASKS and TASKS[row.task].scene is not None
    )
    found = (tuple(group) for _, group in groupby(rows, key=lambda row: (row.agent, row.tick, row.ordinal)))
    made = (AskedQuestion(group, None) for group in found)
    turned = (replace(one, turn=used.get(one.key)) if one.key[0] != NOBODY else one for one in made)
    return sorted(turned, key=lambda one: (one.key[1], one.key[0], one.key[2]))


class _Listener(Driver):
    """A listener to what is asked."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(NoMind(), CommittedAnswers(reading), reading.seeds, durable=False)
        self.heard: dict[Key, Ask[Any, Any]] = {}

    async def answered(
        self, agent: str, tick: int, number: int, ask: Ask[Any, Any]
    ) -> tuple[Answer[Any], list[AnswerRow]]:
        self.heard[agent, tick, number] = ask
        return await super().answered(agent, tick, number, ask)


async def asked_again(
    reading: Reading, scenario: Scenario, stage: Stage, turns: Iterable[int]
) -> AsyncGenerator[tuple[int, dict[Key, Ask[Any, Any]]]]:
    """Runs the turns of some ticks again: each tick with all that its turns and their deferred jobs asked.

    Raises UsageError for a run made under other rules, and RunDamaged where the turns ask something else now.
    """
    reading.manifest.refuse_other_rules(str(reading.path))
    driver = _Listener(reading)
    engine: Lockstep | None = None
    for tick in sorted({*turns}):
        if engine is None or engine.live_state.tick != tick - 1:
            engine = Lockstep(Characters(restored_state(reading, scenario, tick - 1), stage, driver))
        driver.heard = {}
        proposed = await engine.run_tick(reading.inputs(tick, tick))
        yield tick, driver.heard
        engine.apply(proposed)


def attempts_at(
    reading: Reading, question: AskedQuestion, ask: Ask[Any, Any] | None, book: PromptBook
) -> tuple[PromptAttempt, ...]:
    """Returns the attempts at a question of the run, in words as far as these are kept or can be made."""
    return in_words(((row, reading.model_call(row)) for row in question.rows), ask, book)


def in_words(
    rows: Iterable[tuple[AnswerRow, ModelCall | None]], ask: Ask[Any, Any] | None, book: PromptBook
) -> tuple[PromptAttempt, ...]:
    """Attempts with their prompt and answer in words, and with estimated tokens where no server counted them."""
    return tuple(_in_words(row, call or ModelCall(), ask, book) for row, call in rows)


def _in_words(row: AnswerRow, call: ModelCall, ask: Ask[Any, Any] | None, book: PromptBook) -> PromptAttempt:
    if call.prompt or ask is None:
        return PromptAttempt(row, call)
    answer = in_wire_form(ask, value_of(ask, row)) if row.body else ""
    prompt = book.prompt(ask)
    call = replace(call, prompt=prompt.text, raw=call.raw or answer)
    tokens = {"prompt_tokens": estimated_tokens(prompt_counted(prompt)), "answer_tokens": estimated_tokens(answer)}
    return PromptAttempt(replace(row, usage={**tokens, **row.usage}), call, made=True)


def value_of(ask: Ask[Any, Any], row: AnswerRow) -> Value:
    """Returns the typed answer of a usable attempt."""
    return ask.task.output.model_validate_json(row.body)


def in_wire_form(ask: Ask[Any, Any], value: Value) -> str:
    """Returns an answer as the JSON that a model would have written."""
    return json.dumps(written(ask, value), ensure_ascii=False)


def messages_in(prompt: str) -> list[dict[str, str]]:
    """Returns the messages of a prompt that is kept as text: `{role, content}` each."""
    _, *parts = _ROLE.split(prompt)
    return [{"role": role, "content": text} for role, text in zip(parts[::2], parts[1::2], strict=True)]


def event_of(reading: Reading, question: AskedQuestion) -> str:
    """Returns the first event of the turn that used the answer; empty where there is none."""
    if question.turn is None:
        return ""
    events = reading.events(question.turn, question.turn, agent=question.key[0])
    return next((event.id for event in events if event.phase != Phase.INPUT), "")


def spread(found: Sequence[AskedQuestion], limit: int) -> list[AskedQuestion]:
    """Returns at most `limit` of some questions, evenly over the run."""
    count = min(limit, len(found))
    return [found[number * len(found) // count] for number in range(count)]
