"""Where memories are kept for longer than a process lives."""

from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.store import Store, Stored

__all__ = ["Store", "Stored", "open_store"]
