"""As much of HTTP/1.1 as a model server needs, over asyncio streams."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

LONGEST_HEAD = 1 << 16
LONGEST_BODY = 1 << 26
_JSON = (("Content-Type", "application/json"),)


class BadRequest(ValueError):
    """A request that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; the names of its headers in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def last(self) -> bool:
        """Whether the client wants the connection closed afterwards."""
        return self.headers.get("connection", "").lower() == "close"


@dataclass(frozen=True, slots=True)
class Response:
    """One response, or the way in which there is none."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = _JSON
    cut: Literal["", "reset", "hang", "half"] = ""
    """`reset` the connection, `hang` until the client gives up, or close after `half` of the body."""
    marker: str = ""
    """A text in it that may never be said or remembered."""


def as_json(value: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = (), marker: str = "") -> Response:
    """A JSON response in ASCII; lone surrogates stay what they are."""
    return Response(status, json.dumps(value).encode(), (*_JSON, *headers), marker=marker)


def failure(status: int, message: str, kind: str, **more: Any) -> Response:
    """An error as OpenAI-compatible servers word it."""
    return as_json({"error": {"message": message, "type": kind, "code": status, **more}}, status)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None when the client has left. Raises BadRequest."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest(f"headers of more than {LONGEST_HEAD} bytes") from None
    line, *fields = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    method, _, rest = line.partition(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    return Request(method, rest.partition(" ")[0].partition("?")[0], headers, await _body(reader, headers))


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers:
        raise BadRequest("the body must come with its Content-Length")
    if not length.isdecimal() or int(length) > LONGEST_BODY:
        raise BadRequest(f"Content-Length must be a number up to {LONGEST_BODY}, not {length!r}")
    try:
        return await reader.readexactly(int(length))
    except asyncio.IncompleteReadError:
        raise BadRequest("the body ends early") from None


def written(response: Response, last: bool) -> bytes:
    """The bytes of a response; `last` tells the client that the connection closes."""
    fields = [*response.headers, ("Content-Length", str(len(response.body)))]
    if last:
        fields.append(("Connection", "close"))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}\r\n{head}\r\n".encode() + response.body


async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, response: Response, last: bool) -> None:
    """Write a response, or do what it does instead."""
    match response.cut:
        case "hang":
            await reader.read(1)
        case "reset":
            # no lingering: the peer gets RST instead of FIN
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        case "half":
            data = written(response, last=True)
            writer.write(data[: len(data) - len(response.body) // 2])
            await writer.drain()
        case "":
            writer.write(written(response, last))
            await writer.drain()
