"""Talks of the terminal view: in a thread of their own, closed with the view."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError
from commonplace.parts.live.talk_thread import Talks
from commonplace.run.reading import Reading
from commonplace.talk import folder_of
from commonplace.testing.server import Latency, ModelServer
from e2e.command import copied, ends
from pseudo_terminal import terminal

QUESTION = "What did you do today?"


@pytest.fixture
def run(plaza, tmp_path):
    return copied(plaza, tmp_path, "a.run")


def kept(run: Path) -> list[str]:
    return [line for path in sorted(folder_of(run, "ines").glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_a_character_answers_as_it_was_and_the_talk_is_learnt_from_when_the_view_is_left(run, plaza):
    async def talked(talks: Talks) -> None:
        talk = talks("ines", 30)
        assert talk.mind == "offline"
        reply = await talk.ask(QUESTION)
        assert reply.agent == "ines"
        assert reply.tick == 30
        assert {hit.memory.id for found in reply.retrievals for hit in found.hits}
        await talk.rate("up", "good")
        again = await talk.retry()
        assert again.asked_before is not None

    with Reading.open(run) as reading, Talks(reading) as talks:
        asyncio.run(talked(talks))
        assert '{"closed":true}' not in kept(run)
    assert kept(run)[-1] == '{"closed":true}'
    assert ends(run) == ends(plaza), "history is untouched"


def test_a_talk_is_closed_once_and_another_one_recognises_its_question(run):
    async def talked(talks: Talks) -> None:
        first = talks("ines", 30)
        await first.close()
        await first.ask(QUESTION)
        await first.rate("up")
        await asyncio.gather(first.close(), first.close())
        reply = await talks("ines", 30).ask(QUESTION)
        assert reply.asked_before is not None
        assert reply.asked_before.received == 1

    with Reading.open(run) as reading, Talks(reading) as talks:
        asyncio.run(talked(talks))
    assert kept(run).count('{"closed":true}') == 2


def test_a_question_is_cancelled_there_and_leaves_the_talk_as_it_was(run):
    async def talked(talks: Talks) -> None:
        talk = talks("ines", 30)
        asked = asyncio.create_task(talk.ask(QUESTION))
        while not server.log.in_flight:
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        waiting = asyncio.create_task(talk.ask(QUESTION))  # left while it waits
        await asyncio.sleep(0)
        waiting.cancel()

    began = time.monotonic()
    with ModelServer(latency=Latency(60)) as server, Reading.open(run) as reading:
        with Talks(reading, server.url) as talks:
            asyncio.run(talked(talks))
        assert time.monotonic() - began < 60
    assert kept(run) == []


def test_what_cannot_be_asked_is_said_and_the_next_question_is_answered(run):
    async def talked(talks: Talks) -> None:
        with pytest.raises(CommonplaceError, match="nobody"):
            await talks("nobody", 30).ask(QUESTION)
        talk = talks("ines", 30)
        with pytest.raises(CommonplaceError, match="characters"):
            await talk.ask("?" * 3000)
        assert (await talk.ask(QUESTION)).answer

    with Reading.open(run) as reading, Talks(reading) as talks:
        asyncio.run(talked(talks))


def test_a_recording_answers_at_the_tick_shown(run, plaza):
    with terminal("replay", run, "--from", 48) as shown:
        shown.until_drawn("Linden Square")
        shown.press(b"a")
        shown.until_drawn("sk something")  # its first letter is under the cursor
        shown.press(b"Who are you?\r")
        shown.until_drawn("Ines: ")
        shown.press(b"\x1b")
        shown.until_drawn(" god mode")
        shown.press(b"q")
        assert shown.end() == 0
    assert kept(run)[-1] == '{"closed":true}'
    assert ends(run) == ends(plaza)
