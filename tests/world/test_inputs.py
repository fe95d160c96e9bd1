from __future__ import annotations

import json
from functools import partial

import pytest

from commonplace.canon import canonical
from commonplace.errors import UsageError
from commonplace.world.actions import Action
from commonplace.world.circumstances import Raise
from commonplace.world.deeds import Intent
from commonplace.world.events import Event, Forgot, Phase, Whispered
from commonplace.world.executor import step
from commonplace.world.inputs import (
    IMPOSED_MINUTES,
    Attempt,
    Forget,
    GiveBack,
    GodEvent,
    InnerVoice,
    Input,
    Join,
    Leave,
    TakeOver,
    as_dict,
    from_dict,
    validate,
)
from commonplace.world.script import Audience
from commonplace.world.state import ThingState, World, opening
from commonplace.world.weather import Climate, ambient_at
from world.small_worlds import AGENTS, CLOCK, IDLE, do, placed, say, village

TOWN = village()
OUTAGE = GodEvent(
    seq=3,
    text="the power goes out",
    to=Audience(areas=("kitchen",), agents=("dee",)),
    sets=(("stove", "broken"),),
    opens=("hatch",),
    closes=("back-door",),
)
THEFT = GodEvent(
    seq=2, text="the kettle is stolen", to=Audience(areas=("kitchen",)), moves=(("kettle", ""),), sky="storm",
    befalls=(("dee", "crying"),), far="somebody shouts",
)  # fmt: skip
ALL: tuple[Input, ...] = (
    OUTAGE,
    THEFT,
    InnerVoice(4, "ann", "call home"),
    Join(5, "dee", "cafe"),
    Leave(6, "bob"),
    TakeOver(7, "ann", {"kind": "MOVE", "to_location_id": "cafe"}),
    GiveBack(8, "ann"),
    Forget(9, "ann", (3, 7)),
    Attempt(10, "ann", "Ann breaks the stove.", sets=(("stove", "broken"),), raises=(Raise("broken", "stove", "ann"),)),
    Attempt(11, "ann", "Ann hums."),
)


def lived(world: World, *inputs: Input, **actions: Action) -> tuple[World, tuple[Event, ...]]:
    intents = {me: Intent(actions.get(me, IDLE)) for me in world.bodies}
    return step(TOWN, world, intents, clock=CLOCK, inputs=inputs)


@pytest.mark.parametrize("item", ALL)
def test_an_input_is_stored_as_plain_json(item: Input) -> None:
    assert from_dict(json.loads(canonical(as_dict(item)))) == item
    validate(item, TOWN, AGENTS)


