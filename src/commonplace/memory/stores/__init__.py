"""Where memories are kept for longer than a process lives."""

from typing import TYPE_CHECKING, Any

from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.store import Store, Stored

if TYPE_CHECKING:
    from commonplace.memory.stores.postgres_stream import DatabaseStream

__all__ = ["DatabaseStream", "Store", "Stored", "open_store"]


def __getattr__(name: str) -> Any:
    if name == "DatabaseStream":
        # on use: it is built on streams, which open stores
        from commonplace.memory.stores.postgres_stream import DatabaseStream  # noqa: PLC0415

        return DatabaseStream
    raise AttributeError(name)
