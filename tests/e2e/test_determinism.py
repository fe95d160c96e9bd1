"""Same scenario, seed and answers: the same two digests, whatever the machine, the settings and the order of things."""

from __future__ import annotations

import asyncio
import json
import random
import signal
from itertools import cycle, permutations
from pathlib import Path

import pytest

import commonplace
from commonplace.api import mind_named, scenario_of
from commonplace.engine.run import Run
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.scenario.compiling import load
from commonplace.scenario.loading import find
from commonplace.stages import by_name
from commonplace.testing import SlowMind
from e2e.command import command, ends, environment, finished, started
from e2e.lived import PLAZA_TICKS, TOWN_TICKS
from sizes import PROVE

MOST = TOWN_TICKS if PROVE else 48
"""Ticks of a run in pieces."""
SETTINGS = {
    "another hash seed": {"PYTHONHASHSEED": "4242"},
    "no random hashes": {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "America/St_Johns"},
    "another place": {"TZ": "Asia/Seoul", "LC_ALL": "ko_KR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "a plain locale without UTF-8": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "an old processor": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
}
TOGETHER = (
    ("another place", "two threads", "another hash seed"),
    ("a plain locale without UTF-8", "optimised", "an old processor"),
)
"""What `make test` changes at once."""


@pytest.mark.parametrize(
    "changes",
    [
        *({name: value for one in names for name, value in SETTINGS[one].items()} for names in TOGETHER),
        *(pytest.param(changes, marks=pytest.mark.slow) for changes in SETTINGS.values()),
    ],
    ids=[*map(", ".join, TOGETHER), *SETTINGS],
)
def test_the_machine_and_its_settings_change_nothing(changes, town, tmp_path):
    run = tmp_path / "elsewhere.run"
    env = environment(**_possible(changes))
    done = command("run", "latticeville", "--ticks", 36, "-o", run, "--view", "none", env=env)
    assert ends(run) == ends(town, 36)
    assert done.lines[-1] == f"tick 36  digest {ends(town, 36).history}"


# ── clocks ──────────────────────────────────────────────────────────────────────────────────────────────────────────

LIBFAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
CLOCKS = {
    "at the beginning": "@1970-01-01 00:00:01",
    "over the end of 32 bits": "@2038-01-19 03:14:07",
    "over a century": "@2099-12-31 23:59:59",
    "a thousand times too fast": "+0 x1000",
    "nearly standing": "+0 x0.001",
    "a day back": "-1d",
}
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "<-2545>25:45", "no/such/zone")


def clock(text: str, zone: str = "UTC") -> dict[str, str]:
    """The environment of a process whose wall clock is another one."""
    assert LIBFAKETIME is not None
    return environment(LD_PRELOAD=str(LIBFAKETIME), FAKETIME=text, FAKETIME_DONT_FAKE_MONOTONIC="1", TZ=zone)


@pytest.mark.skipif(not LIBFAKETIME, reason="libfaketime is not installed (the package faketime)")
@pytest.mark.parametrize(
    ("first", "second", "zone"),
    [
        ("over a century", "at the beginning", "Asia/Kathmandu"),
        *(
            pytest.param(first, second, zone, marks=pytest.mark.slow)
            for (first, second), zone in zip(permutations(CLOCKS, 2), cycle(ZONES))
        ),
    ],
)
def test_whatever_the_clock_says_the_history_is_the_same(first, second, zone, plaza, tmp_path):
    run, fork = tmp_path / "a.run", tmp_path / "b.run"
    command("run", "plaza", "--ticks", 8, "-o", run, "--view", "none", env=clock(CLOCKS[first], zone))
    command("resume", run, "--ticks", 8, "--view", "none", env=clock(CLOCKS[second]))
    assert ends(run) == ends(plaza, 16)
    command("verify", run, env=clock(CLOCKS[second], zone))
    command("fork", run, "--at", 12, "-o", fork, env=clock(CLOCKS[first]))
    assert ends(fork) == ends(plaza, 12)


@pytest.mark.skipif(not LIBFAKETIME, reason="libfaketime is not installed (the package faketime)")
def test_a_clock_that_jumps_at_every_tick_changes_nothing(plaza, tmp_path):
    run, hands = tmp_path / "a.run", tmp_path / "hands"
    jumps = cycle(CLOCKS.values())
    hands.write_text(next(jumps))
    env = {**clock("+0"), "FAKETIME_TIMESTAMP_FILE": str(hands), "FAKETIME_NO_CACHE": "1"}
    del env["FAKETIME"]
    process = started("run", "plaza", "--ticks", 30, "-o", run, "--view", "json", env=env)
    assert process.stdout is not None
    for _ in process.stdout:
        hands.write_text(next(jumps))
    finished(process)
    assert ends(run) == ends(plaza, 30)


def _possible(changes: dict[str, str]) -> dict[str, str]:
    """NumPy warns of features that the processor lacks anyway, and warnings are errors."""
    features = changes.get("NPY_DISABLE_CPU_FEATURES")
    if features is None:
        return changes
    from numpy._core._multiarray_umath import __cpu_baseline__, __cpu_dispatch__, __cpu_features__

    there = [
        one
        for one in features.split()
        if __cpu_features__.get(one) and one in __cpu_dispatch__ and one not in __cpu_baseline__
    ]
    return {**changes, "NPY_DISABLE_CPU_FEATURES": " ".join(there)}


@pytest.mark.parametrize("view", ["json", pytest.param("none", marks=pytest.mark.slow)])
def test_the_view_changes_nothing(view, plaza, tmp_path):
    run = tmp_path / "seen.run"
    command("run", "plaza", "--ticks", PLAZA_TICKS, "-o", run, "--view", view)
    assert ends(run) == ends(plaza)


