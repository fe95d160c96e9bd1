"""The processes of this machine: who started whom, and how to end one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

PATIENCE = 150
"""Seconds until something counts as failed: after a `kill -9` two processes of Ray stay for a minute."""


def parents() -> dict[int, tuple[int, str]]:
    """Process → its parent and what it is called."""
    found: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if fields[0] != "Z":
                found[int(folder.name)] = (int(fields[1]), words.strip())
    return found


def started_by(process: int) -> dict[int, str]:
    """The processes that a process has started, and those have."""
    everybody = parents()

    def below(parent: int) -> Iterator[tuple[int, str]]:
        for one, (above, words) in everybody.items():
            if above == parent:
                yield one, words
                yield from below(one)

    return dict(below(process))


def alive(processes: Iterable[int]) -> set[int]:
    """Those that have not ended."""
    return parents().keys() & {*processes}


def workers_of(process: int) -> list[int]:
    """The workers of a run with a Ray of its own."""
    return sorted(one for one, words in started_by(process).items() if words.startswith("ray::RayWorker"))


def folders_of(process: int) -> list[Path]:
    """What the Ray of a process keeps in a temporary folder."""
    return [*Path("/tmp").glob(f"commonplace-*/session_*_{process}")]


def kill(process: int) -> None:
    """As nothing can prevent."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def until(fact: Callable[[], object]) -> None:
    """Waits until something is so."""
    end = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def ports(process: int) -> set[str]:
    """The addresses on which a process listens, in hexadecimal as Linux has them."""
    sockets = set[str]()
    with suppress(OSError):
        for one in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                sockets.add(str(one.readlink()).removeprefix("socket:[").removesuffix("]"))
    found = set[str]()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and inode in sockets:
                found.add(local.partition(":")[0])
    return found
