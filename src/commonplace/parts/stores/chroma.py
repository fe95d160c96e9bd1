"""Memories in Chroma: a collection per character, which any other Chroma client can read and search.

A record's id is the memory's id, its document the text, its embedding the vector. Metadata are plain values:
`memory_type`, `importance`, `created_at` and `accessed_at` (Unix seconds), `tick`, `source`, `session`, `event`,
`place`, `tags`, `citations`. What Chroma cannot hold exactly is in `rest`, one JSON value; see `_as_record`.
"""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np

from commonplace.canon import parsed
from commonplace.errors import CommonplaceError, UsageError, install, refuse_newer
from commonplace.lock import ProcessLock
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector, decoded, encoded, gathered
from commonplace.memory.stores.codec import (
    UNREADABLE,
    StoredRow,
    as_json,
    kept_of,
    operations_in,
    packed_text,
    rare_fields,
    row_of,
)
from commonplace.memory.stores.opening import copy, is_chroma
from commonplace.memory.stores.store import (
    ARCHIVED,
    THERE,
    Access,
    ChangeLog,
    Kept,
    Log,
    Operation,
    Rows,
    Stored,
    checked_agent,
    damaged,
    fold,
    load,
    no_store,
    overtaken,
)
from commonplace.memory.threads import locked
from commonplace.paths import checked_folder

INSTALL = install("chroma")
FORMAT = 2
"""Number of the layout. A newer one is refused; an older one is rewritten on opening."""
LONGEST_NAME = 512
"""Characters a collection's name may have."""


_Mark = tuple[int, int]
"""(writes to the character, its last id)."""


