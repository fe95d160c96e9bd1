"""Programs of `benchmarks/` as modules."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def program(name: str) -> ModuleType:
    """Imports one as it is imported when it is run: with those beside it."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))
