"""Who may come in, and how much of anything: before a request reaches a route.

Loopback needs no token: what runs as the same person can read the runs anyway. Against pages of other sites the guard
checks `Host` (a name of theirs may be made to point to this machine: DNS rebinding), `Origin` and `Sec-Fetch-Site`. Any
other address needs the token that was printed at the start.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.parts.web.model import Problem

MOST_BODY = 1_300_000
"""Bytes of a request: a scenario of 400,000 characters fits."""
TOO_LARGE = ("the body is too large", f"at most {MOST_BODY:,} bytes")
MOST_QUERY = 8_000
MOST_ADDRESSES = 4096
"""Addresses whose use is remembered."""
ATTEMPTS = 10
"""Wrong tokens of an address in a minute; afterwards none of it is looked at until the minute is over."""
REQUESTS = (300, 60.0)
"""Requests of an address at once, and a second in the long run."""
CHANGES = (40, 5.0)
"""The same for what changes something."""
SOCKETS = (100, 5.0)
"""The same for new live connections."""
MOST_SOCKETS = 200
"""Live connections at a time (see `is_full`)."""
HEALTH = "/healthz"
"""What may be asked without the token: it says that the server answers, and nothing else."""
PAGE = "/"
"""What a link on another site may lead to: it costs nothing, and what the page asks for then it asks for itself."""
COOKIE = "commonplace_token"
SAFE = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
WELCOME = (
    b'<!doctype html><meta charset="utf-8"><title>Commonplace</title>'
    b'<meta http-equiv="refresh" content="0; url=%s"><a href="%s">Commonplace</a>'
)
"""A page that goes on by itself: a redirect would count as coming from the site with the link, without the cookie."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The rules of access."""

    token: str = field(default="", repr=False)
    """Empty on loopback."""
    names: frozenset[str] = frozenset({"localhost"})
    """Host names the server answers to, besides the addresses `is_address` accepts."""
    loopback_only: bool = True

    @classmethod
    def loopback(cls, token: str = "") -> Gate:
        """Returns the gate of a server that only this machine reaches."""
        return cls(token)

    @classmethod
    def network(cls, host: str, token: str = "") -> Gate:
        """Returns the gate of a server that others reach under `host`, with a new token if none is given."""
        own = {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local", "localhost", host.lower()}
        return cls(token or secrets.token_urlsafe(32), frozenset(own), loopback_only=False)

    def answers_to(self, host: str) -> bool:
        """Tells whether a `Host` header names this server. An address cannot be made to point elsewhere, a name can."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            _ = urlsplit(f"//{host}").port
        except ValueError:
            return False
        if name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self.loopback_only


def is_loopback(host: str) -> bool:
    """Tells whether only this machine reaches a server at the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_full(address: str, taken: Sequence[str], most: int) -> bool:
    """Tells whether an address gets no further place beside those `taken`: the address of each that is in use.

    An address may have as many as are left for all others: one alone gets half, and none can shut out the rest. The
    loopback address may have all: whoever comes through a proxy or a tunnel on this machine shares it, and whoever else
    has it can stop the server anyway.
    """
    left = most - len(taken)
    return left <= (0 if is_loopback(address) else taken.count(address))


class Buckets:
    """Limits on how often each address may do something: at once, and a second in the long run."""

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str, amount: float = 1.0) -> bool:
        """Tells whether the address may do it once more, and counts it."""
        left = self.left(address)
        allowed = left >= amount
        self._left[address] = (left - amount if allowed else left, self._clock())
        self._left.move_to_end(address)
        while len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return allowed

    def left(self, address: str) -> float:
        """Returns how often the address may still do it at once."""
        left, at = self._left.get(address, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - at) * self._rate)


