"""Stores that were made before stores took operations open as they were, and go on.

`old/` has a SQLite file of format 2 and a folder of JSON lines.
"""

from __future__ import annotations

import gzip
import tarfile
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import Add, Restore, Touch, load
from commonplace.testing.stores import START, full, memory, same, vectors_of, write

OLD = Path(__file__).with_name("old")


def unpacked(kind: str, folder: Path) -> str:
    if kind == "sqlite":
        (folder / "s.db").write_bytes(gzip.decompress((OLD / "sqlite-2.db.gz").read_bytes()))
        return str(folder / "s.db")
    with tarfile.open(OLD / "jsonl-1.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return f"jsonl:{folder / 'layout1'}"


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_a_store_of_before_is_as_it_was(kind, tmp_path):
    where, vectors = unpacked(kind, tmp_path), vectors_of(7)
    kept = [
        memory(1, accessed_at=START + timedelta(days=3, microseconds=7)),
        *(full(id) for id in (2, 4, 5, 6, 7)),
        memory(8, text="a kite", tags=("toy",), session="s2"),
    ]
    for _ in range(2):
        store = open_store(where)
        assert (store.agents(), store.repairs) == (("maria", "지우 / x"), ())
        found = load(store, "maria")
        assert (found.forgotten, found.archived, found.settings["embedder"]) == ({3}, {2, 4}, "word-counts")
        same(found, kept, [vectors[0], *(vectors[id - 1] for id in (2, 4, 5, 6, 7)), vectors[3]])
        same(load(store, "지우 / x"), [memory(1, "지우 / x"), memory(2, "지우 / x")], vectors_of(2))
        store.close()
    store = open_store(where)
    mark = store.read("maria").mark
    write(store, "maria", Restore([4]), Add([memory(9)], [None]), Touch({9: START}))
    assert not store.read("maria", mark).whole
    store.close()
    store = open_store(where)
    found = load(store, "maria")
    assert (found.archived, found.memories[8].accessed_at) == ({2}, START)
    store.close()
