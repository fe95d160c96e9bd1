"""Answers that come as they are written: the events of a stream, put together into the page that would have come at
once. An answer that will come to nothing is stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from commonplace.parts.model_servers.http import LONGEST_BODY, Key, Page, Unreachable, loads, whole

if TYPE_CHECKING:
    from commonplace.parts.model_servers.dialects import Dialect

MOST_BLANKS = 200
"""White space in a row after which an answer is stopped."""
LEAST_REPEATED = 300
"""Characters that must say the same again and again before an answer is stopped."""
_TIMES = 8
"""How often at least."""
_LONGEST_GRAM = 150
"""The longest words, in characters, that are recognised when they are said again and again."""
_END = 12
"""Characters at the end of a text whose last occurrence shows how long the repeated words are."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_STATUSES = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529,
}  # fmt: skip
"""Types of errors that come without a status in a stream; any other counts as 500."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """A request for a streamed answer."""

    usage: bool
    """Whether to ask for the usage at its end; some servers refuse the field."""
    most: int
    """Characters after which it is stopped: more than its length limit allows."""
    heard: Callable[[str], object] | None = None
    """Told what has been written so far, without what may be the key; None where nobody listens."""


class Events:
    """A splitter of a body into events: server-sent events, or one JSON text a line."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yields the data of each event that this part of the body completes."""
        held = self._rest.endswith(b"\r")
        self._rest += chunk
        if not held and b"\n" not in chunk and b"\r" not in chunk:
            return
        held = self._rest.endswith(b"\r")  # half of a line's end, perhaps
        *lines, rest = _LINE_END.split(bytes(self._rest[: len(self._rest) - held]))
        self._rest = bytearray(rest + b"\r" * held)
        for line in lines:
            yield from self._line(line)

    def end(self) -> Iterator[str]:
        """Yields the data of an event whose end is missing."""
        line, self._rest = bytes(self._rest).rstrip(b"\r"), bytearray()
        yield from self._line(line)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[str]:
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        if text.startswith("{"):  # one JSON text a line
            yield text
            return
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "error":  # as older versions of llama.cpp say it
            yield f'{{"error": {value}}}'
        elif not text and self._data:
            data, self._data = "\n".join(self._data), []
            yield data


class StreamedAnswer:
    """The beginning of an answer that is still coming."""

    def __init__(self, dialect: Dialect, live: Streaming, key: Key) -> None:
        self.is_over = False
        """Whether nothing more will come, or is wanted."""
        self.is_cut = False
        """Whether it was stopped."""
        self._dialect = dialect
        self._live = live
        self._key = key
        self._events = Events()
        self._whole: dict[str, Any] = {}
        self._status = 200
        self._read = 0
        self._written = 0
        self._blanks = 0
        self._tail = ""
        self._said = ""

    @property
    def is_whole(self) -> bool:
        """Tells whether the answer has come to its end, though the stream may not have."""
        return self.is_over or self._dialect.is_ended(self._whole)

    def feed(self, chunk: bytes) -> None:
        """Reads a part of the body. Raises Unreachable for what is not a stream of JSON."""
        self._read += len(chunk)
        for data in self._events.feed(chunk):
            self._event(data)
        if self._read > LONGEST_BODY:
            self._cut()

    def page(self, retry_after: str = "") -> Page:
        """Returns the page that the events add up to. Raises Unreachable if the stream broke off."""
        if not self.is_over:
            for data in self._events.end():
                self._event(data)
        if not self.is_whole:
            raise Unreachable("the answer broke off")
        body = json.dumps(self._whole).encode()  # halves of a character from two events come together
        return Page.of(self._status, {"retry-after": retry_after}, body, self._key)

    def _event(self, data: str) -> None:
        if self.is_over or not data.strip():
            return
        if data.strip() == "[DONE]":
            self.is_over = True
            return
        event = loads(data)
        if isinstance(event, dict):
            self._take(cast("dict[str, Any]", event))
        elif not self.is_whole:
            raise Unreachable("the stream holds something that is not JSON")

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("error") and not self.is_whole:
            self._status, self._whole, self.is_over = _status_of(event["error"]), event, True
            return
        said, thought = self._dialect.gather(self._whole, event)
        if said or thought:
            self._watch(said + thought)
        if said and self._live.heard is not None:
            self._said += said
            self._live.heard(whole(self._key.withheld(self._said)))

    def _watch(self, text: str) -> None:
        """Stops an endless answer."""
        self._written += len(text)
        bare = text.rstrip()
        self._blanks = len(text) - len(bare) + (0 if bare else self._blanks)
        self._tail = (self._tail + text)[-_TIMES * _LONGEST_GRAM :]
        if self._blanks >= MOST_BLANKS or self._written > self._live.most or is_repeated(self._tail):
            self._cut()

    def _cut(self) -> None:
        self.is_over = self.is_cut = True
        self._dialect.cut(self._whole)


def is_repeated(text: str) -> bool:
    """Tells whether a text ends by repeating the same words. A text with brackets may be a list of equal things."""
    if len(text) < LEAST_REPEATED:
        return False
    end = text[-_END:]
    before = text.rfind(end, 0, len(text) - 1)
    length = len(text) - _END - before
    needed = max(LEAST_REPEATED, _TIMES * length)
    if before < 0 or length > _LONGEST_GRAM or len(text) < needed or re.search(r"[{}\[\]]", text[-length:]):
        return False
    last = text[-needed:]
    return last[length:] == last[:-length]


def is_stream(text: str) -> bool:
    """Tells whether a body is a stream, whatever its content type says."""
    return text.startswith(("data:", "event:", ": "))


def _status_of(error: object) -> int:
    """Returns the status that a page of this error would have had."""
    told = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    codes = [told.get(name) for name in ("code", "status")]
    found = next((code for code in codes if isinstance(code, int) and 400 <= code < 600), None)
    return found or _STATUSES.get(str(told.get("type")), 500)
