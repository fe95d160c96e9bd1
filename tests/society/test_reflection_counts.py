"""A town that does not reflect plans and talks otherwise: what thinking changes, counted."""

from __future__ import annotations

import pytest

from cognition.hamlet import Town
from commonplace.minds.offline import OfflineMind
from commonplace.scenario.compiling import compiled_from_text, load

DAY = 288
TWO_DAYS = 2 * DAY


def _lived(*, reflects: bool) -> Town:
    text = load("latticeville").text
    text = text if reflects else text.replace("cognition:\n", "cognition:\n  reflect: false\n")
    scenario = compiled_from_text(text)
    return Town(scenario, OfflineMind(scenario.language)).live(TWO_DAYS)


def _thoughts(town: Town, agent: str) -> set[int]:
    return {memory.id for memory in town.memories(agent, "reflection")}


def _share_of_lines(town: Town) -> float:
    """The share of lines that rest on a reflection."""
    lines = town.events("SAY")
    resting = [line for line in lines if _thoughts(town, line.agent_id) & {*line.body.because}]
    return len(resting) / len(lines)


def _strokes(town: Town) -> int:
    """Strokes of the day that rest on a reflection."""
    return sum(
        1
        for agent in town.scenario.personas
        for stroke in town.plan(agent).level("day")
        if _thoughts(town, agent) & {*stroke.because}
    )


@pytest.mark.slow
def test_without_reflection_plans_and_talk_differ() -> None:
    town, other = _lived(reflects=True), _lived(reflects=False)
    assert _share_of_lines(town) >= 0.02
    assert _strokes(town) >= 2
    assert _share_of_lines(other) == _strokes(other) == 0
    said, unsaid = (
        {line.body.utterance for line in one.events("SAY") if line.tick > DAY}  # nobody has thought of much before
        for one in (town, other)
    )
    assert len(said & unsaid) < 0.5 * len(said)
