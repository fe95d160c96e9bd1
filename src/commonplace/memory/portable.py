"""Memories as JSON lines that any stream can read, whatever its store: `MemoryStream.export` and `import_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from commonplace.canon import parsed
from commonplace.clock import parse_iso
from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.blocks import BLOCKS, checked_blocks
from commonplace.memory.preparing import Item, Prepared, mended
from commonplace.memory.record import (
    QUOTES,
    SUPERSEDES,
    Emotion,
    MemoryFields,
    checked_count,
    checked_ids,
    checked_kind,
    checked_mapping,
    checked_time,
    checked_vector,
    quoted,
    superseded,
)
from commonplace.memory.stores.codec import as_json, memory_json
from commonplace.memory.table import View
from commonplace.paths import kind_of
from commonplace.whole_file import written_whole

SOURCE_CITATIONS = "source_citations"
"""The key of `details` for cited ids, of the stream the memory comes from, that were not imported with it."""
LONGEST_LINE = 64 << 20
"""Bytes of a line that is read."""
_PLAIN = ("place", "source", "session", "tags", "event", "tick", "importance")


def write(path: str | Path, view: View, blocks: Mapping[str, Any], *, vectors: bool) -> int:
    """Writes a line per memory and returns how many. An existing file is replaced, whole or not at all.

    The first line has the core blocks, too; without a memory it is a line of their own.
    """
    count, table = 0, view.table
    first: dict[str, Any] = {BLOCKS: blocks} if blocks else {}
    with written_whole(path, force=True) as part, part.open("w", encoding="utf-8") as file:
        for row in range(view.length):
            archived = row + 1 in table.archived
            if not (archived or view.alive[row]):
                continue
            line: dict[str, Any] = {**memory_json(view.memory(row)), **first}
            first = {}
            if archived:
                line["archived"] = True
            if vectors and (vector := table.given_vector(row)) is not None:
                line |= {"embedder": table.embedder.name, "embedding": [_number(value) for value in vector.tolist()]}
            file.write(as_json(line) + "\n")
            count += 1
        if first:
            file.write(as_json(first) + "\n")
    return count


def read(
    path: str | Path, embedder: str, make: Callable[[Item], Prepared]
) -> tuple[list[Prepared], list[int], dict[str, Any]]:
    """Returns (the memories of a file, the places of those that are archived, the core blocks).

    `embedder`: whose vectors can be used; others are left out. `make`: checks and rates a memory. Raises UsageError
    that names the first line that is not a memory, CommonplaceError for a file that cannot be read.
    """
    found: list[Prepared] = []
    archived: list[int] = []
    blocks: dict[str, Any] = {}
    places: dict[int, int] = {}
    kind_of(path)
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), start=1):
                if len(line) == LONGEST_LINE:
                    raise refused(path, number, ValueError(f"the line is longer than {LONGEST_LINE >> 20} MB"))
                if line.strip():
                    try:
                        row = _row(line)
                        blocks |= checked_blocks(row.pop(BLOCKS, None))
                        if not row:
                            continue
                        one, is_archived = _line(row, places, len(found), embedder, make)
                    except (ValueError, OverflowError, UsageError) as error:
                        raise refused(path, number, error) from error
                    archived += [len(found)] if is_archived else []
                    found.append(one)
    except OSError as error:
        what = f"the file cannot be read ({error.strerror or error})"
        raise CommonplaceError(what, where=str(path), hint="give a file that `export` has written") from error
    return found, archived, blocks


def refused(path: str | Path, line: int, error: Exception) -> UsageError:
    """Returns the error for a line that is not a memory."""
    what, hint = (error.what, error.hint) if isinstance(error, UsageError) else (str(error), "")
    hint = hint or "correct the line, or leave it out; nothing was imported"
    return UsageError(f"not a memory: {what}", where=f"{path}:{line}", hint=hint)


def _row(line: bytes) -> dict[str, Any]:
    given: Any = parsed(line)
    if not isinstance(given, dict) or not given:
        raise UsageError(f"{given!r:.60} is not a mapping of fields", hint="")
    return cast("dict[str, Any]", given)


def _line(
    row: dict[str, Any], places: dict[int, int], place: int, embedder: str, make: Callable[[Item], Prepared]
) -> tuple[Prepared, bool]:
    """Returns (the memory of a line, whether it is archived)."""
    for name in ("text", "created_at"):
        if not isinstance(row.get(name), str):
            raise UsageError(f"{name} is {row.get(name)!r:.60}", hint="a line has at least text and created_at")
    details = dict(checked_mapping("details", row.get("details")))
    cited = checked_ids(row.get("citations") or ())
    cites = tuple(places[id] for id in cited if id in places)
    if len(cites) < len(cited):
        details[SOURCE_CITATIONS] = list(cited)
    fields: dict[str, Any] = {name: row[name] for name in _PLAIN if row.get(name) is not None}
    fields |= {"details": details, "emotion": _emotion(row.get("emotion"))}
    if row.get("embedder") == embedder:
        fields["embedding"] = checked_vector(row.get("embedding"))
    at, accessed = _moment(row["created_at"]), row.get("accessed_at")
    accessed_at = None if accessed is None or _moment(accessed) == at else _moment(accessed)
    kind = checked_kind(row.get("kind", "observation"))
    if "id" in row:
        id = checked_count("id", row["id"], 1)
        if id in places:
            raise UsageError(f"id {id} was there before", hint="give each memory an id of its own, or none")
        places[id] = place
    gone = superseded(details)
    supersedes = tuple(places[id] for id in gone if id in places)
    if gone:
        del details[SUPERSEDES]
    quotes = None
    if quote := quoted(details):
        details[QUOTES] = {**quote._asdict(), "id": 0}
        quotes = places.get(quote.id)
    one = make(Item(row["text"], at, cast(MemoryFields, fields)))
    memory = replace(mended(one.memory), kind=kind, accessed_at=accessed_at or one.memory.accessed_at)
    return Prepared(memory, one.vector, cites, supersedes, quotes), row.get("archived") is True


def _emotion(given: Any) -> Emotion | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise UsageError(f"emotion {given!r:.60} is not a mapping", hint="")
    felt = dict(cast("Mapping[str, Any]", given))
    keywords = felt.pop("keywords", ())
    if not isinstance(keywords, list | tuple) or not all(isinstance(one, str) for one in cast("list[Any]", keywords)):
        raise UsageError(f"keywords {keywords!r:.60} are not a list of strings", hint="")
    try:
        return Emotion(**felt, keywords=tuple(cast("list[str]", keywords)))
    except TypeError as error:
        raise UsageError(f"emotion {given!r:.60} is not an emotion", hint="") from error


def _moment(value: Any) -> Any:
    if not isinstance(value, str):
        raise UsageError(f"time {value!r:.60} is not a time", hint="give ISO text")
    return checked_time(parse_iso(value))


def _number(value: float) -> float | int:
    """Returns a number as short as JSON can have it."""
    return int(value) if value.is_integer() else value
