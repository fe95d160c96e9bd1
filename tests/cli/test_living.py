"""A run lived in a thread of its own: it waits, goes on, answers wishes, and can be left at any moment."""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import pytest

from commonplace.api import create_run
from commonplace.cli.watch import LiveSource, Living, told_instead
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import Paused, UsageError
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.testing import ScriptedMind, SlowMind

PATIENCE = 20.0


class Moody(SlowMind):
    """Stays away for as long as it is told to; may take for ever."""

    def __init__(self) -> None:
        super().__init__(ScriptedMind(), salt=1)
        self.away = False
        self.stuck = False

    def answer(self, ask, request_key):
        return self._moody(ask, request_key)

    async def _moody(self, ask, request_key):
        if self.away:
            raise Paused("the model server does not answer")
        if self.stuck:
            await asyncio.sleep(3600)
        return await super().answer(ask, request_key)


@pytest.fixture
def alive():
    """What is started in a test ends with it."""
    started: list[Living] = []

    def begin(make, last, budget=None) -> Living:
        living = Living(make, last, budget or Budget())
        living.rate = 0
        started.append(living)
        living.start()
        return living

    yield begin
    for living in started:
        living.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "run"]


def moody(path, mind) -> Run:
    scenario = load("plaza")
    manifest = Manifest(scenario="plaza", text=scenario.text, seed=7, mind="moody")
    return Run.start(path, manifest, scenario, stage=by_name("town"), mind=mind)


def until(happened) -> None:
    ends = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_it_lives_to_its_last_tick_and_waits(alive, tmp_path):
    living = alive(lambda: create_run(tmp_path / "x.run", "plaza"), 8)
    until(lambda: living.tick == 8)
    living.stop()
    living.raise_failure()


def test_pause_step_and_play(alive, tmp_path):
    living = Living(lambda: create_run(tmp_path / "x.run", "plaza"), 20, Budget())
    living.playing, living.rate = False, 0
    living.start()
    try:
        time.sleep(0.1)
        assert living.tick == 0
        living.control(steps=2)
        until(lambda: living.tick == 2)
        living.control(playing=True)
        until(lambda: living.tick == 20)
    finally:
        living.stop()


def test_a_wish_is_granted_between_two_ticks_and_its_error_comes_back(alive, tmp_path):
    living = alive(lambda: create_run(tmp_path / "x.run", "plaza"), 4)

    async def tick(run):
        return run.tick

    async def refused(run):
        raise UsageError("not so")

    assert living.wish(tick) <= 4
    with pytest.raises(UsageError, match="not so"):
        living.wish(refused)
    living.stop()
    with pytest.raises(UsageError, match="ended"):
        living.wish(tick)


def test_what_making_it_raises_is_raised(tmp_path):
    living = Living(lambda: create_run(tmp_path / "x.run", "nowhere"), 4, Budget())
    with pytest.raises(UsageError, match="nowhere"):
        living.start()


def test_a_mind_that_stays_away_halts_it_and_playing_on_tries_again(alive, tmp_path):
    mind, told = Moody(), []
    mind.away = True
    living = Living(lambda: moody(tmp_path / "x.run", mind), 6, Budget())
    living.tell, living.rate = told.append, 0
    living.start()
    try:
        until(lambda: living.halted is not None)
        assert not living.playing
        assert "does not answer" in told[0]
        with Reading.open(tmp_path / "x.run") as reading:
            source = LiveSource(reading, living)
            assert "does not answer" in source.progress
            assert not source.playing
        mind.away = False
        living.control(playing=True)
        until(lambda: living.tick == 6)
        assert living.halted is None
    finally:
        living.stop()
    living.raise_failure()


def test_left_while_it_is_halted_it_says_why(alive, tmp_path):
    mind = Moody()
    mind.away = True
    living = alive(lambda: moody(tmp_path / "x.run", mind), 6)
    until(lambda: living.halted is not None)
    living.stop()
    with pytest.raises(Paused, match="does not answer"):
        living.raise_failure()


def test_a_budget_ends_it(alive, tmp_path):
    living = alive(lambda: moody(tmp_path / "x.run", Moody()), 40, Budget(calls=3))
    until(lambda: living.failure is not None)
    living.stop()
    with pytest.raises(Paused, match="3 calls"):
        living.raise_failure()


def test_it_can_be_left_while_a_mind_takes_for_ever(alive, tmp_path, monkeypatch):
    monkeypatch.setattr("commonplace.cli.watch.PATIENCE", 0.2)
    mind = Moody()
    mind.stuck = True
    living = alive(lambda: moody(tmp_path / "x.run", mind), 6)
    time.sleep(0.2)
    living.stop()
    living.raise_failure()
    assert living.tick < 6
    with Reading.open(tmp_path / "x.run") as reading:
        assert reading.last_tick == living.tick


def test_what_is_waited_for_is_told_on_the_screen_and_not_on_standard_error(capsys):
    told: list[str] = []
    with told_instead(told.append):
        logging.getLogger("commonplace.minds").warning("waiting for %s", "a server")
    logging.getLogger("commonplace.minds").warning("later")
    assert told == ["waiting for a server"]
    assert "a server" not in capsys.readouterr().err
