"""The Chroma store keeps the contract."""

from __future__ import annotations

import base64
import json
import re
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import MemoryStream
from commonplace.memory.embedding import encoded
from commonplace.memory.stores.codec import packed_text, row_of
from commonplace.memory.stores.store import ARCHIVED, FORGOTTEN, THERE, Add, Archive, load, tombstone
from commonplace.parts.stores.chroma import ChromaStore, collection_name
from commonplace.testing.stores import (
    START,
    StoreContract,
    WordCounts,
    full,
    memory,
    refused,
    same,
    vectors_of,
    write,
)
from sizes import PROVE, examples


class TestChroma(StoreContract):
    threads = 16 if PROVE else 6
    each = 20 if PROVE else 2
    examples = 3

    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("chromadb", reason="chromadb is not installed")

    def open(self, where: Path) -> ChromaStore:
        return ChromaStore(where)


def test_what_an_unfinished_addition_left_is_cut_and_said(tmp_path, monkeypatch):
    """Chroma takes only so many at once; a process that dies between two helpings has added a part."""
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    store = ChromaStore(tmp_path)
    write(store, "maria", Add([memory(1), memory(2)], [None, None]))
    store._batch = 2
    real = store._collections["maria"].add
    left = iter((True, False))

    def dying(**given):
        if not next(left):
            raise RuntimeError("killed")
        real(**given)

    def dead(**given):
        raise RuntimeError("killed")

    monkeypatch.setattr(store._collections["maria"], "add", dying)
    monkeypatch.setattr(store._collections["maria"], "delete", dead)
    with refused():
        write(store, "maria", Add([memory(id) for id in range(3, 8)], [None] * 5))
    monkeypatch.undo()
    store.close()
    store = ChromaStore(tmp_path)
    assert store.repairs == ("2 memories of maria, added together with others that are missing, were cut",)
    same(load(store, "maria"), [memory(1), memory(2)])
    write(store, "maria", Add([memory(3)], [None]))
    store.close()
    store = ChromaStore(tmp_path)
    assert store.repairs == ()
    store.close()


def test_what_fails_in_one_process_is_not_in_its_way(tmp_path, monkeypatch):
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    store = ChromaStore(tmp_path)
    write(store, "maria", Add([memory(1)], [None]))
    store._batch = 1
    real = store._collections["maria"].add
    left = iter((True, False))

    def failing(**given):
        if not next(left):
            raise RuntimeError("disk I/O error")
        real(**given)

    monkeypatch.setattr(store._collections["maria"], "add", failing)
    with refused():
        write(store, "maria", Add([memory(2, text="old"), memory(3)], [None, None]))
    monkeypatch.undo()
    write(store, "maria", Add([memory(2, text="new")], [None]))
    same(load(store, "maria"), [memory(1), memory(2, text="new")])
    store.close()


def test_a_newer_layout_and_a_second_owner_are_refused(tmp_path):
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    store = ChromaStore(tmp_path)
    write(store, "maria", Add([memory(1)], [None]))
    with pytest.raises(UsageError, match="this process has it open"):
        ChromaStore(tmp_path)
    collection = store._collections["maria"]
    collection.modify(metadata={**collection.metadata, "format": 3})
    store.close()
    with pytest.raises(UsageError, match="format 3, made by a newer"):
        ChromaStore(tmp_path)


@pytest.fixture
def chromadb():
    """The package, for clients that know nothing of Commonplace."""
    return pytest.importorskip("chromadb", reason="chromadb is not installed")


def client(chromadb, folder: Path):
    return chromadb.PersistentClient(str(folder), settings=chromadb.config.Settings(anonymized_telemetry=False))


def test_a_plain_client_reads_names_documents_metadata_and_vectors(chromadb, tmp_path):
    with MemoryStream.open(f"chroma:{tmp_path}", agent="철수", embedder=WordCounts()) as stream:
        stream.remember("영희가 축제에 가자고 했다", at=START, importance=6, source="agent_said", tags=["축제"])
        stream.remember(
            "Everyone is at the festival",
            at=START + timedelta(minutes=1, microseconds=7),
            kind="reflection",
            importance=7.25,
            citations=[1],
            place=("Town", "Square"),
            session="s1",
            details={"frame": {"what": "insight"}},
        )
    reader = client(chromadb, tmp_path)
    (collection,) = reader.list_collections()
    assert collection.name == "memories_agent-.EC.B2.A0.EC.88.98"
    assert collection.metadata["agent"] == "철수"
    found = collection.get(include=["documents", "metadatas", "embeddings"])
    assert found["ids"] == ["1", "2"]
    assert found["documents"] == ["영희가 축제에 가자고 했다", "Everyone is at the festival"]
    first, second = found["metadatas"]
    at = int(START.timestamp())
    assert first == {
        "memory_type": "observation",
        "source": "agent_said",
        "importance": 6.0,
        "created_at": at,
        "accessed_at": at,
        "tags": ["축제"],
        "tick": 0,
        "state": "kept",
        "embedded": True,
        "upto": 1,
    }
    assert (second["memory_type"], second["importance"], second["created_at"]) == ("reflection", 7.25, at + 60)
    assert (second["place"], second["session"], second["citations"]) == (["Town", "Square"], "s1", [1])
    assert json.loads(second["rest"]) == {
        "created_micros": 7,
        "accessed_micros": 7,
        "importance": 7.25,
        "details": {"frame": {"what": "insight"}},
    }
    made = WordCounts().embed(found["documents"])
    assert found["embeddings"].tolist() == [pytest.approx(vector.tolist()) for vector in made]
    assert collection.get(where={"$and": [{"importance": {"$gte": 7}}, {"created_at": {"$gt": at}}]})["ids"] == ["2"]
    assert collection.get(where={"tags": {"$contains": "축제"}})["ids"] == ["1"]
    near = collection.query(query_embeddings=[(made[1] / 3).tolist()], n_results=1)
    assert (near["ids"], near["distances"]) == ([["2"]], [[pytest.approx(0, abs=1e-6)]])
    reader.close()


