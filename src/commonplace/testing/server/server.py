"""The server: a thread with an event loop and a socket on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from types import TracebackType

from commonplace.errors import WrongUse
from commonplace.testing.server.desk import Desk, Met
from commonplace.testing.server.faults import Faults
from commonplace.testing.server.http import LONGEST_HEAD, BadRequest, failure, read_request, send
from commonplace.testing.server.latency import Latency
from commonplace.testing.server.log import Entry, Log

_GONE = (ConnectionError, asyncio.CancelledError)
"""A client may leave whenever it likes, and so may the server."""


class ModelServer:
    """An OpenAI-compatible server that answers from the offline mind, late and wrongly where it is told to.

        with ModelServer(latency=Latency(0.2), faults=Faults(0.05)) as server:
            run = create_run("town.run", "latticeville", mind=server.url)

    Faults meet requests that say whose question they are; any other request is answered as it should be.
    """

    def __init__(self, *, latency: Latency | None = None, faults: Faults | None = None, port: int = 0) -> None:
        """`port` 0: any that is free."""
        self.log = Log()
        self._desk = Desk(latency or Latency(), faults or Faults(0.0))
        self._port = port
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The base URL: the name of a mind."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> ModelServer:
        """Raises WrongUse for a port that cannot be had."""
        try:
            listening = socket.create_server(("127.0.0.1", self._port), backlog=256)
        except (OSError, OverflowError) as error:
            raise WrongUse(f"port {self._port} cannot be had: {error}", todo="Choose another port.") from error
        self._port = listening.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="model server")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends every connection; nothing of it is left when this returns."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self, listening: socket.socket) -> None:
        try:
            self._loop.run_until_complete(self._serve(listening))
        finally:
            self._loop.close()

    async def _serve(self, listening: socket.socket) -> None:
        server = await asyncio.start_server(self._connected, sock=listening, limit=LONGEST_HEAD)
        await self._stop.wait()
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections)
        await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its first request to its last."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(*_GONE):
                while await self._next(reader, writer):
                    pass
        finally:
            writer.close()
            with contextlib.suppress(*_GONE):
                await writer.wait_closed()
            self._connections.discard(task)

    async def _next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Meet one request; False when there will be no other on this connection."""
        try:
            request = await read_request(reader)
        except BadRequest as error:
            await send(reader, writer, failure(400, str(error), "invalid_request_error"), last=True)
            return False
        if request is None:
            return False
        started = time.monotonic()
        self.log.begun()
        met = self._desk.meet(request)
        try:
            await asyncio.sleep(met.seconds)
            await send(reader, writer, met.response, request.last)
        finally:
            self.log.ended(_entry(request.path, met, started))
        return not request.last and not met.response.cut


def _entry(path: str, met: Met, started: float) -> Entry:
    return Entry(
        path=path,
        key=met.key,
        tries=met.tries,
        task=str(met.key[3]) if met.key else "",
        fault=met.fault,
        marker=met.response.marker,
        status=met.response.status,
        usage=met.usage,
        started=started,
        ended=time.monotonic(),
    )
