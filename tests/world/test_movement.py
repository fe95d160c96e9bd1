from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from commonplace.clock import Clock
from commonplace.world.actions import Stride, promise, stride
from commonplace.world.deeds import HouseRules
from commonplace.world.events import Idled
from commonplace.world.geography import Geography
from commonplace.world.state import World
from commonplace.world.tree import Node, Way
from world.small_worlds import IDLE, go, lived, of_type, placed, say, village

TOWN = village()
NOTICE = HouseRules(leave_notice=2)


def test_a_walk_takes_an_edge_a_tick_and_stands_in_every_area_on_the_way() -> None:
    world = placed(TOWN)
    seen = []
    for _ in range(3):
        world, events = lived(TOWN, world, {"ann": go("cafe")})
        seen.append([event.body.plain() for event in of_type(events, "MOVE")])
        body = world.bodies["ann"]
        seen[-1].append((body.area, body.came_from, body.goal, body.doing))
    assert seen == [
        [{"from": "kitchen", "to": "home", "goal": "cafe"}, ("home", "kitchen", "cafe", "walking to Café")],
        [{"from": "home", "to": "town", "goal": "cafe"}, ("town", "home", "cafe", "walking to Café")],
        [{"from": "town", "to": "cafe", "goal": "cafe"}, ("cafe", "town", "", "just arriving")],
    ]
    world, _ = lived(TOWN, world, {})
    assert world.bodies["ann"].came_from == "cafe"


def test_a_move_is_in_the_record_of_both_areas() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": go("home")})
    (moved,) = of_type(events, "MOVE")
    assert moved in world.happened["kitchen"]
    assert moved in world.happened["home"]


@pytest.mark.parametrize("other", [IDLE, say("bob")])
def test_any_other_action_stops_the_walk_where_it_is(other) -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": go("cafe"), "bob": go("home")}, {"ann": other})
    assert world.bodies["ann"].area == "home"
    assert world.bodies["ann"].goal == ""


@pytest.mark.parametrize("edge_cost", [1, 2, 4])
def test_the_time_a_walk_takes_is_edges_times_cost(edge_cost: int) -> None:
    town = village(edge_cost)
    world = placed(town)
    ticks = 0
    while world.bodies["ann"].area != "cafe":
        world, _ = lived(town, world, {"ann": go("cafe")})
        ticks += 1
    assert ticks == 3 * edge_cost


def test_a_closed_way_without_another_is_found_at_the_way() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": go("attic")})
    assert world.bodies["ann"].area == "home"
    after, events = lived(TOWN, world, {"ann": go("attic")})
    (rejected,) = of_type(events, "ACTION_REJECTED")
    assert rejected.body.plain() == {
        "proposed": {"kind": "MOVE", "to_location_id": "attic"},
        "why": "the way to Attic is closed",
    }
    assert after.bodies["ann"].area == "home"
    assert after.bodies["ann"].goal == ""
    opened = replace(world, barred=frozenset[str]())
    assert lived(TOWN, opened, {"ann": go("attic")})[0].bodies["ann"].area == "attic"


def ring() -> Geography:
    """a – b – c – d – e in a row under the square m, which touches a and e."""
    nodes = [Node("m", "M", "area", ""), Node("a", "A", "area", "m"), Node("b", "B", "area", "a")]
    nodes += [Node("c", "C", "area", "b"), Node("d", "D", "area", "c"), Node("e", "E", "area", "d")]
    return Geography.build([*nodes, Node("x", "X", "agent", "a")], {}, [Way("gate", "e", "m"), Way("arch", "a", "m")])


def walked(world: Geography, state: World, goal: str, ticks: int) -> list[str]:
    stops = []
    for _ in range(ticks):
        state, _ = lived(world, state, {"x": go(goal)})
        stops.append(state.bodies["x"].area)
    return stops


def test_a_detour_does_not_lead_back_to_the_way_found_closed() -> None:
    world = ring()
    state = replace(placed(world), barred=frozenset({"arch"}))
    assert walked(world, state, "m", 5) == ["b", "c", "d", "e", "m"]


def test_a_walk_gives_up_when_every_way_was_found_closed() -> None:
    world = ring()
    state = replace(placed(world), barred=frozenset({"arch", "gate"}))
    assert walked(world, state, "m", 5) == ["b", "c", "d", "e", "e"]


