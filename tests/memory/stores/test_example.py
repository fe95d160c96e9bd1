"""The store of the examples keeps the contract."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from commonplace.testing.stores import StoreContract

EXAMPLE = Path(__file__).parents[3] / "examples" / "13_a_store_of_your_own.py"
_spec = importlib.util.spec_from_file_location("a_store_of_your_own", EXAMPLE)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)


class TestExample(StoreContract):
    def open(self, where: Path):
        return _module.Journals(where)
