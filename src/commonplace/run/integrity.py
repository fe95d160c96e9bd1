"""Integrity: both chains computed again from the rows as stored, and compared tick by tick."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from commonplace.errors import RunDamaged, command
from commonplace.run import digest as chain
from commonplace.run.digest import Digests
from commonplace.run.journal import model_call_from
from commonplace.run.rows import (
    ANSWER,
    EVENT,
    MEMORY,
    VERSION,
    inflated,
    unpacked_memory,
    unpacked_trace,
    unpacked_vector,
)

if TYPE_CHECKING:
    from commonplace.run.reading import Reading

CHUNK = 256
"""Ticks checked together."""
QUERIES = {
    "event": ("tick", EVENT, "event", "tick, phase, agent, ordinal"),
    "memory": ("tick", f"{MEMORY}, vector", "memory", "tick, agent, id"),
    "removal": ("removed", "agent, id", "memory", "removed, agent, id"),
    "touch": ("tick", "agent, tick, at, ids", "touch", "tick, agent"),
    "version": ("tick", VERSION, "version", "tick, owner, kind, key"),
    "answer": ("used", ANSWER, "answer", "used, agent, tick, ordinal, attempt"),
    "input": ("tick", "seq, tick, body", "input", "tick, seq"),
}
"""Kind → the column of the tick its rows belong to, what is hashed of them, table, canonical order."""
NAMES = {
    "event": "an event",
    "memory": "a memory or its vector",
    "removal": "a forgotten memory",
    "touch": "an access to memories",
    "version": "a plan, place, belief or other state",
    "answer": "an answer",
    "input": "an input",
}


def check(reading: Reading) -> int:
    """Recompute everything; returns the last tick. Raises RunDamaged naming the first tick that differs, and in what.

    Traces and model calls are in no digest: they are only checked to be readable.
    """
    with reading.open(reading.path, lenient=True) as bytewise, bytewise.snapshot():
        return _checked(bytewise)


def _checked(reading: Reading) -> int:
    _pages(reading)
    vectors = _vectors(reading)
    previous, last = Digests(chain.START, chain.START), reading.last_tick
    for begin in range(0, last + 1, CHUNK):
        rows = {kind: _rows(reading, kind, begin, vectors) for kind in QUERIES}
        query = "SELECT n, history, state, parts FROM tick WHERE n BETWEEN ? AND ?"
        stored = {number: kept for number, *kept in reading.all(query, begin, begin + CHUNK - 1)}
        for tick in range(begin, min(begin + CHUNK, last + 1)):
            if tick not in stored:
                raise _damage(reading, tick, "the tick is missing")
            here: dict[str, list[Any]] = {kind: groups.get(tick, []) for kind, groups in rows.items()}
            previous = _compared(reading, tick, here, previous, stored[tick])
    _beyond(reading, last)
    _traces(reading)
    _model_calls(reading)
    return last


def _compared(
    reading: Reading, tick: int, rows: Mapping[str, list[Any]], previous: Digests, stored: Sequence[bytes]
) -> Digests:
    """The chains after the tick. Raises RunDamaged unless they equal the stored ones."""
    history, state, parts = stored
    if not all(_typed(row[4], row[5]) for row in rows["event"]):
        raise _damage(reading, tick, _changed("event"))
    if chain.history_digest(previous.history, rows["event"]) != history:
        raise _damage(reading, tick, _changed("event"))
    for kind, kept in chain.unpacked_parts(parts).items():
        if chain.rows_digest(rows[kind]) != kept:
            raise _damage(reading, tick, _changed(kind))
    if chain.state_digest(previous.state, parts) != state:
        raise _damage(reading, tick, "the digest of the state does not match the stored one")
    return Digests(history, state)


def _pages(reading: Reading) -> None:
    found = [line for (line,) in reading.all("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise RunDamaged(f"the file's pages are damaged: {found[0]}", where=str(reading.path), hint=_todo(reading))


def _rows(reading: Reading, kind: str, begin: int, vectors: Mapping[int | None, bytes | None]) -> dict[int, list[Any]]:
    """The rows of a chunk of ticks as they are hashed, by tick."""
    column, cells, table, order = QUERIES[kind]
    groups: dict[int, list[Any]] = defaultdict(list)
    embedder = reading.manifest.embedder  # reading the manifest compares the scenario with its digest
    query = f"SELECT {column}, {cells} FROM {table} WHERE {table}.{column} BETWEEN ? AND ? ORDER BY {order}"
    for tick, *row in reading.all(query, begin, begin + CHUNK - 1):
        groups[tick].append(_hashed(row, embedder, vectors) if kind == "memory" else row)
    return groups


def _hashed(row: list[Any], embedder: str, vectors: Mapping[int | None, bytes | None]) -> tuple[Any, ...]:
    """A memory as it is hashed; unreadable cells become None, which is never hashed."""
    *stored, number = row
    try:
        cells: tuple[Any, ...] = unpacked_memory(tuple(stored))  # pyright: ignore[reportArgumentType] - MEMORY
    except (ValueError, TypeError, AttributeError):
        cells = (None,)
    return (*cells, embedder, vectors.get(number))


def _vectors(reading: Reading) -> dict[int | None, bytes | None]:
    """All vectors by number; an unreadable one becomes None, which is never hashed."""
    vectors: dict[int | None, bytes | None] = {None: b""}
    for number, value in reading.all("SELECT id, value FROM vector"):
        try:
            vectors[number] = unpacked_vector(value)
        except ValueError:
            vectors[number] = None
    return vectors


def _typed(type_: str, body: str) -> bool:
    """Whether the type column equals the type in the body; only the body is hashed."""
    try:
        return json.loads(body)["type"] == type_
    except (ValueError, KeyError, TypeError):
        return False


def _beyond(reading: Reading, last: int) -> None:
    """Raises RunDamaged for rows of ticks that were never committed."""
    for kind, (column, _, table, _) in QUERIES.items():
        (tick,) = reading.one(f"SELECT min({column}) FROM {table} WHERE {column} > ? OR {column} < 0", last)
        if tick is not None:
            raise _damage(reading, tick, f"{NAMES[kind]} of a tick that was never committed (the last is {last})")


def _traces(reading: Reading) -> None:
    for (agent,) in reading.all("SELECT DISTINCT agent FROM trace"):
        for tick, body in reading.all("SELECT tick, body FROM trace WHERE agent = ? ORDER BY tick", agent):
            try:
                unpacked_trace(body)
            except ValueError:
                raise _damage(reading, tick, f"the trace of {agent} cannot be read") from None


def _model_calls(reading: Reading) -> None:
    for (agent,) in reading.all("SELECT DISTINCT agent FROM model_call"):
        series = _series(reading, agent)
        for tick, body, primer in reading.all("SELECT tick, body, primer FROM model_call WHERE agent = ?", agent):
            try:
                model_call_from(body, series[primer])
            except (KeyError, ValueError, TypeError):
                raise _damage(reading, tick, f"a model call of {agent} cannot be read") from None


def _series(reading: Reading, agent: str) -> dict[int, bytes]:
    """Primer → its series up to it; what cannot be read is left out."""
    series: dict[int, bytes] = {}
    upto: dict[int, bytes] = {}
    for id_, number, body in reading.all("SELECT id, series, body FROM primer WHERE agent = ? ORDER BY id", agent):
        with suppress(ValueError, TypeError):
            before = series.get(number, b"")
            upto[id_] = series[number] = before + inflated(body, before)
    return upto


def _changed(kind: str) -> str:
    return f"{NAMES[kind]} has changed since it was written"


def _damage(reading: Reading, tick: int, what: str) -> RunDamaged:
    return RunDamaged(what, where=f"{reading.path}, tick {tick}", hint=_todo(reading))


def _todo(reading: Reading) -> str:
    return f"continue from an intact tick: {command('fork', reading.path)} --at TICK -o NEW"
