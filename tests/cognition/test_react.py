"""Keep the plan or not: asked when something is new, and only then."""

from __future__ import annotations

from typing import Any

import pytest

from cognition.hamlet import Town, go, hamlet, idle, person, puppets, tell, use
from commonplace.minds.notes import Given, as_data, as_json, from_data
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke
from commonplace.testing import ScriptedMind
from commonplace.world.events import VoiceAnswered


def _kettle_on(document: dict[str, Any]) -> None:
    """The kettle gets hot at ten past ten, by nobody's hand."""
    event = {"id": "heat", "at": "10:10", "text": "Smoke rises.", "to": {"agents": ["cora"]}, "sets": {"kettle": "hot"}}
    document["script"] = [event]


def _anna_stays(document: dict[str, Any], place: str) -> None:
    anna = person(document, "anna")
    anna["starts_at"] = place
    for stroke in anna["routine"]:
        stroke["place"] = place


def test_with_nothing_new_the_answer_is_keep_traced_and_unasked() -> None:
    town, mind = puppets(hamlet(), {})
    town.live(20)
    assert mind.ticks("react", "anna") == []
    for tick in range(1, 21):
        reaction = town.turn("anna", tick).trace["reaction"]
        assert reaction["decision"] == "keep"
        assert reaction["reason"]


def test_news_is_put_to_the_mind_once_in_the_tick_it_is_perceived() -> None:
    acts = {("ben", 4): go("green"), ("ben", 5): go("bakery"), ("ben", 6): use("kettle")}
    town, mind = puppets(hamlet(fidelity="every_tick"), acts)
    town.live(7)
    assert mind.ticks("react", "anna") == [6, 7]
    arrived, singing = mind.inputs("react", "anna")
    assert [(news.kind, news.text) for news in arrived.news] == [
        ("arrived", "Ben Cole comes in from Village Green."),
    ]
    assert [news.text for news in singing.news] == ["The kettle begins to sing."]
    known = {memory.id: memory.text for memory in town.memories("anna")}
    assert all(known[news.memory_id] == news.text for given in (arrived, singing) for news in given.news)


@pytest.mark.parametrize("cognition", [{"requests": "single"}, {"requests": "merged"}])
def test_a_small_thing_is_remembered_and_not_asked_about(cognition: dict[str, str]) -> None:
    mind = ScriptedMind()
    town = Town(hamlet(_kettle_on, **cognition), mind).live(4)
    assert "The kettle is hot." in town.texts("anna")
    assert not [key for key, ask in mind.asked if ask.task.name == "react" and key.agent == "anna"]


def test_what_others_say_to_each_other_is_asked_about_unless_one_has_just_talked_with_them() -> None:
    acts = {
        ("anna", 2): tell("ben", "The oven draws well."),
        ("cora", 3): tell("anna", "May I look?"),
        ("anna", 14): tell("ben", "It has a new door."),
        ("anna", 22): tell("ben", "It has two hinges."),
    }
    town, mind = puppets(
        hamlet(lambda document: _anna_stays(document, "barn"), fidelity="every_tick", requests="merged"), acts
    )
    town.live(23)
    reactions = zip(mind.ticks("react", "cora"), mind.inputs("react", "cora"), strict=True)
    heard = [(tick, news) for tick, given in reactions for news in given.news if news.kind == "said"]
    overheard = [(tick, news.happening.quote) for tick, news in heard if not news.to_me]
    assert overheard == [(3, "The oven draws well."), (23, "It has two hinges.")]
    assert any("It has a new door." in text for text in town.texts("cora"))


@pytest.mark.parametrize("place", ["green", "bakery"])
def test_weather_is_asked_about_by_who_is_out_of_doors(place: str) -> None:
    def storm(document: dict[str, Any]) -> None:
        document["climate"] = {"sky": "clear", "weights": {"clear": {"storm": 1}, "storm": {"storm": 1}}}
        _anna_stays(document, place)

    town, mind = puppets(hamlet(storm), {})
    while not [text for text in town.texts("anna") if "storm" in text]:
        town.live()
    asked = [news.kind for given in mind.inputs("react", "anna") for news in given.news]
    assert ("weather" in asked) == (place == "green")


