"""A server that stays away and a budget that is used up stop a run at a tick boundary; nothing else changes."""

from __future__ import annotations

import asyncio

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.engine.budget import Budget
from commonplace.errors import Paused, UsageError
from e2e.command import ends, tables
from engine.paid_minds import FarMind, PaidMind, lived, offline, opened, played, virtually
from sizes import PROVE

TICKS = 24 if PROVE else 18


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing stopped, and how often its mind was asked."""
    path = tmp_path_factory.mktemp("whole") / "a.run"
    mind = PaidMind(offline())
    lived(path, mind, TICKS)
    return path, len(mind.asked)


def kept(path) -> set[tuple[str, int, int, int]]:
    with tables(path) as connection:
        return set(connection.execute("SELECT agent, tick, ordinal, attempt FROM answer"))


# ── outages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("good", [0, 9, 40, 90] if PROVE else [0, 40])
def test_an_outage_ends_at_a_tick_boundary_and_the_run_goes_on(good, whole, tmp_path):
    path, mind = tmp_path / "a.run", FarMind(offline(), good)
    with pytest.raises(Paused) as caught:
        lived(path, mind, TICKS)
    last = ends(path).tick
    assert last < TICKS
    assert str(caught.value).startswith(f"{path}, tick {last}: http://127.0.0.1:9: nobody answers")
    assert "start the server" in caught.value.hint
    assert f"commonplace resume {path}" in caught.value.hint
    assert caught.value.status == 3
    assert list(tmp_path.iterdir()) == [path]
    assert kept(path) == set(mind.answered)
    assert mind.rests == 1
    assert not mind.flying
    assert main(["verify", str(path)]) == 0

    back = PaidMind(offline())
    lived(path, back, TICKS)
    assert not set(mind.answered) & set(back.asked)
    assert ends(path) == ends(whole[0])
    with tables(path) as connection:
        assert connection.execute("SELECT count(*) FROM answer WHERE outcome = 'fault'").fetchone() == (0,)


class _Refused(PaidMind):
    """A mind whose server takes no key."""

    def answer(self, ask, request_key):
        raise UsageError("the key is not taken", where="http://127.0.0.1:9", hint="set OPENAI_API_KEY")


def test_a_server_that_refuses_ends_the_command_and_the_run_can_go_on(whole, tmp_path):
    path = tmp_path / "a.run"
    with pytest.raises(UsageError) as caught:
        lived(path, _Refused(offline()), TICKS)
    assert "set OPENAI_API_KEY" in caught.value.hint
    assert f"commonplace resume {path} continues it" in caught.value.hint
    assert list(tmp_path.iterdir()) == [path]
    lived(path, PaidMind(offline()), TICKS)
    assert ends(path) == ends(whole[0])


def test_a_run_may_be_played_on_after_an_outage(whole, tmp_path):
    path, mind = tmp_path / "a.run", FarMind(offline(), 30)

    async def until_it_works(run) -> int:
        pauses = 0
        while run.tick < TICKS:
            try:
                await played(run, TICKS)
            except Paused:
                pauses += 1
                mind.good += 30
        return pauses

    with opened(path, mind) as run:
        assert virtually(until_it_works(run)) > 3
    assert ends(path) == ends(whole[0])


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("calls", [57, *(pytest.param(calls, marks=pytest.mark.slow) for calls in (1, 10))])
def test_a_budget_of_calls_is_never_exceeded_and_small_sessions_make_the_same_whole(calls, whole, tmp_path):
    path, asked, sessions = tmp_path / "a.run", 0, 0
    while sessions == 0 or ends(path).tick < TICKS:
        mind = PaidMind(offline())
        try:
            lived(path, mind, TICKS, budget=Budget(calls=calls))
        except Paused as paused:
            assert len(mind.asked) == calls
            assert f"the budget of {calls} calls is reached at tick {ends(path).tick + 1}" in str(paused)
            assert f"commonplace resume {path} --max-calls N continues it" in str(paused)
            assert paused.status == 3
        assert len(mind.asked) <= calls
        assert kept(path) >= set(mind.asked)  # what was paid for is kept
        asked += len(mind.asked)
        sessions += 1
    assert asked == whole[1]
    assert sessions == -(-whole[1] // calls)
    assert ends(path) == ends(whole[0])


def test_calls_a_mind_repeats_by_itself_are_counted(tmp_path):
    class Repeating(PaidMind):
        async def answer(self, ask, request_key):
            reply = await super().answer(ask, request_key)
            return type(reply)(reply.value, reply.outcome, calls=3)

    mind = Repeating(offline())
    with pytest.raises(Paused, match="30 calls"):
        lived(tmp_path / "a.run", mind, TICKS, budget=Budget(calls=30), concurrency=1)
    assert len(mind.asked) == 10


class Dear:
    """A tenth for a hundred tokens of a prompt, another for ten of an answer."""

    def cost(self, prompt: int, cached: int, answer: int) -> float:
        return prompt / 1000 + answer / 100


@pytest.mark.parametrize(
    ("budget", "most", "said"),
    [
        (Budget(tokens=1100), 10, "1100 tokens is reached"),
        (Budget(cost=2.0, price=Dear()), 10, r"\$2 is reached"),
        (Budget(calls=4, tokens=1100), 4, "4 calls is reached"),
    ],
    ids=["tokens", "cost", "the first of two"],
)
def test_tokens_and_money_are_looked_at_before_each_question(budget, most, said, tmp_path):
    mind = PaidMind(offline())
    with pytest.raises(Paused, match=said):
        lived(tmp_path / "a.run", mind, TICKS, budget=budget, concurrency=1)
    assert len(mind.asked) == most


def test_a_budget_is_for_one_session(whole, tmp_path):
    path, mind = tmp_path / "a.run", PaidMind(offline())
    with opened(path, mind) as run:
        with pytest.raises(Paused):
            virtually(played(run, TICKS, Budget(calls=20)))
        virtually(played(run, TICKS))
    assert ends(path) == ends(whole[0])


def test_a_mind_that_costs_nothing_has_no_budget(tmp_path):
    lived(tmp_path / "a.run", offline(), 6, budget=Budget(calls=1))
    assert ends(tmp_path / "a.run").tick == 6


@pytest.mark.parametrize("wrong", [{"calls": -1}, {"cost": 1.0}])
def test_a_budget_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(UsageError):
        Budget(**wrong)


# ── god mode ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Listening(PaidMind):
    """One that is also asked by nobody in the world."""

    async def answer(self, ask, request_key):
        if request_key.agent != "-":
            return await super().answer(ask, request_key)
        key = (request_key.agent, request_key.tick, request_key.number, request_key.attempt)
        self.asked.append(key)
        await self.travel(request_key)
        self.answered.append(key)
        return self._mind.answer(ask, request_key)


class FarListening(Listening, FarMind):
    """And whose server is not there."""


def test_a_sentence_of_god_mode_is_paid_for_once(tmp_path):
    path, mind = tmp_path / "a.run", Listening(offline())

    async def foresee(run) -> None:
        await played(run, 3)
        event = await run.preview("It snows.")
        assert await run.preview("It snows.") == event
        await run.preview("A dog barks.")
        run.submit(event)
        await played(run, 6)

    with opened(path, mind) as run:
        virtually(foresee(run))
    assert [key for key in mind.asked if key[0] == "-"] == [("-", 4, 0, 0), ("-", 4, 1, 0)]
    assert main(["verify", str(path)]) == 0
    with open_run(path) as reading:
        [row] = [row for row in reading.usage() if row["agent_id"] == "-"]
    assert (row["task"], row["asked"], row["from_cache"]) == ("perceive_event", 2, 0)


def test_god_mode_pauses_when_nobody_answers(tmp_path):
    path = tmp_path / "a.run"
    with opened(path, FarListening(offline(), 0)) as run, pytest.raises(Paused, match="nobody answers") as caught:
        asyncio.run(run.preview("It snows."))
    assert f"commonplace resume {path}" in caught.value.hint
    assert not kept(path)
