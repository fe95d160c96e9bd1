"""Memories in Chroma: a collection per character, which other tools that know Chroma can search as well."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from commonplace.errors import CommonplaceError, UsageError, refuse_newer
from commonplace.lock import ProcessLock
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector, encoded, gathered
from commonplace.memory.record import Memory
from commonplace.memory.stores.codec import (
    ARCHIVED,
    FORGOTTEN,
    THERE,
    UNREADABLE,
    MemoryRow,
    as_json,
    packed_text,
    row_of,
    stored_of,
    unpacked_text,
)
from commonplace.memory.stores.store import (
    Stored,
    checked_agent,
    checked_folder,
    damaged,
    refuse_missing,
    refuse_other_ids,
    tombstone,
)
from commonplace.memory.threads import locked

INSTALL = 'pip install "commonplace[chroma]"'
FORMAT = 1
"""Number of the layout. A newer one is refused."""
_INCLUDE = ["documents", "metadatas"]


class ChromaStore:
    """A store in a folder of Chroma's, owned by one process at a time.

    Chroma knows no transactions: memories that are added together say so, and what is left of an addition that a
    killed process did not finish is taken out on opening. A record's document is the text, its embedding the vector
    brought to length 1; what Chroma cannot keep exactly is in its metadata.
    """

    def __init__(self, folder: str | Path) -> None:
        """Opens or makes the folder. Raises UsageError when another process has it, or for a newer format."""
        self.guard = RLock()
        self.where = f"chroma:{folder}"
        path = checked_folder(Path(folder), self.where)
        self._lock = ProcessLock(path / "commonplace.lock", self.where)
        self._closed = False
        try:
            with self._mended():
                self._client = _client(path, self.where)
                self._batch: int = self._client.get_max_batch_size()
            self._collections = self._found()
            self._last: dict[str, int] = {}
            self.repairs = self._repaired()
        except BaseException:
            self._lock.release()
            raise

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        self._refuse_closed()
        return tuple(sorted(self._collections))

    @locked
    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for an unknown one."""
        with self._mended():
            collection = self._collections.get(agent)
            if collection is None:
                return Stored()
            found = collection.get(include=_INCLUDE)
            rows = sorted(zip(found["metadatas"], found["documents"], strict=True), key=lambda row: row[0]["id"])
        try:
            vectors = _vectors([row for row, _ in rows])
            return stored_of(agent, [_row(*row) for row in rows], vectors, json.loads(collection.metadata["settings"]))
        except UNREADABLE as error:
            raise damaged(f"{agent}: {error}", self.where) from error

    @locked
    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        collection = self._collection(agent)
        with self._mended():
            collection.modify(metadata={**collection.metadata, "settings": as_json(dict(settings))})

    @locked
    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids. Raises UsageError for other ids."""
        self._refuse_closed()
        checked_agent(agent)
        last = self._last_id(agent)
        refuse_other_ids(agent, memories, last, self.where)
        upto = last + len(memories)
        given = list(zip(memories, vectors, strict=True))
        rows = [_metadata(memory, vector, THERE, upto) for memory, vector in given]
        collection = self._collection(agent)
        with self._mended():
            dimensions = self._dimensions(collection, vectors)
            try:
                for first in range(0, len(memories), self._batch):
                    some = slice(first, first + self._batch)
                    collection.add(
                        ids=[str(memory.id) for memory in memories[some]],
                        documents=[memory.text for memory in memories[some]],
                        metadatas=rows[some],
                        embeddings=[_direction(vector, dimensions) for vector in vectors[some]],
                    )
            except BaseException:
                with suppress(Exception):  # if this fails too, opening finds what is left
                    collection.delete(where={"upto": {"$gt": last}})
                raise
        self._last[agent] = upto

    @locked
    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Set access times: memory id → moment."""
        rows = self._rows(agent, list(accesses))
        self._put(agent, [{**row, "accessed": micros(accesses[id])} for id, (row, _) in rows.items()])

    @locked
    def update(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None = None) -> None:
        """Replace what may change of memories that are here; vectors where given."""
        rows = self._rows(agent, [memory.id for memory in memories])
        kept = [rows[memory.id][0] for memory in memories]
        given = list(_vectors(kept)) if vectors is None else list(vectors)
        fresh = [
            _metadata(memory, vector, row["state"], row["upto"])
            for memory, vector, row in zip(memories, given, kept, strict=True)
        ]
        # with their embeddings, or Chroma would make some of the documents
        self._put(agent, fresh, vectors=given, documents=[memory.text for memory in memories])

    @locked
    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used. Chroma's own log may keep a text until it is compacted."""
        rows = self._rows(agent, ids)
        gone = [
            _metadata(tombstone(agent, id, row["kind"]), None, FORGOTTEN, row["upto"]) for id, (row, _) in rows.items()
        ]
        self._put(agent, gone, vectors=[None] * len(gone), documents=[""] * len(gone))

    @locked
    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Compress and set aside, with an embedding that is like nothing."""
        rows = {id: row for id, row in self._rows(agent, ids).items() if row[0]["state"] == THERE}
        away = [
            {**row, "state": ARCHIVED, "rest": _as_ascii(packed_text(text, row["rest"]))} for row, text in rows.values()
        ]
        self._put(agent, away, vectors=[None] * len(away), documents=[""] * len(away))

    @locked
    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Restore from the archive."""
        rows = [row for row, _ in self._rows(agent, ids).values() if row["state"] == ARCHIVED]
        texts = [unpacked_text(base64.b64decode(row["rest"])) for row in rows]
        back = [{**row, "state": THERE, "rest": rest} for row, (_, rest) in zip(rows, texts, strict=True)]
        self._put(agent, back, vectors=list(_vectors(rows)), documents=[text for text, _ in texts])

    @locked
    def close(self) -> None:
        """Close and unlock the folder. May be called twice."""
        if not self._closed:
            self._closed = True
            self._client.close()
            self._lock.release()

    def _found(self) -> dict[str, Any]:
        """Character → collection."""
        with self._mended():
            collections = [one for one in self._client.list_collections() if "agent" in (one.metadata or {})]
        for collection in collections:
            refuse_newer("a store", collection.metadata["format"], FORMAT, self.where)
        return {collection.metadata["agent"]: collection for collection in collections}

    def _repaired(self) -> tuple[str, ...]:
        """Removes what is left of unfinished additions."""
        repairs: list[str] = []
        with self._mended():
            for agent, collection in sorted(self._collections.items()):
                count = collection.count()
                rows = collection.get(ids=[str(count)], include=["metadatas"])["metadatas"]
                if rows and rows[0]["upto"] > count:
                    collection.delete(where={"upto": {"$gt": count}})
                    left = count - collection.count()
                    repairs.append(f"{left} memories of {agent}, added together with others that are missing, were cut")
        return tuple(repairs)

    def _collection(self, agent: str) -> Any:
        """The collection of a character, made where it is missing."""
        self._refuse_closed()
        if agent not in self._collections:
            checked_agent(agent)
            with self._mended():
                self._collections[agent] = self._client.create_collection(
                    f"commonplace-{blake2b(agent.encode(), digest_size=16).hexdigest()}",
                    metadata={"agent": agent, "format": FORMAT, "settings": "{}"},
                    embedding_function=None,
                    configuration={"hnsw": {"space": "cosine"}},
                )
        return self._collections[agent]

    def _last_id(self, agent: str) -> int:
        if agent not in self._last:
            collection = self._collections.get(agent)
            with self._mended():
                self._last[agent] = collection.count() if collection is not None else 0
        return self._last[agent]

    def _dimensions(self, collection: Any, vectors: Sequence[Vector | None]) -> int:
        """How long Chroma's embeddings are: fixed with the first memory."""
        if "dimensions" not in collection.metadata:
            told = json.loads(collection.metadata["settings"]).get("dimensions")
            size = told or next((len(vector) for vector in vectors if vector is not None), 1)
            collection.modify(metadata={**collection.metadata, "dimensions": size})
        return collection.metadata["dimensions"]

    def _rows(self, agent: str, ids: Sequence[int]) -> dict[int, tuple[dict[str, Any], str]]:
        """Id → (metadata, text) of memories that are here. Raises UsageError if one is not."""
        self._refuse_closed()
        rows: dict[int, tuple[dict[str, Any], str]] = {}
        wanted = sorted(set(ids))
        collection = self._collections.get(agent)
        if collection is not None:
            with self._mended():
                for first in range(0, len(wanted), self._batch):
                    some = [str(id) for id in wanted[first : first + self._batch]]
                    found = collection.get(ids=some, include=_INCLUDE)
                    pairs = zip(found["metadatas"], found["documents"], strict=True)
                    rows |= {row["id"]: (dict(row), text) for row, text in pairs if row["state"] != FORGOTTEN}
        refuse_missing(agent, ids, len(rows), self.where)
        return {id: rows[id] for id in wanted}

    def _put(
        self,
        agent: str,
        rows: Sequence[dict[str, Any]],
        *,
        vectors: Sequence[Vector | None] | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        if not rows:
            return
        collection = self._collections[agent]
        archived = [row["state"] == ARCHIVED for row in rows]
        if documents is not None:
            rows = [
                {**row, "rest": _as_ascii(packed_text(text, row["rest"]))} if archived_ids and text else row
                for row, text, archived_ids in zip(rows, documents, archived, strict=True)
            ]
            documents = ["" if archived_ids else text for text, archived_ids in zip(documents, archived, strict=True)]
        with self._mended():
            dimensions = collection.metadata["dimensions"]
            for first in range(0, len(rows), self._batch):
                some = slice(first, first + self._batch)
                shown = zip(vectors[some], archived[some], strict=True) if vectors is not None else ()
                collection.update(
                    ids=[str(row["id"]) for row in rows[some]],
                    metadatas=list(rows[some]),
                    documents=list(documents[some]) if documents is not None else None,
                    embeddings=[_direction(None if away else vector, dimensions) for vector, away in shown] or None,
                )

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


# A memory as a record of Chroma's: what of it Chroma understands, and the whole of it exactly.


_NUMBERS = MemoryRow._fields[:6]


def _metadata(memory: Memory, vector: Vector | None, state: int, upto: int) -> dict[str, Any]:
    """All of a record but its document: a memory's row, its state, the last id it was added with, its vector."""
    row = row_of(memory)
    width, data = encoded(vector)
    return {
        **dict(zip(_NUMBERS, row, strict=False)),
        "importance_exact": repr(row.importance),  # Chroma's numbers lose their last bit now and then
        "rest": row.rest,
        "state": state,
        "upto": upto,
        "width": width,
        "vector": "" if data is None else _as_ascii(data),
    }


def _row(record: Mapping[str, Any], text: str) -> tuple[tuple[Any, ...], int, bytes | None]:
    """What `stored_memory` takes. An archived record has its text packed in `rest`."""
    archived = record["state"] == ARCHIVED
    numbers = {**record, "importance": float(record["importance_exact"])}
    row = (*(numbers[name] for name in _NUMBERS), text, "" if archived else record["rest"])
    return row, record["state"], base64.b64decode(record["rest"]) if archived else None


def _vectors(rows: Sequence[Mapping[str, Any]]) -> Sequence[Vector | None]:
    pairs = enumerate(rows)
    return gathered(
        len(rows), [(at, row["width"], base64.b64decode(row["vector"])) for at, row in pairs if row["width"]]
    )


def _direction(vector: Vector | None, dimensions: int) -> Any:
    """The vector brought to length 1 for Chroma; zeros without a vector that it can compare."""
    if vector is None or len(vector) != dimensions or not np.isfinite(vector).all():
        return np.zeros(dimensions, dtype=np.float32)
    exact = vector.astype(np.float64)
    return (exact / (np.sqrt(np.vecdot(exact, exact)) or 1)).astype(np.float32)


def _as_ascii(data: bytes) -> str:
    return base64.b64encode(data).decode()
