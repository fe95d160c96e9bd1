"""Settings that take a part of the mind away, and nothing else."""

from __future__ import annotations

from typing import Any

from cognition.hamlet import hamlet, idle, puppets, tell, use
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke

ACTS = {("ben", 2): use("kite", "TAKE"), ("ben", 3): tell("cora", "Look, a kite!")} | {
    ("ben", tick): idle(f"whistling {tick}") for tick in range(4, 60)
}


def test_without_observing_only_the_own_doings_are_remembered() -> None:
    town, mind = puppets(hamlet(fidelity="every_tick", observe=False), ACTS)
    town.live(30)
    for agent in town.scenario.personas:
        assert [memory for memory in town.memories(agent, "observation") if memory.tick] == []
    assert town.texts("ben", "action")
    assert mind.inputs("react", "cora") == []
    with_eyes, _ = puppets(hamlet(fidelity="every_tick"), ACTS)
    assert len(with_eyes.live(30).memories("cora", "observation")) > 10


def test_without_reflecting_no_reflection_is_ever_asked_for() -> None:
    reflection = {"threshold": 5}
    counts = {}
    for reflect in (False, True):
        town, mind = puppets(hamlet(fidelity="every_tick", reflect=reflect, reflection=reflection), ACTS)
        town.live(30)
        counts[reflect] = len(mind.inputs("questions"))
    assert counts[False] == 0
    assert counts[True] > 0


def test_without_planning_the_routine_is_followed_whatever_happens() -> None:
    def react(given: ReactInput, _: Any) -> ReactOutput:
        stroke = Stroke(start=given.situation.time, minutes=60, location="green", do="chasing a kite")
        return ReactOutput(decision="keep", stroke=stroke, reason="a kite")

    town, mind = puppets(hamlet(fidelity="every_tick", plan=False), ACTS, react=react)
    town.live(60)
    assert mind.inputs("plan_day") == []
    assert town.events("PLAN_CHANGED") == []
    for agent in town.scenario.personas:
        usual = [item.do for item in town.scenario.personas[agent].routine]
        assert [stroke.action_description for stroke in town.plan(agent).level("day")] == usual[1:]
    planning, mind = puppets(hamlet(fidelity="every_tick"), ACTS, react=react)
    planning.live(20)
    assert mind.inputs("plan_day")
    assert planning.events("PLAN_CHANGED")
