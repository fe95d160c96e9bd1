"""Rules and a mind, together."""

from __future__ import annotations

import math

import pytest

from commonplace.memory import MemoryStream, RatingCache, RuleRater
from commonplace.memory.rating import AdjustedRater
from memory.naive import hours


def test_the_mind_moves_a_rating_but_not_far():
    rules = RuleRater("en")
    assert rules("I drink tea") == 3
    for answer, rating in ((4, 4), (10, 6), (1, 1), (-5, 1)):
        assert AdjustedRater(rules, lambda text, base, answer=answer: answer)("I drink tea") == rating


@pytest.mark.parametrize("answer", [None, "high", math.nan, True, [7]])
def test_an_answer_that_is_no_rating_leaves_the_rules(answer):
    assert AdjustedRater(RuleRater("en"), lambda text, base: answer)("They decided to marry") == RuleRater("en")(
        "They decided to marry"
    )


def test_a_sentence_is_asked_about_once():
    asked: list[tuple[str, int]] = []
    cache = RatingCache()

    def adjust(text: str, base: int) -> int:
        asked.append((text, base))
        return base + 1

    stream = MemoryStream("maria", rater=AdjustedRater(RuleRater("en"), adjust, cache))
    ratings = [stream.remember("I drink tea", at=hours(hour)).importance for hour in range(3)]
    assert (ratings, asked) == ([4, 4, 4], [("I drink tea", 3)])
    AdjustedRater(RuleRater("en"), adjust, cache, version="2")("I drink tea")
    AdjustedRater(RuleRater("en", goal="tea"), adjust, cache)("I drink tea")
    assert len(asked) == 3
