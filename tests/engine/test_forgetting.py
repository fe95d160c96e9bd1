"""Forgetting in a run is an input like any other: numbered, replayed, verified."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from commonplace.api import create_run, open_run, resume_run, scenario_of
from commonplace.engine.verify import verify
from commonplace.stages import by_name


def _lived(path: Path, ticks: int, forget: tuple[int, ...] = ()) -> None:
    async def play() -> None:
        with create_run(path, "plaza", seed=7) if not path.exists() else resume_run(path) as run:
            if forget:
                run.submit({"kind": "forget", "agent_id": "ines", "memory_ids": list(forget)})
            async for _ in run.play(ticks):
                pass

    asyncio.run(play())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "plaza.run"
    _lived(path, 8)
    _lived(path, 8, forget=(2, 5))
    return path


def test_what_is_forgotten_is_gone_from_the_next_tick_on(run: Path) -> None:
    with open_run(run) as reading:
        assert {2, 5} <= {memory.id for memory in reading.stream_at("ines", 8)}
        assert not {2, 5} & {memory.id for memory in reading.stream_at("ines", 9)}
        assert not {2, 5} & {memory.id for memory in reading.stream_at("ines", 16)}
        (event,) = [event for event in reading.events() if event.type == "FORGOT"]
        assert (event.tick, event.agent_id, event.body.memory_ids) == (9, "ines", (2, 5))


def test_a_run_with_forgetting_verifies(run: Path) -> None:
    with open_run(run) as reading:
        manifest = reading.manifest
        assert asyncio.run(verify(reading, scenario_of(manifest), by_name(manifest.stage))) == 16


def test_a_run_resumed_after_forgetting_goes_on_as_one_that_never_stopped(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.run"
    _lived(other, 8)
    _lived(other, 2, forget=(2, 5))
    _lived(other, 6)
    with open_run(run) as one, open_run(other) as two:
        assert one.digest(16) == two.digest(16)
        assert one.digest(16, state=True) == two.digest(16, state=True)


def test_two_inputs_of_a_tick_both_take_effect(tmp_path: Path) -> None:
    path = tmp_path / "plaza.run"

    async def play() -> None:
        with create_run(path, "plaza", seed=7) as run:
            for memory in (1, 2):
                run.submit({"kind": "forget", "agent_id": "ines", "memory_ids": [memory]})
            async for _ in run.play(2):
                pass

    asyncio.run(play())
    with open_run(path) as reading:
        assert not {1, 2} & {memory.id for memory in reading.stream_at("ines", 2)}


def test_ids_are_not_used_again(run: Path) -> None:
    with open_run(run) as reading:
        ids = [memory.id for memory in reading.stream_at("ines", 16)]
    assert ids == sorted(set(ids))
    assert not {2, 5} & set(ids)


def test_forgetting_what_is_not_there_changes_nothing_but_the_event(tmp_path: Path) -> None:
    plain, forgetting = tmp_path / "plain.run", tmp_path / "forgetting.run"
    _lived(plain, 10)
    _lived(forgetting, 4)
    _lived(forgetting, 6, forget=(9999,))
    with open_run(plain) as one, open_run(forgetting) as two:
        assert [memory.text for memory in one.stream_at("ines", 10)] == [
            memory.text for memory in two.stream_at("ines", 10)
        ]
