"""Two days of Latticeville with the real offline mind, lived once per seed and shared by every worker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.api import OpenedRun, create_run, open_run
from e2e.lived import once
from society.village import DAY

SEEDS = (1,)
MORE = tuple(range(2, 11))


def _lived(path: Path, seed: int) -> None:
    async def play() -> None:
        with create_run(path, "latticeville", seed=seed, synchronous="OFF") as run:
            async for _ in run.play(2 * DAY):
                pass

    asyncio.run(play())


@pytest.fixture(
    scope="session",
    params=[*SEEDS, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MORE)],
    ids=lambda seed: f"seed-{seed}",
)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedRun]:
    """A run of two days to look into."""
    seed = request.param
    with open_run(once(tmp_path_factory, f"latticeville-{seed}.run", lambda path: _lived(path, seed))) as opened:
        yield opened
