"""Several base URLs share the work."""

from __future__ import annotations

import asyncio
import threading

import pytest

from commonplace.parts.model_servers.client import Outage
from parts.model_servers.local_server import RATING, LocalServer, Sent, completion, minded, request_key, using

GOOD = completion('{"ratings": [{"importance": 4}]}')


async def many(mind, count=24):
    return await asyncio.gather(*(mind.answer(RATING, request_key(n)) for n in range(count)), return_exceptions=True)


def test_the_one_with_the_least_to_do_is_asked():
    everybody = threading.Barrier(24)  # nobody is answered before all have asked

    def patient(*_):
        everybody.wait(60)
        return Sent(GOOD)

    with LocalServer(patient) as one, LocalServer(patient) as two, LocalServer(patient) as three:
        replies = using(minded(f"{one.url},{two.url},{three.url}", timeout=60.0), many)
    assert all(reply.outcome == "value" for reply in replies)
    assert [len(server.asked) for server in (one, two, three)] == [8, 8, 8]


def test_one_that_fails_is_left_alone_while_the_others_answer():
    with LocalServer(lambda *_: Sent(reset=True)) as bad, LocalServer() as good:
        mind = minded(f"{bad.url},{good.url}")

        async def one_by_one(mind):
            return [await mind.answer(RATING, request_key(n)) for n in range(10)]

        replies = using(mind, one_by_one)
    assert all(reply.outcome == "value" for reply in replies)
    assert len(bad.asked) == 1
    assert len(good.asked) == 10


def test_one_that_recovers_is_asked_again(monkeypatch):
    monkeypatch.setattr("commonplace.parts.model_servers.client.PAUSE", 0.0)
    with (
        LocalServer(lambda body, number: Sent(reset=True) if number == 0 else Sent(GOOD)) as shaky,
        LocalServer() as good,
    ):
        using(minded(f"{shaky.url},{good.url}"), many)
    assert len(shaky.asked) > 1


def test_only_when_all_are_gone_is_it_an_outage():
    with LocalServer(lambda *_: Sent(status=503)) as one, LocalServer(lambda *_: Sent(reset=True)) as two:
        mind = minded(f"{one.url},{two.url}")
        with pytest.raises(Outage) as outage:
            using(mind, lambda mind: mind.answer(RATING, request_key()))
    assert one.url in str(outage.value)
    assert two.url in str(outage.value)
    assert one.asked
    assert two.asked
