"""Policies are data, and wrong ones are refused."""

from __future__ import annotations

import dataclasses
import math

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import policies


def test_policies_are_found_by_name():
    assert [policies.by_name(name).name for name in policies.NAMES] == list(policies.NAMES)
    assert policies.by_name("park") is policies.PARK
    assert policies.by_name("lexical") is policies.LEXICAL


@pytest.mark.parametrize(("name", "nearest"), [("lexicl", "lexical"), ("Park", "park"), ("PARK", ""), ("xyz", "")])
def test_a_name_there_is_none_of_gets_the_nearest(name, nearest):
    with pytest.raises(UsageError) as error:
        policies.by_name(name)
    assert (f"did you mean {nearest!r}" in str(error.value)) is bool(nearest)
    assert "park, lexical" in str(error.value)


@pytest.mark.parametrize(
    "wrong", [{"decay": 0}, {"decay": 1.1}, {"decay": math.nan}, {"relevance_weight": math.inf}, {"k": 0}], ids=str
)
def test_a_policy_that_cannot_score_is_refused(wrong):
    with pytest.raises(UsageError, match="policy park"):
        dataclasses.replace(policies.PARK, **wrong)


def test_a_policy_of_ones_own_is_a_base_and_what_differs():
    mine = policies.from_mapping("gossip", {"base": "recall", "named_weight": 1, "without_tags": ["secret"], "k": 4})
    assert mine == dataclasses.replace(policies.RECALL, name="gossip", named_weight=1.0, without_tags=("secret",), k=4)
    assert isinstance(mine.named_weight, float)
    assert policies.from_mapping("same", {"base": "park"}) == dataclasses.replace(policies.PARK, name="same")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"named_weight": 1}, "has no base"),
        ({"base": "recal"}, "did you mean 'recall'"),
        ({"base": "park", "decey": 0.9}, "did you mean 'decay'"),
        ({"base": "park", "decay": "slow"}, "give a number"),
        ({"base": "park", "decay": True}, "give a number"),
        ({"base": "park", "decay": 2}, "above 0 and up to 1"),
        ({"base": "park", "k": 2.5}, "give a whole number"),
        ({"base": "park", "k": 0}, "give at least 1"),
        ({"base": "park", "recency": "sometimes"}, "access, creation, rank"),
        ({"base": "park", "relevance": ["bm25"]}, "cosine, bm25, blend"),
        ({"base": "recall", "respell": 1}, "true or false"),
        ({"base": "recall", "without_tags": "chat"}, "give a list of words"),
        ({"base": "park", "named_weight": 1}, "it belongs to relevance: blend"),
        ({"base": "lexical", "nearest": 5}, "unless relevance is cosine"),
        ({"base": "recall", "b": 1.5}, "from 0 to 1"),
    ],
    ids=str,
)
def test_a_policy_that_cannot_be_made_is_refused_with_what_can(fields, said):
    with pytest.raises(UsageError) as error:
        policies.from_mapping("gossip", fields)
    assert said in str(error.value)
    assert "gossip" in str(error.value) or "recal" in str(error.value)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(UsageError, match="policy name 'park' is taken"):
        policies.from_mapping("park", {"base": "recall"})


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        (("recency",), "the part 'importance' of a score has a weight and no function\n  give it a line in a.TABLE"),
        (
            ("recency", "importance", "mood"),
            "'mood' of a score has a function and no weight\n  give Policy the field mood_w",
        ),
        (("recency", "importance", "named"), "'named' of a score is in a.TABLE and has its weight among other parts"),
    ],
)
def test_a_part_of_a_score_has_a_weight_and_a_function(functions, said):
    with pytest.raises(CommonplaceError, match=said):
        policies.refuse_mistakes("a.TABLE", functions, policies.INHERENT)
