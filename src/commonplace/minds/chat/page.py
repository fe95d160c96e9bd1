"""A page: what a server sent back, made safe to look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from commonplace.minds.chat.key import Key


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
