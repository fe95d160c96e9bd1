"""What is said rests on memories, is never said twice, and is English."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.notes import GoalNote, ItemNote, Spoken, changed
from commonplace.minds.offline import OfflineMind
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import CONVERSE, ConverseInput, ConverseOutput
from commonplace.world.happenings import Befell, Read, Seed
from minds.offline import sample
from sizes import examples

DICE = Dice((7, "mira", 12, 0))

FAULTS = {
    "a slot left open": re.compile(r"[{}~]"),
    "two spaces": re.compile(r"  "),
    "a before a vowel": re.compile(r"\b[Aa] (?=[aeio])(?!one\b)"),
    "an before a consonant": re.compile(r"\b[Aa]n (?=[bcdfgjklmnpqrstvwxyz])"),
    "a lower-case beginning": re.compile(r"^[a-z]|[.!?] [a-z]"),
    "a doubled word": re.compile(r"\b(\w+) \1\b(?<!had had)(?<!that that)", re.IGNORECASE),
    "a space before a stop": re.compile(r" [,.!?;:]"),
    "two stops": re.compile(r"[.,!?;:]{2}(?<!\.\.)"),
    "the the": re.compile(r"\b(the|a|my|your) (the|a|my|your)\b", re.IGNORECASE),
    "internals": re.compile(r"\b(importance|memory|lantern_festival|None)\b"),
    "an article before a name with an owner": re.compile(r"\bthe (Mira|Jun)'s"),
    "the speaker in the third person": re.compile(r"\bMira\b(?!')"),
}


def line(given: ConverseInput, dice: Dice = DICE) -> ConverseOutput:
    return converse(given, dice)


@examples(300)
@given(sample.talks())
def test_a_line_is_english(talk: ConverseInput) -> None:
    for tick in range(3):
        said = line(talk, Dice((7, "mira", tick, 0))).utterance
        if said:
            own = sample.TELLS + tuple(one.text for one in talk.lines)
            checked = said.replace("I'm Mira", "").replace("Mira, that's me", "").replace("Permit me: Mira", "")
            found = [name for name, fault in FAULTS.items() if fault.search(checked)]
            assert not found, (found, said, own)
            assert said[-1] in ".!?", said
            assert len(said) <= 400


@examples(300)
@given(sample.talks())
def test_hiding_the_cited_memories_changes_the_line(talk: ConverseInput) -> None:
    said = line(talk)
    if not said.utterance:
        return
    assert said.because, said
    assert set(said.because) <= {one.id for one in talk.recalled}
    hidden = changed(talk, recalled=tuple(one for one in talk.recalled if one.id not in said.because))
    assert line(hidden).utterance != said.utterance


@examples(200)
@given(sample.talks())
def test_the_same_request_gives_the_same_line(talk: ConverseInput) -> None:
    mind, request_key = OfflineMind(), RequestKey(7, "mira", 12, 0)
    assert mind.answer(Ask(CONVERSE, talk), request_key) == OfflineMind().answer(Ask(CONVERSE, talk), request_key)


@examples(150)
@given(sample.talks())
def test_nothing_is_said_twice_to_the_same_hearer(talk: ConverseInput) -> None:
    said: list[str] = list(talk.said)
    for tick in range(8):
        one = line(changed(talk, said=tuple(said)), Dice((7, "mira", tick, 0))).utterance
        if one:
            assert one not in said
            said.append(one)


@examples(200)
@given(sample.talks())
def test_the_hearer_is_never_told_what_they_told(talk: ConverseInput) -> None:
    theirs = sample.said(70, sample.FESTIVAL.tell[0], 300, facts=(sample.FESTIVAL.id,))
    told = changed(talk, recalled=(theirs,), lines=(), said=(), told=())
    said = line(told)
    assert not any(tell in said.utterance for tell in sample.FESTIVAL.tell)
    assert not said.facts


def talk(*recalled: object, **more: object) -> ConverseInput:
    person = sample.jun()
    base = {
        "who": sample.mira("kind"), "situation": sample.here(), "hearer": person, "purpose": "greet",
        "recalled": recalled, "facts": (sample.FESTIVAL,),
    }  # fmt: skip
    return ConverseInput(**(base | more))  # type: ignore[arg-type]


def opening(*recalled: object, **more: object) -> ConverseOutput:
    return line(talk(*recalled, **more))


def test_what_a_rule_lets_one_say_comes_before_anything_else_unless_the_hearer_has_heard_it() -> None:
    heard = sample.said(7, "The pot is leaking again.")
    said = Spoken(speaker="jun", called="Jun", text=heard.happening.quote, speech_act="complain", rules=("Poor pot.",))
    reply = talk(heard, purpose="reply", lines=(said,))
    assert line(reply).utterance == "Poor pot."
    assert line(changed(reply, said=("Poor pot.",))).utterance != "Poor pot."


def test_with_nothing_remembered_nothing_is_said() -> None:
    assert opening().utterance == ""


def test_what_the_hearer_did_is_put_to_them_in_the_second_person() -> None:
    said = opening(sample.doing(3, "jun", "looking for his keys"))
    assert "your keys" in said.utterance
    assert said.because == (3,)


def test_what_somebody_else_did_is_told_in_the_third() -> None:
    said = opening(sample.doing(3, "kit", "looking for his keys", pronoun="he"))
    assert "Kit" in said.utterance and "looking for his keys" in said.utterance.lower()


def test_one_passes_a_fact_on_in_words_that_carry_it_and_invites_when_one_goes() -> None:
    heard_it = sample.said(4, sample.FESTIVAL.tell[1], 200, who="kit", facts=(sample.FESTIVAL.id,))
    said = opening(heard_it, purpose="tell")
    assert any(tell in said.utterance for tell in sample.FESTIVAL.tell)
    assert said.facts == (sample.FESTIVAL.id,) and said.because == (4,)


@pytest.mark.parametrize("goes", [True, False])
def test_an_invitation_is_answered_by_the_plan(goes: bool) -> None:
    ask = f"{sample.FESTIVAL.tell[0]} Will you come?"
    going = "going to the lantern festival"
    item = ItemNote(start="18:45", minutes=150, location="plaza", location_name="Lattice Plaza", do=going)
    said = opening(
        sample.said(9, ask, facts=(sample.FESTIVAL.id,)),
        lines=(Spoken(speaker="jun", called="Jun", text=ask),), purpose="reply", later=(item,) if goes else (),
    )  # fmt: skip
    assert (said.speech_act == "accept") is goes, said


def test_without_the_memory_of_hearing_a_line_one_has_missed_it() -> None:
    lines = (Spoken(speaker="jun", called="Jun", text="My rotor is bent again."),)
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth"))
    with_it = opening(sample.said(9, lines[0].text), tell, lines=lines, purpose="reply")
    without = opening(tell, lines=lines, purpose="reply")
    assert 9 in with_it.because and with_it.utterance != without.utterance


def test_one_says_goodbye_once_more_and_ends() -> None:
    lines = (Spoken(speaker="jun", called="Jun", text="I should go. See you, Mira."),)
    said = opening(sample.said(9, lines[0].text), lines=lines, purpose="farewell")
    assert said.ends and said.speech_act == "farewell"


def ending(
    text: str, act: str, *recalled: object, time: str = "15:00", dice: Dice = DICE, **more: object
) -> ConverseOutput:
    """The end of a talk of eight lines, of which the last is this one."""
    lines = tuple(
        Spoken(speaker=("mira", "jun")[n % 2], called="", text=text if n == 7 else f"Line {n}.", speech_act=act)
        for n in range(8)
    )
    elsewhere = ItemNote(
        start="15:20", minutes=60, location="plaza", location_name="Lattice Plaza", do="sweeping leaves"
    )
    busy = ItemNote(
        start="14:00", minutes=80, location="bar", location_name="Mira's Noodle Bar", do="skimming the broth"
    )
    given: dict[str, object] = {
        "lines": lines, "purpose": "farewell", "situation": sample.here(time), "now": busy, "later": (elsewhere,),
    }  # fmt: skip
    return line(talk(sample.said(9, text), *recalled, **(given | more)), dice)


def test_a_talk_ends_on_a_word_about_what_was_told_and_not_on_a_farewell() -> None:
    said = ending("My rotor is bent again.", "complain")
    assert said.utterance and said.ends and said.speech_act == "acknowledge"
    assert "plaza" not in said.utterance.lower()


def test_nobody_leaves_over_a_question() -> None:
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth"))
    said = ending("And what about the broth?", "ask.more", tell, time="12:00")
    assert said.utterance and said.ends and said.speech_act != "farewell"


@pytest.mark.parametrize(("time", "night"), [("21:50", False), ("22:00", True), ("03:50", True), ("04:00", False)])
def test_who_takes_leave_late_at_night_says_good_night(time: str, night: bool) -> None:
    wishes = {ending("Bye, Mira.", "farewell", time=time, dice=Dice((tick,))).utterance for tick in range(8)}
    assert all(bool(re.search(r"night|dreams|sleep", wish, re.IGNORECASE)) == night for wish in wishes), wishes
    assert bool(ending("I'd have done the same.", "acknowledge", time=time).utterance) == night


@pytest.mark.parametrize(("time", "parts"), [("12:00", False), ("15:00", True)])
def test_after_a_nod_one_names_an_appointment_elsewhere_or_says_nothing(time: str, parts: bool) -> None:
    said = ending("I'd have done the same.", "acknowledge", time=time)
    assert bool(said.utterance) == parts
    assert not parts or "Lattice Plaza" in said.utterance


def test_after_a_nod_another_subject_is_led_up_to_or_left_alone() -> None:
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth"))
    acts = ("tell", "answer", "acknowledge")
    texts = ("The fox is back.", "It was on the roof.", "Trust a fox.")
    lines = tuple(
        Spoken(speaker=("jun", "mira")[n % 2], called="", text=text, speech_act=act, topic="the fox")
        for n, (text, act) in enumerate(zip(texts, acts, strict=True))
    )
    given = talk(sample.said(9, texts[-1]), tell, lines=lines, purpose="reply")
    said = {line(given, Dice((7, "mira", tick, 0))).utterance for tick in range(30)}
    assert "" in said and len(said) > 3
    assert not [text for text in said if text.startswith(sample.TELLS[0][:10])]


@pytest.mark.parametrize("act", ["defy", "tell"])
def test_nobody_apologises_in_the_talk_in_which_they_have_refused_to(act: str) -> None:
    matter = GoalNote(
        id="g1", kind="visit", text="see Jun", person="jun", called="Jun", act="apologise", topic="kite", because=(4,)
    )  # fmt: skip
    lines = (
        Spoken(speaker="mira", called="Mira", text="I had my reasons.", speech_act=act),
        Spoken(speaker="jun", called="Jun", text="I see.", speech_act="acknowledge"),
    )
    said = opening(sample.said(9, "I see."), sample.memory(4, "…"), lines=lines, goals=(matter,), purpose="goal")
    assert (said.speech_act == "apologise") == (act == "tell"), said


def test_who_drops_in_has_something_to_tell_on_the_subject() -> None:
    text = "The broth was thin today."
    lines = (Spoken(speaker="jun", called="Jun", text=text, speech_act="tell", topic="the broth"),)
    heard = sample.said(9, text)
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth"))
    assert not opening(heard, lines=lines, purpose="join").utterance
    assert 2 in opening(heard, tell, lines=lines, purpose="join").because


def test_who_is_named_in_what_others_say_may_join_with_a_word_on_that() -> None:
    text = "Mira put salt in the tea again."
    lines = (Spoken(speaker="jun", called="Jun", text=text, speech_act="tell", topic="the tea"),)
    said = opening(sample.said(9, text), lines=lines, purpose="join")
    assert said.utterance and said.because == (9,) and said.topic == "the tea"


def test_a_silent_third_is_asked_about_something_of_theirs_or_left_in_peace() -> None:
    lines = (Spoken(speaker="suki", called="Suki", text="Well, well.", speech_act="acknowledge"),)
    theirs = sample.said(3, "I'm worried about the rotor.", 300)
    theirs = changed(theirs, happening=changed(theirs.happening, speech_act="complain", topic="your rotor"))
    said = opening(sample.said(9, lines[0].text), theirs, lines=lines, purpose="turn")
    assert "Jun" in said.utterance and said.speech_act.startswith("ask")
    assert not opening(sample.said(9, lines[0].text), lines=lines, purpose="turn").utterance


@pytest.mark.parametrize("number", range(2, 8))
def test_a_story_is_told_from_its_beginning(number: int) -> None:
    told = ("There's a letter behind my jar.", "That letter rattles.", "I dreamt of the letter.")
    story = sample.memory(number, "A letter has come.", tell=told, happening=Seed(topic="letter"))
    assert told[0] in opening(story).utterance
    begun = Spoken(speaker="mira", called="Mira", text=told[0], speech_act="tell", topic="the letter")
    asked = Spoken(speaker="jun", called="Jun", text="And then?", speech_act="ask.more", topic="the letter")
    assert told[1] in opening(story, lines=(begun, asked), purpose="reply").utterance


@pytest.mark.parametrize(("topic", "said"), [("kite", "the kite"), ("Jun's rotor", "your rotor"), ("Kit", "Kit")])
def test_a_matter_is_named_as_these_two_call_it(topic: str, said: str) -> None:
    matter = GoalNote(
        id="g1", kind="visit", text="see Jun", person="jun", called="Jun", act="ask.topic", topic=topic, because=(4,)
    )  # fmt: skip
    line = opening(sample.memory(4, "…"), goals=(matter,), purpose="goal")
    assert said in line.utterance and line.topic == said


def test_what_was_told_of_this_morning_is_not_told_the_day_after() -> None:
    befell = Befell(text="The frost comes.", event="frost", topic="frost", sort="joy")
    lines = ("First frost this morning.",)
    fresh, stale = (sample.memory(2, "The frost comes.", ago, tell=lines, happening=befell) for ago in (60, 1500))
    assert lines[0] in opening(fresh).utterance
    assert not opening(stale).utterance


@pytest.mark.parametrize(("form", "of"), [("letter", "letter"), ("notice", "notice board"), ("broadcast", "radio")])
def test_what_was_read_is_passed_on_in_its_own_words(form: str, of: str) -> None:
    words = "The ferry will not run on Monday."
    read = sample.memory(2, f"It says: “{words}”", 60, importance=6, happening=Read(quote=words, form=form))
    told = opening(read).utterance
    assert words.rstrip(".") in told
    assert any(one in told for one in of.split())
