"""Drivers of turns: a turn yields questions, the driver sends answers back.

Ordinals, attempts, the journal, the budget and fallbacks live here. A turn whose mind costs nothing never meets the
event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic_core import PydanticSerializationError

from commonplace.canon import canonical, digest
from commonplace.cognition.trace import asked
from commonplace.engine.budget import Budget, BudgetReached, Spending
from commonplace.engine.stage import Asking
from commonplace.errors import CommonplaceError, RunDamaged
from commonplace.minds.mind import Answer, Ask, Mind, Reply, RequestKey
from commonplace.minds.notes import Value
from commonplace.run.journal import ModelCall
from commonplace.run.tick_record import AnswerRow

__all__ = ["JOB_ORDINALS", "Drive", "Driver", "Journal", "NoJournal", "NoMind", "request_digest", "together"]


# ── question ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# A question on its way: where it stands in the journal, the attempts made at it, and the answer it comes to.


class Journal(Protocol):
    """Attempts at questions by (character, tick, ordinal)."""

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Every attempt kept at this question, in order. Raises RunDamaged when another one was asked there.

        `inputs`: the typed input as the trace has it, for the message.
        """
        ...

    def model_call(self, row: AnswerRow) -> ModelCall | None:
        """What was sent and received at an attempt; None when it was not kept or was trimmed."""
        ...

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """The ordinal of a question that may stand anywhere in its tick; the next free one for a new question."""
        ...

    def keep(self, row: AnswerRow, call: ModelCall) -> None:
        """Make an attempt durable before it is used."""
        ...


class NoJournal:
    """For minds whose answers can be had again for nothing: they are written with their tick."""

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Nothing is looked up."""
        del agent, tick, ordinal, request, task, inputs
        return ()

    def model_call(self, row: AnswerRow) -> ModelCall | None:
        """Nothing was kept."""
        del row

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """There is no other."""
        del agent, tick, request
        return 0

    def keep(self, row: AnswerRow, call: ModelCall) -> None:
        """Nothing is kept before the commit."""


@dataclass(slots=True)
class Question:
    """One question and the attempts at it, those of an earlier sitting included."""

    ask: Ask[Any, Any]
    agent: str
    tick: int
    number: int
    request: bytes
    rows: list[AnswerRow] = field(default_factory=list[AnswerRow])
    before: Reply | None = None
    """The unusable reply of the last attempt."""
    value: Value | None = None
    """The usable answer, where it need not be read from its row."""
    coming: Awaitable[Reply] | None = None
    """The answer of a mind that costs nothing and still takes its time."""

    @classmethod
    def put(cls, ask: Ask[Any, Any], agent: str, tick: int, number: int, journal: Journal) -> Question:
        """A question, with what the journal has of it."""
        question = cls(ask, agent, tick, number, request_digest(ask))
        question.rows += journal.find(
            agent, tick, number, question.request, task=ask.task.name, inputs=lambda: shown_input(ask)
        )
        return question

    def is_open(self, max_attempts: int) -> bool:
        """Whether to ask (again). A `fault` is final; a `malformed` answer is, after so many tries."""
        if not self.rows:
            return True
        last = self.rows[-1]
        return last.outcome == "malformed" and last.attempt + 1 < max_attempts

    def request_key(self, seed: int, journal: Journal) -> RequestKey:
        """Who asks: the key of the next attempt."""
        attempt = self.rows[-1].attempt + 1 if self.rows else 0
        if attempt and self.before is None:
            self.before = _as_reply(self.rows[-1], journal.model_call(self.rows[-1]))
        return RequestKey(seed, self.agent, self.tick, self.number, attempt, self.before)

    def take(self, reply: Reply, seconds: float = 0.0) -> tuple[AnswerRow, ModelCall]:
        """Note what came of an attempt that took so long; returns what there is to keep."""
        reply, body = _written(self.ask, reply)
        row = AnswerRow(
            agent=self.agent,
            tick=self.tick,
            ordinal=self.number,
            attempt=self.rows[-1].attempt + 1 if self.rows else 0,
            task=self.ask.task.name,
            request=self.request,
            outcome=reply.outcome,
            body=body,
            usage=_usage(reply),
        )
        self.rows.append(row)
        self.before, self.value = reply, reply.value
        return row, ModelCall(reply.prompt, reply.raw, reply.error, reply.kind, seconds)

    def answer(self) -> Answer[Any]:
        """What the asker is told: the last attempt's value, or the task's fallback. Raises RunDamaged."""
        row = self.rows[-1]
        if row.outcome != "value":
            return Answer(self.ask.task.fallback(self.ask.input), row.outcome, row.ordinal)
        return Answer(self.value or _kept(self.ask, row), "value", row.ordinal)


def request_digest(ask: Ask[Any, Any]) -> bytes:
    """The key digest of a question: task and typed input. A template's wording is no part of it."""
    return digest(ask.task.name.encode(), ask.input.model_dump_json().encode())


