"""The driver answers the questions a turn asks: a turn yields a question, the driver sends the answer back in.

`Driver.answered` handles one question. It looks in the journal first. A question without an answer there is put to
the mind until an attempt is usable or none is left; without a usable one the task's fallback is the answer, flagged.
A turn whose mind costs nothing never waits for the event loop.

A mind may be the answers of another run (`--mind journal:OTHER.run`), and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic_core import PydanticSerializationError

from commonplace.canon import canonical, digest
from commonplace.cognition.turn import question_entry
from commonplace.engine.budget import Budget, BudgetReached, Spending
from commonplace.engine.meter import meter
from commonplace.engine.stage import Asking
from commonplace.errors import CommonplaceError, RunDamaged
from commonplace.minds.mind import Answer, Ask, Mind, Reply, RequestKey
from commonplace.minds.notes import Value, as_json
from commonplace.rng import Seeds
from commonplace.run.journal import ModelCall
from commonplace.run.reading import Reading
from commonplace.run.rows import AnswerRow

JOB_ORDINALS = 1000
"""Questions of the n-th job requested in a tick are numbered from n × 1000."""


@dataclass(slots=True)
class Drive:
    """One coroutine that asks questions, and its results."""

    agent: str
    tick: int
    asking: Asking
    first: int = 0
    """The ordinal of its first question."""
    questions: int = 0
    """How many of its questions have been answered."""
    result: Any = None
    rows: list[AnswerRow] = field(default_factory=list[AnswerRow])
    """Every attempt at the questions answered, in order of ordinal."""


class Driver:
    """Drives coroutines with one mind and one journal.

    `durable` says whether an attempt is kept at once (minds that cost something) or with its tick's commit (minds whose
    answer costs nothing). `concurrency`: how many questions may be in flight at once, over all characters.
    """

    def __init__(
        self, mind: Mind, journal: Journal, seed: int | Seeds, *, durable: bool, concurrency: int = 32
    ) -> None:
        self.mind = mind
        self._journal = journal
        self.seeds = Seeds(seed) if isinstance(seed, int) else seed
        """Changed with the run's seed."""
        self._durable = durable
        self._concurrency = concurrency
        self.start_session(Budget())

    def start_session(self, budget: Budget) -> None:
        """Applies this budget from now on, in the event loop that runs now."""
        self._spending = Spending(budget)
        self._gate = asyncio.Semaphore(self._concurrency)

    async def run(self, drives: Iterable[Drive]) -> None:
        """Drives all to their ends; those that wait for a server wait together. When one fails, the others are
        ended."""
        drives = tuple(drives)
        try:
            if self.mind.paid:
                await together(self._drive(drive) for drive in drives)
            else:
                for drive in drives:
                    await self._drive(drive)
        finally:
            for drive in drives:
                drive.asking.close()

    async def answer(self, owner: str, tick: int, ask: Ask[Any, Any]) -> Answer[Any]:
        """Returns the answer to a question that belongs to no turn. The same question is asked once in a tick."""
        number = self._journal.numbered(owner, tick, request_digest(ask))
        answer, _ = await self.answered(owner, tick, number, ask)
        return answer

    async def _drive(self, drive: Drive) -> None:
        answer: Answer[Any] | None = None
        while True:
            try:
                ask = drive.asking.send(answer)  # pyright: ignore[reportArgumentType] – None starts a coroutine
            except StopIteration as stop:
                drive.result = stop.value
                return
            # The ordinal is settled before anything is waited for: it must not depend on whose answer comes first.
            answer, rows = await self.answered(drive.agent, drive.tick, drive.first + drive.questions, ask)
            drive.rows += rows
            drive.questions += 1

    async def answered(
        self, agent: str, tick: int, number: int, ask: Ask[Any, Any]
    ) -> tuple[Answer[Any], list[AnswerRow]]:
        """Returns the answer to a question and every attempt at it: journal, then mind, then fallback."""
        request = request_digest(ask)
        rows = list(
            self._journal.find(agent, tick, number, request, task=ask.task.name, inputs=lambda: shown_input(ask))
        )
        reply: Reply | None = None
        told, found = meter(), len(rows)
        # A malformed answer may be asked for again. A fault is final: a replay must use the same fallback.
        while not rows or (rows[-1].outcome == "malformed" and rows[-1].attempt + 1 < self.mind.max_attempts):
            if rows and reply is None:  # an attempt of an earlier session: the mind is told what was wrong with it
                call, reply = self._journal.model_call(rows[-1]), Reply(None, rows[-1].outcome)
                if call is not None:
                    reply = replace(reply, error=call.error, kind=call.kind, prompt=call.prompt, raw=call.raw)
            attempt = rows[-1].attempt + 1 if rows else 0
            reply, seconds = await self._ask(ask, RequestKey(self.seeds.at(tick), agent, tick, number, attempt, reply))
            reply, body = _validated(ask, reply)
            row = AnswerRow(
                agent=agent,
                tick=tick,
                ordinal=number,
                attempt=attempt,
                task=ask.task.name,
                request=request,
                outcome=reply.outcome,
                body=body,
                usage=_usage(reply),
            )
            rows.append(row)
            told.attempted(row, reply.mind or self.mind.name, seconds)
            if self._durable:  # before the answer is used, so that a run killed now does not pay for it again
                self._journal.keep(row, ModelCall(reply.prompt, reply.raw, reply.error, reply.kind, seconds))
        last = rows[-1]
        told.settled(last, journaled=len(rows) == found)
        if last.outcome != "value":
            return Answer(ask.task.fallback(ask.input), last.outcome, last.ordinal), rows
        value = reply.value if reply is not None else None
        return Answer(value or _kept_value(ask, last), "value", last.ordinal), rows

    async def _ask(self, ask: Ask[Any, Any], request_key: RequestKey) -> tuple[Reply, float]:
        """Makes one attempt of the mind; returns the reply and the seconds it took, 0 for a mind that costs nothing."""
        if not self.mind.paid:  # it has no server to protect and costs nothing
            reply = self.mind.answer(ask, request_key)
            return reply if isinstance(reply, Reply) else await reply, 0.0
        if ask.unless is not None and (needless := ask.unless(ask.input, request_key)) is not None:
            return needless, 0.0
        told = meter()
        with told.asking(ask.task.name) as asking:
            async with self._gate:
                self._spending.reserve()
                asking.sent()
                began = time.monotonic()
                reply = self.mind.answer(ask, request_key)
                if not isinstance(reply, Reply):
                    reply = await reply
                self._spending.spent(reply)
                told.spent(self._spending)
                return reply, time.monotonic() - began


