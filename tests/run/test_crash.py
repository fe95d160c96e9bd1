from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.rng import below
from commonplace.run import integrity
from commonplace.run.file import RunFile
from commonplace.run.reading import Reading
from run.small_runs import Village, answer, make, plot
from sizes import PROVE

WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from commonplace.run.file import RunFile
from run.small_runs import MANIFEST, Village, answer, plot
life = Village()
with RunFile.create(Path(sys.argv[1]), MANIFEST) as run:
    run.commit(life.opening())
    for number in range(1, 100000):
        run.journal.keep(answer("ann", number, ordinal=7))
        print(number, flush=True)
        run.commit(life.tick(plot(number)))
"""
TICKS = 40


@pytest.fixture(scope="module")
def digests(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Of a run that nobody killed."""
    with Reading.open(make(tmp_path_factory.mktemp("whole") / "a.run", TICKS)) as reading:
        return [reading.digest(tick, state=True) for tick in range(TICKS + 1)]


@pytest.mark.parametrize("number", range(6 if PROVE else 3))
def test_a_killed_writer_leaves_a_committed_tick_and_the_answers_it_paid_for(
    tmp_path: Path, number: int, digests: list[str]
) -> None:
    path = tmp_path / "a.run"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, path, Path(__file__).parents[1]], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(2 + below(20, number, "until"))]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Reading.open(path) as reading:  # before anybody has recovered it
        last = reading.last_tick
        assert said[-1] - 1 <= last
        assert integrity.check(reading) == last
        assert last > TICKS or reading.digest(state=True) == digests[last]
    with RunFile.open(path) as run:
        assert run.last_tick == last
        assert run.journal.find("ann", said[-1], 7, answer("ann", said[-1]).request)
        live_state = Village()
        live_state.opening()
        for tick in range(1, last + 2):
            record = live_state.tick(plot(tick))
        run.commit(record)
        assert last + 1 > TICKS or run.digests.state.hex() == digests[last + 1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.run"]
