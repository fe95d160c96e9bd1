"""Warmth goes down as well as up, by rule, and every change cites what it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cognition.hamlet import Town, festival, go, hamlet, idle, puppets, talking
from commonplace.character.account import AccountRow
from commonplace.cognition.relations import CHANGES
from commonplace.minds.tasks import ConverseOutput

OTHER = {"ben": "cora", "cora": "ben"}
INVITED = {
    ("ben", 1): ConverseOutput(utterance="Will you come to the bun festival?", speech_act="invite", topic="buns"),
    ("cora", 2): ConverseOutput(utterance="I will.", speech_act="accept", topic="buns"),
}


def lived(
    lines: dict[tuple[str, int], ConverseOutput], ticks: int, *, leaves: bool = False, to: dict[str, str] | None = None
) -> Town:
    """`to`: whom they speak to from the third tick on."""
    acts = {("anna", tick): idle("listening") for tick in range(20)}
    acts |= {("cora", tick): go("bakery") if tick < 9 else idle("kneading") for tick in range(6, 20)} if leaves else {}
    scripts = {
        "react": lambda given, key: (
            talking((to or OTHER)[key.agent] if key.tick > 2 else OTHER[key.agent])
            if (key.agent, key.tick) in lines
            else None
        ),
        "converse": lambda given, key: lines.get((key.agent, key.tick), ConverseOutput()),
    }
    town, _ = puppets(hamlet(festival, fidelity="every_tick"), acts, **scripts)
    return town.live(ticks)


def changes(town: Town, agent: str) -> list[tuple[str, str]]:
    found = [event.body for event in town.events("RELATION_CHANGED", agent)]
    for body in found:
        assert body.because, body
        assert all(memory in {one.id for one in town.memories(agent)} for memory in body.because)
        assert body.change == CHANGES[body.why]
    return [(body.other, body.why) for body in found]


def hourly(document: dict[str, Any]) -> None:
    document["clock"]["tick_minutes"] = 60


def test_after_four_days_without_a_word_one_feels_less_close_to_a_friend() -> None:
    told = ConverseOutput(utterance="My roof leaks.", speech_act="complain", topic="my roof")
    town, _ = puppets(
        hamlet(hourly, fidelity="every_tick"),
        {("anna", 1): go("barn")},
        react=lambda given, key: talking("anna") if (key.agent, key.tick) == ("ben", 3) else None,
        converse=lambda given, key: told,
    )
    town.live(5 * 24)  # they talk on the first day at noon, and it is weighed at midnight
    assert changes(town, "anna") == [("ben", "stayed_away")]
    assert [town.scenario.clock.time(event.tick).day for event in town.events("RELATION_CHANGED", "anna")] == [9]


@pytest.mark.parametrize(("leaves", "why"), [(False, "kept_word"), (True, "broke_word")])
def test_a_word_kept_warms_and_a_word_broken_cools(leaves: bool, why: str) -> None:
    town = lived(INVITED, 19, leaves=leaves)
    before = town.scenario.states["ben"].relations.get("cora")
    assert changes(town, "ben") == [("cora", why)]
    after = town.state("ben").relations["cora"]
    assert after.warmth == (before.warmth if before else 0) + CHANGES[why] and after.because


def test_ill_words_about_somebody_present_hurt_and_an_apology_mends_most_of_it() -> None:
    lines = {
        ("ben", 1): ConverseOutput(utterance="Anna never sweeps her oven.", speech_act="complain", topic="her oven"),
        ("cora", 2): ConverseOutput(utterance="I like Anna.", speech_act="praise", topic="Anna"),
    }
    town = lived(lines, 4)
    assert changes(town, "anna") == [("ben", "spoke_ill"), ("cora", "spoke_well")]
    assert changes(town, "cora") == changes(town, "ben") == []


def test_who_was_hurt_forgives_one_who_apologises_once() -> None:
    lines = {
        ("ben", 1): ConverseOutput(utterance="Anna never sweeps her oven.", speech_act="complain", topic="her oven"),
        ("cora", 2): ConverseOutput(utterance="She is listening.", speech_act="tell"),
        ("ben", 3): ConverseOutput(utterance="I'm sorry.", speech_act="apologise"),
        ("cora", 4): ConverseOutput(utterance="Good.", speech_act="acknowledge"),
        ("ben", 5): ConverseOutput(utterance="I really am.", speech_act="apologise"),
    }
    town = lived(lines, 8, to={"ben": "anna", "cora": "ben"})
    assert changes(town, "anna") == [("ben", "spoke_ill"), ("ben", "apologised")]
    assert [row.act for row in town.state("anna").account.rows("hurt", "ben")] == ["spoke_ill"]


def test_an_apology_for_nothing_changes_nothing() -> None:
    sorry = ConverseOutput(utterance="I'm sorry.", speech_act="apologise", topic="")
    assert changes(lived({("ben", 1): sorry}, 4), "cora") == []


@pytest.mark.parametrize(("days", "mends"), [(7, True), (8, False)])
def test_an_apology_mends_what_happened_within_a_week(days: int, mends: bool) -> None:
    lines = {("ben", 3): ConverseOutput(utterance="I'm sorry.", speech_act="apologise")}
    town, _ = puppets(
        hamlet(hourly, fidelity="every_tick"),
        {},
        react=lambda given, key: talking("cora") if (key.agent, key.tick) in lines else None,
        converse=lambda given, key: lines[key.agent, key.tick],
    )
    town.live(2)
    state, tick = town.state("cora"), 4 - days * 24  # what is said in tick 3 is heard in tick 4
    hurt = AccountRow("hurt", "ben", "spoke_ill", "ladder", tick, tick, because=(town.memories("cora")[0].id,))
    town.engine.live_state.states["cora"] = replace(state, account=state.account.noted(hurt, tick))
    assert changes(town.live(2), "cora") == [("ben", "apologised")] * mends
