"""What it costs to open a long memory again and ask it something, with the index beside the file and without.

    python benchmarks/reopen.py [--json] [--sizes 10000,100000]

Streams in a SQLite file, of texts of 30,000 different words, few of them frequent: one whose vectors are not compared,
and one with a lattice vector of 384 numbers for each memory. Everything is processor time in milliseconds, each in a
fresh process that has embedded nothing yet; the best of three. The question has a word that no memory has. Behind the
times is the RAM of the process afterwards (Linux), mapped files included.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from commonplace.memory import Embedder, MemoryStream, lattice
from commonplace.memory.embedding import Vector

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
LATER = START + timedelta(days=300)
WHO = ("Klaus", "Maria", "Tom", "민수")
WORDS = 30_000
MORE = 400
Figures = dict[str, float]


class Model:
    """Stands in for a model: a random vector for each text."""

    name = "random-384"
    dimensions = 384

    def __init__(self) -> None:
        self._chance = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return [lattice(self._chance.standard_normal(384)) for _ in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--sizes", default="10000,100000", help="memories, separated by commas")
    parser.add_argument("--ask", nargs=2, metavar=("FILE", "EMBEDDER"), help="only ask, and print the figures as JSON")
    options = parser.parse_args()
    if options.ask:
        print(json.dumps(asked(Path(options.ask[0]), options.ask[1])))
        return
    for size in map(int, options.sizes.split(",")):
        for embedder in ("built-in", "model"):
            with tempfile.TemporaryDirectory(prefix="commonplace-reopen-") as folder:
                path = Path(folder) / "store.db"
                indexed = fill(path, size, embedder)
                found = {"index": best(path, embedder)}
                found["index, a few memories behind"] = best(path, embedder, MORE)
                shutil.rmtree(f"{path}-index")
                found["no index"] = best(path, embedder)
            for how, figures in found.items():
                line = {"memories": size, "embedder": embedder, "how": how, **figures, "close": indexed}
                print(json.dumps(line) if options.json else row(line), flush=True)


def row(line: dict[str, str | float]) -> str:
    return (
        f"{line['memories']:>8,}  {line['embedder']:<9} {line['how']:<29} open {line['open']:7.1f}  first question"
        f" {line['question']:7.1f}  {line['megabytes']:5.0f} MB  (first index {line['close']:.0f})"
    )


def made(embedder: str) -> Embedder | None:
    return Model() if embedder == "model" else None


def fill(path: Path, size: int, embedder: str) -> float:
    """Writes the memories; returns what closing took, which writes the index."""
    stream = MemoryStream.open(path, "maria", embedder=made(embedder))
    add(stream, size)
    begun = time.process_time()
    stream.close()
    return (time.process_time() - begun) * 1e3


def add(stream: MemoryStream, count: int) -> None:
    words, chance = vocabulary(), random.Random(5)
    for first in range(0, count, 2_000):
        some = range(stream.last_id, stream.last_id + min(2_000, count - first))
        stream.add_many([item(number, words, chance) for number in some])


def item(number: int, words: Sequence[str], chance: random.Random) -> dict[str, object]:
    said = [words[int(chance.paretovariate(0.6)) % WORDS] for _ in range(chance.randint(6, 16))]
    return {
        "text": f"{chance.choice(WHO)}: {' '.join(said)}{'?' if number % 7 == 0 else '.'}",
        "at": START + timedelta(minutes=3 * number),
        "importance": 1 + number % 9,
        "source": chance.choice(("user", "assistant")),
        "details": {"turn": number},
    }


def vocabulary() -> list[str]:
    chance = random.Random(3)
    syllables = [consonant + vowel for consonant in "bcdfglmnprst" for vowel in "aeiou"]
    return ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(WORDS)]


def best(path: Path, embedder: str, more: int = 0) -> Figures:
    """The lowest figures of three processes; `more`: how many memories are newer than the index."""
    if more:
        stream = MemoryStream.open(path, "maria", embedder=made(embedder))
        add(stream, min(more, stream.last_id // 260))
        del stream  # as if the process had been killed
    command = [sys.executable, __file__, "--ask", str(path), embedder]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(3)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def asked(path: Path, embedder: str) -> Figures:
    given, words = made(embedder), vocabulary()
    begun = time.process_time()
    stream = MemoryStream.open(path, "maria", embedder=given)
    opened = time.process_time()
    stream.recall(f"what did Maria say about {words[4]} {words[77]} zorblat?", at=LATER, touch=False)
    answered = time.process_time()
    megabytes = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return {"open": (opened - begun) * 1e3, "question": (answered - opened) * 1e3, "megabytes": megabytes}


if __name__ == "__main__":
    main()
