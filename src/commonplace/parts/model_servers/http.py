"""HTTP to model servers, for minds and for embedders: keys and pages.

Nothing a server sends is trusted: bodies are read up to a limit, the key is taken out of every text, and characters
that UTF-8 cannot hold are dropped before anybody looks at them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast
from urllib.parse import urlsplit

from commonplace.errors import UsageError
from commonplace.servers import VARIABLE, is_loopback, is_secret

LONGEST_BODY = 16 * 2**20
"""Bytes of a body that are read, before and after decompression: enough for the vectors of one request."""
LONGEST_ANSWER = 2 * 2**20
"""The same for a body without vectors."""
_SHOWN = 4096
"""Bytes of a longer body that are kept, for messages: it is cut off, so there is nothing to read in it."""
TEXTS_PER_REQUEST = 64
"""Texts of one request for embeddings."""
_CONNECT_SECONDS = 10.0
_SHORTEST_SECRET = 8
"""Characters from which on a key is removed from texts; shorter ones are words like `none`."""
_LONGEST_VECTOR = 16_384
_LARGEST_COMPONENT = 1e30


class Unreachable(Exception):
    """An error: no page came back, because the connection was refused, reset or cut off."""


class Late(Exception):
    """An error: no page came back in time."""


class WrongPage(ValueError):
    """A page that lacks the expected content. `kind`: the word under which it is counted."""

    def __init__(self, what: str, kind: str) -> None:
        super().__init__(what)
        self.kind = kind


def url_of(base: str, path: str) -> str:
    """Returns the URL of a path below a base URL. Queries stay at the end: `https://host/openai?api-version=1`."""
    parts, (path, _, query) = urlsplit(base), path.partition("?")
    return parts._replace(path=parts.path + path, query="&".join(filter(None, (parts.query, query)))).geturl()


class Key:
    """An API key. Its `repr` does not show it."""

    def __init__(self, variable: str, value: str, headers: Mapping[str, str] | None = None) -> None:
        """`headers`: further ones; what environment variables put into them is as secret as the key."""
        self.variable = variable
        self._value = value
        self._headers: dict[str, str] = {}
        self._secrets = [value]
        for name, template in (headers or {}).items():
            self._headers[name] = VARIABLE.sub(partial(self._filled, name), template)
        self._spellings = [
            spelling
            for secret in self._secrets
            if len(secret) >= _SHORTEST_SECRET
            for spelling in (secret, secret.replace("/", "\\/"), secret.replace("+", "\\u002B"))  # as in JSON
        ]

    def _filled(self, header: str, found: re.Match[str]) -> str:
        variable = found[1] or found[2]
        value = os.environ.get(variable, "").strip()
        if not value:
            raise UsageError(f"{variable} is not set", where=f"header {header}", hint=f"type: export {variable}=VALUE")
        _refuse_odd(variable, value)
        self._secrets.append(value)
        return value

    @classmethod
    def from_environment(
        cls, variable: str, *, required: bool = False, headers: Mapping[str, str] | None = None
    ) -> Key:
        """Returns the key in an environment variable; it may be empty.

        Raises UsageError for one that cannot be a key.
        """
        value = os.environ.get(variable, "").strip()
        if required and not value and not any(map(is_secret, headers or ())):
            raise UsageError(f"{variable} is not set", hint=f"type: export {variable}=YOUR-KEY")
        _refuse_odd(variable, value)
        return cls(variable, value, headers)

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def header(self, name: str = "Authorization") -> dict[str, str]:
        """Returns the header with the key, none without a key, and the further ones. For the request alone."""
        value = f"Bearer {self._value}" if name == "Authorization" else self._value
        return {**({name: value} if self._value else {}), **self._headers}

    def scrub(self, text: str) -> str:
        """Returns the text without the key and other secrets."""
        for spelling in self._spellings:
            text = text.replace(spelling, "[key]")
        return text

    def withheld(self, text: str) -> str:
        """Scrubs a text that is still being written, and holds back an end that may become the key."""
        text = self.scrub(text)
        starts = (
            length
            for spelling in self._spellings
            for length in range(_SHORTEST_SECRET // 2, len(spelling))
            if text.endswith(spelling[:length])
        )
        return text[: len(text) - max(starts, default=0)]


def _refuse_odd(variable: str, value: str) -> None:
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise UsageError(f"{variable} holds characters that a key cannot have", hint="set it again without them")


def client_options(
    url: str, key: Key, timeout: float, *, header: str = "Authorization", more: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Arguments for an httpx client of one server.

    `timeout`: seconds of one request; `header`: the one that holds the key; `more`: headers of the protocol.
    """
    import httpx2  # noqa: PLC0415 – names of servers are read by programs that never connect to one

    # below INFO httpcore logs headers, and with them the key
    logging.getLogger("httpcore2").setLevel(logging.INFO)
    return {
        "headers": {"User-Agent": "commonplace", "Accept-Encoding": "identity", **(more or {}), **key.header(header)},
        "timeout": httpx2.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout), pool=None),
        "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=100),
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),  # what a server sets is not kept
        "follow_redirects": False,  # a redirect would take texts and key to another address
        "verify": url.startswith("https:"),  # loading the certificates takes 40 ms that plain http need not spend
        "trust_env": not is_loopback(url),
    }


