"""The journal: every answer is kept before it is used, so that none is paid for twice.

Answers of a mind that costs something are kept one by one, as they arrive (`Journal.keep`). Answers of the offline mind
need not be: computing them again gives the same, so they come with the commit of their tick.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any, cast

from commonplace.canon import canonical, parsed
from commonplace.errors import RunDamaged
from commonplace.memory.stores.codec import LONGEST, inflated
from commonplace.run import seals
from commonplace.run.place import Connection
from commonplace.run.rows import (
    ANSWER,
    AnswerRow,
    StoredAnswer,
    answer_from,
    deflated,
    stored_answer,
    text_of,
    unpacked_trace,
)
from commonplace.run.schema import RUN, damage, inserting, replacing
from commonplace.sqlite import transaction

QUESTION = "agent = ? AND tick = ? AND ordinal = ?"
TRACE_OF = f"""
SELECT body FROM trace WHERE agent = ? AND tick = coalesce((SELECT max(used) FROM answer WHERE {QUESTION}), ?)
"""
WAITING = f"SELECT {ANSWER}, usage FROM answer WHERE {QUESTION} AND attempt = ? AND used IS NULL"
NUMBERED = "SELECT ordinal FROM answer WHERE agent = ? AND tick = ? AND request = ? ORDER BY ordinal LIMIT 1"
UNUSED_PRIMERS = """
DELETE FROM primer WHERE (agent, series) NOT IN
  (SELECT primer.agent, series FROM model_call JOIN primer ON primer.id = model_call.primer)"""
"""Run this after model calls were deleted."""
NEXT = "SELECT coalesce(max(ordinal) + 1, 0) FROM answer WHERE agent = ? AND tick = ?"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What was sent to a model, and received, at one attempt to have a question answered. Sealed, in no chain."""

    prompt: str = ""
    """What a model was asked, as text."""
    raw: str = ""
    """What it answered."""
    error: str = ""
    """What was wrong with that, for people."""
    kind: str = ""
    """The kind of fault in a word."""
    seconds: float = 0.0
    """By the wall clock; for information."""


class Diverged(RunDamaged):
    """A replay asked another question than the one that was answered: its history differs from the journal's."""

    def __init__(self, what: str, *, where: str, agent: str, tick: int, ordinal: int) -> None:
        hint = "the program or the run has changed since; `commonplace verify` with the version that made the run"
        super().__init__(what, where=where, hint=hint)
        self.agent = agent
        self.tick = tick
        self.ordinal = ordinal


class Journal:
    """Attempts at questions, by (character, tick, ordinal). Not for use by two threads at once."""

    def __init__(self, connection: Connection, where: str) -> None:
        """`where`: the file, for messages."""
        self._connection = connection
        self._where = where
        self._calls = _ModelCalls(connection)

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str = "", inputs: Callable[[], str] = str
    ) -> tuple[AnswerRow, ...]:
        """Returns every attempt kept at the question, in order, marked `from_cache` in its usage; none if never asked.

        The last one counts: asking ends with a `value` or a `fault`, and after a `malformed` attempt n it goes on with
        n + 1 if the mind allows one. Attempts that a fork's parent made at the very same question are taken over as
        they are, without what they cost. `task` and `inputs` (the typed input as JSON) only serve the message. Raises
        Diverged when the journal has another question under these numbers.
        """
        rows = self.attempts(agent, tick, ordinal)
        if rows and rows[0].request != request:
            before = kept_input(self._one, rows[0])
            raise diverged(rows[0], where=self._where, task=task, before=before, inputs=inputs())
        if not rows:
            offered = self._rows("offered", agent, tick, ordinal)
            rows = tuple(_free(row) for row in offered if row.request == request)
            with RUN.errors(self._where), transaction(self._connection):
                put_answers(self._connection, [stored_answer(row) for row in rows], None)
        return tuple(replace(row, usage={**row.usage, "from_cache": True}) for row in rows)

    def attempts(self, agent: str, tick: int, ordinal: int) -> tuple[AnswerRow, ...]:
        """Returns every attempt kept of a question, in order; the answers offered by a fork's parent are left out."""
        return self._rows("answer", agent, tick, ordinal)

    def model_call(self, row: AnswerRow) -> ModelCall | None:
        """Returns what was sent and received at an attempt; None when it was not kept or was trimmed."""
        with RUN.errors(self._where):
            try:
                return model_call_of(self._connection, row)
            except ValueError as error:
                raise damage(self._where, f"the model call of {row.agent} at tick {row.tick}: {error}") from error

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """Returns the ordinal of this question in the tick; the next free one if it was never asked."""
        found = self._one(NUMBERED, agent, tick, request)
        return (found or self._one(NEXT, agent, tick))[0]

    def keep(self, row: AnswerRow, call: ModelCall | None = None) -> None:
        """Write an attempt down, in a transaction of its own, so that a crash cannot lose it."""
        try:
            with RUN.errors(self._where), transaction(self._connection):
                put_answers(self._connection, [stored_answer(row)], None)
                if call is not None and (call.prompt or call.raw or call.error):
                    self._calls.put(row, call)
        except BaseException:
            self._calls.forget()
            raise

    def _rows(self, table: str, agent: str, tick: int, ordinal: int) -> tuple[AnswerRow, ...]:
        with RUN.errors(self._where):
            rows = self._connection.execute(
                f"SELECT {ANSWER}, usage FROM {table} WHERE {QUESTION} ORDER BY attempt", (agent, tick, ordinal)
            ).fetchall()
        return tuple(map(answer_from, rows))

    def _one(self, query: str, *values: Any) -> Any:
        with RUN.errors(self._where):
            return self._connection.execute(query, values).fetchone()


