"""The files of the JSONL store: their names, reading and writing them, the configuration, and opening a folder.

`open_folder` reads everything into a `FolderContents` and repairs what a killed process or another program left behind;
`FolderContents.apply` then follows each change, the same way for a line of `changes.jsonl` and for a call of the store.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, Field

from commonplace import log
from commonplace.canon import most_inflated, parsed
from commonplace.clock import iso, parse_iso
from commonplace.errors import UPGRADE, CommonplaceError, UsageError
from commonplace.memory.embedding import Vector, decoded, encoded
from commonplace.memory.record import Memory, accessed
from commonplace.memory.stores.codec import as_json
from commonplace.memory.stores.store import (
    FORGOTTEN,
    Add,
    Archive,
    Configure,
    Forget,
    Operation,
    Restore,
    Revise,
    Stored,
    Touch,
    fold,
    tombstone,
)
from commonplace.parts.coordinates.document import CheckedModel, MemoryCoordinate, from_memory, to_memory, unused_id
from commonplace.parts.coordinates.retention import RetentionPolicy
from commonplace.paths import bytes_of, kind_of, text_of

# ── Configuration ────────────────────────────────────────────────────────────────────────────────────────────────────


LAYOUT = 1
"""Version of the folder's layout. A newer one is refused; a configuration without a version has the first."""


class Storage(CheckedModel):
    """How memories are written."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)
    path = "storage"
    format: Literal["jsonl"] = "jsonl"
    compression: Literal["none", "gzip"] = "none"
    """With `gzip`, session files end in `.jsonl.gz`."""
    backup_enabled: bool = True
    backup_path: str = ""
    """Where `close` copies the store to; empty for no backup."""
    layout: int = LAYOUT

    @property
    def backup_target(self) -> Path | None:
        """Where the backup goes; None for no backup."""
        if not (self.backup_enabled and self.backup_path) or self.backup_is_foreign:
            return None
        return Path(self.backup_path)

    @property
    def backup_is_foreign(self) -> bool:
        """Whether the path has a drive letter and this is not Windows."""
        return os.name != "nt" and bool(re.match(r"[A-Za-z]:[\\/]", self.backup_path))


class StoreConfig(CheckedModel):
    """The content of `config.json`."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)
    retention_policy: RetentionPolicy = Field(default_factory=RetentionPolicy)
    storage: Storage = Field(default_factory=Storage)

    @classmethod
    def read(cls, path: Path) -> StoreConfig:
        """Reads the configuration in a file. Raises UsageError, naming the file, for one that cannot be used."""
        try:
            config = cls.model_validate(json.loads(text_of(path, "a configuration")))
        except ValueError as error:
            hint = "correct the file; if it belongs to something else, name another folder"
            raise UsageError(f"not JSON ({error})", where=str(path), hint=hint) from error
        except UsageError as error:
            raise UsageError(error.what, where=str(path), hint=error.hint) from error
        except OSError as error:
            hint = "check the file and its permissions"
            raise CommonplaceError(f"cannot be read ({error.strerror})", where=str(path), hint=hint) from error
        if config.storage.layout > LAYOUT:
            what = f"the store has layout {config.storage.layout} of a newer Commonplace; expected at most {LAYOUT}"
            raise UsageError(what, where=str(path), hint=UPGRADE)
        return config

    def write(self, path: Path) -> None:
        """Replace the file."""
        replace_file(path, (json.dumps(self.model_dump(), ensure_ascii=False, indent=2) + "\n").encode())


# ── File names ───────────────────────────────────────────────────────────────────────────────────────────────────────


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
_LONGEST = 120
"""Characters of a file name; file systems allow 255 bytes. A longer name is cut and ends in a digest."""


