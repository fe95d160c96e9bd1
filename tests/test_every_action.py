"""A kind of action is a row of `ACTIONS`: every layer knows each, and a row that cannot work is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from cognition.hamlet import Puppets, Town, hamlet, standing
from commonplace.errors import CommonplaceError
from commonplace.minds.tasks.act import ActOutput, Kind
from commonplace.views.lines import CATEGORIES, MARKS
from commonplace.world import tree
from commonplace.world.actions import ACTIONS, refuse_wrong_row
from commonplace.world.deeds import ActionKind


def test_a_mind_can_answer_every_action() -> None:
    assert get_args(Kind) == tuple(ACTIONS)
    named = {name for kind in ACTIONS.values() for name in (*kind.targets, kind.words)}
    assert named <= {"", *ActOutput.model_fields}


def test_every_action_is_shown() -> None:
    assert set(ACTIONS) <= {*CATEGORIES} & {*MARKS}
    assert all(len(mark) == 1 for mark in MARKS.values())


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_an_event_that_its_actor_remembers(name: str) -> None:
    kind, acts = ACTIONS[name], dict[tuple[str, int], ActOutput]()
    town = Town(hamlet(standing(ben="bakery"), fidelity="every_tick"), Puppets(acts)).live(1)
    possible = town.engine.live_state.view("anna").world.targets.of.get(name, {"": ()})
    first, second = next(iter(possible.items()))
    words = {kind.words: "Hello!"} if kind.words else {}
    acts["anna", 2] = ActOutput(kind=name, **dict(zip(kind.targets, (first, *second), strict=False)), **words)
    town.live(3)
    events = {event.id for event in town.events(name, "anna") if event.tick > 1}
    assert "t2.anna.0" in events
    assert events & {memory.event for memory in town.memories("anna", "action")}


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("TALK", ACTIONS["SAY"], "the event of the action 'TALK' is called 'SAY'"),
        ("SAY", replace(ACTIONS["SAY"], targets=("about",)), "the action 'SAY' has no 'about'"),
        ("SAY", replace(ACTIONS["SAY"], words="facts"), "the action 'SAY' has no 'facts'"),
        ("SAY", replace(ACTIONS["SAY"], objections=()), "the action 'SAY' needs an objection for each target"),
    ],
)
def test_a_row_that_cannot_work_is_named(name: str, row: ActionKind[Any], said: str) -> None:
    with pytest.raises(CommonplaceError, match=said):
        refuse_wrong_row(name, row)


@pytest.mark.parametrize("row", ["waving to {whom} | waves", "waving to {to}", "a | b | c | d"])
def test_words_that_cannot_be_filled_in_are_named(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "own_phrases", lambda *_: {"WAVE": row})
    with pytest.raises(CommonplaceError, match=r"en/phrases\.toml: the words for 'WAVE' are"):
        tree.refuse_mistakes("actions", "action, ACTIONS", {"WAVE": {"to"}}, tree.ActionWords)
