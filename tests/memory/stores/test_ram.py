"""The store in RAM keeps the contract."""

from __future__ import annotations

from pathlib import Path

from commonplace.errors import UsageError
from commonplace.memory.stores.ram import RAMStore
from commonplace.memory.stores.store import Add, Forget, Revise, compacted
from commonplace.testing.stores import StoreContract, memory, write


class TestRAM(StoreContract):
    _stores: dict[Path, RAMStore]

    def setup_method(self) -> None:
        self._stores = {}

    def open(self, where: Path) -> RAMStore:
        before, store = self._stores.get(where), RAMStore()
        if before is not None and not before._closed:
            raise UsageError("it is open", hint="close it")
        if before is not None:
            store._kept = before._kept
        self._stores[where] = store
        return store

    def test_of_what_cannot_be_stored_nothing_is(self) -> None:
        """RAM can hold anything."""


def test_what_was_forgotten_is_in_no_operation():
    store = RAMStore()
    write(store, "maria", Add([memory(1, text="a secret"), memory(2)], [None, None]))
    write(store, "maria", Revise([memory(1, text="another secret")], [None]))
    write(store, "maria", Forget([1]))
    operations = store.read("maria").operations
    assert "secret" not in repr(operations)
    assert len(operations) == 2
    assert len(compacted("maria", operations)) == 2
