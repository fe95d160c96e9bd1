"""A run lived from another run's answers: the same history for nothing, and no answer that was not given there."""

from __future__ import annotations

import asyncio

import pytest

from commonplace.api import create_run, mind_named, open_run, resume_run
from commonplace.engine.driver import RecordedMind, request_digest
from commonplace.errors import CommonplaceError, UsageError
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.notes import Who
from commonplace.minds.tasks import RATE, RateInput, RateOutput, TextRating
from commonplace.run.rows import AnswerRow
from commonplace.scenario.compiling import load
from e2e.command import ends
from e2e.lived import PLAZA_TICKS

ME = Who(id="ann", name="Ann Lee", called="Ann", age=40, pronoun="she", work="cook",
         traits=(), background="", goals=(), home="kitchen")  # fmt: skip


def question(text: str) -> Ask:
    return Ask(RATE, RateInput(who=ME, texts=(text,)))


def row(text: str, tick: int, importance: int, *, ordinal: int = 0, attempt: int = 0, agent: str = "ann") -> AnswerRow:
    """An attempt at rating a text; importance 0 for one that could not be used."""
    value = RateOutput(ratings=(TextRating(importance=importance),)) if importance else None
    body = value.model_dump_json().encode() if value else b""
    outcome = "value" if value else "malformed"
    return AnswerRow(agent, tick, ordinal, attempt, "rate", request_digest(question(text)), outcome, body)


def told(rows: list[AnswerRow], text: str, tick: int, ordinal: int = 0, agent: str = "ann") -> int:
    """The importance a recorded mind gives; 0 for a fallback."""
    reply = RecordedMind("journal:x", "x", rows).answer(question(text), RequestKey(7, agent, tick, ordinal))
    assert reply.calls == reply.prompt_tokens == reply.answer_tokens == 0
    return reply.value.ratings[0].importance if reply.value else 0


def lived(path, ticks, **how):
    with create_run(path, "plaza", **how) as run:
        asyncio.run(played(run, ticks))


async def played(run, ticks):
    async for _ in run.play(ticks):
        pass


def test_the_same_scenario_seed_and_answers_are_the_same_history(plaza, tmp_path):
    lived(tmp_path / "again.run", PLAZA_TICKS, mind=f"journal:{plaza}")
    assert ends(tmp_path / "again.run") == ends(plaza)


def test_another_history_asks_what_was_not_answered_and_says_what(plaza, tmp_path):
    with pytest.raises(CommonplaceError, match="no answer for") as raised:
        lived(tmp_path / "other.run", PLAZA_TICKS, mind=f"journal:{plaza}", seed=8)
    assert raised.value.where.startswith("tick ")
    assert str(plaza) in raised.value.what
    assert raised.value.hint
    assert ends(tmp_path / "other.run").tick < PLAZA_TICKS


def test_beyond_the_last_answer_it_says_how_far_they_go():
    with pytest.raises(CommonplaceError) as raised:
        told([row("rain", 3, 4)], "snow", 4)
    assert "tick 3" in raised.value.hint
    with pytest.raises(CommonplaceError) as raised:
        told([row("rain", 3, 4)], "snow", 2)
    assert "scenario, seed" in raised.value.hint


def test_a_run_goes_on_with_the_answers_it_began_with(plaza, tmp_path):
    lived(tmp_path / "again.run", 10, mind=f"journal:{plaza}")
    with resume_run(tmp_path / "again.run") as run:
        asyncio.run(played(run, 10))
    assert ends(tmp_path / "again.run") == ends(plaza, 20)


def test_the_shape_of_requests_is_that_of_the_answers(tmp_path, plaza):
    lived(tmp_path / "again.run", 1, mind=f"journal:{plaza}")
    with open_run(tmp_path / "again.run") as again, open_run(plaza) as first:
        assert again.manifest.settings["requests"] == first.manifest.settings["requests"]


def test_the_answer_of_the_very_place_comes_first():
    rows = [row("a", 3, 4), row("a", 5, 6), row("a", 5, 7, ordinal=1)]
    assert [told(rows, "a", 5, 0), told(rows, "a", 5, 1), told(rows, "a", 3)] == [6, 7, 4]


def test_elsewhere_the_last_answer_before_counts_else_the_first_after():
    rows = [row("a", 3, 4), row("a", 5, 6), row("b", 4, 9)]
    assert [told(rows, "a", tick) for tick in (1, 4, 9)] == [4, 4, 6]


def test_a_question_that_led_to_a_fallback_does_so_again():
    assert told([row("a", 3, 0), row("a", 3, 0, attempt=1)], "a", 3) == 0
    assert told([row("a", 3, 0), row("a", 3, 5, attempt=1)], "a", 3) == 5


def test_nobody_gets_the_answer_of_another():
    with pytest.raises(CommonplaceError, match="bob"):
        told([row("a", 3, 4)], "a", 3, agent="bob")


def test_a_run_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.run"):
        mind_named(f"journal:{tmp_path / 'none.run'}", load("plaza"))


def test_a_run_is_not_replaced_by_one_made_of_its_answers(plaza, tmp_path):
    with pytest.raises(UsageError, match="own answers"):
        create_run(plaza, "plaza", mind=f"journal:{plaza}", force=True)
    assert ends(plaza).tick == PLAZA_TICKS
