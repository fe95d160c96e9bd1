"""The twins for `async` callers: the same calls, without blocking the event loop."""

from __future__ import annotations

import asyncio
from threading import Event, current_thread, main_thread

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream
from commonplace.testing.stores import WordCounts
from memory.naive import hours


def test_they_give_what_the_calls_give():
    async def use() -> None:
        stream = MemoryStream("maria")
        memory = await stream.aremember("Klaus reads", at=hours(0), importance=6)
        added = await stream.aadd_many(["Maria bakes", {"role": "user", "content": "hello"}], at=hours(1))
        assert [memory, *added] == list(stream)
        assert await stream.arecall("Klaus", at=hours(2), touch=False) == stream.recall(
            "Klaus", at=hours(2), touch=False
        )
        found = await stream.aretrieve("Klaus", at=hours(2), k=1)
        assert found.ids == (1,)
        assert await stream.asearch(kinds="observation", limit=1) == [added[1]]
        assert await stream.aforget([2, 3]) == (2, 3)
        with pytest.raises(UsageError):
            await stream.aremember("", at=hours(0))
        assert [hit.memory.id for hit in await Draft(stream).arecall("Klaus", at=hours(3))] == [1]

    asyncio.run(use())


def test_the_loop_goes_on_while_an_embedder_waits():
    goes_on, threads = Event(), []

    class Slow(WordCounts):
        def embed(self, texts):
            threads.append(current_thread())
            assert goes_on.wait(60)
            return super().embed(texts)

    async def use() -> None:
        stream = MemoryStream("maria", embedder=Slow())
        remembering = asyncio.create_task(stream.aremember("a lantern", at=hours(0)))
        await asyncio.sleep(0)
        assert len(await stream.asearch()) == 0  # others are not held up, either
        goes_on.set()
        assert (await remembering).id == 1

    asyncio.run(use())
    assert main_thread() not in threads


def test_many_at_once_lose_nothing():
    async def use() -> None:
        stream = MemoryStream("maria")
        kept = await asyncio.gather(*[stream.aremember(f"lantern {number}", at=hours(number)) for number in range(60)])
        assert sorted(memory.id for memory in kept) == list(range(1, 61))
        assert {memory.id: memory.text for memory in stream} == {memory.id: memory.text for memory in kept}

    asyncio.run(use())


def test_they_are_named_and_documented():
    assert MemoryStream.arecall.__name__ == "arecall"
    assert "`recall`" in MemoryStream.arecall.__doc__
