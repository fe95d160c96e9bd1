"""Stores that keep memories beyond the life of a process."""

from typing import TYPE_CHECKING, Any

from commonplace.memory.stores.opening import open_store, read_store
from commonplace.memory.stores.store import Store, Stored

if TYPE_CHECKING:
    from commonplace.memory.stores.postgres_stream import DatabaseStream

__all__ = ["DatabaseStream", "Store", "Stored", "open_store", "read_store"]


def __getattr__(name: str) -> Any:
    if name == "DatabaseStream":
        # imported on use: it needs streams, and streams import this package
        from commonplace.memory.stores.postgres_stream import DatabaseStream  # noqa: PLC0415

        return DatabaseStream
    raise AttributeError(name)
