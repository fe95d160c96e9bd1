"""Memories as files to read by hand: one of JSON lines per session, in the layout of the coordinate document.

    sessions/<session>.jsonl   documents, added at the end
    changes.jsonl              what has changed since they were written: accesses, importance, what was forgotten
    archive/<session>.jsonl.gz documents put away
    index.json                 derived: by keyword, day, persona, importance
    config.json                retention and storage

What a method has acknowledged is with the operating system (`NORMAL`: it survives the process) or on the disk (`FULL`:
it survives a power cut). Forgetting and archiving write the session's file anew.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from errno import ENOSPC
from pathlib import Path
from typing import Any, Literal, NamedTuple

from commonplace.clock import iso, utc
from commonplace.errors import CommonplaceError, UsageError
from commonplace.lock import ProcessLock
from commonplace.memory.coordinates import unscaled, unused_id
from commonplace.memory.embedding import Vector
from commonplace.memory.record import Memory, accessed
from commonplace.memory.stores import jsonl_files as files
from commonplace.memory.stores.codec import as_json
from commonplace.memory.stores.jsonl_files import Shelf, StoreConfig, line_of, read_folder
from commonplace.memory.stores.store import Stored, checked_agent, refuse_missing, refuse_other_ids, tombstone
from commonplace.memory.words import word_list
from commonplace.text import words

# ── jsonl_index ──────────────────────────────────────────────────────────────────────────────────────────────────────
# `index.json` of the JSONL store: all of it can be derived from the sessions; it is written for those who read it.


VERSION = "1.0"
MOST_IMPORTANT = 100
_WORDS = 12
"""Words of its text a memory is listed under, beside its tags and the keywords of its emotion."""

SessionKey = tuple[str, int]


class Entry(NamedTuple):
    """What the index says of a memory."""

    at: str
    memory_id: str
    persona: str
    importance: float
    """0–1."""
    keywords: tuple[str, ...]


class MemoryIndex:
    """By keyword, day, persona and importance; kept up in RAM."""

    def __init__(self) -> None:
        self.entries: dict[SessionKey, Entry] = {}

    def put(self, key: SessionKey, name: str, memory: Memory) -> None:
        """Lists a memory under its name."""
        self.entries[key] = Entry(
            iso(memory.created_at), name, memory.agent, unscaled(memory.importance), keywords(memory)
        )

    def drop(self, key: SessionKey) -> None:
        """Lists it no more."""
        self.entries.pop(key, None)

    def due(self) -> bool:
        """Whether the file should be written after this change: each time while it is small, then every hundredth,
        thousandth … time, so that it costs each memory the same."""
        size = len(self.entries)
        return size <= 100 or size % max(100, 10 ** (len(str(size)) - 2)) == 0

    def document(self, updated: datetime | None) -> bytes:
        """The file. `updated`: simulated time of the latest record."""
        by_word: dict[str, list[str]] = defaultdict(list)
        by_day: dict[str, list[str]] = defaultdict(list)
        by_persona: dict[str, list[str]] = defaultdict(list)
        for _, entry in sorted(self.entries.items(), key=lambda one: (one[1].at, one[0])):
            by_day[entry.at[:10]].append(entry.memory_id)
            by_persona[entry.persona].append(entry.memory_id)
            for word in entry.keywords:
                by_word[word].append(entry.memory_id)
        top = sorted(self.entries.values(), key=lambda entry: (-entry.importance, entry.memory_id))[:MOST_IMPORTANT]
        whole: dict[str, Any] = {
            "index_version": VERSION,
            "last_updated": iso(updated) if updated else None,
            "total_memories": len(self.entries),
            "keyword_index": dict(sorted(by_word.items())),
            "time_index": dict(sorted(by_day.items())),
            "persona_index": dict(sorted(by_persona.items())),
            "importance_index": [{"memory_id": one.memory_id, "importance": one.importance} for one in top],
        }
        return json.dumps(whole, ensure_ascii=not _encodable(by_word, by_persona), indent=None).encode() + b"\n"


def keywords(memory: Memory) -> tuple[str, ...]:
    """Tags and keywords of the emotion as they are, and the words of the text that occur most, in small letters."""
    function = word_list("en").function
    counted = Counter(word for word in words(memory.full_text[:4000]) if len(word) > 1 and word not in function)
    felt = memory.emotion.keywords if memory.emotion else ()
    return tuple(dict.fromkeys((*memory.tags, *felt, *(word for word, _ in counted.most_common(_WORDS)))))


def _encodable(*keyed: dict[str, list[str]]) -> bool:
    try:
        for mapping in keyed:
            "".join([*mapping, *(name for names in mapping.values() for name in names)]).encode()
    except UnicodeEncodeError:
        return False
    return True


# ── jsonl ────────────────────────────────────────────────────────────────────────────────────────────────────────────


Key = tuple[str, int]
_MOST_CHANGES = 2_000
"""Lines of `changes.jsonl` that are worked into the sessions when the store is opened or closed."""


class JSONLStore:
    """A folder of memories. One process has it open at a time; another is refused."""

    def __init__(
        self,
        folder: str | Path,
        *,
        config: StoreConfig | None = None,
        synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
    ) -> None:
        """Opens or makes the folder. `config`: written down, if given. Raises UsageError where another has it open."""
        self.folder = Path(folder)
        self.where = str(folder)
        self._sync = synchronous == "FULL"
        self._lock: ProcessLock | None = None
        with self._files():
            self._open(config)

    def _open(self, config: StoreConfig | None) -> None:
        for name in ("sessions", "archive"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._lock = ProcessLock(self.folder / "lock", self.where)
        try:
            self.config = config or self._configured()
            if config is not None or not (self.folder / "config.json").exists():
                self.config.write(self.folder / "config.json")
            self._take_over(died=self._lock.left)
        except BaseException:
            left = self._lock.left
            self._lock.release()
            self._lock = None
            if left:  # whoever mends the folder will want to know
                (self.folder / "lock").write_bytes(b"unknown\n")
            raise

    def _configured(self) -> StoreConfig:
        path = self.folder / "config.json"
        return StoreConfig.read(path) if path.exists() else StoreConfig()

    def _take_over(self, *, died: bool) -> None:
        compressed = self.config.storage.compression == "gzip"
        found = read_folder(self.folder, compressed=compressed, died=died)
        self._shelves = found.shelves
        self._sessions: dict[str, list[Key]] = defaultdict(list, found.sessions)
        self._taken = found.taken
        self._changes = found.changes
        self._unwritten = found.rewrite
        self._stale = found.unsaid
        self._index = MemoryIndex()
        for agent, shelf in self._shelves.items():
            for memory in shelf.memories:
                self._list(agent, memory.id)
        self._settle()
        self.repairs = (*found.repairs, *self._index_repaired(), *self._backup_missing())

    def _index_repaired(self) -> tuple[str, ...]:
        path = self.folder / "index.json"
        before = path.read_bytes() if path.exists() else b""
        if before == self._index.document(self._latest()):
            return ()
        self._write_index()
        return ("index.json was out of date and is made anew",) if before or self._index.entries else ()

    def _backup_missing(self) -> tuple[str, ...]:
        storage = self.config.storage
        foreign = storage.backup_enabled and storage.backup_is_foreign
        return (f"backup_path {storage.backup_path} is one of Windows: no backup is made",) if foreign else ()

    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        self._check_open()
        return tuple(sorted(self._shelves))

    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for one unknown."""
        self._check_open()
        shelf = self._shelves.get(agent)
        if shelf is None:
            return Stored()
        return Stored(
            tuple(shelf.memories),
            tuple(shelf.vectors),
            frozenset(shelf.forgotten),
            frozenset(shelf.archived),
            dict(shelf.settings),
        )

    def names(self, agent: str) -> tuple[str, ...]:
        """The names of a character's memories in their documents, by id − 1; empty for one forgotten."""
        self._check_open()
        return tuple(self._shelves.get(agent, Shelf()).names)

    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        self._check_open()
        self._log({"op": "configure", "agent": checked_agent(agent), "settings": dict(settings)})
        self._shelves.setdefault(agent, Shelf()).settings = dict(settings)

    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids, all or none. Raises UsageError for other ids."""
        self._check_open()
        shelf = self._shelves.get(checked_agent(agent)) or Shelf()
        refuse_other_ids(agent, memories, len(shelf.memories), self.where)
        if not memories:
            return
        names = self._named(agent, memories)
        try:
            self._add(memories, names, vectors)
        except BaseException:
            self._taken.difference_update(names)
            raise
        self._shelves[agent] = shelf
        shelf.memories += memories
        shelf.vectors += vectors
        shelf.names += names
        for memory in memories:
            self._sessions[memory.session].append((agent, memory.id))
            self._list(agent, memory.id)
        self._write_index_if_due()

    def _add(self, memories: Sequence[Memory], names: Sequence[str], vectors: Sequence[Vector | None]) -> None:
        batch = memories[-1].id if len(memories) > 1 else 0
        lines: dict[str, list[Any]] = defaultdict(list)
        for memory, name, vector in zip(memories, names, vectors, strict=True):
            lines[memory.session].append(line_of(memory, name, vector, batch))
        contents = {self._path(session): files.json_lines(some, as_json) for session, some in lines.items()}
        with self._files():
            files.append_all(contents, sync=self._sync)

    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Id → when it was last accessed."""
        shelf = self._with(agent, tuple(accesses))
        if not accesses:
            return
        self._log({"op": "touch", "agent": agent, "at": {str(id): iso(at) for id, at in accesses.items()}})
        for id, at in accesses.items():
            shelf.memories[id - 1] = accessed(shelf.memories[id - 1], utc(at))
            shelf.touched.add(id)

    def update(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None = None) -> None:
        """Replace what may change of memories that are here; vectors where given."""
        shelf = self._with(agent, [memory.id for memory in memories])
        if vectors is None:
            vectors = [shelf.vectors[memory.id - 1] for memory in memories]
        new = list(zip(memories, vectors, strict=True))
        documents = [line_of(memory, shelf.names[memory.id - 1], vector) for memory, vector in new]
        self._log({"op": "update", "agent": agent, "documents": documents})
        for memory, vector in new:
            shelf.memories[memory.id - 1] = memory
            shelf.vectors[memory.id - 1] = vector
            self._unwritten.add(memory.session)
            self._list(agent, memory.id)
        self._write_index_if_due()

    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. The files of their sessions are written anew without them."""
        shelf = self._with(agent, ids)
        self._log({"op": "remove", "agent": agent, "ids": sorted(set(ids))})
        for id in set(ids):
            self._unwritten.add(shelf.memories[id - 1].session)
            self._taken.discard(shelf.names[id - 1])
            shelf.memories[id - 1], shelf.vectors[id - 1] = tombstone(agent, id), None
            shelf.names[id - 1] = ""
            shelf.forgotten.add(id)
            shelf.archived.discard(id)
            shelf.touched.discard(id)
            self._list(agent, id)
        self.flush()

    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Put away, compressed."""
        shelf = self._with(agent, ids)
        self._move(agent, sorted(set(ids) - shelf.archived), "archive")

    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Bring back from the archive."""
        shelf = self._with(agent, ids)
        self._move(agent, sorted(set(ids) & shelf.archived), "restore")

    def flush(self) -> None:
        """Writes the index, and works into the sessions what has changed since they were written."""
        self._check_open()
        with self._files():
            self._settle()
            self._write_index()

    def backup(self) -> Path | None:
        """Makes the folder of the configuration the same as this one; gives it, None if there is none to be made."""
        self._check_open()
        target = self.config.storage.backup_target
        if target is None:
            return None
        with self._files(str(target)):
            files.mirror(self.folder, target)
        return target

    def close(self) -> None:
        """Flush, back up, and give the folder up. May be called twice."""
        if self._lock is None:
            return
        try:
            self.flush()
            self.backup()
        finally:
            self._lock.release()
            self._lock = None

    def _move(self, agent: str, ids: Sequence[int], op: Literal["archive", "restore"]) -> None:
        if not ids:
            return
        self._log({"op": op, "agent": agent, "ids": ids})
        shelf = self._shelves[agent]
        shelf.archived = shelf.archived.union(ids) if op == "archive" else shelf.archived.difference(ids)
        for id in ids:
            self._unwritten.add(shelf.memories[id - 1].session)
            self._list(agent, id)
        self.flush()

    def _settle(self) -> None:
        """Makes the files what they would be had everything been so from the beginning."""
        if self._unwritten:
            self._stale = True
        for session in sorted(self._unwritten):
            self._write_session(session)
        self._unwritten.clear()
        if self._stale or self._changes > _MOST_CHANGES:
            self._write_changes()

    def _write_session(self, session: str) -> None:
        keys = [(agent, id) for agent, id in self._sessions[session] if self._shelves[agent].there(id)]
        self._sessions[session] = keys
        every = [(id in self._shelves[agent].archived, self._line(agent, id)) for agent, id in keys]
        here = files.json_lines((line for away, line in every if not away), as_json)
        away = files.json_lines((line for away, line in every if away), as_json)
        path, archive = self._path(session), self._archive_path(session)
        if away or archive.exists():  # at no moment is a memory in neither
            files.replace_jsonl_files(path, files.json_lines((line for _, line in every), as_json))
            files.replace_jsonl_files(archive, away)
        files.replace_jsonl_files(path, here)
        self._path(session, other=True).unlink(missing_ok=True)

    def _line(self, agent: str, id: int) -> dict[str, Any]:
        shelf = self._shelves[agent]
        shelf.touched.discard(id)
        return line_of(shelf.memories[id - 1], shelf.names[id - 1], shelf.vectors[id - 1])

    def _write_changes(self) -> None:
        """What no session can say: settings, what was forgotten, and the accesses since."""
        changes: list[dict[str, Any]] = []
        for agent, shelf in self._shelves.items():
            if shelf.settings:
                changes.append({"op": "configure", "agent": agent, "settings": shelf.settings})
            if shelf.forgotten:
                changes.append({"op": "remove", "agent": agent, "ids": sorted(shelf.forgotten)})
            if shelf.touched:
                at = {str(id): iso(shelf.memories[id - 1].accessed_at) for id in sorted(shelf.touched)}
                changes.append({"op": "touch", "agent": agent, "at": at})
        files.replace_jsonl_files(self.folder / "changes.jsonl", files.json_lines(changes, as_json))
        self._changes = len(changes)
        self._stale = False

    def _log(self, change: Mapping[str, Any]) -> None:
        with self._files():
            files.append(self.folder / "changes.jsonl", files.json_lines([change], as_json), sync=self._sync)
        self._changes += 1

    def _list(self, agent: str, id: int) -> None:
        shelf = self._shelves[agent]
        if shelf.there(id) and id not in shelf.archived:
            self._index.put((agent, id), shelf.names[id - 1], shelf.memories[id - 1])
        else:
            self._index.drop((agent, id))

    def _write_index_if_due(self) -> None:
        if self._index.due():
            with self._files():
                self._write_index()

    def _write_index(self) -> None:
        files.replace_jsonl_files(self.folder / "index.json", self._index.document(self._latest()), sync=False)

    def _latest(self) -> datetime | None:
        """Simulated time of the latest thing that happened to a memory."""
        times = (
            memory.accessed_at
            for shelf in self._shelves.values()
            for memory in shelf.memories
            if memory.id not in shelf.forgotten
        )
        return max(times, default=None)

    def _named(self, agent: str, memories: Iterable[Memory]) -> list[str]:
        names: list[str] = []
        for memory in memories:
            said = memory.details.get("memory_id")
            name = said if isinstance(said, str) and said else ""
            names.append(name or unused_id(memory.created_at, self._taken, agent, memory.id))
            self._taken.add(names[-1])
        return names

    def _path(self, session: str, *, other: bool = False) -> Path:
        plain = (self.config.storage.compression == "none") is not other
        return self.folder / "sessions" / f"{files.file_name(session)}.jsonl{'' if plain else '.gz'}"

    def _archive_path(self, session: str) -> Path:
        return self.folder / "archive" / f"{files.file_name(session)}.jsonl.gz"

    def _with(self, agent: str, ids: Sequence[int]) -> Shelf:
        """The shelf of a character. Raises UsageError unless all these memories are on it."""
        self._check_open()
        shelf = self._shelves.get(agent) or Shelf()
        refuse_missing(agent, ids, sum(shelf.there(id) for id in set(ids)), self.where)
        return shelf

    def _check_open(self) -> None:
        if self._lock is None:
            raise UsageError("the store is closed", where=self.where, hint="open it again")

    @contextmanager
    def _files(self, where: str = "") -> Generator[None]:
        """Turns the file system's errors into ours."""
        try:
            yield
        except OSError as error:
            what = "the disk is full" if error.errno == ENOSPC else f"a file cannot be used ({error.strerror or error})"
            hint = "nothing acknowledged is lost: make room or the folder writable, and open it again"
            raise CommonplaceError(what, where=str(error.filename or where or self.where), hint=hint) from error
