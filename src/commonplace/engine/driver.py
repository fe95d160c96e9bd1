"""Drivers of turns: a turn yields questions, the driver sends answers back.

Ordinals, the journal and fallbacks live here. A turn that asks nothing of a server never meets the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic_core import PydanticSerializationError

from commonplace.canon import canonical, digest
from commonplace.engine.stage import Asking
from commonplace.errors import CommonplaceError, RunDamaged
from commonplace.minds.asking import Answer, Ask
from commonplace.minds.mind import Asker, Mind, Reply
from commonplace.minds.notes import Value
from commonplace.run.record import AnswerRow

JOB_ORDINALS = 1000
"""Questions of the n-th job asked for in a tick are numbered from n × 1000."""


class Journal(Protocol):
    """Answers by (character, tick, ordinal)."""

    def find(self, agent: str, tick: int, ordinal: int, request: bytes) -> AnswerRow | None:
        """The answer kept under this key. Raises RunDamaged when another question was asked there."""
        ...

    def keep(self, row: AnswerRow) -> None:
        """Make an answer durable before it is used."""
        ...


class NoJournal:
    """For minds whose answers can be had again for nothing: they are written with their tick."""

    def find(self, agent: str, tick: int, ordinal: int, request: bytes) -> AnswerRow | None:
        """Nothing is looked up."""
        del agent, tick, ordinal, request

    def keep(self, row: AnswerRow) -> None:
        """Nothing is kept before the commit."""


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
    result: Any = None
    rows: list[AnswerRow] = field(default_factory=list[AnswerRow])
    """Answers used, in order of ordinal."""


class Driver:
    """Drives coroutines with one mind and one journal.

    `durable` says whether an answer is kept at once (minds that cost something) or with its tick's commit (minds whose
    answer can be had again for nothing).
    """

    def __init__(self, mind: Mind, journal: Journal, seed: int, *, durable: bool, concurrency: int = 32) -> None:
        self.mind = mind
        self._journal = journal
        self._seed = seed
        self._durable = durable
        self._concurrency = concurrency

    async def run(self, drives: Iterable[Drive]) -> None:
        """Drive all to their ends; those that wait for a server wait together. When one fails, the others are ended."""
        drives = tuple(drives)
        waiting: list[tuple[Drive, _Pending]] = []
        try:
            for drive in drives:
                pending = self._advance(drive, None)
                if pending is not None:
                    waiting.append((drive, pending))
            if waiting:
                gate = asyncio.Semaphore(self._concurrency)
                await _all(self._finish(drive, pending, gate) for drive, pending in waiting)
        finally:
            for drive in drives:
                drive.asking.close()
            for _, pending in waiting:
                pending.close()

    async def _finish(self, drive: Drive, pending: _Pending | None, gate: asyncio.Semaphore) -> None:
        while pending is not None:
            try:
                async with gate:
                    reply = await pending.reply
            finally:
                pending.close()
            pending = self._advance(drive, self._answered(drive, pending.ask, pending.request, reply))

    def _advance(self, drive: Drive, answer: Answer[Any] | None) -> _Pending | None:
        """Send answers for as long as they come at once."""
        while True:
            try:
                ask = drive.asking.send(answer)  # pyright: ignore[reportArgumentType] – None starts a coroutine
            except StopIteration as stop:
                drive.result = stop.value
                return None
            request = request_digest(ask)
            number = drive.first + len(drive.rows)
            kept = self._journal.find(drive.agent, drive.tick, number, request)
            if kept is not None:
                drive.rows.append(kept)
                answer = _answer(ask, kept)
                continue
            reply = self.mind.answer(ask, Asker(self._seed, drive.agent, drive.tick, number))
            if not isinstance(reply, Reply):
                return _Pending(ask, request, reply)
            answer = self._answered(drive, ask, request, reply)

    def _answered(self, drive: Drive, ask: Ask[Any, Any], request: bytes, reply: Reply) -> Answer[Any]:
        reply, body = _written(ask, reply)
        row = AnswerRow(
            agent=drive.agent,
            tick=drive.tick,
            ordinal=drive.first + len(drive.rows),
            attempt=0,
            task=ask.task.name,
            request=request,
            outcome=reply.outcome,
            body=body,
            usage=_usage(reply),
        )
        if self._durable:
            self._journal.keep(row)
        drive.rows.append(row)
        return _answer(ask, row, reply.value)


@dataclass(slots=True)
class _Pending:
    ask: Ask[Any, Any]
    request: bytes
    reply: Awaitable[Reply]

    def close(self) -> None:
        """Give an answer up that nobody waits for any more."""
        if isinstance(self.reply, Coroutine):
            self.reply.close()


async def _all(waiting: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all; the first failure ends the others before it is raised."""
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def request_digest(ask: Ask[Any, Any]) -> bytes:
    """The key digest of a question: task and typed input. A template's wording is no part of it."""
    return digest(ask.task.name.encode(), ask.input.model_dump_json().encode())


def _answer(ask: Ask[Any, Any], row: AnswerRow, value: Value | None = None) -> Answer[Any]:
    if row.outcome != "value":
        return Answer(ask.task.fallback(ask.input), row.outcome, row.ordinal)
    return Answer(value or _kept(ask, row), "value", row.ordinal)


def _kept(ask: Ask[Any, Any], row: AnswerRow) -> Value:
    """The value of a journaled answer. Raises RunDamaged for one that was never given: it was validated when kept."""
    try:
        return ask.task.output.model_validate_json(row.body)
    except ValueError as error:
        raise RunDamaged(
            f"the answer that {row.agent} got to {row.task} is not one",
            where=f"tick {row.tick}, question {row.ordinal}",
            todo="the file has been changed, or other rules made it; `verify --integrity-only` tells which",
        ) from error


def _written(ask: Ask[Any, Any], reply: Reply) -> tuple[Reply, bytes]:
    """The reply and its canonical bytes; a value of another task, or with a lone surrogate in it, is malformed."""
    if reply.value is None:
        return reply, b""
    if not isinstance(reply.value, ask.task.output):
        return replace(reply, value=None, outcome="malformed"), b""
    try:
        return reply, canonical(reply.value.model_dump(mode="json", exclude_defaults=True))
    except (UnicodeEncodeError, PydanticSerializationError):
        return replace(reply, value=None, outcome="malformed"), b""


def _usage(reply: Reply) -> dict[str, Any]:
    counts = {
        "prompt_tokens": reply.prompt_tokens,
        "cached_tokens": reply.cached_tokens,
        "answer_tokens": reply.answer_tokens,
    }
    return {name: count for name, count in counts.items() if count}