class Guard:
    """ASGI middleware that lets a request through or answers it."""

    def __init__(self, app: ASGIApp, gate: Gate, watching: list[str]) -> None:
        """`watching`: is kept up to date with the address of each live connection."""
        self.app = app
        self.gate = gate
        self._requests = Buckets(*REQUESTS)
        self._changes = Buckets(*CHANGES)
        self._connecting = Buckets(*SOCKETS)
        self._guesses = Buckets(ATTEMPTS, ATTEMPTS / 60)
        self._watching = watching

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request or connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        live = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(scope, receive, send, *refusal)
        elif not live and self.gate.token and "token" in dict(parse_qsl(scope["query_string"].decode("latin-1"))):
            await _welcome(scope, send, self.gate.token)
        elif live:
            await self._watch(scope, receive, send)
        else:
            await self._pass(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
        """Returns (status, what is wrong, what to do) for a request that may not pass."""
        live, address = scope["type"] == "websocket", _address(scope)
        changing = not live and scope["method"] not in SAFE
        host = headers.get("host", "")
        if not self.gate.answers_to(host):
            return 421, "this server does not go by that name", "use the address that was printed when it started"
        if (live or changing or scope["path"] != PAGE) and _is_foreign(headers, host):
            return 403, "a page of another site asked for this", "use the server's own page"
        too_much = self._too_much(scope, headers, address)
        if too_much is not None:
            return too_much
        is_open = not self.gate.token or (not live and not changing and scope["path"] == HEALTH)
        return None if is_open else self._without_token(scope, headers, address)

    def _too_much(self, scope: Scope, headers: Headers, address: str) -> tuple[int, str, str] | None:
        live = scope["type"] == "websocket"
        changing = not live and scope["method"] not in SAFE
        buckets = self._connecting if live else self._changes if changing else self._requests
        if not buckets.take(address):
            return 429, "too many requests", "wait a little"
        if live and is_full(address, self._watching, MOST_SOCKETS):
            return 503, "too many pages watch already", "close one of yours, or try again later"
        if len(scope["query_string"]) > MOST_QUERY:
            return 414, "the address is too long", f"at most {MOST_QUERY} characters after the question mark"
        if changing and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "the body is not JSON", "send it with Content-Type: application/json"
        if changing and _number(headers.get("content-length", "0")) > MOST_BODY:
            return 413, *TOO_LARGE
        return None

    def _without_token(self, scope: Scope, headers: Headers, address: str) -> tuple[int, str, str] | None:
        given = [
            *(value for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name == "token"),
            headers.get("authorization", "").removeprefix("Bearer "),
            _cookies(headers.get("cookie", "")).get(COOKIE, ""),
        ]
        given = [one for one in given if one]
        hint = "open the address with ?token=… that was printed when the server started"
        if not given:
            return 401, "this server needs its token", hint
        if self._guesses.left(address) < 1:
            return 429, "too many wrong tokens", "wait a minute"
        if not any(hmac.compare_digest(one.encode(), self.gate.token.encode()) for one in given):
            self._guesses.take(address)
            return 401, "that is not the token of this server", hint
        return None

    async def _watch(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = _address(scope)
        self._watching.append(address)
        try:
            await self.app(scope, receive, send)
        finally:
            self._watching.remove(address)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        got = 0

        async def limited() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > MOST_BODY:
                raise HTTPException(413, TOO_LARGE[0])
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, limited, with_headers)


def _address(scope: Scope) -> str:
    return (scope.get("client") or ("", 0))[0]


def _is_foreign(headers: Headers, host: str) -> bool:
    """Tells whether a page of another site asks. A client that is no browser sends neither header.

    The scheme of the origin may be a proxy's.
    """
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    scheme, _, served_from = (origin or "").partition("://")
    return origin is not None and (scheme not in ("http", "https") or served_from.lower() != host.lower())


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else MOST_BODY + 1


def _cookies(header: str) -> dict[str, str]:
    pairs = (one.strip().partition("=") for one in header.split(";"))
    return {name: value for name, _, value in pairs}


async def _answer(scope: Scope, receive: Receive, send: Send, status: int, detail: str, hint: str) -> None:
    del receive
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, hint=hint).model_dump_json().encode()
    headers = [(b"content-type", b"application/problem+json"), (b"cache-control", b"no-store")]
    headers += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    headers += [(b"content-length", str(len(body)).encode())]
    if status in (429, 503):
        headers.append((b"retry-after", b"5"))
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    if scope["type"] == "http":
        headers.append((b"connection", b"close"))  # what is left of its body is not read
    elif "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})


async def _welcome(scope: Scope, send: Send, token: str) -> None:
    """Keeps the token in a cookie and redirects to the address without it.

    The page itself reads the rest of the query.
    """
    rest = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "token"]
    target = "/" + (f"#{urlencode(rest)}" if rest else "")
    place = escape(target).encode()
    body = WELCOME % (place, place)
    headers: list[tuple[bytes, Any]] = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"set-cookie", f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict".encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.encode(), value.encode()) for name, value in HEADERS.items()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
