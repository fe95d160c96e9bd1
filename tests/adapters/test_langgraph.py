"""A stream as LangGraph's store: what its `InMemoryStore` does, kept, with times to live and better questions."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from commonplace.adapters.langgraph import StreamStore
from commonplace.errors import UsageError
from commonplace.memory import MemoryStream

START = datetime(2031, 10, 4, 6, tzinfo=UTC)


class Hours:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Hours:
    return Hours()


@pytest.fixture
def store(clock) -> StreamStore:
    return StreamStore(MemoryStream("notes"), clock=clock)


NAMESPACES = [("users",), ("users", "1"), ("users", "2"), ("users", "1", "facts"), ("docs", "1"), ("docs", "1 ")]
VALUES = [
    {"text": "Klaus is allergic to nuts", "n": 1},
    {"text": "bread", "n": 2.5, "more": {"color": "red", "deep": [1, 2]}},
    {"n": None},
    {},
    {"text": ["a", "b"], "n": "7", "flag": True},
]
FILTERS = [
    None,
    {},
    {"text": "bread"},
    {"n": 1},
    {"n": {"$gte": 0, "$lt": 3}},
    {"n": {"$ne": 1}},
    {"n": {"$eq": 2.5}},
    {"more": {"color": "red"}},
    {"more": {"deep": [1, 2]}},
    {"more": {"deep": {"$eq": [1, 2]}}},
    {"flag": True, "text": ["a", "b"]},
    {"unknown": None},
]
CONDITIONS = [
    None,
    (MatchCondition("prefix", ("users",)),),
    (MatchCondition("suffix", ("1",)),),
    (MatchCondition("prefix", ("*", "1")), MatchCondition("suffix", ("facts",))),
    (MatchCondition("suffix", ("users", "*")),),
]


def plain(items) -> list[tuple[object, ...]]:
    return sorted(((one.namespace, one.key, repr(one.value)) for one in items), key=repr)


def operation(chance: random.Random):
    namespace, key = chance.choice(NAMESPACES), chance.choice(["a", "b", "c"])
    match chance.randrange(6):
        case 0:
            return GetOp(namespace, key)
        case 1:
            return SearchOp(namespace[: chance.randrange(3)], chance.choice(FILTERS), limit=100)
        case 2:
            return PutOp(namespace, key, None)
        case _:
            return PutOp(namespace, key, chance.choice(VALUES), index=chance.choice([None, False, ["text"]]))


def searched(store, op):
    """The result of a search, or that a value cannot be compared, which here passes no filter."""
    try:
        return plain(store.batch([op])[0])
    except (TypeError, ValueError):
        return None


@pytest.mark.parametrize("seed", range(12))
def test_it_does_what_the_store_in_ram_does(seed, tmp_path):
    chance, theirs = random.Random(seed), InMemoryStore()
    for round in range(3):  # it is opened again in between
        with MemoryStream.open(tmp_path / "notes.db", "notes") as stream:
            ours = StreamStore(stream)
            for _ in range(8):
                ops = [operation(chance) for _ in range(chance.randint(1, 5))]
                if any(isinstance(op, SearchOp) and searched(theirs, op) is None for op in ops):
                    continue
                for mine, wanted in zip(ours.batch(ops), theirs.batch(ops), strict=True):
                    if isinstance(wanted, list):
                        assert plain(mine) == plain(wanted)
                    else:
                        assert (mine and plain([mine])) == (wanted and plain([wanted]))
            for namespace in [one for one, items in theirs._data.items() if not items]:
                del theirs._data[namespace]  # it goes on listing what is empty
            for conditions in CONDITIONS:
                for depth in (None, 1, 2):
                    op = ListNamespacesOp(conditions, depth, 100, 0)
                    assert ours.batch([op]) == theirs.batch([op])
            for filter in FILTERS:
                op = SearchOp((), filter, limit=1000)
                if (wanted := searched(theirs, op)) is not None:
                    assert searched(ours, op) == wanted, (round, filter)


def test_an_item_is_put_read_replaced_and_deleted(store, clock):
    store.put(("users", "1"), "food", {"text": "no nuts"})
    clock.now += timedelta(hours=1)
    store.put(("users", "1"), "food", {"text": "no nuts, no fish"})
    item = store.get(("users", "1"), "food")
    assert item.dict() == {
        "namespace": ["users", "1"],
        "key": "food",
        "value": {"text": "no nuts, no fish"},
        "created_at": "2031-10-04T06:00:00+00:00",
        "updated_at": "2031-10-04T07:00:00+00:00",
    }
    item.value["text"] = "changed outside"
    assert store.get(("users", "1"), "food").value == {"text": "no nuts, no fish"}
    store.delete(("users", "1"), "food")
    assert store.get(("users", "1"), "food") is None
    assert store.list_namespaces() == []
    store.delete(("users", "1"), "food")


def test_a_question_ranks_what_is_indexed_and_the_rest_comes_last(store):
    store.put(("users", "1"), "a", {"text": "Klaus is allergic to nuts", "mood": "calm"})
    store.put(("users", "1"), "b", {"text": "The stove is burning", "mood": "allergic"}, index=["text"])
    store.put(("users", "2"), "c", {"text": "Maria is allergic to dust"})
    store.put(("users", "1"), "d", {"text": "allergic, but not indexed"}, index=False)
    found = store.search(("users", "1"), query="who is allergic to nuts?")
    assert [item.key for item in found] == ["a", "b", "d"]
    assert found[0].score > 0.5 and found[1].score < found[0].score and found[2].score is None
    assert [item.key for item in store.search(("users",), query="nuts", filter={"mood": "allergic"})] == ["b"]
    assert [item.key for item in store.search((), query="stove", limit=1, offset=0)] == ["b"]
    assert [item.key for item in store.search((), query="  ")] == ["d", "c", "b", "a"]
    assert [item.key for item in store.search((), limit=2, offset=1)] == ["c", "b"]


def test_fields_say_what_is_found():
    store = StreamStore(MemoryStream("notes"), fields=["title", "parts[*].text"])
    store.put(("docs",), "a", {"title": "Bread", "parts": [{"text": "flour"}, {"text": "yeast"}], "note": "stove"})
    assert [memory.text for memory in store._stream] == ["Bread flour yeast"]


def test_items_last_until_nobody_has_read_them_for_their_minutes(store, clock):
    store.put(("users",), "a", {"text": "here for ten minutes"}, ttl=10)
    store.put(("users",), "b", {"text": "here for good"})
    clock.now += timedelta(minutes=9)
    assert store.get(("users",), "a", refresh_ttl=False)
    clock.now += timedelta(minutes=1)
    assert store.get(("users",), "a") is None
    assert [item.key for item in store.search((), query="here")] == ["b"]
    assert store.sweep_ttl() == 1 and store.sweep_ttl() == 0
    store.put(("users",), "c", {"text": "read again and again"}, ttl=10)
    for read in (store.get, lambda *_: store.search(("users",)), store.get):
        clock.now += timedelta(minutes=8)
        assert read(("users",), "c")
    clock.now += timedelta(minutes=10)
    assert store.get(("users",), "c") is None
    assert store.list_namespaces() == [("users",)]


def test_its_configuration_gives_items_their_time(clock):
    store = StreamStore(MemoryStream("notes"), ttl={"default_ttl": 5, "refresh_on_read": False}, clock=clock)
    store.put(("users",), "a", {})
    store.put(("users",), "b", {}, ttl=None)
    clock.now += timedelta(minutes=4)
    assert store.get(("users",), "a")
    clock.now += timedelta(minutes=1)
    assert [item.key for item in store.search(())] == ["b"]


def test_all_of_a_batch_read_what_was_before_and_the_last_put_counts(store):
    results = store.batch(
        [PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k"), PutOp(("a",), "k", {"n": 2}), SearchOp(())]
    )
    assert results == [None, None, None, []]
    assert store.get(("a",), "k").value == {"n": 2}
    with pytest.raises(UsageError):
        store.batch([PutOp(("a",), "k", {"n": 3}), PutOp(("a",), "other", {"n": object()})])
    assert store.get(("a",), "k").value == {"n": 2}


def test_names_are_those_langgraph_allows(store):
    for namespace in ((), ("langgraph",), ("a.b",), ("",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    with pytest.raises(ValueError, match="operator"):
        store.put(("a",), "k", {"n": 1})
        store.search((), filter={"n": {"$near": 1}})


def test_two_stores_of_one_character_see_each_other(tmp_path):
    path = tmp_path / "notes.db"
    with MemoryStream.open(path, "notes") as one, MemoryStream.open(path, "notes") as other:
        first, second = StreamStore(one), StreamStore(other)
        first.put(("a",), "k", {"n": 1})
        assert second.get(("a",), "k").value == {"n": 1}
        second.put(("a",), "k", {"n": 2})
        assert [item.value for item in first.search(())] == [{"n": 2}]
        first.delete(("a",), "k")
        assert second.search(()) == []
        one.remember("a memory that is no item", at=START)
        assert second.search(()) == [] and second.list_namespaces() == []


def test_in_an_event_loop(store):
    async def use() -> None:
        await store.aput(("a",), "k", {"text": "Klaus reads"})
        assert (await store.aget(("a",), "k")).value == {"text": "Klaus reads"}
        assert [item.key for item in await store.asearch((), query="who reads?")] == ["k"]
        assert await store.alist_namespaces() == [("a",)]
        await store.adelete(("a",), "k")
        assert await store.aget(("a",), "k") is None

    asyncio.run(use())
