"""The SQLite store keeps the contract, and says what is wrong with a file."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import MemoryStream
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.memory.stores.store import Add, Archive, Forget, Touch, load
from commonplace.testing.stores import (
    SHARED,
    START,
    Share,
    StoreContract,
    WordCounts,
    agree,
    memory,
    refused,
    same,
    switching_often,
    together,
    write,
)
from processes import context
from sizes import PROVE


class TestSQLite(StoreContract):
    each = 40 if PROVE else 4

    def open(self, where: Path) -> SQLiteStore:
        return SQLiteStore(where)


def share_in_a_process(path: Path, first: int, each: int) -> list[Share]:
    """What eight threads did with two openings of their own."""
    streams = [MemoryStream.open(path, "maria", embedder=WordCounts()) for _ in range(2)]
    shares: list[Share] = []
    with switching_often():
        together(*[lambda n=n: shares.append(Share.of(streams[n % 2], first + n, each)) for n in range(8)])
    for stream in streams:
        stream.close()
    return shares


@pytest.mark.parametrize("seed", range(0, 800, 100) if PROVE else (0,))
def test_processes_that_use_one_character_at_once_agree(seed, tmp_path):
    path = tmp_path / "s.db"
    with MemoryStream.open(path, "maria", embedder=WordCounts()) as stream:
        stream.add_many(SHARED, at=START)
        with ProcessPoolExecutor(2, context()) as pool:
            deeds = [pool.submit(share_in_a_process, path, seed + first, 40 if PROVE else 6) for first in (10, 20)]
            shares = [share for deed in deeds for share in deed.result()]
        stream.refresh()
        agree(stream, MemoryStream.open(path, "maria", embedder=WordCounts()), shares)


@pytest.mark.slow
def test_many_sequences_of_deeds(tmp_path):
    from commonplace.testing.store_machine import compare_with_ram

    compare_with_ram(SQLiteStore, tmp_path, examples=300, steps=40)


def test_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "s.db"
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    with pytest.raises(UsageError, match="format 3, made by a newer"):
        SQLiteStore(path)


def test_a_file_of_the_first_format_goes_on_in_this_one(tmp_path):
    path = tmp_path / "s.db"
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE change")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    one, other = SQLiteStore(path), SQLiteStore(path)
    before = one.read("maria").mark
    write(other, "maria", Touch({2: START + timedelta(days=9)}))
    (revised, touched, _), whole = one.read("maria", before).operations, one.read("maria", before).whole
    assert ([memory.id for memory in revised.memories], [*touched.accesses], whole) == ([2], [2], False)
    one.close()
    other.close()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"x" * 4000, b"hello, this is a text\n" * 50])
def test_a_file_of_another_kind_is_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "s.db"
    path.write_bytes(content)
    if not content:
        SQLiteStore(path).close()  # an empty file is a database without tables: it becomes one
        return
    with refused():
        SQLiteStore(path)
    assert path.read_bytes() == content


def test_another_program_s_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine(x)")
    connection.close()
    with pytest.raises(UsageError, match="not a store of memories"):
        SQLiteStore(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("mine",)]
    connection.close()


def test_a_run_is_refused_with_the_way_to_copy_it(tmp_path):
    path = tmp_path / "monday.run"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA application_id = {0x436F6D50}")
        connection.execute("CREATE TABLE memory(x)")
    connection.close()
    with pytest.raises(UsageError, match="copy-memories"):
        SQLiteStore(path)


@pytest.mark.parametrize("instead", [None, b"another"])
def test_nothing_is_acknowledged_once_the_file_is_gone_or_another(tmp_path, instead):
    path = tmp_path / "s.db"
    store = SQLiteStore(path)
    write(store, "maria", Add([memory(1)], [None]))
    path.rename(tmp_path / "aside")
    if instead:
        path.write_bytes(instead)
    for deed in (lambda: write(store, "maria", Add([memory(2)], [None])), lambda: write(store, "maria", Forget([1]))):
        with pytest.raises(CommonplaceError, match="deleted or replaced"):
            deed()
    store.close()


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match="jsonl:FOLDER"):
        SQLiteStore(tmp_path)


def test_half_a_file_is_damaged_not_a_riddle(tmp_path):
    path = tmp_path / "s.db"
    filled(path, 400)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CommonplaceError, match="damaged") as caught:
        store = SQLiteStore(path)
        try:
            load(store, "maria")
        finally:
            store.close()
    assert "copy" in caught.value.hint


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM memory WHERE key % 4294967296 = 2",
        "UPDATE memory SET rest = '{' WHERE key % 4294967296 = 2",
        "UPDATE vector SET value = x'010203'",
        "UPDATE vector SET width = 3",
        "UPDATE archive SET packed = x'00'",
        "UPDATE agent SET settings = ''",
    ],
)
def test_rows_that_are_not_what_was_written_are_damage(harm, tmp_path):
    path = tmp_path / "s.db"
    filled(path, 5)
    with sqlite3.connect(path) as connection:
        connection.execute(harm)
    connection.close()
    store = SQLiteStore(path)
    with pytest.raises(CommonplaceError, match="damaged"):
        load(store, "maria")
    store.close()


def test_a_full_disk_loses_nothing(tmp_path):
    path = tmp_path / "s.db"
    store = SQLiteStore(path)
    write(store, "maria", Add([memory(1)], [None]))
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    big = memory(2, details={"full_text": "lantern " * 100_000})
    with pytest.raises(CommonplaceError, match="the disk is full"):
        write(store, "maria", Add([big], [None]))
    same(load(store, "maria"), [memory(1)])
    store._connection.execute("PRAGMA max_page_count = 1000000")
    write(store, "maria", Add([big], [None]))
    same(load(store, "maria"), [memory(1), big])
    store.close()


def test_what_can_only_be_read_can_be_read(tmp_path):
    path = tmp_path / "s.db"
    filled(path)
    store = SQLiteStore(path)
    store._connection.execute("PRAGMA query_only = ON")
    assert len(load(store, "maria").memories) == 3
    with pytest.raises(CommonplaceError, match="cannot be written"):
        write(store, "maria", Add([memory(4)], [None]))
    store.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CommonplaceError, match="folder cannot be made"):
        SQLiteStore(tmp_path / "file" / "s.db")


def test_another_process_that_writes_is_waited_for_and_then_named(tmp_path, monkeypatch):
    monkeypatch.setattr("commonplace.sqlite.BUSY_SECONDS", 0.05)
    path = tmp_path / "s.db"
    filled(path)
    store, other = SQLiteStore(path), sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(CommonplaceError, match="locked by another process"):
        write(store, "maria", Add([memory(4)], [None]))
    other.execute("ROLLBACK")
    write(store, "maria", Add([memory(4)], [None]))
    other.close()
    store.close()


def test_a_closed_store_is_one_file(tmp_path):
    filled(tmp_path / "s.db")
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


def test_a_forgotten_text_is_nowhere_in_the_file(tmp_path):
    path = tmp_path / "s.db"
    store = SQLiteStore(path)
    secrets = [memory(id, text=f"a secret kept by nobody {'x' * id}", session="kept by nobody") for id in range(1, 41)]
    write(store, "maria", Add(secrets, [None] * 40))
    write(store, "maria", Archive(range(1, 10)))
    write(store, "maria", Forget(range(1, 41)))
    store.close()
    assert b"kept by nobody" not in path.read_bytes()


def test_a_forgotten_text_is_gone_from_all_files_of_a_store_that_stays_open(tmp_path):
    def has_it() -> list[str]:
        return [file.name for file in tmp_path.rglob("*") if file.is_file() and b"xyzzyplugh" in file.read_bytes()]

    path = tmp_path / "s.db"
    with MemoryStream.open(path, "maria") as stream:
        stream.add_many([f"note {number}" for number in range(1100)], at=START)
        for text in ("xyzzyplugh", "xyzzyplugh again"):
            stream.remember(text, at=START, tags=["xyzzyplugh"])
        stream.revise(1102, text="something else")
        stream.archive([1101])
        stream.flush()  # which keeps an index
        assert {"s.db-wal"} < set(has_it())
        stream.forget([1101, 1102])
        assert has_it() == []

        stream.remember("xyzzyplugh", at=START)
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchone()
        stream.forget([1103])
        assert has_it() != []  # somebody reads what was there before
        reader.close()
        stream.remember("bread", at=START)
        assert has_it() == []

        stream.remember("xyzzyplugh", at=START)
        stream.delete()
        assert has_it() == []


def filled(path: Path, count: int = 3) -> None:
    import numpy as np

    store = SQLiteStore(path)
    vectors = [np.array([id, 1, 2, 3], dtype=np.float32) for id in range(count)]
    write(store, "maria", Add([memory(id, place=("Town",)) for id in range(1, count + 1)], vectors))
    write(store, "maria", Archive([count]))
    store.close()
