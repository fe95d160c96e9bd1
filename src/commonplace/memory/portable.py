"""Memories as JSON lines that any stream can read, whatever its store: `MemoryStream.export` and `import_`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from commonplace.canon import parsed
from commonplace.clock import parse_iso
from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.blocks import BLOCKS, checked_blocks
from commonplace.memory.embedding import Vector
from commonplace.memory.record import (
    QUOTES,
    SUPERSEDES,
    Emotion,
    Kind,
    Memory,
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
from commonplace.paths import kind_of
from commonplace.whole_file import written_whole

SOURCE_CITATIONS = "source_citations"
"""The key of `details` for cited ids, of the stream the memory comes from, that were not imported with it."""
LONGEST_LINE = 64 << 20
"""Bytes of a line that is read."""
_PLAIN = ("place", "source", "session", "tags", "event", "tick", "importance")


class Exported(NamedTuple):
    """One memory with what belongs to it."""

    memory: Memory
    vector: Vector | None
    archived: bool


class Imported(NamedTuple):
    """One line of a file."""

    text: str
    at: Any
    fields: MemoryFields
    kind: Kind
    accessed_at: Any
    """None if it never was."""
    cites: tuple[int, ...]
    """Places in the file, 0 for the first."""
    archived: bool
    number: int
    """Of the line, from 1."""
    supersedes: tuple[int, ...]
    """Places in the file; what is not there before it is left out."""
    quotes: int | None = None
    """The place in the file of the memory whose words it quotes."""


def write(path: str | Path, memories: Iterable[Exported], embedder: str, blocks: Mapping[str, Any]) -> int:
    """Writes a line per memory and returns how many. An existing file is replaced, whole or not at all.

    The first line has the core blocks, too; without a memory it is a line of their own.
    """
    count = 0
    first: dict[str, Any] = {BLOCKS: blocks} if blocks else {}
    with written_whole(path, force=True) as part, part.open("w", encoding="utf-8") as file:
        for memory, vector, archived in memories:
            line: dict[str, Any] = {**memory_json(memory), **first}
            first = {}
            if archived:
                line["archived"] = True
            if vector is not None:
                line |= {"embedder": embedder, "embedding": [_number(value) for value in vector.tolist()]}
            file.write(as_json(line) + "\n")
            count += 1
        if first:
            file.write(as_json(first) + "\n")
    return count


def read(path: str | Path, embedder: str) -> tuple[list[Imported], dict[str, Any]]:
    """Returns the memories and the core blocks of a file. `embedder`: whose vectors can be used; others are left out.

    Raises UsageError that names the first line that is not a memory, CommonplaceError for a file that cannot be read.
    """
    found: list[Imported] = []
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
                        if row:
                            found.append(_line(row, places, len(found), embedder, number))
                    except (ValueError, OverflowError, UsageError) as error:
                        raise refused(path, number, error) from error
    except OSError as error:
        what = f"the file cannot be read ({error.strerror or error})"
        raise CommonplaceError(what, where=str(path), hint="give a file that `export` has written") from error
    return found, blocks


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


def _line(row: dict[str, Any], places: dict[int, int], place: int, embedder: str, number: int) -> Imported:
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
    archived = row.get("archived") is True
    gone = superseded(details)
    supersedes = tuple(places[id] for id in gone if id in places)
    if gone:
        del details[SUPERSEDES]
    quotes = None
    if quote := quoted(details):
        details[QUOTES] = {**quote._asdict(), "id": 0}
        quotes = places.get(quote.id)
    texts = cast(MemoryFields, fields)
    return Imported(row["text"], at, texts, kind, accessed_at, cites, archived, number, supersedes, quotes)


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
