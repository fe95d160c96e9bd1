"""How much a memory weighs, and what becomes one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from cognition.hamlet import Town, go, hamlet, idle, puppets
from commonplace.minds.tasks import RateInput, RateOutput, TextRating
from commonplace.testing import ScriptedMind


def _rising() -> Any:
    """A rater that never gives the same answer twice."""
    given_so_far = iter(range(1, 10_000))

    def rate(given: RateInput, _: Any) -> RateOutput:
        return RateOutput(ratings=tuple(TextRating(importance=1 + next(given_so_far) % 10) for _ in given.texts))

    return rate


def test_the_same_sentence_is_rated_once_and_weighs_less_the_more_often_it_is_perceived() -> None:
    acts = {("ben", tick): idle("juggling" if tick % 2 else "whistling") for tick in range(1, 20)}
    town, mind = puppets(hamlet(fidelity="every_tick", novelty_window=0, importance="mind"), acts, rate=_rising())
    town.live(20)
    weights = [memory.importance for memory in town.memories("cora") if memory.text == "Ben Cole is juggling."]
    assert len(weights) > 5
    assert weights == sorted(weights, reverse=True) and weights[0] > weights[-1] >= 1
    rated = Counter(text for given in mind.inputs("rate", "cora") for text in given.texts)
    assert max(rated.values()) == 1
    assert len(set(rated)) == len({memory.text for memory in town.memories("cora") if memory.tick})


def test_everything_new_in_a_tick_is_rated_in_one_question() -> None:
    acts = {(agent, tick): idle(f"singing {tick}") for agent in ("ben", "cora") for tick in range(3, 9)}
    town, mind = puppets(hamlet(fidelity="every_tick", importance="mind"), acts)
    town.live(8)
    ticks = Counter(tick for tick in mind.ticks("rate", "cora") if tick > 3)
    assert ticks
    assert set(ticks.values()) == {1}


@pytest.mark.parametrize("ratings", [None, 0, 1], ids=["no answer", "none given", "too few given"])
def test_an_unusable_rating_is_a_three(ratings: int | None) -> None:
    def rate(given: RateInput, _: Any) -> RateOutput | None:
        return None if ratings is None else RateOutput(ratings=(TextRating(importance=9),) * ratings)

    town = Town(hamlet(importance="mind"), ScriptedMind({"rate": rate})).live(3)
    for agent in town.scenario.personas:
        weights = Counter(memory.importance for memory in town.memories(agent) if memory.tick)
        assert weights[3] >= 4
        assert set(weights) <= ({3, 9} if ratings else {3})


def test_rules_weigh_memories_without_asking() -> None:
    town, mind = puppets(hamlet(importance="rules"), {})
    town.live(6)
    assert mind.inputs("rate") == []
    assert all(1 <= memory.importance <= 10 for memory in town.memories("anna"))


def test_with_both_the_mind_rates_news_and_the_rules_the_rest() -> None:
    nine = {"rate": lambda given, _: RateOutput(ratings=(TextRating(importance=9),) * len(given.texts))}
    town = Town(hamlet(importance="both"), ScriptedMind(nine)).live(6)
    memories = [memory for memory in town.memories("cora") if memory.tick]
    plans = {memory.importance for memory in memories if memory.kind == "plan"}
    assert plans <= {1, 2, 3, 4, 5}
    assert 9 in {memory.importance for memory in memories if memory.kind == "observation"}


def test_a_plan_is_a_memory_for_each_of_its_strokes() -> None:
    town, _ = puppets(hamlet(), {})
    town.live(3)
    strokes = [memory for memory in town.memories("ben", "plan") if "day" in memory.tags]
    assert [memory.details["frame"]["do"] for memory in strokes] == [
        item.action_description for item in town.plan("ben").level("day")
    ]


def test_whoever_leaves_for_another_place_does_not_weigh_as_one_who_leaves_somebody() -> None:
    town, _ = puppets(hamlet(fidelity="every_tick"), {("cora", 1): go("green")})
    town.live(3)
    (left,) = [memory for memory in town.memories("ben") if memory.details.get("frame", {}).get("what") == "left"]
    assert "leaves" in left.text
    assert left.importance == 1
