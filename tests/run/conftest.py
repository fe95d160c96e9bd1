"""What the tests of runs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.lived import plaza
from run.databases import Home, database, fresh

__all__ = ["database", "plaza"]


@pytest.fixture(params=["file", "database"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """Where a test keeps its runs, each under a name: `home / "a.run"`. It is tried with files and with a database."""
    if request.param == "file":
        yield tmp_path
        return
    with fresh(request.getfixturevalue("postgres_url")) as made:
        yield made