class ChromaStore:
    """A store in a folder of Chroma's, owned by one process at a time.

    Chroma knows no transactions: memories that are added together say so, and what is left of an addition that a
    killed process did not finish is taken out on opening.
    """

    compares = True
    """Its readers compare vectors, so it keeps also those that follow from the text."""

    def __init__(self, folder: str | Path, *, access: Access = "create") -> None:
        """Raises UsageError when another process has the folder, for a newer format, and for a missing one unless it is
        made."""
        self.guard = RLock()
        self.where = f"chroma:{folder}"
        path = checked_folder(Path(folder), self.where)
        if access != "create" and not is_chroma(path):
            raise no_store(self.where)
        self._lock = ProcessLock(path / "commonplace.lock", self.where)
        self._closed = False
        self._client: Any = None
        self._last: dict[str, int] = {}
        self._log = ChangeLog()
        try:
            with self._mended():
                self._client = _client(path, self.where)
                self._batch: int = self._client.get_max_batch_size()
                found = self._found()
                self._collections = {one.metadata["agent"]: one for one in found if one.metadata["format"] == FORMAT}
                self.repairs = self._repaired(found)
            self._rewrite([one for one in found if one.metadata["format"] < FORMAT])
        except BaseException:
            if self._client is not None:
                self._client.close()
            self._lock.release()
            raise

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        self._refuse_closed()
        return tuple(sorted(self._collections))

    @locked
    def read(self, agent: str, since: _Mark | None = None) -> Log:
        """Returns what has changed in a character since a mark."""
        mark, collection = self._now(agent), self._collections.get(agent)
        settings: dict[str, Any] = {} if collection is None else json.loads(collection.metadata["settings"])
        ids = self._log.since(agent, since)
        known = 0 if ids is None or since is None else since[1]
        with self._readable(agent):
            rows, vectors = self._rows(agent, ids)
            return Log(operations_in(agent, rows, vectors, settings, known), mark, whole=ids is None)

    @locked
    def nearest(self, agent: str, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Memory ids that Chroma finds nearest to a vector, each with its cosine; empty for an unknown character.

        Chroma's index is approximate and floats round: the first stage of `two_stage` by its own search, to compare
        with. A stream's retrievals are exact and do not use it.
        """
        self._refuse_closed()
        collection = self._collections.get(agent)
        if collection is None:
            return []
        with self._mended():
            if not collection.count():
                return []
            there = {"$and": [{"state": _STATES[THERE]}, {"embedded": True}]}
            query = np.asarray(vector, dtype=np.float32)
            found = collection.query(query_embeddings=[query], n_results=count, where=there, include=["distances"])
        return [(int(id), 1.0 - float(gone)) for id, gone in zip(found["ids"][0], found["distances"][0], strict=True)]

    @locked
    def write(self, agent: str, operations: Sequence[Operation], mark: _Mark) -> _Mark:
        """Makes the operations, unless anybody has written since the mark. Chroma's own log may keep the text of what
        is forgotten until it is compacted."""
        now = self._now(agent)
        if mark != now:
            raise overtaken(agent, self.where)
        _, last = now
        target = Rows(agent, last, partial(self._kept, agent))
        with self._readable(agent):
            fold(operations, target)
        if not target.changes:
            return mark
        self._last[agent] = self._put(agent, target, last)
        self._log.note(agent, target.rows)
        return self._now(agent)

    def _put(self, agent: str, target: Rows, last: int) -> int:
        """Writes rows, those behind `last` all or none; returns the last id there is now."""
        collection = self._collection(agent)
        metadata = dict(collection.metadata)
        if target.settings is not None:
            metadata["settings"] = as_json(dict(target.settings))
        rows = sorted(target.rows.items())
        size = metadata.get("dimensions") or json.loads(metadata["settings"]).get("dimensions")
        size = size or next((len(kept.vector) for _, kept in rows if kept.vector is not None), 1)
        records = [_as_record(kept, size, target.last_id if id > last else None) for id, kept in rows]
        old = sum(id <= last for id, _ in rows)
        if rows:
            metadata["dimensions"] = size
        with self._mended():
            if metadata != collection.metadata:
                collection.modify(metadata=metadata)
            for some in _batches(records[:old], self._batch):
                columns = _columns(some)
                for one in columns["metadatas"]:
                    one |= {name: None for name in _OPTIONAL if name not in one}  # None deletes it
                collection.update(**columns)
            try:
                for some in _batches(records[old:], self._batch):
                    collection.add(**_columns(some))
            except BaseException:
                with suppress(Exception):  # if this fails too, opening finds what is left
                    collection.delete(where={"upto": {"$gt": last}})
                raise
        return target.last_id

    @locked
    def delete(self, agent: str) -> int:
        """Delete the collection of a character. Chroma's own log may keep a text until it is compacted."""
        self._refuse_closed()
        if agent not in self._collections:
            return 0
        stored = load(self, agent)
        with self._mended():
            self._client.delete_collection(self._collections[agent].name)
        del self._collections[agent]
        self._last.pop(agent, None)
        self._log.delete(agent)
        return len(stored.memories) - len(stored.forgotten)

    @locked
    def close(self) -> None:
        """Close and unlock the folder. May be called twice."""
        if not self._closed:
            self._closed = True
            self._client.close()
            self._lock.release()

    def _found(self) -> list[Any]:
        """Returns the collections of characters, sorted by the characters' names."""
        found = [one for one in self._client.list_collections() if {"agent", "format"} <= (one.metadata or {}).keys()]
        for collection in found:
            refuse_newer("a store", collection.metadata["format"], FORMAT, self.where)
        return sorted(found, key=lambda one: one.metadata["agent"])

    def _repaired(self, found: Iterable[Any]) -> tuple[str, ...]:
        """Removes what is left of unfinished additions."""
        repairs: list[str] = []
        for collection in found:
            count = collection.count()
            rows = collection.get(ids=[str(count)], include=["metadatas"])["metadatas"]
            if rows and rows[0]["upto"] > count:
                collection.delete(where={"upto": {"$gt": count}})
                left, agent = count - collection.count(), collection.metadata["agent"]
                repairs.append(f"{left} memories of {agent}, added together with others that are missing, were cut")
        return tuple(repairs)

    def _rewrite(self, old: Iterable[Any]) -> None:
        """Copies collections of the first layout into this one. They go last, so it can be interrupted."""
        for collection in old:
            agent = collection.metadata["agent"]
            begun = self._collections.pop(agent, None)
            with self._mended():
                if begun is not None:
                    self._client.delete_collection(begun.name)
                stored = _stored_in_format_1(agent, collection, self.where)
            self._collection(agent)
            copy({agent: stored}, self)
            with self._mended():
                self._client.delete_collection(collection.name)

    def _collection(self, agent: str) -> Any:
        """Returns the collection of a character, made where it is missing."""
        self._refuse_closed()
        if agent not in self._collections:
            checked_agent(agent)
            with self._mended():
                self._collections[agent] = self._client.create_collection(
                    collection_name(agent),
                    metadata={"agent": agent, "format": FORMAT, "settings": "{}"},
                    embedding_function=None,
                    configuration={"hnsw": {"space": "cosine"}},
                )
        return self._collections[agent]

    def _now(self, agent: str) -> _Mark:
        """Returns the latest mark of a character."""
        self._refuse_closed()
        if agent not in self._last:
            collection = self._collections.get(agent)
            with self._mended():
                self._last[agent] = collection.count() if collection is not None else 0
        return self._log.mark(agent, self._last[agent])

    def _kept(self, agent: str, ids: Sequence[int]) -> list[Kept]:
        return kept_of(agent, *self._rows(agent, ids))

    def _rows(self, agent: str, ids: Sequence[int] | None) -> tuple[list[StoredRow], Sequence[Vector | None]]:
        """Reads the memories with these ids (None: all), ordered by id, and the vector of each."""
        collection, columns = self._collections.get(agent), ["documents", "metadatas", "embeddings"]
        found: list[_Columns] = []
        with self._mended():
            if collection is not None and ids is None:
                found = _sorted(collection.get(include=columns))
            elif collection is not None:
                for some in _batches(ids or (), self._batch):
                    found += _sorted(collection.get(ids=[str(id) for id in some], include=columns))
        rows = [_row(id, document, metadata) for id, document, metadata, _ in found]
        return rows, _vectors([(metadata, embedding) for _, _, metadata, embedding in found])

    @contextmanager
    def _readable(self, agent: str) -> Generator[None]:
        """Raises CommonplaceError where a record cannot be read."""
        try:
            yield
        except UNREADABLE as error:
            raise damaged(f"{agent}: {error}", self.where) from error

    @contextmanager
    def _mended(self) -> Generator[None]:
        """Turns Chroma's errors into CommonplaceError."""
        self._refuse_closed()
        try:
            yield
        except (CommonplaceError, KeyError, AttributeError, TypeError):
            raise
        except Exception as error:  # Chroma's engine raises errors without a common class
            hint = "check the disk and the folder; everything acknowledged is still there"
            raise CommonplaceError(f"Chroma says: {error}", where=self.where, hint=hint) from error

    def _refuse_closed(self) -> None:
        if self._closed:
            raise UsageError("the store is closed", where=self.where, hint="open it again")


def _client(path: Path, where: str) -> Any:
    try:
        with warnings.catch_warnings():  # of packages that it imports
            warnings.simplefilter("ignore")
            import chromadb  # noqa: PLC0415 - an optional package
            from chromadb.config import Settings  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("Chroma needs the package chromadb", where=where, hint=INSTALL) from error
    return chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))


