"""Only an answer that does not come makes a fallback: flagged, journaled, and never the end of a run."""

from __future__ import annotations

import asyncio
import json

import pytest

from commonplace.api import mind_named
from commonplace.cli import main
from commonplace.engine.run import Run
from commonplace.minds.mind import Reply, RequestKey
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.testing import ScriptedMind
from e2e.command import ends, tables


def lived(path, mind, ticks: int, scenario: str = "plaza", concurrency: int = 32) -> None:
    """A run with a mind of the test's."""
    loaded = load(scenario)
    manifest = Manifest(scenario=scenario, text=loaded.text, seed=7, mind=mind.name, ticks=ticks)
    stage = by_name(loaded.part.stage)
    with Run.start(path, manifest, loaded, stage=stage, mind=mind, concurrency=concurrency) as run:
        asyncio.run(played(run, ticks))


async def played(run: Run, ticks: int) -> None:
    async for _ in run.play(ticks):
        pass


def usage(path, capsys) -> list[dict]:
    capsys.readouterr()
    assert main(["usage", str(path), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("scenario", ["plaza", pytest.param("latticeville", marks=pytest.mark.slow)])
def test_a_mind_that_never_answers_costs_no_run(scenario, tmp_path, capsys):
    path = tmp_path / "silent.run"
    mind = ScriptedMind()
    lived(path, mind, 48, scenario)
    assert ends(path).tick == 48
    *rows, total = usage(path, capsys)
    assert total["fallbacks"] == total["asked"] > 20
    assert all(row["fallbacks"] == row["asked"] for row in rows)
    assert main(["verify", str(path)]) == 0
    capsys.readouterr()
    assert main(["events", str(path), "--json"]) == 0
    kinds = {json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()}
    assert {"IDLE", "MOVE"} <= kinds


class Moody:
    """The offline mind, which now and then has no answer, or a useless one."""

    name = "offline"
    max_attempts = 1

    def __init__(self, paid: bool) -> None:
        self.paid = paid
        self._mind = mind_named("offline", load("plaza"))
        self.outcomes: dict[tuple[str, int, int], str] = {}

    def answer(self, ask, request_key: RequestKey) -> Reply:
        """Every third question of a character in a tick goes wrong, in one way or the other."""
        reply = self._mind.answer(ask, request_key)
        if (request_key.tick + request_key.number) % 3 == 0:
            reply = Reply(None, "malformed" if request_key.tick % 2 else "fault", raw="{")
        self.outcomes[request_key.agent, request_key.tick, request_key.number] = reply.outcome
        return reply

    async def close(self) -> None:
        """It holds nothing."""


@pytest.mark.parametrize("paid", [False, True], ids=["free", "paid"])
def test_each_fault_is_one_fallback_and_is_met_again_by_every_replay(paid, tmp_path, capsys):
    path, mind = tmp_path / "moody.run", Moody(paid)
    lived(path, mind, 48)
    wrong = sum(outcome != "value" for outcome in mind.outcomes.values())
    assert 0 < wrong < len(mind.outcomes)
    total = usage(path, capsys)[-1]
    assert (total["asked"], total["fallbacks"]) == (len(mind.outcomes), wrong)
    with tables(path) as connection:
        rows = connection.execute("SELECT agent, tick, ordinal, outcome, body FROM answer").fetchall()
    assert {row[:3]: row[3] for row in rows} == mind.outcomes
    assert all(bool(body) == (outcome == "value") for *_, outcome, body in rows)
    assert main(["verify", str(path)]) == 0


def test_a_fallback_is_flagged_where_the_reasons_are(tmp_path, capsys):
    path, mind = tmp_path / "moody.run", Moody(paid=False)
    lived(path, mind, 30)
    agent, tick, _ = next(key for key, outcome in mind.outcomes.items() if outcome != "value")
    capsys.readouterr()
    assert main(["why", str(path), f"t{tick}.{agent}.0", "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)["asked"]
    assert any(one["outcome"] != "value" and one["answer"] is None for one in asked)


class Broken:
    """A mind with a mistake in its program, after some good answers."""

    name = "offline"
    max_attempts = 1

    def __init__(self, good: int, paid: bool, waits: bool) -> None:
        self.paid = paid
        self.given = 0
        self.finished = 0
        self._good = good
        self._waits = waits
        self._mind = mind_named("offline", load("latticeville"))

    def answer(self, ask, request_key: RequestKey):
        """An answer, at once or later."""
        return self._later(ask, request_key) if self._waits else self._now(ask, request_key)

    async def _later(self, ask, request_key: RequestKey) -> Reply:
        await asyncio.sleep(0.001)
        reply = self._now(ask, request_key)
        await asyncio.sleep(0.001)
        self.finished += 1
        return reply

    def _now(self, ask, request_key: RequestKey) -> Reply:
        self.given += 1
        if self.given > self._good:
            raise LookupError("the mind itself is broken")
        return self._mind.answer(ask, request_key)

    async def close(self) -> None:
        """It holds nothing."""


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("good", [0, 7, 60])
def test_a_mistake_in_the_program_is_no_fallback(good, waits, tmp_path):
    path, mind = tmp_path / "broken.run", Broken(good, paid=waits, waits=waits)
    with pytest.raises(LookupError, match="the mind itself is broken"):
        lived(path, mind, 48, "latticeville")
    with tables(path) as connection:
        assert connection.execute("SELECT count(*) FROM answer WHERE outcome != 'value'").fetchone() == (0,)
        kept = connection.execute("SELECT count(*) FROM answer").fetchone()[0]
    assert kept == mind.finished if waits else kept <= good
    assert main(["verify", str(path), "--integrity-only"]) == 0


def test_after_a_mistake_was_mended_what_was_paid_for_is_used(tmp_path):
    path, whole = tmp_path / "broken.run", tmp_path / "whole.run"
    lived(whole, mind_named("offline", load("latticeville")), 20, "latticeville")
    broken = Broken(60, paid=True, waits=True)
    with pytest.raises(LookupError):
        lived(path, broken, 20, "latticeville")
    mended = Broken(10_000, paid=True, waits=True)
    loaded = load("latticeville")
    with RunFile.open(path) as file, tables(path) as connection:
        kept = connection.execute("SELECT count(*) FROM answer").fetchone()[0]
        run = Run.resume(file, loaded, stage=by_name("town"), mind=mended)
        asyncio.run(played(run, 20 - run.tick))
    assert kept > 0
    assert ends(path) == ends(whole)
    with tables(path) as connection:
        assert connection.execute("SELECT count(*) FROM answer").fetchone()[0] == kept + mended.given


def test_an_interruption_while_answers_are_awaited_makes_no_fallback(tmp_path):
    path = tmp_path / "cancelled.run"
    mind = Broken(10_000, paid=True, waits=True)

    async def cut_short() -> None:
        loaded = load("latticeville")
        manifest = Manifest(scenario="latticeville", text=loaded.text, seed=7, mind="offline")
        with Run.start(path, manifest, loaded, stage=by_name("town"), mind=mind) as run:
            async with asyncio.timeout(0.5):
                await played(run, 5000)

    with pytest.raises(TimeoutError):
        asyncio.run(cut_short())
    assert ends(path).tick >= 0
    with tables(path) as connection:
        assert connection.execute("SELECT count(*) FROM answer WHERE outcome != 'value'").fetchone() == (0,)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_questions_are_in_flight_than_allowed(concurrency, tmp_path):
    class Counted(Broken):
        flying = most = 0

        async def _later(self, ask, request_key: RequestKey) -> Reply:
            self.flying += 1
            self.most = max(self.most, self.flying)
            reply = await super()._later(ask, request_key)
            self.flying -= 1
            return reply

    mind = Counted(10_000, paid=True, waits=True)
    lived(tmp_path / "few.run", mind, 9, "latticeville", concurrency)
    assert mind.most == concurrency
