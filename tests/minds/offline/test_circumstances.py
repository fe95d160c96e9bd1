"""What has become so: one acts by role and temper, the plan leads elsewhere, and one speaks of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.minds.notes import FactNote, ItemNote, Person, So, Spoken, changed
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.plan import plan_day
from commonplace.minds.offline.react import react
from commonplace.minds.tasks import ConverseInput, PlanDayInput, ReactInput, ReactOutput, Stroke
from commonplace.world.happenings import Befell, Seed
from minds.offline import sample

DICE = Dice((7, "mira", 12, 0))
MEMORY = 61


def so(kind: str, of: str, subject: str, **more: Any) -> So:
    given: dict[str, Any] = {
        "id": f"{kind}.{of}", "kind": kind, "subject": subject, "of": of, "called": of, "text": f"It is {kind}.",
        "memory": MEMORY, "minutes_ago": 0, "days_ago": 0, "place": "bar", "near": "plaza", "instead": "loft",
        "square": "plaza",
    }  # fmt: skip
    return So(**(given | more))


FIRE = so("burning", "bar", "place", clears=True, barred=("bar",), weight=9)
ILL = so("ill", "jun", "person", rests=True, person=sample.jun(60), place="workshop")
DEAD = so("dead", "kit", "person", gone=True, bereaved=sample.jun(60), bereaved_at="workshop", weight=10)
INSULT = so("insulted", "jun", "person", wrong=True, by="kit", person=sample.jun(60))
KIT = Person(id="kit", name="Kit Vale", called="Kit", can_be_spoken_to=True)


def noticing(one: So, *traits: str, people: tuple[Person, ...] = (), **more: Any) -> ReactInput:
    """Something is noticed by somebody of these traits, alone or with others."""
    happening = Befell(text=one.text, event=one.id, areas="bar", there="mira")
    news = sample.news("event", one.text, MEMORY, happening, importance=9, facts=(one.id,))
    here = changed(sample.here(), people=people)
    return sample.reaction(news, situation=here, traits=traits or ("kind",), so=(one,), **more)


def does(one: So, *traits: str, people: tuple[Person, ...] = ()) -> Stroke:
    answer = react(noticing(one, *traits, people=people), DICE)
    assert answer.stroke is not None and answer.stroke.because == (MEMORY,)
    return answer.stroke


def told(one: So, **more: Any) -> ReactOutput:
    """Kit tells of it."""
    line = sample.said(MEMORY, one.text, who="kit", facts=(one.id,))
    news = sample.news("said", line.text, MEMORY, line.happening, who="kit", to_me=True, facts=(one.id,))
    lines = (Spoken(speaker="kit", called="Kit", text=one.text),)
    here = sample.here(people=(KIT,))
    return react(sample.reaction(news, situation=here, lines=lines, floor=True, so=(one,), **more), DICE)


def test_of_a_fire_the_able_see_to_it_outside_and_the_others_stand_back() -> None:
    able, other = does(FIRE, "brave"), does(FIRE, "dreamy")
    assert able.location == other.location == "plaza"
    assert any(word in able.do for word in ("water", "buckets", "flames")) and able.do != other.do


def test_one_who_is_somewhere_else_leaves_a_strangers_fire_alone_and_stands_by_a_friend() -> None:
    far = changed(FIRE, near="canal", place="workshop", barred=("workshop",))
    assert told(far).stroke is None
    friend = told(changed(far, tie="close", person=sample.jun(60)))
    assert friend.decision == "talk" and friend.stroke is not None and friend.stroke.location == "canal"


def test_those_in_a_fire_speak_of_it_and_not_of_the_rain() -> None:
    now = ItemNote(
        start="09:55", minutes=45, location="bar", location_name="Bar", do="fetching water", because=(MEMORY,)
    )
    rain = sample.news("weather", "It begins to rain.", 62)
    wet = changed(sample.here(sky="rain", place=sample.PLACES[2]), people=())
    given = sample.reaction(rain, situation=wet, now=now, so=(FIRE,))
    assert react(given, DICE).stroke is None
    assert react(changed(given, so=()), DICE).stroke is not None, "for shelter"


def test_a_healer_stays_with_the_ill_a_friend_kneels_and_one_of_the_others_fetches_the_healer() -> None:
    doctor = Person(id="hal", name="Hal", called="Hal")
    lying = changed(sample.jun(60), asleep=True, can_be_spoken_to=False)
    faint = changed(ILL, kind="unconscious", tie="close", healer=doctor, healer_at="canal", place="bar")
    assert does(changed(faint, heals=True), people=(lying,)).do in ("looking after Jun", "seeing to Jun")
    alone = does(faint, people=(lying,))
    assert alone.location == "canal" and "Hal" in alone.do
    assert "Hal" not in does(faint, people=(lying, doctor)).do, "who is here already"
    kin = does(changed(faint, tie="kin", healer=None, healer_at=""), people=(lying, KIT))
    assert kin.location == "bar" and "Jun" in kin.do


def test_who_hears_that_a_friend_is_ill_goes_and_a_stranger_does_not() -> None:
    friend = told(changed(ILL, tie="close")).stroke
    assert friend is not None and friend.location == "workshop" and friend.start > "10:00"
    assert told(ILL).stroke is None


def test_one_sits_with_the_bereaved() -> None:
    stroke = told(DEAD).stroke
    assert stroke is not None and stroke.location == "workshop" and "Jun" in stroke.do


def test_who_is_insulted_answers_the_one_who_did_it_or_leaves() -> None:
    mine = changed(INSULT, of="mira", id="insulted.mira")
    bold = react(noticing(mine, "brave", people=(KIT,)), DICE)
    assert (bold.decision, bold.target) == ("talk", "kit")
    timid = react(noticing(mine, "timid", people=(KIT,)), DICE)
    assert timid.stroke is None or timid.stroke.location != "bar"


def test_a_friend_of_the_insulted_comforts_them_and_the_doer_does_nothing() -> None:
    people = (sample.jun(60), KIT)
    assert "Jun" in does(changed(INSULT, tie="close"), "gentle", people=people).do
    doer = react(noticing(changed(INSULT, by="mira"), "gentle", people=people), DICE)
    assert (doer.decision, doer.stroke) == ("keep", None)


def test_of_two_who_quarrel_each_goes_away_and_keeps_from_the_rooms_of_the_other() -> None:
    mine = so("quarrelled", "mira", "person", wrong=True, by="kit", tie="own", person=KIT, barred=("bar",))
    assert does(mine, "brave", people=(KIT,)).location == "loft"
    [changes] = [stroke for stroke in planned(mine) if MEMORY in stroke.because]
    assert changes.location == "loft" and "Kit" in changes.do


def test_who_has_lost_somebody_leaves_the_days_work_and_friends_come() -> None:
    mine = so("grieving", "mira", "person", tie="own")
    stroke = does(mine)
    assert stroke.location == "loft" and stroke.minutes >= 180
    assert "serving noodles" not in [stroke.do for stroke in planned(mine)]
    assert "serving noodles" in [stroke.do for stroke in planned(changed(mine, days_ago=3))]
    friend = told(so("grieving", "jun", "person", tie="close", person=sample.jun(60), place="workshop")).stroke
    assert friend is not None and friend.location == "workshop" and "Jun" in friend.do


def test_at_a_birth_one_runs_for_the_healer_who_comes_and_others_help() -> None:
    doctor = Person(id="hal", name="Hal", called="Hal")
    born = so("birth", "bar", "place", healer=doctor, healer_at="canal")
    deeds = [does(changed(born, id=f"birth.{number}"), "kind", people=(KIT,)) for number in range(8)]
    assert {stroke.location for stroke in deeds} == {"canal", "bar"}
    healer = told(changed(born, heals=True)).stroke
    assert healer is not None and (healer.location, healer.do) == ("bar", "looking after the mother and the baby")


def test_whoever_comes_into_money_goes_among_people() -> None:
    assert does(so("rich", "mira", "person", tie="own")).location == "plaza"


def test_of_snow_some_is_shovelled() -> None:
    stroke = does(so("snowed", "-", "town", place=""), "kind")
    assert stroke.location == "plaza" and any(word in stroke.do for word in ("snow", "ice"))


def test_whoever_has_lost_a_thing_looks_for_it() -> None:
    assert does(so("missing", "book", "thing", by="mira", tie="own")).location == "bar"


def test_who_is_told_that_one_loves_them_answers() -> None:
    people = (sample.jun(60),)
    answer = react(noticing(so("in_love", "jun", "person", by="mira", person=people[0]), people=people), DICE)
    assert (answer.decision, answer.target) == ("talk", "jun")
    text = "Jun tells Mira that he loves her."
    assert spoken(so("in_love", "jun", "person"), text) != spoken(so("in_love", "jun", "person"), "Jun loves Kit.")


def test_what_is_over_is_no_alarm() -> None:
    over = changed(FIRE, holds=False, barred=(), text="The fire at the bar is out.")
    assert react(noticing(over, "brave"), DICE).stroke is None


def test_what_the_plan_cannot_have_any_more_is_replaced_once() -> None:
    later = ItemNote(start="12:00", minutes=60, location="bar", location_name="Bar", do="serving lunch")
    arrived = sample.news("arrived", "Jun Park comes in.", who="jun")
    known = changed(FIRE, minutes_ago=200, memory=5)
    here = changed(sample.here(place=sample.PLACES[4]), people=())
    home = ItemNote(start="09:00", minutes=180, location="loft", location_name="Loft", do="reading")
    given = sample.reaction(arrived, situation=here, now=home, later=(later,), so=(known,))
    stroke = react(given, DICE).stroke
    assert stroke is not None and (stroke.start, stroke.location, stroke.because) == ("12:00", "loft", (5,))
    done = changed(later, location=stroke.location, do=stroke.do, because=stroke.because)
    assert react(changed(given, later=(done,)), DICE).stroke is None


def planned(*notes: So, **more: Any) -> list[Stroke]:
    routine = [
        Stroke(start="07:00", minutes=60, location="loft", do="getting up"),
        Stroke(start="08:00", minutes=240, location="bar", do="serving noodles"),
        Stroke(start="12:00", minutes=120, location="plaza", do="playing chess with Kit"),
        Stroke(start="14:00", minutes=240, location="workshop", do="flying the kite"),
        Stroke(start="18:00", minutes=240, location="plaza", do="hanging lanterns"),
        Stroke(start="22:00", minutes=540, location="loft", do="sleeping", asleep=True),
    ]
    given: dict[str, Any] = {
        "who": sample.mira("kind"), "situation": sample.here("07:00"), "wakes": "07:00", "routine": tuple(routine),
        "recalled": (), "places": sample.PLACES, "so": notes,
    }  # fmt: skip
    return list(plan_day(PlanDayInput(**(given | more)), DICE).strokes)


@pytest.mark.parametrize(
    ("note", "usual", "instead"),
    [
        (so("closed", "bar", "place", barred=("bar",)), "serving noodles", "without"),
        (changed(DEAD, names=("kit",)), "playing chess with Kit", "Kit|kit"),
        (so("stolen", "kite", "thing", names=("kite",), tie="own"), "flying the kite", "kite"),
        (
            so("cancelled", "feast", "fact", place="plaza", starts="2031-10-04T18:15:00"),
            "hanging lanterns", "feast",
        ),
    ],
)  # fmt: skip
def test_a_day_is_planned_around_what_is_so(note: So, usual: str, instead: str) -> None:
    assert usual in [stroke.do for stroke in planned()]
    day = planned(note)
    changes = [stroke for stroke in day if MEMORY in stroke.because]
    assert usual not in [stroke.do for stroke in day] and changes
    assert any(any(word in stroke.do for word in instead.split("|")) for stroke in changes)
    assert all(stroke.location not in note.barred for stroke in day)


def test_the_ill_plan_to_lie_in_bed() -> None:
    day = planned(changed(ILL, of="mira", id="ill.mira"))
    assert {stroke.location for stroke in day} == {"loft"}


def test_without_power_nobody_means_to_broadcast() -> None:
    routine = tuple(
        Stroke(start=start, minutes=minutes, location=place, do=do, asleep=do == "sleeping")
        for start, minutes, place, do in (
            ("07:00", 60, "loft", "getting up"), ("08:00", 480, "bar", "broadcasting all day"),
            ("16:00", 360, "bar", "serving noodles"), ("22:00", 540, "loft", "sleeping"),
        )
    )  # fmt: skip
    assert "broadcasting all day" in [stroke.do for stroke in planned(routine=routine)]
    for note in (so("dark", "-", "town", place=""), so("dark", "bar", "place")):
        day = [stroke.do for stroke in planned(note, routine=routine)]
        assert "broadcasting all day" not in day and "serving noodles" in day
    elsewhere = planned(so("dark", "loft", "place", place="loft"), routine=routine)
    assert "broadcasting all day" in [stroke.do for stroke in elsewhere]


def test_a_child_whom_somebody_has_left_alone_mourns_among_others_and_sleeps_with_one_it_likes() -> None:
    note = changed(DEAD, tie="kin", names=("kit",), instead="workshop")
    child, grown = (planned(note, who=changed(sample.mira("kind"), age=age)) for age in (9, 40))
    assert child[-1].asleep and child[-1].location == "workshop"

    def mourned(day: list[Stroke]) -> set[str]:
        return {stroke.location for stroke in day if "kit" in stroke.do and not stroke.asleep}

    assert mourned(grown) - {"plaza"} == {"loft"} and {"bar", "workshop"} <= mourned(child)


def test_friends_of_the_dead_meet_on_the_next_day() -> None:
    gathering = [stroke for stroke in planned(changed(DEAD, days_ago=1, tie="close")) if "goodbye" in stroke.do]
    assert [(stroke.start, stroke.location) for stroke in gathering] == [("17:30", "plaza")]
    assert not any("goodbye" in stroke.do for stroke in planned(changed(DEAD, days_ago=3, tie="close")))


def spoken(one: So, text: str, *, tell: tuple[str, ...] = (), hearer: Person | None = None, ago: int = 0) -> str:
    happening = Befell(text=text, event=one.id, there="kit", sort="loss")
    memory = sample.memory(MEMORY, text, ago, happening=happening, tell=tell, facts=(one.id,))
    given = ConverseInput(
        who=sample.mira("kind"), situation=sample.here(), hearer=hearer or sample.jun(60), purpose="tell",
        recalled=(memory,), facts=(FactNote(id=one.id, text=text, tell=(text,)),),
    )  # fmt: skip
    return converse(given, DICE).utterance


def test_what_is_said_there_and_then_has_no_greeting_and_the_news_later_a_grave_one() -> None:
    assert spoken(FIRE, "The bar is on fire.", tell=("Fire! Everybody out!",)) == "Fire! Everybody out!"
    later = spoken(FIRE, "The bar is on fire.", ago=60)
    assert later.startswith(("Jun", "Listen, Jun")) and later.endswith("The bar is on fire.")


def test_an_event_that_is_off_is_no_news() -> None:
    note = sample.FESTIVAL
    memory = sample.memory(3, note.text, happening=Seed(topic="festival"), facts=(note.id,))
    given = ConverseInput(
        who=sample.mira("kind"), situation=sample.here(), hearer=sample.jun(60), purpose="invite", recalled=(memory,),
        facts=(note,),
    )  # fmt: skip
    assert "festival" in converse(given, DICE).utterance
    assert "festival" not in converse(changed(given, facts=()), DICE).utterance
