"""Recall through the public API, with every reason, beside what else could have answered, in one run.

    python benchmarks/recall_speed.py [--json] [--sizes 1000,10000,100000] [--large]

The limit is the least NumPy could do for the same ten memories (see `limit`), with one thread of BLAS, and what is
compared with it has no more. The published algorithm of Generative Agents and LangChain's time-weighted retriever with
FAISS (its 100 nearest ranked again, as it comes, and all, which is the work `park` does) are compared with our `park`
in a process of their own, where libraries have a thread for each core. A question is asked of all in turn, several
times; a figure is the median over questions of the fastest answer. `--large` adds a million memories (3 GB). Three-part
SQL over pgvector is in `stores.py`, inserts on disk in `insert.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: the limit is one thread's

import argparse
import ctypes
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple, cast

import numpy as np
from _rivals import LIBRARIES, Ask, fastest, limit, missing, published

from commonplace import rng
from commonplace.memory import Draft, Embedder, MemoryStream, Policy, ScoredMemory, policies
from commonplace.memory.embedding import HashedEmbedder, Vector

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
Bars = dict[int, tuple[float, float]]
"""Memories → (floor, ambition)."""
PARK_BARS: Bars = {1_000: (4.0, 2.5), 10_000: (1.7, 1.3), 100_000: (1.15, 1.05)}
RECALL_BARS: Bars = {1_000: (5.0, 3.2), 10_000: (2.0, 1.5), 100_000: (1.2, 1.05), 1_000_000: (1.2, 1.05)}
RIVAL_BARS: dict[str, Bars] = {
    "published algorithm": {10_000: (500.0, 1000.0)},
    "LangChain and FAISS, all": {1_000: (10.0, 20.0), 10_000: (4.0, 7.0)},
}
FAST = ("LangChain and FAISS, 100", "Chroma, nearest 100")
"""Rivals that are asked every question."""
RIVAL_SIZES = (1_000, 10_000)
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
QUESTIONS = 40


class Figure(NamedTuple):
    """One line of output: microseconds, unless `what` says otherwise; `ratio`: to what stands in `beside`."""

    what: str
    memories: int
    value: float
    ratio: float | None = None
    beside: str = ""
    floor: float | None = None
    ambition: float | None = None


class Meaning:
    """The built-in vectors, taken for those of a model that knows meaning: a blend then has a cosine."""

    name = "hashed-384-as-meaning"
    dimensions = 384

    def __init__(self) -> None:
        self._hashed = HashedEmbedder()

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return self._hashed.embed(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--sizes", default="1000,10000,100000", help="memories, separated by commas")
    parser.add_argument("--large", action="store_true", help="a million memories too")
    parser.add_argument("--resident", type=int, help="only print the bytes so many memories take in a fresh process")
    parser.add_argument("--rivals", type=int, help="only compare others over so many memories, as JSON")
    parser.add_argument("--policy", default="park", help="of --resident: one that compares vectors, or none does")
    options = parser.parse_args()
    if options.resident:
        print(resident_per_memory(options.resident, policies.by_name(options.policy)))
        return
    if options.rivals:
        stream, _ = filled(options.rivals)
        for figure in rivals(stream, np.array(vectors_of(stream))):
            print(json.dumps(figure._asdict()))
        return
    for name, (packages, _) in LIBRARIES.items():
        if missing(packages):
            print(f"without {name}: {', '.join(missing(packages))} not installed", file=sys.stderr)
    sizes = [int(size) for size in options.sizes.split(",")] + [1_000_000] * options.large
    for size in sizes:
        for figure in figures(size):
            print(json.dumps(figure._asdict()) if options.json else row(figure), flush=True)


def row(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"  ×{figure.ratio:.2f} {figure.beside}"
    bar = "" if figure.floor is None else f"  (floor ×{figure.floor:g}, ambition ×{figure.ambition:g})"
    return f"{figure.memories:>9,}  {figure.what:<32}{figure.value:>11.1f}{ratio}{bar}"


def figures(size: int) -> list[Figure]:
    stream, insert = filled(size)
    vectors = np.array(vectors_of(stream))
    asks: dict[str, tuple[Ask, Bars]] = {
        "park": (through(stream, policies.PARK), PARK_BARS),
        "lexical": (through(stream, policies.LEXICAL), {}),
        "recall": (through(stream, policies.RECALL), RECALL_BARS),
        "recall, with a cosine": (through(alike(stream), policies.RECALL), RECALL_BARS),
        "– and every part read": (explained(alike(stream), policies.RECALL), {}),
    }
    times = timed({"the limit": limit(vectors, embedded()), **{name: ask for name, (ask, _) in asks.items()}}, size)
    least = times["the limit"]
    found = [Figure("the limit", size, least)]
    found += [
        Figure(name, size, times[name], times[name] / least, "of the limit", *bars.get(size, (None, None)))
        for name, (_, bars) in asks.items()
    ]
    if size in RIVAL_SIZES:
        lines = fresh("--rivals", str(size), threads=os.cpu_count()).splitlines()
        found += [Figure(**json.loads(line)) for line in lines]
    found += [Figure("remember", size, insert), Figure("remember in a draft", size, drafted(stream))]
    found.append(Figure("restore, a memory", size, restored(stream)))
    if 10_000 <= size <= 100_000:
        for policy, what, floor, ambition in (("park", "", 2200, 1900), ("recall", ", no vectors", 900, 700)):
            bytes_each = float(fresh("--resident", str(size), "--policy", policy))
            name, of = f"resident bytes a memory{what}", f"of {floor:,}"
            found.append(Figure(name, size, bytes_each, bytes_each / floor, of, 1.0, round(ambition / floor, 2)))
    return found


def fresh(*options: str, threads: int | None = 1) -> str:
    """What this program prints in a process of its own, with so many threads of BLAS."""
    command, own = [sys.executable, __file__, *options], {"OPENBLAS_NUM_THREADS": str(threads or 1)}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **own}).stdout


def rivals(stream: MemoryStream, vectors: Vector) -> list[Figure]:
    """One after the other, each with its data warm; ours touches what it finds, as theirs do."""
    size = len(vectors)
    ours = timed({"": through(stream, policies.PARK, touch=True)}, size)[""]
    texts, importance = [sentence(number) for number in range(size)], stream.table.importance[:size].tolist()
    others = {"published algorithm": published(vectors, embedded(), texts, importance)}
    for name, (packages, start) in LIBRARIES.items():
        if not missing(packages):
            others[name] = start(vectors, embedded())
    found = [Figure("park, touching", size, ours)]
    for name, ask in others.items():
        spent = timed({"": ask}, size, questions=QUESTIONS if name in FAST else 2)[""]
        bars = RIVAL_BARS.get(name, {}).get(size, (None, None))
        found.append(Figure(name, size, spent, spent / ours, "of our park", *bars))
    return found


def timed(asks: dict[str, Ask], size: int, questions: int = QUESTIONS) -> dict[str, float]:
    """Name → median over questions of the fastest answer, in microseconds; all are asked in turn."""
    best = {name: [float("inf")] * questions for name in asks}
    for _ in range(8 if size <= 10_000 else 4):
        for number in range(questions):
            for name, ask in asks.items():
                best[name][number] = min(best[name][number], fastest(lambda ask=ask, number=number: ask(number)))
    return {name: median(times) for name, times in best.items()}


def through(stream: MemoryStream, policy: Policy, *, touch: bool = False) -> Ask:
    """The public API; the vectors of the questions are known before, as the limit's are."""
    at = START + timedelta(minutes=5 * stream.last_id)
    questions = [sentence(number) for number in range(QUESTIONS)]
    stream.table.embedder.embed(questions)
    return lambda number: stream.recall(questions[number], at=at, k=10, touch=touch, policy=policy)


