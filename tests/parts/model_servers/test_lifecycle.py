"""Connections and tasks: none is left when nobody waits."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

from parts.model_servers.local_server import RATING, LocalServer, Sent, completion, minded, request_key, using

GOOD = completion('{"ratings": [{"importance": 4}]}')


def settled(server: LocalServer) -> int:
    """Connections still open a moment later."""
    until = time.monotonic() + 2
    while server.connections and time.monotonic() < until:
        time.sleep(0.01)
    return server.connections


def test_rest_ends_every_connection_and_leaves_no_task():
    with LocalServer() as server:
        mind = minded(server.url)

        async def run():
            await asyncio.gather(*(mind.answer(RATING, request_key(n)) for n in range(16)))
            assert server.connections > 0
            await mind.close()
            return asyncio.all_tasks() - {asyncio.current_task()}

        assert asyncio.run(run()) == set()
        assert settled(server) == 0


def test_a_mind_that_rested_answers_again():
    with LocalServer() as server:
        mind = minded(server.url)

        async def twice(mind):
            first = await mind.answer(RATING, request_key())
            await mind.close()
            await mind.close()
            return [first, await mind.answer(RATING, request_key(1))]

        assert [reply.outcome for reply in using(mind, twice)] == ["value", "value"]
        assert server.paths.count("/v1/models") == 1, "what was found out is kept"


def test_a_request_that_is_cancelled_ends():
    with LocalServer(lambda *_: Sent(GOOD, delay=0.5)) as server:
        mind = minded(server.url)

        async def run():
            await mind.capabilities()
            tasks = [asyncio.ensure_future(mind.answer(RATING, request_key(n))) for n in range(8)]
            await asyncio.sleep(0.1)
            for task in tasks:
                task.cancel()
            before = time.monotonic()
            await asyncio.gather(*tasks, return_exceptions=True)
            await mind.close()
            return time.monotonic() - before, asyncio.all_tasks() - {asyncio.current_task()}

        took, left = asyncio.run(run())
        assert took < 0.4
        assert left == set()
        assert settled(server) == 0


def test_one_mind_serves_loops_one_after_another_and_at_once():
    outcomes = []
    with LocalServer(lambda *_: Sent(GOOD, delay=0.05)) as server:
        mind = minded(server.url)

        async def work(mind):
            return [(await mind.answer(RATING, request_key(n))).outcome for n in range(4)]

        using(mind, work)
        threads = [threading.Thread(target=lambda: outcomes.extend(using(mind, work))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes == ["value"] * 12
        assert settled(server) == 0
    gc.collect()


def test_no_proxy_stands_before_a_server_of_this_machine(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with LocalServer() as server:
        assert using(minded(server.url), lambda mind: mind.answer(RATING, request_key())).outcome == "value"
