"""A run in a thread of its own: it waits, goes on, answers calls, and can be left at any moment."""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import pytest

from commonplace.api import create_run
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import Paused, UsageError
from commonplace.parts.live.live_run import LiveRun, LiveSource
from commonplace.parts.live.talk_thread import Talks
from commonplace.parts.terminal.command import redirected_warnings
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.testing import ScriptedMind, SlowMind
from commonplace.testing.server import Latency, ModelServer
from commonplace.world.events import Spoke

PATIENCE = 120.0
"""Seconds until a fact that does not come counts as missing."""


class Moody(SlowMind):
    """Stays away for as long as it is told to; may take for ever."""

    def __init__(self) -> None:
        super().__init__(ScriptedMind(), salt=1)
        self.away = False
        self.stuck = False
        self.asked = threading.Event()

    def answer(self, ask, request_key):
        return self._moody(ask, request_key)

    async def _moody(self, ask, request_key):
        self.asked.set()
        if self.away:
            raise Paused("the model server does not answer")
        if self.stuck:
            await asyncio.sleep(3600)
        return await super().answer(ask, request_key)


@pytest.fixture
def alive():
    """What is started in a test ends with it."""
    started: list[LiveRun] = []

    def begin(make, last, budget=None) -> LiveRun:
        run = LiveRun(make, last, budget or Budget())
        run.rate = 0
        started.append(run)
        run.start()
        return run

    yield begin
    for run in started:
        run.stop()
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


async def position(run) -> int:
    return run.tick


def test_it_runs_to_its_last_tick_and_waits(alive, tmp_path):
    run = alive(lambda: create_run(tmp_path / "x.run", "plaza"), 8)
    until(lambda: run.tick == 8)
    run.stop()
    run.raise_failure()


@pytest.fixture
def waiting(tmp_path):
    """A live run of the plaza that makes no tick unless it is told to."""
    run = LiveRun(lambda: create_run(tmp_path / "x.run", "plaza"), 40, Budget())
    run.playing, run.rate = False, 0
    run.start()
    yield run
    run.stop()
    run.raise_failure()


def test_pause_step_and_play(waiting):
    assert [waiting.call(position) for _ in range(3)] == [0, 0, 0]
    waiting.control(steps=2)
    until(lambda: waiting.tick == 2)
    assert waiting.call(position) == 2
    waiting.control(playing=True)
    until(lambda: waiting.tick == 40)


def test_a_call_is_answered_between_two_ticks_and_its_error_comes_back(alive, tmp_path):
    run = alive(lambda: create_run(tmp_path / "x.run", "plaza"), 4)

    async def refused(run):
        raise UsageError("not so")

    assert run.call(position) <= 4
    with pytest.raises(UsageError, match="not so"):
        run.call(refused)
    run.stop()
    with pytest.raises(UsageError, match="ended"):
        run.call(position)


def test_all_that_is_submitted_between_two_ticks_is_applied_in_order(waiting):
    sentences = ["A kite is caught in the linden.", "A dog barks twice.", "The fountain gurgles."]
    done = ["whistling", "juggling", "humming"]
    with Reading.open(waiting.call(path_of)) as reading:
        source = LiveSource(reading, waiting)
        for text in sentences:
            assert source.submit({"kind": "god", "text": text}).startswith("at tick 1:")
        said = [source.submit(acts("bruno", doing)) for doing in done]
        source.submit({"kind": "give_back", "agent_id": "bruno"})
        source.submit(acts("ines", "dancing"))
        assert [line.rsplit(" ", 1)[1] for line in said] == ["2", "3", "4"], "each is told its own tick"
        waiting.control(steps=5)
        until(lambda: waiting.tick == 5)
        assert len(reading.events(1, 1, type="GOD_EVENT")) == 3
        doings = [reading.frame(tick).agents["bruno"].doing for tick in (2, 3, 4)]
        assert doings == done
        assert [event.tick for event in reading.events(agent="bruno", type="GIVEN_BACK")] == [4]
        assert reading.frame(2).agents["ines"].doing == "dancing", "others are not held up"


