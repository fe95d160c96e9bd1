"""The exchange: what was said between a run and a mind at one attempt, word for word. In no digest.

What a character is told is much alike from question to question. So an exchange is packed against earlier ones of the
same character, its primers, a series of which is kept; one that is too unlike them becomes the next of the series.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from commonplace.canon import canonical
from commonplace.run.packing import packed_exchange, unpacked_exchange
from commonplace.run.record import AnswerRow

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
