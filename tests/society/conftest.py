"""Two days of Latticeville with the real offline mind, lived once per seed and shared by every worker."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.api import OpenedRun, create_run, open_run
from society.village import DAY

SEEDS = (1,)
MORE = tuple(range(2, 11))


def _lived(path: Path, seed: int) -> None:
    async def play() -> None:
        with create_run(path, "latticeville", seed=seed, synchronous="OFF") as run:
            async for _ in run.play(2 * DAY):
                pass

    asyncio.run(play())


def _once(folder: Path, seed: int) -> Path:
    """The run of a seed; whichever worker comes first lives it, the others wait for it to be complete."""
    path, done = folder / f"latticeville-{seed}.run", folder / f"latticeville-{seed}.done"
    try:
        os.close(os.open(folder / f"latticeville-{seed}.lock", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        for _ in range(3000):
            if done.exists():
                return path
            time.sleep(0.1)
        raise
    _lived(path, seed)
    done.touch()
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run that its workers share."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "society"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture(
    scope="session",
    params=[*SEEDS, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MORE)],
    ids=lambda seed: f"seed-{seed}",
)
def run(request: pytest.FixtureRequest, folder: Path) -> Iterator[OpenedRun]:
    """A run of two days to look into."""
    with open_run(_once(folder, request.param)) as opened:
        yield opened
