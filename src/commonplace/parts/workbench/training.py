"""`export RUN training`: prompts and the answers that were used, as chats to fine-tune a small model on."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

from commonplace.api import book, scenario_of
from commonplace.errors import UsageError
from commonplace.minds.mind import Ask
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.tasks.wire import schema, written
from commonplace.parts.model_servers.chat_mind import LONGEST_RAW
from commonplace.parts.model_servers.reply import data_in, spoken
from commonplace.parts.workbench.questions import (
    AskedQuestion,
    PromptAttempt,
    asked_again,
    attempts_at,
    event_of,
    messages_in,
    questions,
    value_of,
)
from commonplace.run.manifest import OFFLINE, templates_of
from commonplace.run.minds import mind_by_question
from commonplace.run.reading import Reading
from commonplace.servers import is_server, server_named
from commonplace.stages import by_name
from commonplace.whole_file import written_whole

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Examples:
    """A summary of what was written."""

    count: int
    bytes: int
    left_out: Mapping[str, int]
    """Reason → questions."""


class _LeftOut(Exception):
    """An answer that is no example. Its text is the reason."""


def export_training(reading: Reading, target: Path, *, offline: bool = False, force: bool = False) -> Examples:
    """Writes a line of JSON for each answer that was used as the model gave it; the file appears whole or not at all.

    Its keys are `messages` – those that were sent, then the answer – and `provenance`. Left out are questions without a
    usable answer, answers of rules, those of which more than the syntax was changed when they were read, those that are
    not kept whole, and those to a person. `offline`: the answers of the offline mind instead, as a model would write
    them.

    Raises UsageError for an existing target, unless `force`, for a run made under other rules, and where no answer is
    left.
    """
    left_out: Counter[str] = Counter()
    with written_whole(target, force=force) as part:
        with part.open("w", encoding="utf-8") as file, reading.snapshot():
            count = asyncio.run(_write(file, reading, offline, left_out))
        size = part.stat().st_size
        if not count:
            why = ", ".join(f"{number:,} {reason}" for reason, number in left_out.items()) or "nothing was asked"
            hint = "only answers of a model are examples; --offline takes those of the offline mind"
            raise UsageError(f"no answer is left ({why})", where=str(reading.path), hint=hint)
    return Examples(count, size, dict(left_out.most_common()))


async def _write(file: TextIO, reading: Reading, offline: bool, left_out: Counter[str]) -> int:
    """Writes the examples and returns how many there are."""
    by_turn: dict[int, list[AskedQuestion]] = {}
    for one in questions(reading):
        if one.turn is None:
            left_out["used by no turn"] += 1
        else:
            by_turn.setdefault(one.turn, []).append(one)
    make = _Examples(reading, offline)
    count = 0
    async for tick, asks in asked_again(
        reading, scenario_of(reading.manifest), by_name(reading.manifest.stage), by_turn
    ):
        for question in by_turn[tick]:
            try:
                file.write(json.dumps(make.of(question, asks[question.key]), ensure_ascii=False) + "\n")
                count += 1
            except _LeftOut as reason:
                left_out[str(reason)] += 1
    return count


class _Examples:
    """A maker of examples from the questions of one run."""

    def __init__(self, reading: Reading, offline: bool) -> None:
        self._reading = reading
        self._offline = offline
        self._book = book(reading.scenario, templates_of(reading.manifest))
        self._minds = mind_by_question(reading.manifest)
        self._run = reading.digest()

    def of(self, question: AskedQuestion, ask: Ask[Any, Any]) -> dict[str, Any]:
        """Returns the example. Raises _LeftOut."""
        agent, tick, _ = question.key
        mind = self._minds(agent, question.task)
        if question.needless or (mind == OFFLINE) != self._offline:
            raise _LeftOut("answered by rules" if question.needless or mind == OFFLINE else "of a model")
        last = attempts_at(self._reading, question, ask, self._book)[-1]
        if last.row.outcome != "value":
            raise _LeftOut("without a usable answer")
        if last.made != self._offline or len(last.call.raw) >= LONGEST_RAW:
            raise _LeftOut("not kept")
        data = self._as_shown(ask, last) if self._offline else _as_given(ask, last)
        answer = json.dumps(data, ensure_ascii=False)
        provenance = {
            "model": model_of(mind),
            "task": question.task,
            "run": self._run,
            "tick": tick,
            "character": agent,
            "event": event_of(self._reading, question),
        }
        messages = [*messages_in(last.call.prompt), {"role": "assistant", "content": answer}]
        return {"messages": messages, "provenance": provenance}

    def _as_shown(self, ask: Ask[Any, Any], attempt: PromptAttempt) -> Any:
        """Returns an answer of rules as a model could have given it, which knows only the prompt. Raises _LeftOut."""
        try:
            wire = written(ask, value_of(ask, attempt.row))
            value = self._book.read(ask, wire, self._book.prompt(ask).citable)
        except Unusable:  # such as a line that a prompt forbids to say again
            raise _LeftOut("not to be said by a model") from None
        return _asked_for(written(ask, value), schema(ask.task))


def _as_given(ask: Ask[Any, Any], attempt: PromptAttempt) -> Any:
    """Returns the data of an answer without what the schema does not ask for.

    Raises _LeftOut if it was read otherwise.
    """
    try:
        data = data_in(spoken(attempt.call.raw), cut=False)
    except Unusable:  # plain words, which some tasks take
        raise _LeftOut("mended") from None
    for tool in (False, True):
        form = schema(ask.task, tool=tool)
        given = _asked_for(data, form)
        if given == _asked_for(written(ask, value_of(ask, attempt.row), tool=tool), form):
            return given
    raise _LeftOut("mended")


def _asked_for(data: Any, form: Mapping[str, Any]) -> Any:
    """Returns only the data that a schema has properties for."""
    if isinstance(data, dict):
        members = cast("dict[str, Any]", data)
        parts = _within(form, "properties")
        return {name: _asked_for(members[name], part) for name, part in parts.items() if name in members}
    if isinstance(data, list):
        items = _within(form, "items")
        return [_asked_for(item, items) for item in cast("list[Any]", data)]
    return data


def _within(form: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns a part of a schema, or of the first of its alternatives that has it."""
    return next((one[name] for one in (form, *form.get("anyOf", ())) if name in one), NOTHING)


def model_of(mind: str) -> str:
    """Returns the model's name without its server's address; where no model is named, that it is the server's own."""
    if not is_server(mind):
        return mind
    server = server_named(mind)
    return server.model or f"the model of {server.kind or 'a server'}"
