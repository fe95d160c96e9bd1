"""Plans tile their parents, are opened lazily and never rewrite the past."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from commonplace.character.plan import Plan, PlanItem, PlanPart, opened, reopened, rest_of, tiled, with_stroke

MORNING = datetime(2031, 10, 4, 6, tzinfo=UTC)
GRAIN = 5


def item(number: int, start: int, minutes: int, level: str = "day") -> PlanItem:
    return PlanItem(f"0.{number}", level, "", MORNING + timedelta(minutes=start), minutes, "home", f"stroke {number}")


def day(lengths: list[int]) -> Plan:
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    return Plan(0, tuple(item(n, start, length) for n, (start, length) in enumerate(zip(starts, lengths, strict=True))))


slots = st.integers(1, 60).map(lambda number: number * GRAIN)
parts = st.lists(st.builds(PlanPart, minutes=st.integers(1, 240), action_description=st.just("doing")), max_size=12)
days = st.lists(slots, min_size=2, max_size=8).map(day)


def tiles(items: tuple[PlanItem, ...], start: datetime, end: datetime) -> bool:
    """No gap, no overlap, from start to end."""
    edges = [start, *(one.end_time for one in items)]
    return all(one.start_time == edge for one, edge in zip(items, edges, strict=False)) and edges[-1] == end


@given(slots, parts, st.sampled_from(["day", "hour"]))
def test_children_tile_their_parent(minutes: int, given_parts: list[PlanPart], level: str) -> None:
    parent = item(0, 0, minutes, level)
    assert tiles(tiled(parent, given_parts, GRAIN), parent.start_time, parent.end_time)


@given(slots, parts)
def test_actions_last_five_to_fifteen_minutes(minutes: int, given_parts: list[PlanPart]) -> None:
    hour = item(0, 0, minutes, "hour")
    assert all(5 <= child.duration_minutes <= 15 for child in tiled(hour, given_parts, GRAIN))


def test_the_event_that_a_stroke_leads_to_is_that_of_an_hour_that_is_all_of_it() -> None:
    stroke = replace(item(0, 0, 60), event="the festival")
    assert [hour.event for hour in tiled(stroke, [], GRAIN)] == ["the festival"]
    assert [hour.event for hour in tiled(stroke, [PlanPart(30, "a"), PlanPart(30, "b")], GRAIN)] == ["", ""]


@given(days, st.integers(0, 400), st.integers(0, 400), slots)
def test_replanning_never_touches_the_past(plan: Plan, now_at: int, start_at: int, minutes: int) -> None:
    begins, ends = plan.items[0].start_time, plan.items[-1].end_time
    now = begins + timedelta(minutes=now_at // GRAIN * GRAIN)
    start = now + timedelta(minutes=start_at // GRAIN * GRAIN)
    if start >= ends:
        return
    first = plan.at(now, "day")
    assert first is not None
    opened_plan = opened(plan, tiled(first, [PlanPart(30, "a"), PlanPart(30, "b")], GRAIN))
    room = int((ends - start).total_seconds() // 60)
    stroke = replace(item(0, 0, min(minutes, room)), start_time=start, action_description="something new")
    after = with_stroke(opened_plan, stroke)
    assert _same_past(opened_plan, after, now)
    assert tiles(after.level("day"), begins, ends)
    assert any(one.action_description == "something new" and one.start_time == start for one in after.level("day"))
    assert len({one.id for one in after.items}) == len(after.items)


def _same_past(before: Plan, after: Plan, now: datetime) -> bool:
    """Every moment before now is covered by the same item at every level."""
    moments = [before.items[0].start_time + timedelta(minutes=GRAIN * n) for n in range(500)]
    return all(
        getattr(before.at(moment, level), "id", None) == getattr(after.at(moment, level), "id", None)
        for moment in moments
        if moment < now
        for level in ("day", "hour", "action")
    )


@given(days, st.integers(0, 400), parts, parts)
def test_what_is_opened_again_tiles_its_stroke_and_leaves_the_past_alone(
    plan: Plan, now_at: int, before: list[PlanPart], after: list[PlanPart]
) -> None:
    now = plan.items[0].start_time + timedelta(minutes=now_at // GRAIN * GRAIN)
    stroke = plan.at(now, "day")
    if stroke is None:
        return
    opened_plan = opened(plan, tiled(stroke, before, GRAIN))
    again = reopened(opened_plan, now)
    assert again.at(now, "hour") is None
    rest, first = rest_of(again, stroke, now)
    again = opened(again, tiled(rest, after, GRAIN, first))
    assert tiles(again.level("hour"), stroke.start_time, stroke.end_time)
    assert again.level("day") == plan.level("day")
    assert _same_past(opened_plan, again, now)
    assert len({one.id for one in again.items}) == len(again.items)


def test_the_deepest_opened_item_is_the_current_one() -> None:
    plan = day([120, 60])
    stroke = plan.items[0]
    hours = tiled(stroke, [PlanPart(60, "first"), PlanPart(60, "second")], GRAIN)
    plan = opened(plan, hours)
    plan = opened(plan, tiled(hours[0], [PlanPart(10, "chopping")], GRAIN))
    current = plan.current(MORNING + timedelta(minutes=10))
    assert current is not None
    assert current.action_description == "chopping"
    assert current.parent == hours[0].id
    later = plan.current(MORNING + timedelta(minutes=70))
    assert later is not None
    assert later.level == "hour"
