from __future__ import annotations

from dataclasses import replace

import pytest

from commonplace.canon import canonical
from commonplace.run.journal import Diverged
from commonplace.run.opening import create_store
from commonplace.run.rows import AnswerRow
from commonplace.run.store import RunStore
from run.databases import Home
from run.small_runs import MANIFEST, Village, answer, plot


@pytest.fixture
def run(home: Home):
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as file:
        file.commit(live_state.opening())
        file.commit(live_state.tick(plot(1)))
        yield file


def test_an_answer_is_there_as_soon_as_it_is_kept(run: RunStore) -> None:
    row = answer("ann", 2)
    assert run.journal.find("ann", 2, 0, row.request) == ()
    run.journal.keep(row)
    assert run.journal.find("ann", 2, 0, row.request) == (found(row),)
    assert run.reading.answers(2, 2, used=False) == (row,)
    assert run.reading.answers(2, 2) == ()


def found(row: AnswerRow) -> AnswerRow:
    """As the journal gives it back."""
    return replace(row, usage={**row.usage, "from_cache": True})


def test_every_attempt_is_kept_in_order(run: RunStore) -> None:
    malformed = replace(answer("ann", 2), outcome="malformed", body=b"")
    attempts = (malformed, replace(malformed, attempt=1), answer("ann", 2, attempt=2))
    for row in attempts:
        run.journal.keep(row)
    assert run.journal.find("ann", 2, 0, malformed.request) == tuple(map(found, attempts))
    assert run.journal.attempts("ann", 2, 0) == attempts


def test_a_question_that_is_nobodys_finds_its_own_place(run: RunStore) -> None:
    assert run.journal.numbered("-", 2, b"rain") == 0
    for number, request in enumerate((b"rain", b"snow")):
        assert run.journal.numbered("-", 2, request) == number
        run.journal.keep(replace(answer("-", 2, ordinal=number), request=request))
    assert run.journal.numbered("-", 2, b"rain") == 0
    assert run.journal.numbered("-", 2, b"hail") == 2
    assert run.journal.numbered("-", 3, b"rain") == 0


def test_another_question_says_where_history_parts(run: RunStore) -> None:
    row = answer("ann", 2)
    run.journal.keep(row)
    with pytest.raises(Diverged, match=r"question 0 of ann at tick 2 was 'react'; it is now 'converse'"):
        run.journal.find("ann", 2, 0, b"another", task="converse")


def test_it_names_the_first_input_that_differs(run: RunStore) -> None:
    live_state = Village()
    live_state.opening()
    live_state.tick(plot(1))
    record = live_state.tick(plot(2))
    given = {"situation": {"sky": "clear", "people": ["bob"]}}
    asked = [{"ordinal": 0, "task": "react", "outcome": "value", "input": given}]
    run.commit(replace(record, traces={"ann": {"asked": asked}}))
    now = canonical({"situation": {"sky": "rain", "people": ["bob", "cyd"]}}).decode()
    with pytest.raises(Diverged, match=r'situation.people\[1\] was null, is "cyd"'):
        run.journal.find("ann", 2, 0, b"another", task="react", inputs=lambda: now)


def test_the_input_of_a_job_is_found_in_the_tick_that_used_it(run: RunStore) -> None:
    live_state = Village()
    live_state.opening()
    live_state.tick(plot(1))
    thought = answer("ann", 1, ordinal=1001)
    asked = [{"ordinal": 1001, "task": "react", "outcome": "value", "input": {"about": "bells"}}]
    record = live_state.tick(plot(2))
    delivered = [{"asked_at": 1, "asked": asked}]
    run.commit(replace(record, answers=(*record.answers, thought), traces={"ann": {"delivered": delivered}}))
    with pytest.raises(Diverged, match=r'about was "bells", is "rain"'):
        run.journal.find("ann", 1, 1001, b"another", task="react", inputs=lambda: '{"about":"rain"}')


def test_answers_of_a_job_belong_to_the_tick_that_used_them(run: RunStore) -> None:
    live_state = Village()
    live_state.opening()
    live_state.tick(plot(1))
    thought = answer("ann", 1, ordinal=1001)
    run.journal.keep(thought)
    record = live_state.tick(plot(2))
    run.commit(replace(record, answers=(*record.answers, thought)))
    assert thought in run.reading.answers(1, 1)


def test_usage_counts_questions_attempts_and_fallbacks(run: RunStore) -> None:
    live_state = Village()
    live_state.opening()
    live_state.tick(plot(1))
    record = live_state.tick(plot(2))
    failed = {"prompt_tokens": 7, "calls": 2, "kind": "json"}
    extra = (
        replace(answer("ann", 2, ordinal=1), outcome="malformed", body=b"", usage=failed),
        replace(answer("ann", 2, ordinal=1, attempt=1), outcome="fault", body=b""),
        replace(answer("ann", 2, ordinal=2), task="rate", usage={"prompt_tokens": 5, "cost": 0.25, "from_cache": True}),
    )
    run.commit(replace(record, answers=(*record.answers, *extra)))
    run.journal.keep(replace(answer("-", 3), task="perceive_event"))
    run.journal.keep(replace(answer("cyd", 3), task="act"))
    run.journal.keep(replace(answer("bob", 3), task="act", outcome="malformed", body=b""))
    rows = {(row["agent_id"], row["task"]): row for row in run.reading.usage()}
    assert rows["ann", "react"]["asked"] == 3
    assert rows["ann", "react"]["fallbacks"] == 1
    assert rows["ann", "react"]["prompt_tokens"] == 28
    assert rows["ann", "react"]["calls"] == 2
    assert rows["ann", "react"]["faults"] == {"fault": 1, "json": 1}
    assert rows["ann", "rate"]["from_cache"] == 1
    assert rows["-", "perceive_event"]["asked"] == rows["cyd", "act"]["asked"] == 1  # paid for, though not used yet
    assert rows["bob", "act"]["fallbacks"] == 0, "it may be asked again"
    assert rows["", ""]["faults"] == {"fault": 1, "json": 1, "malformed": 1}
    assert rows["", ""]["cost"] == 0.25
    assert rows["", ""]["asked"] == sum(row["asked"] for key, row in rows.items() if key != ("", ""))


def test_usage_counts_what_was_wrong_with_answers_that_were_used(run: RunStore) -> None:
    live_state = Village()
    live_state.opening()
    live_state.tick(plot(1))
    record = live_state.tick(plot(2))
    told = (
        replace(answer("ann", 2, ordinal=1), task="judge", usage={"flaws": {"dropped": 2, "unknown": 1}}),
        replace(answer("ann", 2, ordinal=2), task="judge", usage={"flaws": {"unknown": 1}}),
        replace(answer("ann", 2, ordinal=3), task="judge", usage={"calls": 1}),  # as before they were counted
    )
    run.commit(replace(record, answers=(*record.answers, *told)))
    [row] = [row for row in run.reading.usage() if row["task"] == "judge"]
    assert row["flaws"] == {"dropped": 2, "unknown": 2}
    assert row["lost"] == 1, "a wrong name costs no words"
    assert run.reading.usage()[-1]["flaws"] == row["flaws"]
