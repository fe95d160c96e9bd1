"""Reactions: invitations cite their hearing, rain drives indoors, temper decides what one does about an event."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.minds.notes import GoalNote, ItemNote, Past, PastNote, Person, Spoken, changed
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.react import react
from commonplace.minds.tasks import ConverseInput, ReactInput, ReactOutput, Stroke
from commonplace.world.happenings import Befell, Said, Sky, Voiced
from minds.offline import sample

DICE = Dice((7, "mira", 12, 0))
FACT = (sample.FESTIVAL.id,)


def hearing(
    quote: str = sample.FESTIVAL.tell[0], *, warmth: int = 70, traits: tuple[str, ...] = ("outgoing",)
) -> ReactOutput:
    line = sample.said(50, quote, facts=FACT)
    given = sample.reaction(
        sample.news("said", line.text, 50, line.happening, who="jun", to_me=True, facts=FACT),
        situation=sample.here(people=(sample.jun(warmth),)),
        traits=traits, facts=(sample.FESTIVAL,), recalled=(line,), floor=True,
        lines=(Spoken(speaker="jun", called="Jun", text=quote),),
    )  # fmt: skip
    return react(given, DICE)


def test_an_invitation_becomes_a_stroke_that_cites_the_hearing() -> None:
    answer = hearing()
    assert answer.decision == "talk" and answer.purpose == "reply"
    assert answer.stroke is not None
    assert answer.stroke.location == "plaza" and answer.stroke.because == (50,)
    assert "18:30" <= answer.stroke.start < "19:00" and answer.stroke.routine == -1
    assert "Jun told me about the lantern festival and I like Jun" in answer.reason


def test_who_dislikes_the_teller_and_company_stays_away() -> None:
    assert hearing(warmth=-60, traits=("shy", "grumpy")).stroke is None


def test_who_already_goes_is_not_planned_twice() -> None:
    line = sample.said(50, sample.FESTIVAL.tell[0], facts=FACT)
    going = ItemNote(
        start="18:45", minutes=150, location="plaza", location_name="Lattice Plaza", do="going to the lantern festival"
    )
    given = sample.reaction(
        sample.news("said", line.text, 50, line.happening, who="jun", facts=FACT),
        facts=(sample.FESTIVAL,), later=(going,), traits=("outgoing",),
    )  # fmt: skip
    assert react(given, DICE).stroke is None


def test_what_was_only_recalled_brings_nobody_to_an_event() -> None:
    given = sample.reaction(
        sample.news("doing", "Jun Park is reading.", who="jun"),
        facts=(sample.FESTIVAL,), recalled=(sample.said(3, sample.FESTIVAL.tell[0], 500, facts=FACT),),
    )  # fmt: skip
    assert react(given, DICE).stroke is None


@pytest.mark.parametrize("sky", ["rain", "storm", "snow"])
def test_rain_drives_indoors(sky: str) -> None:
    given = sample.reaction(
        sample.news("weather", "It begins to rain.", 61, Sky(sky=sky, old="cloudy")),
        situation=sample.here(sky=sky, place=sample.PLACES[2]),
        now=ItemNote(
            start="09:00", minutes=60, location="plaza", location_name="Lattice Plaza", do="playing chess", outdoor=True
        ),
    )
    answer = react(given, DICE)
    assert answer.decision == "go" and answer.stroke is not None and answer.stroke.because == (61,)
    assert not next(spot for spot in sample.PLACES if spot.id == answer.stroke.location).outdoor


def test_whoever_has_waited_for_rain_to_pass_today_stays_out_in_the_next_shower() -> None:
    given = sample.reaction(
        sample.news("weather", "It begins to rain.", 61, Sky(sky="rain", old="cloudy")),
        situation=sample.here(sky="rain", place=sample.PLACES[2]),
        now=ItemNote(start="09:00", minutes=60, location="plaza", location_name="Lattice Plaza", do="playing chess"),
    )
    waited = PastNote(kind="did", topic="sheltering from the storm", minutes_ago=90, because=(9,))
    again = react(changed(given, past=Past(notes=(waited,))), DICE)
    assert (again.decision, again.reason) == ("keep", "I have waited for enough rain today")
    yesterday = changed(waited, minutes_ago=24 * 60)
    assert react(changed(given, past=Past(notes=(yesterday,))), DICE).decision == "go"


def test_rain_is_nothing_to_somebody_indoors_or_wet_already() -> None:
    indoors = sample.news("weather", "It begins to rain.", 61, Sky(sky="rain", old="cloudy"))
    assert react(sample.reaction(indoors, situation=sample.here(sky="rain")), DICE).stroke is None
    still = sample.news("weather", "It begins to rain.", 61, Sky(sky="rain", old="storm"))
    outdoors = sample.here(sky="rain", place=sample.PLACES[2])
    assert react(sample.reaction(still, situation=outdoors), DICE).stroke is None


def struck(*traits: str, text: str = "The power goes out in the noodle bar.", work: str = "") -> Stroke | None:
    news = sample.news("event", text, 61, Befell(text=text))
    alone = changed(sample.here(), people=())
    given = sample.reaction(news, situation=alone, traits=traits)
    if work:
        given = changed(given, who=changed(given.who, work=work))
    answer = react(given, DICE)
    assert answer.because == (61,)
    return answer.stroke


def test_an_event_is_met_by_temper() -> None:
    cook, brave, careful = struck("brisk"), struck("brave", text="A bell rings."), struck("timid", text="A bell rings.")
    assert cook and "candle" in cook.do
    assert brave and careful and brave.do != careful.do
    assert all(stroke.because == (61,) and 15 <= stroke.minutes <= 40 for stroke in (cook, brave, careful))


def test_sleepers_notice_nothing() -> None:
    asleep = ItemNote(
        start="22:00", minutes=480, location="loft", location_name="Mira's Loft", do="sleeping", asleep=True
    )
    given = sample.reaction(sample.news("arrived", "Jun Park comes in.", who="jun"), now=asleep)
    assert react(given, DICE).decision == "keep"


@pytest.mark.parametrize(("act", "decision"), [("ask.topic", "talk"), ("tell", "keep")])
def test_who_goes_to_bed_answers_a_question_first(act: str, decision: str) -> None:
    asleep = ItemNote(
        start="22:00", minutes=480, location="loft", location_name="Mira's Loft", do="sleeping", asleep=True
    )
    lines = (Spoken(speaker="jun", called="Jun", text="I came about the rotor.", speech_act=act, topic="the rotor"),)
    spoken = sample.news("said", "…", who="jun", to_me=True)
    assert react(sample.reaction(spoken, lines=lines, floor=True, now=asleep), DICE).decision == decision


def test_only_who_has_the_floor_replies() -> None:
    lines = (Spoken(speaker="jun", called="Jun", text="My rotor is bent again."),)
    spoken = sample.news("said", "Jun Park says: “My rotor is bent again.”", who="jun", to_me=True)
    assert react(sample.reaction(spoken, lines=lines, floor=True), DICE).purpose == "reply"
    assert react(sample.reaction(spoken, lines=(*lines, lines[0]), floor=False), DICE).purpose != "reply"


def test_talks_come_to_an_end() -> None:
    lines = tuple(Spoken(speaker=("jun", "mira")[n % 2], called="", text="My rotor is bent again.") for n in range(11))
    spoken = sample.news("said", "…", who="jun", to_me=True)
    assert react(sample.reaction(spoken, lines=lines, floor=True), DICE).purpose == "farewell"


def test_a_nod_answers_no_nod() -> None:
    acts = ("tell", "acknowledge", "acknowledge")
    lines = tuple(
        Spoken(speaker=("jun", "mira")[n % 2], called="", text=f"Well, {n}.", speech_act=act)
        for n, act in enumerate(acts)
    )
    spoken = sample.news("said", "…", who="jun", to_me=True)
    assert react(sample.reaction(spoken, lines=lines, floor=True), DICE).decision == "keep"
    assert react(sample.reaction(spoken, lines=lines[:1], floor=True), DICE).decision == "talk"


@pytest.mark.parametrize(("act", "speaks"), [("tell", False), ("acknowledge", True)])
def test_whoever_has_come_to_see_somebody_waits_until_their_talk_rests(act: str, speaks: bool) -> None:
    jun = changed(sample.jun(), talk="other")
    matter = GoalNote(
        id="g1", kind="visit", text="see Jun", person="jun", called="Jun", act="apologise", because=(4,)
    )  # fmt: skip
    item = ItemNote(
        start="09:00", minutes=60, location="bar", location_name="Mira's Noodle Bar", do="dropping in", because=(4,)
    )
    heard = sample.news("said", "…", who="jun", to_me=False, happening=Said(quote="Well, well.", speech_act=act))
    given = sample.reaction(heard, situation=sample.here(people=(jun,)), now=item, goals=(matter,))
    assert (react(given, DICE).reason.endswith("see Jun")) == speaks


def test_what_one_has_let_pass_is_not_taken_up_later() -> None:
    lines = (Spoken(speaker="jun", called="Jun", text="My rotor is bent again.", speech_act="complain"),)
    assert react(sample.reaction(lines=lines, floor=True), DICE).decision == "keep"
    asked = (Spoken(speaker="jun", called="Jun", text="Is it bent?", speech_act="ask"),)
    assert react(sample.reaction(lines=asked, floor=True), DICE).decision == "talk"


@pytest.mark.parametrize(("act", "turns"), [("acknowledge", True), ("tell", False), ("complain", False)])
def test_one_turns_to_somebody_else_only_when_the_talk_has_come_to_rest(act: str, turns: bool) -> None:
    lines = tuple(
        Spoken(speaker=("mira", "jun")[n % 2], called="", text=f"Well, {n}.", speech_act=("tell", act)[n % 2])
        for n in range(4)
    )
    third = changed(sample.jun(), id="suki", name="Suki Bell", called="Suki", talk="mine")
    here = sample.here(people=(changed(sample.jun(), talk="mine"), third))
    spoken, targets = sample.news("said", "…", who="jun", to_me=True), set[str]()
    for tick in range(20):
        dice = Dice((7, "mira", tick, 0))
        targets.add(react(sample.reaction(spoken, situation=here, lines=lines, floor=True), dice).target)
    assert ("suki" in targets) == turns


def test_most_farewells_are_answered_without_a_word() -> None:
    spoken, decided = sample.news("said", "…", who="jun", to_me=True), list[str]()
    for number in range(100):
        opened = Spoken(speaker="mira", called="Mira", text=f"Hello {number}.")
        leaves = Spoken(speaker="jun", called="Jun", text="See you, Mira.", speech_act="farewell")
        decided.append(react(sample.reaction(spoken, lines=(opened, leaves), floor=True), DICE).decision)
    assert set(decided) == {"keep", "talk"} and 70 <= decided.count("keep") <= 90, decided.count("keep")


def test_two_who_have_just_talked_leave_each_other_in_peace() -> None:
    people = (sample.jun(80, since=20),)
    for tick in range(40):
        given = sample.reaction(
            sample.news("doing", "Jun Park is reading.", who="jun"), situation=sample.here(people=people)
        )
        assert react(given, Dice((7, "mira", tick, 0))).decision == "keep"


def test_friends_who_meet_mostly_speak_and_only_one_of_them_begins() -> None:
    spoke = 0
    for hour in range(8, 20):
        situation = sample.here(f"{hour:02d}:00", people=(sample.jun(80),))
        given = sample.reaction(
            sample.news("arrived", "Jun Park comes in.", who="jun"), situation=situation, traits=("outgoing",)
        )
        mine = react(given, DICE).decision == "talk"
        me = changed(given.who, id="jun")
        you = changed(sample.jun(80), id="mira")
        news = sample.news("doing", "Mira Sato is cooking.", who="mira")
        other = changed(given, who=me, news=(news,), situation=changed(situation, people=(you,)))
        theirs = react(other, Dice((7, "jun", 12, 0))).decision == "talk"
        assert not (mine and theirs)
        spoke += mine or theirs
        on_the_way = sample.here(f"{hour:02d}:00", people=(changed(sample.jun(80), walking=True),))
        assert react(changed(given, situation=on_the_way), DICE).decision != "talk"
    assert spoke >= 5


def test_who_cannot_stand_somebody_keeps_away() -> None:
    given = sample.reaction(
        sample.news("arrived", "Jun Park comes in.", who="jun"), situation=sample.here(people=(sample.jun(-50),))
    )
    assert react(given, DICE).decision == "avoid"


@pytest.mark.parametrize(
    "text", ["I could polish the lamp.", "You'd better polish the lamp!", "Perhaps I ought to polish the lamp"]
)
def test_an_inner_voice_need_not_be_a_command(text: str) -> None:
    answer = react(sample.reaction(sample.news("voice", text, 70, Voiced(text=text))), DICE)
    assert answer.stroke is not None and answer.stroke.do == "polishing the lamp"


def test_an_inner_voice_is_obeyed() -> None:
    text = "Go to the Canal Walk."
    given = sample.reaction(sample.news("voice", text, 70, Voiced(text=text)))
    answer = react(given, DICE)
    assert answer.decision == "go" and answer.stroke is not None
    assert answer.stroke.location == "canal" and answer.stroke.do == "going to the Canal Walk"
    text = "Talk to Jun."
    answer = react(sample.reaction(sample.news("voice", text, 70, Voiced(text=text))), DICE)
    assert answer.decision == "talk" and answer.target == "jun"


def talk(**more: Any) -> ConverseInput:
    given = {"who": sample.mira(), "situation": sample.here(), "hearer": sample.jun(40), "purpose": "tell", **more}
    return ConverseInput(**given)


def told(text: str, **more: Any) -> ReactOutput:
    return react(sample.reaction(sample.news("voice", text, 70, Voiced(text=text)), **more), DICE)


def test_an_inner_voice_that_is_refused_is_refused_with_a_reason() -> None:
    answer = told("Smash the kettle.")
    assert (answer.decision, answer.stroke) == ("keep", None)
    assert answer.reason == "that is not something I would do"
    assert told("Thank Jun.", situation=sample.here(people=(sample.jun(-60),))).reason.endswith("to Jun")


def test_somebody_who_is_not_here_is_looked_for() -> None:
    memory = sample.said(3, "My rotor is bent again.", 30, who="jun")
    alone = changed(sample.here(), people=())
    answer = told("Tell Jun that the tram is late.", situation=alone, recalled=(memory,))
    assert answer.stroke is not None and answer.stroke.do == "looking for Jun" and answer.stroke.because == (70,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Tell Jun that you are tired of the rain", "I am tired of the rain."),
        ("You should ask Jun to mend the lamp.", "Would you mend the lamp?"),
        ("ask Jun whether he can whistle", "Can you whistle?"),
        ("Invite Jun to the noodle bar", "Would you come to the noodle bar with me?"),
    ],
)
def test_a_thought_is_said_to_the_one_it_names(text: str, said: str) -> None:
    thought = sample.memory(70, text, 5, happening=Voiced(text=text))
    given = talk(recalled=(thought,), purpose="tell")
    line = converse(given, DICE)
    assert (line.utterance, line.because) == (said, (70,))
    assert converse(changed(given, said=(said,)), DICE).utterance != said


def test_of_two_who_notice_something_one_says_a_word_to_the_other() -> None:
    text = "A violinist plays in the square."
    news = sample.news("event", text, 61, Befell(text=text))
    jun = changed(sample.jun(40), can_be_spoken_to=True)
    mira = react(sample.reaction(news, situation=sample.here(people=(jun,))), DICE)
    happened = sample.memory(61, text, 0, happening=Befell(text=text))
    if mira.decision == "talk":
        assert mira.target == "jun" and mira.because == (61,)
    else:
        assert mira.because == (61,)
    line = converse(talk(recalled=(happened,), purpose="tell"), DICE)
    assert line.because == (61,) and "violinist" in line.topic and line.utterance


def crowd(size: int) -> list[ReactInput]:
    """The same event as each of so many people in one place sees it."""
    people = [
        Person(id=f"p{n}", name=f"P{n} Q", called=f"P{n}", can_be_spoken_to=True, warmth=n % 30) for n in range(size)
    ]
    text = "A violinist begins to play beside the fountain."
    at = ItemNote(start="09:00", minutes=60, location="plaza", location_name="Lattice Plaza", do="eating a sandwich")
    inputs = [
        sample.reaction(
            sample.news("event", text, 61, Befell(text=text, areas="plaza")),
            situation=sample.here(place=sample.PLACES[2], people=tuple(one for one in people if one is not me)),
            now=at,
        )
        for me in people
    ]
    names = [{"id": me.id, "name": me.name, "called": me.called} for me in people]
    return [changed(given, who=changed(given.who, **name)) for given, name in zip(inputs, names, strict=True)]


def test_an_event_changes_the_plans_of_all_of_a_few_and_of_a_few_of_a_crowd() -> None:
    changed = {}
    for size in (3, 40):
        answers = [react(given, Dice((7, given.who.id, 3))) for given in crowd(size)]
        changed[size] = sum(1 for answer in answers if answer.stroke is not None)
        talked = sum(1 for answer in answers if answer.decision == "talk")
        assert size == 3 or talked >= 1
    assert changed[3] == 3
    assert 1 <= changed[40] <= 8


def test_an_event_elsewhere_concerns_who_is_named_or_lives_there() -> None:
    text = "Smoke comes out of the loft."
    far = Befell(text=text, areas="loft")
    plaza = ItemNote(start="09:00", minutes=60, location="plaza", location_name="Lattice Plaza", do="eating a sandwich")
    given = sample.reaction(
        sample.news("event", text, 61, far), situation=sample.here(place=sample.PLACES[2]), now=plaza
    )
    assert react(given, DICE).stroke is not None  # her home
    other = changed(given, who=changed(given.who, home="workshop"))
    assert react(other, DICE).stroke is None
    named = sample.news("event", f"{text} Mira is asked for.", 61, changed(far, text=f"{text} Mira is asked for."))
    assert react(changed(other, news=(named,)), DICE).stroke is not None


def _missing_jun(place: str = "", time: str = "", number: int = 1) -> GoalNote:
    return GoalNote(
        id=f"visit/jun/{number}", kind="visit", text="drop in on Jun", person="jun", called="Jun", place=place,
        time=time, minutes=600, because=(7,),
    )  # fmt: skip


def _told(quote: str, act: str = "tell") -> Said:
    return Said(who="pip", called="Pip", to_me="1", quote=quote, speech_act=act)


def test_who_hears_of_somebody_they_have_been_meaning_to_see_goes_to_see_them_later_that_day() -> None:
    quote = "Jun has a new rotor, and tells everybody."
    line = sample.news("said", f'Pip Adeyemi says: "{quote}"', 61, _told(quote), who="pip", to_me=True)
    strokes = [
        react(sample.reaction(line, goals=(_missing_jun("plaza", "14:10", number),)), DICE).stroke
        for number in range(20)
    ]
    found = [stroke for stroke in strokes if stroke is not None]
    assert 8 <= len(found) < 20
    assert {(stroke.start, stroke.location, stroke.because) for stroke in found} == {("14:10", "plaza", (61, 7))}
    planned = ItemNote(start="13:00", minutes=90, location="plaza", location_name="Plaza", do="drop in", because=(7,))
    beside = sample.news("said", line.text, 61, _told(quote), who="pip")
    for number in range(20):
        later = _missing_jun("plaza", "14:10", number)
        for given in (
            sample.reaction(line, goals=(_missing_jun(number=number),)),
            sample.reaction(line, goals=(later,), later=(planned,)),
            sample.reaction(beside, goals=(later,)),
        ):
            assert react(given, DICE).stroke is None


def test_who_does_not_find_the_one_they_came_to_see_asks_after_them_and_goes_where_they_were_seen() -> None:
    here = ItemNote(
        start="09:00", minutes=60, location="bar", location_name="Mira's Noodle Bar", do="dropping in", because=(7,)
    )
    pip = Person(id="pip", name="Pip Adeyemi", called="Pip", warmth=50, can_be_spoken_to=True)
    given = sample.reaction(
        sample.news("doing", "Pip is here.", 60, who="pip"), situation=sample.here(people=(pip,)), now=here,
        goals=(_missing_jun(),),
    )  # fmt: skip
    answers = [react(given, DICE.with_(str(number))) for number in range(20)]
    assert {answer.target for answer in answers if answer.purpose == "seek"} == {"pip"}
    asked = Spoken(speaker="mira", called="Mira", text="Have you seen Jun?", speech_act="ask.seen", topic="Jun")
    for seen, place in (("just now", "plaza"), ("last week", "")):
        quote = f"I saw Jun at Lattice Plaza {seen}."
        said = Spoken(speaker="pip", called="Pip", text=quote, speech_act="answer")
        answer = react(
            sample.reaction(
                sample.news("said", quote, 61, _told(quote, "answer"), who="pip", to_me=True),
                situation=sample.here(people=(pip,)), now=here, goals=(_missing_jun(),), floor=True,
                lines=(asked, said),
            ),
            DICE,
        )  # fmt: skip
        assert (answer.stroke.location if answer.stroke else "") == place
        assert not answer.stroke or answer.stroke.because == (61, 7)
