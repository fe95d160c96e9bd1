"""The same memory, told to somebody in the town and to a person who asks."""

from __future__ import annotations

import pytest

from commonplace.minds.notes import ItemNote, Person
from commonplace.minds.offline.told import Filling, Pair, Tellable, told
from commonplace.world.happenings import Befell, Changed, Did, Failed, Happening, Said, Seen
from minds.offline.sample import memory, mira

NOON = "2031-10-04T12:00:00"
JUN = Person(id="jun", name="Jun Park", called="Jun", pronoun="he")
BROKEN = Changed(object_name="pot", words="is broken", place_name="Jun's workshop")


def _asked(of: Tellable) -> Filling:
    return Filling({}, (told(Pair(mira(), NOON), of),))


def _to_jun(of: Tellable) -> Filling:
    return Filling({}, (told(Pair(mira(), NOON, JUN), of),))


@pytest.mark.parametrize(
    ("happening", "slot", "to_jun", "asked"),
    [
        (Did(doing="mending her pot"), "doing", "mending my pot", "mending my pot"),
        (Did(doing="waving at Jun"), "doing", "", "waving at Jun"),
        (Seen(who="jun", pronoun="he", doing="oiling his drone"), "doing", "oiling your drone", "oiling his drone"),
        (Seen(who="kit", called="Kit", pronoun="they"), "he", "", "Kit"),
        (BROKEN, "at", "at your workshop", "at Jun's workshop"),
        (BROKEN, "still", "is still broken", "is still broken"),
        (Failed(object_name="pot", why="The pot is cold."), "why", "the pot is cold", "the pot is cold"),
        (Said(who="jun", called="Jun", to_me="1", quote="It rains."), "teller", "Jun", "Jun"),
        (Said(who="jun", called="Jun", to="kit", quote="It rains."), "teller", "", ""),
        (Befell(text="The bell rings."), "past", "the bell rang", "the bell rang"),
        (Did(doing="mending a pot"), "past", "", ""),
    ],
)  # fmt: skip
def test_a_slot_is_what_fits_between_the_two(happening: Happening, slot: str, to_jun: str, asked: str) -> None:
    note = memory(1, "Mira remembers it.", 60, happening=happening)
    assert (_to_jun(note).get(slot), _asked(note).get(slot)) == (to_jun, asked)


def test_the_place_is_not_said_twice() -> None:
    doing = Did(doing="serving at the noodle bar", place_name="Noodle Bar")
    assert _asked(doing).get("at") and not _asked(doing).get("where")


def test_what_is_no_memory_has_no_time() -> None:
    item = ItemNote(start="19:30", minutes=60, location="bar", location_name="Noodle Bar", do="serving dinner")
    assert not _asked(item).get("when")
    assert (_to_jun(item).get("time"), _asked(item).get("time")) == ("half past seven", "at half past seven")


def test_what_is_given_comes_first_and_a_capital_is_asked_for_by_name() -> None:
    slots = Filling({"at": "", "x": "kit"}, (told(Pair(mira(), NOON), BROKEN),))
    assert (slots.get("at"), slots.get("cap_x"), slots.get("cap_thing")) == ("", "Kit", "The pot")
