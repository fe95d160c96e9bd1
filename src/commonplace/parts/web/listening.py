"""The sockets: uvicorn, with limits that it leaves to others.

A request must have arrived within `REQUEST_TIME` (a slow-loris sends a byte now and then), an answer must be taken
within `ANSWER_TIME`, and a live connection may send no more than a page has reason to: answers to pings.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from commonplace.parts.web.guard import is_full

REQUEST_TIME = 10.0
"""Seconds a request has to arrive, headers and body."""
ANSWER_TIME = 30.0
"""Seconds somebody who takes nothing of an answer is waited for."""
HEADER_BYTES = 32_768
MOST_CONNECTIONS = 512
"""Connections at a time (see `guard.is_full`)."""
FRAME_BYTES = 4096
"""The largest message a live connection may send."""
RECEIVED = (65_536, 10.0)
"""Bytes a live connection may send in so many seconds."""
CLOSE_TIME = 1.0
"""Seconds in which the other end may answer that a live connection is closed."""
GRACE = 5
"""Seconds that open requests have to end when the server does."""


class HttpConnection(H11Protocol):
    """An HTTP connection with deadlines."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuses one connection too many; otherwise waits for its first request."""
        others: set[Any] = self.connections
        address, taken = _address(get_remote_addr(transport)), [_address(one.client) for one in others]
        if is_full(address, taken, MOST_CONNECTIONS):
            self.transport = transport
            transport.abort()
            return
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Takes a piece of a request. A piece does not extend the deadline."""
        self._expect()
        super().data_received(data)
        whole = self.cycle is not None and not self.cycle.more_body  # pyright: ignore[reportUnnecessaryComparison]
        if whole or self not in self.connections:  # it has arrived, or become a live connection
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the deadlines."""
        self._stop()
        if self.flow is not None:  # pyright: ignore[reportUnnecessaryComparison] – one too many has none
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Sets a deadline: the other end takes nothing for now."""
        super().pause_writing()
        self._expect(ANSWER_TIME)

    def resume_writing(self) -> None:
        """Ends that deadline."""
        super().resume_writing()
        self._stop()

    def _expect(self, seconds: float | None = None) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_TIME if seconds is None else seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class LiveConnection(WebSocketsSansIOProtocol):
    """A live connection that is cut when it sends too much, or does not answer."""

    _got = 0
    _since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins, and limits the time that an unanswered closing may take."""
        super().connection_made(transport)
        self.close_timeout = CLOSE_TIME

    def data_received(self, data: bytes) -> None:
        """Counts what comes: pings are answered, so a flood of them would pile up answers."""
        now = self.loop.time()
        if now - self._since > RECEIVED[1]:
            self._got, self._since = 0, now
        self._got += len(data)
        if self._got > RECEIVED[0]:
            self.transport.abort()
            return
        super().data_received(data)

    async def send(self, message: Any) -> None:
        """Sends what the app says. A refusal is an answer: uvicorn would print that there was none."""
        await super().send(message)
        self.handshake_complete = self.handshake_complete or self.close_sent

    def keepalive_timeout(self) -> None:
        """Cuts the connection: closing alone would wait until the other end has taken everything."""
        super().keepalive_timeout()
        self.transport.abort()

    def shutdown(self) -> None:
        """Cuts the connection when the server ends."""
        super().shutdown()
        self.loop.call_later(1.0, self.transport.abort)


def _address(client: tuple[str, int] | None) -> str:
    return client[0] if client else ""  # it may be gone already


class Server(uvicorn.Server):
    """A server that its caller ends; the caller handles signals."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Takes no signals: uvicorn would raise them again inside the event loop, which still has to tidy up."""
        yield

    def leave(self) -> None:
        """Ends in order. A second call does not wait for open requests."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Lets the app end in any case. An answer that is cut off by it is no error to report."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()


def server(app: ASGIApp, **more: Any) -> Server:
    """Returns the server of the app. `more` are settings of uvicorn."""
    settings: dict[str, Any] = {
        "loop": "asyncio",
        "http": HttpConnection,
        "ws": LiveConnection,
        "ws_max_size": FRAME_BYTES,
        "ws_per_message_deflate": True,
        "h11_max_incomplete_event_size": HEADER_BYTES,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": GRACE,
        "proxy_headers": False,  # anybody could claim an address
        "server_header": False,
        "access_log": False,
        "log_config": None,  # as the other logs are written
        "log_level": "warning",
        "lifespan": "on",
    }
    return Server(uvicorn.Config(app, **{**settings, **more}))
