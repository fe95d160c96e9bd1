"""What a character notices, and what it does not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognition.hamlet import Town, go, hamlet, idle, person, puppets, standing, tell, use
from commonplace.cognition.perceive import Percept, taken_in
from commonplace.memory import Memory

TALK = "Have you seen the red kite fly?"


def _noticed(memories: list[Memory]) -> list[str]:
    return [memory.text for memory in memories if memory.kind != "plan"]


def test_only_what_is_in_the_own_area_is_noticed() -> None:
    acts = {("ben", 1): use("kite", "TAKE"), ("ben", 3): tell("cora", TALK), ("ben", 5): idle("whistling")}
    town, _ = puppets(hamlet(fidelity="every_tick"), acts)
    town.live(8)
    away = [text for text in town.texts("anna") if "Cora" in text or "kite" in text or "whistling" in text]
    assert away == []
    here = town.texts("cora", "observation")
    assert "Ben Cole is taking the red kite." in here
    assert f"Ben Cole says to Cora Dunn: “{TALK}”" in here
    assert "Ben Cole is whistling." in here


@pytest.mark.parametrize(("window", "again"), [(5, [2, 8, 14]), (1, [2, 4, 6, 8, 10, 12, 14])])
def test_what_was_remembered_within_the_novelty_window_is_not_remembered_again(window: int, again: list[int]) -> None:
    acts = {("ben", tick): idle("juggling" if tick % 2 else "whistling") for tick in range(1, 15)}
    town, _ = puppets(hamlet(fidelity="every_tick", novelty_window=window), acts)
    town.live(14)
    juggling = [memory.tick for memory in town.memories("cora") if memory.text == "Ben Cole is juggling."]
    assert juggling == again


def test_a_long_novelty_window_holds_however_much_is_remembered_in_it() -> None:
    acts = {("ben", tick): idle(f"counting to {tick}") for tick in range(2, 40)}
    acts |= {("ben", 1): idle("juggling"), ("ben", 40): idle("juggling")}
    town, _ = puppets(hamlet(fidelity="every_tick", novelty_window=100), acts)
    town.live(42)
    assert town.texts("cora").count("Ben Cole is juggling.") == 1


def _arriving(known: str, attention: int) -> list[str]:
    """What Anna takes in as she comes into the barn, where Cora flies the kite; she knows one of the two there."""

    def change(document: dict[str, Any]) -> None:
        person(document, "anna")["relations"] = [{"to": known, "label": "friend"}]

    acts = {("cora", 1): use("kite", doing="flying the kite"), ("anna", 1): idle("waiting")}
    acts |= {("anna", 2): go("barn"), ("anna", 3): go("barn")}
    acts |= {(agent, tick): idle("whistling") for agent in ("ben", "cora") for tick in (2, 3)}
    town, _ = puppets(hamlet(change, fidelity="every_tick", attention=attention), acts)
    town.live(4)
    assert town.events("MOVE", "anna")[1].body.to == "barn"
    assert town.turn("anna", 4).trace.get("missed", 0) == 3 - attention
    return [memory.text for memory in town.remembered("anna", 4) if memory.kind == "observation"]


@pytest.mark.parametrize("attention", [1, 2, 3])
def test_attention_goes_to_people_first_and_to_the_known_among_them(attention: int) -> None:
    ben, cora, kite = "Ben Cole is whistling.", "Cora Dunn is whistling.", "The red kite is flying."
    assert _arriving("ben", attention) == [ben, cora, kite][:attention]
    assert _arriving("cora", attention) == [cora, ben, kite][:attention]


def test_among_strangers_attention_goes_by_id() -> None:
    def strangers(document: dict[str, Any]) -> None:
        person(document, "ben")["relations"] = []
        standing(anna="barn")(document)

    acts = {(agent, tick): idle(f"singing {tick}") for agent in ("anna", "cora") for tick in range(1, 4)}
    town, _ = puppets(hamlet(strangers, fidelity="every_tick", attention=1), acts)
    town.live(1)
    first = [memory.text for memory in town.remembered("ben", 1) if memory.kind == "observation"]
    assert first == ["Anna Berg is baking bread."]


def _night(document: dict[str, Any]) -> None:
    """Ten at night: Cora sleeps in the barn, and Ben is still up in it."""
    document["clock"]["start"] = "2031-10-04T22:30:00"
    person(document, "ben")["routine"][-1]["at"] = "23:59"


def _told_at_night(*inputs: dict[str, Any], script: tuple[dict[str, Any], ...] = ()) -> Town:
    def change(document: dict[str, Any]) -> None:
        _night(document)
        document["script"] = list(script)

    acts = {("ben", tick): idle(f"dancing {tick}") for tick in range(1, 4)}
    town, _ = puppets(hamlet(change, fidelity="every_tick"), acts)
    assert town.body("cora").asleep
    assert not town.body("ben").asleep
    return town.live(1, *inputs).live(3)


def test_a_sleeper_notices_only_what_is_meant_for_it() -> None:
    bell = {"kind": "god_event", "text": "A bell rings.", "to": {"everybody": True}}
    hay = {"kind": "god_event", "text": "The hay rustles.", "to": {"areas": ["barn"]}}
    voice = {"kind": "inner_voice", "agent_id": "cora", "text": "Did I lock the barn?"}
    town = _told_at_night(bell, hay, voice)
    assert _noticed(town.memories("cora")) == ["Cora Dunn has a thought that will not go away: Did I lock the barn?"]
    assert {"A bell rings.", "The hay rustles."} <= set(town.texts("ben"))


def test_a_scripted_event_wakes_the_attention_of_the_sleeper_it_names() -> None:
    crash = {
        "id": "crash",
        "at": "22:35",
        "text": "A bat lands on Cora.",
        "to": {"everybody": False, "agents": ["cora"]},
    }
    thunder = {"id": "thunder", "at": "22:35", "text": "Thunder rolls.", "to": {"everybody": True}}
    town = _told_at_night(script=(crash, thunder))
    assert _noticed(town.memories("cora")) == ["A bat lands on Cora."]
    assert "Thunder rolls." in town.texts("ben")


def test_a_god_event_wakes_the_attention_of_the_sleeper_it_names() -> None:
    town = _told_at_night({"kind": "god_event", "text": "Somebody shakes Cora.", "to": {"agents": ["cora"]}})
    assert _noticed(town.memories("cora")) == ["Somebody shakes Cora."]


def test_the_own_outcome_is_the_first_percept_of_the_next_tick_and_an_action_of_the_tick_before() -> None:
    acts = {("ben", 2): use("kettle", doing="boiling water"), ("anna", 2): idle("singing")}
    town, _ = puppets(hamlet(standing(ben="bakery"), fidelity="every_tick"), acts)
    town.live(3)
    first, *rest = [memory for memory in town.remembered("ben", 3) if memory.kind != "plan"]
    assert (first.kind, first.text, first.event) == ("action", "Ben Cole was boiling water.", "t2.ben.0")
    assert first.tick == 3
    assert first.created_at == town.scenario.clock.time(2)
    assert "Anna Berg is singing." in [memory.text for memory in rest]
    assert all(memory.created_at == first.created_at + timedelta(minutes=5) for memory in rest)


def test_who_comes_in_hears_what_is_just_being_said() -> None:
    acts = {("anna", 1): go("barn"), ("anna", 2): go("barn"), ("ben", 2): tell("cora", TALK)}
    town, _ = puppets(hamlet(fidelity="every_tick"), acts)
    town.live(3)
    assert (town.events("MOVE", "anna")[1].tick, town.events("MOVE", "anna")[1].body.to) == (2, "barn")
    assert f"Ben Cole says to Cora Dunn: “{TALK}”" in _noticed(town.remembered("anna", 3))


def test_who_is_leaving_hears_what_is_said_to_it_and_not_what_is_said_to_others() -> None:
    acts = {("anna", 1): go("green"), ("ben", 1): tell("anna", "Wait for me!"), ("cora", 1): tell("ben", TALK)}
    town, _ = puppets(hamlet(standing(ben="bakery", cora="bakery"), fidelity="every_tick"), acts)
    town.live(2)
    assert town.events("MOVE", "anna")
    heard = _noticed(town.remembered("anna", 2))
    assert "Ben Cole says to Anna Berg: “Wait for me!”" in heard
    assert not any(TALK in text for text in heard)


def test_who_is_on_the_way_to_another_place_is_told_as_walking_until_there() -> None:
    acts = {(agent, tick): go("bakery") for agent, tick in (("ben", 1), ("ben", 2), ("anna", 2))}
    town, mind = puppets(hamlet(standing(ben="barn", anna="green"), fidelity="every_tick"), acts)
    town.live(3)
    seen = [one for given in mind.inputs("act", "anna") for one in given.situation.people if one.id == "ben"]
    assert [(one.doing, one.walking) for one in seen] == [("walking to Bakery", True), ("just arriving", False)]


def test_in_a_crowd_two_who_turn_to_something_else_are_noticed() -> None:
    turning = [Percept("doing", f"{name} is reading.", {}, name, 1, passing=True) for name in "abcd"]
    comes = Percept("arrived", "e comes in.", {}, "e", 1)
    assert [one.subject for one in taken_in([*turning, comes])] == ["a", "b", "e"]
    assert taken_in([turning[0], comes]) == [turning[0], comes]
