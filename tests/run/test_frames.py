"""Frames that are carried forward and kept equal those made from the state at their own tick, in any order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.run import reading as run_reading
from commonplace.run.frames import Frame
from commonplace.run.opening import create_store
from commonplace.run.reading import Frames, Reading
from run.databases import Home
from run.small_runs import MANIFEST, Village, make, plot

TICKS = 40


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("frames") / "a.run", TICKS)


@pytest.fixture(scope="module")
def expected(path: Path) -> list[Frame]:
    """Each from the state at its own tick."""
    with pytest.MonkeyPatch.context() as patch, Reading.open(path) as reading:
        patch.setattr(run_reading, "SPAN", 1)
        patch.setattr(run_reading, "KEPT", 1)
        return [Frames(reading).at(tick) for tick in range(TICKS + 1)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.integers(0, TICKS), max_size=30), st.integers(1, 9), st.integers(1, 4))
def test_in_any_order_with_any_span(path: Path, expected: list[Frame], ticks: list[int], span: int, kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch, Reading.open(path) as reading:
        patch.setattr(run_reading, "SPAN", span)
        patch.setattr(run_reading, "KEPT", kept)
        assert [reading.frame(tick) for tick in ticks] == [expected[tick] for tick in ticks]
        assert list(reading.frames(first=7)) == expected[7:]


def test_they_grow_with_the_run(home: Home, expected: list[Frame]) -> None:
    village = Village()
    with create_store(home / "a.run", MANIFEST) as run, Reading.open(home / "a.run") as reading:
        run.commit(village.opening())
        assert reading.frame() == expected[0]
        for tick in range(1, TICKS + 1):
            run.commit(village.tick(plot(tick)))
            assert reading.frame() == expected[tick]
        assert list(reading.frames()) == expected
