from __future__ import annotations

import pytest

from commonplace.errors import UsageError
from commonplace.world.geography import Geography, problems, way_open
from commonplace.world.tree import Node, ObjectKind, Transition, Way
from world.small_worlds import KINDS, NODES, WAYS, village


def test_paths_read_from_the_root() -> None:
    world = village()
    assert " > ".join(world.path("stove")) == "Town > Home > Kitchen > Stove"
    assert world.path("ann")[:-1] == ("Town", "Home", "Kitchen")
    assert world.nodes["home"].children == ("kitchen", "attic")
    assert world.root == "town"


def test_parents_and_children_are_neighbours_and_so_are_the_ends_of_a_way() -> None:
    world = village()
    assert [area for area, _ in world.edges["cafe"]] == ["library", "town"]
    assert [area for area, _ in world.edges["home"]] == ["attic", "kitchen", "town"]
    assert world.distance("cafe", "library") == 1
    assert world.distance("kitchen", "library") == 3
    assert world.distance("attic", "attic") == 0


def test_a_way_between_parent_and_child_replaces_their_edge() -> None:
    world = village()
    assert world.ways["hatch"].closed
    assert "home--attic" not in world.ways
    assert world.distance("home", "attic") == 1  # distances count every door as open


def test_a_longer_edge_is_a_chain_of_passages() -> None:
    world = village(edge_cost=3)
    assert world.distance("kitchen", "cafe") == 9
    assert world.route("cafe", "library") == ("cafe--library-1", "cafe--library-2", "library")
    passage = world.nodes["cafe--library-1"]
    assert passage.passage
    assert passage.name == "the way from Café to Library"
    assert world.nodes["cafe--library-1"].parent_id == "town"
    assert passage.id not in world.destinations
    assert set(world.destinations) == {node.id for node in NODES if node.type == "area"}
    assert Geography.build(NODES, KINDS, WAYS, 2, language="ko").name("town--home-1") == "Town에서 Home 쪽으로 가는 길"


def test_routes_are_shortest_and_ties_go_by_id() -> None:
    nodes = [Node("m", "M", "area", ""), *(Node(id, id, "area", "m") for id in ("a", "b", "c"))]
    ways = [Way("ab", "a", "b"), Way("bc", "b", "c")]
    world = Geography.build(nodes, {}, ways)
    assert world.route("a", "c") == ("b", "c")
    assert world.route("a", "c", closed={"bc"}) == ("m", "c")
    assert world.route("a", "c", known={"m"}) == ("m", "c")
    assert world.route("a", "c", closed={"bc", "m--c"}) == ()
    assert world.route("a", "a") == ()


def test_unknown_areas_are_no_part_of_a_route_but_passages_are() -> None:
    world = village(edge_cost=2)
    assert world.route("kitchen", "cafe", known=()) == ()
    assert world.route("kitchen", "cafe", known={"home", "town"})[-1] == "cafe"


@pytest.mark.parametrize(
    ("hours", "minute", "is_open"),
    [
        (None, 0, True),
        ((540, 1020), 539, False),
        ((540, 1020), 540, True),
        ((540, 1020), 1019, True),
        ((540, 1020), 1020, False),
        ((1320, 360), 1439, True),
        ((1320, 360), 359, True),
        ((1320, 360), 360, False),
    ],
)
def test_timetables(hours: tuple[int, int] | None, minute: int, is_open: bool) -> None:
    assert way_open(Way("w", "a", "b", open_hours=hours), minute, frozenset()) is is_open
    assert not way_open(Way("w", "a", "b", open_hours=hours), minute, {"w"})


def test_closed_ways_show_at_their_ends_only_and_let_out() -> None:
    world = village(edge_cost=2)
    closed = frozenset({"back-door", "hatch"})
    assert world.closed_from("cafe", closed) == {"back-door"}
    assert world.closed_from("town", closed) == frozenset()
    assert world.closed_from("cafe--library-1", closed) == frozenset()


LAMP = ObjectKind("lamp", ("off", "on"), "off")
ROOT = Node("town", "Town", "area", "")


@pytest.mark.parametrize(
    ("nodes", "kinds", "ways", "words"),
    [
        ([], {}, [], "one node without a parent, not 0"),
        ([ROOT, Node("other", "O", "area", "")], {}, [], "not 2"),
        ([Node("town", "T", "agent", "")], {}, [], "must be an area"),
        ([ROOT, Node("a", "A", "area", "nowhere")], {}, [], "'nowhere', which does not exist"),
        ([ROOT, Node("a", "A", "area", "b"), Node("b", "B", "area", "a")], {}, [], "cycle"),
        ([ROOT, ROOT], {}, [], "two nodes have the id 'town'"),
        ([ROOT, Node("A b", "A", "area", "town")], {}, [], "'A b' must be made of"),
        ([ROOT, Node("-", "A", "agent", "town")], {}, [], "and not be '-'"),
        ([ROOT, Node("a", "A", "thing", "town")], {}, [], "types are area, object and agent"),
        ([ROOT, Node("a", "A", "object", "town", kind="lamp")], {}, [], "kind 'lamp', which does not exist"),
        ([ROOT, Node("a", "A", "object", "town", kind="lamp", state="blue")], {"lamp": LAMP}, [], "knows off, on"),
        (
            [ROOT, Node("a", "A", "object", "town", kind="lamp"), Node("b", "B", "object", "a", kind="lamp")],
            {"lamp": LAMP},
            [],
            "an object cannot hold an object",
        ),
        ([ROOT, Node("m", "M", "agent", "town"), Node("b", "B", "agent", "m")], {}, [], "cannot hold an agent"),
        (
            [ROOT, Node("m", "M", "agent", "town"), Node("b", "B", "object", "m", kind="lamp")],
            {"lamp": LAMP},
            [],
            "not portable",
        ),
        ([ROOT], {"lamp": ObjectKind("lamp", ("off",), "on")}, [], "initial state 'on'"),
        ([ROOT], {"lamp": ObjectKind("lamp", ("off",), "off", (Transition("LICK", "off", "off"),))}, [], "'LICK'"),
        ([ROOT], {"lamp": ObjectKind("lamp", ("off",), "off", (Transition("USE", "on", "off"),))}, [], "source of USE"),
        ([ROOT], {"lamp": ObjectKind("lamp", ("off",), "off", refusals={("USE", "on"): "no"})}, [], "refused USE"),
        (
            [ROOT],
            {"lamp": ObjectKind("lamp", ("off",), "off", (Transition("USE", "*", "off", also=(("x", "y"),)),))},
            [],
            "also sets 'x'",
        ),
        ([ROOT], {}, [Way("w", "town", "sea")], "ends at 'sea', which is not an area"),
        ([ROOT], {}, [Way("w", "town", "town")], "to itself"),
        ([ROOT, Node("a", "A", "area", "town")], {}, [Way("w", "a", "town", (60, 60))], "two different minutes"),
        ([ROOT, Node("a", "A", "area", "town")], {}, [Way("w", "a", "town"), Way("v", "town", "a")], "same two areas"),
    ],
)
def test_structural_mistakes_are_named(nodes, kinds, ways, words: str) -> None:
    assert any(words in line for line in problems(nodes, kinds, ways)), problems(nodes, kinds, ways)
    with pytest.raises(UsageError) as told:
        Geography.build(nodes, kinds, ways)
    assert words in str(told.value)


def test_a_sound_world_has_no_problems_and_edges_cost_something() -> None:
    assert problems(NODES, KINDS, WAYS) == []
    assert problems(NODES, KINDS, WAYS, 0) == ["edge_cost is 0; it must be 1 or more ticks"]
