from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import canonical
from commonplace.rng import shuffled
from commonplace.world.actions import ACTIONS, Action, Idle, Interact, Say, objection, targets
from commonplace.world.deeds import HouseRules, Intent
from commonplace.world.events import Interacted, ObjectStateChanged, PlanChanged, Reflected
from commonplace.world.executor import step
from commonplace.world.script import Audience, Scripted
from commonplace.world.state import ThingState, World, opening, scene
from commonplace.world.tree import VERBS
from world.small_worlds import AGENTS, CLOCK, IDLE, NODES, do, go, lived, of_type, patient, placed, say, small, village

TOWN = village()
IDS = st.sampled_from([node.id for node in NODES] + ["nobody", "cafe--library-1"])
WORDS = {"doing": st.just("reading"), "utterance": st.sampled_from(("", "hi", "안녕")), "asleep": st.booleans()}
TRIED: st.SearchStrategy[Action] = st.one_of(
    st.builds(
        kind.action,
        because=st.just((1, 2)),
        **{name: st.sampled_from(VERBS) if name == "verb" else IDS for name in kind.targets},
        **{name: words for name, words in WORDS.items() if name in kind.fields},
    )
    for kind in ACTIONS.values()
)
TURNS = st.lists(st.fixed_dictionaries(dict.fromkeys(AGENTS, TRIED)), max_size=8)
COSTS = st.sampled_from((1, 2))
NOTICES = st.sampled_from((0, 1, 3))


def after(turns: list[dict[str, Action]], cost: int = 1, notice: int = 0) -> World:
    return lived(village(cost), placed(village(cost)), *turns, rules=HouseRules(leave_notice=notice))[0]


@patient
@given(TURNS, COSTS, NOTICES)
def test_the_tree_stays_a_tree(turns: list[dict[str, Action]], cost: int, notice: int) -> None:
    town, world = village(cost), after(turns, cost, notice)
    assert set(world.bodies) == set(AGENTS)
    assert all(body.area in town.edges for body in world.bodies.values())
    assert set(world.things) == {node.id for node in NODES if node.type == "object"}
    assert all(thing.parent in town.edges or thing.parent in world.bodies for thing in world.things.values())
    assert all(
        thing.state in town.kinds[town.nodes[id].kind].states
        and (thing.parent in town.edges or town.kinds[town.nodes[id].kind].portable)
        for id, thing in world.things.items()
    )
    assert {id for held in world.contents.values() for id in held} == set(world.things)


@patient
@given(TURNS, TRIED, st.sampled_from(AGENTS))
def test_an_action_outside_the_valid_targets_changes_nothing(turns, action: Action, me: str) -> None:
    world = after(turns)
    allowed = targets(TOWN, scene(world, world.bodies[me].area), me)
    valid = not objection(action, allowed)
    tried, events = lived(TOWN, world, {me: action})
    mine = [event for event in events if event.agent_id == me and event.phase == 1]
    if valid:
        assert mine[0].type != "ACTION_REJECTED" or mine[0].body.why.endswith("closed")
        return
    assert [event.type for event in mine] == ["ACTION_REJECTED"]
    assert mine[0].body.why
    idled, _ = lived(TOWN, world, {me: IDLE})
    assert tried.things == idled.things
    assert tried.conversations == idled.conversations
    assert {**tried.bodies, me: None} == {**idled.bodies, me: None}
    before, now = world.bodies[me], tried.bodies[me]
    assert (now.area, now.asleep, now.goal) == (before.area, before.asleep, "")
    assert now.doing == ("" if before.goal else before.doing)
    assert mine[0] not in tried.happened.get(now.area, ())


@patient
@given(TURNS, COSTS, st.integers(0, 99))
def test_the_order_of_intents_cannot_matter(turns: list[dict[str, Action]], cost: int, seed: int) -> None:
    town = village(cost)
    one = other = placed(town)
    for number, actions in enumerate(turns):
        mixed = {me: Intent(actions[me]) for me in shuffled(AGENTS, seed, number)}
        one, events = step(town, one, {me: Intent(action) for me, action in actions.items()}, clock=CLOCK)
        other, same = step(town, other, mixed, clock=CLOCK)
        assert events == same
        assert one == other


@patient
@given(TURNS, NOTICES)
def test_events_have_unique_ids_canonical_order_and_canonical_bodies(turns, notice: int) -> None:
    world = placed(TOWN)
    for actions in turns:
        areas = {me: body.area for me, body in world.bodies.items()}
        world, events = lived(TOWN, world, actions, rules=HouseRules(leave_notice=notice))
        assert len({event.id for event in events}) == len(events)
        assert [event.order for event in events] == sorted(event.order for event in events)
        for me in AGENTS:
            own = [event for event in events if event.agent_id == me]
            assert [event.ordinal for event in own] == list(range(len(own)))
            assert tuple(own) == world.outcomes[me]
        assert all(event.place == areas[event.agent_id] for event in events)
        assert all(no_floats(event.body.plain()) for event in events)
        assert all(event.body_bytes() for event in events)


