"""Questions are answered from what one knows: one's own past, what one was told and what one overheard."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

import pytest

from commonplace.minds.mind import Decided
from commonplace.minds.notes import FactNote, Past, PastNote, Recalled, Spoken, changed
from commonplace.minds.offline.converse import decide
from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.world.happenings import Befell, Concluded, Did, Happening, Seed, Tried
from minds.offline import sample

PARTY = changed(sample.FESTIVAL, starts="2031-10-03T19:00:00")
"""The festival, last night."""
WENT = PastNote(kind="attended", topic=PARTY.id, text=PARTY.text, minutes_ago=800, because=(6,))


def replied(
    text: str,
    act: str,
    *recalled: Recalled,
    topic: str = "",
    past: tuple[PastNote, ...] = (),
    facts: tuple[FactNote, ...] = (sample.FESTIVAL,),
    tick: int = 12,
) -> ConverseOutput:
    """What Mira says to a line of Jun's."""
    return cast("ConverseOutput", decided(text, act, *recalled, topic=topic, past=past, facts=facts, tick=tick).value)


def decided(
    text: str,
    act: str,
    *recalled: Recalled,
    topic: str = "",
    past: tuple[PastNote, ...] = (),
    facts: tuple[FactNote, ...] = (sample.FESTIVAL,),
    tick: int = 12,
) -> Decided:
    """The same, with the rows that decided."""
    heard = recalled if any(one.happening.quote == text for one in recalled) else (sample.said(99, text), *recalled)
    given = ConverseInput(
        who=sample.mira("plain"), situation=sample.here(), hearer=sample.jun(), purpose="reply", recalled=heard,
        facts=facts, lines=(Spoken(speaker="jun", called="Jun", text=text, speech_act=act, topic=topic),),
        past=Past(notes=past),
    )  # fmt: skip
    return decide(given, Dice((7, "mira", tick, 0)))


@pytest.mark.parametrize("teller", ["jun", "kit"])
def test_news_that_another_told_a_moment_ago_is_none(teller: str) -> None:
    news, fact = sample.FESTIVAL.tell[0], sample.FESTIVAL.id
    before = sample.said(1, f"Listen. {news}", 5, who=teller, to_me=False, facts=(fact,))
    said = replied(news, "tell", sample.said(2, news, facts=(fact,)), before)
    assert (1 in said.because) == (teller == "kit"), said


@pytest.mark.parametrize(
    ("text", "act", "rows"),
    [
        ("Goodbye, Mira.", "farewell", "bye + leave.back"),
        ("How are you?", "ask.well", "answer + well"),
        ("Who told you that?", "ask.who", "answer + who.self"),
        ("My roof leaks again.", "complain", "taken_up + taken.back + react.complain"),
        (sample.FESTIVAL.tell[0], "tell", "news + news.new + follow.going + going.ask"),
    ],
)
def test_the_rows_of_a_reply_are_named_and_those_that_nearly_decided(text: str, act: str, rows: str) -> None:
    facts = (sample.FESTIVAL.id,) if act == "tell" else ()
    found = decided(text, act, sample.said(99, text, facts=facts)).row
    assert found["row"] == rows
    assert found["when"][0] == "spoken_to"
    assert len(found["nearly"]) == 2


@pytest.mark.parametrize("tick", range(4))
def test_who_was_at_an_event_says_so_though_no_memory_of_it_comes_back(tick: int) -> None:
    asked = ("How was the lantern festival?", "ask.event")
    there = replied(*asked, topic="the lantern festival", past=(WENT,), facts=(PARTY,), tick=tick)
    away = replied(*asked, topic="the lantern festival", facts=(PARTY,), tick=tick)
    assert 6 in there.because and 6 not in away.because
    assert there.utterance != away.utterance


def told(number: int, topic: str, text: str) -> Recalled:
    return sample.memory(number, "Seed", 5000, tell=(text,), happening=Seed(topic=topic))


