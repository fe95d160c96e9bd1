"""Memories in a file of JSON lines: from any stream into any other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Emotion, MemoryStream
from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import load
from commonplace.testing.stores import WordCounts
from commonplace.text import clean
from memory.naive import hours
from parts.coordinates.documents import json as json_values
from sizes import examples


def shown(stream: MemoryStream, shift: int = 0, *, vectors: bool = True):
    """All that is in a stream, ids moved."""
    memories = sorted([*stream, *stream.archived], key=lambda memory: memory.id)
    return [
        (
            replace(memory, id=memory.id + shift, agent="", citations=tuple(id + shift for id in memory.citations)),
            memory.id in {one.id for one in stream.archived},
            None
            if not vectors or stream.table.vector(memory.id - 1) is None
            else stream.table.vector(memory.id - 1).tolist(),
        )
        for memory in memories
    ]


plain = st.text(max_size=12)
drawn_memories = st.fixed_dictionaries(
    {
        "text": plain.filter(clean),
        "at": st.datetimes(timezones=st.just(UTC)),
        "importance": st.floats(1, 10),
        "tick": st.integers(0, 9),
        "place": st.lists(plain, max_size=2),
        "tags": st.lists(plain, max_size=2),
        "source": plain,
        "session": plain,
        "event": plain,
        "details": st.dictionaries(plain.map("x".__add__), json_values, max_size=2),
        "emotion": st.none() | st.builds(Emotion, st.floats(-1, 1), st.floats(0, 1), keywords=st.tuples(plain)),
        "embedding": st.lists(st.floats(-9, 9, width=32), min_size=4, max_size=4),
    }
)


@examples(60)
@given(drawn=st.lists(drawn_memories, max_size=4), vectors=st.booleans())
def test_what_was_exported_is_imported_as_it_was(tmp_path_factory, drawn, vectors):
    path = tmp_path_factory.mktemp("x") / "maria.jsonl"
    stream = MemoryStream("maria", embedder=WordCounts())
    for number, fields in enumerate(drawn):
        more = {"kind": "reflection", "citations": [1]} if number > 1 else {}
        stream.remember(**fields, **more)
    stream.recall("a", at=datetime.max.replace(tzinfo=UTC), k=1)
    if len(drawn) > 2:
        stream.archive([2])
    assert stream.export(path, vectors=vectors) == len(drawn)
    other = MemoryStream("klaus", embedder=WordCounts())
    other.remember("before", at=hours(0))
    assert len(other.import_(path)) == len(drawn)
    assert shown(other, vectors=vectors)[1:] == shown(stream, 1, vectors=vectors)


def test_from_any_store_into_any_other(tmp_path):
    places = [tmp_path / "s.db", f"{tmp_path}/folder/"]
    for source, target in (places, places[::-1]):
        with MemoryStream.open(source, "maria", embedder=WordCounts()) as stream:
            stream.add_many(["lantern 난로", "stove"], at=hours(1))
            stream.remember("both", at=hours(1), kind="reflection", citations=[1])
            stream.forget([2])
            stream.revise(1, text="kite")
            count = stream.export(tmp_path / "x.jsonl")
        with MemoryStream.open(target, "klaus", embedder=WordCounts()) as other:
            added = other.import_(tmp_path / "x.jsonl")
            assert len(added) == count
            assert other.history(added[0].id)[0]["text"].startswith("lantern")
            assert {added[1].citations} == {(added[0].id,)}


def test_vectors_of_another_embedder_are_made_again(tmp_path):
    stream = MemoryStream("maria")
    stream.remember("a lantern", at=hours(0))
    stream.export(tmp_path / "x.jsonl")
    other = MemoryStream("maria", embedder=WordCounts())
    other.import_(tmp_path / "x.jsonl")
    assert other.vector(1).tolist() == WordCounts().embed(["a lantern"])[0].tolist()


def test_what_is_cited_and_not_in_the_file_is_kept_as_a_note(tmp_path):
    rows = [
        {"id": 7, "text": "one", "created_at": "2031-01-01"},
        {"id": 8, "text": "two", "created_at": "2031-01-01T00:00:00Z", "kind": "reflection", "citations": [3, 7]},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)))
    one, two = MemoryStream("maria").import_(path)
    assert (two.citations, two.details) == ((one.id,), {"source_citations": [3, 7]})


FINE = {"text": "fine", "created_at": "2031-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "wrong",
    [
        b"{", b"[]", b"7", b"\xff", b"NaN", b'{"text": "x"}', b"[" * 100_000, b'{"text": "x", "created_at": 3}',
        *(json.dumps({**FINE, **more}).encode() for more in (
            {"text": " "}, {"text": 3}, {"created_at": "soon"}, {"created_at": "9999-12-31T23:59:59-12:00"},
            {"kind": "dream"}, {"id": 0}, {"id": 1}, {"citations": "x"}, {"tags": "x"}, {"place": [3]}, {"tick": -1},
            {"emotion": 3}, {"emotion": {"valence": 9, "arousal": 0}}, {"emotion": {"x": 1}},
            {"emotion": {"valence": 0, "arousal": 0, "keywords": [1]}}, {"details": 3}, {"importance": "x"},
            {"accessed_at": 3}, {"embedder": "word-counts", "embedding": "x"}, {"source": 3},
        )),
    ],
)  # fmt: skip
def test_a_line_that_is_no_memory_is_named_and_nothing_is_imported(tmp_path, wrong):
    path = tmp_path / "x.jsonl"
    path.write_bytes(json.dumps({**FINE, "id": 1}).encode() + b"\n\n" + wrong + b"\n")
    stream = MemoryStream("maria", embedder=WordCounts())
    with pytest.raises(UsageError) as caught:
        stream.import_(path)
    assert f"{path}:3" in str(caught.value)
    assert len(stream) == 0


@examples(60)
@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 9))
def test_a_file_that_was_damaged_is_read_or_refused(tmp_path_factory, noise, place, cut):
    folder = tmp_path_factory.mktemp("x")
    stream = MemoryStream("maria", embedder=WordCounts())
    stream.add_many(["lantern", "stove"], at=hours(0))
    stream.export(folder / "x.jsonl")
    data = (folder / "x.jsonl").read_bytes()
    (folder / "x.jsonl").write_bytes(data[:place] + noise + data[place + cut :])
    try:
        MemoryStream("maria", embedder=WordCounts()).import_(folder / "x.jsonl")
    except UsageError as error:
        assert "x.jsonl:" in str(error)


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(CommonplaceError, match="cannot be read"):
            MemoryStream("maria").import_(path)


def test_what_a_store_cannot_hold_is_not_half_imported(tmp_path):
    store = open_store(tmp_path / "s.db")
    stream = MemoryStream.open(store, "maria")
    assert stream.import_(_written(tmp_path, [FINE] * 3))[2].id == 3
    assert len(load(store, "maria").memories) == 3
    store.close()


def _written(folder, rows):
    path = folder / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path
