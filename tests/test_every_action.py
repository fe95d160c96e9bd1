"""An action or a verb is known in several layers: this names the one that a new one has been forgotten in."""

from __future__ import annotations

from typing import get_args

import pytest

from commonplace.languages import phrases
from commonplace.minds.tasks.act import Kind
from commonplace.views.lines import CATEGORIES, MARKS
from commonplace.world.actions import VERBS, Action
from commonplace.world.events import TYPES

ACTIONS = tuple(one.__name__.upper() for one in get_args(Action))
"""The kind of answer and the type of event that belong to each action."""


def test_a_mind_can_answer_every_action() -> None:
    assert set(get_args(Kind)) == set(ACTIONS)


@pytest.mark.parametrize("table", [TYPES, CATEGORIES, MARKS], ids=["event", "category", "mark"])
def test_every_action_is_an_event_and_shown(table) -> None:
    assert set(ACTIONS) <= {*table, "IDLE"}  # which has the mark of all that has none


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_verb_has_words(language: str) -> None:
    for table in ("world", "verbs", "events"):
        assert set(VERBS) <= phrases(language, table).keys()
