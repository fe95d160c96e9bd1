"""Outside influences: queued as they arrive, stamped with a tick when it is committed, numbered in order."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from commonplace.run.record import InputRow
from commonplace.run.rows import text_of

QUEUED = -1
"""`InputRow.tick` of an input that no tick has been stamped on."""

__all__ = ["QUEUED", "InputRow", "queue", "queued", "stamped"]


def queue(connection: sqlite3.Connection, body: Mapping[str, Any]) -> int:
    """Keep an input; returns its number. Numbers grow and are never given twice."""
    cursor = connection.execute("INSERT INTO input(body) VALUES (?)", (text_of(dict(body)),))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def queued(connection: sqlite3.Connection) -> tuple[InputRow, ...]:
    """Those not stamped yet, in order."""
    rows = connection.execute("SELECT seq, body FROM input WHERE tick IS NULL ORDER BY seq").fetchall()
    return tuple(InputRow(seq, QUEUED, json.loads(body)) for seq, body in rows)


def stamped(connection: sqlite3.Connection, first: int, last: int) -> tuple[InputRow, ...]:
    """Those of the ticks first … last, in order."""
    rows = connection.execute(
        "SELECT seq, tick, body FROM input WHERE tick BETWEEN ? AND ? ORDER BY tick, seq", (first, last)
    ).fetchall()
    return tuple(InputRow(seq, tick, json.loads(body)) for seq, tick, body in rows)
