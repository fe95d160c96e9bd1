"""The JSONL store does what every store does; its files are those of the coordinate document."""

from __future__ import annotations

from pathlib import Path

from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.jsonl_files import Storage, StoreConfig
from commonplace.testing.stores import StoreContract
from sizes import PROVE


class TestJSONL(StoreContract):
    each = 40 if PROVE else 4

    def open(self, where: Path) -> JSONLStore:
        return JSONLStore(where)


class TestCompressed(StoreContract):
    examples = 5

    def open(self, where: Path) -> JSONLStore:
        return JSONLStore(where, config=StoreConfig(storage=Storage(compression="gzip")))
