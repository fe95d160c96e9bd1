"""Policies are data, and wrong ones are refused."""

from __future__ import annotations

import dataclasses
import math

import pytest

from commonplace.errors import WrongUse
from commonplace.memory import policies


def test_policies_are_found_by_name():
    assert [policies.by_name(name).name for name in policies.NAMES] == list(policies.NAMES)
    assert policies.by_name("park") is policies.PARK
    assert policies.by_name("lexical") is policies.LEXICAL


@pytest.mark.parametrize(("name", "nearest"), [("lexicl", "lexical"), ("Park", "park"), ("PARK", ""), ("xyz", "")])
def test_a_name_there_is_none_of_gets_the_nearest(name, nearest):
    with pytest.raises(WrongUse) as error:
        policies.by_name(name)
    assert (f"did you mean {nearest!r}" in str(error.value)) is bool(nearest)
    assert "park, lexical" in str(error.value)


@pytest.mark.parametrize(
    "wrong", [{"decay": 0}, {"decay": 1.1}, {"decay": math.nan}, {"relevance_weight": math.inf}, {"k": 0}], ids=str
)
def test_a_policy_that_cannot_score_is_refused(wrong):
    with pytest.raises(WrongUse, match="policy park"):
        dataclasses.replace(policies.PARK, **wrong)