@dataclass(frozen=True, slots=True)
class Page:
    """A server's answer to one request, without the key and without lone surrogates."""

    status: int
    text: str
    data: object
    """The text as JSON; None when it is not JSON."""
    retry_after: str = ""
    """The header of this name."""

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], body: bytes, key: Key, longest: int = LONGEST_BODY) -> Page:
        """Returns a page from a body as it was sent, without data if it is longer than `longest` bytes.

        Raises Unreachable for a compression that is not known.
        """

        def safe(text: str) -> str:
            return key.scrub(whole(text))

        content = _decompressed(body, headers.get("content-encoding", ""), longest)
        retry_after = headers.get("retry-after", "")
        if len(content) >= longest:
            return cls(status, safe(content[:_SHOWN].decode("utf-8", "replace")), None, retry_after)
        text = content.decode("utf-8", "replace")
        return cls(status, safe(text), each_text(loads(text), safe), retry_after)

    def get(self, *path: str | int) -> object:
        """Returns the value at a path of names and positions in the data; None if there is no such path."""
        found = self.data
        for step in path:
            if isinstance(step, str) and isinstance(found, dict):
                found = cast("dict[str, object]", found).get(step)
            elif isinstance(step, int) and isinstance(found, list) and step < len(cast("list[object]", found)):
                found = cast("list[object]", found)[step]
            else:
                return None
        return found

    def listed(self, name: str) -> list[object] | None:
        """Returns the list of this name; None if it is missing or not a list."""
        found = self.get(name)
        return cast("list[object]", found) if isinstance(found, list) else None

    def said(self) -> str:
        """Returns the server's description of what was wrong, in at most 300 characters."""
        for path in (("error", "message"), ("error",), ("message",), ("detail",)):
            found = self.get(*path)
            if found:
                return " ".join((found if isinstance(found, str) else json.dumps(found)).split())[:300]
        return " ".join(self.text[:2000].split())[:300]


def vectors_in(page: Page, count: int) -> list[list[float]]:
    """Returns the vectors of a page of `/embeddings`, one per text, in the order of the texts. Raises WrongPage."""
    entries = page.listed("data")
    if entries is None:
        raise WrongPage("the page holds no vectors", "page")
    if len(entries) != count:
        raise WrongPage(f"{len(entries)} vectors for {count} texts", "vectors")
    ordered = sorted(enumerate(entries), key=lambda placed: _index(placed[1], placed[0]))
    return [_vector(entry) for _, entry in ordered]


def _index(entry: object, position: int) -> int:
    index = cast("dict[str, object]", entry).get("index") if isinstance(entry, dict) else None
    return index if isinstance(index, int) else position


def _vector(entry: object) -> list[float]:
    vector = cast("dict[str, object]", entry).get("embedding") if isinstance(entry, dict) else None
    numbers = cast("list[object]", vector) if isinstance(vector, list) else []
    # the comparison is false for NaN, too
    finite = all(isinstance(number, int | float) and abs(number) < _LARGEST_COMPONENT for number in numbers)
    if not 0 < len(numbers) <= _LONGEST_VECTOR or not finite:
        raise WrongPage("a vector that is not a list of finite numbers", "vectors")
    return cast("list[float]", numbers)


def loads(text: str) -> object:
    """Parses strict JSON, but allows raw control characters in strings.

    Returns None for anything else, NaN and deep nesting too.
    """
    try:
        return json.loads(text, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def whole(text: str) -> str:
    """Returns the text without lone surrogates: halves of characters that a model did not finish."""
    return text.encode("utf-8", "ignore").decode()


def each_text(data: object, change: Callable[[str], str]) -> object:
    """Returns the data with every string in it changed; None when it is nested too deeply."""
    try:
        return _each(data, change)
    except RecursionError:
        return None


def _each(data: object, change: Callable[[str], str]) -> object:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_each(item, change) for item in cast("list[object]", data)]
    if isinstance(data, dict):
        return {change(name): _each(item, change) for name, item in cast("dict[str, object]", data).items()}
    return data


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _decompressed(body: bytes, encoding: str, longest: int) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise Unreachable(f"the body is compressed by {encoding}, which was not asked for")
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, longest)
    except zlib.error:
        raise Unreachable(f"the body is not {encoding}") from None