@pytest.mark.parametrize("subject", ["kite", "cat"])
def test_who_is_asked_about_a_subject_tells_of_it_and_of_nothing_else(subject: str) -> None:
    own = told(3, subject, f"Somebody left a {subject} on the antenna, with a letter on it.")
    score = told(4, "high score", "Suki wants to know who's got the high score. I told her it was the mayor.")
    asked = (f"I've been meaning to ask you about the {subject}.", "ask.topic")
    said = replied(*asked, score, own, topic=f"the {subject}").utterance
    assert "on the antenna" in said and "mayor" not in said


def test_an_occasion_is_known_by_whatever_words_ask_for_it() -> None:
    asked = "You were there too, weren't you, watching the festival fill up with neighbours? Did you like it?"
    assert 6 in replied(asked, "ask.event", topic="the festival fill", past=(WENT,), facts=(PARTY,)).because


@pytest.mark.parametrize(("hours", "is_asked"), [(15, True), (72, False)])
def test_an_event_is_asked_about_on_the_day_after_and_not_for_a_week(hours: int, is_asked: bool) -> None:
    began = datetime.fromisoformat(sample.here("10:00").moment) - timedelta(hours=hours)
    over = changed(sample.FESTIVAL, starts=began.isoformat())
    heard = sample.said(4, over.tell[1], 60 * hours + 600, who="kit", facts=(over.id,))
    for tick in range(4):
        given = ConverseInput(
            who=sample.mira("plain"), situation=sample.here(), hearer=sample.jun(), purpose="greet",
            recalled=(heard,), facts=(over,),
        )  # fmt: skip
        said = cast("ConverseOutput", decide(given, Dice((7, "mira", tick, 0))).value)
        assert (said.speech_act == "ask.event") == is_asked, said


def test_who_has_nothing_of_their_own_on_a_subject_passes_on_what_was_said_of_it() -> None:
    heard = sample.said(5, "The canal stood at one metre forty this morning.", 600, who="kit", to_me=False)
    about = changed(heard, happening=changed(heard.happening, topic="the canal", to="lena"))
    spoken = PastNote(kind="told", other="jun", topic="canal", text="the canal", minutes_ago=500)
    said = replied(
        "I've been meaning to ask you about the canal.", "ask.topic", about, topic="the canal", past=(spoken,)
    )
    assert 5 in said.because
    assert "Kit" in said.utterance


LIVED = (
    sample.memory(5, "…", 8000, happening=Concluded(kind="haunt", say="I keep coming back to the canal.")),
    sample.memory(5, "…", 8000, happening=Befell(text="The canal rose over the steps in the night.")),
    sample.memory(5, "…", 8000, happening=Did(doing="measuring the canal with a stick")),
)


@pytest.mark.parametrize("memory", LIVED, ids=lambda one: type(one.happening).__name__)
def test_who_is_asked_tells_what_they_keep_to_themselves_and_what_was_long_ago(memory: Recalled) -> None:
    asked = replied("I've been meaning to ask you about the canal.", "ask.topic", memory, topic="the canal")
    other = replied("I've been meaning to ask you about the moon.", "ask.topic", memory, topic="the moon")
    assert 5 in asked.because
    assert "canal" in asked.utterance
    assert 5 not in other.because


SHARED = Befell(text="The power goes, street by street.", there="jun")
FAILED = Tried(
    who="kit", called="Kit", object_name="the pump", outcome="refused", why="The pump wants a new seal."
)  # fmt: skip


ANSWERS = [("power", SHARED, "yourself, jun. you could hear the stars"), ("pump", FAILED, "wants a new seal")]


@pytest.mark.parametrize(("topic", "happening", "told"), ANSWERS)
def test_who_is_asked_tells_what_both_saw_and_what_somebody_failed_at(
    topic: str, happening: Happening, told: str
) -> None:
    tell = ("You could hear the stars, I swear.",) if happening is SHARED else ()
    seen = sample.memory(5, "…", 600, happening=happening, tell=tell)
    said = replied(f"I've been meaning to ask you about the {topic}.", "ask.topic", seen, topic=f"the {topic}")
    assert 5 in said.because
    assert told in said.utterance.lower()
