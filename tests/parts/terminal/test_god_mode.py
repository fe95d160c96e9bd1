"""What is typed in god mode, as inputs."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.parts.terminal.god_mode import parsed
from commonplace.scenario.compiling import load
from commonplace.views.town_names import TownNames

TOWN = TownNames.of(load("plaza").part)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("fog comes in", {"kind": "god", "text": "fog comes in"}),
        ("/voice Ines call home", {"kind": "voice", "agent_id": "ines", "text": "call home"}),
        (
            "/do bruno say Ines Okafor: good morning",
            {
                "kind": "take_over",
                "agent_id": "bruno",
                "action": {"kind": "SAY", "to_agent_id": "ines", "utterance": "good morning"},
            },
        ),
        (
            "/do Bruno Salt go cafe",
            {"kind": "take_over", "agent_id": "bruno", "action": {"kind": "MOVE", "to_location_id": "cafe"}},
        ),
        (
            "/do bruno use coffee machine",
            {
                "kind": "take_over",
                "agent_id": "bruno",
                "action": {"kind": "INTERACT", "object_id": "coffee_machine", "verb": "USE"},
            },
        ),
        (
            "/do bruno wait whistling",
            {"kind": "take_over", "agent_id": "bruno", "action": {"kind": "IDLE", "doing": "whistling"}},
        ),
        ("/do ines I fly", {"kind": "attempt", "agent_id": "ines", "text": "I fly"}),
        ("/release bruno", {"kind": "give_back", "agent_id": "bruno"}),
        ("/leave ines", {"kind": "leave", "agent_id": "ines"}),
        ("/join ines cafe", {"kind": "join", "agent_id": "ines", "area": "cafe"}),
        (
            "/set Ines relation.bruno.warmth -40",
            {"kind": "set", "agent_id": "ines", "field": "relation.bruno.warmth", "value": "-40"},
        ),
    ],
)
def test_a_line_is_an_input(text: str, body: dict[str, Any]) -> None:
    intent = parsed(text, TOWN)
    assert intent is not None
    assert intent.body == body


@pytest.mark.parametrize(
    "text",
    [
        "/voice nobody hi",
        "/voice ines",
        "/do ines",
        "/do ines go nowhere",
        "/dance ines",
        "/join ines",
        "/set ines place",
        "/",
    ],
)
def test_what_names_nothing_is_not_understood(text: str) -> None:
    assert parsed(text, TOWN) is None
