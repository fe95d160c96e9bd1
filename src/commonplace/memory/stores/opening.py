"""From a path or URL to the store it names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from commonplace.errors import UsageError
from commonplace.memory.stores.store import Store, Stored

# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


FORMS = (
    "FILE or sqlite:FILE (SQLite), FOLDER/ or jsonl:FOLDER (JSONL), chroma:FOLDER, embedded:FOLDER (a PostgreSQL of its"
    " own), postgresql://USER@HOST/DATABASE"
)


def open_store(where: str | Path, *, create: bool = True) -> Store:
    """The store a path or URL names, made if there is none; `FORMS` are the ways to name one.

    Raises UsageError for a form there is none of and, unless `create`, for a path where there is nothing.
    """
    text = os.fspath(where)
    kind, place = _kind(text)
    if not place:
        raise UsageError(f"no store can be called {text!r}", hint=f"the forms are {FORMS}")
    if not create and kind != "postgresql" and not Path(place).exists():
        raise UsageError("there is no such store", where=text, hint=f"give one that exists; the forms are {FORMS}")
    return _OPENERS[kind](place)


def _kind(text: str) -> tuple[str, str]:
    """(kind, path or URL)."""
    scheme, colon, rest = text.partition(":")
    if scheme in ("postgresql", "postgres"):
        return "postgresql", text
    if colon and scheme in _OPENERS:
        return scheme, rest
    if re.match(r"[a-z][a-z0-9+.-]+://", text):
        raise UsageError(f"there is no store of the form {scheme}://", where=text, hint=f"the forms are {FORMS}")
    return _kind_of_path(text), text


def _kind_of_path(text: str) -> str:
    path = Path(text)
    if (path / "chroma.sqlite3").exists():
        return "chroma"
    if (path / "PG_VERSION").exists():
        return "embedded"
    return "jsonl" if path.is_dir() or text.endswith(("/", os.sep)) else "sqlite"


def _sqlite(place: str) -> Store:
    from commonplace.memory.stores.sqlite import SQLiteStore  # noqa: PLC0415

    return SQLiteStore(place)


def _jsonl(place: str) -> Store:
    from commonplace.memory.stores.jsonl import JSONLStore  # noqa: PLC0415

    return JSONLStore(place)


def _chroma(place: str) -> Store:
    from commonplace.memory.stores.chroma import ChromaStore  # noqa: PLC0415

    return ChromaStore(place)


def _postgresql(place: str) -> Store:
    from commonplace.memory.stores.postgres import PostgresStore  # noqa: PLC0415

    return PostgresStore(place)


def _embedded(place: str) -> Store:
    from commonplace.memory.stores.postgres import EmbeddedStore  # noqa: PLC0415

    return EmbeddedStore(place)


_OPENERS: dict[str, Callable[[str], Store]] = {
    "sqlite": _sqlite,
    "jsonl": _jsonl,
    "chroma": _chroma,
    "postgresql": _postgresql,
    "embedded": _embedded,
}


# ── copying ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Memories from one store into another, with nothing lost.


CopyProgress = Callable[[str, int, int], None]
"""Called with (character, memories done, of how many)."""

_BATCH = 1000


def copy(source: Mapping[str, Stored], target: Store, progress: CopyProgress | None = None) -> int:
    """Writes characters (name → all there is of them) into a store; how many memories they have now.

    Forgotten ones are copied as forgotten, so that ids stay used, and are not counted. Raises UsageError, before
    anything is written, when the target has something of one of them.
    """
    taken = [agent for agent in source if target.load(agent).memories]
    if taken:
        raise UsageError(
            f"it has memories of {', '.join(taken)} already",
            where=target.where,
            hint="copy into a new store, or name the characters to copy",
        )
    return sum(_copied(agent, stored, target, progress) for agent, stored in source.items())


def _copied(agent: str, stored: Stored, target: Store, progress: CopyProgress | None) -> int:
    count = len(stored.memories)
    target.configure(agent, stored.settings)
    for first in range(0, count, _BATCH):
        some = slice(first, first + _BATCH)
        target.append(agent, stored.memories[some], stored.vectors[some])
        if progress is not None:
            progress(agent, min(first + _BATCH, count), count)
    if stored.forgotten:
        target.remove(agent, sorted(stored.forgotten))
    if stored.archived:
        target.archive(agent, sorted(stored.archived))
    return count - len(stored.forgotten)
