"""Doings in the first person, places named by half a name, and the power gone where it is said to be."""

from __future__ import annotations

import pytest

from commonplace.minds.notes import Spot, ThingHere
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.speech import taken
from commonplace.minds.offline.perceive_event import meant, perceive_event, places_meant, spoken_words
from commonplace.minds.tasks import PerceiveEventInput

PLACES = {"bar": "Mira's Noodle Bar", "kitchen": "Mira's Kitchen", "plaza": "Lattice Plaza", "canal": "Canal Walk"}


@pytest.mark.parametrize(
    ("doing", "pronoun", "mine", "yours"),
    [
        ("counting the drips of a tap he will fix tomorrow", "he",
         "counting the drips of a tap I will fix tomorrow", "counting the drips of a tap you will fix tomorrow"),
        ("growling at the menu he always orders from", "he",
         "growling at the menu I always order from", "growling at the menu you always order from"),
        ("blowing on the glue until she is dizzy", "she",
         "blowing on the glue until I am dizzy", "blowing on the glue until you are dizzy"),
        ("carrying a mirror that keeps showing her the sky", "she",
         "carrying a mirror that keeps showing me the sky", "carrying a mirror that keeps showing you the sky"),
        ("catching a spanner behind her back", "she",
         "catching a spanner behind my back", "catching a spanner behind your back"),
        ("serving somebody who says they have eaten", "she",
         "serving somebody who says they have eaten", "serving somebody who says they have eaten"),
        ("talking to himself", "he", "talking to myself", "talking to yourself"),
    ],
)  # fmt: skip
def test_a_doing_is_told_by_its_doer_and_to_its_doer(doing: str, pronoun: str, mine: str, yours: str) -> None:
    assert taken(doing, pronoun, "my") == mine
    assert taken(doing, pronoun, "your") == yours


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("The power goes out in the noodle bar.", ("bar",)),
        ("Mira's kitchen fills with smoke.", ("kitchen",)),
        ("Somebody calls from the canal.", ("canal",)),
        ("It is quiet.", ()),
    ],
)
def test_a_place_is_meant_by_part_of_its_name(text: str, places: tuple[str, ...]) -> None:
    assert places_meant(PLACES, spoken_words(text)) == places


def test_a_word_that_fits_two_things_means_neither() -> None:
    assert meant({"a": "tin kettle", "b": "copper kettle"}, spoken_words("The kettle breaks.")) == ()
    assert meant({"a": "tin kettle", "b": "copper kettle"}, spoken_words("The tin kettle breaks.")) == ("a",)


def test_a_power_cut_darkens_the_lights_where_it_happens() -> None:
    given = PerceiveEventInput(
        text="the power goes out in the noodle bar",
        areas=tuple(Spot(id=key, name=name) for key, name in PLACES.items()),
        people=(),
        things=tuple(ThingHere(id=key, name=name, state="lit") for key, name in (("a", "bowl sign"), ("b", "lamp"))),
        states={"a": ("lit", "dark"), "b": ("lit", "dark")},
        located={"a": "bar", "b": "plaza"},
    )
    found = perceive_event(given, Dice((7, "-", 1, 0)))
    assert found.areas == ("bar",) and found.sets == (("a", "dark"),) and not found.everybody