def test_a_stored_input_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="'storm' is not a kind"):
        from_dict({"kind": "storm"})
    with pytest.raises(UsageError, match="does not fit"):
        from_dict({"kind": "leave", "seq": 1})


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (InnerVoice(1, "anne", "hm"), "the nearest is 'ann'"),
        (Leave(1, "bo"), "the nearest is 'bob'"),
        (Join(1, "ann", "cafee"), "the nearest is 'cafe'"),
        (GodEvent(1, "", Audience(areas=("kitch",))), "the nearest is 'kitchen'"),
        (GodEvent(1, "", Audience(agents=("cid",))), "the nearest is 'cyd'"),
        (GodEvent(1, "", Audience(), (("stov", "off"),)), "the nearest is 'stove'"),
        (GodEvent(1, "", Audience(), (("stove", "light"),)), "the nearest is 'lit'"),
        (GodEvent(1, "", Audience(), opens=("hutch",)), "the nearest is 'hatch'"),
        (GodEvent(1, "", Audience(), closes=("backdoor",)), "the nearest is 'back-door'"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(item: Input, words: str) -> None:
    with pytest.raises(UsageError) as told:
        validate(item, TOWN, AGENTS)
    assert words in str(told.value)


def test_god_mode_reaches_its_audience_and_writes_after_everybody() -> None:
    world, events = lived(placed(TOWN, cyd="cafe"), OUTAGE, ann=do("USE", "stove"))
    god = events[-1]
    assert (god.id, god.phase, god.type, god.place) == ("t1.-.0", Phase.INPUT, "GOD_EVENT", "")
    assert god.body.text == "the power goes out"
    assert god.body.percepts == tuple((me, "the power goes out") for me in ("ann", "bob", "dee"))
    assert god.body.sets == (("stove", "broken"),)
    assert world.told == dict.fromkeys(("ann", "bob", "dee"), (god,))
    assert world.things["stove"].state == "broken"
    assert world.barred == {"back-door"}


def test_what_is_loud_is_noticed_next_door_and_who_is_struck_is_told_anywhere() -> None:
    world, events = lived(placed(TOWN, ann="kitchen", bob="home", cyd="library"), THEFT)
    percepts = dict(events[-1].body.percepts)
    assert percepts == {"ann": THEFT.text, "bob": "somebody shouts", "dee": THEFT.text}
    assert world.things["kettle"].parent == ""
    assert events[-1].body.befalls == (("dee", "crying"),)


def test_a_sky_put_up_by_an_input_holds_for_some_hours_and_is_news_once() -> None:
    weather = partial(ambient_at, Climate(), 7, CLOCK, 1)
    intents = {me: Intent(IDLE) for me in placed(TOWN).bodies}
    world, events = step(TOWN, placed(TOWN), intents, clock=CLOCK, inputs=(THEFT,), weather=weather)
    [change] = [event for event in events if event.type == "WEATHER_CHANGED"]
    assert (change.phase, change.body.old, change.body.to) == (Phase.AMBIENT, weather(None).sky, "storm")
    assert world.imposed is not None and world.ambient == (change,)
    last = 1 + CLOCK.ticks(IMPOSED_MINUTES)
    skies = [ambient_at(Climate(), 7, CLOCK, tick, world.imposed).sky for tick in (1, last, last + 1)]
    assert skies[:2] == ["storm", "storm"] and skies[2] == ambient_at(Climate(), 7, CLOCK, last + 1).sky


def test_an_inner_voice_is_told_to_one_alone() -> None:
    world, events = lived(placed(TOWN), InnerVoice(1, "ann", "call home"))
    assert (events[-1].id, events[-1].body) == ("t1.ann.1", Whispered(text="call home"))
    assert world.told == {"ann": (events[-1],)}
    assert events[-1] not in world.happened["kitchen"]
    assert events[-1] not in world.outcomes["ann"]


def test_forgetting_is_noticed_by_nobody() -> None:
    world, events = lived(placed(TOWN), Forget(1, "ann", (3, 7)))
    assert events[-1].body == Forgot(memory_ids=(3, 7))
    assert world.told == {}
    assert events[-1] not in world.happened["kitchen"]
    assert events[-1] not in world.outcomes["ann"]


def test_joining_and_leaving_are_seen_where_they_happen() -> None:
    world = opening(TOWN, ("ann", "bob"))
    world, events = lived(world, Join(1, "dee", "kitchen"), ann=do("TAKE", "kettle"))
    assert (events[-1].id, events[-1].type, events[-1].place) == ("t1.dee.0", "JOINED", "kitchen")
    assert events[-1] in world.happened["kitchen"]
    world, events = lived(world, Leave(2, "ann"))
    assert (events[-1].id, events[-1].type) == ("t2.ann.1", "LEFT")
    assert set(world.bodies) == {"bob", "dee"}
    assert events[-1] in world.happened["kitchen"]
    assert "ann" not in world.outcomes
    assert world.things["kettle"] == ThingState("cold", "ann")  # gone along, and back with it
    world, _ = lived(world, Join(3, "ann", "cafe"))
    assert world.bodies["ann"].area == "cafe"


def test_leaving_ends_a_talk_of_two_at_once() -> None:
    world, events = lived(placed(TOWN), Leave(1, "ann"), bob=say("ann"))
    assert [(event.id, event.type) for event in events if event.agent_id == "ann"] == [
        ("t1.ann.0", "IDLE"),
        ("t1.ann.1", "LEFT"),
        ("t1.ann.2", "CONVERSATION_ENDED"),
    ]
    assert not world.conversations
    assert events[-1] in world.happened["kitchen"]


def test_leaving_a_talk_of_three_does_not() -> None:
    world, _ = lived(placed(TOWN), Leave(1, "cyd"), bob=say("ann"), cyd=say("ann"))
    assert world.conversations["kitchen"][0].members == ("ann", "bob")


def test_inputs_take_effect_in_the_order_of_their_numbers() -> None:
    on, off = (GodEvent(seq, str(seq), Audience(True), (("lamp", state),)) for seq, state in ((1, "on"), (2, "off")))
    world, events = lived(placed(TOWN), off, on)
    assert [event.body.text for event in events if event.type == "GOD_EVENT"] == ["1", "2"]
    assert world.things["lamp"].state == "off"
    assert len(world.told["ann"]) == 2


def test_a_way_opened_and_closed_by_one_input_ends_closed() -> None:
    world, _ = lived(placed(TOWN), GodEvent(1, "", Audience(), opens=("hatch", "back-door"), closes=("back-door",)))
    assert world.barred == {"back-door"}


def test_nothing_reaches_whoever_has_left() -> None:
    hail = GodEvent(2, "hail", Audience(everybody=True))
    world, events = lived(placed(TOWN), InnerVoice(1, "ann", "call home"), hail, Leave(3, "ann"))
    assert next(event for event in events if event.type == "GOD_EVENT").body.percepts[0] == ("ann", "hail")
    assert set(world.told) == {"bob", "cyd", "dee"}
    assert "ann" not in world.outcomes


def test_whoever_left_this_tick_joins_again_at_the_next() -> None:
    world, _ = lived(placed(TOWN), Leave(1, "ann"), Join(2, "ann", "cafe"))
    assert "ann" not in world.bodies
    world, _ = lived(world, Join(3, "ann", "cafe"))
    assert world.bodies["ann"].area == "cafe"


@pytest.mark.parametrize("item", [Join(1, "ann", "cafe"), Leave(1, "dee"), InnerVoice(1, "dee", "hm")])
def test_an_input_that_no_longer_applies_does_nothing(item: Input) -> None:
    world = opening(TOWN, ("ann", "bob", "cyd"))
    assert lived(world, item) == lived(world)
