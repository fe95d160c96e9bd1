"""Histories, answers, transcripts and prompts are what the files beside this one say: see compare.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.run.reading import Reading
from fence import compare
from sizes import PROVE

ALL = [(scenario, seed) for scenario in compare.PARTS["histories"] for seed in compare.SEEDS]
QUICK = [one for one in ALL if one[1] == compare.SEEDS[0] and one[0] not in compare.QUESTIONS]
"""With the prompts of two towns, both languages and all stages in a quarter of the time."""
TICKS = compare.TWO_DAYS // (2 if PROVE else 4)
"""Of a day's prompts; in `make test` until six in the evening."""


def slow(quick: bool) -> list[pytest.MarkDecorator]:
    return [] if quick else [pytest.mark.slow]


@pytest.mark.parametrize(
    ("scenario", "seed"), [pytest.param(*one, marks=slow(one in QUICK), id=f"{one[0]}-{one[1]}") for one in ALL]
)
def test_a_scenario_has_the_same_history_answers_and_words(scenario: str, seed: int) -> None:
    for part, name, text in compare.of_a_run(scenario, seed, compare.PARTS):
        assert not compare.difference(part, name, text)


def test_the_town_of_other_tests_has_the_same_history(town: Path) -> None:
    with Reading.open(town) as reading:
        assert compare.kept("histories", "latticeville-7").startswith(compare.until(reading, 2 * compare.STEP))


@pytest.mark.parametrize("scenario", [pytest.param(one, marks=slow(one != "sijang")) for one in compare.WITH_PROMPTS])
def test_a_day_asks_a_model_the_same(scenario: str) -> None:
    asked = compare.prompts(scenario, TICKS)
    assert not compare.difference("prompts", scenario, asked, only=None if PROVE else len(asked))
