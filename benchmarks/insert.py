"""What it costs to remember one thing for good.

    python benchmarks/insert.py [--json] [--sizes 10000,100000]

A stream in a SQLite file (WAL, `synchronous = NORMAL`) of so many memories is given 2,000 more, one by one, each stored
when the call returns. Without an embedding: the embedder gives none; with one: a ready lattice vector of 384 numbers.
Beside it the same in RAM, and one bare SQLite insert of the same row. The mean is given, checkpoints included.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from commonplace import rng
from commonplace.memory import MemoryStream, lattice
from commonplace.memory.embedding import Vector

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
BARS = {10_000: (150.0, 60.0), 100_000: (150.0, 130.0)}
"""Memories → (floor, ambition) of an insert without an embedding, in microseconds."""
MORE = 2_000


class Figure(NamedTuple):
    """One line of output; microseconds unless `what` says otherwise."""

    what: str
    memories: int
    value: float
    floor: float | None = None
    ambition: float | None = None


class NoEmbedder:
    """Has no vector for anything."""

    name = "none"
    dimensions = 384

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [None] * len(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--sizes", default="10000,100000", help="memories, separated by commas")
    options = parser.parse_args()
    for size in (int(size) for size in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            for figure in figures(Path(folder), size):
                print(json.dumps(figure._asdict()) if options.json else row(figure), flush=True)


def row(figure: Figure) -> str:
    bar = "" if figure.floor is None else f"  (floor {figure.floor:g}, ambition {figure.ambition:g})"
    return f"{figure.memories:>8,}  {figure.what:<44}{figure.value:>10.1f}{bar}"


def figures(folder: Path, size: int) -> list[Figure]:
    floor, ambition = BARS.get(size, (None, None))
    plain, plain_times = inserted(folder / "plain.db", size, None)
    vector, _ = inserted(folder / "vectors.db", size, ready())
    return [
        Figure("insert, durable, no embedding", size, plain, floor, ambition),
        Figure("insert, durable, no embedding, median", size, median(plain_times)),
        Figure("insert, durable, ready embedding", size, vector),
        Figure("insert, in RAM, no embedding", size, in_ram()),
        Figure("the same row by bare sqlite3", size, bare(folder / "bare.db")),
    ]


def ready() -> list[Vector | None]:
    """A thousand lattice vectors."""
    return [lattice([rng.unit(place, number) - 0.5 for place in range(384)]) for number in range(100)]


def remember(stream: MemoryStream, number: int, vectors: list[Vector | None] | None) -> None:
    stream.remember(
        f"Klaus talks of the lantern festival with Maria in house {number}",
        at=START + timedelta(minutes=number),
        importance=3,
        place=("Town", "House"),
        embedding=vectors[number % len(vectors)] if vectors else None,
    )


def inserted(path: Path, size: int, vectors: list[Vector | None] | None) -> tuple[float, list[float]]:
    """(mean, all) microseconds of the inserts after the first `size`."""
    times: list[float] = []
    with MemoryStream.open(path, "maria", **parts(vectors)) as stream:
        fill(stream, size, vectors)
        begun = time.perf_counter()
        for number in range(size, size + MORE):
            before = time.perf_counter()
            remember(stream, number, vectors)
            times.append((time.perf_counter() - before) * 1e6)
        mean = (time.perf_counter() - begun) / MORE * 1e6
    return mean, times


def parts(vectors: list[Vector | None] | None) -> dict[str, Any]:
    return {} if vectors else {"embedder": NoEmbedder()}


def fill(stream: MemoryStream, size: int, vectors: list[Vector | None] | None) -> None:
    for number in range(size):
        remember(stream, number, vectors)


def in_ram() -> float:
    stream = MemoryStream("maria", embedder=NoEmbedder())
    begun = time.perf_counter()
    fill(stream, MORE, None)
    return (time.perf_counter() - begun) / MORE * 1e6


def bare(path: Path) -> float:
    """A row of the same width, in autocommit, through the driver alone."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE t(key INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h)")
    text = "Klaus talks of the lantern festival with Maria in house 1"
    begun = time.perf_counter()
    for number in range(MORE):
        cells = (number, 0, 0, "observation", 3.0, number, number, text, '{"place":["Town","House"]}')
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", cells)
    spent = (time.perf_counter() - begun) / MORE * 1e6
    connection.close()
    return spent


if __name__ == "__main__":
    main()
