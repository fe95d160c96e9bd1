"""A bounded pool of streams: what is used stays open, what is not is written and closed."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Memories, MemoryStream
from commonplace.memory.stores import open_store
from commonplace.testing.stores import START, together


def test_the_stream_used_longest_ago_is_closed_and_keeps_what_it_was_told(tmp_path):
    with Memories(tmp_path / "users.db", max_open=2) as memories:
        for number in range(5):
            with memories.stream(f"user {number}") as stream:
                stream.remember(f"I am number {number}", at=START)
                stream.recall("number", at=START + timedelta(days=2))
            assert len(memories) <= 2
        with memories.stream("user 0") as stream:
            assert [memory.text for memory in stream] == ["I am number 0"]
            assert stream.get(1).accessed_at == START + timedelta(days=2)
        with memories.stream("user 0") as again:
            assert again is stream
        assert memories.store.agents() == tuple(f"user {number}" for number in range(5))
    with MemoryStream.open(tmp_path / "users.db", "user 4") as stream:
        assert stream.get(1).accessed_at == START + timedelta(days=2)


def test_streams_in_use_are_not_closed(tmp_path):
    with Memories(tmp_path / "users.db", max_open=1) as memories:
        with memories.stream("a") as first, memories.stream("b") as second, memories.stream("a") as same:
            assert same is first
            assert len(memories) == 2
            second.remember("hello", at=START)
            assert first.remember("hello", at=START).id == 1
        assert len(memories) == 1


def test_a_store_that_was_given_stays_open(tmp_path):
    store = open_store(tmp_path / "users.db")
    memories = Memories(store)
    with memories.stream("a") as stream:
        stream.remember("hello", at=START)
    memories.close()
    memories.close()
    assert store.agents() == ("a",)
    with pytest.raises(UsageError, match="closed"), memories.stream("a"):
        pass
    store.close()


def test_what_is_wrong_is_refused_and_leaves_nothing_open(tmp_path):
    with pytest.raises(UsageError, match="max_open"):
        Memories(tmp_path / "users.db", max_open=0)
    with Memories(tmp_path / "users.db") as memories:
        with pytest.raises(UsageError), memories.stream(""):
            pass
        with pytest.raises(ZeroDivisionError), memories.stream("a"):
            raise ZeroDivisionError
        assert len(memories) == 1


def test_many_threads_share_few_streams_and_lose_nothing(tmp_path):
    with Memories(tmp_path / "users.db", max_open=3) as memories:

        def work(thread: int) -> None:
            chance = random.Random(thread)
            for number in range(40):
                with memories.stream(f"user {chance.randrange(8)}") as stream:
                    stream.remember(f"{thread} {number}", at=START + timedelta(minutes=number))
                    stream.recall("1 2", at=START + timedelta(days=1), k=2)

        together(*[lambda n=n: work(n) for n in range(8)])
        assert len(memories) <= 3
        said = list[str]()
        for agent in memories.store.agents():
            with memories.stream(agent) as stream:
                said += [memory.text for memory in stream]
        assert sorted(said) == sorted(f"{thread} {number}" for thread in range(8) for number in range(40))
