"""One action a tick; what cannot be done is refused, and costs a tick."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from cognition.hamlet import Puppets, Town, asked, go, hamlet, idle, puppets, talking, tell, use
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks import ActOutput, ConverseOutput, PartOut, PlanPartsInput, PlanPartsOutput
from commonplace.testing import ScriptedMind
from commonplace.world.actions import ACTIONS


@pytest.mark.parametrize("fidelity", ["every_tick", "when_needed"])
def test_everybody_does_exactly_one_thing_in_every_tick(fidelity: str) -> None:
    town = Town(hamlet(fidelity=fidelity), OfflineMind()).live(170)
    for tick in town.ticks:
        done = Counter(event.agent_id for event in tick.events if event.type in {*ACTIONS, "ACTION_REJECTED"})
        assert done == dict.fromkeys(town.scenario.personas, 1)


INVALID = {
    "an area that does not exist": go("atlantis"),
    "no area": ActOutput(kind="MOVE"),
    "the area one is in": go("bakery"),
    "an object elsewhere": use("kite", "TAKE"),
    "no object": ActOutput(kind="INTERACT"),
    "a verb its kind does not know": use("kettle", "CLOSE"),
    "somebody elsewhere": tell("ben", "Hello!"),
    "nobody": ActOutput(kind="SAY", utterance="Hello!"),
    "oneself": tell("anna", "Hello!"),
}


@pytest.mark.parametrize("invalid", INVALID.values(), ids=INVALID)
def test_an_invalid_answer_becomes_an_idle_tick_with_the_reason_remembered(invalid: ActOutput) -> None:
    town, _ = puppets(hamlet(fidelity="every_tick"), {("anna", 3): invalid})
    town.live(2)
    before = town.body("anna")
    town.live(1)
    (rejected,) = town.events("ACTION_REJECTED")
    assert rejected.id == "t3.anna.0"
    assert rejected.body.why
    assert rejected.body.proposed.kind == invalid.kind
    assert (town.body("anna").area, town.body("anna").asleep) == (before.area, before.asleep)
    town.live(1)
    (memory,) = [memory for memory in town.memories("anna") if memory.event == rejected.id]
    assert memory.kind == "action"
    assert "Anna Berg" in memory.text


def test_an_answer_that_cannot_be_read_is_the_next_step_of_the_plan() -> None:
    town, _ = puppets(hamlet(fidelity="every_tick"), {})
    town.until("13:30")
    assert town.events("ACTION_REJECTED") == []
    assert (town.body("anna").area, town.body("anna").doing) == ("bakery", "baking bread again")


def test_every_tick_asks_for_each_waking_action_and_when_needed_for_none() -> None:
    counts: dict[str, int] = {}
    for fidelity in ("every_tick", "when_needed"):
        mind = ScriptedMind()
        town = Town(hamlet(fidelity=fidelity), mind).live(200)
        awake = [
            (agent, tick.number)
            for tick, before in zip(town.ticks, [None, *town.ticks], strict=False)
            for agent in town.scenario.personas
            if before is None or not _asleep(before, agent)
        ]
        called = [(request_key.agent, request_key.tick) for request_key, ask in mind.asked if ask.task.name == "act"]
        assert called == (sorted(awake, key=lambda pair: (pair[1], pair[0])) if fidelity == "every_tick" else [])
        counts[fidelity] = len(mind.asked)
    assert counts["when_needed"] < counts["every_tick"] / 2


def _asleep(tick: Any, agent: str) -> bool:
    return any(event.agent_id == agent and event.type == "IDLE" and event.body.asleep for event in tick.events)


def test_when_needed_asks_nothing_while_nothing_is_new() -> None:
    mind = ScriptedMind()
    town = Town(hamlet(), mind).until("11:55")
    quiet = {request_key.tick for request_key, ask in mind.asked if request_key.agent == "anna"}
    assert max(quiet) < 12
    assert town.body("anna").doing == "baking bread"
    assert set(asked(mind.asked, "anna")) <= {"plan_day", "plan_hours", "plan_minutes", "rate"}


def test_words_spoken_through_the_tool_obey_the_rules_of_talk() -> None:
    bun = "The bun festival is on the green at five."
    noisy = "  Hello\x00 \u202ethere,\n\n Ben\u200b!  " + "la " * 300

    def festival(document: dict[str, Any]) -> None:
        document["characters"][0]["starts_at"] = "barn"
        document["characters"][0]["memories"].append({"text": bun})
        document["facts"] = [
            {"id": "buns", "text": {"en": bun}, "groups": {"en": [["bun"], ["festival"]]}, "originators": ["anna"]}
        ]

    acts = {("anna", tick): idle("listening") for tick in range(2, 10)}
    acts |= {
        ("anna", 6): go("barn"),
        ("anna", 1): tell("ben", bun),
        ("anna", 5): tell("ben", bun),
        ("anna", 8): tell("ben", noisy),
    }
    town, _ = puppets(hamlet(festival, fidelity="every_tick"), acts)
    town.live(9)
    first, second = town.events("SAY", "anna")
    assert (first.tick, second.tick) == (1, 8)
    assert first.body.facts == ("buns",)
    carrier = first.body.carriers[0]
    assert town.memories("anna")[carrier - 1].text == bun
    assert second.body.utterance.startswith("Hello there, Ben! la la")
    assert len(second.body.utterance) <= 400


def test_who_has_spoken_stays_a_tick_to_hear_the_answer() -> None:
    mind = ScriptedMind(
        {
            "react": lambda given, request_key: (
                talking("cora") if (request_key.agent, request_key.tick) == ("ben", 1) else None
            ),
            "converse": lambda given, request_key: ConverseOutput(utterance="Are you listening?"),
        }
    )
    town = Town(hamlet(), mind).live(2)
    assert town.events("SAY", "ben")[0].tick == 1
    assert town.body("ben").doing == "talking with Cora Dunn"
    town.live(1)
    assert town.body("ben").doing == "mending the roof"


def _at_the_kettle(given: PlanPartsInput, _: Any) -> PlanPartsOutput | None:
    part = PartOut(do="making tea", minutes=15, object_id="kettle", verb="USE")
    return PlanPartsOutput(parts=(part,)) if given.who.id == "anna" else None


def test_what_was_refused_is_not_tried_again_at_once() -> None:
    def hot(document: dict[str, Any]) -> None:
        document["world"]["kinds"]["kettle"]["states"] = ["hot", "cold"]

    town = Town(hamlet(hot), ScriptedMind({"plan_minutes": _at_the_kettle})).until("11:55")
    tries = [event.tick for event in town.events("INTERACT", "anna")]
    assert all(event.body.outcome == "refused" for event in town.events("INTERACT", "anna"))
    assert len(tries) == 2
    assert tries[1] - tries[0] >= 12


def test_what_was_refused_is_tried_again_once_the_object_has_changed() -> None:
    def hot(document: dict[str, Any]) -> None:
        document["world"]["kinds"]["kettle"]["states"] = ["hot", "cold"]

    cools = {
        "kind": "god_event",
        "text": "The kettle goes cold.",
        "to": {"areas": ["bakery"]},
        "sets": [["kettle", "cold"]],
    }
    town = Town(hamlet(hot), ScriptedMind({"plan_minutes": _at_the_kettle})).until("10:20").live(1, cools).live(6)
    assert [event.body.outcome for event in town.events("INTERACT", "anna")][:2] == ["refused", "done"]


def _offered(mind: Puppets, tick: int) -> dict[str, tuple[str, ...]]:
    """Object → verbs that Anna was offered."""
    (inputs,) = (ask.input for key, ask in mind.asked if (key.agent, key.tick, ask.task.name) == ("anna", tick, "act"))
    return dict(inputs.objects)


def test_a_verb_is_offered_while_the_state_of_the_thing_takes_it() -> None:
    town, mind = puppets(hamlet(fidelity="every_tick"), {("anna", 1): use("kettle", "USE")})
    town.live(2)
    assert town.events("INTERACT", "anna")[0].body.outcome == "done"
    assert (_offered(mind, 1), _offered(mind, 2)) == ({"kettle": ("USE",)}, {})


IN_VAIN = {
    "a verb that the state refuses": use("kettle", "USE"),
    "a verb its kind does not know": use("kettle", "CLOSE"),
    "a thing that is elsewhere": use("kite", "TAKE"),
    "somebody elsewhere": tell("ben", "Hello!"),
    "an area that does not exist": go("atlantis"),
}


@pytest.mark.parametrize("wish", IN_VAIN.values(), ids=IN_VAIN)
def test_what_could_not_be_done_is_not_tried_again_unchanged(wish: ActOutput) -> None:
    acts = {("anna", 1): use("kettle", "USE"), **{("anna", tick): wish for tick in range(2, 8)}}
    town, _ = puppets(hamlet(fidelity="every_tick"), acts)
    town.live(8)
    tries = [event.tick for event in (*town.events("ACTION_REJECTED"), *town.events("INTERACT", "anna"))]
    assert sorted(tries) == [1, 2], "the second is in vain; then the plan goes on"


def test_what_could_not_be_done_is_tried_again_once_it_can_be() -> None:
    cools = {"kind": "god_event", "text": "It goes cold.", "to": {"areas": ["bakery"]}, "sets": [["kettle", "cold"]]}
    acts = {("anna", tick): use("kettle", "USE") for tick in (1, 2, 5)}
    town, _ = puppets(hamlet(fidelity="every_tick"), acts)
    town.live(3).live(1, cools).live(2)
    assert [event.body.outcome for event in town.events("INTERACT", "anna")] == ["done", "refused", "done"]
