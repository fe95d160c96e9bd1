"""Circumstances in a run: kept, resumed at any tick, verified, forked, and seen by minds at the right time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, open_run, resume_run
from commonplace.engine.live_state import LiveState, restored_state, scenario_at, seen_at
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from e2e.command import command, ends

TICKS = 40


def told(text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "god_event", "text": text, "to": {"everybody": True}, **more}


def so(kind: str, of: str, hours: int = 1) -> dict[str, Any]:
    return {"raises": [{"kind": kind, "of": of, "hours": hours}]}


WISHES: Mapping[int, Sequence[dict[str, Any]]] = {
    2: [told("Ines Duarte is ill.", **so("ill", "ines"))],
    4: [told("The café is on fire.", **so("burning", "cafe"))],
    20: [told("Bruno travels to his sister.", **so("away", "bruno"))],
    24: [told("The café is open again.", ends=["closed.cafe"])],
    35: [told("Bruno Kessler is dead.", **so("dead", "bruno", 0))],
}


def _submit(run: Run) -> None:
    for body in WISHES.get(run.tick, ()):
        run.submit(body)


def _states(path: Path, ticks: int = TICKS) -> Iterator[LiveState]:
    """The state after each tick of a run in which all this happens."""
    with create_run(path, "plaza", seed=7) as run:
        state = run._engine.live_state
        yield state
        for _ in run.play_sync(ticks):
            yield state
            _submit(run)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("so") / "plaza.run"
    for _ in _states(path):
        pass
    return path


def test_a_restored_state_is_the_one_that_ran_at_every_tick(lived: Path, tmp_path: Path) -> None:
    held: set[str] = set()
    with open_run(lived) as reading:
        for tick, live in enumerate(_states(tmp_path / "again.run")):
            again = restored_state(reading, reading.scenario, tick)
            assert again.world == live.world
            assert again.states == live.states
            for scenario in (again.scenario, scenario_at(reading, reading.scenario, tick), reading.scenario_at(tick)):
                assert scenario.facts == live.scenario.facts
                assert scenario.tells == live.scenario.tells
                assert scenario.replies == live.scenario.replies
            for agent in live.world.bodies:
                views = live.waiting.get(agent, ())
                for view, twin in zip(views, again.waiting.get(agent, ()), strict=True):
                    assert (twin.world, twin.scenario.facts) == (view.world, view.scenario.facts)
                assert (
                    seen_at(reading, reading.scenario, agent, tick).circumstances
                    == live.view(agent).world.circumstances
                )
            held |= {key for key, one in live.world.circumstances.items() if one.holds}
    assert held == {"ill.ines", "burning.cafe", "closed.cafe", "away.bruno", "dead.bruno"}


def test_a_run_that_is_resumed_at_every_tick_is_the_run_without_interruption(lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "resumed.run"
    with create_run(path, "plaza", seed=7):
        pass
    for _ in range(TICKS):
        with resume_run(path) as run:
            for _ in run.play_sync(1):
                _submit(run)
    assert ends(path) == ends(lived)


def test_it_verifies(lived: Path) -> None:
    assert command("verify", lived).status == 0


@pytest.mark.parametrize("at", [3, 10, 22, 36])
def test_a_fork_before_or_after_it_began_goes_on_from_there(lived: Path, tmp_path: Path, at: int) -> None:
    path = tmp_path / "fork.run"
    assert command("fork", lived, "--at", at, "-o", path).status == 0
    with open_run(lived) as reading, open_run(path) as forked:
        assert forked.world_at(at) == reading.world_at(at)
        assert forked.circumstances_at(at) == reading.circumstances_at(at)
    with resume_run(path) as run:
        for tick in run.play_sync(30):
            assert not [event for event in tick.events if event.agent_id == "bruno" and at == 36]
        kept = run.reading.circumstances_at()
    assert not any(one.holds and one.kind != "dead" for one in kept.values() if one.kind != "closed")
    assert command("verify", path).status == 0


def test_whoever_is_dead_has_no_turn_and_cannot_come_back(lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "dead.run"
    shutil.copyfile(lived, path)
    with resume_run(path) as run:
        run.submit({"kind": "join", "agent_id": "bruno", "area": "cafe"})
        for tick in run.play_sync(3):
            assert "bruno" not in tick.turns
            assert not [event for event in tick.events if event.agent_id == "bruno"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"raises": [{"kind": "burnin", "of": "cafe"}]}, "did you mean 'burning'?"),
        ({"raises": [{"kind": "burning", "of": "caffè"}]}, "'caffè' cannot be 'burning'"),
        ({"raises": [{"kind": "ill", "of": "cafe"}]}, "'cafe' cannot be 'ill'\n  give the id of a person"),
        ({"raises": [{"kind": "dark", "of": "ines"}]}, "give the id of a place or a town"),
        ({"raises": [{"kind": "insulted", "of": "ines", "by": "brun"}]}, "there is no character 'brun'"),
        ({"raises": [{"kind": "ill", "of": "ines", "how": "badly"}]}, "unknown field `how`"),
        ({"ends": ["burning.nowhere"]}, "'nowhere' cannot be 'burning'"),
        ({"ends": ["cafe"]}, "there is no kind of circumstance"),
    ],
)
def test_what_cannot_be_so_is_refused_before_it_is_queued(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with create_run(tmp_path / "plaza.run", "plaza") as run:
        with pytest.raises(UsageError) as refused:
            run.submit(told("Oh no.", **given))
        assert words in str(refused.value)


def test_what_is_so_is_written_with_the_tick(lived: Path) -> None:
    with open_run(lived) as reading:
        [row] = [event for event in reading.events(5, 5) if event.type == "BEGAN"]
        assert json.loads(row.body_bytes())["circumstance"] == "burning.cafe"
        assert set(reading.circumstances_at(4)) == {"ill.ines"}
        assert set(reading.circumstances_at(5)) == {"burning.cafe", "ill.ines"}
