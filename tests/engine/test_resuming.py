"""Resuming reads everybody's memories once, however old the run is, and goes on as if it had never stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, open_run, resume_run
from commonplace.engine.live_state import LiveState, restored_state
from commonplace.engine.run import Run
from commonplace.memory import MemoryStream
from commonplace.memory.table import MemoryTable
from e2e.command import command

TICKS = 40


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which somebody forgets something while jobs are pending."""
    path = tmp_path_factory.mktemp("resume") / "plaza.run"

    async def play() -> None:
        with create_run(path, "plaza", seed=7) as run:
            async for _ in run.play(TICKS):
                _forget_while_pending(run)

    asyncio.run(play())
    return path


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose stream has been read from a run, in order."""
    agents: list[str] = []
    load = MemoryStream.load.__func__  # type: ignore[attr-defined]

    def counted(cls: type[MemoryStream], agent: str, *rows: Any, **parts: Any) -> MemoryStream:
        agents.append(agent)
        return load(cls, agent, *rows, **parts)

    monkeypatch.setattr(MemoryStream, "load", classmethod(counted))
    return agents


def test_the_command_reads_everybodys_memories_once(lived: Path, tmp_path: Path, loaded: list[str]) -> None:
    path = tmp_path / "copy.run"
    path.write_bytes(lived.read_bytes())
    assert command("resume", path, "--ticks", 1, "--view", "none").status == 0
    with open_run(path) as reading:
        assert reading.last_tick == TICKS + 1
        assert sorted(loaded) == sorted(reading.scenario.personas)


def test_no_memory_becomes_an_object_when_a_run_is_restored(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    record = MemoryTable.record
    monkeypatch.setattr(MemoryTable, "record", lambda table, row: made.append(row) or record(table, row))
    with open_run(lived) as reading:
        state = restored_state(reading, reading.scenario, TICKS)
        assert not made
        assert all(len(list(stream)) == len(stream) > 0 for stream in state.streams.values())
        assert made


def test_a_restored_state_is_the_one_that_ran(lived: Path, tmp_path: Path) -> None:
    """At every tick: memories, accesses, weights of sentences, and the pending jobs on their snapshots."""
    pending = 0
    with open_run(lived) as reading:
        for tick, live in enumerate(_states(tmp_path / "again.run")):
            if tick % 5 and not any(live.waiting.values()):
                continue
            again = restored_state(reading, reading.scenario, tick)
            assert again.rated == live.rated
            for agent, stream in live.streams.items():
                assert list(again.streams[agent]) == list(stream)
                views = live.waiting.get(agent, ())
                assert [view.job for view in again.waiting.get(agent, ())] == [view.job for view in views]
                for view, twin in zip(views, again.waiting.get(agent, ()), strict=True):
                    pending += 1
                    assert (twin.state, twin.world, list(twin.past)) == (view.state, view.world, list(view.past))
                    at = view.now + timedelta(minutes=1)
                    hits = [one.past.retrieve("the plaza", at=at) for one in (view, twin)]
                    assert hits[0].hits == hits[1].hits
    assert pending


def _forget_while_pending(run: Run) -> None:
    """Whoever has just requested a job forgets a memory that the job's snapshot has."""
    for agent, views in run._engine.live_state.waiting.items():
        if any(view.job.asked_at == run.tick and view.job.due > run.tick + 1 for view in views):
            run.submit({"kind": "forget", "agent_id": agent, "memory_ids": [1, run.tick]})


def _states(path: Path) -> Iterator[LiveState]:
    """The same run again: its state after each tick. Committed ticks are applied before they are handed out."""
    with create_run(path, "plaza", seed=7) as run:
        state = run._engine.live_state
        yield state
        ticks = run.play(TICKS)
        with asyncio.Runner() as runner:
            for _ in range(TICKS):
                runner.run(anext(ticks))  # type: ignore[arg-type]
                yield state
                _forget_while_pending(run)
            runner.run(ticks.aclose())


def test_a_run_may_be_resumed_with_a_different_number_of_ticks_each_time(lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy.run"
    path.write_bytes(lived.read_bytes())
    for ticks in (1, 2):

        async def play(ticks: int = ticks) -> None:
            with resume_run(path) as run:
                async for _ in run.play(ticks):
                    pass

        asyncio.run(play())
    assert command("verify", path).status == 0
