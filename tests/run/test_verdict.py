"""The verdict on minds: what is said of a model whose answers were of little use."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.run.minds import LEAST, verdicts

MIND = "ollama:tiny"


def row(task: str, asked: int, **more: Any) -> dict[str, Any]:
    """A line of usage."""
    nothing: dict[str, Any] = {"agent_id": "ann", "mind": MIND, "fallbacks": 0, "lost": 0, "faults": {}, "flaws": {}}
    return {**nothing, "task": task, "asked": asked, **more}


def test_doings_that_were_left_out_are_told_though_no_fallback_was_used() -> None:
    [told] = verdicts([row("act", 50, lost=41, flaws={"dropped": 41, "unknown": 90})], "en")
    assert told == (
        "ollama:tiny is too small for act: 41 of 50 answers were replaced, or lost their words or action (dropped 41)"
    )


def test_the_lines_of_all_characters_count_together_and_the_worst_task_comes_first() -> None:
    rows = [
        row("act", 50, lost=10, flaws={"copied": 10}),
        row("converse", 30, fallbacks=15, faults={"language": 40, "json": 5}),
        row("converse", 20, fallbacks=15, faults={"language": 10}, agent_id="bob"),
    ]
    first, second = verdicts(rows, "en")
    assert "too small for converse: 30 of 50" in first
    assert "(language 50, json 5)" in first
    assert "weak at act: 10 of 50" in second


def test_a_good_model_and_the_offline_mind_get_no_verdict() -> None:
    assert not verdicts([row("act", 50, lost=4, fallbacks=0, flaws={"dropped": 4})], "en")
    assert not verdicts([row("act", 50, mind="offline", fallbacks=50)], "en")
    assert not verdicts([row("act", 0), row("", 50, mind="", fallbacks=50)], "en")


def test_a_server_that_stays_away_is_not_called_too_small() -> None:
    [told] = verdicts([row("act", 50, fallbacks=50, faults={"outage": 49, "json": 1})], "en")
    assert "gave no answer to act: 50 of 50" in told
    assert "too small" not in told


def test_tasks_that_were_asked_rarely_are_judged_together() -> None:
    few = LEAST - 1
    [told] = verdicts([row("relate", few, fallbacks=few), row("questions", few)], "en")
    assert f"too small for questions, relate: {few} of {2 * few}" in told


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_verdict_can_be_worded(language: str) -> None:
    rows = [
        row("act", 10, fallbacks=9, faults={"json": 9}),
        row("react", 10, fallbacks=2, faults={"json": 2}),
        row("rate", 10, fallbacks=9, faults={"outage": 9}),
    ]
    told = verdicts(rows, language)
    assert len(told) == 3
    assert all("{" not in one and MIND in one for one in told)
