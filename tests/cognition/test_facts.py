"""A fact travels by the words that carry it, spoken from a memory that carries it."""

from __future__ import annotations

from typing import Any

from cognition.hamlet import Town, go, hamlet, idle, person, standing, talking, tell
from cognition.hamlet import puppets as _puppets
from commonplace.cognition.converse import carrier
from commonplace.minds.tasks import ConverseInput, ConverseOutput, PlanDayInput, PlanDayOutput
from commonplace.testing import ScriptedMind

NEWS = "The bun festival is on the green at five."


def _festival(document: dict[str, Any]) -> None:
    document["facts"] = [
        {
            "id": "buns",
            "text": {"en": NEWS},
            "groups": {"en": [["bun", "buns"], ["festival", "feast"]]},
            "originators": ["ben"],
            "place": "green",
            "starts": "2031-10-04T17:00:00",
            "minutes": 60,
        }
    ]


def test_only_originators_start_with_the_fact_and_remember_it() -> None:
    town, _ = _puppets(hamlet(_festival), {})
    fact = town.scenario.facts[0]
    carrying = {
        agent: [memory.id for memory in town.memories(agent) if fact.carried_by(memory.text)]
        for agent in town.scenario.personas
    }
    assert carrying == {"anna": [], "ben": [1], "cora": []}


def test_what_is_told_carries_the_fact_from_a_memory_and_what_is_heard_carries_it_on() -> None:
    acts = {
        ("ben", 1): tell("cora", "There will be buns. A feast!"),
        ("cora", 3): go("green"),
        ("cora", 4): go("bakery"),
    }
    acts |= {("cora", 5): tell("anna", "Ben says there's a bun feast."), ("anna", 4): idle("baking bread")}
    town, _ = _puppets(hamlet(_festival, fidelity="every_tick"), acts)
    town.live(7)
    first, second = town.events("SAY")
    assert (first.body.facts, first.body.carriers) == (("buns",), (1,))
    heard = next(memory for memory in town.memories("cora") if memory.event == first.id)
    assert (second.body.facts, second.body.carriers) == (("buns",), (heard.id,))


def test_words_without_a_memory_behind_them_are_made_up() -> None:
    acts = {("cora", 1): tell("ben", "I dreamt of a bun festival.")}
    town, _ = _puppets(hamlet(_festival, fidelity="every_tick"), acts)
    (said,) = town.live(2).events("SAY")
    assert (said.body.facts, said.body.carriers) == (("buns",), (0,))


def test_a_fact_named_without_its_words_is_only_claimed() -> None:
    def converse(given: ConverseInput, request_key: Any) -> ConverseOutput:
        return ConverseOutput(utterance="You know what is on tonight.", facts=("buns",))

    mind = ScriptedMind(
        {
            "react": lambda given, request_key: talking("cora") if request_key.agent == "ben" else None,
            "converse": converse,
        }
    )
    (said,) = Town(hamlet(_festival), mind).live(2).events("SAY")
    assert (said.body.facts, said.body.claimed) == ((), ("buns",))


def test_the_memory_a_line_rests_on_is_its_carrier_before_any_older_one() -> None:
    def change(document: dict[str, Any]) -> None:
        _festival(document)
        person(document, "ben")["memories"] = [{"text": "Ben Cole once won a bun at a festival."}]

    town, _ = _puppets(hamlet(change), {})
    view = town.engine.live_state.view("ben")
    assert [memory.id for memory in view.draft] == [1, 2]
    assert carrier(view, "buns", because=()) == 1
    assert carrier(view, "buns", because=(2,)) == 2
    assert carrier(town.engine.live_state.view("anna"), "buns", because=(1,)) == 0


def test_a_mind_is_shown_a_fact_only_through_a_memory_that_carries_it() -> None:
    seen: dict[str, set[str]] = {}

    def plan_day(given: PlanDayInput, _: Any) -> PlanDayOutput:
        seen[given.who.id] = {note.id for note in given.facts}
        for note in given.facts:
            assert any(note.id in memory.facts for memory in given.recalled)
        return PlanDayOutput(strokes=given.routine)

    Town(hamlet(_festival), ScriptedMind({"plan_day": plan_day})).live(3)
    assert seen == {"anna": set(), "ben": {"buns"}, "cora": set()}


def test_facts_heard_together_are_known_to_be_shared() -> None:
    acts = {("ben", 1): tell("cora", NEWS)}
    town, _ = _puppets(hamlet(lambda d: (_festival(d), standing(anna="barn")(d)), fidelity="every_tick"), acts)
    town.live(3)
    assert town.state("ben").relations["cora"].shared == ("buns",)
    assert town.state("cora").relations["ben"].shared == ("buns",)
    assert town.state("anna").relations["ben"].shared == ("buns",)
