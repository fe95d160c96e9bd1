"""The journal: every answer is kept before it is used, so that none is paid for twice.

Answers of a mind that costs something are kept one by one, as they arrive (`Journal.keep`). Answers of the offline mind
need not be: computing them again gives the same, so they come with the commit of their tick.
"""

from __future__ import annotations

import json
import sqlite3
from itertools import zip_longest
from typing import Any, cast

from commonplace.errors import RunDamaged
from commonplace.run.commit import put_answers
from commonplace.run.connection import mended
from commonplace.run.packing import unpacked_trace
from commonplace.run.record import AnswerRow
from commonplace.run.rows import ANSWER, answer_from, text_of

QUESTION = "agent = ? AND tick = ? AND ordinal = ?"


class Diverged(RunDamaged):
    """A replay asked another question than the one that was answered: its history is not the journal's."""

    def __init__(self, what: str, *, where: str, agent: str, tick: int, ordinal: int) -> None:
        todo = "the program or the file has changed since; `commonplace verify` with the version that made the run"
        super().__init__(what, where=where, todo=todo)
        self.agent = agent
        self.tick = tick
        self.ordinal = ordinal


class Journal:
    """Answers by (character, tick, ordinal). Not for use by two threads at once."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        """`where`: the file, for messages."""
        self._connection = connection
        self._where = where

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str = "", given: str = ""
    ) -> AnswerRow | None:
        """What came of the question: the attempt that brought a value, else the last one made; None if none was.

        A `fault` is final: every replay meets its fallback again. After a `malformed` attempt n the asker goes on with
        attempt n + 1 if its policy allows one. An answer that a fork's parent had to the very same question counts.
        `task` and `given` (the typed input as JSON) only serve the message. Raises Diverged when another question
        stands under these numbers.
        """
        rows = self.attempts(agent, tick, ordinal)
        if rows and rows[0].request != request:
            raise self._diverged(rows[0], task, given)
        if not rows:
            rows = tuple(row for row in self._rows("offered", agent, tick, ordinal) if row.request == request)
        values = [row for row in rows if row.outcome == "value"]
        return values[-1] if values else rows[-1] if rows else None

    def attempts(self, agent: str, tick: int, ordinal: int) -> tuple[AnswerRow, ...]:
        """Every attempt kept of a question, in order; the answers offered by a fork's parent are left out."""
        return self._rows("answer", agent, tick, ordinal)

    def keep(self, row: AnswerRow) -> None:
        """Write an attempt down, in a transaction of its own: it is there whatever happens next."""
        with mended(self._where):
            put_answers(self._connection, [row], None)

    def _rows(self, table: str, agent: str, tick: int, ordinal: int) -> tuple[AnswerRow, ...]:
        with mended(self._where):
            rows = self._connection.execute(
                f"SELECT {ANSWER}, usage FROM {table} WHERE {QUESTION} ORDER BY attempt", (agent, tick, ordinal)
            ).fetchall()
        return tuple(answer_from(row[:-1], row[-1]) for row in rows)

    def _diverged(self, row: AnswerRow, task: str, given: str) -> Diverged:
        question = f"question {row.ordinal} of {row.agent} at tick {row.tick}"
        now = f"it is now {task!r}" if task and task != row.task else "its input is another now"
        difference = _difference(self._input(row), given)
        what = f"{question} was {row.task!r}; {now}{difference}"
        return Diverged(what, where=self._where, agent=row.agent, tick=row.tick, ordinal=row.ordinal)

    def _input(self, row: AnswerRow) -> str:
        """The typed input as the trace of a committed tick has it; empty when there is none."""
        found = self._connection.execute(
            "SELECT body FROM trace WHERE agent = ? AND tick = ?", (row.agent, row.tick)
        ).fetchone()
        if found is None:
            return ""
        asked: list[dict[str, Any]] = unpacked_trace(found[0]).get("asked", [])
        return next((text_of(entry.get("input")) for entry in asked if entry.get("ordinal") == row.ordinal), "")


def _difference(before: str, now: str) -> str:
    """Where two typed inputs part: `; situation.sky was "clear", is "rain"`."""
    try:
        found = _first_difference(json.loads(before), json.loads(now), "")
    except ValueError:
        return ""
    if found is None:
        return ""
    path, old, new = found
    return f"; {path} was {json.dumps(old, ensure_ascii=False)}, is {json.dumps(new, ensure_ascii=False)}"


def _first_difference(old: Any, new: Any, path: str) -> tuple[str, Any, Any] | None:
    found: list[tuple[str, Any, Any]]
    if isinstance(old, dict) and isinstance(new, dict):
        was, now = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        keys = sorted({*was, *now})
        found = [(f"{path}.{key}" if path else key, was.get(key), now.get(key)) for key in keys]
    elif isinstance(old, list) and isinstance(new, list):
        one, other = cast("list[Any]", old), cast("list[Any]", new)
        found = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip_longest(one, other))]
    else:
        return None if old == new else (path, cast(Any, old), new)
    deeper = (_first_difference(was, now, name) for name, was, now in found)
    return next((difference for difference in deeper if difference), None)
