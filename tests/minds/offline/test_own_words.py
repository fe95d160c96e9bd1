"""Doings in the first person, places named by half a name, and the power gone where it is said to be."""

from __future__ import annotations

import pytest

from commonplace.languages.en.wording import taken
from commonplace.minds.notes import Person, Spot, ThingHere, changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.perceive_event import meant, perceive_event, places_meant, spoken_words
from commonplace.minds.tasks import PerceiveEventInput, PerceiveEventOutput
from commonplace.minds.tasks.offers import Choices

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


HOUSES = PerceiveEventInput(
    text="",
    areas=(Spot(id="bakery", name="Anna's Bakery"), Spot(id="square", name="Market Square", outdoor=True)),
    people=(Person(id="bruno", name="Bruno Castellan", called="Bruno"),),
    things=(
        ThingHere(id="drone", name="courier drone", state="ready"), ThingHere(id="lamp", name="work lamp", state="lit"),
        ThingHere(id="night", name="night lamp", state="lit"),
    ),
    states={"drone": ("broken", "ready"), "lamp": ("dark", "lit"), "night": ("dark", "lit")},
    located={"drone": "bakery", "lamp": "bakery", "night": "square"},
)  # fmt: skip


def happens(text: str) -> PerceiveEventOutput:
    return perceive_event(changed(HOUSES, text=text), Dice((7, "-", 1, 0)))


@pytest.mark.parametrize(
    ("text", "sky"),
    [
        ("it starts to rain", "rain"),
        ("A storm breaks over the town.", "storm"),
        ("the rain stops", "cloudy"),
        ("The sun comes out", "clear"),
        ("It stops raining and the sun comes out", "clear"),
        ("It smells of snow", ""),
    ],
)
def test_a_sentence_about_the_weather_changes_it_for_everybody(text: str, sky: str) -> None:
    assert (happens(text).sky, happens(text).everybody) == (sky, True)


def test_what_happens_to_a_thing_changes_it() -> None:
    assert happens("the drone is stolen").sets == (("drone", "gone"),)
    assert happens("the drone breaks").sets == (("drone", "broken"),)
    assert happens("the lamp breaks").sets == (("lamp", "dark"),), "of two lamps the first"
    assert happens("the lamp in the square breaks").sets == (("night", "dark"),)


def test_a_door_is_locked_and_opened_by_its_place() -> None:
    assert happens("the door of the bakery is locked").locked == ("bakery",)
    assert happens("the bakery opens again").unlocked == ("bakery",)
    assert happens("the drone in the bakery is locked away").locked == ()


def test_what_befalls_somebody_is_what_they_do() -> None:
    assert happens("Bruno falls asleep").befalls(Choices({"bruno": "Bruno"})) == (("bruno", "sleeping"),)
    assert happens("Bruno feels ill").does == ("Bruno: lying down, feeling ill",)
    assert happens("Bruno starts to sing").does == ("Bruno: singing out loud",)
    assert happens("Bruno begins to polish his hat").does == ("Bruno: polishing his hat",)


@pytest.mark.parametrize("name", ["jun", "Jun", "JUN (jun)"])
def test_whom_something_befalls_is_named_by_any_name_that_is_offered(name: str) -> None:
    output = PerceiveEventOutput(percept="Jun falls asleep.", does=(f"{name}: sleeping", "Nobody: sleeping"))
    assert output.befalls(Choices({"jun": "Jun", "jun2": "Jun (jun2)"})) == (("jun", "sleeping"),)


def test_what_is_loud_or_bright_is_noticed_in_the_next_rooms_in_weaker_words() -> None:
    assert happens("a loud bang in the bakery").far == "There is a noise over at Anna's bakery."
    assert happens("a violinist plays in the square").far == "Music drifts over from Market Square."
    assert happens("somebody whispers in the bakery").far == ""
