"""Opening a store by its path or URL, and copying memories from one store into another."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from commonplace.errors import UsageError
from commonplace.memory.stores.store import (
    Access,
    Add,
    Archive,
    Configure,
    Forget,
    Readable,
    Store,
    Stored,
    Writer,
)
from commonplace.paths import kind_of
from commonplace.registry import STORES, found

FORMS = (
    "FILE or sqlite:FILE (SQLite), FOLDER/ or jsonl:FOLDER (JSONL), chroma:FOLDER, embedded:FOLDER (an embedded"
    " PostgreSQL), postgresql://USER@HOST/DATABASE"
)


def open_store(where: str | Path, *, create: bool = True) -> Store:
    """Opens the store that a path or URL names, created if missing; `FORMS` lists the ways to name one.

    Raises UsageError for any other form, for a folder of other things, and, unless `create`, where there is no store.
    """
    return _opened(os.fspath(where), "create" if create else "write")


def read_store(where: str | Path) -> Readable:
    """Opens the store that a path or URL names for reading: nothing is made, repaired or changed.

    Raises UsageError as `open_store` does, and where there is no store.
    """
    return _opened(os.fspath(where), "read")


def _opened(text: str, access: Access) -> Store:
    kind, place = _kind(text, access) if text else ("", "")
    if not place:
        raise UsageError(f"{text!r} is not a store", hint=f"expected {FORMS}")
    return found(STORES[kind])(place, access=access)


def _kind(text: str, access: Access) -> tuple[str, str]:
    """(kind, path or URL)."""
    scheme, colon, rest = text.partition(":")
    if scheme in ("postgresql", "postgres"):
        return "postgresql", text
    if colon and scheme in STORES:
        return scheme, rest
    if re.match(r"[a-z][a-z0-9+.-]+://", text):
        raise UsageError(f"{scheme}:// is not a kind of store", where=text, hint=f"expected {FORMS}")
    return _kind_of_path(text, access), text


def _kind_of_path(text: str, access: Access) -> str:
    path = Path(text)
    if kind_of(path) != "folder":
        return "jsonl" if text.endswith(("/", os.sep)) else "sqlite"
    if is_chroma(path):
        return "chroma"
    if is_postgres(path):  # starting it runs what its settings and functions say
        what = "the folder is a PostgreSQL server's, whose settings can run programs"
        raise UsageError(what, where=text, hint=f"if it is your own: embedded:{text}")
    if access == "create" and not is_jsonl(path) and any(path.iterdir()):
        hint = f"give a new name; to make a store among what is there: jsonl:{text}"
        raise UsageError("the folder holds other things, and no store", where=text, hint=hint)
    return "jsonl"


def is_jsonl(folder: Path) -> bool:
    """Tells whether the folder is a JSONL store, empty or not."""
    return kind_of(folder / "sessions") == "folder" or any(folder.glob("archive/*.jsonl.gz"))


def is_chroma(folder: Path) -> bool:
    """Tells whether the folder is Chroma's."""
    return kind_of(folder / "chroma.sqlite3") == "file"


def is_postgres(folder: Path) -> bool:
    """Tells whether the folder is a PostgreSQL server's."""
    return kind_of(folder / "PG_VERSION") == "file"


CopyProgress = Callable[[str, int, int], None]
"""Called with (character, memories done, of how many)."""

_BATCH = 1000


def copy(source: Mapping[str, Stored], target: Store, progress: CopyProgress | None = None) -> int:
    """Writes characters (name → all there is of them) into a store; how many memories they have now.

    Forgotten ones are copied as forgotten, so that ids stay used, and are not counted. A copy that was interrupted can
    be repeated: it goes on after what the target has. Raises UsageError, before anything is written, if that differs
    from what is copied.
    """
    there = {agent: Writer(target, agent) for agent in source}
    others = [agent for agent, stored in source.items() if not _is_part(there[agent].stored, stored)]
    if others:
        raise UsageError(
            f"it has other memories of {', '.join(others)} already",
            where=target.where,
            hint="copy into a new store, or name the characters to copy",
        )
    return sum(_copied(stored, there[agent], progress) for agent, stored in source.items())


def _is_part(there: Stored, stored: Stored) -> bool:
    """Tells whether `there` is what an interrupted or a complete copy of `stored` leaves."""
    if not there.memories:
        return True
    pairs = zip(there.memories, stored.memories, strict=False)
    return (
        there.settings == stored.settings
        and len(there.memories) <= len(stored.memories)
        and there.forgotten <= stored.forgotten
        and there.archived <= stored.archived
        and all(one == other for one, other in pairs if one.id not in there.forgotten)
    )


def _copied(stored: Stored, target: Writer, progress: CopyProgress | None) -> int:
    there, count = target.stored, len(stored.memories)
    if there.settings != stored.settings:
        target.write(Configure(stored.settings))
    for first in range(len(there.memories), count, _BATCH):
        some = slice(first, first + _BATCH)
        target.write(Add(stored.memories[some], stored.vectors[some]))
        if progress is not None:
            progress(target.agent, min(first + _BATCH, count), count)
    last = (
        Forget(sorted(stored.forgotten - there.forgotten)),
        Archive(sorted(stored.archived - there.archived)),
    )
    if any(operation.ids for operation in last):
        target.write(*last)
    return count - len(stored.forgotten)
