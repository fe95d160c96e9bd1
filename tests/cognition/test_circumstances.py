"""What a character knows to be so, and what follows from it: for goals, promises, warmth and news."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from cognition.hamlet import Town, festival, hamlet, person, standing
from commonplace.character.goal import Goal
from commonplace.cognition.known_circumstances import concerning, speakable
from commonplace.minds.notes import Recalled
from commonplace.minds.offline import OfflineMind
from commonplace.scenario.scenario import Scenario


def so(kind: str, of: str, text: str = "", by: str = "", **to: list[str]) -> dict[str, Any]:
    raised = {"kind": kind, "of": of} | ({"by": by} if by else {})
    return {"kind": "god_event", "text": text or "Something happens.", "to": to, "raises": [raised]}


def lived(scenario: Scenario, ticks: int, event: dict[str, Any]) -> Town:
    return Town(scenario, OfflineMind()).live(1, event).live(ticks)


TOGETHER = standing(anna="barn", cora="bakery")


def keys(town: Town, agent: str) -> set[str]:
    """What a character has a memory of."""
    facts = [fact for fact in town.scenario.facts if "." in fact.id]
    return {fact.id for text in town.texts(agent, "observation") for fact in facts if fact.carried_by(text)}


def test_the_first_who_learns_is_who_notices_and_others_learn_by_word() -> None:
    town = lived(hamlet(), 3, so("burning", "bakery", areas=["bakery"]))
    assert keys(town, "anna") == {"burning.bakery"}, "in words of one's own that do not say it, too"
    assert not keys(town, "cora")


def test_nobody_goes_where_it_burned_and_no_plan_leads_there() -> None:
    town = lived(hamlet(), 2, so("burning", "bakery", areas=["bakery"]))
    assert town.body("anna").area == "green" and "bakery" not in town.body("anna").goal
    town.live(40)
    since = town.scenario.clock.time(3)
    there = [one for one in town.plan("anna").level("day") if one.location == "bakery" and one.start_time > since]
    assert sum(one.duration_minutes for one in there) <= 10, "one try"
    assert len(town.events("ACTION_REJECTED", "anna")) <= 1


def test_what_concerns_whom_follows_from_homes_names_and_routines() -> None:
    scenario = hamlet()
    assert concerning(scenario, "bakery") == ("anna",)
    assert concerning(scenario, "cabin") == ("ben",)
    assert "cora" in concerning(scenario, "barn")
    assert concerning(scenario, "ben") == ("ben",)
    assert scenario.geography.middle() == "green"


def test_the_insulted_and_half_as_much_those_who_saw_it_think_less_of_who_did_it() -> None:
    town = lived(hamlet(standing(anna="barn")), 3, so("insulted", "anna", by="ben", areas=["barn"]))
    changes = {event.agent_id: event.body.plain() for event in town.events("RELATION_CHANGED")}
    assert (changes["anna"]["change"], changes["anna"]["why"]) == (-12, "wronged")
    assert (changes["cora"]["change"], changes["cora"]["why"]) == (-6, "saw_wrong")
    assert "ben" not in changes
    assert town.state("anna").relations["ben"].warmth == 40 - 12
    town.live(10)
    wronged = [event for event in town.events("RELATION_CHANGED", "anna") if event.body.plain()["why"] == "wronged"]
    assert len(wronged) == 1


def test_what_befalls_somebody_inwardly_is_told_by_them_in_the_first_person_and_not_seen() -> None:
    town = lived(hamlet(standing(anna="barn", ben="cabin")), 1, so("rich", "ben", areas=["cabin"]))
    assert keys(town, "ben") == {"rich.ben"}
    town.live(60)
    lines = [event.body.plain()["utterance"] for event in town.events("SAY", "ben")]
    about = [said for line in lines for said in line.split(". ") if "rich" in said or "money" in said]
    assert about and all("Ben" not in line for line in about)
    others = [
        text for me in ("anna", "cora") for text in town.texts(me, "observation") if "rich" in text or "money" in text
    ]
    assert others and all("says to" in text for text in others)


def test_what_came_out_is_no_riddle_to_those_whom_it_befell() -> None:
    text = (
        "In the barn Anna tells Ben that she is Heron, and that she has loved him for years. Anna is in love with Ben."
    )
    town = lived(hamlet(standing(anna="barn", ben="barn")), 1, so("in_love", "anna", text, by="ben", areas=["barn"]))
    heard = SimpleNamespace(since=lambda *_: iter([SimpleNamespace(text=text)]))  # pyright: ignore[reportUnknownLambdaType]
    given: dict[str, Any] = {"text": "Heard.", "kind": "observation", "importance": 3, "minutes_ago": 9}
    riddle, plain = (Recalled(id=id, tell=(line,), **given) for id, line in ((1, "Who is Heron?"), (2, "Anna bakes.")))

    def told(me: str) -> tuple[Recalled, ...]:
        view: Any = SimpleNamespace(scenario=town.scenario, persona=SimpleNamespace(id=me), memories=heard)
        return speakable(view, (riddle, plain))

    assert told("ben") == told("anna") == (plain,)
    assert told("cora") == (riddle, plain)


def test_of_two_in_love_each_thinks_more_of_the_other_and_those_around_as_before() -> None:
    town = lived(hamlet(standing(anna="barn")), 3, so("in_love", "anna", by="ben", areas=["barn"]))
    changes = {event.agent_id: event.body.plain() for event in town.events("RELATION_CHANGED")}
    assert {me: (one["other"], one["why"]) for me, one in changes.items()} == {
        "anna": ("ben", "was_good"), "ben": ("anna", "was_good"),
    }  # fmt: skip
    assert changes["anna"]["change"] == 2 * changes["ben"]["change"] > 0


def test_who_comes_to_the_ill_rises_in_their_eyes() -> None:
    def near(document: dict[str, Any]) -> None:
        standing(anna="cabin", ben="cabin")(document)
        person(document, "ben")["traits"] = ["kind"]

    town = lived(hamlet(near), 30, so("ill", "ben", areas=["cabin"]))
    assert town.body("ben").area == "cabin"
    stood = [event for event in town.events("RELATION_CHANGED", "ben") if event.body.plain()["why"] == "stood_by"]
    assert [event.body.plain()["other"] for event in stood] == ["anna"]


def test_whoever_has_something_on_their_face_learns_of_it_by_word() -> None:
    town = lived(hamlet(standing(anna="barn")), 10, so("scrawled", "anna", "It is done.", areas=["barn"]))
    assert keys(town, "cora") == keys(town, "anna") == {"scrawled.anna"}
    first = next(text for text in town.texts("anna", "observation") if "scrawl" in text)
    assert "says to Anna" in first and town.body("anna").area == "bakery", "to wash at home"


def test_what_does_not_show_is_known_by_word_only() -> None:
    town = lived(hamlet(standing(anna="bakery", cora="barn")), 3, so("sought", "cora", "It is so.", areas=["bakery"]))
    assert keys(town, "anna") == {"sought.cora"} and not keys(town, "cora")


def test_whoever_it_is_of_tells_of_it_in_the_first_person() -> None:
    town = lived(hamlet(TOGETHER), 12, so("insulted", "anna", by="ben", areas=["barn"]))
    said = [event.body.plain()["utterance"] for event in town.events("SAY", "anna")]
    assert not [line for line in said if "Anna" in line]


@pytest.mark.parametrize(("kind", "of"), [("dead", "cora"), ("away", "cora")])
def test_nobody_who_is_gone_is_sought(kind: str, of: str) -> None:
    town = lived(hamlet(standing(anna="barn")), 1, so(kind, of, areas=["barn"]))
    live = town.engine.live_state
    state = live.states["ben"]
    assert of not in live.world.bodies and keys(town, "ben") == {f"{kind}.{of}"}
    town.live(300)
    assert not [goal for goal in town.state("ben").goals.open() if goal.person == of]
    assert state is not town.state("ben")


def test_who_knows_that_an_event_is_off_does_not_go_and_who_does_not_know_still_goes() -> None:
    def change(document: dict[str, Any]) -> None:
        festival(document)
        document["facts"][0]["originators"] = ["ben", "anna"]
        standing(anna="bakery", cora="bakery")(document)
        person(document, "anna")["traits"] = ["outgoing", "curious"]

    assert Town(hamlet(change), OfflineMind()).until("11:10").body("anna").area == "barn"
    unknown = Town(hamlet(change), OfflineMind()).live(1, so("cancelled", "buns", areas=["barn"]))
    assert unknown.until("10:55").body("anna").area == "barn", "where she learns it"
    known = Town(hamlet(change), OfflineMind()).live(1, so("cancelled", "buns", areas=["bakery"])).until("11:10")
    assert known.body("anna").area != "barn"
    assert not [item for item in known.plan("anna").level("day") if item.event and item.duration_minutes > 10]
    assert not [event for event in known.events("SAY", "anna") if event.body.plain().get("speech_act") == "invite"]


def test_goals_about_the_gone_are_given_up() -> None:
    town = Town(hamlet(standing(anna="barn")), OfflineMind()).live(2)
    states, memory = town.engine.live_state.states, town.memories("ben")[0].id
    goal = Goal("g/1", "visit", "see Cora", person="cora", opened=1, changed=1, because=(memory,), moved_by=memory)
    states["ben"] = replace(states["ben"], goals=states["ben"].goals.with_opened(goal))
    assert "g/1" in [one.id for one in town.state("ben").goals.open()]
    town.live(1, so("away", "cora", areas=["barn"])).live(2)
    assert "g/1" not in [one.id for one in town.state("ben").goals.open()]


def test_a_friend_who_finds_somebody_missing_where_they_always_are_goes_and_looks() -> None:
    def change(document: dict[str, Any]) -> None:
        standing(anna="loft", ben="cabin", cora="barn")(document)
        for number in (1, 3):
            person(document, "ben")["routine"][number]["place"] = "bakery"
        person(document, "ben")["relations"][0]["warmth"] = 60

    town = lived(hamlet(change), 70, so("ill", "anna", agents=["anna"]))
    assert any("Anna is always here" in event.body.plain()["reason"] for event in town.events("PLAN_CHANGED", "ben"))
    assert keys(town, "ben") == {"ill.anna"}
    assert [event.body.plain()["why"] for event in town.events("RELATION_CHANGED", "anna")] == ["stood_by"]