def file_name(session: str) -> str:
    """Returns a name for the session that every file system accepts, also those that ignore case.

    `s1` stays, `AGI` becomes `^a^g^i`, any other byte `%xx`, and no session at all `%`.
    """
    if not session:
        return "%"
    name = "".join(_safe(letter) for letter in session)
    if name.split(".")[0] in _RESERVED or name[0] == ".":
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if name[-1] == ".":
        name = f"{name[:-1]}%2e"
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 33]}~{blake2b(session.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _safe(letter: str) -> str:
    if letter in _PLAIN:
        return letter
    if "A" <= letter <= "Z":
        return f"^{letter.lower()}"
    return "".join(f"%{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))


# ── Reading and writing files ────────────────────────────────────────────────────────────────────────────────────────


_MEND = "correct the line, or delete it to drop the memory"


class Lines(NamedTuple):
    """What a file of JSON lines holds."""

    values: list[Any]
    good: int
    """Bytes up to the end of the last complete line."""
    torn: int
    """Bytes after it: a line whose writing was cut off."""
    unended: bool = False
    """The last line is complete except for its line break, as some editors leave it."""


def read_lines(path: Path) -> Lines:
    """Reads the JSON values of a file, plain or compressed, without a torn last line.

    Raises CommonplaceError, naming the line, for any other line that is not JSON.
    """
    data = bytes_of(path, "a session")
    if path.suffix == ".gz":
        try:
            text, good = _gzip_members(data)
        except ValueError as error:
            raise CommonplaceError(
                f"the file is damaged ({error})", where=str(path), hint="go back to a copy"
            ) from error
        return Lines(_parsed(text.splitlines(), path), good, len(data) - good)
    unended = not data.endswith(b"\n") and _is_object(data[data.rfind(b"\n") + 1 :])
    good = len(data) if unended else data.rfind(b"\n") + 1
    lines = data[:good].removesuffix(b"\n").split(b"\n")
    if b"\0" in lines[-1]:  # a power cut left blocks of the file unwritten
        good -= len(lines.pop()) + 1
    return Lines(_parsed(lines, path), good, len(data) - good, unended)


def _gzip_members(data: bytes) -> tuple[bytes, int]:
    """(the text of all complete gzip members, their size in bytes). Raises ValueError for text that is far too long."""
    text, good, rest = bytearray(), 0, data
    most = most_inflated(len(data))
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(rest, most + 1 - len(text))
        except zlib.error:
            break
        if len(text) + len(part) > most:
            raise ValueError(f"it inflates to more than {most} bytes")
        if not member.eof:
            break
        text += part
        good += len(rest) - len(member.unused_data)
        rest = member.unused_data
    return bytes(text), good


def _is_object(line: bytes) -> bool:
    """Tells whether the line is a JSON object; a part of one never is."""
    try:
        return isinstance(parsed(line), dict)
    except ValueError:
        return False


def _parsed(lines: Sequence[bytes], path: Path) -> list[Any]:
    values: list[Any] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                values.append(parsed(line))
        except ValueError as error:
            raise CommonplaceError(f"not JSON ({error})", where=f"{path}:{number}", hint=_MEND) from error
    return values


def json_lines(values: Iterable[Any]) -> bytes:
    """Returns the values as JSON, one per line."""
    return "".join(f"{as_json(value)}\n" for value in values).encode()


def append_all(contents: Mapping[Path, bytes], *, sync: bool) -> None:
    """Append to all of the files, or to none. `sync`: the bytes survive a power cut as well."""
    done: list[tuple[Path, int]] = []
    try:
        for path, data in contents.items():
            done.append((path, append(path, data, sync=sync)))
    except OSError:
        for path, size in done:
            os.truncate(path, size)
        raise


def append(path: Path, data: bytes, *, sync: bool) -> int:
    """Appends as `log.append` does, compressed where the name says so."""
    return log.append(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data, sync=sync)


def replace_file(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Replaces the content of a file as `log.replace` does; deletes the file if there is no content."""
    if data:
        log.replace(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data, sync=sync)
    else:
        path.unlink(missing_ok=True)


def mirror(folder: Path, target: Path) -> None:
    """Copy a folder to `target`, except for files of the same size and time, and delete sessions that are gone."""
    wanted = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    wanted.pop(Path("lock"), None)
    for name, path in wanted.items():
        copy = target / name
        if not _alike(path, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            aside = copy.with_name(f"{copy.name}.new")
            shutil.copy2(path, aside)
            aside.replace(copy)
    for kind in ("sessions", "archive"):  # a backup must not keep what was forgotten
        for copy in (target / kind).glob("*"):
            if copy.relative_to(target) not in wanted:
                copy.unlink()


def _alike(path: Path, copy: Path) -> bool:
    if kind_of(copy) != "file":
        return False
    one, other = path.stat(), copy.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


# ── Lines of a session ───────────────────────────────────────────────────────────────────────────────────────────────


_WIDTHS = {"int16": 2, "float32": 4}
_TYPES = {width: name for name, width in _WIDTHS.items()}
Key = tuple[str, int]
"""(character, id)."""


@dataclass(slots=True)
class Line:
    """A document found in a file."""

    document: MemoryCoordinate
    memory: Memory
    vector: Vector | None
    batch: int
    """The last id of the memories appended together with it; 0 if it was appended alone."""
    archived: bool

    @property
    def key(self) -> Key:
        """(character, id); id 0 for a document without a number."""
        return self.document.agent.persona_id, max(0, self.memory.id)

    @property
    def session(self) -> str:
        """The session whose file holds it."""
        return self.document.time.session_id


def line_of(memory: Memory, name: str, vector: Vector | None, batch: int = 0) -> dict[str, Any]:
    """Returns the document of a memory, with its vector at the end of `memory`."""
    document = from_memory(memory, name)
    width, data = encoded(vector)
    if batch:
        document.memory["batch"] = batch
    if data is not None:
        document.memory["embedding"] = {_TYPES[width]: base64.b64encode(data).decode("ascii")}
    return document.to_dict()


def line_from(value: Any, *, archived: bool = False) -> Line:
    """Reads what `line_of` has made. Raises UsageError if it is not a document, ValueError for an unreadable vector."""
    document = MemoryCoordinate.from_dict(value)
    batch = document.memory.pop("batch", 0)
    if not isinstance(document.memory.get("id", 0), int):
        del document.memory["id"]
    vector = None
    for kind, data in document.memory.pop("embedding", {}).items():
        vector = decoded(_WIDTHS.get(kind, 0), base64.b64decode(data, validate=True))
    return Line(document, to_memory(document), vector, batch if isinstance(batch, int) else 0, archived)


# ── What a folder holds ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class AgentMemories(Stored):
    """The memories of one character, which say what of the folder has to be written again when they change."""

    names: list[str] = field(default_factory=list[str])
    """Ids in documents, by id − 1; empty for one forgotten."""
    touched: set[int] = field(default_factory=set[int])
    """Accessed since their documents were written."""
    taken: set[str] = field(default_factory=set[str])
    """The names of all characters."""
    outdated: set[str] = field(default_factory=set[str])
    """Sessions of all characters whose files have to be written again."""

    def has(self, id: int) -> bool:
        """Tells whether this memory exists, archived or not."""
        return 1 <= id <= self.last_id and id not in self.forgotten

    def access(self, accesses: Mapping[int, datetime]) -> None:
        Stored.access(self, accesses)
        self.touched.update(accesses)

    def revise(self, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None) -> None:
        Stored.revise(self, memories, vectors)
        self.outdated.update(memory.session for memory in memories)

    def move(self, ids: Sequence[int], state: int) -> None:
        self.outdated.update(self.memories[id - 1].session for id in ids)
        Stored.move(self, ids, state)
        if state == FORGOTTEN:
            self.taken.difference_update(self.names[id - 1] for id in ids)
            self.touched.difference_update(ids)
            for id in ids:
                self.names[id - 1] = ""


@dataclass(slots=True)
class FolderContents:
    """Everything in a folder, and what has to be written to bring the files up to date."""

    mend: bool = True
    """Whether files are repaired while they are read."""
    agents: dict[str, AgentMemories] = field(default_factory=dict[str, AgentMemories])
    sessions: dict[str, list[Key]] = field(default_factory=lambda: defaultdict(list))
    """Session → its memories, archived or not, in the order of its file."""
    names: set[str] = field(default_factory=set[str])
    """Ids in documents that are taken."""
    outdated: set[str] = field(default_factory=set[str])
    """Sessions whose files have to be written again."""
    changes: int = 0
    """Lines of `changes.jsonl`."""
    changes_outdated: bool = False
    repairs: list[str] = field(default_factory=list[str])

    @property
    def gone(self) -> str:
        """What was done with memories that are not whole."""
        return "removed" if self.mend else "left out"

    def of(self, agent: str) -> AgentMemories:
        """Returns the memories of a character; empty for an unknown one."""
        return self.agents.get(agent) or AgentMemories(agent=agent, taken=self.names, outdated=self.outdated)

    def begun(self, agent: str) -> AgentMemories:
        """Returns the memories of a character and adds the character if it is not here yet."""
        return self.agents.setdefault(agent, self.of(agent))

    def apply(self, change: Mapping[str, Any]) -> None:
        """Follows a line of `changes.jsonl`. Ids that do not exist are ignored."""
        name = change["agent"]
        here = self.begun(name)
        match change["op"]:
            case "configure":
                operation: Operation = Configure(dict(change["settings"]))
            case "touch":
                operation = Touch({int(id): parse_iso(at) for id, at in change["at"].items()})
            case "update":
                lines = [line for line in map(line_from, change["documents"]) if here.has(line.memory.id)]
                memories = [replace(line.memory, agent=name) for line in lines]
                operation = Revise(memories, [line.vector for line in lines])
            case "archive" | "restore" | "remove" as kind:
                operation = _MOVES[kind](list(filter(here.has, change["ids"])))
            case "delete":
                self.delete(name)
                return
            case unknown:
                raise UsageError(f"unknown change {unknown!r:.80}", hint=UPGRADE)
        fold((operation,), here)

    def line(self, agent: str, operation: Operation) -> dict[str, Any]:
        """Returns the line of `changes.jsonl` from which `apply` makes this operation."""
        here = self.of(agent)
        match operation:
            case Configure(settings):
                return {"op": "configure", "agent": agent, "settings": dict(settings)}
            case Touch(accesses):
                at = {str(id): iso(moment) for id, moment in accesses.items() if here.has(id)}
                return {"op": "touch", "agent": agent, "at": at}
            case Revise(memories, vectors):
                documents = [
                    line_of(
                        accessed(memory, here.memories[memory.id - 1].accessed_at),
                        here.names[memory.id - 1],
                        here.vectors[memory.id - 1] if vectors is None else vectors[place],
                    )
                    for place, memory in enumerate(memories)
                    if here.has(memory.id)
                ]
                return {"op": "update", "agent": agent, "documents": documents}
            case Archive() | Restore() | Forget():
                kind = next(name for name, one in _MOVES.items() if isinstance(operation, one))
                return {"op": kind, "agent": agent, "ids": sorted(set(operation.ids))}
            case Add():
                raise TypeError("additions are lines of sessions")

    def delete(self, name: str) -> None:
        """Removes a character."""
        here = self.agents[name]
        here.move([id for id in range(1, here.last_id + 1) if id not in here.forgotten], FORGOTTEN)
        for session, keys in self.sessions.items():
            self.sessions[session] = [key for key in keys if key[0] != name]
        del self.agents[name]
        self.changes_outdated = True


_MOVES: Mapping[str, type[Archive | Restore | Forget]] = {"archive": Archive, "restore": Restore, "remove": Forget}


# ── Opening a folder ─────────────────────────────────────────────────────────────────────────────────────────────────


def open_folder(folder: Path, *, compressed: bool, died: bool, mend: bool) -> FolderContents:
    """Read a folder. `compressed`: how its sessions should be written. `died`: it was not closed. `mend`: repair files.

    Raises CommonplaceError, naming file and line, for what cannot be read.
    """
    contents = FolderContents(mend=mend)
    lines: dict[Key, list[Line]] = defaultdict(list)
    for leftover in folder.rglob("*.new") if mend else ():
        leftover.unlink()
    for pattern in ("sessions/*.jsonl", "sessions/*.jsonl.gz", "archive/*.jsonl.gz"):
        for path in sorted(folder.glob(pattern)):
            for line in _lines(path, contents):
                lines[line.key].append(line)
                if not line.archived and (path.suffix == ".gz") is not compressed:
                    contents.outdated.add(line.session)
    changes = list(_changes(folder / "changes.jsonl", contents))
    removals = [change for _, change in changes if change.get("op") == "remove"]
    removed = {(change.get("agent", ""), id) for change in removals for id in change.get("ids", ())}
    deleted = {change.get("agent") for _, change in changes if change.get("op") == "delete"}
    removed = {key for key in removed if key[0] not in deleted}
    for key in [key for key in lines if key[0] in deleted]:  # they were being deleted when the process died
        contents.outdated |= {line.session for line in lines.pop(key)}
    if died:
        _take_back_unfinished(lines, removed, contents)
    _number(lines, removed, contents)
    _arrange(lines, removed, contents)
    for where, change in changes:
        try:
            contents.apply(change)
        except (UsageError, KeyError, TypeError, ValueError, AttributeError) as error:
            what, hint = (error.what, error.hint) if isinstance(error, UsageError) else (repr(error), _MEND)
            raise CommonplaceError(f"not a change: {what}", where=where, hint=hint) from error
    return contents


def _whole_values(path: Path, contents: FolderContents) -> list[Any]:
    values, good, torn, unended = read_lines(path)
    if unended and contents.mend:
        append(path, b"\n", sync=True)
    if torn and contents.mend:
        with path.open("r+b") as file:
            file.truncate(good)
            os.fsync(file.fileno())
    if torn:
        contents.repairs.append(f"{path.name}: the last line was torn ({torn} bytes) and was {contents.gone}")
    return values


def _lines(path: Path, contents: FolderContents) -> Iterator[Line]:
    for number, value in enumerate(_whole_values(path, contents), start=1):
        try:
            yield line_from(value, archived=path.parent.name == "archive")
        except (UsageError, ValueError, AttributeError, TypeError) as error:
            what = error.what if isinstance(error, UsageError) else str(error)
            raise CommonplaceError(f"not a memory: {what}", where=f"{path}:{number}", hint=_MEND) from error


def _changes(path: Path, contents: FolderContents) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file and line, change)."""
    for number, change in enumerate(_whole_values(path, contents) if kind_of(path) == "file" else (), start=1):
        if not isinstance(change, dict):
            raise CommonplaceError(f"not a change: {change!r:.80}", where=f"{path}:{number}", hint=_MEND)
        contents.changes += 1
        yield f"{path}:{number}", change


def _take_back_unfinished(lines: dict[Key, list[Line]], removed: set[Key], contents: FolderContents) -> None:
    """Removes the last batch of a character if it is incomplete: memories appended together are all kept, or none."""
    for agent, last in _last_ids(lines, removed).items():
        here = [(id, line) for (name, id), copies in lines.items() if name == agent for line in copies]
        batches = {line.batch for id, line in here if line.batch > last or (line.batch == last and id == last)}
        for batch in sorted(batches):
            together = {id for id, line in here if line.batch == batch}
            if together and batch - min(together) + 1 > len(together):
                for id in together:
                    contents.outdated |= {line.session for line in lines.pop((agent, id))}
                what = f"{len(together)} memories of an unfinished append were {contents.gone}"
                contents.repairs.append(f"{agent}: {what}")


def _last_ids(*keys: Iterable[Key]) -> dict[str, int]:
    last: dict[str, int] = {}
    for some in keys:
        for agent, id in some:
            last[agent] = max(id, last.get(agent, 0))
    return last


def _number(lines: dict[Key, list[Line]], removed: set[Key], contents: FolderContents) -> None:
    """Number the documents that have no number, or one that is taken, in the order of their time."""
    loose: dict[str, list[Line]] = defaultdict(list)
    for (agent, id), copies in list(lines.items()):
        # One copy in the session and one in the archive are the same memory, caught while it was moved.
        expected = len({line.archived for line in copies}) if id else 0
        loose[agent] += copies[expected:]
        del copies[expected:]
        if not copies:
            del lines[agent, id]
    last = _last_ids(lines, removed)
    for agent, some in loose.items():
        first = last.get(agent, 0) + 1
        for id, line in enumerate(sorted(some, key=lambda line: line.document.at), start=first):
            line.memory = replace(line.memory, id=id)
            lines[agent, id].append(line)
            contents.outdated.add(line.session)
        if some:
            contents.repairs.append(f"{agent}: {len(some)} documents without a number were numbered from {first}")


def _arrange(lines: Mapping[Key, list[Line]], removed: set[Key], contents: FolderContents) -> None:
    """Put memories in the order of their ids, with a tombstone where one is missing."""
    contents.names |= {line.document.memory_id for copies in lines.values() for line in copies}
    for name, last in _last_ids(lines, removed).items():
        here = contents.begun(name)
        for id in range(1, last + 1):
            copies = lines.get((name, id))
            if copies is None:
                here.extend([tombstone(name, id)], [None])
                here.names.append("")
                here.forgotten.add(id)
                continue
            document = copies[0].document
            document.memory_id = document.memory_id or unused_id(document.at, contents.names, name, id)
            contents.names.add(document.memory_id)
            here.extend([copies[0].memory], [copies[0].vector])
            here.names.append(document.memory_id)
            if any(line.archived for line in copies):
                here.archived.add(id)
            if len(copies) > 1:
                contents.outdated.add(copies[0].session)
        missing = sorted(id for id in here.forgotten if (name, id) not in removed)
        if missing:
            contents.repairs.append(
                f"{name}: memories {missing[:10]} are missing from the files and count as forgotten"
            )
            contents.changes_outdated = True
    for key, copies in lines.items():
        contents.sessions[copies[0].session].append(key)
