"""Words that carry a fact: one of each group, whole in Latin script, with particles in Korean."""

from __future__ import annotations

import pytest

from commonplace.character.fact import Fact, carried

FESTIVAL = Fact(
    "festival",
    {"en": "There is a lantern festival at the plaza tonight."},
    {"en": (("lantern", "lanterns"), ("festival", "big night")), "ko": (("등불", "연등"), ("축제",))},
)


@pytest.mark.parametrize(
    "text",
    [
        "A LANTERN festival!",
        "The festival? With lanterns, yes.",
        "lantern-festival",
        "It's the big  night, bring a lantern.",
        "오늘 저녁 등불축제가 열린대요. 축제라니까요.",
        "광장에서 연등을 켜고 축제를 해요.",
        "등불 축제!",
    ],
)
def test_one_word_of_each_group_carries_the_fact(text: str) -> None:
    assert FESTIVAL.carried_by(text)
    assert len(FESTIVAL.carrying_words(text)) == 2
    assert carried((FESTIVAL,), text) == ("festival",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Lanterns, everywhere lanterns.",
        "A festival of nothing.",
        "A lanternfish festival.",
        "The lantern festivals of old.",
        "big lantern, quiet night",
        "등불이 예쁘네요.",
        "새등불 축제",
        "a 등불 at a festival",
    ],
)
def test_a_missing_group_or_a_part_of_a_word_does_not(text: str) -> None:
    assert not FESTIVAL.carried_by(text)
    assert FESTIVAL.carrying_words(text) == ()


def test_the_words_that_carry_are_named_as_the_scenario_has_them() -> None:
    assert FESTIVAL.carrying_words("Lanterns! A festival of lanterns and a lantern.") == ("lantern", "festival")
    assert FESTIVAL.carrying_words("연등회 축제는") == ("연등", "축제")
