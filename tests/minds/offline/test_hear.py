"""A line is understood by the act and the topic its speaker gave it; by its words only where there are none."""

from __future__ import annotations

import pytest

from commonplace.languages.ko.grammar import POLITE
from commonplace.minds.notes import Recalled, Spoken, changed
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import heard, remembered, understood
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.world.happenings import ACTS, Said, Seed
from minds.offline import sample

DICE = Dice((7, "mira", 12, 0))


def spoken(text: str, act: str = "", topic: str = "") -> Spoken:
    return Spoken(speaker="jun", called="Jun", text=text, speech_act=act, topic=topic)


def test_the_act_of_a_line_counts_and_not_its_words() -> None:
    line = heard(spoken("See you at the plaza?", "complain", "my roof"), "en")
    assert (line.act, line.topic, line.asks) == ("complain", "your roof", False)
    line = Said(quote="See you.", speech_act="ask.going", topic="the lantern festival")
    assert remembered(line, "en").asks and remembered(line, "en").topic == "the lantern festival"


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
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth"))
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


@pytest.mark.parametrize(("sort", "act"), [("", "tell"), ("joke", "tell.joke"), ("worry", "complain")])
def test_a_line_says_what_sort_of_thing_it_tells(sort: str, act: str) -> None:
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth", sort=sort))
    given = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="tell", recalled=(tell,)
    )
    assert converse(given, DICE).speech_act == act


def test_the_sort_of_a_line_is_the_one_given_else_that_of_its_words() -> None:
    assert heard(spoken("It stopped at seven.", "tell.loss"), "en").kind == "loss"
    assert heard(spoken("Nobody knows: it is a secret.", "tell"), "en").kind == "secret"
    assert heard(spoken("할머니는 작년에 돌아가셨어요.", "tell"), "ko").kind == "loss"
    assert heard(spoken("It is a plain day.", "tell"), "en").kind == "tell"


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("sort", ["loss", "concern", "wish", "fond", "tease", "joke", "puzzle", "view"])
def test_the_reply_goes_by_the_sort_of_what_is_told(language: str, sort: str) -> None:
    fitting = _beginnings(language, f"react.{sort}")
    for number in range(12):
        said = _reply(language, f"tell.{sort}", number)
        assert said.utterance.startswith(fitting), said.utterance


@pytest.mark.parametrize("language", ["en", "ko"])
def test_nobody_asks_back_after_a_joke(language: str) -> None:
    acts = {_reply(language, "tell.joke", number).speech_act for number in range(12)}
    assert not any(act.startswith("ask") for act in acts)
    assert any(_reply(language, "tell.loss", number).speech_act == "ask.feel" for number in range(12))


def test_whoever_is_asked_for_more_tells_the_rest_or_says_that_it_is_all() -> None:
    rest = sample.memory(3, "Seed", tell=("그 솥은 십 년 됐어요.",), happening=Seed(topic="솥"))
    assert "십 년" in _reply("ko", "ask.more", 1, rest, topic="솥").utterance
    fitting = _beginnings("ko", "answer.more_none")
    assert _reply("ko", "ask.more", 1, topic="솥").utterance.startswith(fitting)


def _reply(language: str, act: str, number: int, *recalled: Recalled, topic: str = "") -> ConverseOutput:
    words = "그건 그래요." if language == "ko" else "Well, that's it."
    given = ConverseInput(
        who=changed(sample.mira(), language=language), situation=sample.here(), hearer=sample.jun(),
        purpose="reply", recalled=(sample.said(9, words), *recalled), lines=(spoken(words, act, topic),),
    )  # fmt: skip
    return converse(given, Dice((7, "mira", 12, number)))


def _beginnings(language: str, rule: str) -> tuple[str, ...]:
    """What the wordings of a rule begin with, before their first slot."""
    rules = grammar(language, POLITE if language == "ko" else "").rules
    return tuple(text for one in rules[rule] if (text := one.pieces[0].strip()))
