"""Seals: digests over what belongs to no committed tick, renewed in the transaction that changes it.

The notes in `meta` (with the manifest), answers that no tick has used yet, answers offered by a fork's parent, queued
inputs, and everything said to and by a model. A seal is the sum of the digests of its rows, whatever their order, so a
row is added or taken away without reading the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.canon import DIGEST_SIZE
from commonplace.run.digest import Row, rows_digest
from commonplace.run.place import Connection
from commonplace.run.rows import ANSWER
from commonplace.run.schema import replacing

EMPTY = bytes(DIGEST_SIZE)
SEALED = {
    "meta": "SELECT key, value FROM meta",
    "waiting": f"SELECT {ANSWER}, usage FROM answer WHERE used IS NULL",
    "offered": f"SELECT {ANSWER}, usage FROM offered",
    "queued": "SELECT seq, body FROM input WHERE tick IS NULL UNION ALL SELECT seq, name FROM sqlite_sequence",
    "call": "SELECT agent, tick, ordinal, attempt, primer, body FROM model_call",
    "primer": "SELECT id, agent, series, body FROM primer",
}
"""Seal → the rows under it. `queued` also covers the number that the next input gets."""


def renew(connection: Connection, *kinds: str) -> None:
    """Compute seals again from the rows as they are; all of them if none is named. Runs in the caller's transaction."""
    for kind in kinds or SEALED:
        _store(connection, kind, summed(connection.execute(SEALED[kind])))


def add(connection: Connection, kind: str, row: Row) -> None:
    """Adds a row to a seal. Runs in the caller's transaction."""
    _store(connection, kind, _sum(stored(connection, kind), _digest(row)))


def remove(connection: Connection, kind: str, row: Row) -> None:
    """Takes a row out of a seal. Runs in the caller's transaction."""
    _store(connection, kind, _sum(stored(connection, kind), -_digest(row)))


def stored(connection: Connection, kind: str) -> bytes:
    """Returns a seal as it was stored; `EMPTY` if there is none."""
    row = connection.execute("SELECT digest FROM seal WHERE kind = ?", (kind,)).fetchone()
    return EMPTY if row is None else row[0]


def summed(rows: Iterable[Row]) -> bytes:
    """Returns the seal of rows. Raises ValueError for NaN and infinity."""
    total = EMPTY
    for row in rows:
        total = _sum(total, _digest(row))
    return total


def _store(connection: Connection, kind: str, value: bytes) -> None:
    connection.execute(replacing("seal"), (kind, value))


def _digest(row: Row) -> int:
    return int.from_bytes(rows_digest([row]), "big")


def _sum(total: bytes, more: int) -> bytes:
    return ((int.from_bytes(total, "big") + more) % (1 << 8 * DIGEST_SIZE)).to_bytes(DIGEST_SIZE, "big")
