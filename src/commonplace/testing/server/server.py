"""The server: the standard library's threading HTTP server on loopback, with latency and faults."""

from __future__ import annotations

import socket
import struct
import threading
import time
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from pydantic import ValidationError

from commonplace import rng
from commonplace.errors import CommonplaceError, UsageError
from commonplace.rng import Key
from commonplace.testing.server.answers import (
    MODEL,
    MODELS,
    NOTHING,
    Chat,
    ChatAnswer,
    Embedding,
    Response,
    Sound,
    Usage,
    VectorAnswer,
    answer_of,
    as_json,
    failure,
    usage_of,
    vectors_of,
)
from commonplace.testing.server.dialects import dialect_of
from commonplace.testing.server.faults import Faults
from commonplace.testing.server.streams import streamed

LONGEST_BODY = 1 << 26


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
        """Seconds for an answer of this many tokens."""
        return self.base + self.per_token * tokens + (self.jitter * rng.unit(*key, "latency") if self.jitter else 0.0)


@dataclass(frozen=True, slots=True)
class Limit:
    """A provider's limit: at most so many answers within a span; other requests get 429 and are told to wait for it."""

    answers: int
    seconds: float = 1.0
    """The span, and the `Retry-After`."""


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


# The response to a request: the sound answer or a fault, after some seconds.


_BODIES: Mapping[str, type[Chat] | type[Embedding]] = {"/v1/chat/completions": Chat, "/v1/embeddings": Embedding}


@dataclass(frozen=True, slots=True)
class Met:
    """The response to a request."""

    response: Response
    key: tuple[Key, ...] = ()
    """(seed, agent, tick, task, number, attempt); empty for a request that does not tell it."""
    repeats: int = 0
    """How often the same was requested before."""
    fault: str = ""
    usage: Usage = NOTHING
    seconds: float = 0.0
    """Until the response is written."""
    pause: float = 0.0
    """Seconds between the pieces of a stream."""
    streams: bool = False
    """Whether it is to come as it is written."""


class Desk:
    """Answers requests one after the other, and remembers prompts and what it was asked before."""

    def __init__(self, latency: Latency, faults: Faults, limit: Limit | None) -> None:
        self.faults = faults
        self._latency = latency
        self._limit = limit
        self._moments: deque[float] = deque(maxlen=limit.answers if limit else 0)
        """When the last answers were given, as many as the limit allows."""
        self._prompts = Prompts()
        self._asked: Counter[tuple[Key, ...]] = Counter()

    def meet(self, method: str, path: str, content: bytes) -> Met:
        """Returns the response to a request, whatever it is, in the protocol that its path belongs to."""
        dialect = dialect_of(method, path)
        if dialect is None:
            met = self._meet(method, path, content)
        else:
            met = self._meet(method, dialect.place, dialect.asked(path, content))
            met = replace(met, response=dialect.told(met.response))
        if not met.streams:
            return met
        response = streamed(met.response, dialect.name if dialect else "openai")
        written = self._latency.per_token * met.usage.answer if response.pieces else 0.0
        return replace(
            met, response=response, seconds=met.seconds - written, pause=written / (len(response.pieces) or 1)
        )

    def _meet(self, method: str, path: str, content: bytes) -> Met:
        if path == "/v1/models" and method == "GET":
            fault, response = self._spoilt(None, ("models",)) if self.faults.to_all else ("", as_json(MODELS))
            return Met(response, fault=fault)
        body = _BODIES.get(path)
        if body is None:
            return Met(failure(404, f"there is nothing at {path}", "not_found_error"))
        if method != "POST":
            return Met(failure(405, f"{path} takes POST, not {method}", "invalid_request_error"))
        try:
            return self._answered(body.model_validate_json(content))
        except (ValidationError, KeyError, CommonplaceError) as error:
            return Met(failure(400, f"{type(error).__name__}: {error}", "invalid_request_error"))

    def _answered(self, asked: Chat | Embedding) -> Met:
        key = asked.commonplace.key if asked.commonplace else ()
        repeats = self._asked[key]
        if self._limit and not self._has_room(self._limit):
            told = failure(429, f"more than {self._limit.answers} in {self._limit.seconds:g} s", "rate_limit_error")
            told = replace(told, headers=(*told.headers, ("Retry-After", f"{self._limit.seconds:g}")))
            return Met(told, key, repeats, "limit")
        sound = self._chat(asked) if isinstance(asked, Chat) else self._vectors(asked)
        fault, response = self._spoilt(sound, key) if key or self.faults.to_all else ("", sound.sound())
        seconds = self._latency.of(sound.usage.answer, *key, repeats)
        streams = isinstance(asked, Chat) and bool(asked.stream)
        return Met(response, key, repeats, fault, sound.usage, seconds, streams=streams)

    def _spoilt(self, sound: Sound | None, key: tuple[Key, ...]) -> tuple[str, Response]:
        met = self.faults.met(sound, *key, self._asked[key])
        self._asked[key] += 1
        return met

    def _has_room(self, limit: Limit) -> bool:
        """Tells whether the limit allows an answer now, and counts it if so."""
        now = time.monotonic()
        if len(self._moments) == limit.answers and self._moments[0] > now - limit.seconds:
            return False
        self._moments.append(now)
        return True

    def _chat(self, chat: Chat) -> ChatAnswer:
        plain, counted = ChatAnswer(chat, answer_of(chat), NOTHING), chat.counted
        return ChatAnswer(chat, plain.data, usage_of(counted, self._prompts.add(counted), plain.text))

    def _vectors(self, asked: Embedding) -> VectorAnswer:
        return VectorAnswer(asked, vectors_of(asked.texts), usage_of("\n".join(asked.texts), 0, ""))