def put_answers(connection: Connection, rows: Sequence[StoredAnswer], used: int | None) -> None:
    """Keep answers, replacing what was kept of the same attempts. Runs in the caller's transaction.

    `used`: the tick whose turns used them; None for answers that wait for the commit of their tick.
    """
    if used is None:
        for row in rows:
            before = connection.execute(WAITING, row[:4]).fetchone()
            if before is not None:
                seals.remove(connection, "waiting", before)
            seals.add(connection, "waiting", row)
    connection.executemany(replacing("answer"), [(*row, used) for row in rows])
    if used is not None and seals.stored(connection, "waiting") != seals.EMPTY:
        seals.renew(connection, "waiting")


def _free(row: AnswerRow) -> AnswerRow:
    """Returns an answer taken over from a fork's parent without what it cost: it cost this run nothing."""
    return replace(
        row, usage={name: value for name, value in row.usage.items() if name in {"kind", "needless", "flaws"}}
    )


def diverged(row: AnswerRow, *, where: str, task: str, before: str, inputs: str) -> Diverged:
    """Returns the error for a question that `row` does not answer. `before`, `inputs`: both typed inputs, as JSON."""
    question = f"question {row.ordinal} of {row.agent} at tick {row.tick}"
    now = f"it is now {task!r}" if task and task != row.task else "its input has changed"
    what = f"{question} was {row.task!r}; {now}{_difference(before, inputs)}"
    return Diverged(what, where=where, agent=row.agent, tick=row.tick, ordinal=row.ordinal)


def kept_input(one: Callable[..., Any], row: AnswerRow) -> str:
    """Returns the typed input of a question from the trace of the tick that used its answer; empty without that trace.

    `one` gives the first row of a query.
    """
    found = one(TRACE_OF, row.agent, row.agent, row.tick, row.ordinal, row.tick)
    if found is None:
        return ""
    trace = unpacked_trace(found[0])
    jobs = [job for job in trace.get("delivered", []) if job.get("asked_at") == row.tick]
    asked: list[Mapping[str, Any]] = [*trace.get("asked", []), *(one for job in jobs for one in job.get("asked", []))]
    return next((text_of(entry.get("input")) for entry in asked if entry.get("ordinal") == row.ordinal), "")


def _difference(before: str, now: str) -> str:
    """Tells where two typed inputs first differ: `; situation.sky was "clear", is "rain"`."""
    try:
        found = _first_difference(parsed(before), parsed(now), "")
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


# ── model calls ─────────────────────────────────────────────────────────────────────────────────────────────────────
# The prompts of one character repeat much of each other. So a call is compressed with a series of earlier calls of the
# same character, its primers, as zlib's dictionary. A call that is too unlike them becomes the next primer.