def test_a_character_is_asked_at_a_tick_while_the_run_goes_on(waiting):
    with Reading.open(waiting.call(path_of)) as reading, Talks(reading) as talks:
        source = LiveSource(reading, waiting, talks)
        waiting.control(steps=3)
        until(lambda: waiting.tick == 3)
        talk = source.converse("ines", 3)
        waiting.control(steps=2)
        until(lambda: waiting.tick == 5)
        assert asyncio.run(talk.ask("What are you doing?")).tick == 3
        waiting.control(steps=1)
        until(lambda: waiting.tick == 6)
    with pytest.raises(UsageError, match="anybody who answers"):
        LiveSource(reading, waiting).converse("ines", 3)


async def path_of(run):
    return run.file.path


def acts(agent: str, doing: str) -> dict[str, object]:
    return {"kind": "take_over", "agent_id": agent, "action": {"kind": "IDLE", "doing": doing}}


def test_what_making_it_raises_is_raised(tmp_path):
    run = LiveRun(lambda: create_run(tmp_path / "x.run", "nowhere"), 4, Budget())
    with pytest.raises(UsageError, match="nowhere"):
        run.start()


def test_a_mind_that_stays_away_pauses_it_and_playing_tries_again(alive, tmp_path):
    mind, told = Moody(), []
    mind.away = True
    run = LiveRun(lambda: moody(tmp_path / "x.run", mind), 6, Budget())
    run.on_stop, run.rate = told.append, 0
    run.start()
    try:
        until(lambda: told)
        assert not run.playing
        assert "does not answer" in told[0]
        with Reading.open(tmp_path / "x.run") as reading:
            source = LiveSource(reading, run)
            assert "does not answer" in source.progress
            assert not source.playing
        mind.away = False
        run.control(playing=True)
        until(lambda: run.tick == 6)
        assert run.paused is None
    finally:
        run.stop()
    run.raise_failure()


def test_left_while_it_is_paused_it_says_why(alive, tmp_path):
    mind = Moody()
    mind.away = True
    run = alive(lambda: moody(tmp_path / "x.run", mind), 6)
    until(lambda: run.paused is not None)
    run.stop()
    with pytest.raises(Paused, match="does not answer"):
        run.raise_failure()


def test_a_budget_ends_it(alive, tmp_path):
    run = alive(lambda: moody(tmp_path / "x.run", Moody()), 40, Budget(calls=3))
    until(lambda: run.failure is not None)
    run.stop()
    with pytest.raises(Paused, match="3 calls"):
        run.raise_failure()


def test_it_can_be_left_while_a_mind_takes_for_ever(alive, tmp_path, monkeypatch):
    monkeypatch.setattr("commonplace.parts.live.live_run.PATIENCE", 0.2)
    mind = Moody()
    mind.stuck = True
    run = alive(lambda: moody(tmp_path / "x.run", mind), 6)
    assert mind.asked.wait(PATIENCE)
    run.stop()
    run.raise_failure()
    assert run.tick < 6
    with Reading.open(tmp_path / "x.run") as reading:
        assert reading.last_tick == run.tick


def test_warnings_are_passed_on_and_not_printed_over_the_view(capsys):
    told: list[str] = []
    with redirected_warnings(told.append):
        logging.getLogger("commonplace.minds").warning("waiting for %s", "a server")
    logging.getLogger("commonplace.minds").warning("later")
    assert told == ["waiting for a server"]
    assert "a server" not in capsys.readouterr().err


def test_what_is_said_is_shown_while_it_is_written_and_changes_nothing(alive, tmp_path):
    with ModelServer(latency=Latency(per_token=0.001)) as server:
        run = alive(lambda: create_run(tmp_path / "seen.run", "plaza", mind=server.url), 30)
        heard: list[dict[str, str]] = []
        run.on_speech = lambda: heard.append(dict(run.speaking))
        until(lambda: run.tick == 30)
        run.stop()
        run.raise_failure()
        with create_run(tmp_path / "unseen.run", "plaza", mind=server.url) as unseen:
            asyncio.run(all_of(unseen.play(30)))
    with Reading.open(tmp_path / "seen.run") as reading:
        said = [event.body.utterance for event in reading.events(0, 30) if isinstance(event.body, Spoke)]
    spoken = {words for now in heard for words in now.values()}
    assert set(said) & spoken, "some lines are the author's"
    assert len(spoken) > len(said)
    assert run.speaking == {}
    assert run.digest == unseen.file.digests.history.hex()


async def all_of(ticks) -> None:
    async for _ in ticks:
        pass
