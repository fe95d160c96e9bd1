"""The server: a thread with an event loop and a socket on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

from pydantic import ValidationError

from commonplace import rng
from commonplace.errors import CommonplaceError, UsageError
from commonplace.rng import Key
from commonplace.testing.server.answers import (
    MODELS,
    NOTHING,
    Chat,
    ChatAnswer,
    Embedding,
    Usage,
    VectorAnswer,
    answer_of,
    usage_of,
    vectors_of,
)
from commonplace.testing.server.faults import Faults
from commonplace.testing.server.http import (
    LONGEST_HEAD,
    BadRequest,
    Request,
    Response,
    as_json,
    failure,
    read_request,
    send,
)

# ── latency ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# How long a model takes.


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds until an answer is written."""

    base: float = 0.0
    per_token: float = 0.0
    """For each token of the answer."""
    jitter: float = 0.0
    """At most so much more, drawn by the request's key."""

    def of(self, tokens: int, *key: Key) -> float:
        """Seconds for an answer of so many tokens."""
        return self.base + self.per_token * tokens + (self.jitter * rng.unit(*key, "latency") if self.jitter else 0.0)


# ── prefix ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a server with a prompt cache would have read before.


class Prompts:
    """All prompts of a server's life, in order: the neighbours of a new one share the longest prefix with it."""

    def __init__(self) -> None:
        self._sorted: list[str] = []

    def add(self, prompt: str) -> int:
        """Remember a prompt; returns how many of its first characters an earlier one began with."""
        place = bisect_left(self._sorted, prompt)
        shared = max((common(prompt, other) for other in self._sorted[max(0, place - 1) : place + 1]), default=0)
        insort(self._sorted, prompt)
        return shared


def common(one: str, other: str) -> int:
    """Length of the longest common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


# ── desk ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a request is met with: the sound answer or a fault, after so many seconds.


_BODIES: Mapping[str, type[Chat] | type[Embedding]] = {"/v1/chat/completions": Chat, "/v1/embeddings": Embedding}


@dataclass(frozen=True, slots=True)
class Met:
    """How a request is met."""

    response: Response
    key: tuple[Key, ...] = ()
    """(seed, agent, tick, task, number, attempt); empty for a request that does not tell it."""
    max_attempts: int = 0
    """How often the same was requested before."""
    fault: str = ""
    usage: Usage = NOTHING
    seconds: float = 0.0
    """Until the response is written."""


class Desk:
    """Answers requests one after the other, and remembers prompts and what it was asked before."""

    def __init__(self, latency: Latency, faults: Faults) -> None:
        self._latency = latency
        self._faults = faults
        self._prompts = Prompts()
        self._tries: Counter[tuple[Key, ...]] = Counter()

    def meet(self, request: Request) -> Met:
        """The response to a request, whatever it is."""
        if request.path == "/v1/models" and request.method == "GET":
            return Met(as_json(MODELS))
        body = _BODIES.get(request.path)
        if body is None:
            return Met(failure(404, f"there is nothing at {request.path}", "not_found_error"))
        if request.method != "POST":
            return Met(failure(405, f"{request.path} takes POST, not {request.method}", "invalid_request_error"))
        try:
            return self._answered(body.model_validate_json(request.body))
        except (ValidationError, KeyError, CommonplaceError) as error:
            return Met(failure(400, f"{type(error).__name__}: {error}", "invalid_request_error"))

    def _answered(self, asked: Chat | Embedding) -> Met:
        sound = self._chat(asked) if isinstance(asked, Chat) else self._vectors(asked)
        key = asked.commonplace.key if asked.commonplace else ()
        max_attempts = self._tries[key]
        fault, response = self._faults.met(sound, *key, max_attempts) if key else ("", sound.sound())
        self._tries[key] += 1
        seconds = self._latency.of(sound.usage.answer, *key, max_attempts)
        return Met(response, key, max_attempts, fault, sound.usage, seconds)

    def _chat(self, chat: Chat) -> ChatAnswer:
        shared = self._prompts.add(chat.prompt)
        plain = ChatAnswer(chat, answer_of(chat), NOTHING)
        return ChatAnswer(chat, plain.data, usage_of(chat.prompt, shared, plain.text))

    def _vectors(self, asked: Embedding) -> VectorAnswer:
        return VectorAnswer(asked, vectors_of(asked.texts), usage_of("\n".join(asked.texts), 0, ""))


# ── log ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a server was asked, kept in memory.


@dataclass(frozen=True, slots=True)
class Entry:
    """One request and how it was met."""

    path: str
    key: tuple[Key, ...]
    """(seed, agent, tick, task, number, attempt); empty for a request that does not tell it."""
    max_attempts: int
    """How often the same was requested before."""
    task: str
    fault: str
    """Name of the fault; empty when it was answered as it should be."""
    marker: str
    """A text of the fault that may never be said or remembered."""
    status: int
    usage: Usage
    started: float
    """Seconds of a clock that only moves forward; `ended` when the response was written or the client had left."""
    ended: float


@dataclass(slots=True)
class Log:
    """All requests of a server's life, in the order in which they ended."""

    entries: list[Entry] = field(default_factory=list[Entry])
    in_flight: int = 0
    most_in_flight: int = 0

    def begun(self) -> None:
        """A request has been read."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def ended(self, entry: Entry) -> None:
        """It has been met, or its client has left."""
        self.in_flight -= 1
        self.entries.append(entry)

    @property
    def faults(self) -> Counter[str]:
        """How often each fault was made."""
        return Counter(entry.fault for entry in self.entries if entry.fault)

    @property
    def asked(self) -> list[Entry]:
        """The requests that were a character's questions."""
        return [entry for entry in self.entries if entry.key]


# ── server ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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
        """Raises UsageError for a port that cannot be had."""
        try:
            listening = socket.create_server(("127.0.0.1", self._port), backlog=256)
        except (OSError, OverflowError) as error:
            raise UsageError(f"port {self._port} cannot be had: {error}", hint="Choose another port.") from error
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
        max_attempts=met.max_attempts,
        task=str(met.key[3]) if met.key else "",
        fault=met.fault,
        marker=met.response.marker,
        status=met.response.status,
        usage=met.usage,
        started=started,
        ended=time.monotonic(),
    )
