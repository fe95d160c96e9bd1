"""What is agreed for later the same day is planned for at once, by those whom it concerns, a few times a day.

A tick is an hour: half past five is five.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cognition.hamlet import Town, go, hamlet, idle, person, puppets, talking
from cognition.test_goals import OTHER, Lines, said
from commonplace.character.plan import PlanItem
from commonplace.clock import hhmm
from commonplace.cognition.plan import MOST_HEEDED
from commonplace.minds.mind import RequestKey
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.react import PLANS, reaction
from commonplace.minds.tasks import ConverseOutput, ReactInput, ReactOutput

NEXT_DAY = 24
"""The tick at which it is ten in the morning of the second day."""
TEA = "Come by this evening, for tea?"


def _slow(document: dict[str, Any]) -> None:
    document["clock"]["tick_minutes"] = 60
    document["cognition"]["deferred_minutes"] = 60


def heeded(given: ReactInput, key: RequestKey) -> ReactOutput | None:
    """What has been agreed goes into the plan, as the rules have it."""
    choice = PLANS.choose(given, Dice.of(key))
    return reaction(choice) if choice else None


def lived(lines: Lines) -> Town:
    """Up to four in the afternoon of the second day; a bell in every hour gives everybody something to react to."""
    acts = {(me, tick): idle("waiting") for me in ("anna", "ben", "cora") for tick in range(NEXT_DAY + 12)}
    scripts: dict[str, Callable[[Any, RequestKey], Any]] = {
        "react": lambda given, key: talking(OTHER[key.agent]) if (key.agent, key.tick) in lines else heeded(given, key),
        "converse": lambda given, key: lines.get((key.agent, key.tick), ConverseOutput()),
    }
    town, _ = puppets(hamlet(_slow, fidelity="every_tick"), acts, **scripts)
    town.live(NEXT_DAY - 3)
    for number in range(10):
        town.live(1, {"kind": "god_event", "text": f"Bell {number}.", "to": {"everybody": True}})
    return town


def planned(town: Town, agent: str) -> list[tuple[str, str, str]]:
    """What talk has put into the day."""
    return [(hhmm(one.start_time), one.location, one.action_description) for one in strokes(town, agent)]


def strokes(town: Town, agent: str) -> list[PlanItem]:
    frames = {memory.id: memory.details.get("frame", {}).get("what") for memory in town.memories(agent)}
    day = town.state(agent).plan.level("day")
    return [one for one in day if {frames[memory] for memory in one.because} & {"said", "i_said"}]


def test_an_invitation_accepted_on_a_later_day_is_planned_by_both_and_cites_what_was_said() -> None:
    town = lived(
        {
            ("ben", NEXT_DAY): said("ask.visit", TEA, "tea"),
            ("cora", NEXT_DAY + 1): said("accept", "Gladly. This evening, then.", "tea"),
        }
    )
    assert planned(town, "cora") == [("17:00", "cabin", "dropping in on Ben for tea")]
    assert planned(town, "ben") == [("17:00", "cabin", "having Cora over for tea")]
    for agent, heard in (("cora", TEA), ("ben", "Gladly. This evening, then.")):
        (changed,) = [event for event in town.events("PLAN_CHANGED", agent) if event.tick > NEXT_DAY]
        told = {memory.id: memory.details["frame"] for memory in town.memories(agent)}
        (stroke,) = strokes(town, agent)
        assert "today" in changed.body.reason
        assert any(told[memory].get("quote") == heard for memory in stroke.because if told[memory]["what"] == "said")


def test_who_is_at_home_anyway_need_not_plan_to_be_there() -> None:
    town = lived(
        {
            ("cora", NEXT_DAY): said("ask.visit", TEA, "tea"),
            ("ben", NEXT_DAY + 1): said("accept", "Gladly. This evening, then.", "tea"),
        }
    )
    assert planned(town, "ben") == [("17:00", "barn", "dropping in on Cora for tea")]
    assert not planned(town, "cora")


def test_what_is_agreed_for_another_day_or_not_at_all_changes_nothing() -> None:
    for answer in (said("accept", "Tomorrow, then.", "tea"), said("decline", "Not this evening.", "tea")):
        asked = said("ask.visit", "Come by, for tea?", "tea")
        town = lived({("ben", NEXT_DAY): asked, ("cora", NEXT_DAY + 1): answer})
        assert not planned(town, "cora") and not planned(town, "ben")


def test_talk_changes_the_plan_of_nobody_more_than_a_few_times_a_day() -> None:
    things = ("ladder", "rope", "kettle", "jar", "broom")
    lines = {
        ("cora" if number % 2 else "ben", NEXT_DAY - 2 + number): said(
            "tell" if number % 2 else "promise.give", f"{number}: the {thing}, this evening.", f"the {thing}"
        )
        for number, thing in enumerate(thing for one in things for thing in (one, one))
    }
    town = lived(lines)
    assert len(strokes(town, "ben")) == MOST_HEEDED


def test_of_somebody_named_a_mind_is_told_where_one_mostly_meets_them_later_that_day() -> None:
    """Cora misses Anna; only while Ben names her is Cora told where Anna is at noon."""

    def _missed(document: dict[str, Any]) -> None:
        _slow(document)
        person(document, "cora")["relations"] = [{"to": "anna", "label": "friend", "warmth": 60}]
        person(document, "cora")["memories"] = [{"text": "Anna Berg bakes for everybody.", "importance": 5}]

    acts = {(me, tick): idle("waiting") for me in ("ben", "cora") for tick in range(60)}
    acts |= {("cora", 1): go("green"), ("ben", 1): go("green"), ("anna", 1): go("green")}
    lines = {48: "Anna has a new loaf.", 50: "It is a fine day."}
    told: dict[int, tuple[str, str]] = {}

    def noted(given: Any, key: RequestKey) -> Any:
        if key.agent == "cora":
            told[key.tick] = next(((one.place, one.time) for one in given.goals if one.person == "anna"), ("-", "-"))
        return talking("cora") if key.agent == "ben" and key.tick in lines else None

    scripts: dict[str, Callable[[Any, RequestKey], Any]] = {
        "react": noted,
        "converse": lambda given, key: said("tell", lines[key.tick], "the loaf") if key.tick in lines else None,
    }
    town, _ = puppets(hamlet(_missed, fidelity="every_tick"), acts, **scripts)
    for number in range(53):
        town.live(1, {"kind": "god_event", "text": f"Bell {number}.", "to": {"everybody": True}})
    assert told[49][0] == "green" and told[49][1] > "11"
    assert told[51] == ("", "")
