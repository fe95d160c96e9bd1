"""Histories, answers, transcripts and prompts are what the files beside this one say: see compare.py."""

from __future__ import annotations

import pytest

from fence import compare
from sizes import PROVE

SEEDS = compare.SEEDS if PROVE else compare.SEEDS[:1]


@pytest.mark.parametrize("scenario", compare.PARTS["histories"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_scenario_has_the_same_history_answers_and_words(scenario: str, seed: int) -> None:
    for part, name, text in compare.of_a_run(scenario, seed, compare.PARTS):
        assert not compare.difference(part, name, text)


@pytest.mark.parametrize("scenario", compare.WITH_PROMPTS)
def test_a_day_asks_a_model_the_same(scenario: str) -> None:
    assert not compare.difference("prompts", scenario, compare.prompts(scenario))
