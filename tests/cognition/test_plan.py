"""Days are planned in strokes, opened when their time comes, and made anew from now on only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from cognition.hamlet import Town, hamlet, puppets, same_past
from cognition.hamlet import person as _person
from commonplace.character.plan import PlanItem
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks import PartOut as Part
from commonplace.minds.tasks import (
    PlanDayInput,
    PlanDayOutput,
    PlanPartsInput,
    PlanPartsOutput,
    ReactInput,
    ReactOutput,
    Stroke,
)
from commonplace.testing import ScriptedMind

WAKES = timedelta(hours=7)


def _dawn(document: dict[str, Any]) -> None:
    document["clock"]["start"] = "2031-10-04T06:00:00"


def _tiles(items: Sequence[PlanItem], start: datetime, end: datetime) -> bool:
    edges = [start, *(item.end_time for item in items)]
    return [item.start_time for item in items] == edges[:-1] and edges[-1] == end


def _hours(given: PlanPartsInput, _: Any) -> PlanPartsOutput:
    """Parts that do not fit: the simulator makes them tile."""
    return PlanPartsOutput(parts=tuple(Part(do=f"hour {n} of {given.item.do}", minutes=50 + n) for n in range(7)))


def _minutes(given: PlanPartsInput, _: Any) -> PlanPartsOutput:
    return PlanPartsOutput(parts=(Part(do="an hour-long look", minutes=60), Part(do="a glance", minutes=5)))


@pytest.mark.parametrize("mind", [ScriptedMind(), OfflineMind()], ids=["fallbacks", "offline"])
def test_five_to_eight_strokes_tile_the_day_from_waking_to_the_next_waking(mind: Any) -> None:
    town = Town(hamlet(_dawn), mind)
    midnight = town.scenario.clock.start.replace(hour=0)
    for day in range(2):
        town.until(f"{day} 07:10")
        for agent in town.scenario.personas:
            waking = midnight + WAKES + timedelta(days=day)
            strokes = town.plan(agent).level("day")
            assert town.plan(agent).day == day
            assert 5 <= len(strokes) <= 8
            assert _tiles(strokes, waking, waking + timedelta(days=1))
            assert [stroke.asleep for stroke in strokes] == [False] * (len(strokes) - 1) + [True]


def test_nothing_is_opened_before_its_time_and_what_is_opened_tiles_its_parent() -> None:
    town = Town(hamlet(_dawn), ScriptedMind({"plan_hours": _hours, "plan_minutes": _minutes}))
    opened = 0
    for _ in range(200):
        town.live()
        now = town.ticks[-1].time
        for agent in town.scenario.personas:
            plan = town.plan(agent)
            for stroke in plan.level("day"):
                inside = plan.children(stroke.id)
                assert bool(inside) == (stroke.start_time <= now and not stroke.asleep)
                assert not inside or _tiles(inside, stroke.start_time, stroke.end_time)
            for hour in plan.level("hour"):
                inside = plan.children(hour.id)
                assert bool(inside) == (hour.start_time <= now)
                assert not inside or _tiles(inside, hour.start_time, hour.end_time)
                opened += len(inside)
    assert opened > 100


def test_the_inside_of_an_item_is_asked_for_once_when_its_time_comes() -> None:
    mind = ScriptedMind({"plan_hours": _hours, "plan_minutes": _minutes})
    town = Town(hamlet(_dawn), mind).live(200)
    clock = town.scenario.clock
    seen: set[tuple[str, str, str]] = set()
    for request_key, ask in mind.asked:
        if ask.task.name in {"plan_hours", "plan_minutes"}:
            key = (request_key.agent, ask.task.name, ask.input.item.start)
            assert key not in seen
            seen.add(key)
            assert ask.input.item.start == f"{clock.time(request_key.tick):%H:%M}"
    assert len(seen) > 40


def test_actions_take_five_to_fifteen_minutes_whatever_the_mind_proposes() -> None:
    town = Town(hamlet(_dawn), ScriptedMind({"plan_hours": _hours, "plan_minutes": _minutes})).live(200)
    lengths = {item.duration_minutes for agent in town.scenario.personas for item in town.plan(agent).level("action")}
    assert {5, 15} <= lengths <= {5, 10, 15}


def test_a_stroke_at_an_unknown_place_is_lived_at_home() -> None:
    def plan_day(given: PlanDayInput, _: Any) -> PlanDayOutput:
        first, second, third, *rest = given.routine
        nowhere = second.model_copy(update={"location": "atlantis"})
        cabin = third.model_copy(update={"location": "cabin"})
        return PlanDayOutput(strokes=(first, nowhere, cabin, *rest))

    town = Town(hamlet(_dawn), ScriptedMind({"plan_day": plan_day})).until("08:00")
    assert [stroke.location for stroke in town.plan("anna").level("day")][:3] == ["loft", "loft", "loft"]
    assert [stroke.location for stroke in town.plan("ben").level("day")][:3] == ["cabin", "cabin", "cabin"]
    assert town.body("anna").area == "loft"


def test_strokes_out_of_order_still_tile_the_day() -> None:
    def plan_day(given: PlanDayInput, _: Any) -> PlanDayOutput:
        times = ("07:00", "12:00", "11:00", "25:99", "18:00", "01:00")
        strokes = tuple(
            stroke.model_copy(update={"start": start}) for stroke, start in zip(given.routine, times, strict=True)
        )
        return PlanDayOutput(strokes=strokes)

    town = Town(hamlet(_dawn), ScriptedMind({"plan_day": plan_day})).until("07:10")
    waking = town.scenario.clock.start.replace(hour=0) + WAKES
    strokes = town.plan("anna").level("day")
    assert _tiles(strokes, waking, waking + timedelta(days=1))


def _restless(given: ReactInput, request_key: Any) -> ReactOutput:
    """Something new at every news, now or an hour later."""
    later = request_key.tick % 3
    hour = min(23, int(given.situation.time[:2]) + later)
    stroke = Stroke(start=f"{hour:02d}:30", minutes=25, location="green", do=f"idea of tick {request_key.tick}")
    return ReactOutput(decision="keep", stroke=stroke, reason="a new idea")


def test_replanning_touches_nothing_before_now_in_a_whole_run() -> None:
    mind = ScriptedMind({"react": _restless, "plan_hours": _hours, "plan_minutes": _minutes})
    town = Town(hamlet(_dawn), mind)
    changes = 0
    for _ in range(190):
        before = {agent: town.plan(agent) for agent in town.scenario.personas}
        now = town.live().ticks[-1].time
        for event in town.ticks[-1].events:
            if event.type == "PLAN_CHANGED":
                changes += 1
                old, new = before[event.agent_id], town.plan(event.agent_id)
                assert event.body.from_time == f"{now:%Y-%m-%dT%H:%M:%SZ}"
                assert old.items
                assert same_past(old, new, now)
                days = old.level("day")
                assert _tiles(new.level("day"), days[0].start_time, days[-1].end_time)
                assert len({item.id for item in new.items}) == len(new.items)
    assert changes > 20


def test_a_run_that_begins_after_waking_plans_what_is_left_of_the_day() -> None:
    town, _ = puppets(hamlet(), {})
    town.live(3)
    now = town.ticks[1].time
    strokes = town.plan("anna").level("day")
    assert town.plan("anna").at(now, "day") is not None
    assert strokes[-1].end_time == now.replace(hour=7, minute=0) + timedelta(days=1)
    assert not [memory for memory in town.texts("anna", "plan") if "getting up" in memory]


def test_who_joins_on_a_later_day_plans_that_day() -> None:
    def absent(document: dict[str, Any]) -> None:
        _person(document, "cora")["absent"] = True

    town, _ = puppets(hamlet(absent), {})
    town.until("2 10:00").live(1, {"kind": "join", "agent_id": "cora", "area": "bakery"}).live(3)
    now = town.ticks[-1].time
    strokes = town.plan("cora").level("day")
    assert town.plan("cora").day == 2
    assert strokes[0].start_time <= now < strokes[0].end_time
    assert strokes[0].action_description == "reading a comic"
    assert strokes[-1].end_time == now.replace(hour=7, minute=0) + timedelta(days=1)
