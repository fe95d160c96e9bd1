"""Opening a JSONL folder: everything in it read, what a dead process left is finished or taken back, and said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

from commonplace.clock import parse_iso
from commonplace.errors import CommonplaceError, WrongUse
from commonplace.memory.coordinates.ids import unused_id
from commonplace.memory.record import accessed
from commonplace.memory.stores.jsonl_files import append, cut, read_lines
from commonplace.memory.stores.jsonl_shelf import Line, Shelf, line_from
from commonplace.memory.stores.store import tombstone

Key = tuple[str, int]


@dataclass(slots=True)
class Found:
    """What a folder holds."""

    shelves: dict[str, Shelf] = field(default_factory=dict[str, Shelf])
    sessions: dict[str, list[Key]] = field(default_factory=dict[str, "list[Key]"])
    """Session → what belongs to it, archived or not, in the order of its file."""
    taken: set[str] = field(default_factory=set[str])
    """Names of memories."""
    rewrite: set[str] = field(default_factory=set[str])
    """Sessions whose files are not as they should be."""
    changes: int = 0
    """Lines of `changes.jsonl`."""
    unsaid: bool = False
    """Something is missing that `changes.jsonl` does not say was removed."""
    repairs: list[str] = field(default_factory=list[str])


def read_folder(folder: Path, *, compressed: bool, died: bool) -> Found:
    """Everything in the folder. `compressed`: how its sessions should be. `died`: whoever had it open did not close it.

    Raises CommonplaceError for a file that cannot be read, naming file and line.
    """
    found = Found()
    lines: dict[Key, list[Line]] = defaultdict(list)
    for path in _files(folder):
        for line in _lines(path, found):
            lines[line.key].append(line)
            if path.parent.name == "sessions" and (path.suffix == ".gz") is not compressed:
                found.rewrite.add(line.document.time.session_id)
    changes = list(_changes(folder / "changes.jsonl", found))
    gone = {(agent, id) for change in changes if change["op"] == "remove" for agent, id in _keys(change)}
    if died:
        _take_back_unfinished(lines, gone, found)
    _number(lines, gone, found)
    _shelve(lines, gone, found)
    for change in changes:
        _OPS[change["op"]](found, change)
    _finish(lines, found)
    return found


def _files(folder: Path) -> list[Path]:
    for left in sorted(folder.rglob("*.new")):
        left.unlink()
    patterns = ("sessions/*.jsonl", "sessions/*.jsonl.gz", "archive/*.jsonl.gz")
    return [path for pattern in patterns for path in sorted(folder.glob(pattern))]


def _whole_values(path: Path, found: Found) -> list[Any]:
    values, good, torn, unended = read_lines(path)
    if unended:
        append(path, b"\n", sync=True)
    if torn:
        cut(path, good)
        found.repairs.append(f"{path.name}: the last line was torn ({torn} bytes) and is taken off")
    return values


def _lines(path: Path, found: Found) -> Iterable[Line]:
    for number, plain in enumerate(_whole_values(path, found), start=1):
        try:
            yield line_from(plain, archived=path.parent.name == "archive")
        except (WrongUse, ValueError, AttributeError, TypeError) as error:
            what = error.what if isinstance(error, WrongUse) else str(error)
            todo = "mend the line by hand, or delete it to give the memory up"
            raise CommonplaceError(f"no memory: {what}", where=f"{path}:{number}", todo=todo) from error


def _changes(path: Path, found: Found) -> Iterable[dict[str, Any]]:
    if not path.exists():
        return
    for number, change in enumerate(_whole_values(path, found), start=1):
        if not isinstance(change, dict) or change.get("op") not in _OPS:
            todo = "a newer Commonplace may know it: pip install --upgrade commonplace"
            raise CommonplaceError(f"an unknown change {change!r:.80}", where=f"{path}:{number}", todo=todo)
        found.changes += 1
        yield change


def _keys(change: Mapping[str, Any]) -> list[Key]:
    return [(change["agent"], id) for id in change["ids"]]


def _take_back_unfinished(lines: dict[Key, list[Line]], gone: set[Key], found: Found) -> None:
    """Of memories added together all are kept or none: those of a last addition that is not all there go."""
    last: dict[str, int] = defaultdict(int)
    for agent, id in (*lines, *gone):
        last[agent] = max(last[agent], id)
    for agent, top in last.items():
        here = [(id, line) for (name, id), some in lines.items() if name == agent for line in some]
        batches = {line.batch for id, line in here if line.batch > top or (line.batch == top and id == top)}
        for batch in sorted(batches):
            together = {id for id, line in here if line.batch == batch}
            if together and batch - min(together) + 1 > len(together):
                for id in together:
                    found.rewrite |= {line.document.time.session_id for line in lines.pop((agent, id))}
                found.repairs.append(f"{agent}: an addition that was cut off is taken back ({len(together)} memories)")


def _number(lines: dict[Key, list[Line]], gone: set[Key], found: Found) -> None:
    """Documents without a number, or with one that is taken, get the next ones, in the order of their time."""
    loose: dict[str, list[Line]] = defaultdict(list)
    for (agent, id), some in list(lines.items()):
        places = {line.archived for line in some}
        spare = some if id == 0 else some[len(places) :]
        if spare:
            loose[agent] += spare
            del some[len(some) - len(spare) :]
        if not some:
            del lines[agent, id]
    for agent, some in loose.items():
        last = max((id for name, id in (*lines, *gone) if name == agent), default=0)
        for id, line in enumerate(sorted(some, key=lambda line: line.document.at), start=last + 1):
            lines[agent, id].append(line)
            found.rewrite.add(line.document.time.session_id)
        found.repairs.append(f"{agent}: {len(some)} documents of another hand are numbered from {last + 1}")


def _shelve(lines: Mapping[Key, list[Line]], gone: set[Key], found: Found) -> None:
    """Puts memories in the order of their numbers; what was forgotten or is missing leaves a tombstone."""
    last: dict[str, int] = {}
    for agent, id in (*lines, *gone):
        last[agent] = max(last.get(agent, 0), id)
    found.taken = {line.document.memory_id for some in lines.values() for line in some}
    for agent, top in last.items():
        shelf = found.shelves[agent] = Shelf()
        for id in range(1, top + 1):
            some = lines.get((agent, id))
            if some is None or (agent, id) in gone:
                shelf.memories.append(tombstone(agent, id))
                shelf.vectors.append(None)
                shelf.names.append("")
                shelf.forgotten.add(id)
            else:
                line = some[0]
                line.document.memory_id = line.document.memory_id or unused_id(line.document.at, found.taken, agent, id)
                found.taken.add(line.document.memory_id)
                shelf.memories.append(line.memory(id))
                shelf.vectors.append(line.vector)
                shelf.names.append(line.document.memory_id)
                if any(one.archived for one in some):
                    shelf.archived.add(id)
        missing = sorted(id for id in shelf.forgotten if (agent, id) not in gone)
        if missing:
            found.repairs.append(f"{agent}: memories {missing[:10]} are in no file and count as forgotten")
            found.unsaid = True
    for (agent, id), some in lines.items():
        found.sessions.setdefault(some[0].document.time.session_id, []).append((agent, id))


def _finish(lines: Mapping[Key, list[Line]], found: Found) -> None:
    """Finds the sessions that hold what should be elsewhere or nowhere, or not yet what was changed."""
    for (agent, id), some in lines.items():
        shelf = found.shelves[agent]
        session = some[0].document.time.session_id
        if id in shelf.forgotten or len(some) > 1 or some[0].archived is not (id in shelf.archived):
            found.rewrite.add(session)
    for session, keys in found.sessions.items():
        found.sessions[session] = [(agent, id) for agent, id in keys if found.shelves[agent].there(id)]


def _remove(found: Found, change: Mapping[str, Any]) -> None:
    """Done before: what is gone was not put on a shelf."""


def _configure(found: Found, change: Mapping[str, Any]) -> None:
    found.shelves.setdefault(change["agent"], Shelf()).settings = change["settings"]


def _touch(found: Found, change: Mapping[str, Any]) -> None:
    shelf = found.shelves[change["agent"]]
    for number, at in change["at"].items():
        if shelf.there(id := int(number)):
            shelf.memories[id - 1] = accessed(shelf.memories[id - 1], parse_iso(at))
            shelf.touched.add(id)


def _update(found: Found, change: Mapping[str, Any]) -> None:
    shelf = found.shelves[change["agent"]]
    for plain in change["documents"]:
        line = line_from(plain, archived=False)
        id = line.key[1]
        if shelf.there(id):
            memory = line.memory(id)
            shelf.memories[id - 1] = with_changes(memory, agent=change["agent"])
            shelf.vectors[id - 1] = line.vector
            found.rewrite.add(memory.session)


def _archive(found: Found, change: Mapping[str, Any]) -> None:
    found.shelves[change["agent"]].archived |= {id for agent, id in _keys(change) if found.shelves[agent].there(id)}


def _restore(found: Found, change: Mapping[str, Any]) -> None:
    found.shelves[change["agent"]].archived -= {id for _, id in _keys(change)}


_OPS: Mapping[str, Callable[[Found, Mapping[str, Any]], None]] = {
    "remove": _remove,
    "configure": _configure,
    "touch": _touch,
    "update": _update,
    "archive": _archive,
    "restore": _restore,
}
