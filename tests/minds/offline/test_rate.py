"""How much new memories matter: by what happened first, then by their words."""

from __future__ import annotations

import pytest

from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.rate import rate
from commonplace.minds.tasks import RateInput
from commonplace.world.happenings import (
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    ISaid,
    Left,
    Planned,
    Said,
    Seen,
    Sky,
    Voiced,
)
from minds.offline import sample

DICE = Dice((7, "mira", 12, 0))


def rated(text: str, happening: Happening, *traits: str) -> int:
    new = RateInput(who=sample.mira(*traits), texts=(text,), happenings=(happening,))
    return rate(new, DICE).ratings[0].importance


def test_importance_rises_from_routine_to_calamity() -> None:
    grades = [
        rated("Mira Sato was wiping the counter.", Did(doing="wiping the counter")),
        rated("It begins to rain.", Sky(sky="rain", old="cloudy")),
        rated("Jun Park says to Mira Sato: “The soup is hot.”", Said(who="jun", to="mira", to_me="1")),
        rated("Jun Park says to Mira Sato: “I promise: the festival is tonight.”", Said(who="jun", to_me="1")),
        rated("The power goes out and there is smoke in the noodle bar.", Befell(text="…")),
    ]
    assert grades == sorted(grades)
    assert grades[0] == 1 and 2 <= grades[1] <= 3 and 3 <= grades[2] <= 4 and 5 <= grades[3] <= 8 and grades[4] >= 6


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (Voiced(text="go"), Befell(text="go")),
        (Befell(text="go"), Concluded()),
        (Concluded(), Came(who="jun", place="bar")),
        (Planned(do="resting", decided="1"), Planned(do="resting")),
        (Left(who="jun", place="bar"), Left(who="jun", place="bar", other="plaza")),
        (Sky(sky="storm", old="rain"), Sky(sky="rain", old="fog")),
        (Said(who="jun", to_me="1"), Said(who="jun")),
        (Said(who="jun", to_me="1"), ISaid(to="jun")),
        (Failed(object="kettle", why="broken"), Did(doing="using the kettle")),
        (Did(doing="dancing at the festival"), Seen(who="jun", doing="dancing at the festival")),
        (Seen(who="jun", doing="dancing at the festival"), Seen(who="jun", doing="oiling a drone")),
        (Seen(who="jun", doing="talking with Mira"), Seen(who="jun", doing="talking with Suki")),
        (Changed(object="kite", seen="The kite comes down."), Changed(object="kite", words="on the ground")),
    ],
)
def test_what_happened_says_where_a_memory_starts_from(more: Happening, less: Happening) -> None:
    assert rated("…", more) > rated("…", less)


def test_an_event_weighs_the_same_whoever_is_named_in_it() -> None:
    """That it is one's own place which it befalls is for the reaction to see."""
    befell = Befell(text="The lights flicker in Mira's noodle bar.")
    assert rated("The lights flicker in Mira's noodle bar.", befell) == rated("The lights flicker in the bar.", befell)


def test_only_a_thing_or_what_is_no_routine_counts_by_its_words() -> None:
    """Killing time is not murder; a thing that breaks is not routine."""
    assert rated("Mira Sato was killing time in the smoke.", Did(doing="killing time in the smoke")) == 1
    assert rated("The kettle is broken.", Changed(object="kettle", state="broken", words="broken")) > 1


def test_a_thing_that_somebody_uses_says_little_and_long_work_on_it_much() -> None:
    told = "The secret prize cat opens one eye."
    assert rated(told, Changed(object="cat", state="awake", seen=told)) == 2
    assert rated("A light comes on.", Changed(object="drone", seen="…", progress="2/4")) == 3
    assert rated("The drone is whole.", Changed(object="drone", seen="…", progress="4/4")) >= 6


def test_small_talk_and_the_words_of_a_conclusion_add_nothing() -> None:
    kiss = "A kiss, a festival and a secret."
    assert rated(kiss, Said(who="jun", to_me="1", speech_act="greet")) == 2
    assert rated(kiss, Said(who="jun", to_me="1", speech_act="tell.secret")) > 3
    assert rated(kiss, Concluded(kind="pair")) == 5
    assert rated(kiss, Concluded(kind="pair", topic="the festival")) == 7


def test_feelings_are_named_by_their_words() -> None:
    sad, glad = rate(RateInput(who=sample.mira(), texts=("Jun is crying.", "Jun laughs.")), DICE).ratings
    assert sad.valence < 0 < glad.valence and sad.keywords == ("sadness",)