def test_what_a_mind_is_told_is_what_would_have_passed_every_check() -> None:
    acts = {("ben", 4): go("green"), ("ben", 5): go("bakery"), ("ben", 6): use("kettle")}
    town, mind = puppets(hamlet(fidelity="every_tick"), acts)
    town.live(7)
    reactions, ratings = mind.inputs("react", "anna"), mind.inputs("rate", "anna")
    assert ratings
    assert all(given.recalled for given in reactions)
    told: list[Given] = reactions + ratings
    for given in told:
        checked = from_data(type(given), as_data(given))
        assert checked == given
        assert as_json(checked) == as_json(given)


def test_somebody_here_turning_to_something_else_is_remembered_and_gives_no_reason_to_react() -> None:
    town, mind = puppets(hamlet(fidelity="every_tick"), {("ben", 4): idle("whistling")})
    town.live(6)
    assert "Ben Cole is whistling." in town.texts("cora")
    assert [tick for tick in mind.ticks("react", "cora") if tick > 2] == []


def test_the_time_of_day_is_remembered_and_gives_no_reason_to_react() -> None:
    town, mind = puppets(hamlet(), {})
    town.until("12:10")
    assert "It is midday in Village Green." in town.texts("anna")
    assert not [news for given in mind.inputs("react") for news in given.news if news.kind == "time"]


def test_a_reaction_may_put_a_stroke_into_the_plan_which_is_lived() -> None:
    def react(given: ReactInput, request_key: Any) -> ReactOutput:
        if given.who.id != "cora" or request_key.tick > 8:
            return ReactOutput(decision="keep")
        stroke = Stroke(start="11:00", minutes=30, location="bakery", do="buying a bun")
        return ReactOutput(decision="keep", stroke=stroke, reason="Ben made me hungry")

    acts = {("ben", 4): tell("cora", "There are buns in the bakery.")}
    town, _ = puppets(hamlet(fidelity="every_tick"), acts, react=react)
    town.until("11:20")
    (changed,) = [event for event in town.events("PLAN_CHANGED", "cora") if event.tick == 5]
    assert changed.body.reason == "Ben made me hungry"
    assert (town.body("cora").area, town.body("cora").doing) == ("bakery", "buying a bun")
    assert "Cora Dunn decides on buying a bun at Bakery at 11:00 on Saturday." in town.texts("cora", "plan")
    town.until("11:45")
    assert town.body("cora").area == "barn"


def test_a_sleeper_does_not_react() -> None:
    def night(document: dict[str, Any]) -> None:
        document["clock"]["start"] = "2031-10-04T23:00:00"

    mind = ScriptedMind()
    voice = {"kind": "inner_voice", "agent_id": "cora", "text": "What was that?"}
    Town(hamlet(night, fidelity="every_tick"), mind).live(1, voice).live(5)
    assert not [
        ask for request_key, ask in mind.asked if ask.task.name in {"react", "act"} and request_key.agent == "cora"
    ]


@pytest.mark.parametrize("decision", ["go", "keep"])
def test_what_becomes_of_an_inner_voice_is_an_event_and_of_other_news_is_none(decision: str) -> None:
    walk = Stroke(start="10:10", minutes=20, location="green", do="looking for the kite")
    answer = ReactOutput(decision=decision, stroke=walk if decision == "go" else None, reason="so it seems to me")
    town, _ = puppets(
        hamlet(fidelity="every_tick"), {}, react=lambda given, key: answer if key.agent == "cora" else None
    )
    town.live(1, {"kind": "inner_voice", "agent_id": "cora", "text": "Where is the kite?"})
    town.live(1, {"kind": "god_event", "text": "A bell rings.", "to": {"everybody": True}}).live(2)
    (event,) = town.events("VOICE_ANSWERED")
    assert (event.agent_id, event.tick) == ("cora", 2)
    assert event.body == VoiceAnswered(follows=decision == "go", reason="so it seems to me")
