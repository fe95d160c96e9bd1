"""Files of the JSONL store: safe names, whole lines, atomic replacement, copies."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from dataclasses import replace as with_changes
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from commonplace.clock import parse_iso
from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.coordinates import MemoryCoordinate, from_memory, is_mapping, to_memory, unused_id
from commonplace.memory.embedding import Vector, decoded, encoded
from commonplace.memory.record import Memory, accessed
from commonplace.memory.retention import RetentionPolicy
from commonplace.memory.stores.store import tombstone

# ── jsonl_files ──────────────────────────────────────────────────────────────────────────────────────────────────────


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
_LONGEST = 120
"""Characters of a file name; of a longer one the beginning and a digest. File systems stop at 255 bytes."""


def file_name(session: str) -> str:
    """A name any file system takes, its case aside: `s1` stays, `AGI` becomes `^a^g^i`, other bytes `%xx`."""
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


def session_name(name: str) -> str | None:
    """The inverse of `file_name`; None for a name that was cut, or is none of ours."""
    if name == "%":
        return ""
    data = bytearray()
    at = 0
    try:
        while at < len(name):
            width = {"%": 3, "^": 2}.get(name[at], 1)
            part = name[at : at + width]
            data += (
                bytes.fromhex(part[1:]) if width == 3 else part[-1].upper().encode() if width == 2 else part.encode()
            )
            at += width
        session = data.decode("utf-8", "surrogatepass")
    except ValueError:
        return None
    return session if session and file_name(session) == name else None


def _safe(letter: str) -> str:
    if letter in _PLAIN:
        return letter
    if "A" <= letter <= "Z":
        return f"^{letter.lower()}"
    return "".join(f"%{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))


class Lines(NamedTuple):
    """What was found in a file."""

    values: list[Any]
    good: int
    """Bytes up to the end of the last whole line."""
    torn: int
    """Bytes behind it: a line whose writing was cut off."""
    unended: bool = False
    """The last line is whole but for its end, as some editors leave it."""


def read_lines(path: Path) -> Lines:
    """The JSON values of a file of lines, plain or compressed; a torn last one is left out.

    Raises CommonplaceError for any other line that is no JSON, naming it.
    """
    data = path.read_bytes()
    if path.suffix == ".gz":
        whole, good = _members(data)
        values = [_parsed(line, path, number) for number, line in enumerate(whole.splitlines(), 1) if line.strip()]
        return Lines(values, good, len(data) - good)
    unended = not data.endswith(b"\n") and _is_object(data[data.rfind(b"\n") + 1 :])
    good = len(data) if unended else data.rfind(b"\n") + 1
    lines = data[:good].removesuffix(b"\n").split(b"\n")
    if b"\0" in lines[-1]:  # its blocks were not all written before the power went
        good -= len(lines.pop()) + 1
    values = [_parsed(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    return Lines(values, good, len(data) - good, unended)


def _members(data: bytes) -> tuple[bytes, int]:
    """(the text of all whole gzip members, the bytes they take)."""
    text, good, rest = bytearray(), 0, data
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(rest)
        except zlib.error:
            break
        if not member.eof:
            break
        text += part
        good += len(rest) - len(member.unused_data)
        rest = member.unused_data
    return bytes(text), good


def _is_object(line: bytes) -> bool:
    """Whether it is a whole JSON object, of which no beginning is one."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _parsed(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        hint = "mend the line by hand, or delete it to give the memory up"
        raise CommonplaceError(f"the line is not JSON ({error})", where=f"{path}:{number}", hint=hint) from error


def cut(path: Path, size: int) -> None:
    """Takes a torn end off."""
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())


def append_all(contents: Mapping[Path, bytes], *, sync: bool) -> None:
    """Adds bytes at the end of files, to all or to none. `sync`: they survive a power cut as well."""
    done: list[tuple[Path, int]] = []
    try:
        for path, data in contents.items():
            done.append((path, append(path, data, sync=sync)))
    except OSError:
        for path, size in done:
            os.truncate(path, size)
        raise


def append(path: Path, data: bytes, *, sync: bool) -> int:
    """Adds bytes at the end, all or none; gives the size before. `sync`: they survive a power cut as well."""
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        before = os.fstat(descriptor).st_size
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
            if sync:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
    return before