def collection_name(agent: str) -> str:
    """Returns the name of a character's collection: `memories_agent_` and the character's name if Chroma accepts it.

    Otherwise the characters that Chroma does not accept are written as in a URL, with a dot instead of the percent
    sign, after `memories_agent-`: 지우 is `memories_agent-.EC.A7.80.EC.9A.B0`. A very long name is cut and ends in its
    hash. The collection's metadata has the name itself.
    """
    safe = quote(agent, safe="")
    if safe == agent and "~" not in agent and ".." not in agent and agent[-1] not in "._-":
        name = f"memories_agent_{agent}"
    else:
        safe = safe.replace(".", "%2E").replace("~", "%7E")
        if safe[-1] in "_-":
            safe = f"{safe[:-1]}%{ord(safe[-1]):X}"
        name = f"memories_agent-{safe.replace('%', '.')}"
    if len(name) <= LONGEST_NAME:
        return name
    digest = blake2b(agent.encode(), digest_size=16).hexdigest()
    return f"memories_agent-{name[15 : LONGEST_NAME - 50].rstrip('.')}.hash-{digest}"


# ── a memory as a record of Chroma's ─────────────────────────────────────────────────────────────────────────────────

_STATES = ("kept", "archived", "forgotten")
"""The names of `THERE`, `ARCHIVED`, `FORGOTTEN`."""
_TEXTS, _LISTS = ("source", "session", "event"), ("place", "tags", "citations")
"""Fields of a memory that are metadata of the same name; a list only where it is not empty."""
_OPTIONAL = ("session", "event", *_LISTS, "rest")
"""Metadata that a record may lack."""
_SECOND = 1_000_000
_UNIX = micros(datetime(1970, 1, 1, tzinfo=UTC))

