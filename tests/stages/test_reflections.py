"""A duet reflects after so many turns of the dialogue, and each reflection rests on memories."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from cognition.hamlet import Town
from commonplace.minds.mind import RequestKey
from commonplace.minds.tasks import DuetInput, DuetOutput, Insight, InsightsInput, InsightsOutput
from commonplace.scenario.compiling import compiled_from_text
from commonplace.stages.duet import DUET
from commonplace.testing import ScriptedMind

PAIR = ("ada", "bo")


def _scenario(every: int) -> Any:
    people = [
        {
            "id": agent,
            "name": f"{agent.title()} Lind",
            "age": 40,
            "pronoun": "she",
            "work": "baker",
            "traits": ["calm"],
            "background": "She bakes.",
            "goals": ["hear the news"],
            "home": "room",
            "memories": [{"text": f"{agent.title()} Lind bought a red kite.", "importance": 6}],
        }
        for agent in PAIR
    ]
    document = {
        "name": "pair",
        "stage": "duet",
        "clock": {"start": "2031-10-04T10:00:00", "tick_minutes": 1},
        "duet": {"setting": "A room."},
        "world": {"root": {"id": "room", "name": "Room"}},
        "characters": people,
        "cognition": {"importance": "rules", "deferred_minutes": 1, "reflection": {"every_turns": every}},
    }
    return compiled_from_text(json.dumps(document), "pair")


def _mind(cites: bool = True) -> ScriptedMind:
    def insights(given: InsightsInput, _: RequestKey) -> InsightsOutput:
        shown = tuple(memory.id for evidence in given.evidence for memory in evidence.recalled)
        insight = Insight(text=f"{given.who.called} feels at home here.", because=shown[:2] if cites else (9999,))
        return InsightsOutput(insights=(insight,))

    def duet_turn(_: DuetInput, request_key: RequestKey) -> DuetOutput:
        return DuetOutput(plan="talk", utterance=f"Line {request_key.tick}.")

    return ScriptedMind({"insights": insights, "duet_turn": duet_turn})


def _reflections(town: Town, agent: str) -> list[Any]:
    return [memory for memory in town.memories(agent) if memory.kind == "reflection"]


def test_each_reflects_on_its_first_turn_after_six_turns_and_never_at_the_beginning() -> None:
    town = Town(_scenario(6), _mind(), stage=DUET).live(30)
    for agent in PAIR:
        ticks = [memory.tick for memory in _reflections(town, agent)]
        assert len(ticks) >= 3
        assert ticks[0] > 6
        assert all(later - earlier >= 6 for earlier, later in pairwise(ticks))


def test_a_reflection_on_a_talk_weighs_seven_and_cites_what_was_shown() -> None:
    town = Town(_scenario(6), _mind(), stage=DUET).live(16)
    (first, *_) = _reflections(town, "ada")
    assert first.importance == 7
    assert first.citations
    assert all(cited < first.id for cited in first.citations)


def test_what_cites_nothing_that_was_shown_is_no_reflection() -> None:
    town = Town(_scenario(6), _mind(cites=False), stage=DUET).live(20)
    assert _reflections(town, "ada") == []


def test_without_a_period_a_duet_does_not_reflect_on_turns() -> None:
    town = Town(_scenario(0), _mind(), stage=DUET).live(20)
    assert _reflections(town, "ada") == []
