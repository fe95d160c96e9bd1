from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.world.actions import Say, partners
from commonplace.world.area import fold_talks
from commonplace.world.events import ConversationStarted
from commonplace.world.state import Conversation, Line, World
from world.small_worlds import Action, go, lived, of_type, patient, placed, say, village

TOWN = village()


def together(**areas: str) -> World:
    return placed(TOWN, dee="kitchen", **areas)


def talks(world: World) -> tuple[Conversation, ...]:
    return world.conversations.get("kitchen", ())


def test_a_first_say_starts_a_talk_and_gives_the_floor() -> None:
    world, events = lived(TOWN, together(), {"bob": say("ann")})
    started = of_type(events, "CONVERSATION_STARTED")
    assert [(event.id, event.body) for event in started] == [
        ("t1.bob.1", ConversationStarted(conversation_id="kitchen.1.bob", members=("ann", "bob")))
    ]
    assert [talk.floor for talk in talks(world)] == ["ann"]
    here = scene_of(world)
    assert partners(here, "ann") == ("bob", "cyd", "dee")
    assert partners(here, "bob") == ()
    assert partners(here, "cyd") == ("ann", "bob", "dee")


def scene_of(world: World):
    from commonplace.world.state import scene

    return scene(world, "kitchen")


def test_simultaneous_first_says_that_touch_make_one_talk() -> None:
    world, events = lived(TOWN, together(), {"cyd": say("bob"), "bob": say("ann"), "dee": say("cyd")})
    assert [event.body.conversation_id for event in of_type(events, "CONVERSATION_STARTED")] == ["kitchen.1.bob"]
    (talk,) = talks(world)
    assert talk.members == ("ann", "bob", "cyd", "dee")
    assert talk.floor == "cyd"  # dee's is the last line in canonical order
    assert [line.speaker for line in talk.lines] == ["bob", "cyd", "dee"]


@pytest.mark.parametrize(
    ("question", "act"), [("Is it bent?", ""), ("May I ask about it.", "ask.topic"), ("It is.", "")]
)
def test_of_two_who_speak_at_once_the_one_who_is_asked_has_the_floor(question: str, act: str) -> None:
    asks = Say(to_agent_id="bob", utterance=question, speech_act=act)
    world, _ = lived(TOWN, together(), {"ann": asks, "bob": say("ann")})
    (talk,) = talks(world)
    is_question = question != "It is."
    assert talk.floor == ("bob" if is_question else "ann")
    assert [line.speaker for line in talk.lines] == (["bob", "ann"] if is_question else ["ann", "bob"])


def test_says_that_do_not_touch_make_two() -> None:
    world, _ = lived(TOWN, together(), {"bob": say("ann"), "dee": say("cyd")})
    assert [talk.id for talk in talks(world)] == ["kitchen.1.bob", "kitchen.1.dee"]
    assert partners(scene_of(world), "ann") == ("bob",)


def test_whoever_has_the_floor_may_draw_in_a_third() -> None:
    world, _ = lived(TOWN, together(), {"bob": say("ann")}, {"ann": say("cyd")})
    assert talks(world)[0].members == ("ann", "bob", "cyd")
    assert talks(world)[0].floor == "cyd"


def test_a_say_to_somebody_drawn_in_at_the_same_tick_joins_the_talk() -> None:
    world, events = lived(TOWN, together(), {"bob": say("ann")}, {"ann": say("cyd"), "dee": say("cyd")})
    assert [talk.id for talk in talks(world)] == ["kitchen.1.bob"]
    assert talks(world)[0].members == ("ann", "bob", "cyd", "dee")
    assert not of_type(events, "CONVERSATION_STARTED")


def test_of_two_lines_of_one_tick_the_later_gives_the_floor() -> None:
    world, _ = lived(TOWN, together(), {"bob": say("ann")}, {"ann": say("cyd"), "dee": say("cyd")})
    assert talks(world)[0].floor == "cyd"
    world, _ = lived(TOWN, together(), {"bob": say("cyd")}, {"cyd": say("dee"), "ann": say("dee"), "dee": say("ann")})
    assert talks(world)[0].lines[-1].speaker == "dee"
    assert talks(world)[0].floor == "ann"


def test_two_ticks_of_silence_end_a_talk_with_its_transcript() -> None:
    world, _ = lived(TOWN, together(), {"bob": say("ann", "hi")}, {"ann": say("bob", "hello")}, {})
    assert talks(world)
    world, events = lived(TOWN, world, {})
    (ended,) = of_type(events, "CONVERSATION_ENDED")
    assert ended.id == "t4.ann.1"
    assert ended.body.plain() == {
        "conversation_id": "kitchen.1.bob",
        "members": ("ann", "bob"),
        "lines": (("bob", "ann", "hi"), ("ann", "bob", "hello")),
    }
    assert not talks(world)


def test_a_farewell_does_not_end_it_by_itself() -> None:
    farewell = Say(to_agent_id="ann", utterance="bye", ends=True)
    world, events = lived(TOWN, together(), {"bob": farewell})
    assert talks(world)
    assert of_type(events, "SAY")[0].body.ends is True


