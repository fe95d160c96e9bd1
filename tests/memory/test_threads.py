"""Streams, drafts and stores that several threads use at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStore, MemoryStream, policies
from commonplace.testing.stores import WordCounts, together
from parts.coordinates.documents import document
from sizes import PROVE

START = datetime(2031, 10, 4, 8, tzinfo=UTC)
EACH = 100 if PROVE else 15


def test_nothing_that_was_remembered_in_ram_is_lost():
    stream = MemoryStream("maria")
    kept: list[Any] = []

    def write(thread: int) -> None:
        for number in range(EACH):
            kept.append(stream.remember(f"lantern {thread} {number}", at=START + timedelta(minutes=number)))

    def read(thread: int) -> None:
        for number in range(EACH):
            hits = stream.recall("lantern", at=START + timedelta(days=1), k=3)
            assert all(hit.memory.text.startswith("lantern") for hit in hits)
            found = stream.search(text=f"{thread} {number}")  # first: others add to it meanwhile
            assert len(list(stream)) >= len(found)

    together(*[lambda n=n: write(n) for n in range(8)], *[lambda n=n: read(n) for n in range(8)])
    assert sorted(memory.id for memory in kept) == list(range(1, 8 * EACH + 1))
    assert {memory.id: memory.text for memory in kept} == {memory.id: memory.text for memory in stream}


@pytest.mark.parametrize("policy", [policies.PARK, policies.RECALL, policies.REPO2023])
def test_streams_that_are_asked_at_once_do_not_mix_up_their_numbers(policy):
    streams = [MemoryStream(f"agent {n}", policy, embedder=WordCounts()) for n in range(4)]
    for size, stream in enumerate(streams, start=1):
        for number in range(10 * size):
            stream.remember(f"lantern {number} of {stream.agent}", at=START + timedelta(hours=number), importance=3)

    def ask(stream: MemoryStream) -> list[Any]:
        return [stream.recall("which lantern 3?", at=START + timedelta(days=9), touch=False) for _ in range(EACH)]

    alone = [ask(stream)[0] for stream in streams]
    with ThreadPoolExecutor(len(streams)) as pool:
        for wanted, answers in zip(alone, pool.map(ask, streams), strict=True):
            assert all(answer == wanted for answer in answers)


def test_a_list_of_memories_is_of_one_moment():
    stream = MemoryStream("maria")
    for number in range(40):
        stream.remember(f"lantern {number}", at=START)
    everything, backwards = iter(stream), stream.backwards()
    next(backwards)
    stream.forget(range(1, 21))
    assert [memory.id for memory in everything] == list(range(1, 41))
    assert [memory.id for memory in backwards] == list(range(39, 0, -1))


def test_a_draft_that_another_thread_closed_says_so():
    stream = MemoryStream("maria")
    refused: list[UsageError] = []

    def draft(thread: int) -> None:
        for number in range(EACH):
            one = Draft(stream)
            try:
                one.remember(f"seen {thread} {number}", at=START)
                stream.apply(one.delta)
            except UsageError as error:
                refused.append(error)

    together(*[lambda n=n: draft(n) for n in range(4)])
    assert all("draft" in str(error) or "delta" in str(error) for error in refused)
    assert stream.last_id == 4 * EACH - len(refused)
    assert [memory.id for memory in stream] == list(range(1, stream.last_id + 1))


def test_one_retrieval_may_be_read_by_many():
    stream = MemoryStream("maria")
    for number in range(20):
        stream.remember(f"lantern {number}", at=START)
    for _ in range(EACH):
        found = stream.retrieve("lantern", at=START)
        seen: list[int] = []
        together(*[lambda found=found, seen=seen: seen.append(len(found.hits)) for _ in range(4)])
        assert seen == [10] * 4


@pytest.mark.parametrize("facades", [1, 2])
def test_documents_added_and_searched_by_threads_are_all_there(tmp_path, facades):
    stores = [MemoryStore(tmp_path / "s") for _ in range(facades)]

    def write(thread: int) -> None:
        for number in range(5):
            stores[thread % facades].add(document(f"lantern {thread} {number}", persona=f"p{thread % 2}"))
            stores[thread % facades].search("lantern")

    together(*[lambda n=n: write(n) for n in range(4)])
    assert len(stores[0].search("lantern", limit=None)) == 20
    for store in stores:
        store.close()


def test_the_tests_helper_reports_what_a_thread_raises():
    barrier = Barrier(2)

    def fail() -> None:
        barrier.wait()
        raise KeyError("x")

    deeds: list[Callable[[], Any]] = [fail, barrier.wait]
    with pytest.raises(KeyError):
        together(*deeds)
