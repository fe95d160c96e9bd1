"""What is kept of talks with the characters of a run: JSON lines, in files beside a run file or in its database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from commonplace import log
from commonplace.paths import bytes_of
from commonplace.registry import RUNS, found
from commonplace.run.place import Address, Place

LARGEST = 1 << 26
"""Bytes of the file of a talk."""
CLOSED = b'{"closed":true}'
"""The last line of a talk in a file: what proved useful in it is in the graph beside it."""


class KeptTalk(NamedTuple):
    """A talk that was kept."""

    agent: str
    number: int
    lines: tuple[bytes, ...]
    """Without `CLOSED`."""


def talks_of(run: Path) -> Path:
    """Returns the folder beside a run in which talks with its characters are kept."""
    return run.with_name(f"{run.name}.talks")


def folder_of(run: Path, agent: str) -> Path:
    """Returns where the talks with a character of a run are kept."""
    return talks_of(run) / quote(agent, safe="")


def talks_in(run: Place) -> list[KeptTalk]:
    """Returns the talks about a run, by character and number."""
    if isinstance(run, Address):
        return found(RUNS["talks"])(run)
    kept: list[KeptTalk] = []
    for path in sorted(talks_of(run).glob("*/*.jsonl")):
        if path.stem.isdecimal():
            lines = log.split(bytes_of(path, "a talk", LARGEST))[0]
            agent = unquote(path.parent.name)
            kept.append(KeptTalk(agent, int(path.stem), tuple(line for line in lines if line != CLOSED)))
    return kept


def put_talks(run: Place, talks: Iterable[KeptTalk]) -> None:
    """Keeps the talks of another run about one that has none. The next talk learns from them."""
    if isinstance(run, Address):
        found(RUNS["put_talks"])(run, talks)
        return
    for talk in talks:
        path = folder_of(run, talk.agent) / f"{talk.number:04}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        log.replace(path, b"".join(line + b"\n" for line in talk.lines))
