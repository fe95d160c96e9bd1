"""`JSONLStore`: memories in files that people can read, in the layout of the coordinate document.

    sessions/<session>.jsonl    documents, appended
    changes.jsonl               changes since the documents were written: accesses, importance, what was forgotten
    archive/<session>.jsonl.gz  archived documents
    index.json                  derived, for readers: memories by keyword, day, persona and importance
    config.json                 retention policy and storage options

A change is appended to a file before it is made in RAM. When a method returns, the change survives the death of the
process (`NORMAL`) or a power cut (`FULL`). Forgetting and archiving also write the session's file again.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from commonplace.clock import iso
from commonplace.errors import CommonplaceError, DiskFull, UsageError
from commonplace.languages import DEFAULT
from commonplace.languages.word_lists import word_list
from commonplace.lock import ProcessLock
from commonplace.memory.embedding import Vector
from commonplace.memory.importance import unscaled
from commonplace.memory.record import Memory, accessed
from commonplace.memory.stores.codec import refuse_changed, row_of
from commonplace.memory.stores.opening import is_jsonl
from commonplace.memory.stores.store import (
    Access,
    ChangeLog,
    Changes,
    Stored,
    checked_agent,
    no_store,
    refuse_missing,
    refuse_other_ids,
)
from commonplace.memory.threads import locked
from commonplace.parts.coordinates import jsonl_files as files
from commonplace.parts.coordinates.document import unused_id
from commonplace.parts.coordinates.jsonl_files import AgentMemories, FolderContents, Key, StoreConfig, line_of
from commonplace.paths import bytes_of, checked_folder, kind_of
from commonplace.text import words

INDEX_VERSION = "1.0"
_MOST_IMPORTANT = 100
_WORDS = 12
"""Words of its text a memory is listed under, beside its tags and the keywords of its emotion."""
_MOST_CHANGES = 2_000
"""Lines of `changes.jsonl` above which opening and closing write it again."""


class JSONLStore:
    """A folder of memories. One process may have it open at a time."""

    def __init__(
        self,
        folder: str | Path,
        *,
        config: StoreConfig | None = None,
        synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
        access: Access = "create",
    ) -> None:
        """`config`: written to `config.json`, if given.

        Raises UsageError if the folder is open elsewhere, and for one without a store unless it is made;
        CommonplaceError for a file that cannot be read.
        """
        self.guard = RLock()
        self.folder = Path(folder)
        self.where = str(folder)
        self._sync = synchronous == "FULL"
        self._access: Access = access
        self._lock: ProcessLock | None = None
        self._index_cache: dict[Key, tuple[Memory, tuple[str, ...]]] = {}
        self._log = ChangeLog()
        with self._files():
            self._open(config)

    def _open(self, config: StoreConfig | None) -> None:
        checked_folder(self.folder)
        if self._access != "create" and not is_jsonl(self.folder):
            raise no_store(self.where)
        path = self.folder / "config.json"
        is_configured = kind_of(path) == "file"
        self.config = config or (StoreConfig.read(path) if is_configured else StoreConfig())
        if not self._only_reads:
            for name in ("sessions", "archive"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._lock = ProcessLock(self.folder / "lock", self.where)
        try:
            storage = self.config.storage
            compressed, died, mend = storage.compression == "gzip", self._lock.left, not self._only_reads
            self._contents = files.open_folder(self.folder, compressed=compressed, died=died, mend=mend)
            self.repairs = tuple(self._contents.repairs)
            if mend:
                if config is not None or not is_configured:
                    self.config.write(path)
                self._write_outdated()
                self.repairs += self._repair_index()
            if storage.backup_enabled and storage.backup_is_foreign:
                self.repairs += (f"backup_path {storage.backup_path} is a Windows path: no backup is made",)
        except BaseException:
            self._unlock(mended=False)
            raise

    @property
    def _only_reads(self) -> bool:
        return self._access == "read"

    def _unlock(self, *, mended: bool) -> None:
        """Let others open the folder. `mended` as of `ProcessLock.release`."""
        assert self._lock is not None
        self._lock.release(mended=mended)
        self._lock = None

    def _repair_index(self) -> tuple[str, ...]:
        path = self.folder / "index.json"
        before = bytes_of(path, "an index") if kind_of(path) == "file" else b""
        if before == self._index():
            return ()
        self._write_index()
        return ("index.json was out of date and was written again",) if before or self._index_cache else ()

    # ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters with memories or settings, sorted."""
        return tuple(sorted(self._opened.agents))

    @locked
    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for an unknown one."""
        found = self._opened.of(agent)
        return Stored(
            tuple(found.memories),
            tuple(found.vectors),
            frozenset(found.forgotten),
            frozenset(found.archived),
            dict(found.settings),
            self._log.mark(agent),
        )

    @locked
    def changes(self, agent: str, mark: tuple[int, int], known: int) -> Changes | None:
        """What has changed of a character since a mark; None if it was deleted since."""
        found = self._opened.of(agent)
        ids = self._log.since(agent, mark, known, len(found.memories))
        if ids is None:
            return None
        return Changes(
            len(found.memories),
            [found.memories[id - 1] for id in ids],
            [found.vectors[id - 1] for id in ids],
            frozenset(found.forgotten.intersection(ids)),
            frozenset(found.archived.intersection(ids)),
            dict(found.settings),
            self._log.mark(agent),
        )

    @locked
    def names(self, agent: str) -> tuple[str, ...]:
        """The `memory_id`s of a character's memories, by id − 1; empty for one forgotten."""
        return tuple(self._opened.of(agent).names)

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        self._change({"op": "configure", "agent": checked_agent(agent), "settings": dict(settings)})

    @locked
    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids, all or none. Raises UsageError for other ids."""
        contents = self._writable
        refuse_other_ids(agent, memories, len(contents.of(checked_agent(agent)).memories), self.where)
        if not memories:
            return
        names = self._new_names(agent, memories)
        try:
            self._append_lines(memories, names, vectors)
        except BaseException:
            contents.names.difference_update(names)
            raise
        here = contents.agents.setdefault(agent, AgentMemories())
        for memory, name, vector in zip(memories, names, vectors, strict=True):
            here.put(memory, vector, name)
            contents.sessions[memory.session].append((agent, memory.id))
        self._write_index_if_due()

    def _append_lines(self, memories: Sequence[Memory], names: list[str], vectors: Sequence[Vector | None]) -> None:
        batch = memories[-1].id if len(memories) > 1 else 0
        lines: dict[str, list[Any]] = defaultdict(list)
        for memory, name, vector in zip(memories, names, vectors, strict=True):
            lines[memory.session].append(line_of(memory, name, vector, batch))
        contents = {self._path(session): files.json_lines(some) for session, some in lines.items()}
        with self._files():
            files.append_all(contents, sync=self._sync)

    def _new_names(self, agent: str, memories: Iterable[Memory]) -> list[str]:
        names: list[str] = []
        for memory in memories:
            name = memory.details.get("memory_id")
            if not isinstance(name, str) or not name:
                name = unused_id(memory.created_at, self._contents.names, agent, memory.id)
            self._contents.names.add(name)
            names.append(name)
        return names

    @locked
    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Set access times: memory id → moment."""
        here = self._opened.of(agent)
        at = {str(id): iso(moment) for id, moment in accesses.items() if here.has(id)}
        if at:
            self._change({"op": "touch", "agent": agent, "at": at}, map(int, at))

    @locked
    def update(
        self,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] | None = None,
        *,
        before: Sequence[Memory] = (),
    ) -> None:
        """Replace what may change of memories that are here; vectors where given."""
        here = self._refuse_missing(agent, [memory.id for memory in memories])
        refuse_changed(agent, [row_of(here.memories[memory.id - 1]) for memory in before], before, self.where)
        if vectors is None:
            vectors = [here.vectors[memory.id - 1] for memory in memories]
        documents = [
            line_of(accessed(memory, here.memories[memory.id - 1].accessed_at), here.names[memory.id - 1], vector)
            for memory, vector in zip(memories, vectors, strict=True)
        ]
        self._change({"op": "update", "agent": agent, "documents": documents}, [memory.id for memory in memories])
        self._write_index_if_due()

    @locked
    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used."""
        self._change_ids("remove", agent, ids)

    @locked
    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Move to the compressed archive."""
        self._change_ids("archive", agent, ids)

    @locked
    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Move back from the archive."""
        self._change_ids("restore", agent, ids)

    @locked
    def delete(self, agent: str) -> int:
        """Delete everything of a character."""
        if agent not in self._opened.agents:
            return 0
        here = self._opened.agents[agent]
        count = len(here.memories) - len(here.forgotten)
        self._change({"op": "delete", "agent": agent})
        self._log.delete(agent)
        self.flush()
        return count

    def _change_ids(self, op: str, agent: str, ids: Sequence[int]) -> None:
        self._refuse_missing(agent, ids)
        if ids:
            self._change({"op": op, "agent": agent, "ids": sorted(set(ids))}, ids)
            self.flush()

    @locked
    def flush(self) -> None:
        """Write the index, and the sessions that have changed since they were written."""
        _ = self._writable
        with self._files():
            self._write_outdated()
            self._write_index()

    @locked
    def backup(self) -> Path | None:
        """Copy the folder to the `backup_path` of its configuration and return that path; None if it is not set."""
        _ = self._opened
        target = self.config.storage.backup_target
        if target is not None:
            with self._files(str(target)):
                files.mirror(self.folder, target)
        return target

    @locked
    def close(self) -> None:
        """Flush, back up and unlock the folder. May be called twice."""
        if self._lock is None:
            return
        try:
            if not self._only_reads:
                self.flush()
                self.backup()
        finally:
            self._unlock(mended=not self._only_reads)

    # ── Files ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _change(self, change: Mapping[str, Any], ids: Iterable[int] = ()) -> None:
        """Append a change of the memories `ids` to its file, and make it."""
        contents = self._writable
        with self._files():
            files.append(self.folder / "changes.jsonl", files.json_lines([change]), sync=self._sync)
        contents.changes += 1
        contents.apply(change)
        self._log.note(change["agent"], ids)

    def _write_outdated(self) -> None:
        contents = self._contents
        for session in sorted(contents.outdated):
            self._write_session(session)
        if contents.outdated or contents.changes_outdated or contents.changes > _MOST_CHANGES:
            self._write_changes()
        contents.outdated.clear()

    def _write_session(self, session: str) -> None:
        agents = self._contents.agents
        keys = [(agent, id) for agent, id in self._contents.sessions[session] if agents[agent].has(id)]
        self._contents.sessions[session] = keys
        lines = [(id in agents[agent].archived, self._line(agents[agent], id)) for agent, id in keys]
        away = files.json_lines(line for archived, line in lines if archived)
        path, archive = self._path(session), self.folder / "archive" / f"{files.file_name(session)}.jsonl.gz"
        if away or archive.exists():
            # Write all of them to the session first, so that a memory being moved is always in at least one file.
            files.replace_file(path, files.json_lines(line for _, line in lines))
            files.replace_file(archive, away)
        files.replace_file(path, files.json_lines(line for archived, line in lines if not archived))
        self._path(session, other=True).unlink(missing_ok=True)

    def _line(self, agent: AgentMemories, id: int) -> dict[str, Any]:
        agent.touched.discard(id)
        return line_of(agent.memories[id - 1], agent.names[id - 1], agent.vectors[id - 1])

    def _write_changes(self) -> None:
        """Keep what the sessions do not say: settings, what was forgotten, and accesses since they were written."""
        changes: list[dict[str, Any]] = []
        for name, agent in self._contents.agents.items():
            if agent.settings:
                changes.append({"op": "configure", "agent": name, "settings": agent.settings})
            if agent.forgotten:
                changes.append({"op": "remove", "agent": name, "ids": sorted(agent.forgotten)})
            if agent.touched:
                at = {str(id): iso(agent.memories[id - 1].accessed_at) for id in sorted(agent.touched)}
                changes.append({"op": "touch", "agent": name, "at": at})
        files.replace_file(self.folder / "changes.jsonl", files.json_lines(changes))
        self._contents.changes = len(changes)
        self._contents.changes_outdated = False

    def _path(self, session: str, *, other: bool = False) -> Path:
        """The session's file; `other`: what it would be called with the other compression."""
        plain = (self.config.storage.compression == "none") is not other
        return self.folder / "sessions" / f"{files.file_name(session)}.jsonl{'' if plain else '.gz'}"

    @property
    def _opened(self) -> FolderContents:
        if self._lock is None:
            raise UsageError("the store is closed", where=self.where, hint="open it again")
        return self._contents

    @property
    def _writable(self) -> FolderContents:
        if self._only_reads:
            raise UsageError("the store is open to read only", where=self.where, hint="open it with `open_store`")
        return self._opened

    def _refuse_missing(self, agent: str, ids: Sequence[int]) -> AgentMemories:
        """The character's memories. Raises UsageError unless all of these exist."""
        here = self._opened.of(agent)
        refuse_missing(agent, ids, sum(map(here.has, set(ids))), self.where)
        return here

    @contextmanager
    def _files(self, where: str = "") -> Generator[None]:
        """Raise the file system's errors as CommonplaceError."""
        try:
            yield
        except OSError as error:
            place = str(error.filename or where or self.where)
            if DiskFull.explains(error):
                then = "open the store again, or give the command again; everything stored before is safe"
                raise DiskFull(place, self.folder, then) from error
            what = f"the file cannot be used ({error.strerror or error})"
            hint = "everything stored before is safe: fix the permissions, then open the store again"
            raise CommonplaceError(what, where=place, hint=hint) from error

    # ── index.json ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _write_index_if_due(self) -> None:
        # Writing it takes time in proportion to its size, so a larger index is written less often.
        size = sum(len(one.memories) - len(one.forgotten) - len(one.archived) for one in self._contents.agents.values())
        if size <= 100 or size % max(100, 10 ** (len(str(size)) - 2)) == 0:
            with self._files():
                self._write_index()

    def _write_index(self) -> None:
        files.replace_file(self.folder / "index.json", self._index(), sync=False)

    def _index(self) -> bytes:
        cache: dict[Key, tuple[Memory, tuple[str, ...]]] = {}
        entries: list[tuple[str, Key, str, Memory]] = []
        latest: datetime | None = None
        for name, agent in self._contents.agents.items():
            for memory in agent.memories:
                if memory.id in agent.forgotten:
                    continue
                latest = max(latest or memory.accessed_at, memory.accessed_at)
                if memory.id in agent.archived:
                    continue
                key = name, memory.id
                known = self._index_cache.get(key)
                cache[key] = known if known and known[0] is memory else (memory, keywords(memory))
                entries.append((iso(memory.created_at), key, agent.names[memory.id - 1], memory))
        self._index_cache = cache
        by_word: dict[str, list[str]] = defaultdict(list)
        by_day: dict[str, list[str]] = defaultdict(list)
        by_persona: dict[str, list[str]] = defaultdict(list)
        for at, key, memory_id, memory in sorted(entries, key=lambda one: one[:2]):
            by_day[at[:10]].append(memory_id)
            by_persona[memory.agent].append(memory_id)
            for word in cache[key][1]:
                by_word[word].append(memory_id)
        top = sorted((-unscaled(memory.importance), memory_id) for _, _, memory_id, memory in entries)[:_MOST_IMPORTANT]
        index = {
            "index_version": INDEX_VERSION,
            "last_updated": iso(latest) if latest else None,
            "total_memories": len(entries),
            "keyword_index": dict(sorted(by_word.items())),
            "time_index": dict(sorted(by_day.items())),
            "persona_index": dict(sorted(by_persona.items())),
            "importance_index": [{"memory_id": memory_id, "importance": -least} for least, memory_id in top],
        }
        try:
            return json.dumps(index, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:  # a lone surrogate
            return json.dumps(index).encode() + b"\n"


def keywords(memory: Memory) -> tuple[str, ...]:
    """The tags, the keywords of the emotion, and the most frequent words of the text in lower case."""
    function = word_list(DEFAULT).function
    counted = Counter(word for word in words(memory.full_text[:4000]) if len(word) > 1 and word not in function)
    felt = memory.emotion.keywords if memory.emotion else ()
    return tuple(dict.fromkeys((*memory.tags, *felt, *(word for word, _ in counted.most_common(_WORDS)))))