def test_a_collection_of_another_program_is_left_alone(chromadb, tmp_path):
    client(chromadb, tmp_path).create_collection("theirs", metadata={"agent": "of another kind"})
    store = ChromaStore(tmp_path)
    assert store.agents() == ()
    write(store, "maria", Add([memory(1)], [None]))
    assert store.agents() == ("maria",)
    store.close()


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("maria", "memories_agent_maria"),
        ("Maria.Lopez", "memories_agent_Maria.Lopez"),
        ("Maria Lopez", "memories_agent-Maria.20Lopez"),
        ("a/b_", "memories_agent-a.2Fb.5F"),
        ("a..b", "memories_agent-a.2E.2Eb"),
        ("지우", "memories_agent-.EC.A7.80.EC.9A.B0"),
    ],
)
def test_a_collection_is_named_after_its_character(agent, name):
    assert collection_name(agent) == name


@examples(60)
@given(st.sets(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20), min_size=2, max_size=6))
@example({"가" * 200, "가" * 201, "x" * 600, "x" * 601})
def test_every_name_is_accepted_and_no_two_are_one(agents):
    names = {collection_name(agent) for agent in agents}
    assert len(names) == len(agents)
    for name in names:
        assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]", name)
        assert ".." not in name


def test_a_vector_is_kept_once_unless_chroma_would_round_it(tmp_path, chromadb):
    store = ChromaStore(tmp_path)
    vectors = [np.array([3, -4096, 0, 0], dtype=np.float32), np.array([0.1, 2, 0, 0], dtype=np.float32)]
    write(store, "maria", Add([memory(1), memory(2)], vectors))
    store.close()
    whole, fine = client(chromadb, tmp_path).get_collection("memories_agent_maria").get()["metadatas"]
    assert "rest" not in whole
    assert json.loads(fine["rest"]).keys() == {"vector"}


def test_a_store_of_the_first_layout_is_rewritten_whole(chromadb, tmp_path, monkeypatch):
    texts = [memory(1, "지우"), full(2, "지우"), memory(3, "지우", text="a secret"), full(4, "지우")]
    vectors = vectors_of(4)
    old = client(chromadb, tmp_path)
    in_first_layout(old, "지우", texts, vectors, forgotten={3}, archived={4})
    old.close()
    with monkeypatch.context() as patch:
        patch.setattr(ChromaStore, "write", dying_of(ChromaStore.write, Archive))
        with pytest.raises(KeyboardInterrupt):  # a process that dies on the way has lost nothing
            ChromaStore(tmp_path)
    for _ in range(2):
        store = ChromaStore(tmp_path)
        found = load(store, "지우")
        same(found, [texts[0], texts[1], texts[3]], [vectors[0], vectors[1], vectors[3]])
        assert (found.forgotten, found.archived) == ({3}, {4})
        assert found.settings == {"embedder": "word-counts", "dimensions": 4}
        store.close()
    assert [one.name for one in client(chromadb, tmp_path).list_collections()] == [collection_name("지우")]


def dying_of(write, kind):
    def call(store, agent, operations, mark):
        if any(isinstance(one, kind) for one in operations):
            raise KeyboardInterrupt
        return write(store, agent, operations, mark)

    return call


def in_first_layout(reader, agent, memories, vectors, *, forgotten, archived) -> None:
    """What Commonplace wrote until the second layout."""
    collection = reader.create_collection(
        "commonplace-0123456789abcdef",
        metadata={
            "agent": agent,
            "format": 1,
            "settings": '{"embedder":"word-counts","dimensions":4}',
            "dimensions": 4,
        },
        embedding_function=None,
        configuration={"hnsw": {"space": "cosine"}},
    )
    for one, vector in zip(memories, vectors, strict=True):
        state = FORGOTTEN if one.id in forgotten else ARCHIVED if one.id in archived else THERE
        row = row_of(one if state != FORGOTTEN else tombstone(agent, one.id))
        width, data = encoded(None if state == FORGOTTEN else vector)
        packed = base64.b64encode(packed_text(row.text, row.rest)).decode()
        collection.add(
            ids=[str(one.id)],
            documents=[row.text if state == THERE else ""],
            metadatas=[
                {
                    **dict(zip(row._fields[:6], row, strict=False)),
                    "importance_exact": repr(row.importance),
                    "rest": packed if state == ARCHIVED else row.rest,
                    "state": state,
                    "upto": len(memories),
                    "width": width,
                    "vector": "" if data is None else base64.b64encode(data).decode(),
                }
            ],
            embeddings=[np.zeros(4, dtype=np.float32)],
        )
