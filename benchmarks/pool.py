"""Many users in one process through a bounded pool of streams: RAM, files, and what a call costs.

    python benchmarks/pool.py [--json] [--users 10000] [--memories 20] [--calls 20000] [--open 100,1000,10000]

Each user has so many memories in one SQLite file. Users come in a random order in which few come often (Zipf); each is
remembered something or asked something, in turn. For every size of the pool a fresh process makes the calls. RAM is
what the process grew by; a call's time is processor time of its thread, the opening of the stream and the closing of
another included.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from commonplace.memory import Memories

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
WHO = ("Klaus", "Maria", "Isabella", "Tom", "Yuriko", "Hailey")
DOES = ("likes", "asked about", "moved to", "is allergic to", "cooks", "forgot")
WHAT = ("the lantern festival", "Lyon", "peanuts", "chemistry", "the old mill", "jazz", "a bakery", "rent")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--memories", type=int, default=20, help="of each user")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--open", default="100,1000,10000", help="sizes of the pool, separated by commas")
    parser.add_argument("--where", help="only make the calls, in this store, and print the figures as JSON")
    options = parser.parse_args()
    if options.where:
        print(json.dumps(called(options.where, options.users, options.calls, int(options.open))))
        return
    with tempfile.TemporaryDirectory(prefix="commonplace-pool-") as folder:
        where = str(Path(folder) / "users.db")
        fill(where, options.users, options.memories)
        given = ["--where", where, "--users", str(options.users), "--calls", str(options.calls)]
        for size in options.open.split(","):
            command = [sys.executable, __file__, *given, "--open", size]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(json.dumps(found) if options.json else row(found), flush=True)


def row(found: dict[str, Any]) -> str:
    return (
        f"{found['max_open']:>6} open: {found['megabytes']:7.1f} MB, {found['files']} files, "
        f"median {found['median']:.2f} ms, p99 {found['p99']:.2f} ms"
    )


def fill(where: str, users: int, memories: int) -> None:
    chance = random.Random(1)
    with Memories(where, max_open=1) as pool:
        for user in range(users):
            with pool.stream(f"user {user}") as stream:
                said = [{"text": sentence(chance), "at": START + timedelta(hours=n)} for n in range(memories)]
                stream.add_many(said)


def sentence(chance: random.Random) -> str:
    return f"{chance.choice(WHO)} {chance.choice(DOES)} {chance.choice(WHAT)} {chance.randrange(1000)}"


def called(where: str, users: int, calls: int, size: int) -> dict[str, Any]:
    chance, spent = random.Random(2), list[float]()
    with Memories(where, max_open=size) as pool:
        with pool.stream("user 0") as stream:  # what is loaded once
            stream.recall("what does Klaus like?", at=START + timedelta(days=30))
        before = resident()
        for number, user in zip(range(calls), visitors(chance, users), strict=False):
            begun = time.thread_time()
            with pool.stream(f"user {user}") as stream:
                at = START + timedelta(days=30, seconds=number)
                if number % 2:
                    stream.recall(f"what does {chance.choice(WHO)} say about {chance.choice(WHAT)}?", at=at)
                else:
                    stream.remember(sentence(chance), at=at)
            spent.append((time.thread_time() - begun) * 1e3)
        megabytes, files, streams = (resident() - before) / 2**20, len(list(Path("/proc/self/fd").iterdir())), len(pool)
    spent.sort()
    return {
        "max_open": size,
        "streams": streams,
        "megabytes": megabytes,
        "files": files,
        "median": spent[len(spent) // 2],
        "p99": spent[len(spent) * 99 // 100],
    }


def visitors(chance: random.Random, users: int) -> Iterator[int]:
    """Yields users for ever, the first the most often."""
    while True:
        yield int(chance.paretovariate(0.3)) % users


def resident() -> int:
    """Returns the bytes of RAM that the process has now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
