from __future__ import annotations

from dataclasses import replace

from commonplace.world.geography import Geography
from commonplace.world.state import ThingState
from commonplace.world.tree import AttemptResult, Node, ObjectKind, Transition, attempt, leads_on, words
from world.small_worlds import KINDS, NODES, WAYS, do, lived, of_type, placed


def test_a_transition_gives_the_new_state_and_what_comes_with_it() -> None:
    tried = attempt(KINDS["stove"], "off", "USE")
    assert tried == AttemptResult(True, "lit", "blue flames lick up", also=(("kettle", "hot"),))


def test_a_verb_without_a_transition_is_refused_with_the_kinds_text() -> None:
    assert attempt(KINDS["stove"], "broken", "USE").why == "the stove is broken"
    assert attempt(KINDS["fridge"], "empty", "TAKE") == attempt(KINDS["fridge"], "full", "OPEN")
    assert not attempt(KINDS["fridge"], "empty", "TAKE").done


def test_the_exact_state_comes_before_any() -> None:
    kind = ObjectKind(
        "door",
        ("shut", "open", "stuck"),
        "shut",
        (Transition("OPEN", "*", "open"), Transition("OPEN", "open", "open", "it is open already")),
        {("OPEN", "stuck"): "it is stuck", ("CLOSE", "*"): "there is no handle"},
    )
    assert attempt(kind, "shut", "OPEN").target == "open"
    assert attempt(kind, "open", "OPEN").seen == "it is open already"
    assert attempt(kind, "stuck", "OPEN").why == "it is stuck"
    assert attempt(kind, "open", "CLOSE").why == "there is no handle"
    assert kind.verbs == ("OPEN", "CLOSE")


def test_portable_objects_are_taken_and_put_down_unless_refused() -> None:
    assert attempt(KINDS["cup"], "whole", "TAKE").done
    assert attempt(KINDS["cup"], "whole", "TAKE").target == ""
    assert attempt(KINDS["cup"], "whole", "DROP").why == "it might break"
    assert not attempt(KINDS["lamp"], "on", "TAKE").done


def test_states_read_as_words() -> None:
    assert words(KINDS["stove"], "lit") == "is burning"
    assert words(KINDS["stove"], "switched_off") == "is switched off"


DRONE = ObjectKind(
    "drone",
    ("broken", "ready"),
    "broken",
    (
        Transition("USE", "broken", "ready", "it flies", times=3, steps=("the lid is off", "the rotor is on"),
                   needs=(("kettle", "hot"),), people=2),
        Transition("CLOSE", "*", "broken"),
    ),
    {("USE", "broken"): "without steam it stays where it is"},
)  # fmt: skip


def test_what_takes_several_attempts_gets_on_by_steps() -> None:
    tried = [attempt(DRONE, "broken", "USE", progress=n, at_hand={"kettle": "hot"}, people=2) for n in range(3)]
    assert [one.seen for one in tried] == ["the lid is off", "the rotor is on", "it flies"]
    assert [one.target for one in tried] == ["", "", "ready"]
    assert [one.progress for one in tried] == [1, 2, 0]
    assert leads_on(DRONE, "broken") == ("USE",) and leads_on(DRONE, "ready") == ("CLOSE",)


def test_what_is_needed_must_be_at_hand() -> None:
    for at_hand, people, lacks in (({}, 2, "kettle"), ({"kettle": "cold"}, 2, "kettle"), ({"kettle": "hot"}, 1, "*")):
        tried = attempt(DRONE, "broken", "USE", at_hand=at_hand, people=people)
        assert (tried.done, tried.lacks, tried.why) == (False, lacks, "without steam it stays where it is")


def test_a_repair_goes_on_where_it_was_left_and_starts_anew_when_the_thing_breaks_again() -> None:
    nodes = [*NODES, Node("drone", "drone", "object", "kitchen", kind="drone")]
    town = Geography.build(nodes, {**KINDS, "drone": DRONE}, WAYS)
    world = placed(town)
    world = replace(world, things={**world.things, "kettle": ThingState("hot", "kitchen")})
    use = {"ann": do("USE", "drone")}
    world, first = lived(town, world, use)
    assert world.things["drone"] == ThingState("broken", "kitchen", 1)
    assert first[0].body.seen == "the lid is off" and first[0].body.progress == (1, 3)
    world, last = lived(town, world, {}, use, use)
    assert world.things["drone"] == ThingState("ready", "kitchen")
    assert of_type(last, "OBJECT_STATE_CHANGED")[0].body.to == "ready"
    world, _ = lived(town, world, {"ann": do("CLOSE", "drone")}, use)
    assert world.things["drone"].progress == 1
    alone, refused = lived(town, replace(world, bodies={"ann": world.bodies["ann"]}), use)
    assert refused[0].body.outcome == "refused" and refused[0].body.lacks == "*"
    assert alone.things["drone"].progress == 1