UNLIKE = 0.1
"""A call that is compressed to more than this share of its length becomes a primer."""
FULL = 24_000
"""Bytes of a series of primers after which another one begins; zlib looks back over 32 kB."""
FIND = """
SELECT body, primer FROM model_call WHERE agent = ? AND tick = ? AND ordinal = ? AND attempt = ?
"""
SERIES = """
SELECT body FROM primer WHERE agent = :agent AND id <= :last
AND series = (SELECT series FROM primer WHERE id = :last) ORDER BY id
"""
LATEST = "SELECT id, series FROM primer WHERE agent = ? ORDER BY id DESC LIMIT 1"
LAST_PRIMER = "SELECT coalesce(max(id), 0) FROM primer"


@dataclass(slots=True)
class _Series:
    """The primers that a character's next call is compressed with."""

    number: int
    last: int
    data: bytes
    """All of them, one after the other."""


class _ModelCalls:
    """Writes model calls. Not for use by two threads at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._series: dict[str, _Series] = {}

    def put(self, row: AnswerRow, call: ModelCall) -> None:
        """Add a call, replacing what was kept of the same attempt. Runs in the caller's transaction."""
        data = _bytes(call)
        series = self._series.get(row.agent) or self._loaded(row.agent)
        body = deflated(data, series.data)
        if len(body) > UNLIKE * len(data) or not series.last:
            self._extend(row.agent, series, data, body)
            body = deflated(data, series.data)
        key = (row.agent, row.tick, row.ordinal, row.attempt)
        before = self._connection.execute(FIND, key).fetchone()
        if before is not None:
            seals.remove(self._connection, "call", (*key, before[1], before[0]))
        seals.add(self._connection, "call", (*key, series.last, body))
        self._connection.execute(replacing("model_call"), (*key, series.last, body))

    def forget(self) -> None:
        """Call this after a rolled-back transaction: the primers it added were not stored."""
        self._series.clear()

    def _loaded(self, agent: str) -> _Series:
        last, number = self._connection.execute(LATEST, (agent,)).fetchone() or (0, 0)
        data = _primers(self._connection, agent, last) if last else b""
        found = self._series[agent] = _Series(number, last, data)
        return found

    def _extend(self, agent: str, series: _Series, data: bytes, body: bytes) -> None:
        """Make a call a primer: the next of its series, or the first of another."""
        if len(series.data) + len(data) > FULL:
            series.number, series.data, body = series.number + 1, b"", deflated(data)
        series.last = self._connection.execute(LAST_PRIMER).fetchone()[0] + 1
        row = (series.last, agent, series.number, body)
        self._connection.execute(inserting("primer"), row)
        seals.add(self._connection, "primer", row)
        series.data += data


def model_call_of(connection: Connection, row: AnswerRow) -> ModelCall | None:
    """Returns what was sent and received at an attempt, None if not kept. Raises ValueError for unreadable bytes."""
    found = connection.execute(FIND, (row.agent, row.tick, row.ordinal, row.attempt)).fetchone()
    if found is None:
        return None
    body, last = found
    return model_call_from(body, _primers(connection, row.agent, last))


def _primers(connection: Connection, agent: str, last: int) -> bytes:
    """Returns the series that ends with a primer."""
    return primers(body for (body,) in connection.execute(SERIES, {"agent": agent, "last": last}).fetchall())


def primers(bodies: Iterable[bytes], before: bytes = b"") -> bytes:
    """Decompresses a series from its rows, each compressed with those before it. Raises ValueError."""
    data = before
    for body in bodies:
        room = FULL - len(data) if data else LONGEST
        data += inflated(body, data, most=room)
    return data


def model_call_from(body: bytes, series: bytes) -> ModelCall:
    """Reads a call from its row and the primers it was compressed with. Raises ValueError."""
    given = parsed(inflated(body, series).decode(errors="surrogatepass"))
    try:
        call = ModelCall(**given)
    except TypeError as error:
        raise ValueError(f"not a model call: {error}") from error
    words: tuple[Any, ...] = (call.prompt, call.raw, call.error, call.kind)
    if not all(isinstance(text, str) for text in words):
        raise ValueError("not a model call: words that are no text")
    return call


def _bytes(call: ModelCall) -> bytes:
    """Encodes a call as JSON without what is empty; a model's answer may hold lone surrogates."""
    kept = {name: value for name, value in asdict(call).items() if value}
    kept["seconds"] = round(call.seconds, 3)
    try:
        return canonical(kept)
    except UnicodeEncodeError:
        return json.dumps(kept, ensure_ascii=False, sort_keys=True).encode(errors="surrogatepass")
