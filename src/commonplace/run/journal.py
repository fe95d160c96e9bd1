"""The journal: every answer is kept before it is used, so that none is paid for twice.

Answers of a mind that costs something are kept one by one, as they arrive (`Journal.keep`). Answers of the offline mind
need not be: computing them again gives the same, so they come with the commit of their tick.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any, cast

from commonplace.canon import canonical
from commonplace.errors import RunDamaged
from commonplace.memory.stores.sqlite_file import transaction
from commonplace.run.codec import ANSWER, answer_from, packed_exchange, text_of, unpacked_exchange, unpacked_trace
from commonplace.run.commit import put_answers
from commonplace.run.connection import damaged, mended
from commonplace.run.tick_record import AnswerRow

# ── exchange ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# The exchange: what was said between a run and a mind at one attempt, word for word. In no digest.
#
# What a character is told is much alike from question to question. So an exchange is packed against earlier ones of the
# same character, its primers, a series of which is kept; one that is too unlike them becomes the next of the series.


WORN = 0.1
"""An exchange that is packed to more than this part of its length becomes a primer."""
FULL = 24_000
"""Bytes of a series of primers after which another one begins; zlib looks back over 32 kB."""
FIND = """
SELECT body, primer FROM exchange WHERE agent = ? AND tick = ? AND ordinal = ? AND attempt = ?
"""
SERIES = """
SELECT body FROM primer WHERE agent = :agent AND id <= :last
AND series = (SELECT series FROM primer WHERE id = :last) ORDER BY id
"""
LATEST = "SELECT max(id), series FROM primer WHERE agent = ?"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt to have a question answered, as it went over the wire."""

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


@dataclass(slots=True)
class _Series:
    """The primers a character's next exchange is packed against."""

    number: int
    last: int
    data: bytes
    """All of them, one after the other."""


class Exchanges:
    """The writer's side. Not for use by two threads at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._series: dict[str, _Series] = {}

    def put(self, row: AnswerRow, exchange: Exchange) -> None:
        """Add an exchange, in place of what was kept of the same attempt. Runs in the caller's transaction."""
        data = _bytes(exchange)
        series = self._series.get(row.agent) or self._loaded(row.agent)
        body = packed_exchange(data, series.data)
        if len(body) > WORN * len(data) or not series.last:
            self._extend(row.agent, series, data, body)
            body = packed_exchange(data, series.data)
        key = (row.agent, row.tick, row.ordinal, row.attempt)
        self._connection.execute("INSERT OR REPLACE INTO exchange VALUES (?, ?, ?, ?, ?, ?)", (*key, series.last, body))

    def forget(self) -> None:
        """After a transaction that came to nothing: what it added is not there."""
        self._series.clear()

    def _loaded(self, agent: str) -> _Series:
        last, number = self._connection.execute(LATEST, (agent,)).fetchone()
        data = b"" if last is None else primers(self._connection.execute(SERIES, {"agent": agent, "last": last}))
        found = self._series[agent] = _Series(number or 0, last or 0, data)
        return found

    def _extend(self, agent: str, series: _Series, data: bytes, body: bytes) -> None:
        """Make an exchange a primer: the next of the series, or the first of another."""
        if len(series.data) + len(data) > FULL:
            series.number, series.data, body = series.number + 1, b"", packed_exchange(data)
        cursor = self._connection.execute(
            "INSERT INTO primer(agent, series, body) VALUES (?, ?, ?)", (agent, series.number, body)
        )
        assert cursor.lastrowid is not None
        series.last = cursor.lastrowid
        series.data += data


def exchange_of(connection: sqlite3.Connection, row: AnswerRow) -> Exchange | None:
    """What was said at an attempt; None when it is not there. Raises ValueError for bytes that cannot be read."""
    found = connection.execute(FIND, (row.agent, row.tick, row.ordinal, row.attempt)).fetchone()
    if found is None:
        return None
    body, last = found
    data = primers(connection.execute(SERIES, {"agent": row.agent, "last": last}).fetchall())
    return exchange_from(body, data)


def primers(rows: Iterable[tuple[bytes]]) -> bytes:
    """A series from its rows: each is packed against those before it. Raises ValueError."""
    data = b""
    for (body,) in rows:
        data += unpacked_exchange(body, data)
    return data


def exchange_from(body: bytes, series: bytes) -> Exchange:
    """An exchange from its row and the primers it was packed against. Raises ValueError."""
    return Exchange(**json.loads(unpacked_exchange(body, series).decode(errors="surrogatepass")))


def _bytes(exchange: Exchange) -> bytes:
    """JSON without what is empty; a model's answer may hold lone surrogates."""
    kept = {name: value for name, value in asdict(exchange).items() if value}
    kept["seconds"] = round(exchange.seconds, 3)
    try:
        return canonical(kept)
    except UnicodeEncodeError:
        return json.dumps(kept, ensure_ascii=False, sort_keys=True).encode(errors="surrogatepass")


# ── journal ──────────────────────────────────────────────────────────────────────────────────────────────────────────