def test_a_bystander_joins_up_to_four_and_talks_go_on_side_by_side() -> None:
    world, _ = lived(TOWN, together(), {"bob": say("ann")}, {"ann": say("bob"), "cyd": say("ann")})
    (one,) = talks(world)
    assert one.members == ("ann", "bob", "cyd")
    assert one.floor == "ann"  # the addressee of the last line in canonical order
    assert partners(scene_of(world), "ann") == ("bob", "cyd", "dee")
    world, _ = lived(TOWN, world, {"ann": say("cyd"), "dee": say("ann")})
    assert talks(world)[0].members == ("ann", "bob", "cyd", "dee")


def test_a_talk_of_four_has_no_place_left() -> None:
    four = talk("kitchen.1.a", 1, "ann", "bob", "cyd", "dee")
    here = scene_of(together())
    crowded = replace(
        here, bodies={**here.bodies, "eve": here.bodies["ann"]}, conversations=(replace(four, area="kitchen"),)
    )
    assert partners(crowded, "eve") == ()
    assert "eve" not in partners(crowded, "bob")


def test_when_nobody_takes_the_floor_every_member_may_speak() -> None:
    world, _ = lived(TOWN, together(), {"bob": say("ann")})
    assert partners(scene_of(world), "bob") == ()
    world, _ = lived(TOWN, world, {})
    assert partners(scene_of(world), "bob") == ("ann", "cyd", "dee")


def test_leaving_ends_a_talk_of_two_and_the_leaver_learns_of_it() -> None:
    world, events = lived(TOWN, together(), {"bob": say("ann")}, {"bob": go("home")})
    (ended,) = of_type(events, "CONVERSATION_ENDED")
    assert (ended.agent_id, ended.place) == ("ann", "kitchen")
    assert world.heard["bob"] == (ended,)
    assert ended in world.happened["kitchen"]


def test_leaving_a_talk_of_three_leaves_a_talk_of_two() -> None:
    three = {"bob": say("ann"), "cyd": say("bob")}
    world, _ = lived(TOWN, together(), three, {"cyd": go("home"), "bob": say("ann")})
    assert [talk.members for talk in talks(world)] == [("ann", "bob")]
    world, events = lived(TOWN, world, {}, {})
    assert of_type(events, "CONVERSATION_ENDED")[0].body.members == ("ann", "bob", "cyd")


def test_a_word_to_somebody_who_leaves_starts_and_ends_a_talk() -> None:
    world, events = lived(TOWN, together(), {"bob": say("ann"), "ann": go("home")})
    assert [event.id for event in events if event.type.startswith("CONV")] == ["t1.ann.1", "t1.bob.1"]
    assert not talks(world)
    assert [event.type for event in world.heard["ann"]] == ["SAY"]  # the end is in its own events
    assert world.outcomes["ann"][-1].type == "CONVERSATION_ENDED"


def test_talks_that_touch_become_one_and_the_younger_ends() -> None:
    both = [talk("k.1.b", 1, "a", "b"), talk("k.2.c", 2, "c", "d")]
    lines = [Line(3, "a", "e", "you too"), Line(3, "c", "e", "and you")]
    after = fold_talks("k", 3, both, lines, {"a", "b", "c", "d", "e"})
    assert [(one.id, one.members, one.floor) for one in after.ongoing] == [("k.1.b", ("a", "b", "c", "d", "e"), "e")]
    assert [one.id for one in after.ended] == ["k.2.c"]
    assert after.ended[0].lines == both[1].lines


def talk(id: str, tick: int, *members: str) -> Conversation:
    line = Line(tick, members[0], members[1], "hi")
    return Conversation(id, "k", members[0], members, (line,), members[1])


NAMES = st.sampled_from(("ann", "bob", "cyd", "dee"))
TURN: st.SearchStrategy[dict[str, Action]] = st.dictionaries(
    NAMES, st.one_of(NAMES.map(say), st.sampled_from((go("home"), go("kitchen")))), max_size=4
)


@patient
@given(st.lists(TURN, max_size=8))
def test_whatever_is_said_everybody_is_in_one_talk_at_most_and_none_is_lost(turns: list[dict[str, Action]]) -> None:
    world = together()
    begun: set[str] = set()
    over: set[str] = set()
    spoken = told = 0
    for actions in turns:
        world, events = lived(TOWN, world, actions)
        spoken += len(of_type(events, "SAY"))
        told += sum(len(event.body.lines) for event in of_type(events, "CONVERSATION_ENDED"))
        begun |= {event.body.conversation_id for event in of_type(events, "CONVERSATION_STARTED")}
        ended = [event.body.conversation_id for event in of_type(events, "CONVERSATION_ENDED")]
        assert not over & set(ended)
        over |= set(ended)
        going = [one for area, here in world.conversations.items() for one in here if one.area == area]
        assert begun - over == {one.id for one in going}
        members = [member for one in going for member in one.members]
        assert len(members) == len(set(members))
        assert all(len(one.members) >= 2 for one in going)
        assert all(world.bodies[member].area == one.area for one in going for member in one.members)
        assert spoken == told + sum(len(one.lines) for one in going)