def explained(stream: MemoryStream, policy: Policy) -> Ask:
    """The same, reading every part of every hit: they are worked out when they are read."""
    ask = through(stream, policy)
    return lambda number: [dict(hit.parts) for hit in cast("list[ScoredMemory]", ask(number))]


def embedded() -> list[Vector]:
    found = HashedEmbedder().embed([sentence(number) for number in range(QUESTIONS)])
    return [vector for vector in found if vector is not None]


def sentence(number: int) -> str:
    said = " ".join(rng.choice(words, number, place) for place, words in enumerate((WHO, DOES, WHAT)))
    return f"{said} with {rng.choice(WHO, number, 'with')} in house {number % 997}"


def filled(size: int, policy: Policy = policies.RECALL) -> tuple[MemoryStream, float]:
    """(a stream, microseconds a memory)."""
    stream = MemoryStream("maria", policy)
    texts = [sentence(number) for number in range(size)]

    def remember() -> None:
        for number, text in enumerate(texts):
            stream.remember(text, at=START + timedelta(minutes=5 * number))

    return stream, fastest(remember) / size


def alike(stream: MemoryStream) -> MemoryStream:
    """The same memories in a stream whose embedder counts as knowing meaning."""
    embedder: Embedder = Meaning()
    memories = list(stream)
    return MemoryStream.restore("maria", memories, vectors_of(stream), embedder=embedder)


def vectors_of(stream: MemoryStream) -> list[Vector | None]:
    return [stream.vector(id) for id in range(1, stream.last_id + 1)]


def drafted(stream: MemoryStream) -> float:
    draft = Draft(stream)
    at = START + timedelta(minutes=5 * stream.last_id)
    texts = [sentence(stream.last_id + number) for number in range(500)]
    spent = fastest(lambda: [draft.remember(text, at=at) for text in texts])
    draft.discard()
    return spent / len(texts)


def restored(stream: MemoryStream) -> float:
    memories, vectors = list(stream), vectors_of(stream)
    return fastest(lambda: MemoryStream.restore("maria", memories, vectors)) / len(memories)


def resident_per_memory(size: int, policy: Policy) -> float:
    """Bytes, indexes and what retrieval works in included; what is there before the first memory is not."""
    # the embedder, which all streams share, keeps some thousand texts: they are there before
    earlier, _ = filled(5_000, policy)
    earlier.recall(sentence(0), at=START + timedelta(days=365))
    before = resident()
    stream, _ = filled(size, policy)
    stream.recall(sentence(0), at=START + timedelta(minutes=5 * size))
    return round((resident() - before) / stream.last_id)


def resident() -> int:
    """Bytes, without what the allocator keeps of what was freed; the highest so far where the system does not say what
    is in use now."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - not a file in any folder
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