_Value = TypeVar("_Value")
_Columns = tuple[str, str, dict[str, Any], Any]
"""Id, document, metadata, embedding."""


def _as_record(one: Kept, dimensions: int, upto: int | None) -> _Columns:
    """Returns all of a memory as columns. `rest` holds the following, each only where it is needed:

    fractions of a second; an importance that is not a whole number, because Chroma's numbers lose their last bit;
    emotion, details and texts that UTF-8 cannot hold; a vector that the embedding does not hold exactly; an archived
    memory's text and fields, compressed. `upto`: the last id of the memories it is added with; None for one that is
    there, which keeps it.
    """
    row = row_of(one.memory)
    rest: dict[str, Any] = {}
    created, rest["created_micros"] = divmod(row.created - _UNIX, _SECOND)
    accessed_at, rest["accessed_micros"] = divmod(row.accessed - _UNIX, _SECOND)
    rest["importance"] = 0 if float(row.importance).is_integer() else row.importance
    embedding, rest["vector"] = _as_embedding(one.vector, one.state, dimensions)
    if one.state == ARCHIVED:
        fields: dict[str, Any] = {}
        rest["packed"] = _as_ascii(packed_text(row.text, row.rest))
    else:
        fields = rare_fields(one.memory)
        rest |= {name: fields.pop(name) for name in list(fields) if not _is_plain(name, fields[name])}
    rest = {name: value for name, value in rest.items() if value}
    metadata = {
        "memory_type": row.kind,
        "importance": float(row.importance),
        "created_at": created,
        "accessed_at": accessed_at,
        "tick": row.tick,
        "source": "",
        **{name: list(value) if name in _LISTS else value for name, value in fields.items()},
        "state": _STATES[one.state],
        "embedded": bool(embedding.any()),
        **({} if upto is None else {"upto": upto}),
        **({"rest": as_json(rest)} if rest else {}),
    }
    return str(row.id), row.text if one.state == THERE else "", metadata, embedding


def _row(id: str, document: str, metadata: Mapping[str, Any]) -> tuple[tuple[Any, ...], int, bytes | None]:
    """Returns the arguments of `stored_memory`."""
    rest: dict[str, Any] = parsed(metadata.get("rest", "{}"))
    created, accessed_at = (
        metadata[f"{name}_at"] * _SECOND + rest.pop(f"{name}_micros", 0) + _UNIX for name in ("created", "accessed")
    )
    importance = rest.pop("importance", metadata["importance"])
    rest.pop("vector", None)
    packed = rest.pop("packed", None)
    fields = {**rest, **{name: metadata[name] for name in (*_TEXTS, *_LISTS) if metadata.get(name)}}
    known = (int(id), metadata["tick"], metadata["memory_type"], importance, created, accessed_at)
    row = (*known, document, as_json(fields) if fields else "")
    return row, _STATES.index(metadata["state"]), None if packed is None else base64.b64decode(packed)


