"""The PostgreSQL store keeps the contract."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.stores.store import Access, Add, Forget, Touch, load
from commonplace.parts.stores.postgres import PostgresStore
from commonplace.testing.stores import START, StoreContract, memory, same, write
from sizes import PROVE


def opened(url: str, where: Path, access: Access = "create") -> PostgresStore:
    """A store in a schema of its own for each path."""
    import psycopg

    schema = f"s{hashlib.blake2b(str(where).encode(), digest_size=8).hexdigest()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    mark = "&" if "?" in url else "?"
    return PostgresStore(f"{url}{mark}options=-csearch_path%3D{schema},public", access=access)


class TestPostgres(StoreContract):
    each = 40 if PROVE else 4
    examples = 8

    @pytest.fixture(autouse=True)
    def _server(self, postgres_url):
        self.url = postgres_url

    def open(self, where: Path) -> PostgresStore:
        return opened(self.url, where)


def test_a_server_that_is_not_there_is_named_without_the_password():
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(CommonplaceError, match="cannot be reached") as caught:
        PostgresStore("postgresql://me:s3cret@127.0.0.1:1/db")
    assert "s3cret" not in str(caught.value)
    with pytest.raises(UsageError, match="not the address"):
        PostgresStore("postgresql://me@host:port/db?nonsense=1")


def test_a_connection_that_is_cut_says_so_and_nothing_is_lost(postgres_url, tmp_path):
    store, other = opened(postgres_url, tmp_path), opened(postgres_url, tmp_path)
    write(store, "maria", Add([memory(1)], [None]))
    (pid,) = store.connection.execute("SELECT pg_backend_pid()").fetchone()
    other.connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
    with pytest.raises(CommonplaceError, match="gone") as caught:
        for _ in range(100):  # the server takes a moment
            load(store, "maria")
    assert "try again" in caught.value.hint
    same(load(other, "maria"), [memory(1)])
    store.close()
    other.close()


def test_a_database_that_can_only_be_read_says_so(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    write(store, "maria", Add([memory(1)], [None]))
    store.connection.execute("SET default_transaction_read_only = on")
    same(load(store, "maria"), [memory(1)])
    with pytest.raises(CommonplaceError, match="cannot be written"):
        write(store, "maria", Add([memory(2)], [None]))
    store.close()


def test_a_newer_format_is_refused(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    store.connection.execute("INSERT INTO commonplace_format VALUES (3)")
    store.close()
    with pytest.raises(UsageError, match="format 3, made by a newer"):
        opened(postgres_url, tmp_path)


def test_tables_of_the_first_format_go_on_in_this_one(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    write(store, "maria", Add([memory(1), memory(2)], [None, None]))
    store.connection.execute("ALTER TABLE commonplace_memory DROP COLUMN changed")
    store.connection.execute("UPDATE commonplace_format SET number = 1")
    store.close()
    store = opened(postgres_url, tmp_path)
    before = store.read("maria").mark
    write(store, "maria", Touch({2: START}))
    log = store.read("maria", before)
    assert ([memory.id for memory in log.operations[0].memories], log.whole) == ([2], False)
    store.close()


def test_a_memory_that_is_missing_is_damage(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    write(store, "maria", Add([memory(1), memory(2)], [None, None]))
    store.connection.execute("DELETE FROM commonplace_memory WHERE id = 1")
    with pytest.raises(CommonplaceError, match="damaged"):
        load(store, "maria")
    store.close()


def test_a_reader_makes_no_tables_and_writes_to_none(postgres_url, tmp_path):
    for access in ("read", "write"):
        for _ in range(2):
            with pytest.raises(UsageError, match="no store here"):
                opened(postgres_url, tmp_path, access)
    store = opened(postgres_url, tmp_path)
    write(store, "maria", Add([memory(1)], [None]))
    reader = opened(postgres_url, tmp_path, "read")
    same(load(reader, "maria"), [memory(1)])
    with pytest.raises(CommonplaceError, match="cannot be written"):
        write(reader, "maria", Forget([1]))
    reader.close()
    store.close()
