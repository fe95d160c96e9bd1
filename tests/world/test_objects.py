from __future__ import annotations

from commonplace.world.tree import Attempt, ObjectKind, Transition, attempt, words
from world.small_worlds import KINDS


def test_a_transition_gives_the_new_state_and_what_comes_with_it() -> None:
    tried = attempt(KINDS["stove"], "off", "USE")
    assert tried == Attempt(True, "lit", "blue flames lick up", also=(("kettle", "hot"),))


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
