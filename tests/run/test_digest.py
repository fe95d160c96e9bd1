from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.run.digest import START, Digests, digests_of, packed_parts, rows_digest, rows_of, unpacked_parts
from commonplace.run.reading import Reading
from commonplace.run.rows import TickRecord
from run.small_runs import Village, make, plot

BEGIN = Digests(START, START)
PRINT = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from commonplace.run.reading import Reading
from run.small_runs import make
with tempfile.TemporaryDirectory() as folder, Reading.open(make(Path(folder) / "x.run", 8)) as reading:
    print(reading.digest(), reading.digest(state=True))
"""


def record() -> TickRecord:
    live_state = Village()
    live_state.opening()
    for number in range(1, 5):
        found = live_state.tick(plot(number))
    return found


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONHASHSEED": "1", "TZ": "Asia/Seoul"}, {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "UTC+9"}],
)
def test_digests_depend_on_what_happened_alone(tmp_path: Path, environment: dict[str, str]) -> None:
    with Reading.open(make(tmp_path / "elsewhere.run", 8)) as reading:
        here = f"{reading.digest()} {reading.digest(state=True)}\n"
    done = subprocess.run(
        [sys.executable, "-c", PRINT, Path(__file__).parents[1]],
        env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == here


def test_the_order_in_which_a_record_was_put_together_does_not_matter() -> None:
    one = record()
    other = replace(
        one,
        events=one.events[::-1],
        deltas=dict(reversed(one.deltas.items())),
        versions=one.versions[::-1],
        answers=one.answers[::-1],
    )
    assert digests_of(rows_of(one), BEGIN, "e") == digests_of(rows_of(other), BEGIN, "e")


def test_every_part_of_a_record_counts() -> None:
    one = record()
    ann = one.deltas["ann"]
    variants = [
        replace(one, events=one.events[1:]),
        replace(one, versions=one.versions[1:]),
        replace(one, answers=one.answers[1:]),
        replace(one, removed={"ann": (1,)}),
        replace(one, deltas={**one.deltas, "ann": replace(ann, touched=(1,))}),
        replace(one, deltas={**one.deltas, "ann": replace(ann, vectors=(None,))}),
    ]
    digests = {digests_of(rows_of(variant), BEGIN, "e") for variant in [one, *variants]}
    assert len(digests) == len(variants) + 1
    assert len({found.history for found in digests}) == 2


def test_traces_and_usage_do_not_count() -> None:
    one = record()
    other = replace(one, traces={}, answers=tuple(replace(row, usage={}) for row in one.answers))
    assert digests_of(rows_of(one), BEGIN, "e") == digests_of(rows_of(other), BEGIN, "e")


def test_bytes_and_their_hexadecimal_text_are_different_cells() -> None:
    assert rows_digest([(b"\xab",)]) != rows_digest([("ab",)])
    assert rows_digest([("a", "b")]) != rows_digest([("ab",)]) != rows_digest([("a",), ("b",)])


def test_parts_round_trip() -> None:
    parts = {"memory": b"m" * 16, "input": b"i" * 16}
    assert {kind: part for kind, part in unpacked_parts(packed_parts(parts)).items() if any(part)} == parts
