"""Short streams that nobody asks: they take a few kB of RAM, and answer as if they had never slept."""

from __future__ import annotations

import gc
import random
import tracemalloc
from contextlib import closing
from datetime import timedelta

import pytest

from commonplace.memory import Draft, MemoryStream
from commonplace.memory import stream as streams
from commonplace.memory.embedding import GivenVectors
from commonplace.memory.stores import open_store
from commonplace.memory.table import MemoryTable
from commonplace.testing.stores import START, together
from memory.stores.test_index import ALL, Model, alike, change, opened

LATER = START + timedelta(days=30)
QUESTION = "what does Klaus say about the festival?"


def sleeps(stream: MemoryStream) -> bool:
    return not isinstance(stream._table, MemoryTable)


def filled(store, count: int, memories: int = 20) -> None:
    words = [f"{one}{other}" for one in ("lan", "fes", "gar", "sto", "mil") for other in ("tern", "tival", "den", "ve")]
    for user in range(count):
        chance = random.Random(user)
        with MemoryStream.open(store, f"user {user}") as stream:
            said = [f"Klaus says that {' '.join(chance.choices(words, k=6))} {number}" for number in range(memories)]
            stream.add_many(said, at=START)


def traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_an_idle_stream_of_twenty_memories_takes_five_kilobytes(tmp_path):
    with closing(open_store(tmp_path / "users.db")) as store:
        filled(store, 240)
        tracemalloc.start()
        try:
            first = [MemoryStream.open(store, f"user {user}") for user in range(40)]  # some of these stay awake
            opened = traced()
            more = [MemoryStream.open(store, f"user {user}") for user in range(40, 240)]
            assert traced() - opened < 200 * 5_000
            for stream in [*more, *first]:
                stream.recall(QUESTION, at=LATER)
            shared = 240 * 4_000 + streams._MOST_AWAKE * 60_000  # caches, and what is awake
            assert traced() - opened < 240 * 4_000 + shared
        finally:
            tracemalloc.stop()
        assert sum(map(sleeps, [*first, *more])) == 240 - streams._MOST_AWAKE


@pytest.mark.parametrize("seed", range(12))
def test_a_stream_that_sleeps_answers_as_one_that_never_does(tmp_path, seed):
    made = (None, Model(True), Model(False), GivenVectors("given", 8))[seed % 4]
    parts, slept = {"embedder": made, "policy": random.Random(seed).choice(ALL)}, 0
    with opened(tmp_path / "one.db", **parts) as one, opened(tmp_path / "other.db", **parts) as other:
        for step in range(40):
            change(one, random.Random(f"{seed} {step}"))
            change(other, random.Random(f"{seed} {step}"))
            slept += one._packs() and sleeps(one)
            if step % 8 == 7:
                alike(one, other, random.Random(step))
    assert slept or made, "what was given as a vector and is none keeps a stream awake"


def test_streams_that_threads_wake_and_put_to_sleep_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_MOST_AWAKE", 2)
    with closing(open_store(tmp_path / "users.db")) as store:
        users = [MemoryStream.open(store, f"user {user}") for user in range(6)]

        def live(thread: int) -> None:
            chance = random.Random(thread)
            for number in range(25):
                stream = chance.choice(users)
                stream.remember(f"lantern {thread} {number}", at=START)
                assert stream.recall("lantern", at=LATER)[0].memory.agent == stream.agent

        together(*[lambda n=n: live(n) for n in range(16)])
        said = sorted(memory.text for stream in users for memory in stream)
        assert said == sorted(f"lantern {thread} {number}" for thread in range(16) for number in range(25))
        for stream in users:
            stream.flush()
            with MemoryStream.open(store, stream.agent) as other:
                assert list(stream) == list(other)


def test_a_stream_stays_awake_while_it_is_used_has_a_draft_or_is_long(tmp_path):
    with closing(open_store(tmp_path / "users.db")) as store, MemoryStream.open(store, "maria") as stream:
        stream.add_many([f"lantern {number}" for number in range(streams._SHORT - 1)], at=START)
        with stream.guard:
            together(lambda: pytest.fail("it is in use") if stream._packs() else None)
        draft = Draft(stream)
        draft.remember("the stove is lit", at=START)
        assert not stream._packs()
        stream.apply(draft.delta)
        assert stream._packs()
        assert sleeps(stream)
        stream.remember("the stove is out", at=START)
        assert stream._packs()
        assert not sleeps(stream), "it is long"


def test_what_a_stream_gave_before_it_slept_can_still_be_read(tmp_path):
    with closing(open_store(tmp_path / "users.db")) as store, MemoryStream.open(store, "maria") as stream:
        stream.add_many(["the stove is lit", "the lantern hangs"], at=START)
        found, snapshot = stream.retrieve("stove", at=LATER), stream.snapshot()
        weighed, backwards = found[0].relevance, stream.backwards()
        stream._packs()
        assert sleeps(stream)
        assert found[0].relevance == weighed
        assert [memory.text for memory in backwards] == ["the lantern hangs", "the stove is lit"]
        assert snapshot.recall("stove", at=LATER) == stream.recall("stove", at=LATER, touch=False)
        stream._packs()
        assert stream.get(1).accessed_at == LATER
        stream._packs()
        assert not stream.why_not(1, found).parts, "it is a hit"
