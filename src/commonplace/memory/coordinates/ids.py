"""Names of memories in a coordinate document: `mem_20251012_093022_a4f3`, from simulated time and a keyed draw."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime

from commonplace.clock import utc
from commonplace.rng import Key, draw

_SHORT = 64
"""Draws of four digits that are tried before the name becomes longer."""


def memory_id(at: datetime, *key: Key, digits: int = 4) -> str:
    """The name of a memory made at a moment; the same key gives the same name."""
    moment = utc(at)
    date = f"{moment.year:04d}{moment.month:02d}{moment.day:02d}"
    time = f"{moment.hour:02d}{moment.minute:02d}{moment.second:02d}"
    return f"mem_{date}_{time}_{draw(*key) & (16**digits - 1):0{digits}x}"


def unused_id(at: datetime, taken: Container[str], *key: Key) -> str:
    """The first name that is not taken. Four digits, twelve where one second holds very many memories."""
    attempt = 0
    while True:
        name = memory_id(at, *key, attempt, digits=4 if attempt < _SHORT else 12)
        if name not in taken:
            return name
        attempt += 1
