"""Spans of OpenTelemetry for the calls of streams, where a program asks for them.

from commonplace.memory.spans import instrument
instrument()
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from functools import wraps
from typing import Any, cast

from commonplace.memory.pool import Memories
from commonplace.memory.stream import MemoryStream

CALLS: dict[type, tuple[str, ...]] = {
    MemoryStream: (
        *("remember", "add_many", "revise", "forget", "archive", "unarchive", "import_", "reembed", "extract"),
        *("retrieve", "recall_many", "search", "refresh", "flush"),
    ),
    Memories: ("recall",),
}
"""Class → the methods whose calls are spans."""


def instrument() -> bool:
    """Makes a span `commonplace.memory.CALL` of each later call of a stream; tells whether OpenTelemetry is installed.

    Does nothing without the package `opentelemetry-api`. A span has `commonplace.agent` and, where a call returns
    several memories or hits, `commonplace.count`; no text of a memory or question is in it. May be called twice.
    """
    try:
        from opentelemetry.trace import get_tracer  # noqa: PLC0415 - an optional package
    except ImportError:
        return False
    uninstrument()
    tracer = get_tracer("commonplace.memory")
    for owner, names in CALLS.items():
        for name in names:
            setattr(owner, name, _traced(tracer, name, getattr(owner, name)))
    return True


def uninstrument() -> None:
    """Ends what `instrument` began."""
    for owner, names in CALLS.items():
        for name in names:
            plain = getattr(getattr(owner, name), "untraced", None)
            if plain is not None:
                setattr(owner, name, plain)


def _traced(tracer: Any, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        with tracer.start_as_current_span(f"commonplace.memory.{name.rstrip('_')}") as span:
            if isinstance(self, MemoryStream):
                span.set_attribute("commonplace.agent", self.agent)
            found = method(self, *args, **kwargs)
            if isinstance(found, Sized):
                span.set_attribute("commonplace.count", len(found))
            return found

    cast(Any, traced).untraced = method
    return traced
