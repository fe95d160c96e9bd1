"""A proxy in front of a model server that notes what was asked, and when it was answered."""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Call:
    """One request."""

    body: bytes
    began: float
    status: int = 0
    """0: not answered."""
    ended: float = 0.0

    @property
    def is_question(self) -> bool:
        """Whether a character asked: requests that find out what a server can do have no rules before them."""
        messages = json.loads(self.body or b"{}").get("messages", [])
        return bool(messages) and messages[0]["role"] == "system"


class Recorder(ThreadingHTTPServer):
    """Hands every request on, and keeps the list."""

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(url)
        self.calls: list[Call] = []

    @property
    def url(self) -> str:
        """Where to ask instead."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def questions(self) -> list[Call]:
        """The requests that were questions."""
        return [call for call in list(self.calls) if call.is_question]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Recorder

    def do_GET(self) -> None:
        self._hand_on(b"")

    def do_POST(self) -> None:
        self._hand_on(self.rfile.read(int(self.headers["Content-Length"])))

    def _hand_on(self, body: bytes) -> None:
        call = Call(body, time.monotonic())
        self.server.calls.append(call)
        line = http.client.HTTPConnection(self.server.target.hostname or "", self.server.target.port)
        with contextlib.closing(line):
            line.request(self.command, self.path, body, {"Content-Type": "application/json"})
            response = line.getresponse()
            data = response.read()
        self.send_response(response.status)
        self.send_header("Content-Type", response.getheader("Content-Type") or "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(data)
            self.wfile.flush()
            call.status, call.ended = response.status, time.monotonic()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


@contextlib.contextmanager
def recording(url: str) -> Iterator[Recorder]:
    """A recorder in front of the server at the URL."""
    with Recorder(url) as recorder:
        thread = threading.Thread(target=recorder.serve_forever)
        thread.start()
        try:
            yield recorder
        finally:
            recorder.shutdown()
            thread.join()
