"""What circumstances do to bodies, whatever their minds want, and how they begin, follow each other and end."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import canonical
from commonplace.errors import UsageError
from commonplace.world.actions import Action, Idle
from commonplace.world.circumstances import TOWN, Circumstance, Raise, duties, refuge, shipped_kinds, turned
from commonplace.world.deeds import HouseRules, Intent
from commonplace.world.events import Event
from commonplace.world.executor import step
from commonplace.world.geography import Geography
from commonplace.world.inputs import GodEvent, Input, Join, as_dict, from_dict
from commonplace.world.script import Audience, Scripted
from commonplace.world.state import Conversation, Line, World
from commonplace.world.tree import Way
from world.small_worlds import AGENTS, CLOCK, IDLE, do, go, of_type, patient, placed, say, small, village

KINDS = shipped_kinds("en")
HOMES = {"ann": "kitchen", "bob": "cafe", "cyd": "library", "dee": "attic"}
RULES = HouseRules(kinds=KINDS, homes=HOMES)
TOWN_OF = village()
HOUR = 12
"""Ticks."""


def raised(*raises: Raise, ends: tuple[str, ...] = (), seq: int = 1) -> GodEvent:
    return GodEvent(seq, "Something happens.", Audience(everybody=True), raises=raises, ends=ends)


def lived(
    world: World,
    *inputs: Input,
    geography: Geography = TOWN_OF,
    rules: HouseRules = RULES,
    scripted: tuple[Scripted, ...] = (),
    **wants: Action,
) -> tuple[World, tuple[Event, ...]]:
    """The world after a tick in which everybody does what it wants, or reads."""
    intents = {me: Intent(wants.get(me, IDLE)) for me in world.bodies}
    return step(geography, world, intents, clock=CLOCK, rules=rules, inputs=inputs, scripted=scripted)


def on(
    world: World, ticks: int, *, geography: Geography = TOWN_OF, rules: HouseRules = RULES, **wants: Action
) -> World:
    for _ in range(ticks):
        world, _ = lived(world, geography=geography, rules=rules, **wants)
    return world


def areas(world: World) -> Mapping[str, str]:
    return {me: body.area for me, body in world.bodies.items()}


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CLEARING = st.sampled_from([name for name, kind in KINDS.items() if kind.clears])


@patient
@given(st.integers(0, 400), st.data())
def test_nobody_stands_in_a_cleared_place_longer_than_the_way_out_takes(seed: int, data: st.DataObject) -> None:
    one = small(seed)
    geography = one.geography
    places = st.sampled_from(geography.destinations)
    burning = data.draw(st.lists(st.tuples(CLEARING, places), min_size=1, max_size=2))
    began = data.draw(st.integers(1, 6))
    rules = HouseRules(one.rules.leave_notice, kinds=KINDS)
    agents = [node.id for node in geography.nodes.values() if node.type == "agent"]
    world = placed(geography)
    cleared = frozenset(area for _, of in burning for area in geography.inside(of))
    open_to = [area for area in geography.destinations if area not in cleared]
    far = max((min(geography.distance(area, out) for out in open_to) for area in cleared), default=0) if open_to else 0
    for tick in range(1, 20):
        wants = {me: Intent(go(data.draw(places)) if data.draw(st.booleans()) else IDLE) for me in agents}
        inputs = [raised(*(Raise(kind, of) for kind, of in burning))] if tick == began else []
        world, _ = step(
            geography, world, wants, clock=one.clock, rules=rules, scripted=one.now(tick), inputs=inputs
        )  # fmt: skip
        if open_to and tick > began + far:
            assert not cleared.intersection(areas(world).values())


def test_whoever_is_in_a_fire_is_out_a_tick_later_whatever_it_wants() -> None:
    world, _ = lived(placed(TOWN_OF), raised(Raise("burning", "kitchen")))
    asleep = Idle(doing="sleeping", asleep=True)
    after, events = lived(world, ann=asleep, bob=say("cyd"), cyd=do("USE", "stove"))
    assert "kitchen" not in areas(after).values()
    held = {event.agent_id: event.body.held for event in events if event.type == "MOVE"}
    assert held == dict.fromkeys(("ann", "bob", "cyd"), "burning.kitchen")
    assert not any(body.asleep for body in after.bodies.values())


def test_leaving_a_fire_needs_no_notice_and_no_open_door() -> None:
    world, _ = lived(placed(TOWN_OF, ann="attic"), raised(Raise("burning", "attic")))
    assert "hatch" in world.barred  # the only way out
    rules = HouseRules(3, kinds=KINDS, homes=HOMES)
    assert areas(lived(world, rules=rules)[0])["ann"] == "home"


def test_a_move_out_of_a_fire_is_the_minds_own() -> None:
    world, _ = lived(placed(TOWN_OF), raised(Raise("burning", "kitchen")))
    _, events = lived(world, ann=go("cafe"))
    held = {event.agent_id: event.body.held for event in of_type(events, "MOVE")}
    assert held["ann"] == ""
    assert held["bob"] == "burning.kitchen"


def test_nobody_enters_what_burns_and_the_way_round_is_taken() -> None:
    world, _ = lived(placed(TOWN_OF, ann="home"), raised(Raise("burning", "kitchen")))
    _, events = lived(world, ann=go("kitchen"))
    [refused] = [event for event in events if event.agent_id == "ann"]
    assert (refused.type, refused.place) == ("ACTION_REJECTED", "home")
    town = village(ways=(Way("back-door", "cafe", "library"), Way("ladder", "attic", "library")))
    world, _ = lived(placed(town, ann="attic"), raised(Raise("burning", "library")), geography=town)
    places: list[str] = []
    for _ in range(4):
        world, _ = lived(world, geography=town, ann=go("cafe"))
        places.append(areas(world)["ann"])
    assert places == ["home", "town", "cafe", "cafe"]


def test_a_walker_in_a_passage_turns_back_from_a_fire() -> None:
    town = village(2)
    world, _ = lived(placed(town, ann="town"), raised(Raise("burning", "cafe")), geography=town, ann=go("cafe"))
    assert town.nodes[areas(world)["ann"]].passage
    assert areas(on(world, 1, geography=town, ann=go("cafe")))["ann"] == "town"
    assert "cafe" not in {areas(on(world, ticks, geography=town, ann=go("cafe")))["ann"] for ticks in range(1, 9)}


def test_only_those_who_live_there_enter_what_is_shut_and_nobody_is_put_out() -> None:
    world, _ = lived(placed(TOWN_OF, ann="town", bob="town", cyd="cafe"), raised(Raise("closed", "cafe")))
    after = on(world, 4, ann=go("cafe"), bob=go("cafe"))
    assert areas(after) | {"ann": ""} == {"ann": "", "bob": "cafe", "cyd": "cafe", "dee": "town"}
    assert "cafe" not in {areas(on(world, ticks, ann=go("cafe")))["ann"] for ticks in range(1, 6)}
    assert areas(on(after, 1, cyd=go("town")))["cyd"] == "town"


def test_whoever_is_in_a_shut_place_does_not_go_into_a_fire_next_to_it() -> None:
    both = raised(Raise("closed", "cafe"), Raise("burning", "library"))
    world, _ = lived(placed(TOWN_OF, ann="cafe"), both)
    assert "library" not in {areas(on(world, ticks, ann=go("library")))["ann"] for ticks in range(1, 6)}


def test_a_refuge_is_the_nearest_place_one_may_enter_then_one_that_is_only_shut_then_none() -> None:
    def found(*keys: str, home: str = "attic") -> str:
        so = {key: Circumstance(*key.split("."), since=1) for key in keys}
        return refuge(TOWN_OF, duties(TOWN_OF, so, KINDS), "kitchen", home)

    assert found("burning.kitchen") == "home"
    assert found("burning.kitchen", "closed.home") == "home"  # dee lives under that roof
    assert found("burning.home", "closed.town", home="") == "town"
    assert found("burning.town") == "kitchen"


def test_where_all_burns_everybody_does_what_it_wants() -> None:
    world, _ = lived(placed(TOWN_OF), raised(Raise("burning", "town")))
    after, events = lived(world, ann=do("USE", "stove"))
    assert areas(after) == areas(world)
    assert not of_type(events, "ACTION_REJECTED")


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_ill_go_home_lie_down_and_may_speak() -> None:
    world, _ = lived(placed(TOWN_OF, bob="library", ann="cafe"), raised(Raise("ill", "bob")))
    world, events = lived(world, bob=do("USE", "lamp"))
    assert areas(world)["bob"] == "cafe"
    assert next(event.body.held for event in events if event.agent_id == "bob") == "ill.bob"
    world, events = lived(world, bob=go("library"))
    assert (areas(world)["bob"], world.bodies["bob"].doing) == ("cafe", "lying ill in bed")
    assert [event.body.held for event in events if event.agent_id == "bob"] == ["ill.bob"]
    _, events = lived(world, bob=say("ann", "I feel awful."))
    assert [event.body.held for event in of_type(events, "SAY")] == [""]


def test_the_unconscious_lie_where_they_are_and_are_ill_afterwards() -> None:
    world, _ = lived(placed(TOWN_OF, ann="library"), raised(Raise("unconscious", "ann")))
    world = on(world, 2, ann=say("bob"))
    assert areas(world)["ann"] == "library"
    assert world.bodies["ann"].asleep
    world = on(world, 3 * HOUR)
    assert {key for key, one in world.circumstances.items() if one.holds} == {"ill.ann"}
    assert areas(on(world, 4))["ann"] == "kitchen"
    assert not on(world, 4).bodies["ann"].asleep


def test_the_dead_leave_never_act_again_and_let_fall_what_they_carried() -> None:
    world, _ = lived(placed(TOWN_OF, ann="cafe", bob="cafe"), ann=do("TAKE", "cup"))
    assert world.things["cup"].parent == "ann"
    world, _ = lived(world, ann=say("bob"))
    assert world.conversations["cafe"]
    world, events = lived(world, raised(Raise("dead", "ann"), Raise("ill", "ann")))
    assert [event.type for event in events if event.agent_id == "ann"][-2:] == ["LEFT", "CONVERSATION_ENDED"]
    assert "ann" not in world.bodies
    assert "cafe" not in world.conversations
    assert world.things["cup"].parent == "cafe"
    for tick in range(100):
        world, events = lived(world, *([Join(2, "ann", "cafe")] if tick == 50 else []))
        assert not [event for event in events if event.agent_id == "ann"]


def test_a_talk_of_three_goes_on_without_the_one_who_is_gone() -> None:
    begun = Line(0, "ann", "bob", "Listen, you two.", "inform", "")
    talk = Conversation("c", "kitchen", "ann", ("ann", "bob", "cyd"), (begun,), "bob")
    world = placed(TOWN_OF)
    world = World(0, world.bodies, world.things, {"kitchen": (talk,)}, world.barred)
    world, _ = lived(world, raised(Raise("away", "ann")), bob=say("cyd"))
    assert world.conversations["kitchen"][0].members == ("bob", "cyd")


def test_whoever_is_away_comes_home_at_the_hour_with_what_it_carries() -> None:
    world, _ = lived(placed(TOWN_OF, ann="cafe"), ann=do("TAKE", "cup"))
    world, _ = lived(world, raised(Raise("away", "ann", hours=2)))
    back = world.tick + 2 * HOUR
    while world.tick < back - 1:
        world, _ = lived(world)
        assert "ann" not in world.bodies
    world, events = lived(world)
    assert areas(world)["ann"] == "kitchen"
    assert world.things["cup"].parent == "ann"
    assert [event.type for event in events if event.phase == 3] == ["ENDED", "JOINED"]
    assert of_type(events, "ENDED")[0].place == "kitchen"


def test_whoever_dies_while_away_does_not_come_back() -> None:
    world, _ = lived(placed(TOWN_OF), raised(Raise("away", "ann", hours=1)))
    world, events = lived(world, raised(Raise("dead", "ann")))
    assert not of_type(events, "JOINED")
    assert "ann" not in on(world, 2 * HOUR).bodies


# ── beginning and ending ─────────────────────────────────────────────────────────────────────────────────────────────


def held(world: World) -> set[str]:
    return {key for key, one in world.circumstances.items() if one.holds}


def test_what_follows_begins_when_the_time_is_over_and_not_when_something_ends_it() -> None:
    world, events = lived(placed(TOWN_OF), raised(Raise("burning", "kitchen")))
    assert of_type(events, "BEGAN")[0].body.until == 1 + 2 * HOUR
    assert held(on(world, 2 * HOUR - 1)) == {"burning.kitchen"}
    assert held(on(world, 2 * HOUR)) == {"closed.kitchen"}
    put_out, events = lived(world, raised(ends=("burning.kitchen",)))
    assert [event.body.circumstance for event in of_type(events, "ENDED")] == ["burning.kitchen"]
    assert held(on(put_out, 3 * HOUR)) == set()


def test_death_ends_what_else_was_so_of_somebody_even_as_it_runs_out() -> None:
    faint = {"unconscious.ann": Circumstance("unconscious", "ann", 1, 37)}
    after = turned(faint, KINDS, CLOCK, 37, [Raise("dead", "ann")])
    assert [one.key for one in after.ended] == ["unconscious.ann"]
    assert [one.key for one in after.began] == ["dead.ann"]


def test_the_same_thing_raised_twice_begins_once_and_ending_what_is_not_so_is_nothing() -> None:
    world, events = lived(
        placed(TOWN_OF), raised(Raise("ill", "ann"), Raise("ill", "ann", hours=3), ends=("dead.bob",))
    )
    assert [event.body.until for event in of_type(events, "BEGAN")] == [1 + 3 * HOUR]
    assert not of_type(events, "ENDED")
    assert set(world.circumstances) == {"ill.ann"}


def test_what_is_over_is_forgotten_when_it_is_no_longer_news() -> None:
    world, _ = lived(placed(TOWN_OF), raised(Raise("dark", TOWN)))
    days = KINDS["dark"].days * 24 * HOUR
    assert set(on(world, days - 1).circumstances) == {f"dark.{TOWN}"}
    assert not on(world, days).circumstances


def test_scripted_events_raise_and_end() -> None:
    fire = Scripted("fire", 1, "Fire!", Audience(everybody=True), raises=(Raise("burning", "cafe"),))
    out = Scripted("out", 2, "", Audience(), ends=("burning.cafe",))
    world, events = lived(placed(TOWN_OF), scripted=(fire,))
    assert of_type(events, "SCRIPTED")[0].body.raises == ("burning.cafe",)
    assert held(world) == {"burning.cafe"}
    assert held(lived(world, scripted=(out,))[0]) == set()


def test_who_sees_that_something_is_over() -> None:
    start = placed(TOWN_OF, ann="town", bob="library", cyd="kitchen", dee="town")
    world, _ = lived(start, raised(Raise("burning", "cafe"), Raise("ill", "cyd"), Raise("dark", TOWN)))
    asleep = Idle(doing="sleeping", asleep=True)
    ends = raised(ends=("burning.cafe", "ill.cyd", f"dark.{TOWN}"))
    _, events = lived(world, ends, dee=asleep)
    seen = {event.body.circumstance: event.body.seen_by for event in of_type(events, "ENDED")}
    assert seen == {"burning.cafe": ("ann", "bob"), "ill.cyd": ("cyd",), f"dark.{TOWN}": ("ann", "bob", "cyd")}


# ── as an input ──────────────────────────────────────────────────────────────────────────────────────────────────────

IDS = st.sampled_from([*AGENTS, *TOWN_OF.destinations, "cup", TOWN])
RAISES = st.builds(Raise, st.sampled_from(sorted(KINDS)), IDS, st.sampled_from(("", *AGENTS)), st.integers(0, 10_000))


@given(st.lists(RAISES), st.lists(st.tuples(st.sampled_from(sorted(KINDS)), IDS)))
def test_an_input_is_read_as_it_was_written(raises: list[Raise], ends: list[tuple[str, str]]) -> None:
    item = raised(*raises, ends=tuple(".".join(pair) for pair in ends))
    assert from_dict(json.loads(canonical(as_dict(item)))) == item
    assert bool(raises) == ("raises" in as_dict(item))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"raises": "burning"}, "'raises' .* Expected `array`, got `str`"),
        ({"raises": None}, "Expected `array`, got `null`"),
        ({"raises": [{"kind": "burning"}]}, r"missing required field `of` - at `\$\[0\]`"),
        ({"raises": [{"kind": "ill", "of": "ann", "for": 3}]}, "unknown field `for`"),
        ({"raises": [{"kind": "ill", "of": "ann"}, {"kind": "ill", "of": 3}]}, r"got `int` - at `\$\[1\].of`"),
        ({"raises": [{"kind": "ill", "of": "ann", "hours": "two"}]}, r"got `str` - at `\$\[0\].hours`"),
        ({"raises": [{"kind": "ill", "of": "ann", "hours": -1}]}, "Expected `int` >= 0"),
        ({"ends": [["ill", "ann"]]}, r"'ends' .* Expected `str`, got `array` - at `\$\[0\]`"),
        ({"ends": 3}, "Expected `array`, got `int`"),
    ],
)
def test_wrong_types_are_refused_with_where_they_stand(given: Mapping[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        from_dict({"kind": "god_event", "seq": 1, "text": "", "to": {}, **given})


@pytest.mark.parametrize("ends", [(), ("missing.cup",)])
def test_what_was_lost_is_back_where_it_was_when_that_ends(ends: tuple[str, ...]) -> None:
    is_lost = (Raise("missing", "cup", hours=1),)
    lost = GodEvent(1, "The cup is gone.", Audience(areas=("cafe",)), moves=(("cup", ""),), raises=is_lost)
    world, _ = lived(placed(TOWN_OF), lost)
    assert world.things["cup"].parent == ""
    world = on(world, HOUR - 2)
    world, _ = lived(world, *([raised(ends=ends)] if ends else []))
    assert world.things["cup"].parent == ("cafe" if ends else "")
    assert on(world, 2).things["cup"].parent == "cafe"


def test_nobody_shuts_what_is_outdoors() -> None:
    fire = {"burning.yard": Circumstance("burning", "yard", 0, 5)}
    assert "closed.yard" in turned(fire, KINDS, CLOCK, 5).after
    assert "closed.yard" not in turned(fire, KINDS, CLOCK, 5, outdoors={"yard"}).after
