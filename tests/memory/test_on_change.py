"""What is told of changes: after they are stored, once each, and without a way to break them."""

from __future__ import annotations

import logging
import threading

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Change, Draft, Memories, MemoryStream
from commonplace.memory.stores.store import load
from memory.naive import hours


def short(told: list[Change]) -> list[tuple[str, list[str]]]:
    return [(one.what, [memory.text for memory in one.memories]) for one in told]


def test_each_change_is_told_once_with_its_memories():
    told: list[Change] = []
    stream = MemoryStream("maria", on_change=told.append)
    stream.remember("Klaus reads", at=hours(1))
    stream.add_many(["Maria bakes", "Bread is sold"], at=hours(2))
    stream.revise(1, text="Klaus writes")
    stream.archive([2])
    stream.archive([2])
    stream.unarchive([2])
    stream.forget([3])
    stream.forget([3])
    stream.recall("Klaus", at=hours(3))
    stream.search(text="Klaus")
    assert short(told) == [
        ("added", ["Klaus reads"]),
        ("added", ["Maria bakes", "Bread is sold"]),
        ("revised", ["Klaus writes"]),
        ("archived", ["Maria bakes"]),
        ("restored", ["Maria bakes"]),
        ("forgotten", ["Bread is sold"]),
    ]
    assert {one.agent for one in told} == {"maria"}
    del told[:]
    stream.archive([1])
    assert stream.delete() == 2
    assert short(told[1:]) == [("forgotten", ["Klaus writes", "Maria bakes"])]
    stream.on_change = None
    stream.remember("nobody is told", at=hours(1))
    assert len(told) == 2


def test_what_is_told_is_in_the_store_and_the_lock_is_free(tmp_path):
    found: list[int] = []

    def look(change: Change) -> None:
        found.append(len(load(stream._keeper.store, "maria").memories))
        other = threading.Thread(target=stream.recall, args=("Klaus",), kwargs={"at": hours(2)}, daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive()

    with MemoryStream.open(tmp_path / "store.db", "maria", on_change=look) as stream:
        stream.remember("Klaus reads", at=hours(1))
        stream.add_many(["a", "b"], at=hours(1))
    assert found == [1, 3]


def test_one_that_raises_breaks_nothing(caplog):
    def broken(change: Change) -> None:
        raise RuntimeError("no queue")

    stream = MemoryStream("maria", on_change=broken)
    with caplog.at_level(logging.ERROR, "commonplace.memory"):
        assert stream.remember("Klaus reads", at=hours(1)).id == 1
    assert "no queue" in caplog.text
    assert [memory.text for memory in stream] == ["Klaus reads"]


def test_a_draft_is_told_of_when_it_is_applied():
    told: list[Change] = []
    stream = MemoryStream("maria", on_change=told.append)
    draft = Draft(stream)
    draft.remember("Klaus reads", at=hours(1))
    assert not told
    stream.apply(draft.delta)
    assert short(told) == [("added", ["Klaus reads"])]


def test_what_was_refused_is_not_told():
    told: list[Change] = []
    stream = MemoryStream("maria", on_change=told.append)
    for wrong in (lambda: stream.remember("", at=hours(1)), lambda: stream.forget([7]), lambda: stream.revise(7)):
        with pytest.raises(UsageError):
            wrong()
    assert not told


def test_all_streams_of_a_pool_tell(tmp_path):
    told: list[Change] = []
    with Memories(tmp_path / "users.db", max_open=1, on_change=told.append) as memories:
        for agent in ("a", "b", "a"):
            with memories.stream(agent) as stream:
                stream.remember(f"of {agent}", at=hours(1))
    assert [one.agent for one in told] == ["a", "b", "a"]


def test_a_stream_opened_by_its_index_tells(tmp_path):
    told: list[Change] = []
    with MemoryStream.open(tmp_path / "store.db", "maria") as stream:
        stream.add_many([f"note {number}" for number in range(1100)], at=hours(1))
    with MemoryStream.open(tmp_path / "store.db", "maria", on_change=told.append) as stream:
        assert stream._keeper.files
        stream.forget([1])
    assert short(told) == [("forgotten", ["note 0"])]
