"""Recall and insert through the public API, beside the least NumPy could do for the same answer.

    python benchmarks/memory_recall.py [--json] [--sizes 1000,10000,100000]

The limit is one thread's matrix-vector product over float32 vectors (BLAS's or NumPy's own, whichever is faster
here), min-max over relevance, a prior that is ready, and argpartition: no rounding, no ties, no reasons, no records.
Ours and the limit are timed in turn within one run, so what counts is the ratio.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: the limit is one thread's

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

import numpy as np

from commonplace import rng
from commonplace.memory import Draft, MemoryStream, Policy, policies

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
BARS = {1_000: (4.0, 2.5), 10_000: (1.7, 1.3), 100_000: (1.15, 1.05)}
"""Memories → (floor, ambition), for the park policy."""
RECALL_BARS = {1_000: (5.0, 3.2), 10_000: (2.0, 1.5), 100_000: (1.2, 1.05), 1_000_000: (1.2, 1.05)}
"""The same for the recall policy."""
WHO = ("Klaus", "Maria", "Isabella", "Tom", "Yuriko", "Hailey", "민수", "지우")
DOES = ("reads about", "talks of", "promises", "forgets", "cooks for", "argues over", "paints", "준비한다")
WHAT = (
    "the lantern festival",
    "gentrification",
    "a bakery",
    "the mayor",
    "chemistry",
    "축제를",
    "the old mill",
    "rent",
)

Product = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Figure(NamedTuple):
    """One line of output; times in microseconds, `ratio` = ours / limit."""

    what: str
    memories: int
    ours: float
    limit: float | None = None
    ratio: float | None = None
    floor: float | None = None
    ambition: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--sizes", default="1000,10000,100000", help="memories, separated by commas")
    options = parser.parse_args()
    for size in (int(size) for size in options.sizes.split(",")):
        for figure in figures(size):
            print(json.dumps(figure._asdict()) if options.json else row(figure), flush=True)


def row(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"  ×{figure.ratio:.2f} of {figure.limit:.0f} µs"
    bar = "" if figure.floor is None else f"  (floor ×{figure.floor:g}, ambition ×{figure.ambition:g})"
    return f"{figure.memories:>8,}  {figure.what:<28}{figure.ours:>10.1f}{ratio}{bar}"


def figures(size: int) -> list[Figure]:
    before = resident()
    stream, insert = filled(size)
    per_memory = (resident() - before) / size
    vectors = stream.rows.columns.vectors[:size].copy()
    floor, ambition = BARS.get(size, (None, None))
    ours, limit = compared(stream, policies.PARK, vectors)
    lexical, limit_too = compared(stream, policies.LEXICAL, vectors)
    recall, limit_again = compared(stream, policies.RECALL, vectors)
    write = row_write(vectors)
    return [
        Figure("recall, park, µs", size, ours, limit, ours / limit, floor, ambition),
        Figure("recall, lexical, µs", size, lexical, limit_too, lexical / limit_too),
        Figure(
            "recall, recall, µs", size, recall, limit_again, recall / limit_again, *RECALL_BARS.get(size, (None, None))
        ),
        Figure("remember, µs", size, insert, write, insert / write),
        Figure("remember in a draft, µs", size, drafted(stream)),
        Figure("restore, µs per memory", size, restored(stream)),
        Figure("resident bytes per memory", size, per_memory),
    ]


def sentence(number: int) -> str:
    said = " ".join(rng.choice(words, number, place) for place, words in enumerate((WHO, DOES, WHAT)))
    return f"{said} with {rng.choice(WHO, number, 'with')} in house {number % 997}"


def filled(size: int) -> tuple[MemoryStream, float]:
    stream = MemoryStream("maria")
    texts = [sentence(number) for number in range(size)]
    begun = time.perf_counter()
    for number, text in enumerate(texts):
        stream.remember(text, at=START + timedelta(minutes=5 * number))
    return stream, (time.perf_counter() - begun) / size * 1e6


def compared(stream: MemoryStream, policy: Policy, vectors: np.ndarray) -> tuple[float, float]:
    """Median microseconds of a recall of ten, ours and the limit's, taken in turn."""
    at = START + timedelta(minutes=5 * stream.last_id)
    queries = [sentence(number) for number in range(40)]
    embedded = [np.asarray(vector) for vector in stream.rows.embedder.embed(queries)]
    prior = np.linspace(0, 1, len(vectors))
    stream.recall(queries[0], at=at, touch=False, policy=policy)
    product = faster_product(vectors, embedded[0])
    ours: list[float] = []
    limit: list[float] = []
    for query, vector in zip(queries, embedded, strict=True):
        ours.append(timed(lambda query=query: stream.recall(query, at=at, k=10, touch=False, policy=policy)))
        limit.append(timed(lambda vector=vector: least(product, vectors, vector, prior)))
    return median(ours), median(limit)


def faster_product(vectors: np.ndarray, query: np.ndarray) -> Product:
    def spent(product: Product) -> float:
        return min(timed(lambda: product(vectors, query)) for _ in range(9))

    return min((np.matmul, np.vecdot), key=spent)


def least(product: Product, vectors: np.ndarray, query: np.ndarray, prior: np.ndarray) -> np.ndarray:
    relevance = product(vectors, query)
    low, high = relevance.min(), relevance.max()
    scores = (relevance - low) / (high - low) + prior
    return np.argpartition(scores, len(scores) - 10)[-10:]


def row_write(vectors: np.ndarray) -> float:
    """The least an insert could do: copying its vector and three numbers into place."""
    target, numbers = np.empty_like(vectors), np.empty((3, len(vectors)))

    def write() -> None:
        for place in range(1_000):
            target[place] = vectors[place]
            numbers[0, place] = numbers[1, place] = numbers[2, place] = place

    return timed(write) / 1_000


def drafted(stream: MemoryStream) -> float:
    draft = Draft(stream)
    at = START + timedelta(minutes=5 * stream.last_id)
    texts = [sentence(stream.last_id + number) for number in range(500)]
    spent = timed(lambda: [draft.remember(text, at=at) for text in texts])
    draft.discard()
    return spent / len(texts)


def restored(stream: MemoryStream) -> float:
    memories = list(stream)
    vectors = [stream.vector(memory.id) for memory in memories]
    return timed(lambda: MemoryStream.restore("maria", memories, vectors)) / len(memories)


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e6


def resident() -> int:
    """Bytes; the highest so far where the system does not say what is in use now."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - not a file in any folder
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
