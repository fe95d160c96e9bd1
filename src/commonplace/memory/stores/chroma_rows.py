"""A memory as a record of Chroma's: what of it Chroma understands, and the whole of it exactly."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from commonplace.memory.embedding import Vector
from commonplace.memory.record import Memory
from commonplace.memory.stores.cells import cells_of, memory_of
from commonplace.memory.stores.packing import unpacked_text
from commonplace.memory.stores.store import Stored, tombstone
from commonplace.memory.stores.vectors import encoded, gathered

THERE, ARCHIVED, FORGOTTEN = range(3)
_CELLS = ("id", "tick", "kind", "importance", "created", "accessed")


def metadata_of(memory: Memory, vector: Vector | None, state: int, upto: int) -> dict[str, Any]:
    """All of a record but its document: a memory's cells, its state, the last id it was added with, its vector."""
    cells = cells_of(memory)
    width, data = encoded(vector)
    exact = "" if data is None else as_ascii(data)
    named = dict(zip(_CELLS, cells, strict=False))
    weight = repr(cells.importance)  # Chroma's numbers lose their last bit now and then
    return {
        **named,
        "importance_exact": weight,
        "rest": cells.rest,
        "state": state,
        "upto": upto,
        "width": width,
        "vector": exact,
    }


def stored_of(agent: str, rows: Sequence[tuple[Any, str]], settings: Mapping[str, Any]) -> Stored:
    if [row["id"] for row, _ in rows] != list(range(1, len(rows) + 1)):
        raise ValueError("ids are missing")
    return Stored(
        [_memory(agent, row, text) for row, text in rows],
        vectors_of([row for row, _ in rows]),
        frozenset(row["id"] for row, _ in rows if row["state"] == FORGOTTEN),
        frozenset(row["id"] for row, _ in rows if row["state"] == ARCHIVED),
        settings,
    )


def _memory(agent: str, row: Mapping[str, Any], text: str) -> Memory:
    if row["state"] == FORGOTTEN:
        return tombstone(agent, row["id"], row["kind"])
    rest = row["rest"]
    if row["state"] == ARCHIVED:
        text, rest = unpacked_text(base64.b64decode(rest))
    head: Any = tuple({**row, "importance": float(row["importance_exact"])}[name] for name in _CELLS)
    return memory_of(agent, (*head, text, rest))


def vectors_of(rows: Sequence[Mapping[str, Any]]) -> Sequence[Vector | None]:
    pairs = enumerate(rows)
    return gathered(
        len(rows), [(at, row["width"], base64.b64decode(row["vector"])) for at, row in pairs if row["width"]]
    )


def direction(vector: Vector | None, dimensions: int) -> Any:
    """The vector brought to length 1 for Chroma; zeros where there is none that it could compare."""
    if vector is None or len(vector) != dimensions or not np.isfinite(vector).all():
        return np.zeros(dimensions, dtype=np.float32)
    exact = vector.astype(np.float64)
    return (exact / (np.sqrt(np.vecdot(exact, exact)) or 1)).astype(np.float32)


def as_ascii(data: bytes) -> str:
    return base64.b64encode(data).decode()
