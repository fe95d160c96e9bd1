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
from commonplace.languages import DEFAULT, word_list
from commonplace.lock import ProcessLock
from commonplace.memory.importance import unscaled
from commonplace.memory.record import Memory
from commonplace.memory.stores.opening import is_jsonl
from commonplace.memory.stores.store import (
    FORGOTTEN,
    Access,
    Add,
    Archive,
    ChangeLog,
    Configure,
    Forget,
    Log,
    Operation,
    Restore,
    Revise,
    Rows,
    Touch,
    checked_agent,
    fold,
    no_store,
    operations_of,
    overtaken,
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


_Mark = tuple[int, int]
"""(writes to the character, its last id)."""


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
    def read(self, agent: str, since: _Mark | None = None) -> Log:
        """Returns what has changed in a character since a mark."""
        here = self._opened.of(agent)
        mark = self._log.mark(agent, here.last_id)
        ids = self._log.since(agent, since)
        memories, vectors, gone = tuple(here.memories), tuple(here.vectors), here.states_of_gone()
        if ids is not None:
            memories, vectors = [memories[id - 1] for id in ids], [vectors[id - 1] for id in ids]
            gone = {id: gone[id] for id in ids if id in gone}
        known = since[1] if since is not None and ids is not None else 0
        return Log(operations_of(memories, vectors, gone, dict(here.settings), known), mark, whole=ids is None)

    @locked
    def names(self, agent: str) -> tuple[str, ...]:
        """Returns a character's `memory_id`s, that of memory `id` at `id` − 1; empty for a forgotten memory."""
        return tuple(self._opened.of(agent).names)

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @locked
    def write(self, agent: str, operations: Sequence[Operation], mark: _Mark) -> _Mark:
        """Makes the operations, unless anybody has written since the mark."""
        contents = self._writable
        here = contents.of(checked_agent(agent))
        if mark != self._log.mark(agent, here.last_id):
            raise overtaken(agent, self.where)
        trial = Rows(agent, here.last_id, here.kept)
        fold(operations, trial)
        if not trial.changes:
            return mark
        here = contents.begun(agent)
        new = [trial.rows[id] for id in range(here.last_id + 1, trial.last_id + 1)]
        names = self._new_names(agent, [one.memory for one in new])
        lines: dict[Path, list[Any]] = defaultdict(list)
        for one, name in zip(new, names, strict=True):
            if one.state != FORGOTTEN:
                batch = trial.last_id if len(new) > 1 else 0
                lines[self._path(one.memory.session)].append(line_of(one.memory, name, one.vector, batch))
        changes = [contents.line(agent, one) for one in operations if not isinstance(one, Add)]
        if changes:
            lines[self.folder / "changes.jsonl"] = changes  # the last: they are about what was added, too
        try:
            self._append(lines)
        except BaseException:
            contents.names.difference_update(names)
            raise
        contents.changes += len(changes)
        here.names += names
        for one in new:
            contents.sessions[one.memory.session].append((agent, one.memory.id))
        fold(operations, here)
        self._log.note(agent, trial.rows)
        if any(isinstance(operation, Archive | Forget | Restore) for operation in operations):
            self.flush()
        elif any(isinstance(operation, Add | Revise) for operation in operations):
            self._write_index_if_due()
        return self._log.mark(agent, here.last_id)

    def _append(self, lines: Mapping[Path, list[Any]]) -> None:
        """Appends to all of the files, or to none."""
        contents = {path: files.json_lines(some) for path, some in lines.items()}
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
    def delete(self, agent: str) -> int:
        """Deletes everything of a character."""
        contents = self._writable
        if agent not in contents.agents:
            return 0
        here = contents.agents[agent]
        count = here.last_id - len(here.forgotten)
        self._append({self.folder / "changes.jsonl": [{"op": "delete", "agent": agent}]})
        contents.changes += 1
        contents.delete(agent)
        self._log.delete(agent)
        self.flush()
        return count

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
        contents, changes = self._contents, list[dict[str, Any]]()
        for name, agent in contents.agents.items():
            accesses = {id: agent.memories[id - 1].accessed_at for id in sorted(agent.touched)}
            said = agent.settings, agent.forgotten, accesses
            kept = Configure(agent.settings), Forget(sorted(agent.forgotten)), Touch(accesses)
            changes += [contents.line(name, one) for one, there in zip(kept, said, strict=True) if there]
        files.replace_file(self.folder / "changes.jsonl", files.json_lines(changes))
        contents.changes, contents.changes_outdated = len(changes), False

    def _path(self, session: str, *, other: bool = False) -> Path:
        """Returns the path of the session's file; `other`: the path it would have with the other compression."""
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
    """Returns the tags, the keywords of the emotion, and the most frequent words of the text in lower case."""
    function = word_list(DEFAULT).function
    counted = Counter(word for word in words(memory.full_text[:4000]) if len(word) > 1 and word not in function)
    felt = memory.emotion.keywords if memory.emotion else ()
    return tuple(dict.fromkeys((*memory.tags, *felt, *(word for word, _ in counted.most_common(_WORDS)))))
