"""Stores that keep memories beyond the life of a process."""

from typing import TYPE_CHECKING, Any

from commonplace.memory.stores.codec import operation_json, operation_of
from commonplace.memory.stores.opening import open_store, read_store
from commonplace.memory.stores.store import (
    Add,
    Archive,
    Configure,
    Forget,
    Log,
    Operation,
    Overtaken,
    Restore,
    Revise,
    Store,
    Stored,
    Touch,
    checked_agent,
    compacted,
    fold,
    load,
    overtaken,
)
from commonplace.registry import MEMORY, found

if TYPE_CHECKING:
    from commonplace.parts.stores.postgres_stream import DatabaseStream

__all__ = [
    "Add",
    "Archive",
    "Configure",
    "DatabaseStream",
    "Forget",
    "Log",
    "Operation",
    "Overtaken",
    "Restore",
    "Revise",
    "Store",
    "Stored",
    "Touch",
    "checked_agent",
    "compacted",
    "fold",
    "load",
    "open_store",
    "operation_json",
    "operation_of",
    "overtaken",
    "read_store",
]


def __getattr__(name: str) -> Any:
    if name == "DatabaseStream":
        return found(MEMORY[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
