"""Integrity: all chains and seals computed again from the rows as stored, and compared tick by tick."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple

from commonplace.canon import digest, parsed
from commonplace.errors import CommonplaceError, RunDamaged, command
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.run import digest as chain
from commonplace.run import seals
from commonplace.run.digest import Chains
from commonplace.run.journal import model_call_from, primers
from commonplace.run.place import Address, Place
from commonplace.run.rows import (
    ANSWER,
    EVENT,
    MEMORY,
    VERSION,
    unpacked_memory,
    unpacked_trace,
    unpacked_vector,
    vector_digest,
)
from commonplace.run.schema import RESTORE
from commonplace.run.tables import Tables
from commonplace.text import clean, shortened

CHUNK = 256
"""Ticks checked together."""
TRIMMED = "trimmed"
"""The note in `meta` that says what was taken out on purpose: JSON, kind of row → the last tick without such rows."""
SEALED_SINCE = 4
"""The first format with a record chain and seals."""
TRIMMABLE = {"trace": "traces", "call": "prompts"}
"""Kinds of rows that may be taken out of a finished run, in words."""


class Query(NamedTuple):
    """How the rows of a kind are read as they are hashed."""

    column: str
    """Of the tick that they belong to."""
    cells: str
    """What is hashed of them."""
    table: str
    order: str
    """The canonical one."""
    words: str
    """What such a row is, for people."""


QUERIES = {
    "event": Query("tick", EVENT, "event", "tick, phase, agent, ordinal", "an event"),
    "memory": Query("tick", f"{MEMORY}, vector", "memory", "tick, agent, id", "a memory or its vector"),
    "removal": Query("removed", "agent, id", "memory", "removed, agent, id", "a forgotten memory"),
    "touch": Query("tick", "agent, tick, at, ids", "touch", "tick, agent", "an access to memories"),
    "version": Query("tick", VERSION, "version", "tick, owner, kind, key", "a plan, place, belief or other state"),
    "answer": Query("used", ANSWER, "answer", "used, agent, tick, ordinal, attempt", "an answer"),
    "input": Query("tick", "seq, tick, body", "input", "tick, seq", "an input"),
    "trace": Query("tick", "agent, tick, body", "trace", "tick, agent", "a trace (why a character did what it did)"),
    "usage": Query(
        "used", "agent, tick, ordinal, attempt, usage", "answer", "used, agent, tick, ordinal, attempt",
        "what an answer cost",
    ),
}  # fmt: skip
SEALS = {
    "meta": "the manifest or a note",
    "waiting": "an answer that no tick has used yet",
    "offered": "an answer of the parent run",
    "queued": "a queued input",
    "call": "what was said to and by a model",
    "primer": "what was said to and by a model (a primer)",
}


def check(reading: Tables) -> int:
    """Recompute everything; returns the last tick. Raises RunDamaged naming the first tick that differs, and in what.

    In a file of format 3 no digest covers traces, usage, model calls, notes and what waits: traces and model calls are
    only checked to be readable (see `unchecked`).
    """
    try:
        with closing(reading.open(reading.path, lenient=True)) as bytewise, bytewise.snapshot():
            return _checked(bytewise)
    except UNREADABLE as error:
        raise _damage(reading, f"it cannot be read ({type(error).__name__})") from error


def blame(path: Place, error: BaseException | None) -> None:
    """Raises RunDamaged if an unexpected error comes from damage of the run there, naming the damage."""
    if not isinstance(error, (*UNREADABLE, sqlite3.Error)):
        return
    try:
        with closing(Tables.open(path)) as tables:
            check(tables)
    except CommonplaceError as damage:
        raise damage from error


def unchecked(reading: Tables) -> list[str]:
    """Lists what `check` cannot tell about this file, as sentences; usually there are none."""
    found = [f"{TRIMMABLE[kind]}: trimmed up to tick {tick}" for kind, tick in sorted(trimmed(reading).items())]
    if reading.format < SEALED_SINCE:
        found.append(
            f"format {reading.format} has no digest of traces, prompts, usage, notes and what waits;"
            " `resume` brings the file to the newest format"
        )
    return found


def trimmed(reading: Tables) -> dict[str, int]:
    """Returns kind of row → the last tick whose rows were taken out on purpose. Raises RunDamaged."""
    try:
        found = parsed(reading.meta(TRIMMED) or "{}")
        return {kind: int(tick) for kind, tick in found.items() if kind in TRIMMABLE}
    except UNREADABLE as error:
        raise RunDamaged(f"the note {TRIMMED!r} cannot be read", where=str(reading.path)) from error


def _checked(reading: Tables) -> int:
    _pages(reading)
    _semantics(reading)
    vectors = vectors_by_number(reading)
    sealed, gone = reading.format >= SEALED_SINCE, trimmed(reading)
    kinds = [kind for kind in QUERIES if sealed or kind not in chain.RECORD_KINDS]
    columns = "history, state, record, parts" if sealed else "history, state, x'', parts"
    previous, last = chain.BEGINNING, _last(reading)
    for begin in range(0, last + 1, CHUNK):
        rows = {kind: rows_by_tick(reading, kind, begin, vectors) for kind in kinds}
        query = f"SELECT n, {columns} FROM tick WHERE n BETWEEN ? AND ?"
        stored = {number: kept for number, *kept in reading.all(query, begin, begin + CHUNK - 1)}
        for tick in range(begin, min(begin + CHUNK, last + 1)):
            if tick not in stored:
                raise _damage(reading, "the tick is missing", tick)
            here: dict[str, list[Any]] = {kind: groups.get(tick, []) for kind, groups in rows.items()}
            absent = {kind for kind, upto in gone.items() if tick <= upto and not here.get(kind)}
            previous = _compared(reading, tick, here, previous, stored[tick], absent)
    _beyond(reading, last, kinds)
    _vector_keys(reading, vectors)
    if sealed:
        _seals(reading)
    else:
        _traces(reading)
        _model_calls(reading)
    return last


def _last(reading: Tables) -> int:
    """Returns the last tick there is, even if others are missing."""
    first, last = reading.one("SELECT min(n), max(n) FROM tick")
    if last is not None and first < 0:
        raise _damage(reading, "a tick before the first", first)
    return -1 if last is None else last


def _compared(
    reading: Tables,
    tick: int,
    rows: Mapping[str, list[Any]],
    previous: Chains,
    stored: Sequence[Any],
    absent: Collection[str],
) -> Chains:
    """Returns the chains after the tick. Raises RunDamaged unless they equal the stored ones."""
    history, state, record, parts = stored
    kinds = chain.KINDS if "trace" in rows else chain.STATE_KINDS
    size = len(kinds) * len(chain.START)
    if not isinstance(parts, bytes) or len(parts) != size:
        raise _damage(reading, "the digests by kind of row have changed since they were written", tick)
    what = difference(rows, previous, stored, [kind for kind in kinds if kind not in absent])
    if what:
        raise _damage(reading, _changed(what), tick)
    if "trace" in rows and chain.record_digest(previous.record, parts) != record:
        raise _damage(reading, _changed("the digest of the record"), tick)
    return Chains(history, state, record)


def difference(rows: Mapping[str, list[Any]], previous: Chains, stored: Sequence[Any], kinds: Collection[str]) -> str:
    """Names the first part of a tick that is not as it was committed, as `an event`; empty if all is.

    `stored`: history, state, record and the digests by kind of the tick. `kinds`: what is compared beside the events.
    """
    history, state, _, parts = stored
    typed = all(is_typed(row[4], row[5]) for row in rows["event"])
    if not typed or digest_or_none(chain.history_digest, previous.history, rows["event"]) != history:
        return QUERIES["event"].words
    kept = chain.unpacked_parts(parts) if isinstance(parts, bytes) else {}
    for kind in kinds:
        if kind not in kept or digest_or_none(chain.part_digest, kind, rows[kind]) != kept[kind]:
            return QUERIES[kind].words
    return "" if chain.state_digest(previous.state, parts) == state else "the digest of the state"


def digest_or_none(function: Any, *given: Any) -> bytes | None:
    """Returns what a digest function gives; None, which equals no stored digest, for cells that are never hashed."""
    try:
        return function(*given)
    except UNREADABLE:
        return None


def _seals(reading: Tables) -> None:
    stored = dict(reading.all("SELECT kind, digest FROM seal"))
    for kind, what in SEALS.items():
        if digest_or_none(seals.summed, reading.each(seals.SEALED[kind])) != stored.pop(kind, None):
            raise _damage(reading, _changed(what))
    if stored:
        raise _damage(reading, f"seals of unknown kinds: {sorted(stored)}")


def _semantics(reading: Tables) -> None:
    """Raises RunDamaged unless the manifest and the note beside it name the same rules."""
    if reading.meta("semantics") != str(reading.manifest.semantics):
        what = "the semantics in the manifest are not those the run was made under"
        raise _damage(reading, what)


def _pages(reading: Tables) -> None:
    if isinstance(reading.path, Address):
        return  # the server checks its own
    found = [line for (line,) in reading.all("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise _damage(reading, f"the file's pages are damaged: {found[0]}")


def rows_by_tick(
    reading: Tables, kind: str, begin: int, vectors: Mapping[int | None, bytes | None]
) -> dict[int, list[Any]]:
    """Returns the rows of a chunk of ticks as they are hashed, by tick."""
    column, cells, table, order, _ = QUERIES[kind]
    groups: dict[int, list[Any]] = defaultdict(list)
    embedder = reading.manifest.embedder  # reading the manifest compares the scenario with its digest
    query = f"SELECT {column}, {cells} FROM {table} WHERE {table}.{column} BETWEEN ? AND ? ORDER BY {order}"
    for tick, *row in reading.all(query, begin, begin + CHUNK - 1):
        groups[tick].append(_hashed(row, embedder, vectors) if kind == "memory" else row)
    return groups


def _hashed(row: list[Any], embedder: str, vectors: Mapping[int | None, bytes | None]) -> tuple[Any, ...]:
    """Returns a memory as it is hashed; unreadable cells become an object, which is never hashed."""
    *stored, number = row
    try:
        cells: tuple[Any, ...] = unpacked_memory(tuple(stored))  # pyright: ignore[reportArgumentType] - MEMORY
    except UNREADABLE:
        cells = (_NEVER,)
    raw = vectors.get(number)
    return (*cells, embedder, _NEVER if raw is None else raw)


_NEVER = object()
"""Stands for a cell that cannot be read. Its row is not hashed."""


def vectors_by_number(reading: Tables) -> dict[int | None, bytes | None]:
    """Returns all vectors by number; an unreadable one becomes None."""
    vectors: dict[int | None, bytes | None] = {None: b""}
    for number, value in reading.each("SELECT id, value FROM vector"):
        vectors[number] = digest_or_none(unpacked_vector, value)
    return vectors


def _vector_keys(reading: Tables, vectors: Mapping[int | None, bytes | None]) -> None:
    """Raises RunDamaged for a vector that belongs to no memory, or is kept under the key of another text."""
    for number, _, _ in misplaced_vectors(reading, vectors):
        what = f"vector {number} is not that of a memory"
        raise _damage(reading, what)


def misplaced_vectors(
    reading: Tables, vectors: Mapping[int | None, bytes | None]
) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    """Yields (number, key of its text, content) of vectors that are not under their key; None where there is none."""
    embedder = reading.manifest.embedder
    texts = reading.each("SELECT DISTINCT vector, text FROM memory WHERE vector IS NOT NULL")
    keys = {number: digest_or_none(vector_digest, embedder, text) for number, text in texts}
    for number, key in reading.each("SELECT id, digest FROM vector"):
        expected, raw = keys.get(number), vectors.get(number)
        if expected is None or raw is None or key not in (expected, digest(expected, raw)):
            yield number, expected, raw


def is_typed(type_: str, body: str) -> bool:
    """Tells whether the type column equals the type in the body; only the body is hashed."""
    try:
        return parsed(body)["type"] == type_
    except UNREADABLE:
        return False


def _beyond(reading: Tables, last: int, kinds: Collection[str]) -> None:
    """Raises RunDamaged for rows of ticks that were never committed."""
    for kind in kinds:
        column, _, table, _, words = QUERIES[kind]
        (tick,) = reading.one(f"SELECT min({column}) FROM {table} WHERE {column} > ? OR {column} < 0", last)
        if tick is not None:
            raise _damage(reading, f"{words} of a tick that was never committed (the last is {last})", tick)


def _traces(reading: Tables) -> None:
    for agent, tick, body in reading.each("SELECT agent, tick, body FROM trace ORDER BY tick, agent"):
        try:
            unpacked_trace(body)
        except UNREADABLE:
            raise _damage(reading, f"the trace of {agent} cannot be read", tick) from None


def _model_calls(reading: Tables) -> None:
    for (agent,) in reading.all("SELECT DISTINCT agent FROM model_call"):
        series = series_of(reading, agent)
        for tick, body, primer in reading.each("SELECT tick, body, primer FROM model_call WHERE agent = ?", agent):
            try:
                model_call_from(body, series[primer])
            except UNREADABLE:
                raise _damage(reading, f"a model call of {agent} cannot be read", tick) from None


def series_of(reading: Tables, agent: str) -> dict[int, bytes]:
    """Returns primer → its series up to it; leaves out what cannot be read."""
    series: dict[int, bytes] = {}
    upto: dict[int, bytes] = {}
    for id_, number, body in reading.each("SELECT id, series, body FROM primer WHERE agent = ? ORDER BY id", agent):
        with suppress(*UNREADABLE):
            upto[id_] = series[number] = primers([body], series.get(number, b""))
    return upto


def _changed(what: str) -> str:
    return f"{what} has changed since it was written"


def _damage(reading: Tables, what: str, tick: object = None) -> RunDamaged:
    """Returns the error. `tick`: whatever stands in the column; None for what belongs to no tick."""
    where = str(reading.path) if tick is None else f"{reading.path}, tick {shortened(clean(str(tick)), 40)}"
    saved = f"save what is intact: {command('rescue', reading.path)} -o NEW"
    return RunDamaged(what, where=where, hint=RESTORE if isinstance(reading.path, Address) else saved)
