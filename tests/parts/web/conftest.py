"""What the tests of the server share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from commonplace.parts.web.app import make_app
from commonplace.parts.web.library import Library
from parts.web.serving import client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, town: Path, plaza: Path) -> Path:
    """A runs folder of this module."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copy(town, folder / "town.run")
    shutil.copy(plaza, folder / "plaza.run")
    return folder


@pytest.fixture(scope="module")
def http(folder: Path) -> Iterator[TestClient]:
    """A server of that folder."""
    with client(make_app(Library(folder))) as http:
        yield http