@pytest.mark.parametrize("concurrency", [pytest.param(1, marks=pytest.mark.slow), 7])
def test_concurrency_changes_nothing(concurrency, plaza, tmp_path):
    run = tmp_path / "together.run"
    command("run", "plaza", "--ticks", PLAZA_TICKS, "-o", run, "--view", "none", "--concurrency", concurrency)
    assert ends(run) == ends(plaza)


def test_three_pieces_make_the_same_whole(town, tmp_path):
    run = tmp_path / "pieces.run"
    command("run", "latticeville", "--ticks", 25, "-o", run, "--view", "none")
    command("resume", run, "--ticks", 13, "--view", "json")
    command("resume", run, "--until", MOST, "--view", "none", "--concurrency", 2)
    assert ends(run) == ends(town, MOST)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["plaza", "latticeville"])
def test_a_piece_for_every_tick_makes_the_same_whole(scenario, plaza, town, tmp_path):
    """Two days of the plaza, so that plans and reflections are on their way at some of the seams."""
    whole, pieces = tmp_path / "whole.run", tmp_path / "pieces.run"
    ticks = {"plaza": 600, "latticeville": 200}[scenario]
    command("run", scenario, "--ticks", ticks, "-o", whole, "--view", "none")
    commonplace.create_run(pieces, scenario).close()
    for tick in range(ticks):
        with commonplace.resume_run(pieces) as run:
            asyncio.run(_played(run, 1))
        assert ends(pieces, tick + 1) == ends(whole, tick + 1)


def test_any_seam_makes_the_same_whole(town, tmp_path):
    """Pieces of one to nine ticks through a morning in which everybody plans, talks and reflects."""
    pieces = tmp_path / "pieces.run"
    commonplace.create_run(pieces, "latticeville").close()
    chance = random.Random(5)
    tick, unfinished = 0, 0
    while tick < (72 if PROVE else 40):
        step = chance.randint(1, 9)
        with commonplace.resume_run(pieces) as run:
            unfinished += any(state.jobs for state in run.reading.states_at().values())
            asyncio.run(_played(run, step))
        tick += step
        assert ends(pieces) == ends(town, tick)
    assert unfinished > 3  # thoughts were on their way at some of the seams


def test_another_seed_gives_another_history(plaza, tmp_path):
    run = tmp_path / "other.run"
    command("run", "plaza", "--ticks", PLAZA_TICKS, "-o", run, "--view", "none", "--seed", 8)
    assert ends(run).history != ends(plaza).history
    assert ends(run).state != ends(plaza).state


def test_the_order_of_characters_in_the_file_changes_nothing(town, tmp_path):
    document = find("latticeville").data
    before = [character["id"] for character in document["characters"]]
    random.Random(4).shuffle(document["characters"])
    assert [character["id"] for character in document["characters"]] != before
    shuffled, run = tmp_path / "shuffled.yaml", tmp_path / "shuffled.run"
    shuffled.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")  # JSON is YAML too
    command("run", shuffled, "--ticks", MOST, "-o", run, "--view", "none")
    assert ends(run) == ends(town, MOST)


@pytest.mark.parametrize(("salt", "concurrency"), [(1, 32), pytest.param(2, 3, marks=pytest.mark.slow)])
def test_the_order_in_which_answers_come_changes_nothing(salt, concurrency, town, tmp_path):
    scenario = load("latticeville")
    manifest = Manifest(scenario="latticeville", text=scenario.text, seed=7, mind="offline")
    mind = SlowMind(mind_named("offline", scenario), salt, longest=0.001)
    stage = by_name("town")
    path = tmp_path / "slow.run"
    with Run.start(path, manifest, scenario, stage=stage, mind=mind, concurrency=concurrency) as run:
        asyncio.run(_played(run, 20))
    with RunFile.open(path) as file, Run.resume(file, scenario_of(file.manifest), stage=stage, mind=mind) as run:
        asyncio.run(_played(run, 10))
    assert ends(path) == ends(town, 30)
    command("verify", path)


async def _played(run: Run, ticks: int) -> list[int]:
    return [tick.number async for tick in run.play(ticks)]


def test_the_python_interface_lives_the_same_run(plaza, tmp_path):
    path = tmp_path / "town.run"
    run = commonplace.create_run(str(path), scenario="plaza", seed=7, mind="offline")

    ticks = []

    async def played():
        async for tick in run.play(ticks=30):
            ticks.append(tick)
            if tick.number == 20:
                break  # a run may be left at any tick …
        async for tick in run.play(ticks=10):  # … and gone on with
            ticks.append(tick)

    asyncio.run(played())
    event = next(event for tick in ticks for event in tick.events if event.type == "SAY")
    reasons = run.why(event.id)
    run.close()

    assert [tick.number for tick in ticks] == list(range(1, 31))
    assert ticks[0].time.isoformat() == "2031-10-04T06:05:00+00:00"
    assert set(ticks[0].turns) == {"bruno", "ines"}
    assert ends(path) == ends(plaza, 30)
    opened = commonplace.open_run(str(path))
    assert opened.why(event.id) == reasons
    assert reasons["event"]["utterance"] == event.body.utterance
    opened.close()


def test_an_interrupted_run_goes_on_to_the_same_end(town, tmp_path):
    run = tmp_path / "interrupted.run"
    process = started("run", "latticeville", "--ticks", MOST, "-o", run, "--view", "json")
    with process:
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait() == 130
    assert 0 < ends(run).tick < MOST
    command("resume", run, "--view", "none")
    assert ends(run) == ends(town, MOST)
