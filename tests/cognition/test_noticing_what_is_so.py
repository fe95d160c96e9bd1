"""What characters notice of what is so, what a mind is told of it, and what becomes of one that does not heed it."""

from __future__ import annotations

from typing import Any

import pytest

from cognition.hamlet import Puppets, Town, go, hamlet, idle, standing
from commonplace.minds.mind import Ask
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.tasks import ACT
from commonplace.scenario.circumstances import with_circumstances
from commonplace.testing import ScriptedMind
from commonplace.world.circumstances import Circumstance
from minds.tasks.asked import SETTING

EVERYBODY = {"everybody": True, "areas": [], "agents": []}
NOBODY = {"everybody": False, "areas": ["cabin"], "agents": []}
BURNS, OUT = "Bakery is on fire.", "The fire at Bakery is out."


def told(text: str, *raises: tuple[str, str], to: Any = NOBODY, **more: Any) -> dict[str, Any]:
    made = [{"kind": kind, "of": of, "hours": 1} for kind, of in raises]
    return {"kind": "god_event", "text": text, "to": to, "raises": made, **more}


def count(town: Town, agent: str, text: str) -> int:
    return sum(memory.text == text for memory in town.memories(agent))


# ── noticing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_whoever_is_in_or_next_to_a_fire_notices_it_once_and_a_newcomer_when_it_comes() -> None:
    mind = Puppets({("ben", 7): go("green")})
    town = Town(hamlet(standing(cora="green"), fidelity="every_tick"), mind)
    town.live(1, told("It crackles.", ("burning", "bakery"))).live(3)
    assert [count(town, agent, BURNS) for agent in ("anna", "ben", "cora")] == [1, 0, 1]
    town.live(3)
    assert [count(town, agent, BURNS) for agent in ("anna", "ben", "cora")] == [1, 0, 1]
    town.live(2)
    assert [count(town, agent, BURNS) for agent in ("anna", "ben", "cora")] == [1, 1, 1]


def test_whoever_was_told_is_not_told_again_by_what_it_sees() -> None:
    town = (
        Town(hamlet(), Puppets({})).live(1, told("The bakery is on fire!", ("burning", "bakery"), to=EVERYBODY)).live(4)
    )
    assert count(town, "anna", "The bakery is on fire!") == 1
    assert count(town, "anna", BURNS) == 0


@pytest.mark.parametrize(("kind", "woken"), [("burning", True), ("dark", False)])
def test_a_sleeper_notices_only_what_it_cannot_stay_in(kind: str, woken: bool) -> None:
    town = Town(hamlet(), Puppets({})).until("23:30")
    assert town.body("anna").asleep
    place = town.body("anna").area
    noticed = told(f"It is so: {kind}.", (kind, place), to=EVERYBODY)
    town.live(1, noticed).live(1)
    assert any(text.startswith(f"It is so: {kind}.") for text in town.texts("anna")) is woken
    assert (town.body("anna").area != place) is woken


def test_the_end_of_a_fire_is_seen_from_next_to_it_and_by_nobody_else() -> None:
    town = Town(hamlet(), Puppets({})).live(1, told("It burns.", ("burning", "bakery"))).live(3)
    assert town.body("anna").area == "green"
    town.live(1, told("Rain.", ends=["burning.bakery"])).live(1)
    assert [count(town, agent, OUT) for agent in ("anna", "ben")] == [1, 0]


def test_a_death_is_noticed_by_those_who_are_there_even_if_nothing_tells_of_it() -> None:
    town = Town(hamlet(), Puppets({})).live(1, told("A bell rings.", ("dead", "ben"))).live(2)
    assert count(town, "cora", "Ben is dead.") == 1
    assert count(town, "anna", "Ben is dead.") == 0
    assert not [text for text in town.texts("cora") if "Ben" in text and "gone" in text]


# ── what a mind is told ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_mind_is_told_what_is_so_and_what_its_body_has_to_do() -> None:
    mind = Puppets({})
    town = Town(hamlet(fidelity="every_tick"), mind)
    town.live(1, told("Oh.", ("burning", "bakery"), ("ill", "ben"))).live(1)
    [burns] = mind.inputs("act", "anna")[-1].situation.circumstances
    assert (burns.kind, burns.name, burns.text, burns.duty) == ("burning", "Bakery", BURNS, "leave")
    [ill] = mind.inputs("act", "ben")[-1].situation.circumstances
    assert (ill.kind, ill.name, ill.duty) == ("ill", "Ben", "rest")
    [seen] = mind.inputs("act", "cora")[-1].situation.circumstances
    assert (seen.kind, seen.duty) == ("ill", "")


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "You have to leave."), ("ko", "당신은 여기서 나가야 합니다.")],
)
def test_prompts_say_it_in_one_line_and_nothing_where_nothing_is_so(language: str, said: str) -> None:
    mind = Puppets({})
    town = Town(hamlet(fidelity="every_tick"), mind).live(1, told("Oh.", ("burning", "bakery"))).live(1)
    book = PromptBook(language, SETTING)
    before, now = (book.prompt(Ask(ACT, one)).messages[-1].text for one in mind.inputs("act", "anna"))
    assert said not in before
    [line] = [line for line in now.splitlines() if said in line]
    assert BURNS in line
    assert town.events("MOVE", "anna")


def test_a_mind_that_does_not_heed_a_fire_is_moved_and_that_is_written_down() -> None:
    stays = Puppets({("anna", 2): idle("kneading dough"), ("cora", 2): go("green")})
    town = Town(hamlet(standing(cora="bakery"), fidelity="every_tick"), stays)
    town.live(1, told("Oh.", ("burning", "bakery"))).live(1)
    assert (town.body("anna").area, town.body("cora").area) == ("green", "green")
    held = {event.agent_id: event.body.held for event in town.events("MOVE") if event.tick == 2}
    assert held == {"anna": "burning.bakery", "cora": ""}


# ── as news ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_so_is_a_fact_told_in_the_present_then_in_the_past_then_not_at_all() -> None:
    scenario = hamlet()
    fire = Circumstance("burning", "bakery", 1, 13)
    burning = with_circumstances(scenario, {fire.key: fire})
    assert burning.fact(fire.key).carried_by("They say the bakery is on fire.")
    assert not burning.fact(fire.key).carried_by("The Barn is on fire.")
    assert burning.tells[fire.key].lines[0] == BURNS
    assert burning.tells[fire.key].at_once
    assert "How did it start?" in burning.replies[BURNS]
    over = Circumstance("burning", "bakery", 1, 13, ended=13)
    after = with_circumstances(burning, {over.key: over})
    assert [fact.id for fact in after.facts] == [fire.key]
    assert after.tells[fire.key].lines[0] == "There was a fire at Bakery."
    assert not after.tells[fire.key].at_once
    assert BURNS not in after.replies
    gone = with_circumstances(after, {})
    assert (gone.facts, gone.tells, gone.replies) == (scenario.facts, scenario.tells, scenario.replies)


def test_who_is_in_love_with_nobody_in_particular_has_a_sentence_too() -> None:
    town = Town(hamlet(), ScriptedMind()).live(1, told("Oh.", ("in_love", "ben"))).live(1)
    assert "Ben is in love with somebody." in town.texts("cora")
