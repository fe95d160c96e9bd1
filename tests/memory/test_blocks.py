"""Core blocks: small texts with a limit and a history, kept in every store."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import UsageError
from commonplace.memory import MemoryStream
from commonplace.memory.stores import load, open_store
from commonplace.testing.stores import WordCounts
from memory.naive import hours


def test_blocks_are_set_read_and_removed():
    blocks = MemoryStream("maria").blocks
    assert dict(blocks) == {} and blocks.shown() == ""
    blocks.set("user", "Maria, a baker.\n- allergic to\u200b nuts  ", at=hours(1))
    blocks.set("goals", "", at=hours(1))
    blocks.set(" tone ", "brief", at=hours(2))
    assert dict(blocks) == {"user": "Maria, a baker.\n- allergic to nuts", "goals": "", "tone": "brief"}
    assert blocks.shown() == "# user\nMaria, a baker.\n- allergic to nuts\n\n# tone\nbrief"
    blocks.set("tone", "warm", at=hours(3))
    blocks.set("tone", "warm", at=hours(4))
    blocks.set("tone", "warm and brief", at=hours(5))
    assert blocks.history("tone") == [
        {"text": "brief", "until": "2031-10-04T09:00:00Z"},
        {"text": "warm", "until": "2031-10-04T11:00:00Z"},
    ]
    blocks.remove("tone")
    assert "tone" not in blocks and [*blocks] == ["user", "goals"]
    for wrong in (blocks.remove, blocks.history, blocks.limit):
        with pytest.raises(UsageError, match="there is no block"):
            wrong("tone")
    with pytest.raises(KeyError):
        blocks["tone"]


def test_a_text_beyond_the_limit_is_refused_and_not_cut():
    blocks = MemoryStream("maria").blocks
    blocks.set("user", "x" * 2000)
    with pytest.raises(UsageError, match="2001 of 2000"):
        blocks.set("user", "x" * 2001)
    blocks.set("user", "x" * 2001, limit=3000)
    blocks.set("user", "y" * 3000)
    assert blocks.limit("user") == 3000
    with pytest.raises(UsageError, match="3000 of 100"):
        blocks.set("user", "y" * 3000, limit=100)
    for name, text in (("", "x"), ("a", 5), (None, "x")):
        with pytest.raises(UsageError):
            blocks.set(name, text)
    assert [*blocks] == ["user"]


def test_the_latest_twenty_texts_are_kept():
    blocks = MemoryStream("maria").blocks
    for number in range(30):
        blocks.set("n", str(number), at=hours(number))
    assert [one["text"] for one in blocks.history("n")] == [str(number) for number in range(9, 29)]


@pytest.mark.parametrize("name", ["store.db", "store.jsonl/", "chroma"])
def test_every_store_keeps_them_also_before_the_first_memory(name, tmp_path):
    where = f"{tmp_path}/{name}"
    if name == "chroma":
        pytest.importorskip("chromadb")
        where = f"chroma:{tmp_path}/chroma"
    with MemoryStream.open(where, "마리아") as stream:
        stream.blocks.set("user", "이름은 마리아", at=hours(1))
        stream.remember("빵을 굽는다", at=hours(1))
        stream.blocks.set("user", "이름은 마리아, 제빵사", at=hours(2))
    with MemoryStream.open(where, "마리아") as stream:
        assert dict(stream.blocks) == {"user": "이름은 마리아, 제빵사"}
        assert stream.blocks.history("user") == [{"text": "이름은 마리아", "until": "2031-10-04T08:00:00Z"}]
        assert [memory.text for memory in stream] == ["빵을 굽는다"]
        stream.remember("새 기억", at=hours(3))
        assert len(stream.blocks) == 1
        stream.delete()
        assert len(stream.blocks) == 0


def test_others_bring_them_in_and_nothing_is_lost(tmp_path):
    path = tmp_path / "store.db"
    with MemoryStream.open(path, "maria") as one, MemoryStream.open(path, "maria") as other:
        one.blocks.set("a", "1")
        other.blocks.set("b", "2")
        other.remember("bread", at=hours(1))
        one.blocks.set("a", "3")
        other.refresh()
        assert dict(one.blocks) == dict(other.blocks) == {"a": "3", "b": "2"}
        assert [memory.text for memory in one] == ["bread"]


def test_they_outlast_other_vectors_and_an_index(tmp_path):
    path = tmp_path / "store.db"
    with MemoryStream.open(path, "maria") as stream:
        stream.add_many([f"note {number}" for number in range(1100)], at=hours(1))
        stream.blocks.set("user", "Maria")
    with MemoryStream.open(path, "maria") as stream:
        assert dict(stream.blocks) == {"user": "Maria"}
    with MemoryStream.open(path, "maria", embedder=WordCounts(), reembed=True) as stream:
        assert dict(stream.blocks) == {"user": "Maria"}
    store = open_store(path)
    assert load(store, "maria").settings["blocks"]["user"]["text"] == "Maria"
    store.close()


def test_an_export_has_them_and_an_import_adds_what_is_missing(tmp_path):
    stream = MemoryStream("maria")
    stream.blocks.set("user", "Maria", at=hours(1))
    stream.export(tmp_path / "blocks")
    assert (tmp_path / "blocks").read_text(encoding="utf-8").count("\n") == 1
    stream.blocks.set("user", "Maria, a baker", limit=50, at=hours(2))
    stream.blocks.set("tone", "brief", at=hours(2))
    for text in ("bread", "milk"):
        stream.remember(text, at=hours(3))
    assert stream.export(tmp_path / "all") == 2
    rows = [json.loads(line) for line in (tmp_path / "all").read_text(encoding="utf-8").splitlines()]
    assert [sorted(row.get("blocks", ())) for row in rows] == [["tone", "user"], []]

    with MemoryStream.open(tmp_path / "new.db", "other") as other:
        assert len(other.import_(tmp_path / "all")) == 2
    with MemoryStream.open(tmp_path / "new.db", "other") as other:
        assert dict(other.blocks) == dict(stream.blocks)
        assert other.blocks.history("user") == stream.blocks.history("user") != []
        assert other.blocks.limit("user") == 50
        assert other.import_(tmp_path / "blocks") == []
        assert other.blocks["user"] == "Maria, a baker"  # it was there


@pytest.mark.parametrize(
    "blocks",
    [
        7,
        {"a": 7},
        {"a": {"text": 1}},
        {"a": {"text": "", "limit": 0}},
        {"a": {"text": "", "history": [1]}},
        {"a": {"text": "", "history": 7}},
    ],
)
def test_what_is_no_block_is_refused_with_its_line(blocks, tmp_path):
    path = tmp_path / "bad.jsonl"
    good = {"text": "bread", "created_at": "2031-10-04T08:00:00Z"}
    path.write_text(f"{json.dumps(good)}\n{json.dumps({**good, 'blocks': blocks})}\n", encoding="utf-8")
    stream = MemoryStream("maria")
    with pytest.raises(UsageError, match="not a memory") as refused:
        stream.import_(path)
    assert str(refused.value).startswith(f"{path}:2")
    assert len(stream) == 0 and dict(stream.blocks) == {}