def replace_jsonl_files(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Puts new content in a file's place, at once; no content takes the file away. `sync`: it survives a power cut."""
    if not data:
        path.unlink(missing_ok=True)
        return
    aside = path.with_name(f"{path.name}.new")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    aside.replace(path)


def json_lines(values: Iterable[Any], as_json: Callable[[Any], str]) -> bytes:
    """Values as lines."""
    return "".join(f"{as_json(value)}\n" for value in values).encode()


def mirror(folder: Path, target: Path) -> None:
    """Makes `target` hold the same files as the folder, copying those that differ in size or time."""
    wanted = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    wanted.pop(Path("lock"), None)
    for name, path in wanted.items():
        copy = target / name
        if not _alike(path, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            aside = copy.with_name(f"{copy.name}.new")
            shutil.copy2(path, aside)
            aside.replace(copy)
    for kind in ("sessions", "archive"):  # what was forgotten is not to survive in the copy
        for copy in (target / kind).glob("*"):
            if copy.relative_to(target) not in wanted:
                copy.unlink()


def _alike(path: Path, copy: Path) -> bool:
    if not copy.exists():
        return False
    one, other = path.stat(), copy.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


# ── jsonl_config ─────────────────────────────────────────────────────────────────────────────────────────────────────
# `config.json` of the JSONL store: how long memories are kept, and how they are written.


LAYOUT = 1
"""Number of the folder's layout. A newer one is refused; a folder without a number is of the first."""


@dataclass(frozen=True, slots=True)
class Storage:
    """How memories are written. Raises UsageError for a value there is none of."""

    format: str = "jsonl"
    compression: str = "none"
    """`none`, or `gzip`: session files end in `.jsonl.gz`, and `zcat` reads them."""
    backup_enabled: bool = True
    """With a path, closing the store copies it there. Without one there is no backup."""
    backup_path: str = ""
    layout: int = LAYOUT

    @property
    def backup_target(self) -> Path | None:
        """Where the backup goes; None for none. A path with a drive letter means nothing but on Windows."""
        if not (self.backup_enabled and self.backup_path) or self.backup_is_foreign:
            return None
        return Path(self.backup_path)

    @property
    def backup_is_foreign(self) -> bool:
        """Whether the path is one of another system."""
        return os.name != "nt" and bool(re.match(r"[A-Za-z]:[\\/]", self.backup_path))

    def __post_init__(self) -> None:
        accepted: dict[str, tuple[Any, ...]] = {"format": ("jsonl",), "compression": ("none", "gzip")}
        accepted["backup_enabled"] = (True, False)
        for name, values in accepted.items():
            if getattr(self, name) not in values:
                shown = ", ".join(json.dumps(value) for value in values)
                raise UsageError(f"storage.{name} is {getattr(self, name)!r}", hint=f"give one of {shown}")


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Everything of `config.json`."""

    retention_policy: RetentionPolicy = field(default_factory=RetentionPolicy)
    storage: Storage = field(default_factory=Storage)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> StoreConfig:
        """Raises UsageError for unknown keys and values."""
        unknown = sorted(set(given) - {one.name for one in fields(cls)})
        if unknown:
            raise UsageError(
                f"a configuration with {', '.join(unknown)}", hint="the keys are retention_policy, storage"
            )
        storage = given.get("storage", {})
        strange = sorted(set(storage) - {one.name for one in fields(Storage)})
        if strange:
            known = ", ".join(one.name for one in fields(Storage))
            raise UsageError(f"a storage with {', '.join(strange)}", hint=f"the keys are {known}")
        return cls(RetentionPolicy.from_mapping(given.get("retention_policy", {})), Storage(**storage))

    @classmethod
    def read(cls, path: Path) -> StoreConfig:
        """The configuration in a file. Raises UsageError for one that cannot be used, naming it."""
        try:
            given: Any = json.loads(path.read_text(encoding="utf-8"))
            if not is_mapping(given):
                raise UsageError(f"it holds {given!r:.60}", hint="give a mapping with retention_policy and storage")
            found = cls.from_mapping(given)
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"it cannot be read ({error})", where=str(path), hint="mend it, or delete it") from error
        except UsageError as error:
            raise UsageError(error.what, where=str(path), hint=error.hint) from error
        except OSError as error:
            raise CommonplaceError(
                f"it cannot be read ({error.strerror})", where=str(path), hint="look at it"
            ) from error
        if found.storage.layout > LAYOUT:
            raise UsageError(
                f"a store of layout {found.storage.layout}, made by a newer Commonplace; this one reads up to {LAYOUT}",
                where=str(path),
                hint="upgrade: pip install --upgrade commonplace",
            )
        return found

    def write(self, path: Path) -> None:
        """Puts it in the file's place."""
        replace_jsonl_files(path, (json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n").encode())


# ── jsonl_shelf ──────────────────────────────────────────────────────────────────────────────────────────────────────
# What the JSONL store holds of one character in RAM, and how a memory becomes a line of a session and back.


_WIDTHS = {"int16": 2, "float32": 4}
_TYPES = {width: name for name, width in _WIDTHS.items()}


@dataclass(slots=True)
class Shelf:
    """By id − 1: memories with a tombstone for each that is forgotten, vectors, and names in documents."""

    memories: list[Memory] = field(default_factory=list[Memory])
    vectors: list[Vector | None] = field(default_factory=list["Vector | None"])
    names: list[str] = field(default_factory=list[str])
    forgotten: set[int] = field(default_factory=set[int])
    archived: set[int] = field(default_factory=set[int])
    touched: set[int] = field(default_factory=set[int])
    """Accessed since their documents were written."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def there(self, id: int) -> bool:
        """Whether there is such a memory, archived or not."""
        return 1 <= id <= len(self.memories) and id not in self.forgotten


@dataclass(slots=True)
class Line:
    """A document found in a file."""

    document: MemoryCoordinate
    record: Memory
    vector: Vector | None
    batch: int
    """The last id of those added together with it; 0 if it was added alone."""
    archived: bool

    @property
    def key(self) -> tuple[str, int]:
        """(character, id); id 0 where a document has no number."""
        id = self.document.memory.get("id")
        return self.document.agent.persona_id, id if isinstance(id, int) and id > 0 else 0

    def memory(self, id: int) -> Memory:
        """The memory, which is to have this id."""
        return self.record if self.record.id == id else replace(self.record, id=id)


def line_of(memory: Memory, name: str, vector: Vector | None, batch: int = 0) -> dict[str, Any]:
    """The document of a memory, its vector last in `memory`."""
    document = from_memory(memory, name)
    width, data = encoded(vector)
    if batch:
        document.memory["batch"] = batch
    if data is not None:
        document.memory["embedding"] = {_TYPES[width]: base64.b64encode(data).decode("ascii")}
    return document.to_dict()


def line_from(plain: Any, *, archived: bool) -> Line:
    """The inverse. Raises UsageError for what is no document, ValueError for a vector that is none."""
    document = MemoryCoordinate.from_dict(plain)
    document.memory = dict(document.memory)
    batch = document.memory.pop("batch", 0)
    embedding: Mapping[str, str] = document.memory.pop("embedding", {})
    vector = None
    for kind, data in embedding.items():
        vector = decoded(_WIDTHS.get(kind, 0), base64.b64decode(data, validate=True))
    return Line(document, to_memory(document), vector, batch if isinstance(batch, int) else 0, archived)


# ── jsonl_recovery ───────────────────────────────────────────────────────────────────────────────────────────────────
# Opening a JSONL folder: everything in it read, what a dead process left is finished or taken back, and said.


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
        except (UsageError, ValueError, AttributeError, TypeError) as error:
            what = error.what if isinstance(error, UsageError) else str(error)
            hint = "mend the line by hand, or delete it to give the memory up"
            raise CommonplaceError(f"no memory: {what}", where=f"{path}:{number}", hint=hint) from error


def _changes(path: Path, found: Found) -> Iterable[dict[str, Any]]:
    if not path.exists():
        return
    for number, change in enumerate(_whole_values(path, found), start=1):
        if not isinstance(change, dict) or change.get("op") not in _OPS:
            hint = "a newer Commonplace may know it: pip install --upgrade commonplace"
            raise CommonplaceError(f"an unknown change {change!r:.80}", where=f"{path}:{number}", hint=hint)
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