def _is_plain(name: str, value: Any) -> bool:
    """Tells whether metadata can hold the field: text in UTF-8, or a list."""
    try:
        "".join(map(str, value)).encode()
    except UnicodeEncodeError:
        return False
    return name in (*_TEXTS, *_LISTS)


def _as_embedding(vector: Vector | None, state: int, dimensions: int) -> tuple[Any, list[Any] | None]:
    """Returns the embedding, zeros without a vector that Chroma can compare; and what else the vector needs.

    Chroma's cosine keeps seven digits: enough for a vector of whole numbers. Of another, it gets the direction.
    """
    width, data = encoded(vector)
    exact = None if data is None else [width, _as_ascii(data)]
    if vector is None or state != THERE or len(vector) != dimensions or not np.isfinite(vector).all():
        return np.zeros(dimensions, dtype=np.float32), exact
    if width == 2:
        return vector, exact if not vector.any() else None
    fine = vector.astype(np.float64)
    return (fine / np.sqrt(np.vecdot(fine, fine))).astype(np.float32), exact


def _vectors(found: Sequence[tuple[Mapping[str, Any], Any]]) -> Sequence[Vector | None]:
    """Returns the exact vectors, from metadata and embeddings."""
    kept: list[tuple[int, int, bytes]] = []
    for at, (metadata, embedding) in enumerate(found):
        exact = parsed(metadata["rest"]).get("vector") if "rest" in metadata else None
        if exact is not None:
            kept.append((at, exact[0], base64.b64decode(exact[1])))
        elif metadata["embedded"]:
            kept.append((at, 2, np.rint(embedding).astype("<i2").tobytes()))
    return gathered(len(found), kept)


def _sorted(found: Mapping[str, Any]) -> list[_Columns]:
    """Returns what `Collection.get` has found, ordered by id."""
    columns = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return sorted(columns, key=lambda one: int(one[0]))


def _columns(records: Sequence[_Columns]) -> dict[str, list[Any]]:
    """Returns the arguments of `Collection.add` and `update`."""
    names = ("ids", "documents", "metadatas", "embeddings")
    return {name: [one[at] for one in records] for at, name in enumerate(names)}


def _batches(values: Sequence[_Value], size: int) -> Iterable[Sequence[_Value]]:
    return (values[first : first + size] for first in range(0, len(values), size))


def _as_ascii(data: bytes) -> str:
    return base64.b64encode(data).decode()


# ── the first layout, to be rewritten ────────────────────────────────────────────────────────────────────────────────


def _stored_in_format_1(agent: str, collection: Any, where: str) -> Stored:
    """Reads all of a character from a collection of format 1, named after a hash, with rows and vectors in metadata."""
    found = _sorted(collection.get(include=["documents", "metadatas", "embeddings"]))
    rows: list[tuple[tuple[Any, ...], int, bytes | None]] = []
    vectors: list[Vector | None] = []
    try:
        for _, text, old, _ in found:
            packed = base64.b64decode(old["rest"]) if old["state"] == ARCHIVED else None
            numbers = (old["id"], old["tick"], old["kind"], float(old["importance_exact"]))
            rest = old["rest"] if packed is None else ""
            rows.append(((*numbers, old["created"], old["accessed"], text, rest), old["state"], packed))
            vectors.append(decoded(old["width"], base64.b64decode(old["vector"]) if old["width"] else None))
        stored = Stored(agent=agent)
        fold(operations_in(agent, rows, vectors, json.loads(collection.metadata["settings"])), stored)
        return stored
    except UNREADABLE as error:
        raise damaged(f"{agent}: {error}", where) from error
