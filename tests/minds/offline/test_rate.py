"""How much new memories matter: by what happened, and by their words where nothing else is known."""

from __future__ import annotations

import pytest

from commonplace.minds.notes import Bearing
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
    Happened,
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
PLAIN = Bearing()


def rated(text: str, happening: Happening, bearing: Bearing = PLAIN) -> int:
    new = RateInput(who=sample.mira(), texts=(text,), happenings=(happening,), bearings=(bearing,))
    return rate(new, DICE).ratings[0].importance


def test_importance_rises_from_routine_to_calamity() -> None:
    fire = Befell(text="The noodle bar is on fire.", event="burning.noodle-bar")
    grades = [
        rated("Mira Sato was wiping the counter.", Did(doing="wiping the counter")),
        rated("It begins to rain.", Sky(sky="rain", old="cloudy")),
        rated("Jun Park says to Mira Sato: “The soup is hot.”", Said(who="jun", to_me="1", speech_act="tell")),
        rated("Jun Park says to Mira Sato: “I'm sorry.”", Said(who="jun", to_me="1", speech_act="apologise")),
        rated("A gull walks in.", Befell(text="A gull walks in.", event="gull"), Bearing(mine=True)),
        rated(fire.text, fire, Bearing(weight=9)),
        rated(fire.text, fire, Bearing(weight=9, dear=True)),
        rated(fire.text, fire, Bearing(weight=9, mine=True)),
    ]
    assert grades == sorted(set(grades))
    assert grades[0] == 1 and grades[-1] == 10


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (Voiced(text="go"), Befell(text="go", event="gull")),
        (Befell(text="go", event="gull"), Concluded(kind="pair")),
        (Befell(text="go", event="gull"), Befell(text="…", far="plaza")),
        (Concluded(kind="pair"), Came(who="jun", place="bar", other="plaza")),
        (Planned(do="resting", decided="1"), Planned(do="resting")),
        (Left(who="jun", place="bar"), Left(who="jun", place="bar", other="plaza")),
        (Sky(sky="storm", old="rain"), Sky(sky="rain", old="fog")),
        (Said(who="jun", to_me="1", speech_act="tell"), Said(who="jun", to_me="1", speech_act="greet")),
        (Said(who="jun", to_me="1", speech_act="greet"), Said(who="jun", speech_act="greet")),
        (Said(who="jun", to_me="1", speech_act="tell"), ISaid(to="jun", speech_act="tell")),
        (Failed(object="kettle", why="broken"), Did(doing="using the kettle")),
        (Changed(object="kite", seen="The kite comes down."), Changed(object="kite", words="on the ground")),
        (Changed(object="drone", progress="4/4"), Changed(object="drone", progress="2/4")),
        (Did(doing="mending", progress="2/4"), Did(doing="mending")),
    ],
)
def test_what_happened_says_where_a_memory_starts_from(more: Happening, less: Happening) -> None:
    assert rated("…", more) > rated("…", less)


@pytest.mark.parametrize(
    ("happening", "more", "less"),
    [
        (Did(doing="dancing"), Bearing(occasion=True), PLAIN),
        (Seen(who="jun", doing="dancing"), Bearing(occasion=True), PLAIN),
        (Seen(who="jun", doing="talking with Mira"), Bearing(mine=True), PLAIN),
        (Changed(object="kettle", state="broken"), Bearing(spoilt=True, mine=True), Bearing(spoilt=True)),
        (Changed(object="kettle", state="broken"), Bearing(spoilt=True), PLAIN),
        (Failed(place="bar"), Bearing(mine=True), PLAIN),
        (Befell(text="…", event="ill.jun"), Bearing(weight=7, dear=True), Bearing(weight=7)),
        (Said(who="jun", speech_act="tell"), Bearing(mine=True), PLAIN),
    ],
)
def test_concern_adds_to_it(happening: Happening, more: Bearing, less: Bearing) -> None:
    assert rated("…", happening, more) > rated("…", happening, less)


def test_to_be_told_weighs_less_than_to_see_and_to_overhear_less_still() -> None:
    seen, news = Befell(text="…", event="burning.bar"), Bearing(weight=9)
    told, overheard = (Said(who="jun", to_me=to_me, speech_act="tell") for to_me in ("1", ""))
    assert rated("…", seen, news) > rated("…", told, news) > rated("…", overheard, news) > 1


def test_what_goes_on_weighs_less_each_time_and_in_the_end_nothing() -> None:
    fire = Befell(text="…", event="burning.bar")
    weights = [rated("…", fire, Bearing(weight=9, mine=True, times=times)) for times in (0, 1, 3, 10, 100)]
    assert weights == sorted(set(weights), reverse=True) and weights[0] == 10 and weights[-1] == 1
    cat = Changed(object="cat", state="awake", seen="The cat opens one eye.")
    assert rated("The cat opens one eye.", cat, Bearing(times=9)) == 1
    line = ISaid(to="jun", speech_act="tell")
    assert rated("…", line, Bearing(weight=9, times=9)) == rated("…", line, Bearing(weight=9))


def test_words_count_only_where_nothing_is_known_of_what_happened() -> None:
    words = "A kiss, a festival and a secret."
    for known in (Said(who="jun", to_me="1", speech_act="greet"), Concluded(kind="pair"), Did(doing=words)):
        assert rated(words, known) == rated("…", known)
    for unknown in (Happened(), Befell(text=words), Said(who="jun", to_me="1"), Concluded()):
        assert rated(words, unknown) > rated("…", unknown)


def test_feelings_are_named_by_their_words() -> None:
    sad, glad = rate(RateInput(who=sample.mira(), texts=("Jun is crying.", "Jun laughs.")), DICE).ratings
    assert sad.valence < 0 < glad.valence and sad.keywords == ("sadness",)
