"""What is being said, while a model still writes it: for whoever watches. It is never stored, and decides nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from commonplace.text import clean

Listener = Callable[[str, str], object]
"""Told who says something and the words so far; no words if it will not be said after all. It must not fail."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_WORDS = (
    r'((?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*)"
)
"""The whole characters at the beginning of a JSON string: not half of an escape."""


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Tells the listener what is said within the block, in this task and those that it starts."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def listener() -> Listener | None:
    """Returns the listener; None if there is none."""
    return _LISTENER.get()


def words_in(written: str, field: str) -> str:
    """Returns the words of a field in JSON that is still being written; empty as long as it has none."""
    found = re.search(rf'(?<!\\)"{field}"\s*:\s*"{_WORDS}', written)
    return clean(json.loads(f'"{found[1]}"', strict=False)) if found else ""