QUESTION = "agent = ? AND tick = ? AND ordinal = ?"
TRACE_OF = f"""
SELECT body FROM trace WHERE agent = ? AND tick = coalesce((SELECT max(used) FROM answer WHERE {QUESTION}), ?)
"""
NUMBERED = "SELECT ordinal FROM answer WHERE agent = ? AND tick = ? AND request = ? ORDER BY ordinal LIMIT 1"
NEXT = "SELECT coalesce(max(ordinal) + 1, 0) FROM answer WHERE agent = ? AND tick = ?"


class Diverged(RunDamaged):
    """A replay asked another question than the one that was answered: its history is not the journal's."""

    def __init__(self, what: str, *, where: str, agent: str, tick: int, ordinal: int) -> None:
        hint = "the program or the file has changed since; `commonplace verify` with the version that made the run"
        super().__init__(what, where=where, hint=hint)
        self.agent = agent
        self.tick = tick
        self.ordinal = ordinal


class Journal:
    """Attempts at questions, by (character, tick, ordinal). Not for use by two threads at once."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        """`where`: the file, for messages."""
        self._connection = connection
        self._where = where
        self._exchanges = Exchanges(connection)

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str = "", given: Callable[[], str] = str
    ) -> tuple[AnswerRow, ...]:
        """Every attempt kept at the question, in order, marked `from_cache` in its usage; none if it was never asked.

        The last one counts: asking ends with a `value` or a `fault`, and after a `malformed` attempt n it goes on with
        n + 1 if the mind allows one. Attempts that a fork's parent made at the very same question are taken over as
        they are, without what they cost. `task` and `given` (the typed input as JSON) only serve the message. Raises
        Diverged when another question stands under these numbers.
        """
        rows = self.attempts(agent, tick, ordinal)
        if rows and rows[0].request != request:
            before = kept_input(self._one, rows[0])
            raise diverged(rows[0], where=self._where, task=task, before=before, given=given())
        if not rows:
            offered = self._rows("offered", agent, tick, ordinal)
            rows = tuple(_free(row) for row in offered if row.request == request)
            self._take_over(rows)
        return tuple(replace(row, usage={**row.usage, "from_cache": True}) for row in rows)

    def attempts(self, agent: str, tick: int, ordinal: int) -> tuple[AnswerRow, ...]:
        """Every attempt kept of a question, in order; the answers offered by a fork's parent are left out."""
        return self._rows("answer", agent, tick, ordinal)

    def told(self, row: AnswerRow) -> Exchange | None:
        """What was said at an attempt; None when it was trimmed."""
        with mended(self._where):
            try:
                return exchange_of(self._connection, row)
            except ValueError as error:
                raise damaged(self._where, f"what was said to {row.agent} at tick {row.tick}: {error}") from error

    def numbered(self, agent: str, tick: int, request: bytes) -> int:
        """The ordinal of a question whose place in its tick means nothing; the next free one if it was never asked."""
        found = self._one(NUMBERED, agent, tick, request)
        return (found or self._one(NEXT, agent, tick))[0]

    def keep(self, row: AnswerRow, exchange: Exchange | None = None) -> None:
        """Write an attempt down, in a transaction of its own: it is there whatever happens next."""
        try:
            with mended(self._where), transaction(self._connection):
                put_answers(self._connection, [row], None)
                if exchange is not None and (exchange.prompt or exchange.raw or exchange.error):
                    self._exchanges.put(row, exchange)
        except BaseException:
            self._exchanges.forget()
            raise

    def _take_over(self, rows: Iterable[AnswerRow]) -> None:
        with mended(self._where):
            put_answers(self._connection, list(rows), None)

    def _rows(self, table: str, agent: str, tick: int, ordinal: int) -> tuple[AnswerRow, ...]:
        with mended(self._where):
            rows = self._connection.execute(
                f"SELECT {ANSWER}, usage FROM {table} WHERE {QUESTION} ORDER BY attempt", (agent, tick, ordinal)
            ).fetchall()
        return tuple(answer_from(row[:-1], row[-1]) for row in rows)

    def _one(self, query: str, *values: Any) -> Any:
        with mended(self._where):
            return self._connection.execute(query, values).fetchone()


def _free(row: AnswerRow) -> AnswerRow:
    """Somebody else's answer: it took nothing."""
    return replace(row, usage={name: value for name, value in row.usage.items() if name == "kind"})


def diverged(row: AnswerRow, *, where: str, task: str, before: str, given: str) -> Diverged:
    """The error for another question where `row` answers one. `before`, `given`: the typed inputs of both, JSON."""
    question = f"question {row.ordinal} of {row.agent} at tick {row.tick}"
    now = f"it is now {task!r}" if task and task != row.task else "its input is another now"
    what = f"{question} was {row.task!r}; {now}{_difference(before, given)}"
    return Diverged(what, where=where, agent=row.agent, tick=row.tick, ordinal=row.ordinal)


def kept_input(one: Callable[..., Any], row: AnswerRow) -> str:
    """The typed input of a question as the trace of the tick that used its answer has it; empty when there is none.

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
