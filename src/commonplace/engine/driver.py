"""Drivers of turns: a turn yields questions, the driver sends answers back.

Ordinals, attempts, the journal, the budget and fallbacks live here. A turn whose mind costs nothing never meets the
event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from commonplace.engine.budget import Budget, BudgetReached, Spending
from commonplace.engine.question import Journal, NoJournal, Question, request_digest
from commonplace.engine.stage import Asking
from commonplace.errors import CommonplaceError
from commonplace.minds.asking import Answer, Ask
from commonplace.minds.mind import Asker, Mind, Reply
from commonplace.run.record import AnswerRow

__all__ = ["JOB_ORDINALS", "Drive", "Driver", "Journal", "NoJournal", "NoMind", "request_digest", "together"]

JOB_ORDINALS = 1000
"""Questions of the n-th job asked for in a tick are numbered from n × 1000."""


class NoMind:
    """Answers nothing: re-execution must find every answer in the journal."""

    name = "journal"
    costs = False
    tries = 1

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        """Raises: history asked something it did not ask before."""
        raise CommonplaceError(
            f"{asker.agent} asks {ask.task.name}, and the journal has no answer to it",
            where=f"tick {asker.tick}, question {asker.number}",
            todo="the run was made by other rules or has been changed; `verify --integrity-only` tells which",
        )

    async def rest(self) -> None:
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
            if self.mind.costs:
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
            while question.is_open(self.mind.tries):
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
            while question.is_open(self.mind.tries):
                if self.mind.costs or not self._told_at_once(question):
                    return question
            answer = self._answered(drive, question)

    def _told_at_once(self, question: Question) -> bool:
        """Ask a mind that costs nothing; False when its answer has to be waited for all the same."""
        reply = self.mind.answer(question.ask, question.asker(self._seed, self._journal))
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
            reply = self.mind.answer(question.ask, question.asker(self._seed, self._journal))
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
