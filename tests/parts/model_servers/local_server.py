"""A scripted model server on loopback, and a plain book of prompts."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from pydantic import ValidationError

from commonplace.minds.mind import Ask, Flaws, Reply, RequestKey
from commonplace.minds.notes import Person, Recalled, Value, Who
from commonplace.minds.prompts.prompt import ChatMessage, Prompt, Unusable
from commonplace.minds.tasks import RATE, RateInput
from commonplace.parts.duet.tasks import DUET_TURN, DuetInput, DuetOutput
from commonplace.parts.model_servers.chat_mind import ChatMind

T = TypeVar("T")
KEY = "sk-very-secret/0123456789"
WHO = Who(
    id="ann", name="Ann Lee", called="Ann", age=40, pronoun="she", work="cook", traits=("calm",), background="",
    goals=(), home="kitchen",
)  # fmt: skip
OTHER = Person(id="ben", name="Ben Roe", called="Ben")


@dataclass
class Sent:
    """What the server sends back."""

    body: Any = b""
    """Bytes as they are; anything else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    """Seconds between two bytes of the body."""
    reset: bool = False
    """Cut the connection instead of answering."""


def completion(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    said = {"role": "assistant", "content": content, **message}
    return {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": finish, "message": said}]}


def called(arguments: Any) -> dict[str, Any]:
    """A chat completion that calls a tool."""
    call = {"id": "1", "type": "function", "function": {"name": "any", "arguments": arguments}}
    return completion(None, "tool_calls", tool_calls=[call])


def error(status: int, message: str, **more: Any) -> Sent:
    """A refusal."""
    return Sent({"error": {"message": message, **more}}, status)


Chat = Callable[[dict[str, Any], int], Sent]


class Listening(ThreadingHTTPServer):
    """With room for many who knock at once."""

    daemon_threads = True
    request_queue_size = 128


class LocalServer:
    """Answers probes by itself, everything else by `chat(body, number)`, and keeps what it was asked.

    `forms`: the structured forms it takes; others are refused with 400, or passed over if `deaf`.
    """

    def __init__(self, chat: Chat | None = None, *, forms: tuple[str, ...] = ("json_schema",), deaf: bool = False):
        self.chat = chat or (lambda body, number: Sent(completion('{"ratings": [{"importance": 4}]}')))
        self.forms = forms
        self.deaf = deaf
        self.models: Any = [{"id": "tiny"}, {"id": "big"}]
        self.embed: Callable[[dict[str, Any]], Sent] = lambda body: Sent(status=404)
        self.probe: Callable[[dict[str, Any]], Sent | None] = lambda body: None
        self.any: Callable[[str, int], Sent | None] = lambda path, number: None
        self.paths: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.asked: list[dict[str, Any]] = []
        """Bodies of questions that were no probes."""
        self.probed: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> LocalServer:
        local = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._send(local.respond(self.path, self.headers, None))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._send(local.respond(self.path, self.headers, body))

            def _send(self, sent: Sent) -> None:
                time.sleep(sent.delay)
                if sent.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    self.connection.close()
                    return
                body = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
                try:
                    self.send_response(sent.status)
                    for name, value in {"Content-Length": str(len(body)), **sent.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    for start in range(len(body) if sent.drip else 0):
                        self.wfile.write(body[start : start + 1])
                        self.wfile.flush()
                        time.sleep(sent.drip)
                    self.wfile.write(b"" if sent.drip else body)
                except OSError:
                    self.close_connection = True

            def handle(self) -> None:
                try:
                    with suppress(OSError, ValueError):
                        super().handle()
                finally:
                    local.connections -= 1

            def setup(self) -> None:
                local.connections += 1
                super().setup()

            def finish(self) -> None:
                with suppress(OSError, ValueError):
                    super().finish()

            def log_message(self, *_: Any) -> None:
                pass

        self.connections = 0
        self._http = Listening(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def respond(self, path: str, headers: Mapping[str, str], body: dict[str, Any] | None) -> Sent:
        """What to send back."""
        with self._lock:
            self.paths.append(path)
            self.headers.append(dict(headers))
            number = len(self.paths) - 1
        early = self.any(path, number)
        if early is not None:
            return early
        if body is None:
            return self.models if isinstance(self.models, Sent) else Sent({"object": "list", "data": self.models})
        if path.endswith("/embeddings"):
            return self.embed(body)
        if is_probe(body):
            self.probed.append(body)
            return self.probe(body) or self._probed(body)
        with self._lock:
            self.asked.append(body)
            number = len(self.asked) - 1
        return self.chat(body, number)

    def _probed(self, body: dict[str, Any]) -> Sent:
        form = form_of(body)
        if form == "text":
            return Sent(completion("Yes."))
        if form not in self.forms:
            return Sent(completion('{"word": "certainly"}')) if self.deaf else error(400, f"{form} is not supported")
        answer = '{"word": "lantern"}'
        return Sent(called(answer) if form == "tool" else completion(answer))


def is_probe(body: dict[str, Any]) -> bool:
    """Whether a body is one of the adapter's probes."""
    return body["messages"][0]["content"].startswith(("Say yes.", "Answer with a JSON object that has one word"))


def form_of(body: dict[str, Any]) -> str:
    """The form a body asks an answer in."""
    form = body.get("response_format", {})
    if form == {"type": "json_object"}:
        return "json_mode"
    return "tool" if "tools" in body else form.get("type", "text")


class PlainBook:
    """Prompts without any art."""

    schema: Mapping[str, Any] = {"type": "object"}

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", tool: bool = False) -> Prompt:
        """All that is needed."""
        del tool
        shown = getattr(ask.input, "recalled", ())
        shown = shown[: len(shown) - drop]
        messages = [
            ChatMessage("system", "You are a test."),
            ChatMessage("user", " ".join(memory.text for memory in shown)),
        ]
        if complaint:
            messages[-1] = ChatMessage("user", f"{messages[-1].text}\n\n{complaint}")
        return Prompt(ask.task.name, tuple(messages), self.schema, 100, 0.5, len(shown))

    def read(
        self, ask: Ask[Any, Any], data: object, citable: Collection[int] = (), flaws: Flaws | None = None
    ) -> Value:
        """By the output's type."""
        try:
            return ask.task.output.model_validate(data)
        except ValidationError as unusable:
            raise Unusable(f"{unusable.error_count()} things are wrong", "schema") from None

    def read_text(self, ask: Ask[Any, Any], text: str, flaws: Flaws | None = None) -> Value | None:
        """Talk only."""
        return DuetOutput(plan="", utterance=text) if ask.task.name == "duet_turn" else None

    def read_words(self, ask: Ask[Any, Any], text: str, *, cut: bool = False, flaws: Flaws | None = None) -> Value:
        """No prompt of its is in the small form."""
        raise AssertionError


RATING: Ask[Any, Any] = Ask(RATE, RateInput(who=WHO, texts=("It rains.",)))


def duet(memories: int = 0) -> Ask[Any, Any]:
    """A turn of talk over so many memories."""
    recalled = tuple(
        Recalled(id=n + 1, text=f"m{n + 1}", kind="observation", importance=3, minutes_ago=n) for n in range(memories)
    )
    return Ask(DUET_TURN, DuetInput(who=WHO, other=OTHER, goal="", setting="", recalled=recalled))


def request_key(number: int = 0, attempt: int = 0, before: Reply | None = None) -> RequestKey:
    """Ann, at tick 3."""
    return RequestKey(7, "ann", 3, number, attempt, before)


class Waits:
    """A sleep that does not, and keeps how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """At once."""
        self.seconds.append(seconds)
        await asyncio.sleep(0)


def minded(name: str, **more: Any) -> ChatMind:
    """A mind that does not sleep."""
    return ChatMind(name, PlainBook(), **{"sleep": Waits(), "timeout": 5.0, **more})


def using(mind: ChatMind, work: Callable[[ChatMind], Awaitable[T]]) -> T:
    """Work with a mind in a loop of its own, and lay it to rest."""

    async def run() -> T:
        try:
            return await work(mind)
        finally:
            await mind.close()

    return asyncio.run(run())


def asked(mind: ChatMind, ask: Ask[Any, Any] = RATING, by: RequestKey | None = None) -> Reply:
    """One reply."""
    return using(mind, lambda mind: mind.answer(ask, by or request_key()))


def gathered(*work: Coroutine[Any, Any, T]) -> Awaitable[list[T]]:
    """All of it at once."""
    return asyncio.gather(*work)
