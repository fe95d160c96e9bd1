"""A server to test with: in this process, on a real socket, or as a command."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from fastapi.testclient import TestClient
from starlette.types import ASGIApp
from websockets.sync.client import connect

from commonplace.parts.web import model as wire
from commonplace.parts.web.listening import server
from commonplace.parts.web.picture import carried_on

BASE = "http://127.0.0.1:8000"
PATIENCE = 60.0
"""Seconds until a fact that does not come counts as missing."""


def client(app: ASGIApp, **settings: Any) -> TestClient:
    """Asks the app without a socket. A bug is an answer of 500, as a page sees it."""
    return TestClient(app, base_url=BASE, raise_server_exceptions=False, **settings)


@contextmanager
def live(http: TestClient, run: str, after: int | None = None) -> Generator[Any]:
    """The live feed of a run, without a socket: call it for the next message that is wanted."""
    query = "" if after is None else f"?after={after}"
    with http.websocket_connect(f"ws://127.0.0.1:8000/api/runs/{run}/live{query}") as feed:
        yield lambda *kinds: wanted(feed.receive_json, *kinds)


def wanted(receive: Any, *kinds: str) -> dict[str, Any]:
    """The next message, or the next of these kinds."""
    while True:
        message = receive()
        if not kinds or message["type"] in kinds:
            return message


@contextmanager
def listening(app: ASGIApp, **settings: Any) -> Generator[int]:
    """A server on a real socket in a thread; gives its port."""
    made = server(app, **settings)
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        place.listen()
        thread = threading.Thread(target=made.run, args=([place],))
        thread.start()
        try:
            until(lambda: made.started)
            yield place.getsockname()[1]
        finally:
            made.should_exit = True
            thread.join(PATIENCE)


@contextmanager
def watching(port: int, run: str, after: int | None = None, **settings: Any) -> Generator[Any]:
    """The live feed of a run over a real socket."""
    query = "" if after is None else f"?after={after}"
    with connect(f"ws://127.0.0.1:{port}/api/runs/{run}/live{query}", max_size=None, **settings) as feed:
        yield lambda *kinds: wanted(lambda: json.loads(feed.recv(timeout=PATIENCE)), *kinds)


def until(fact: Any) -> Any:
    """The first value of a question that is true."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if value := fact():
            return value
        time.sleep(0.02)
    raise AssertionError("it did not come true")


def after_delta(before: wire.Snapshot, delta: wire.Delta) -> wire.Snapshot:
    """The snapshot of the next tick: what a page makes of a delta. `frame.ts` does the same."""
    agents = {one.agent_id: carried_on(one, delta.time) for one in before.agents if one.agent_id not in delta.gone}
    agents |= {one.agent_id: one for one in delta.agents}
    objects = {one.object_id: one for one in before.objects} | {one.object_id: one for one in delta.objects}
    return wire.Snapshot(
        **{name: getattr(delta, name) for name in ("seq", "tick", "time", *wire.Weather.model_fields, "lines")},
        type="snapshot",
        agents=[agents[me] for me in sorted(agents)],
        objects=[objects[me] for me in sorted(objects)],
    )