def test_a_way_found_closed_counts_as_open_again_where_it_is_seen_open() -> None:
    world = ring()
    body = replace(placed(world).bodies["x"], goal="m", shut=("arch", "gate"))
    assert stride(world, body, "m", frozenset()) == Stride("m", ("gate",), "m")
    assert stride(world, body, "m", frozenset({"arch"})) == Stride("", ("arch", "gate"), "m")


def test_a_way_opens_and_closes_by_the_clock() -> None:
    town = village(ways=[Way("counter", "town", "cafe", open_hours=(9 * 60, 17 * 60))])
    world = placed(town)
    early, late = Clock(datetime(2031, 10, 4, 8, 55, tzinfo=UTC), 5), Clock(datetime(2031, 10, 4, 9, tzinfo=UTC), 5)
    assert lived(town, world, {"dee": go("cafe")}, clock=early)[0].bodies["dee"].area == "town"
    assert lived(town, world, {"dee": go("cafe")}, clock=late)[0].bodies["dee"].area == "cafe"
    # the action is on the state a tick ago: at 9:00 the way was open, whatever it is at 9:05
    assert lived(town, world, {"dee": IDLE}, {"dee": go("cafe")}, clock=early)[0].bodies["dee"].area == "cafe"


def test_whoever_is_in_a_passage_when_its_doors_close_comes_out() -> None:
    town = village(edge_cost=3)
    world, _ = lived(town, placed(town, ann="cafe"), {"ann": go("library")})
    assert world.bodies["ann"].area == "cafe--library-1"
    shut = replace(world, barred=frozenset({"back-door"}))
    world, _ = lived(town, shut, {"ann": go("library")}, {"ann": go("library")})
    assert world.bodies["ann"].area == "library"


def test_without_notice_nothing_of_it_is_visible() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": go("cafe")})
    assert world.bodies["ann"].departs == 0


def test_a_departure_is_announced_and_takes_effect_later() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": go("cafe")}, rules=NOTICE)
    assert events[0].type == "IDLE"
    assert events[0].body == Idled(doing="getting ready to leave for Café")
    assert (world.bodies["ann"].area, world.bodies["ann"].departs, world.bodies["ann"].goal) == ("kitchen", 3, "")
    world, _ = lived(TOWN, world, {"ann": say("bob")}, rules=NOTICE)
    assert world.bodies["ann"].departs == 3
    world, _ = lived(TOWN, world, {"ann": go("cafe")}, rules=NOTICE)
    assert (world.bodies["ann"].area, world.bodies["ann"].departs) == ("home", 0)
    world, _ = lived(TOWN, world, {"ann": go("cafe")}, rules=NOTICE)
    assert world.bodies["ann"].area == "town"  # a walk in progress needs no notice


def test_a_departure_lapses_when_its_time_comes_and_one_does_not_go() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": go("cafe")}, {}, {}, rules=NOTICE)
    assert world.bodies["ann"].departs == 0
    world, _ = lived(TOWN, world, {"ann": go("cafe")}, rules=NOTICE)
    assert (world.bodies["ann"].area, world.bodies["ann"].departs) == ("kitchen", 6)


def test_after_stopping_in_a_room_a_new_notice_is_needed_but_not_in_a_passage() -> None:
    town = village(edge_cost=2)
    state = placed(town, ann="town--home-1", bob="home")
    world, _ = lived(town, state, {"ann": go("cafe"), "bob": go("cafe")}, rules=NOTICE)
    assert world.bodies["ann"].area == "town"
    assert world.bodies["bob"].area == "home"


def test_a_promise_is_kept_and_never_lowered() -> None:
    """Over all sequences of six actions."""
    from itertools import product

    for actions in product((go("cafe"), go("attic"), IDLE), repeat=6):
        world, promised = placed(TOWN), 0
        for tick, action in enumerate(actions, 1):
            body = world.bodies["ann"]
            now = promise(TOWN, body, tick, 2)
            assert now >= promised or body.goal, actions
            promised = now
            world, _ = lived(TOWN, world, {"ann": action}, rules=NOTICE)
            assert world.bodies["ann"].area == body.area or tick >= promised, actions
