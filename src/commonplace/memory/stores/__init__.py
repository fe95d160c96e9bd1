"""Stores that keep memories beyond the life of a process."""

from typing import TYPE_CHECKING, Any

from commonplace.memory.stores.opening import open_store, read_store
from commonplace.memory.stores.store import Store, Stored, load
from commonplace.registry import MEMORY, found

if TYPE_CHECKING:
    from commonplace.parts.stores.postgres_stream import DatabaseStream

__all__ = ["DatabaseStream", "Store", "Stored", "load", "open_store", "read_store"]


def __getattr__(name: str) -> Any:
    if name == "DatabaseStream":
        return found(MEMORY[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
