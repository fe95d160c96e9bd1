"""Histories, answers, transcripts and prompts are what the files beside this one say: see compare.py."""

from __future__ import annotations

import pytest

from fence import compare

ALL = [(scenario, seed) for scenario in compare.PARTS["histories"] for seed in compare.SEEDS]
QUICK = [(scenario, seed) for scenario, seed in ALL if seed == compare.SEEDS[0] and scenario != "sijang"]
"""With the prompts of `sijang`, both languages and every part in half the time."""


def slow(quick: bool) -> list[pytest.MarkDecorator]:
    return [] if quick else [pytest.mark.slow]


@pytest.mark.parametrize(
    ("scenario", "seed"), [pytest.param(*one, marks=slow(one in QUICK), id=f"{one[0]}-{one[1]}") for one in ALL]
)
def test_a_scenario_has_the_same_history_answers_and_words(scenario: str, seed: int) -> None:
    for part, name, text in compare.of_a_run(scenario, seed, compare.PARTS):
        assert not compare.difference(part, name, text)


@pytest.mark.parametrize("scenario", [pytest.param(one, marks=slow(one == "sijang")) for one in compare.WITH_PROMPTS])
def test_a_day_asks_a_model_the_same(scenario: str) -> None:
    assert not compare.difference("prompts", scenario, compare.prompts(scenario))
