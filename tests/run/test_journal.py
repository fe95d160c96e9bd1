from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.canon import canonical
from commonplace.run.file import RunFile
from commonplace.run.journal import Diverged
from run.small_runs import MANIFEST, Village, answer, plot


@pytest.fixture
def run(tmp_path: Path):
    life = Village()
    with RunFile.create(tmp_path / "a.run", MANIFEST) as file:
        file.commit(life.opening())
        file.commit(life.tick(plot(1)))
        yield file


def test_an_answer_is_there_as_soon_as_it_is_kept(run: RunFile) -> None:
    row = answer("ann", 2)
    assert run.journal.find("ann", 2, 0, row.request) is None
    run.journal.keep(row)
    assert run.journal.find("ann", 2, 0, row.request) == row
    assert run.reading.answers(2, 2, used=False) == (row,)
    assert run.reading.answers(2, 2) == ()


def test_the_attempt_that_brought_a_value_counts_else_the_last(run: RunFile) -> None:
    malformed = replace(answer("ann", 2), outcome="malformed", body=b"")
    run.journal.keep(malformed)
    assert run.journal.find("ann", 2, 0, malformed.request) == malformed
    run.journal.keep(replace(malformed, attempt=1, outcome="fault"))
    assert run.journal.find("ann", 2, 0, malformed.request).outcome == "fault"
    run.journal.keep(answer("ann", 2, attempt=2))
    assert run.journal.find("ann", 2, 0, malformed.request).attempt == 2
    assert [row.outcome for row in run.journal.attempts("ann", 2, 0)] == ["malformed", "fault", "value"]


def test_another_question_says_where_history_parts(run: RunFile) -> None:
    row = answer("ann", 2)
    run.journal.keep(row)
    with pytest.raises(Diverged, match=r"question 0 of ann at tick 2 was 'react'; it is now 'converse'"):
        run.journal.find("ann", 2, 0, b"another", task="converse")


def test_it_names_the_first_input_that_differs(run: RunFile) -> None:
    life = Village()
    life.opening()
    life.tick(plot(1))
    record = life.tick(plot(2))
    given = {"situation": {"sky": "clear", "people": ["bob"]}}
    asked = [{"ordinal": 0, "task": "react", "outcome": "value", "input": given}]
    run.commit(replace(record, traces={"ann": {"asked": asked}}))
    now = canonical({"situation": {"sky": "rain", "people": ["bob", "cyd"]}}).decode()
    with pytest.raises(Diverged, match=r'situation.people\[1\] was null, is "cyd"'):
        run.journal.find("ann", 2, 0, b"another", task="react", given=now)


def test_answers_of_a_job_belong_to_the_tick_that_used_them(run: RunFile) -> None:
    life = Village()
    life.opening()
    life.tick(plot(1))
    thought = answer("ann", 1, ordinal=1001)
    run.journal.keep(thought)
    record = life.tick(plot(2))
    run.commit(replace(record, answers=(*record.answers, thought)))
    assert thought in run.reading.answers(1, 1)


def test_usage_counts_questions_attempts_and_fallbacks(run: RunFile) -> None:
    life = Village()
    life.opening()
    life.tick(plot(1))
    record = life.tick(plot(2))
    extra = (
        replace(answer("ann", 2, ordinal=1), outcome="malformed", body=b""),
        replace(answer("ann", 2, ordinal=1, attempt=1), outcome="fault", body=b""),
        replace(answer("ann", 2, ordinal=2), task="rate", usage={"prompt_tokens": 5, "cost": 0.25, "from_cache": True}),
    )
    run.commit(replace(record, answers=(*record.answers, *extra)))
    rows = {(row["agent_id"], row["task"]): row for row in run.reading.usage()}
    assert rows["ann", "react"]["asked"] == 3
    assert rows["ann", "react"]["fallbacks"] == 1
    assert rows["ann", "react"]["prompt_tokens"] == 28
    assert rows["ann", "rate"]["from_cache"] == 1
    assert rows["", ""]["cost"] == 0.25
    assert rows["", ""]["asked"] == sum(row["asked"] for key, row in rows.items() if key != ("", ""))
