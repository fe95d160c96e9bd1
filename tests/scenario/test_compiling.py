"""What a file becomes: clock, geography, opening bodies, beliefs, memories, facts, script."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.character.state import KnownNode
from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.scenario import Scenario
from scenario.drafts import DRAFT, spoilt


@pytest.fixture(scope="module")
def draft() -> Scenario:
    return compiled_from_text(DRAFT, "draft.yaml")


def test_a_copy_of_the_text_gives_the_same_scenario(tmp_path: Path) -> None:
    path = tmp_path / "draft.yaml"
    path.write_text(DRAFT, encoding="utf-8")
    loaded = load(str(path))
    assert loaded.text == DRAFT
    assert compiled_from_text(loaded.text) == loaded


def test_the_shipped_square_survives_the_round_trip() -> None:
    loaded = load("plaza")
    assert compiled_from_text(loaded.text) == loaded
    assert list(loaded.personas) == ["bruno", "ines"]


def test_the_clock_and_the_personas(draft: Scenario) -> None:
    assert draft.clock.time(12) == datetime(2031, 10, 4, 7, 0, tzinfo=UTC)
    mira = draft.personas["mira"]
    assert (mira.called, mira.wakes, mira.sleeps) == ("Mira", 390, 1320)
    assert mira.routine[1].phases[0].steps[0].object_id == "stove"


def test_everybody_sleeps_at_home_before_the_first_item(draft: Scenario) -> None:
    bodies = draft.opening.bodies
    assert {id: (body.area, body.doing, body.asleep) for id, body in bodies.items()} == {
        "jonas": ("shed", "sleeping", True),
        "mira": ("mira_home", "sleeping", True),
    }


def test_later_starts_are_awake_and_who_rises_then_still_sleeps() -> None:
    noon = compiled_from_text(spoilt(("T06:00:00}", "T12:30:00}"))).opening.bodies["mira"]
    assert (noon.doing, noon.asleep) == ("resting", False)
    rising = compiled_from_text(spoilt(("T06:00:00}", "T06:30:00}"))).opening.bodies["mira"]
    assert rising.asleep


def test_a_nap_of_the_routine_is_no_night() -> None:
    napping = spoilt(("T06:00:00}", "T12:30:00}"), ("do: resting, place: shed", "do: sleeping off lunch, place: shed"))
    body = compiled_from_text(napping).opening.bodies["mira"]
    assert (body.doing, body.asleep) == ("sleeping off lunch", False)


def test_who_is_absent_has_no_body_but_a_state() -> None:
    scenario = compiled_from_text(spoilt(("home: shed", "home: shed\n    absent: true")))
    assert list(scenario.opening.bodies) == ["mira"]
    assert list(scenario.states) == ["jonas", "mira"]


def test_starts_at_overrides_the_home() -> None:
    scenario = compiled_from_text(spoilt(("home: shed", "home: shed\n    starts_at: bar")))
    assert scenario.opening.bodies["jonas"].area == "bar"


def test_carried_objects_belong_to_their_carrier(draft: Scenario) -> None:
    assert draft.opening.things["key"].parent == "mira"
    assert draft.states["mira"].belief.nodes["key"] == KnownNode("mira", "plain", 0)


def test_private_areas_are_known_to_those_who_live_there_or_list_them(draft: Scenario) -> None:
    assert draft.states["mira"].belief.knows("mira_home")
    assert not draft.states["jonas"].belief.knows("mira_home")
    guest = compiled_from_text(spoilt(("home: shed", "home: shed\n    knows: [mira_home]")))
    assert guest.states["jonas"].belief.knows("mira_home")
    assert not guest.states["jonas"].belief.knows("key")  # mira carries it


def test_rooms_in_a_private_house_are_private_too() -> None:
    room = "private: true\n        areas: [{id: cellar, name: Cellar, objects: [{id: vat, name: vat, kind: pot}]}]"
    scenario = compiled_from_text(spoilt(("private: true", room)))
    assert {"cellar", "vat"} <= set(scenario.states["mira"].belief.nodes)
    assert not {"cellar", "vat"} & set(scenario.states["jonas"].belief.nodes)
    assert not scenario.geography.nodes["cellar"].public


def test_beliefs_hold_public_objects_and_acquaintances_without_their_place(draft: Scenario) -> None:
    belief = draft.states["mira"].belief
    assert belief.nodes["stove"] == KnownNode("bar", "cold", 0)
    assert belief.nodes["jonas"] == KnownNode("", "", 0)
    assert not draft.states["jonas"].belief.knows("mira")


def test_relations_are_as_written(draft: Scenario) -> None:
    assert draft.states["mira"].relations["jonas"].label == "rival"
    assert draft.states["jonas"].relations == {}


def test_originators_remember_their_fact(draft: Scenario) -> None:
    own, seeded = draft.memories["mira"]
    assert own.text == "Mira Aldana burned the broth."
    assert (seeded.text, seeded.importance, seeded.topic) == ("There is a party in the bar tonight.", 8, "party")
    assert draft.facts[0].carried_by(seeded.text)
    assert draft.memories["jonas"] == ()


def test_the_script_names_ticks_and_ways(draft: Scenario) -> None:
    (lights,) = draft.script
    assert (lights.tick, lights.sets, lights.closes) == (144, (("stove", "cold"),), ("bar-shed",))
    assert set(lights.closes) <= set(draft.geography.ways)


def test_edges_of_the_tree_can_be_scripted_too() -> None:
    scenario = compiled_from_text(spoilt(("closes: [[bar, shed]]", "closes: [[shed, town]]")))
    assert set(scenario.script[0].closes) <= set(scenario.geography.ways)


def test_ways_whose_ids_would_be_alike_stay_two() -> None:
    areas = "".join(f"  - {{id: {id}, name: x}}\n    " for id in ("a-b", "c", "a", "b-c")) + "  - id: shed\n"
    ways = "open: 08:00-22:00}\n    - {between: [a-b, c]}\n    - {between: [a, b-c]}"
    scenario = compiled_from_text(spoilt(("  - id: shed\n", areas), ("open: 08:00-22:00}", ways)))
    assert {("a-b", "c"), ("a", "b-c")} <= {(way.a, way.b) for way in scenario.geography.ways.values()}


def test_hours_refusals_and_climate() -> None:
    climate = "climate: {sky: rain, temperature: hot, hours_per_step: 2, weights: {rain: {rain: 3, clear: 0}}}"
    scenario = compiled_from_text(spoilt(("name: draft", f"name: draft\n{climate}")))
    assert scenario.geography.ways["bar-shed"].open_hours == (480, 1320)
    assert scenario.geography.kinds["stove"].refusals == {("USE", "hot"): "It is hot already."}
    assert scenario.climate.start_sky == "rain"
    assert scenario.climate.step_hours == 2
    assert scenario.climate.skies["rain"] == (("rain", 3),)
    assert scenario.climate.year == ((24, 33),)


def test_mistakes_are_refused_all_together() -> None:
    with pytest.raises(UsageError) as caught:
        compiled_from_text(spoilt(("home: shed", "home: sched"), ("age: 41", "age: old")), "draft.yaml")
    assert "draft.yaml has 2 mistakes" in str(caught.value)
    assert "sched" in str(caught.value)
    assert "old" in str(caught.value)


def test_characters_may_retrieve_by_a_policy_of_the_scenario() -> None:
    own = "cognition: {policy: gossip}\npolicies: {gossip: {base: recall, named_weight: 2}}\n"
    policy = compiled_from_text(f"{DRAFT}{own}").policy
    assert policy == replace(policies.IN_RUNS["recall"], name="gossip", named_weight=2.0)


def test_a_reply_belongs_to_the_lines_that_it_shares_words_with_or_to_all() -> None:
    told = "tell: [I burned the broth., The ladle melted.], replies: [Poor ladle!, And then?]}"
    replies = compiled_from_text(spoilt(("tell: [I burned the broth.]}", told))).replies
    assert replies["The ladle melted."] == ("Poor ladle!", "And then?")
    assert replies["I burned the broth."] == ("And then?",)


def test_to_what_is_said_at_once_one_says_what_else_is_said_at_once() -> None:
    occasion = (
        "occasions: [{id: hum, text: The well hums., at_once: [Do you hear that hum?, It hums in F., Hush now.]}]"
    )
    replies = compiled_from_text(f"{DRAFT}{occasion}\n").replies
    assert replies["Do you hear that hum?"] == ("It hums in F.", "Hush now.")
    assert replies["It hums in F."] == ("Do you hear that hum?", "Hush now.")
    assert "Hush now." not in replies  # anybody may say so little of anything


def test_a_contraction_ties_no_reply_to_a_line() -> None:
    told = "tell: [I burned the broth., The ladle says it's sorry.], replies: [I'm sure it's only young.]}"
    replies = compiled_from_text(spoilt(("tell: [I burned the broth.]}", told))).replies
    assert replies["I burned the broth."] == ("I'm sure it's only young.",)


def test_a_reply_with_numbers_belongs_to_those_lines_and_its_answer_too() -> None:
    replies = "[{say: Poor ladle!, to: [1]}, {say: What did it cost?, to: [2], answer: Nine coins.}]"
    told = f"tell: [I burned the broth., The ladle melted.], replies: {replies}}}"
    scenario = compiled_from_text(spoilt(("tell: [I burned the broth.]}", told)))
    assert scenario.replies["I burned the broth."] == ("Poor ladle!",)
    assert scenario.replies["The ladle melted."] == ("What did it cost?",)
    assert scenario.answers == {("The ladle melted.", "What did it cost?"): "Nine coins."}


def test_a_reply_to_no_line_and_an_answer_to_no_question_are_refused() -> None:
    told = "tell: [I burned the broth.], replies: [{say: Poor ladle!, to: [2], answer: Indeed.}]}"
    with pytest.raises(UsageError) as caught:
        compiled_from_text(spoilt(("tell: [I burned the broth.]}", told)))
    assert "no line 2" in str(caught.value) and "not a question" in str(caught.value)
