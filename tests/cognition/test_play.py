"""A person may decide for a character: its mind goes on remembering, and does not act."""

from __future__ import annotations

from typing import Any

from cognition.hamlet import Town, hamlet
from commonplace.minds.offline import OfflineMind


def _taken(action: dict[str, str]) -> dict[str, Any]:
    return {"kind": "take_over", "agent_id": "anna", "action": action}


def _noon() -> Town:
    return Town(hamlet(), OfflineMind()).until("12:00")


def _elsewhere(town: Town) -> str:
    """Some area Anna knows of and is not in."""
    return next(area for area in town.scenario.geography.destinations if area != town.body("anna").area)


def test_what_the_person_wants_is_done_in_the_next_tick() -> None:
    town = _noon()
    area = _elsewhere(town)
    town.live(1, _taken({"kind": "MOVE", "to_location_id": area})).live(6)
    assert town.body("anna").area == area
    assert town.events("TAKEN_OVER", "anna")


def test_nothing_else_is_done_until_the_character_is_given_back() -> None:
    town = _noon().live(1, _taken({"kind": "IDLE", "doing": "juggling"})).live(24)
    assert town.body("anna").doing == "juggling"
    assert town.state("anna").played
    assert "Anna Berg was juggling." in town.texts("anna")
    town.live(1, {"kind": "give_back", "agent_id": "anna"}).live(3)
    assert not town.state("anna").played
    assert town.body("anna").doing != "juggling"


def test_an_action_that_cannot_be_done_is_rejected_like_anybodys() -> None:
    town = _noon().live(1, _taken({"kind": "INTERACT", "object_id": "nothing", "verb": "USE"})).live(1)
    assert [event.body.proposed.object_id for event in town.events("ACTION_REJECTED", "anna")] == ["nothing"]


def test_words_that_are_no_action_make_the_character_wait() -> None:
    town = _noon()
    before = town.body("anna").area
    town.live(1, _taken({"kind": "FLY"})).live(3)
    assert town.body("anna").area == before
    assert town.state("anna").played
