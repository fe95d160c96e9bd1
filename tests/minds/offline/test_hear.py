"""A line is understood by the act and the topic its speaker gave it; by its words only where there are none."""

from __future__ import annotations

import pytest

from commonplace.minds.notes import Spoken
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.hear import ACTS, heard, remembered, understood
from commonplace.minds.tasks import ConverseInput
from minds.offline import sample

DICE = Dice((7, "mira", 12, 0))


def spoken(text: str, act: str = "", topic: str = "") -> Spoken:
    return Spoken(speaker="jun", called="Jun", text=text, speech_act=act, topic=topic)


def test_the_act_of_a_line_counts_and_not_its_words() -> None:
    line = heard(spoken("See you at the plaza?", "complain", "my roof"), "en")
    assert (line.act, line.topic, line.asks) == ("complain", "your roof", False)
    frame = {"what": "said", "quote": "See you.", "speech_act": "ask.going", "topic": "the lantern festival"}
    assert remembered(frame, "en").asks and remembered(frame, "en").topic == "the lantern festival"


def test_every_act_of_the_grammar_is_one_of_the_set() -> None:
    used = {template.act for templates in grammar("en").rules.values() for template in templates}
    assert used - {""} <= ACTS


def test_every_question_back_says_what_it_asks() -> None:
    for name, templates in grammar("en").rules.items():
        if name.startswith("follow."):
            assert all(template.act.startswith("ask.") for template in templates), name


@pytest.mark.parametrize(
    ("text", "act", "topic"),
    [
        ("Hello, Mira!", "greet", ""),
        ("I really must run. Goodbye, Mira.", "farewell", ""),
        ("Thank you for the soup.", "thank", "the soup"),
        ("Leave me alone.", "snub", ""),
        ("My roof is leaking and I am worried about my books.", "complain", "your roof"),
        ("There is a concert at the hall on Friday. Will you come?", "invite", "the concert"),
        ("Are you going to the concert?", "ask.going", "the concert"),
        ("How are you?", "ask.well", ""),
        ("Who told you?", "ask.who", ""),
        ("Can I help?", "ask.help", ""),
        ("What colour is the sky on the moon?", "ask", "the sky"),
        ("I see.", "acknowledge", ""),
        ("Count me in.", "accept", ""),
        ("Sorry, I'm afraid I can't.", "decline", ""),
        ("Maybe.", "hesitate", ""),
        ("The ferry was so late that I read the whole newspaper.", "tell", "the ferry"),
    ],
)
def test_words_without_an_act_are_understood(text: str, act: str, topic: str) -> None:
    line = understood(text, "en")
    assert (line.act, line.topic) == (act, topic)
    assert line.act in ACTS


def test_a_line_goes_out_with_its_act_and_its_topic() -> None:
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], frame={"what": "seed", "topic": "broth"})
    given = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="tell", recalled=(tell,)
    )
    said = converse(given, DICE)
    assert (said.speech_act, said.topic) == ("tell", "my grandmother's broth")


@pytest.mark.parametrize(("act", "answer"), [("farewell", "farewell"), ("ask.well", "ask.well"), ("snub", "answer")])
def test_the_reply_goes_by_the_act(act: str, answer: str) -> None:
    """The same words, said to do different things, are answered differently."""
    words = "Well, that's it."
    reply = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="reply",
        recalled=(sample.said(9, words),), lines=(spoken(words, act),),
    )  # fmt: skip
    said = converse(reply, DICE)
    assert said.because == (9,)
    if act == "farewell":
        assert said.ends
    else:
        assert not said.ends