class Journal(Protocol):
    """Attempts at questions by (character, tick, ordinal)."""

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Returns every attempt kept at this question, in order. Raises RunDamaged when another one was asked there.

        `inputs`: the typed input as the trace has it, for the message.
        """
        ...

    def model_call(self, row: AnswerRow) -> ModelCall | None:
        """Returns what was sent and received at an attempt; None when it was not kept."""
        ...

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """Returns the ordinal under which a question was asked in its tick; the next free one for a new question."""
        ...

    def keep(self, row: AnswerRow, call: ModelCall) -> None:
        """Makes an attempt durable before it is used."""
        ...


class NoJournal:
    """For minds whose answers cost nothing: they are asked again instead, and written with their tick."""

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Finds no attempts."""
        del agent, tick, ordinal, request, task, inputs
        return ()

    def model_call(self, row: AnswerRow) -> ModelCall | None:
        """Returns None."""
        del row

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """Returns 0: there is no other question."""
        del agent, tick, request
        return 0

    def keep(self, row: AnswerRow, call: ModelCall) -> None:
        """Keeps nothing before the commit."""


async def together(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Waits for all; the first failure ends the others before it is raised.

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


def request_digest(ask: Ask[Any, Any]) -> bytes:
    """Returns the key digest of a question: task and typed input. The wording of a prompt is not part of it.

    Every field of the input is, at its default too: a new field makes all such questions other ones.
    """
    return digest(ask.task.name.encode(), as_json(ask.input))


def shown_input(ask: Ask[Any, Any]) -> str:
    """Returns the typed input as traces have it, JSON."""
    return canonical(question_entry(ask.task, ask.input, Answer(None, "", 0))["input"]).decode()


def _kept_value(ask: Ask[Any, Any], row: AnswerRow) -> Value:
    """Returns the value of a journaled answer. It was validated when it was kept: raises RunDamaged when it is invalid
    now."""
    try:
        return ask.task.output.model_validate_json(row.body)
    except ValueError as error:
        raise RunDamaged(
            f"the journaled answer to {row.task} of {row.agent} is not valid",
            where=f"tick {row.tick}, question {row.ordinal}",
            hint="the run has been changed, or other rules made it; `verify --integrity-only` tells which",
        ) from error


def _validated(ask: Ask[Any, Any], reply: Reply) -> tuple[Reply, bytes]:
    """Returns the reply and its canonical bytes; a value of another task, or one with a lone surrogate, is
    malformed."""
    if reply.value is None:
        return reply, b""
    if not isinstance(reply.value, ask.task.output):
        return _malformed(reply, f"this is not an answer to {ask.task.name}", "schema"), b""
    try:
        return reply, canonical(reply.value.model_dump(mode="json", exclude_defaults=True))
    except (UnicodeEncodeError, PydanticSerializationError):
        return _malformed(reply, "it contains characters that are not valid Unicode", "characters"), b""


def _malformed(reply: Reply, error: str, kind: str) -> Reply:
    return replace(reply, value=None, outcome="malformed", error=error, kind=kind)


def _usage(reply: Reply) -> dict[str, Any]:
    """Returns what is counted, without zeros, and the row that decided."""
    counts: dict[str, Any] = {
        "prompt_tokens": reply.prompt_tokens,
        "cached_tokens": reply.cached_tokens,
        "answer_tokens": reply.answer_tokens,
        "calls": reply.calls,
        "reused": reply.reused,
        "needless": reply.needless,
        "kind": "" if reply.outcome == "value" else reply.kind,
        "flaws": {flaw: count for flaw, count in reply.flaws.items() if count},
    }
    return {**{name: count for name, count in counts.items() if count}, **(reply.row or {})}


Key = tuple[str, int, int]
"""Character, tick, ordinal."""


class RecordedMind:
    """Gives the answer that the same character got to the same question.

    It looks at the same tick and ordinal first, then at the last place before, then at the first one after. A question
    that led to a fallback does so again.
    """

    paid = False
    max_attempts = 1

    def __init__(self, name: str, source: str, answers: Iterable[AnswerRow]) -> None:
        """Takes the `source`, the run with the answers, for messages, and all `answers`, in their order."""
        self.name = name
        self._source = source
        # Of several attempts at a question the last one counts.
        self._rows: Mapping[Key, AnswerRow] = {(row.agent, row.tick, row.ordinal): row for row in answers}
        self._last = max((tick for _, tick, _ in self._rows), default=0)
        self._places: dict[tuple[str, bytes], list[Key]] = {}
        for key, row in sorted(self._rows.items()):
            self._places.setdefault((row.agent, row.request), []).append(key)

    @classmethod
    def of(cls, name: str, path: str | Path) -> RecordedMind:
        """Reads the mind of a run file. Raises what `Reading.open` raises."""
        with Reading.open(path) as reading:
            return cls(name, str(path), reading.answers(used=False))

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the recorded reply. Raises CommonplaceError for a question that was never answered."""
        row = self._kept((request_key.agent, request_key.tick, request_key.number), request_digest(ask))
        if row is None:
            hint = "scenario, seed, settings and inputs must be those of that run; what is committed stays"
            if request_key.tick > self._last:
                hint = f"its last answer is of tick {self._last}; fork there with another mind"
            raise CommonplaceError(
                f"{self._source} has no answer for {request_key.agent} to this question ({ask.task.name})",
                where=f"tick {request_key.tick}, question {request_key.number}",
                hint=hint,
            )
        if row.outcome != "value":
            return Reply(None, row.outcome, error=f"as in {self._source}", kind=row.usage.get("kind", ""))
        try:
            return Reply(ask.task.output.model_validate_json(row.body), flaws=row.usage.get("flaws", {}))
        except ValueError as error:
            where = f"tick {row.tick}, question {row.ordinal}"
            raise RunDamaged(f"the answer of {row.agent} in {self._source} is not valid", where=where) from error

    async def close(self) -> None:
        """Does nothing."""

    def _kept(self, here: Key, request: bytes) -> AnswerRow | None:
        row = self._rows.get(here)
        if row is not None and row.request == request:
            return row
        places = self._places.get((here[0], request), [])
        return self._rows[places[max(0, bisect_right(places, here) - 1)]] if places else None
