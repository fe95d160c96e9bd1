"""An action is known in several layers: this names the one that a new one has been forgotten in."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

import pytest

from commonplace.minds.tasks.act import Kind
from commonplace.views.lines import CATEGORIES, MARKS
from commonplace.world.actions import Action
from commonplace.world.events import TYPES

ACTIONS = tuple(one.__name__.upper() for one in get_args(Action))
"""The kind of answer and the type of event that belong to each action."""


def test_a_mind_can_answer_every_action() -> None:
    assert set(get_args(Kind)) == set(ACTIONS)


@pytest.mark.parametrize("table", [TYPES, CATEGORIES, MARKS], ids=["event", "category", "mark"])
def test_every_action_is_an_event_and_shown(table: Collection[str]) -> None:
    assert set(ACTIONS) <= {*table, "IDLE"}  # which has the mark of all that has none
