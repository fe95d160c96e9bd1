"""An action is known in several layers: this names the one that a new one has been forgotten in."""

from __future__ import annotations

from typing import get_args

import pytest

from cognition.hamlet import Town, hamlet, standing
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks.act import Kind
from commonplace.world.actions import ACTIONS

DONE = {
    "IDLE": {"doing": "juggling"},
    "MOVE": {"to_location_id": "green"},
    "INTERACT": {"object_id": "kettle", "verb": "USE"},
    "SAY": {"to_agent_id": "ben", "utterance": "Hello!"},
}
"""What Anna, who is in the bakery with Ben, does of each kind."""


def test_a_mind_can_answer_every_action() -> None:
    assert set(get_args(Kind)) == set(ACTIONS)


def test_every_action_is_tried_here() -> None:
    assert set(DONE) == set(ACTIONS)


@pytest.mark.parametrize("kind", DONE)
def test_an_action_is_an_event_that_its_actor_remembers(kind: str) -> None:
    town = Town(hamlet(standing(ben="bakery")), OfflineMind()).live(2)
    town.live(1, {"kind": "take_over", "agent_id": "anna", "action": {"kind": kind, **DONE[kind]}}).live(3)
    assert "t4.anna.0" in {event.id for event in town.events(kind, "anna")}
    assert "t4.anna.0" in {memory.event for memory in town.memories("anna", "action")}