def shown_input(ask: Ask[Any, Any]) -> str:
    """The typed input as traces have it, JSON."""
    return canonical(asked(ask.task, ask.input, Answer(None, "", 0))["input"]).decode()


def _as_reply(row: AnswerRow, call: ModelCall | None) -> Reply:
    """An unusable reply of an earlier sitting."""
    if call is None:
        return Reply(None, row.outcome)
    return Reply(None, row.outcome, call.error, call.kind, call.prompt, call.raw)


def _kept(ask: Ask[Any, Any], row: AnswerRow) -> Value:
    """The value of a journaled answer. Raises RunDamaged for one that was never given: it was validated when kept."""
    try:
        return ask.task.output.model_validate_json(row.body)
    except ValueError as error:
        raise RunDamaged(
            f"the answer that {row.agent} got to {row.task} is not one",
            where=f"tick {row.tick}, question {row.ordinal}",
            hint="the file has been changed, or other rules made it; `verify --integrity-only` tells which",
        ) from error


def _written(ask: Ask[Any, Any], reply: Reply) -> tuple[Reply, bytes]:
    """The reply and its canonical bytes; a value of another task, or with a lone surrogate in it, is malformed."""
    if reply.value is None:
        return reply, b""
    if not isinstance(reply.value, ask.task.output):
        return _malformed(reply, f"this is no answer to {ask.task.name}", "schema"), b""
    try:
        return reply, canonical(reply.value.model_dump(mode="json", exclude_defaults=True))
    except (UnicodeEncodeError, PydanticSerializationError):
        return _malformed(reply, "there are characters in it that are none", "characters"), b""


def _malformed(reply: Reply, error: str, kind: str) -> Reply:
    return replace(reply, value=None, outcome="malformed", error=error, kind=kind)


def _usage(reply: Reply) -> dict[str, Any]:
    """What is counted; what is nothing is left out."""
    counts: dict[str, Any] = {
        "prompt_tokens": reply.prompt_tokens,
        "cached_tokens": reply.cached_tokens,
        "answer_tokens": reply.answer_tokens,
        "calls": reply.calls,
        "kind": "" if reply.outcome == "value" else reply.kind,
    }
    return {name: count for name, count in counts.items() if count}


# ── driver ───────────────────────────────────────────────────────────────────────────────────────────────────────────


JOB_ORDINALS = 1000
"""Questions of the n-th job asked for in a tick are numbered from n × 1000."""


