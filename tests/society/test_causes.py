"""What happens changes what people do and say; take the cause away and the effect goes with it."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import Any

from cognition.hamlet import Town, at_once
from commonplace.engine.god_mode import preview
from commonplace.minds.mind import Ask
from commonplace.minds.notes import changed
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks import CONVERSE, ConverseInput
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.loading import find
from commonplace.scenario.scenario import Scenario
from commonplace.world.events import EventBody
from sizes import PROVE
from society.village import Recording

NOON, EVENING, NIGHT = ("12:00", "18:00", "21:00") if PROVE else ("09:00", "12:00", "12:00")


@cache
def _under(sky: str) -> Scenario:
    """Latticeville under one sky for good."""
    document: dict[str, Any] = deepcopy(find("latticeville").data)
    document["climate"] = {"sky": sky, "temperature": "cool", "weights": {sky: {sky: 1}}}
    return compiled_from_text(json.dumps(document, ensure_ascii=False), "latticeville")


def _outdoors(town: Town) -> int:
    """Ticks spent under the open sky by all together, walks included, from nine to six at most."""
    nodes, clock = town.scenario.geography.nodes, town.scenario.clock
    outside = 0
    where = {agent: body.area for agent, body in town.scenario.opening.bodies.items()}
    for tick in town.ticks:
        for event in tick.events:
            if event.type == "MOVE":
                where[event.agent_id] = event.body.to
        if 9 <= clock.time(tick.number).hour < 18:
            outside += sum(nodes[area].outdoor for area in where.values())
    return outside


def test_rain_keeps_people_indoors_and_changes_their_plans() -> None:
    dry, wet = (Town(_under(sky), OfflineMind(), seed=2).until(EVENING) for sky in ("clear", "rain"))
    assert _outdoors(wet) < 0.7 * _outdoors(dry)
    plans = {
        town: {agent: [stroke.location for stroke in town.plan(agent).level("day")] for agent in town.scenario.personas}
        for town in (dry, wet)
    }
    differing = [agent for agent in dry.scenario.personas if plans[dry][agent] != plans[wet][agent]]
    assert len(differing) >= 4


def test_rain_that_begins_is_a_reason_to_change_plans() -> None:
    document: dict[str, Any] = deepcopy(find("latticeville").data)
    document["climate"] = {"sky": "clear", "hours_per_step": 3, "weights": {"clear": {"rain": 1}, "rain": {"rain": 1}}}
    town = Town(compiled_from_text(json.dumps(document), "latticeville"), OfflineMind(), seed=2).until("11:00")
    begins = [event.tick for event in town.events("WEATHER_CHANGED")]
    changed = [event for event in town.events("PLAN_CHANGED") if "rain" in event.body.reason]
    assert len(begins) == 1
    assert len(changed) >= 2
    assert all(event.tick > begins[0] for event in changed)
    for event in changed:
        plan = town.turn(event.agent_id, event.tick).state.plan
        now = plan.at(town.scenario.clock.time(event.tick), "day")
        assert now is not None


def test_a_god_event_changes_what_those_do_who_perceive_it() -> None:
    scenario = load("latticeville")
    with_it, without = (Town(scenario, OfflineMind(), seed=3).until(NOON) for _ in range(2))
    text = "A gas leak in Mira's Noodle Bar: everybody out!"
    body = at_once(preview(text, scenario, with_it.engine.live_state.world, with_it.engine.driver))
    assert body["to"]["areas"] == ["noodle-bar"]
    before = len(with_it.ticks)
    assert [t.events for t in with_it.ticks] == [t.events for t in without.ticks]
    with_it.live(1, body).live(24)
    without.live(25)
    reached = [agent for event in with_it.events("GOD_EVENT") for agent, _ in event.body.percepts]
    assert reached
    for agent in reached:
        assert text in with_it.texts(agent)
        assert text not in without.texts(agent)

    def doings(town: Town, agent: str) -> list[EventBody]:
        events = [event for tick in town.ticks[before + 1 :] for event in tick.events if event.agent_id == agent]
        return [event.body for event in events]

    assert any(doings(with_it, agent)[:6] != doings(without, agent)[:6] for agent in reached)


def test_a_line_rests_on_the_memories_it_cites() -> None:
    """With what it cites hidden, no line stays as it was: the words come from the memories, not from a table."""
    mind = Recording(OfflineMind())
    Town(load("latticeville"), mind, seed=1).until(NIGHT)
    lines = [(ask.input, request_key, output) for ask, request_key, output in mind.of("converse") if output.utterance]
    resting = [(given, request_key, output) for given, request_key, output in lines if output.because]
    assert len(resting) > (60 if PROVE else 30)
    assert len(resting) == len(lines)
    unmoved = [
        (request_key.tick, request_key.agent, output.utterance)
        for given, request_key, output in resting
        if OfflineMind().answer(Ask(CONVERSE, _without(given, set(output.because))), request_key).value.utterance
        == output.utterance
    ]
    assert unmoved == []


def _without(given: ConverseInput, hidden: set[int]) -> ConverseInput:
    """The question without some memories, and without what only they carried: facts, goals, and notes about a past."""
    rest = tuple(memory for memory in given.recalled if memory.id not in hidden)
    known = {fact for memory in rest for fact in memory.facts}
    return changed(
        given,
        recalled=rest,
        facts=tuple(fact for fact in given.facts if fact.id in known),
        goals=tuple(goal for goal in given.goals if hidden.isdisjoint(goal.because)),
        past=changed(given.past, notes=tuple(note for note in given.past.notes if hidden.isdisjoint(note.because))),
    )
