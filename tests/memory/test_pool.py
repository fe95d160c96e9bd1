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


def told(path, **pages):
    memories = Memories(path)
    for agent, texts in pages.items():
        with memories.stream(agent) as stream:
            stream.add_many(texts, at=START)
    return memories


def test_several_characters_are_asked_at_once(tmp_path):
    with told(
        tmp_path / "users.db",
        alice=["The boat leaves at nine", "Alice is allergic to nuts", "Nuts are sold at the market"],
        bob=["Bob collects stamps", "Bob has a boat"],
        cook=["No nuts for Alice: she is allergic", "Bread at six"],
    ) as memories:
        hits = memories.recall("who is allergic to nuts?", ["alice", "bob", "cook"], at=START + timedelta(days=1), k=3)
        assert [(hit.rank, hit.memory.agent, hit.memory.id) for hit in hits] == [
            (1, "alice", 2),
            (2, "cook", 1),
            (3, "alice", 3),
        ]
        assert [hit.relevance for hit in hits] == sorted([hit.relevance for hit in hits], reverse=True)
        with memories.stream("alice") as stream:
            assert stream.get(2).accessed_at == START, "nothing was accessed"
        assert memories.recall("nuts", [], at=START) == []
        assert memories.recall("nuts", ["nobody"], at=START) == []
        with pytest.raises(UsageError, match="single string"):
            memories.recall("nuts", "alice", at=START)


def test_the_hits_of_one_character_keep_their_order(tmp_path):
    chat = [
        {"role": "user", "name": "Klaus", "content": "Where does the boat leave?"},
        {"role": "user", "name": "Maria", "content": "At pier nine"},
        {"role": "user", "name": "Klaus", "content": "Thanks"},
    ]
    others = [{"text": f"the boat {number}", "at": START + timedelta(days=number)} for number in range(1, 4)]
    with told(
        tmp_path / "users.db", a=[*({**one, "created_at": START} for one in chat), *others], b=others
    ) as memories:
        asked, at = "where does the boat leave?", START + timedelta(days=9)
        merged = memories.recall(asked, ["a", "b"], at=at, k=9)
        for agent in "ab":
            with memories.stream(agent) as stream:
                alone = stream.recall(asked, at=at, k=9, touch=False)
            assert [hit.memory for hit in merged if hit.memory.agent == agent] == [hit.memory for hit in alone]
            if agent == "a":
                each = [hit.relevance for hit in alone]
                assert each != sorted(each, reverse=True), "its order is not that of relevance"
        assert [hit.rank for hit in merged] == [*range(1, 10)]


def test_without_a_question_the_newest_of_all_come_first(tmp_path):
    with Memories(tmp_path / "users.db") as memories:
        for number in range(6):
            with memories.stream("ab"[number % 2]) as stream:
                stream.remember(f"note {number}", at=START + timedelta(hours=number))
        hits = memories.recall("", ["a", "b"], at=START + timedelta(days=1), k=4)
        assert [hit.memory.text for hit in hits] == ["note 5", "note 4", "note 3", "note 2"]


def test_filters_and_expiry_hold_for_every_character(tmp_path):
    with Memories(tmp_path / "users.db") as memories:
        for agent in ("alice/cook", "alice/coach", "bob/cook"):
            with memories.stream(agent) as stream:
                stream.remember("Likes soup", at=START, session="monday", expires_at=START + timedelta(hours=5))
                stream.remember("Likes rice soup", at=START, session="friday")
        assert memories.agents("alice/") == ("alice/coach", "alice/cook")
        assert memories.agents() == ("alice/coach", "alice/cook", "bob/cook")
        hits = memories.recall("soup", memories.agents("alice/"), at=START, session="monday")
        assert [(hit.memory.agent, hit.memory.id) for hit in hits] == [("alice/coach", 1), ("alice/cook", 1)]
        hits = memories.recall("soup", memories.agents("alice/"), at=START + timedelta(hours=5))
        assert [(hit.memory.agent, hit.memory.id) for hit in hits] == [("alice/coach", 2), ("alice/cook", 2)]
