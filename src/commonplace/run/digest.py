"""The two chains of digests: what happened, and what everybody's state became.

Both start from constants and depend on rows alone: not on who made the run, where it lies or how it was scheduled.
Rows are hashed as they are stored, in canonical order, so `integrity` recomputes both without knowing what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from commonplace.canon import DIGEST_SIZE, digest

Cell = str | int | float | bytes | None
Row = Sequence[Cell]

START = digest(b"commonplace run")
"""The digest before tick 0, of both chains."""
KINDS = ("memory", "removal", "touch", "version", "answer", "input")
"""The kinds of rows in the state chain; a tick stores a digest of each, so that damage can be named."""


def history_digest(previous: bytes, events: Iterable[tuple[int, int, str, int, str, str]]) -> bytes:
    """The chain one tick on. `events` are rows (tick, phase, character, ordinal, type, body) in canonical order.

    What is hashed of each is its id, its phase and its body as stored; the type is in the body.
    """
    parts = [previous]
    for tick, phase, agent, ordinal, _, body in events:
        parts += (f"t{tick}.{agent}.{ordinal}".encode(), bytes((phase,)), body.encode(errors="surrogateescape"))
    return digest(*parts)


def rows_digest(rows: Sequence[Row]) -> bytes:
    """Of rows in canonical order; none give sixteen zero bytes."""
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
