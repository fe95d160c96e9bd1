"""The chains of digests over a run's ticks: over the events, over everybody's state, and over the record of reasons.

`history` and `state` depend on what happened alone: not on who made the run, its path or how it was scheduled. The
third, `record`, covers what was kept about a tick besides: why everybody did what they did, and what the answers cost.
It differs between runs of one history, and `digest` does not print it. Rows are hashed as they are stored, in canonical
order, so `integrity` recomputes all three without knowing what they mean. What belongs to no tick is in `seals`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from commonplace.canon import DIGEST_SIZE, digest, encoding
from commonplace.memory.embedding import packed
from commonplace.run.rows import (
    Rows,
    TickRecord,
    answer_cells,
    event_cells,
    memory_cells,
    packed_details,
    packed_ids,
    packed_trace,
    text_of,
    unix_micros,
    usage_text,
    version_cells,
)

Cell = str | int | float | bytes | None
Row = Sequence[Cell]

TOGETHER = 256
"""Rows encoded at a time."""
START = digest(b"commonplace run")
"""The digest before tick 0, of every chain."""
STATE_KINDS = ("memory", "removal", "touch", "version", "answer", "input")
"""The kinds of rows in the state chain."""
RECORD_KINDS = ("trace", "usage")
"""The kinds of rows in the record chain. Traces may be trimmed: their digests stay, so the chain goes on."""
KINDS = (*STATE_KINDS, *RECORD_KINDS)
"""A tick stores a digest of each, so that damage can be named."""
_STATE = len(STATE_KINDS) * DIGEST_SIZE


class Digests(NamedTuple):
    """The two chains at the end of a tick that depend on what happened alone."""

    history: bytes
    state: bytes


class Chains(NamedTuple):
    """All three chains at the end of a tick, as they are stored."""

    history: bytes
    state: bytes
    record: bytes

    @property
    def digests(self) -> Digests:
        """The first two."""
        return Digests(self.history, self.state)


BEGINNING = Chains(START, START, START)
"""The chains before tick 0."""


def digests_of(rows: Rows, previous: Digests, embedder: str) -> Digests:
    """Returns both chains after the rows, without writing anything. `embedder` made the vectors of their memories."""
    return chained(rows, Chains(*previous, START), embedder)[0].digests


def rows_of(record: TickRecord) -> Rows:
    """Returns the record as rows in canonical order, whatever order its parts come in."""
    own = Rows(
        events=[event_cells(event) for event in record.events],
        memories=[
            (cells, packed_details(cells), b"" if vector is None else packed(vector))
            for delta in record.deltas.values()
            for memory, vector in zip(delta.memories, delta.vectors, strict=True)
            for cells in [memory_cells(memory)]
        ],
        removals=[(agent, id_) for agent, ids in record.removed.items() for id_ in ids],
        touches=[
            (agent, record.tick, unix_micros(delta.touched_at), packed_ids(delta.touched))
            for agent, delta in record.deltas.items()
            if delta.touched_at is not None
        ],
        versions=[version_cells(record.tick, version) for version in record.versions],
        answers=[answer_cells(row) for row in record.answers],
        inputs=[(row.seq, record.tick, text_of(dict(row.body))) for row in record.inputs],
        traces=[(agent, record.tick, packed_trace(trace)) for agent, trace in record.traces.items()],
        usages=[(row.agent, row.tick, row.ordinal, row.attempt, usage_text(row)) for row in record.answers],
    )
    parts = (own, *record.made)
    found = {one.name: sorted(chain.from_iterable([getattr(part, one.name) for part in parts])) for one in fields(Rows)}
    return Rows(**found)


def chained(rows: Rows, previous: Chains, embedder: str) -> tuple[Chains, bytes]:
    """Returns the chains after the rows, and the digests by kind of row."""
    kinds: dict[str, Sequence[Row]] = {
        "memory": [(*cells, embedder, raw) for cells, _, raw in rows.memories],
        "removal": rows.removals,
        "touch": rows.touches,
        "version": rows.versions,
        "answer": rows.answers,
        "input": rows.inputs,
        "trace": rows.traces,
        "usage": rows.usages,
    }
    parts = packed_parts({kind: part_digest(kind, kinds[kind]) for kind in KINDS})
    history = history_digest(previous.history, rows.events)
    return Chains(history, state_digest(previous.state, parts), record_digest(previous.record, parts)), parts


def history_digest(previous: bytes, events: Iterable[tuple[int, int, str, int, str, str]]) -> bytes:
    """Returns the history chain after one more tick. Hashes the id, the phase and the body of each event as stored.

    `events` are rows (tick, phase, character, ordinal, type, body) in canonical order; the type is also in the body.
    """
    parts = [previous]
    for tick, phase, agent, ordinal, _, body in events:
        parts += (f"t{tick}.{agent}.{ordinal}".encode(), bytes((phase,)), body.encode(errors="surrogateescape"))
    return digest(*parts)


def part_digest(kind: str, rows: Sequence[Row]) -> bytes:
    """Digests a tick's rows of one of `KINDS`. Raises TypeError or ValueError for cells that cannot be hashed."""
    return traces_digest(rows) if kind == "trace" else rows_digest(rows)


def rows_digest(rows: Sequence[Row]) -> bytes:
    """Digests rows in canonical order; no rows give sixteen zero bytes. Raises ValueError for NaN and infinity."""
    if not rows:
        return bytes(DIGEST_SIZE)
    if len(rows) <= TOGETHER:
        return blake2b(_encode(rows).encode(), digest_size=DIGEST_SIZE).digest()
    found, between = blake2b(digest_size=DIGEST_SIZE), "["
    for begin in range(0, len(rows), TOGETHER):  # the same bytes, never all at once
        found.update((between + _encode(rows[begin : begin + TOGETHER])[1:-1]).encode())
        between = ","
    found.update(b"]")
    return found.digest()


def traces_digest(rows: Iterable[Row]) -> bytes:
    """Digests traces by (character, tick, compressed bytes); no traces give sixteen zero bytes.

    Their bytes are most of what a tick writes, so they are hashed as they are. Raises TypeError for other cells.
    """
    parts: list[bytes] = []
    for agent, tick, body in rows:
        if not isinstance(body, bytes):
            raise TypeError(f"a trace of {type(body).__name__}")
        parts += (f"{tick} {agent}".encode(errors="surrogateescape"), body)
    return digest(*parts) if parts else bytes(DIGEST_SIZE)


def state_digest(previous: bytes, parts: bytes) -> bytes:
    """Returns the state chain after one more tick, from the digests of its kinds of rows."""
    return digest(previous, parts[:_STATE])


def record_digest(previous: bytes, parts: bytes) -> bytes:
    """Returns the record chain after one more tick, from the digests of its kinds of rows."""
    return digest(previous, parts[_STATE:])


def packed_parts(parts: Mapping[str, bytes]) -> bytes:
    """Joins the digests by kind in the order of `KINDS`; a kind left out had no rows."""
    return b"".join(parts.get(kind, bytes(DIGEST_SIZE)) for kind in KINDS)


def unpacked_parts(parts: bytes) -> dict[str, bytes]:
    """Reverses `packed_parts`; bytes that are too short lack the last kinds."""
    return {
        kind: parts[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE]
        for index, kind in enumerate(KINDS[: len(parts) // DIGEST_SIZE])
    }


def _bytes(cell: object) -> dict[str, str]:
    if isinstance(cell, bytes):
        return {"bytes": cell.hex()}
    raise TypeError(f"{type(cell).__name__} in a row")


_encode = encoding(json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_bytes))
