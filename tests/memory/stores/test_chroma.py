"""The Chroma store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commonplace.errors import UsageError
from commonplace.memory.stores.chroma import ChromaStore
from commonplace.testing.stores import StoreContract, memory, refused, same
from sizes import PROVE


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
    store.append("maria", [memory(1), memory(2)], [None, None])
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
        store.append("maria", [memory(id) for id in range(3, 8)], [None] * 5)
    monkeypatch.undo()
    store.close()
    store = ChromaStore(tmp_path)
    assert store.repairs == ("2 memories of maria, added together with others that are missing, were cut",)
    same(store.load("maria"), [memory(1), memory(2)])
    store.append("maria", [memory(3)], [None])
    store.close()
    store = ChromaStore(tmp_path)
    assert store.repairs == ()
    store.close()


def test_what_fails_in_one_process_is_not_in_its_way(tmp_path, monkeypatch):
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    store = ChromaStore(tmp_path)
    store.append("maria", [memory(1)], [None])
    store._batch = 1
    real = store._collections["maria"].add
    left = iter((True, False))

    def failing(**given):
        if not next(left):
            raise RuntimeError("disk I/O error")
        real(**given)

    monkeypatch.setattr(store._collections["maria"], "add", failing)
    with refused():
        store.append("maria", [memory(2, text="old"), memory(3)], [None, None])
    monkeypatch.undo()
    store.append("maria", [memory(2, text="new")], [None])
    same(store.load("maria"), [memory(1), memory(2, text="new")])
    store.close()


def test_a_newer_layout_and_a_second_owner_are_refused(tmp_path):
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    store = ChromaStore(tmp_path)
    store.append("maria", [memory(1)], [None])
    with pytest.raises(UsageError, match="this process has it open"):
        ChromaStore(tmp_path)
    collection = store._collections["maria"]
    collection.modify(metadata={**collection.metadata, "format": 2})
    store.close()
    with pytest.raises(UsageError, match="format 2, made by a newer"):
        ChromaStore(tmp_path)


def test_another_tool_finds_text_and_likeness(tmp_path):
    chromadb = pytest.importorskip("chromadb", reason="chromadb is not installed")
    store = ChromaStore(tmp_path)
    vectors = [np.array([3, 4, 0, 0], dtype=np.float32), np.array([0, 0, 9, 0], dtype=np.float32)]
    store.append("지우", [memory(1, "지우", text="a lantern"), memory(2, "지우", text="a stove")], vectors)
    name = store._collections["지우"].name
    found = store._client.get_collection(name, embedding_function=None).query(
        query_embeddings=[[0.6, 0.8, 0, 0]], n_results=1
    )
    assert (found["ids"], found["documents"]) == ([["1"]], [["a lantern"]])
    assert found["distances"][0][0] == pytest.approx(0, abs=1e-6)
    assert chromadb.__version__
    store.close()
