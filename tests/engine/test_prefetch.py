"""Deferred jobs are asked ahead of time, and all that is asked shares one gate. Neither changes what happens."""

from __future__ import annotations

import asyncio
from collections import defaultdict

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.engine.driver import JOB_ORDINALS
from commonplace.parts.new_town.scaffold import new
from e2e.command import ends
from engine.paid_minds import PaidMind, lived, offline, opened, played, virtually
from sizes import PROVE

TICKS = 60 if PROVE else 18


@pytest.fixture(scope="module")
def free(tmp_path_factory):
    """The run of a mind that costs nothing: its jobs are done when they are due."""
    path = tmp_path_factory.mktemp("free") / "a.run"
    lived(path, offline(), TICKS)
    return path


def is_job(key) -> bool:
    return key[2] >= JOB_ORDINALS


class Clocked(PaidMind):
    """Notes the last tick committed when a question is put."""

    run = None
    seen: dict

    async def answer(self, ask, request_key):
        self.seen[request_key.agent, request_key.tick, request_key.number] = self.run.tick
        return await super().answer(ask, request_key)


@pytest.mark.parametrize("delay", [7.0, pytest.param(0.001, marks=pytest.mark.slow)], ids=["slow", "quick"])
def test_jobs_asked_ahead_make_the_same_history(delay, free, tmp_path):
    path, mind = tmp_path / "a.run", PaidMind(offline(), slips=0.0, delay=delay)
    lived(path, mind, TICKS)
    assert ends(path) == ends(free)
    assert any(is_job(key) for key in mind.asked)
    assert main(["verify", str(path)]) == 0


def test_a_job_is_asked_right_after_the_tick_that_wanted_it(tmp_path):
    mind = Clocked(offline(), slips=0.0)
    mind.seen = {}
    with opened(tmp_path / "a.run", mind) as mind.run:
        virtually(played(mind.run, TICKS))
    firsts = {key: tick for key, tick in mind.seen.items() if key[2] % JOB_ORDINALS == 0 and is_job(key)}
    assert firsts
    assert all(committed == asked_at for (_, asked_at, _), committed in firsts.items())


def test_asked_late_they_make_the_same_history(free, tmp_path):
    """Ticks played one by one leave no time ahead."""
    path, mind = tmp_path / "a.run", Clocked(offline(), slips=0.0)
    mind.seen = {}

    async def one_by_one(run):
        for tick in range(1, TICKS + 1):
            await played(run, tick)

    with opened(path, mind) as mind.run:
        virtually(one_by_one(mind.run))
    assert any(committed > key[1] for key, committed in mind.seen.items() if is_job(key))
    assert ends(path) == ends(free)


@pytest.mark.parametrize("left", ["broken off", "closed", "cancelled"])
def test_leaving_a_run_ends_what_is_under_way_and_keeps_what_came(left, free, tmp_path):
    path, mind = tmp_path / "a.run", PaidMind(offline(), slips=0.0, delay=5.0)

    async def leave(run) -> None:
        ticks = run.play(until=TICKS)
        async for tick in ticks:
            await asyncio.sleep(1)
            if tick.number >= 8 and mind.flying:
                break
        assert mind.flying
        if left == "closed":
            await ticks.aclose()
            assert not mind.flying
        if left == "cancelled":
            task = asyncio.ensure_future(anext(ticks))
            await asyncio.sleep(1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not mind.flying

    async def begun() -> None:
        with opened(path, mind) as run:
            await leave(run)
        await asyncio.sleep(0.1)
        assert len(asyncio.all_tasks()) == 1

    virtually(begun())
    assert mind.rests == 1
    assert not mind.flying
    with open_run(path) as reading:
        rows = reading.answers(used=False)
        kept = {(row.agent, row.tick, row.ordinal, row.attempt) for row in rows}
        assert kept <= set(mind.answered)
    again = PaidMind(offline(), slips=0.0)
    lived(path, again, TICKS)
    assert not kept & set(again.asked)
    assert ends(path) == ends(free)


def test_a_session_that_was_left_disturbs_no_other(free, tmp_path):
    path, mind = tmp_path / "a.run", PaidMind(offline(), slips=0.0, delay=1.0)

    async def several(run) -> None:
        for until in (TICKS // 6, TICKS // 3, TICKS // 2, TICKS):
            async for tick in run.play(until=TICKS):
                if tick.number >= until:
                    break

    with opened(path, mind) as run:
        virtually(several(run))
    assert ends(path) == ends(free)
    assert main(["verify", str(path)]) == 0


# ── one gate ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("concurrency", [1, 4])
def test_jobs_and_turns_share_one_gate(concurrency, free, tmp_path):
    path, mind = tmp_path / "a.run", PaidMind(offline(), slips=0.0)
    lived(path, mind, TICKS, concurrency=concurrency)
    assert mind.most == concurrency
    assert ends(path) == ends(free)


def test_a_busy_tick_takes_as_long_as_its_longest_chain(tmp_path):
    """Twenty-five characters, one second an answer."""
    scenario = str(new(tmp_path / "hamlet", 25))
    mind = PaidMind(offline(scenario), slips=0.0, delay=1.0)
    took = {}

    async def timed(run) -> None:
        clock = asyncio.get_running_loop()
        before = clock.time()
        async for tick in run.play(until=30):
            took[tick.number], before = clock.time() - before, clock.time()

    with opened(tmp_path / "a.run", mind, scenario, concurrency=64) as run:
        virtually(timed(run))
    chains: dict[tuple[str, int], int] = defaultdict(int)
    for agent, tick, *_ in (key for key in mind.asked if not is_job(key)):
        chains[agent, tick] += 1
    longest = {tick: max(length for (_, at), length in chains.items() if at == tick) for _, tick in chains}
    busiest = max(longest, key=lambda tick: sum(length for (_, at), length in chains.items() if at == tick))
    assert sum(1 for _, at in chains if at == busiest) >= 12
    settled = [tick for tick in longest if tick > 6]
    assert settled
    assert all(took[tick] >= longest[tick] - 0.01 for tick in longest)
    assert sum(took[tick] for tick in settled) <= sum(longest[tick] for tick in settled) * 1.25 + 3
    assert mind.most >= 20


def test_what_is_forgotten_meanwhile_is_still_in_the_snapshot_of_a_job(tmp_path):
    """Asked ahead or when it is due, a job knows what its character knew when it wanted it."""

    async def forgetful(run) -> None:
        async for tick in run.play(until=40 if PROVE else 14):
            for agent in tick.turns:
                ids = [memory.id for memory in run.reading.memories(agent)][-3:-1]
                if ids:
                    run.submit({"kind": "forget", "agent_id": agent, "memory_ids": ids})

    prefetch, late = tmp_path / "ahead.run", tmp_path / "late.run"
    mind = PaidMind(offline(), slips=0.0)
    with opened(prefetch, mind) as run:
        virtually(forgetful(run))
    with opened(late, offline()) as run:
        virtually(forgetful(run))
    assert any(is_job(key) for key in mind.asked)
    assert ends(prefetch) == ends(late)
    assert main(["verify", str(prefetch)]) == 0
