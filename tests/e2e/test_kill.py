"""Killed at any instant, gone on with: the digests of a run never killed, and every file in between can be read."""

from __future__ import annotations

import asyncio
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commonplace.api import open_run
from commonplace.engine.driver import JOB_ORDINALS
from commonplace.errors import UsageError
from e2e import paying
from e2e.command import command, copied, ends, environment, started, tables
from e2e.lived import once
from sizes import PROVE

TICKS = {"plaza": 300, "latticeville": 96} if PROVE else {"plaza": 200, "latticeville": 45}
SPANS = (("start", 1.0), ("ticks", 0.4))
"""Kills fall within so many seconds of the process's start, or of the first tick it shows."""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The runs that nobody kills, by scenario."""
    return {
        scenario: once(
            tmp_path_factory,
            f"unbroken-{scenario}.run",
            lambda run, name=scenario: command("run", name, "--ticks", TICKS[name], "-o", run, "--view", "none"),
        )
        for scenario in TICKS
    }


@pytest.mark.parametrize("scenario", TICKS)
def test_a_run_killed_at_random_moments_ends_as_one_never_killed(scenario, unbroken, tmp_path):
    kill_and_go_on(scenario, unbroken[scenario], tmp_path, kills=2, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scenario", TICKS)
def test_a_hundred_kills(scenario, seed, unbroken, tmp_path):
    kill_and_go_on(scenario, unbroken[scenario], tmp_path, kills=10, seed=seed + 100)


def kill_and_go_on(scenario: str, unbroken: Path, folder: Path, kills: int, seed: int) -> None:
    """Kill a run, and what goes on with it, from outside; look at the file every other time; then let it end in peace.

    A run that comes to its end before its kills are spent is followed by another.
    """
    chance = random.Random(f"{scenario} {seed}")
    number = 0
    while kills > 0:
        run = folder / f"killed-{number}.run"
        number += 1
        fresh = ("run", scenario, "--ticks", TICKS[scenario], "--force", "-o", run)
        given = fresh
        while kills > 0:
            status = killed(given, chance)
            if status == 0:
                break
            kills -= status == -signal.SIGKILL
            given = ("resume", run)
            if status > 0:  # refused: it was killed before anything was committed
                assert last_tick(run) < 0
                given = fresh
            elif chance.random() < 0.5:
                assert_readable(run)
        command(*(fresh if last_tick(run) < 0 else ("resume", run)), "--view", "none")
        assert ends(run) == ends(unbroken)
    command("verify", run)


def killed(arguments: tuple[object, ...], chance: random.Random) -> int:
    """Start the command and kill it some time later; its status, −9 unless it had ended by itself."""
    begin, longest = chance.choice(SPANS)
    process = started(*arguments, "--view", "json", stderr=subprocess.DEVNULL)
    with process:
        if begin == "ticks":
            select.select([process.stdout], [], [], 60)
        deadline = time.monotonic() + chance.uniform(0, longest)
        while (left := deadline - time.monotonic()) > 0:  # a full pipe would stop it
            if select.select([process.stdout], [], [], left)[0] and not process.stdout.buffer.read1(1 << 16):
                break
        process.send_signal(signal.SIGKILL)
    return process.returncode


def last_tick(run: Path) -> int:
    """The last one committed; −1 for none."""
    try:
        with open_run(run) as reading:
            return reading.last_tick
    except UsageError:
        return -1


def assert_readable(run: Path) -> None:
    """What was committed can be looked at in every way, and is sound."""
    last = last_tick(run)
    if last < 0:
        return
    assert f"tick {last} " in command("verify", run, "--integrity-only").out
    rows = command("events", run, "--json").rows
    assert {row["tick"] for row in rows} <= set(range(1, last + 1))
    assert not last or rows[-1]["tick"] == last


# ── answers that cost something ─────────────────────────────────────────────────────────────────────────────────────


def test_no_answer_is_paid_for_twice(tmp_path, unbroken):
    chance = random.Random(11)
    run, bill = tmp_path / "paid.run", tmp_path / "bill.txt"
    given = [sys.executable, paying.__file__, *map(str, (run, bill, *PAID))]
    kept: set[Attempt] = set()
    used = 0
    for _ in range(3 if PROVE else 2):
        before = len(paid(bill))
        with subprocess.Popen(given, env=environment(), stdout=subprocess.PIPE) as process:
            enough = before + chance.randint(15, 40)
            while len(paid(bill)) < enough and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
        assert not kept & set(paid(bill)[before:])
        kept = journaled(run)
        must = used_already(paid(bill))
        assert must <= kept
        used = max(used, len(must))
    before = len(paid(bill))
    asyncio.run(paying.main(run, bill, *PAID))
    assert not kept & set(paid(bill)[before:])
    assert used > 20
    assert any(attempt for *_, attempt in kept)
    command("verify", run)
    whole, once_paid = tmp_path / "whole.run", tmp_path / "whole.txt"
    asyncio.run(paying.main(whole, once_paid, *PAID))
    assert ends(run) == ends(whole)
    assert ends(run).history == ends(unbroken["latticeville"], PAID[1]).history  # every slip was mended
    assert set(paid(once_paid)) == set(paid(bill))
    assert len(paid(once_paid)) == len(set(paid(once_paid)))


PAID = "latticeville", 30 if PROVE else 20
"""The scenario and its ticks."""
Attempt = tuple[str, int, int, int]
"""Character, tick, ordinal, attempt."""


def paid(bill: Path) -> list[Attempt]:
    """Every answer that was given, in order."""
    rows = [line.split() for line in bill.read_text().splitlines()] if bill.exists() else []
    return [(agent, int(tick), int(ordinal), int(attempt)) for agent, tick, ordinal, attempt in rows]


def used_already(answers: list[Attempt]) -> set[Attempt]:
    """Those after which the same turn asked on: they were used, so they must have been kept."""
    last: dict[tuple[str, int, int], tuple[int, int]] = {}
    for agent, tick, ordinal, attempt in answers:
        turn = agent, tick, ordinal // JOB_ORDINALS
        last[turn] = max((ordinal, attempt), last.get(turn, (-1, 0)))
    return {one for one in answers if one[2:] < last[one[0], one[1], one[2] // JOB_ORDINALS]}


def journaled(run: Path) -> set[Attempt]:
    """The attempts in the file. It is looked at in a copy: whoever opens the file itself mends it."""
    copy = copied(run, run.parent, "looked-at.run")
    wal = run.with_name(f"{run.name}-wal")
    if wal.exists():
        copied(wal, run.parent, f"{copy.name}-wal")
    with tables(copy) as connection:
        return set(connection.execute("SELECT agent, tick, ordinal, attempt FROM answer"))


def test_the_test_would_notice_a_lost_tick(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    with tables(run) as connection:
        connection.execute("DELETE FROM event WHERE tick = 40 AND agent = 'ines'")
    with pytest.raises(AssertionError):
        assert_readable(run)
