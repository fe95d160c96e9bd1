"""A page: what a server sent back, made safe to look at."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from commonplace.errors import Paused, UsageError
from commonplace.memory import estimate_tokens
from commonplace.minds.chat.servers import Server

# ── key ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The key of a server: from the environment, into one header, and nowhere else.


_SECRET = 8
"""Characters from which on a key is taken out of what a server says; shorter ones are words like `none`."""


class Key:
    """A key that does not show itself."""

    def __init__(self, variable: str, value: str) -> None:
        self.variable = variable
        self._value = value
        self._spellings = (value, value.replace("/", "\\/"), value.replace("+", "\\u002B"))
        """As some servers write it in JSON."""

    @classmethod
    def of(cls, server: Server) -> Key:
        """The key in the server's environment variable. Raises UsageError when it is missing and wanted, or no key."""
        value = os.environ.get(server.variable, "").strip()
        if server.wants_key and not value:
            raise UsageError(f"{server.variable} is not set", hint=f"type: export {server.variable}=YOUR-KEY")
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise UsageError(f"{server.variable} holds characters that no key has", hint="set it again, without them")
        return cls(server.variable, value)

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def __bool__(self) -> bool:
        return bool(self._value)

    def header(self) -> str:
        """The value of the `Authorization` header. For the request alone."""
        return f"Bearer {self._value}"

    def scrub(self, text: str) -> str:
        """The text without the key."""
        if len(self._value) >= _SECRET:
            for spelling in self._spellings:
                text = text.replace(spelling, "[key]")
        return text


# ── page ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Page:
    """A server's answer to one request, free of the key and of lone surrogates."""

    status: int
    text: str
    data: object
    """The text as JSON; None when it is none."""
    retry_after: str = ""
    """The header of this name."""

    @classmethod
    def of(cls, status: int, body: bytes, key: Key, retry_after: str = "") -> Page:
        """A page from the bytes of a body."""

        def safe(text: str) -> str:
            return key.scrub(whole(text))

        text = body.decode("utf-8", "replace")
        return cls(status, safe(text), each_text(loads(text), safe), retry_after)

    def get(self, *path: str | int) -> object:
        """What lies at a path of names and places in the data; None where there is nothing."""
        found = self.data
        for step in path:
            if isinstance(step, str) and isinstance(found, dict):
                found = cast("dict[str, object]", found).get(step)
            elif isinstance(step, int) and isinstance(found, list) and step < len(cast("list[object]", found)):
                found = cast("list[object]", found)[step]
            else:
                return None
        return found

    def said(self) -> str:
        """What the server says was wrong, in at most 300 characters."""
        for path in (("error", "message"), ("error",), ("message",), ("detail",)):
            found = self.get(*path)
            if found:
                return " ".join((found if isinstance(found, str) else json.dumps(found)).split())[:300]
        return " ".join(self.text[:2000].split())[:300]


def loads(text: str) -> object:
    """Strict JSON but for raw control characters in strings; None for what is none: NaN and bottomless nesting too."""
    try:
        return json.loads(text, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def whole(text: str) -> str:
    """The text without lone surrogates, which are halves of characters a model did not finish."""
    return text.encode("utf-8", "ignore").decode()


def each_text(data: object, change: Callable[[str], str]) -> object:
    """The data with every string in it changed; None when it lies too deep."""
    try:
        return _each(data, change)
    except RecursionError:
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _each(data: object, change: Callable[[str], str]) -> object:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_each(item, change) for item in cast("list[object]", data)]
    if isinstance(data, dict):
        return {change(name): _each(item, change) for name, item in cast("dict[str, object]", data).items()}
    return data


# ── outage ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a server can do to a question besides answering it.


class Outage(Paused):
    """A model server that stayed away; the run stops at a tick boundary and can be resumed."""

    def __init__(self, server: str, happened: str) -> None:
        super().__init__(f"the model server {server} does not answer: {happened}", hint="see to the server")


class Unreachable(Exception):
    """No page came back: refused, reset, cut off."""


class Late(Exception):
    """No page came back in time."""


# ── usage ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Usage: the tokens an answer cost, as the server tells, else estimated.


_MOST = 10_000_000
"""Tokens no request has; a server that tells more tells nonsense."""


def usage_of(page: Page, asked: str, answered: str) -> tuple[int, int, int]:
    """Prompt tokens, those of them the server had read before, answer tokens."""
    prompt = _count(page, "prompt_tokens")
    answer = _count(page, "completion_tokens")
    cached = _count(page, "prompt_tokens_details", "cached_tokens") or 0
    prompt = estimate_tokens(asked) if prompt is None else prompt
    return prompt, min(cached, prompt), estimate_tokens(answered) if answer is None else answer


def _count(page: Page, *path: str) -> int | None:
    told = page.get("usage", *path)
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= _MOST else None