def no_floats(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and no_floats(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(no_floats(item) for item in value)
    return value is None or isinstance(value, (str, int))


@patient
@given(TURNS)
def test_the_old_world_is_left_as_it_is(turns) -> None:
    world = after(turns)
    before = repr(world)
    lived(TOWN, world, dict.fromkeys(AGENTS, go("attic")), {"ann": do("TAKE", "kettle")})
    assert repr(world) == before


def test_every_body_needs_an_intent() -> None:
    with pytest.raises(KeyError, match="dee"):
        step(TOWN, opening(TOWN), {me: Intent(IDLE) for me in ("ann", "bob", "cyd")}, clock=CLOCK)


def test_idling_passes_unchanged_mappings_on() -> None:
    world, _ = lived(TOWN, placed(TOWN), {})
    again, _ = lived(TOWN, world, {})
    assert again.bodies is world.bodies
    assert again.things is world.things


def test_using_an_object_changes_its_state_and_what_hangs_on_it() -> None:
    world, events = lived(TOWN, placed(TOWN), {"bob": Interact(object_id="stove", verb="USE", doing="making tea")})
    used, lit, hot = [event for event in events if event.agent_id == "bob"][0:1] + of_type(
        events, "OBJECT_STATE_CHANGED"
    )[::-1]
    assert used.body.plain() == {
        "object_id": "stove",
        "verb": "USE",
        "outcome": "done",
        "doing": "making tea",
        "seen": "blue flames lick up",
    }
    assert lit.body == ObjectStateChanged(object_id="stove", old="off", to="lit", by="bob")
    assert hot.body == ObjectStateChanged(object_id="kettle", old="cold", to="hot", by="bob")
    assert world.things["stove"] == ThingState("lit", "kitchen")
    assert world.bodies["bob"].doing == "making tea"


def test_what_is_elsewhere_is_not_set_along() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": do("TAKE", "kettle")}, {"bob": do("USE", "stove")})
    assert world.things["kettle"] == ThingState("cold", "ann")


def test_a_refused_attempt_is_an_event_with_a_reason() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": do("CLOSE", "stove")}, {"ann": do("USE", "stove")})
    assert events[0].body == Interacted(object_id="stove", verb="USE", outcome="refused", why="the stove is broken")
    assert events[0] in world.happened["kitchen"]
    assert world.bodies["ann"].doing == "having no luck with the Stove"
    _, events = lived(TOWN, placed(TOWN), {"ann": do("TAKE", "fridge")}, {"ann": do("TAKE", "fridge")})
    assert (events[0].body.outcome, events[0].body.why) == ("refused", "that does not work now")


def test_two_takers_both_succeed_and_the_later_holds_it() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": do("TAKE", "kettle"), "bob": do("TAKE", "kettle")})
    assert world.things["kettle"].parent == "bob"
    lost, won = of_type(events, "INTERACT")
    assert (lost.body.outcome, lost.body.held_by) == ("done", "bob")
    assert won.body.outcome == "done"
    assert not won.body.held_by
    assert world.outcomes["ann"] == (lost,)
    assert lost in world.happened["kitchen"]


def test_both_takers_empty_a_container_once() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": do("TAKE", "fridge"), "bob": do("TAKE", "fridge")})
    assert world.things["fridge"] == ThingState("empty", "kitchen")
    assert [event.body.outcome for event in of_type(events, "INTERACT")] == ["done", "done"]
    assert [event.body.by for event in of_type(events, "OBJECT_STATE_CHANGED")] == ["bob"]


def test_both_act_on_the_state_before_and_the_later_writes_last() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": do("CLOSE", "stove"), "bob": do("USE", "stove")})
    assert world.things["stove"].state == "lit"
    assert of_type(events, "OBJECT_STATE_CHANGED")[-1].body.to == "lit"
    world, _ = lived(TOWN, placed(TOWN), {"ann": do("USE", "stove"), "bob": do("CLOSE", "stove")})
    assert world.things["stove"].state == "broken"


def test_only_the_carrier_uses_and_drops_and_it_goes_along() -> None:
    held = ({"ann": do("TAKE", "kettle"), "bob": do("USE", "stove")}, {"ann": go("cafe"), "bob": do("USE", "kettle")})
    world, events = lived(TOWN, placed(TOWN), *held)
    assert [event.type for event in events if event.agent_id == "bob"] == ["ACTION_REJECTED"]
    assert world.things["kettle"] == ThingState("hot", "ann")
    world, _ = lived(TOWN, world, {"ann": do("DROP", "kettle")})
    assert world.things["kettle"] == ThingState("hot", "home")
    assert world.bodies["ann"].doing == "putting down the Kettle"


def test_saying_is_told_with_all_it_carries() -> None:
    spoken = Say(
        to_agent_id="bob", utterance="there is a party", facts=("party",), claimed=("party",), carriers=(7,),
        emoji="🎉", because=(7, 9), speech_act="tell", topic="the party",
    )  # fmt: skip
    world, events = lived(TOWN, placed(TOWN), {"ann": spoken})
    assert events[0].body.plain() == {
        "to_agent_id": "bob",
        "utterance": "there is a party",
        "facts": ("party",),
        "claimed": ("party",),
        "carriers": (7,),
        "speech_act": "tell",
        "topic": "the party",
        "emoji": "🎉",
        "because": (7, 9),
    }
    assert (world.bodies["ann"].doing, world.bodies["ann"].emoji) == ("talking with Bob", "🎉")
    assert canonical(events[0].body.plain())


def test_notes_follow_the_action_and_consequences_follow_the_notes() -> None:
    intents = {me: Intent(IDLE) for me in AGENTS}
    notes = (PlanChanged(reason="rain", from_time="10:00"), Reflected(memory_ids=(4,)))
    intents["ann"] = Intent(do("USE", "stove"), notes)
    world, events = step(TOWN, placed(TOWN), intents, clock=CLOCK)
    own = [event for event in events if event.agent_id == "ann"]
    assert [(event.id, event.type) for event in own] == [
        ("t1.ann.0", "INTERACT"),
        ("t1.ann.1", "PLAN_CHANGED"),
        ("t1.ann.2", "REFLECTED"),
        ("t1.ann.3", "OBJECT_STATE_CHANGED"),
        ("t1.ann.4", "OBJECT_STATE_CHANGED"),
    ]
    assert [event.type for event in own if event in world.happened["kitchen"]] == [
        "INTERACT",
        "OBJECT_STATE_CHANGED",
        "OBJECT_STATE_CHANGED",
    ]


def test_speech_reaches_those_arriving_and_the_addressee_who_leaves() -> None:
    world = placed(TOWN, dee="home")
    world, events = lived(TOWN, world, {"ann": say("bob"), "bob": go("home"), "dee": go("kitchen"), "cyd": go("home")})
    (spoken,) = of_type(events, "SAY")
    assert spoken in world.happened["kitchen"]  # dee has come in and reads that record
    assert world.heard["bob"][0] == spoken
    assert "cyd" not in world.heard


def test_asleep_is_seen_and_told() -> None:
    world, events = lived(TOWN, placed(TOWN), {"ann": Idle(doing="sleeping", asleep=True)})
    assert world.bodies["ann"].asleep
    assert events[0].body.plain() == {"doing": "sleeping", "asleep": True}


def test_scripts_write_before_actions_and_bar_ways_from_their_end_on() -> None:
    dark = Scripted("dark", 1, "all goes dark", Audience(areas=("kitchen",)), (("stove", "broken"), ("lamp", "on")),
                    closes=("home--kitchen",))  # fmt: skip
    intents = {me: Intent(IDLE) for me in AGENTS} | {"ann": Intent(do("USE", "stove")), "cyd": Intent(go("home"))}
    world, events = step(TOWN, placed(TOWN), intents, clock=CLOCK, scripted=(dark,))
    assert events[0].body.plain() == {
        "text": "all goes dark",
        "script": "dark",
        "areas": ("kitchen",),
        "sets": (("stove", "broken"), ("lamp", "on")),
        "closes": ("home--kitchen",),
    }
    assert (events[0].id, events[0].type, events[0].place) == ("t1.-.0", "SCRIPTED", "kitchen")
    assert world.ambient == events[:1]
    assert world.things["stove"].state == "lit"  # written by ann after the script
    assert world.things["lamp"].state == "on"
    assert of_type(events, "OBJECT_STATE_CHANGED")[-1].body.old == "broken"
    assert world.bodies["cyd"].area == "home"  # the way closed behind it
    assert "home--kitchen" in world.barred
    world, events = lived(TOWN, world, {"ann": go("home")})
    assert events[0].body.why == "the way to Home is closed"


def test_korean_worlds_say_it_in_korean() -> None:
    intents = {me: Intent(IDLE) for me in AGENTS} | {"ann": Intent(say("bob")), "bob": Intent(go("cafe"))}
    world, _ = step(TOWN, placed(TOWN), intents, clock=CLOCK, rules=HouseRules(language="ko"))
    assert world.bodies["ann"].doing == "Bob과 이야기하는 중"
    assert world.bodies["bob"].doing == "Café 쪽으로 걸어가는 중"


def test_random_worlds_open_sound() -> None:
    for seed in range(20):
        world = small(seed)
        state = opening(world.geography)
        assert set(state.things) == {node.id for node in world.geography.nodes.values() if node.type == "object"}