class NoMind:
    """Answers nothing: re-execution must find every answer in the journal."""

    name = "journal"
    paid = False
    max_attempts = 1

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Raises: history asked something it did not ask before."""
        raise CommonplaceError(
            f"{request_key.agent} asks {ask.task.name}, and the journal has no answer to it",
            where=f"tick {request_key.tick}, question {request_key.number}",
            hint="the run was made by other rules or has been changed; `verify --integrity-only` tells which",
        )

    async def close(self) -> None:
        """It holds nothing."""


@dataclass(slots=True)
class Drive:
    """One coroutine on its way from question to question."""

    agent: str
    tick: int
    asking: Asking
    first: int = 0
    """Its first ordinal."""
    questions: int = 0
    """How many of its questions have been answered."""
    result: Any = None
    rows: list[AnswerRow] = field(default_factory=list[AnswerRow])
    """Every attempt at the questions answered, in order of ordinal."""


class Driver:
    """Drives coroutines with one mind and one journal.

    `durable` says whether an attempt is kept at once (minds that cost something) or with its tick's commit (minds whose
    answer can be had again for nothing). `concurrency`: how many questions are in flight at once, whoever asks them.
    """

    def __init__(self, mind: Mind, journal: Journal, seed: int, *, durable: bool, concurrency: int = 32) -> None:
        self.mind = mind
        self._journal = journal
        self._seed = seed
        self._durable = durable
        self._concurrency = concurrency
        self.renew(Budget())

    def renew(self, budget: Budget) -> None:
        """Begin a sitting: from now on this may be spent, and in this event loop."""
        self._spending = Spending(budget)
        self._gate = asyncio.Semaphore(self._concurrency)

    async def run(self, drives: Iterable[Drive]) -> None:
        """Drive all to their ends; those that wait for a server wait together. When one fails, the others are ended."""
        drives = tuple(drives)
        try:
            if self.mind.paid:
                await together(self._driven(drive) for drive in drives)
            else:
                for drive in drives:
                    await self._driven(drive)
        finally:
            for drive in drives:
                drive.asking.close()

    async def aside(self, owner: str, tick: int, ask: Ask[Any, Any]) -> Answer[Any]:
        """Have one question answered that is nobody's turn. The same one is asked once in a tick."""
        number = self._journal.numbered(owner, tick, request_digest(ask))
        drive = Drive(owner, tick, _only(ask), number)
        await self.run([drive])
        return drive.result

    async def _driven(self, drive: Drive) -> None:
        question = self._advance(drive, None)
        while question is not None:
            while question.is_open(self.mind.max_attempts):
                await self._asked(question)
            question = self._advance(drive, self._answered(drive, question))

    def _advance(self, drive: Drive, answer: Answer[Any] | None) -> Question | None:
        """Send answers for as long as they come at once; the question that has to be waited for, None at the end."""
        while True:
            try:
                ask = drive.asking.send(answer)  # pyright: ignore[reportArgumentType] – None starts a coroutine
            except StopIteration as stop:
                drive.result = stop.value
                return None
            question = Question.put(ask, drive.agent, drive.tick, drive.first + drive.questions, self._journal)
            while question.is_open(self.mind.max_attempts):
                if self.mind.paid or not self._told_at_once(question):
                    return question
            answer = self._answered(drive, question)

    def _told_at_once(self, question: Question) -> bool:
        """Ask a mind that costs nothing; False when its answer has to be waited for all the same."""
        reply = self.mind.answer(question.ask, question.request_key(self._seed, self._journal))
        if not isinstance(reply, Reply):
            question.coming = reply
            return False
        self._take(question, reply, 0.0)
        return True

    async def _asked(self, question: Question) -> None:
        """One attempt, when it is its turn."""
        if question.coming is not None:
            coming, question.coming = question.coming, None
            self._take(question, await coming, 0.0)
            return
        async with self._gate:
            self._spending.reserve()
            began = time.monotonic()
            reply = self.mind.answer(question.ask, question.request_key(self._seed, self._journal))
            if not isinstance(reply, Reply):
                reply = await reply
            self._spending.spent(reply)
            self._take(question, reply, time.monotonic() - began)

    def _take(self, question: Question, reply: Reply, seconds: float) -> None:
        kept = question.take(reply, seconds)
        if self._durable:
            self._journal.keep(*kept)

    def _answered(self, drive: Drive, question: Question) -> Answer[Any]:
        drive.rows += question.rows
        drive.questions += 1
        return question.answer()


async def _only(ask: Ask[Any, Any]) -> Answer[Any]:
    return await ask


async def together(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all; the first failure ends the others before it is raised.

    When the budget is reached, what is in flight is waited for: it has been paid for, and nothing follows it.
    """
    tasks = [asyncio.ensure_future(one) for one in coroutines]
    try:
        await asyncio.gather(*tasks)
    except BaseException as error:
        if not isinstance(error, BudgetReached):
            for task in tasks:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
