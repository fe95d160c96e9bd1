"""A question on its way: where it stands in the journal, the attempts made at it, and the answer it comes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic_core import PydanticSerializationError

from commonplace.canon import canonical, digest
from commonplace.cognition.trace import asked
from commonplace.errors import RunDamaged
from commonplace.minds.asking import Answer, Ask
from commonplace.minds.mind import Asker, Reply
from commonplace.minds.notes import Value
from commonplace.run.exchange import Exchange
from commonplace.run.record import AnswerRow


class Journal(Protocol):
    """Attempts at questions by (character, tick, ordinal)."""

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, given: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Every attempt kept at this question, in order. Raises RunDamaged when another one was asked there.

        `given`: the typed input as the trace has it, for the message.
        """
        ...

    def told(self, row: AnswerRow) -> Exchange | None:
        """What was said between the run and the mind at an attempt; None when it is not there (any more)."""
        ...

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """The ordinal of a question that may stand anywhere in its tick; the next free one for a new question."""
        ...

    def keep(self, row: AnswerRow, exchange: Exchange) -> None:
        """Make an attempt durable before it is used."""
        ...


class NoJournal:
    """For minds whose answers can be had again for nothing: they are written with their tick."""

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, given: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Nothing is looked up."""
        del agent, tick, ordinal, request, task, given
        return ()

    def told(self, row: AnswerRow) -> Exchange | None:
        """Nothing was kept."""
        del row

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """There is no other."""
        del agent, tick, request
        return 0

    def keep(self, row: AnswerRow, exchange: Exchange) -> None:
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
            agent, tick, number, question.request, task=ask.task.name, given=lambda: shown_input(ask)
        )
        return question

    def is_open(self, tries: int) -> bool:
        """Whether to ask (again). A `fault` is final; a `malformed` answer is, after so many tries."""
        if not self.rows:
            return True
        last = self.rows[-1]
        return last.outcome == "malformed" and last.attempt + 1 < tries

    def asker(self, seed: int, journal: Journal) -> Asker:
        """Who asks: the key of the next attempt."""
        attempt = self.rows[-1].attempt + 1 if self.rows else 0
        if attempt and self.before is None:
            self.before = _as_reply(self.rows[-1], journal.told(self.rows[-1]))
        return Asker(seed, self.agent, self.tick, self.number, attempt, self.before)

    def take(self, reply: Reply, seconds: float = 0.0) -> tuple[AnswerRow, Exchange]:
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
        return row, Exchange(reply.prompt, reply.raw, reply.error, reply.kind, seconds)

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


def _as_reply(row: AnswerRow, told: Exchange | None) -> Reply:
    """An unusable reply of an earlier sitting."""
    if told is None:
        return Reply(None, row.outcome)
    return Reply(None, row.outcome, told.error, told.kind, told.prompt, told.raw)


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
