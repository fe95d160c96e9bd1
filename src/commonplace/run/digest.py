"""The two chains of digests over a run's ticks: one over the events, one over everybody's state.

Both start from constants and depend on rows alone: not on who made the run, its path or how it was scheduled. Rows
are hashed as they are stored, in canonical order, so `integrity` recomputes both without knowing what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from commonplace.canon import DIGEST_SIZE, digest
from commonplace.memory.embedding import packed
from commonplace.run.rows import (
    AnswerCells,
    EventCells,
    MemoryCells,
    VersionCells,
    answer_cells,
    event_cells,
    memory_cells,
    packed_ids,
    text_of,
    unix_micros,
    version_cells,
)
from commonplace.run.tick_record import TickRecord

Cell = str | int | float | bytes | None
Row = Sequence[Cell]

START = digest(b"commonplace run")
"""The digest before tick 0, of both chains."""
KINDS = ("memory", "removal", "touch", "version", "answer", "input")
"""The kinds of rows in the state chain; a tick stores a digest of each, so that damage can be named."""


class Digests(NamedTuple):
    """The two chains at the end of a tick."""

    history: bytes
    state: bytes


@dataclass(frozen=True, slots=True)
class Rows:
    """A tick's rows in canonical order."""

    events: list[EventCells]
    memories: list[tuple[MemoryCells, bytes]]
    """With the vector as little-endian int16; empty for none."""
    removals: list[tuple[str, int]]
    touches: list[tuple[str, int, int, bytes]]
    versions: list[VersionCells]
    answers: list[AnswerCells]
    inputs: list[tuple[int, int, str]]


def digests_of(record: TickRecord, previous: Digests, embedder: str) -> Digests:
    """Both chains after the record, without writing anything. `embedder`: whose vectors its memories have."""
    return chained(rows_of(record), previous, embedder)[0]


def rows_of(record: TickRecord) -> Rows:
    """The record as rows. Whatever order its parts come in, the rows are in canonical order."""
    deltas = sorted(record.deltas.items())
    return Rows(
        events=[event_cells(event) for event in sorted(record.events, key=lambda event: event.order)],
        memories=[
            (memory_cells(memory), b"" if vector is None else packed(vector))
            for _, delta in deltas
            for memory, vector in zip(delta.memories, delta.vectors, strict=True)
        ],
        removals=[(agent, id_) for agent, ids in sorted(record.removed.items()) for id_ in sorted(ids)],
        touches=[
            (agent, record.tick, unix_micros(delta.touched_at), packed_ids(delta.touched))
            for agent, delta in deltas
            if delta.touched_at is not None
        ],
        versions=sorted(version_cells(record.tick, version) for version in record.versions),
        answers=sorted(answer_cells(row) for row in record.answers),
        inputs=sorted((row.seq, record.tick, text_of(dict(row.body))) for row in record.inputs),
    )


def chained(rows: Rows, previous: Digests, embedder: str) -> tuple[Digests, bytes]:
    """Both chains after the rows, and the digests by kind of row."""
    parts = packed_parts(
        {
            "memory": rows_digest([(*cells, embedder, raw) for cells, raw in rows.memories]),
            "removal": rows_digest(rows.removals),
            "touch": rows_digest(rows.touches),
            "version": rows_digest(rows.versions),
            "answer": rows_digest(rows.answers),
            "input": rows_digest(rows.inputs),
        }
    )
    history = history_digest(previous.history, rows.events)
    return Digests(history, state_digest(previous.state, parts)), parts


def history_digest(previous: bytes, events: Iterable[tuple[int, int, str, int, str, str]]) -> bytes:
    """The chain one tick on. `events` are rows (tick, phase, character, ordinal, type, body) in canonical order.

    What is hashed of each is its id, its phase and its body as stored; the type is in the body.
    """
    parts = [previous]
    for tick, phase, agent, ordinal, _, body in events:
        parts += (f"t{tick}.{agent}.{ordinal}".encode(), bytes((phase,)), body.encode(errors="surrogateescape"))
    return digest(*parts)


def rows_digest(rows: Sequence[Row]) -> bytes:
    """The digest of rows in canonical order; sixteen zero bytes for no rows."""
    if not rows:
        return bytes(DIGEST_SIZE)
    return blake2b(_encode(rows).encode(), digest_size=DIGEST_SIZE).digest()


def state_digest(previous: bytes, parts: bytes) -> bytes:
    """The chain one tick on, from the digests of its kinds of rows."""
    return digest(previous, parts)


def packed_parts(parts: Mapping[str, bytes]) -> bytes:
    """The digests by kind, in the order of `KINDS`; a kind left out had no rows."""
    return b"".join(parts.get(kind, bytes(DIGEST_SIZE)) for kind in KINDS)


def unpacked_parts(parts: bytes) -> dict[str, bytes]:
    """The inverse of `packed_parts`."""
    return {kind: parts[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE] for index, kind in enumerate(KINDS)}


def _bytes(cell: object) -> dict[str, str]:
    if isinstance(cell, bytes):
        return {"bytes": cell.hex()}
    raise TypeError(f"{type(cell).__name__} in a row")


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_bytes).encode