# What a server was asked, kept in memory.


@dataclass(frozen=True, slots=True)
class Entry:
    """One request and how it was met."""

    path: str
    key: tuple[Key, ...]
    """(seed, agent, tick, task, number, attempt); empty for a request that does not tell it."""
    repeats: int
    """How often the same was requested before."""
    task: str
    fault: str
    """Name of the fault; empty when it was answered as it should be."""
    marker: str
    """A text of the fault that a character must never say or remember."""
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
        """Notes that a request has been read."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def ended(self, entry: Entry) -> None:
        """Notes that the response was written, or that the client has left."""
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


class ModelServer:
    """A server of several protocols that answers from the offline mind, late and wrongly where it is told to.

        with ModelServer(latency=Latency(0.2), faults=Faults(0.05)) as server:
            run = create_run("town.run", "latticeville", mind=server.url)

    Faults meet requests that say whose question they are; any other request is answered as it should be, unless the
    faults are `to_all`.
    """

    def __init__(
        self,
        *,
        latency: Latency | None = None,
        faults: Faults | None = None,
        limit: Limit | None = None,
        port: int = 0,
    ) -> None:
        """`port` 0: any that is free."""
        self.log = Log()
        self._desk = Desk(latency or Latency(), faults or Faults(0.0), limit)
        self._port = port

    @property
    def faults(self) -> Faults:
        """What goes wrong. May be replaced while it serves, by a server that breaks or recovers."""
        return self._desk.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._desk.faults = faults

    @property
    def url(self) -> str:
        """The base URL: the name of a mind."""
        return f"http://127.0.0.1:{self._port}/v1"

    def mind(self, protocol: str) -> str:
        """Returns the name of a mind that speaks a protocol.

        The protocol is `anthropic`, `gemini`, `openrouter` or any other server's.
        """
        return f"{protocol}:{MODEL}@{self.url}{'beta' if protocol == 'gemini' else ''}"

    def __enter__(self) -> ModelServer:
        """Raises UsageError for a port that cannot be opened."""
        try:
            self._server = _Server(self._port, self._desk, self.log)
        except (OSError, OverflowError) as error:
            raise UsageError(f"port {self._port} cannot be opened: {error}", hint="choose another port") from error
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="model server")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes every connection; no thread or socket is left when this returns."""
        self._server.stop()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that `server_close` waits for them
    request_queue_size = 256

    def __init__(self, port: int, desk: Desk, log: Log) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.desk = desk
        self.log = log
        self.lock = threading.Lock()
        """Held while the desk answers and the log is written: requests come in threads of their own."""
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may leave whenever they like."""

    def stop(self) -> None:
        self.shutdown()
        self.stopping.set()
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] – the base class knows any server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write a response: two would wait for one another (Nagle's algorithm)

    def do_GET(self) -> None:
        self._meet(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            self.close_connection = True
            self._send(failure(400, f"Content-Length must be a number up to {LONGEST_BODY}", "invalid_request_error"))
            return
        self._meet(self.rfile.read(int(length)))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def _meet(self, content: bytes) -> None:
        server, started = self.server, time.monotonic()
        path = self.path.partition("?")[0]
        with server.lock:
            server.log.begun()
            met = server.desk.meet(self.command, path, content)
        try:
            if server.stopping.wait(met.seconds):
                self.close_connection = True
            else:
                self._send(met.response, met.pause)
        finally:
            with server.lock:
                server.log.ended(_entry(path, met, started))

    def _send(self, response: Response, pause: float = 0.0) -> None:
        """Write a response, or do what it does instead."""
        if response.cut:
            self.close_connection = True
        if response.cut == "hang":
            self.connection.recv(1)
        elif response.cut == "reset":
            # no lingering: the peer gets RST instead of FIN
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            self.send_response_only(response.status)
            for name, value in response.headers:
                self.send_header(name, value)
            if response.pieces:
                self._stream(response, pause)
                return
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body[: len(response.body) // 2] if response.cut == "half" else response.body)

    def _stream(self, response: Response, pause: float) -> None:
        """Write a body piece by piece."""
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        pieces = response.pieces[: len(response.pieces) // 2] if response.cut == "half" else response.pieces
        for piece in pieces if pause else (b"".join(pieces),):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if pause:
                self.wfile.flush()
                if self.server.stopping.wait(pause):
                    break
        if response.cut != "half":
            self.wfile.write(b"0\r\n\r\n")


def _entry(path: str, met: Met, started: float) -> Entry:
    return Entry(
        path=path,
        key=met.key,
        repeats=met.repeats,
        task=str(met.key[3]) if met.key else "",
        fault=met.fault,
        marker=met.response.marker,
        status=met.response.status,
        usage=met.usage,
        started=started,
        ended=time.monotonic(),
    )
