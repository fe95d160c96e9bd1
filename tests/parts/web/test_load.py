"""Many watch a run that is made while others ask about it over HTTP: everybody is sent every tick.

In `make prove` with as many as a class or an office has, for some minutes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from commonplace.parts.web.app import STATIC
from e2e.command import copied, started
from e2e.lived import TOWN_TICKS
from parts.web.serving import PATIENCE
from sizes import PROVE

VIEWERS, CLIENTS, TICKS, RATE, EVERY = (50, 20, 480, 2, 0.4) if PROVE else (4, 4, 60, 0, 0.06)
"""Ticks are made at `RATE` a second; 0: as fast as they can. A client waits `EVERY` seconds before its next request.

All clients have one address: together they ask less than `guard.REQUESTS`.
"""
RUN = "/api/runs/town"
ASKED = ("/events", "/timeline", "/frames?from={before}&to={tick}", "/metrics", "/agents/mira", "/agents/jun")


class Answers:
    """One connection that asks over HTTP."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._port, self._reader, self._writer = port, reader, writer

    async def ask(self, path: str, body: object = None) -> str:
        """The answer; anything but a good one fails."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        more = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self._writer.write((head + more).encode() + data)
        answered = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        (length,) = [line for line in answered.splitlines() if line.startswith("content-length:")]
        text = (await self._reader.readexactly(int(length.split(":")[1]))).decode()
        assert answered.split(" ", 2)[1] == "200", f"{path}: {text}"
        return text


@asynccontextmanager
async def asking(port: int) -> AsyncIterator[Answers]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Answers(port, reader, writer)
    finally:
        writer.close()


@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page")
def test_nobody_who_watches_is_thrown_out(tmp_path: Path, town: Path) -> None:
    run = copied(town, tmp_path, "town.run")  # one with a past: what is asked of it takes longer to read
    server = started("serve", run, "--runs", tmp_path, "--port", 0, "--no-open")
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().split(":")[2].split("/")[0])
        asyncio.run(loaded(port))
    finally:
        server.terminate()
        _, errors = server.communicate(timeout=PATIENCE)
    assert errors == ""


async def loaded(port: int) -> None:
    """Watch and ask until all who watch have seen `TICKS` ticks more."""
    seen = [-1] * VIEWERS
    end = TOWN_TICKS + TICKS

    async def watch(viewer: int) -> None:
        async with connect(f"ws://127.0.0.1:{port}{RUN}/live", max_size=None) as feed:
            while seen[viewer] < end:
                message = json.loads(await feed.recv())  # raises when it is closed
                if message["type"] == "delta":
                    assert message["seq"] == seen[viewer] + 1
                seen[viewer] = message.get("seq", seen[viewer])

    async def ask(client: int) -> None:
        async with asking(port) as answers:
            for path in cycle((*ASKED[client % len(ASKED) :], *ASKED[: client % len(ASKED)])):
                tick = max(TOWN_TICKS, *seen)
                await answers.ask(RUN + path.format(before=max(0, tick - 40), tick=tick + 10))
                await asyncio.sleep(EVERY)

    async with asking(port) as answers:
        await answers.ask(f"{RUN}/control", {"action": "speed", "rate": RATE})
        await answers.ask(f"{RUN}/control", {"action": "play"})
    asked = [asyncio.create_task(ask(client)) for client in range(CLIENTS)]
    watched = asyncio.gather(*(watch(viewer) for viewer in range(VIEWERS)))
    done, _ = await asyncio.wait((watched, *asked), return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        await task  # a failed answer or a closed connection is told here
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
