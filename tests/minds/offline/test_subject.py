"""A talk stays with a subject: an author's replies, one's own on it, the rest of it when asked, words passed on."""

from __future__ import annotations

import pytest

from commonplace.languages.en.wording import at, noun_phrase, quotable
from commonplace.minds.notes import Person, Recalled, Spoken, changed
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.react import react
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.world.happenings import Befell, Seed
from minds.offline import sample

TOLD = "My roof has six leaks, and I have tuned the buckets."
REPLIES = ("I should like to hear that scale.", "Which leak is your favourite?")


def _answer(
    text: str, act: str, *recalled: Recalled, replies: tuple[str, ...] = (), topic: str = "", number: int = 1
) -> ConverseOutput:
    line = Spoken(speaker="jun", called="Jun", text=text, speech_act=act, topic=topic, replies=replies)
    given = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="reply", lines=(line,),
        recalled=(sample.said(9, text), *recalled),
    )  # fmt: skip
    return converse(given, Dice((number, "mira", 12, 1)))


def test_to_an_authors_line_the_authors_replies_are_said() -> None:
    said = [_answer(TOLD, "tell", replies=REPLIES, number=number) for number in range(12)]
    assert all(one.utterance.startswith(REPLIES) for one in said)
    asked = [one for one in said if one.utterance.startswith(REPLIES[1])]
    assert asked and all(one.speech_act == "ask.more" for one in asked)


def test_to_an_authors_question_the_authors_answer_is_given_once() -> None:
    told = sample.memory(3, "Seed", tell=(TOLD, "The roof was a boat once."), happening=Seed(topic="roof"))
    lines = [Spoken(speaker=sample.mira().id, called="Mira", text=TOLD, speech_act="tell", topic="roof")]
    answers = ("The sixth. It comes in late.",)
    question = {"speaker": "jun", "called": "Jun", "text": REPLIES[1], "speech_act": "ask.more", "topic": "roof"}
    given = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="reply",
        lines=(*lines, Spoken(**question, replies=answers)), recalled=(sample.said(9, REPLIES[1]), told),
    )  # fmt: skip
    for number in range(6):
        said = converse(given, Dice((7, "mira", 12, number)))
        assert said.utterance == answers[0] and set(said.because) >= {3, 9}
    again = changed(given, said=answers)
    assert converse(again, Dice((7, "mira", 12, 1))).utterance != answers[0]


def test_an_authors_answer_that_speaks_of_the_one_who_asks_is_not_given() -> None:
    told = sample.memory(3, "Seed", tell=("The roof was a boat once.",), happening=Seed(topic="roof"))
    answers = ("Only Jun knows, and he won't say.", "Somebody at the market knows.")
    said = _answer(REPLIES[1], "ask.more", told, replies=answers, topic="roof")
    assert said.utterance == answers[1]


def test_a_reply_that_was_said_in_the_talk_is_not_said_again() -> None:
    lines = tuple(
        Spoken(speaker=who, called=called, text=text, speech_act="tell", replies=replies)
        for who, called, text, replies in (
            ("kit", "Kit", REPLIES[0], ()), ("jun", "Jun", TOLD, REPLIES),
        )
    )  # fmt: skip
    given = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="reply", lines=lines,
        recalled=(sample.said(9, TOLD),),
    )  # fmt: skip
    assert not any(
        converse(given, Dice((7, "mira", 12, number))).utterance.startswith(REPLIES[0]) for number in range(8)
    )


def test_one_answers_with_something_of_ones_own_on_the_subject() -> None:
    own = sample.memory(
        3, "Seed", tell=("My roof keeps the rain out and the pigeons in.",), happening=Seed(topic="roof")
    )
    other = sample.memory(4, "Seed", tell=("I once won a goose.",), happening=Seed(topic="goose"))
    said = [_answer(TOLD, "tell", own, other, topic="my roof", number=number).utterance for number in range(12)]
    assert sum("pigeons" in one for one in said) > 4 and not any("goose" in one for one in said)


def test_asked_for_more_one_tells_the_rest_of_it() -> None:
    rest = sample.memory(3, "Seed", tell=("The roof was a boat once.",), happening=Seed(topic="roof"))
    for act in ("ask.more", "ask.topic", "ask.then", "ask.why"):
        assert "boat" in _answer("Tell me more about the roof.", act, rest, topic="the roof").utterance, act


def test_what_cannot_be_reported_is_passed_on_word_for_word() -> None:
    assert quotable("Well. Nobody has mended the hole in my roof.", "roof").startswith("Nobody")
    assert not quotable("You know what your roof needs.", "roof")
    assert not quotable("It leaks, the roof.", "roof")


def test_who_is_asked_how_they_are_answers_before_leaving() -> None:
    lines = tuple(
        Spoken(speaker=who, called=who.title(), text=f"Line {number}.", speech_act="tell")
        for number, who in enumerate(("jun", "mira") * 5)
    )
    asked = Spoken(speaker="jun", called="Jun", text="And how are you, Mira?", speech_act="ask.well")
    people = (Person(id="jun", name="Jun Park", called="Jun", warmth=40, can_be_spoken_to=True, talk="mine"),)
    given = sample.reaction(floor=True, lines=(*lines, asked), situation=sample.here(people=people))
    assert react(given, Dice((7, "mira", 12, 1))).purpose == "reply"


def test_a_verb_is_no_part_of_what_a_line_is_about() -> None:
    assert noun_phrase("My grandad coughs at night.", "cough") == "the cough"
    assert noun_phrase("The wall must mean a great deal to you.") == "the wall"
    assert noun_phrase("If arcade machines can be sad.", "arcade") == "the arcade"
    assert noun_phrase("I promised my mother never to gamble.", "promise") == "the promise"


def test_a_house_keeps_the_name_it_is_called_by() -> None:
    assert at("Kaya House") == "in the Kaya House"
    assert at("Noodle Bar") == "in the noodle bar"


def test_what_is_counted_is_not_without_an_article() -> None:
    assert noun_phrase("I've two regulars who haven't spoken for years.", "regulars") == "the regulars"
    assert noun_phrase("I prescribe sleep.", "sleep") == "sleep"


def _replied(recalled: tuple[Recalled, ...], *lines: Spoken, number: int = 1) -> ConverseOutput:
    given = ConverseInput(
        who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="reply", lines=lines, recalled=recalled
    )
    return converse(given, Dice((number, "mira", 12, 1)))


def test_an_answer_to_ones_own_question_gets_a_word_that_fits_an_answer() -> None:
    asked = Spoken(speaker=sample.mira().id, called="Mira", text=REPLIES[1], speech_act="ask.more", topic="roof")
    answer = Spoken(speaker="jun", called="Jun", text="The sixth.", speech_act="tell", topic="roof")
    fitting = [template.pieces[0] for template in grammar("en").rules["react.told"]]
    for number in range(8):
        said = _replied((sample.said(9, "The sixth."),), asked, answer, number=number).utterance
        assert any(said.startswith(text) for text in fitting), said


def test_no_question_follows_a_word_that_the_author_gave() -> None:
    told = Spoken(speaker="jun", called="Jun", text=TOLD, speech_act="tell", topic="roof", replies=REPLIES[:1])
    assert {_replied((sample.said(9, TOLD),), told, number=n).utterance for n in range(12)} == set(REPLIES[:1])


def test_a_word_on_what_both_noticed_fits_what_it_was() -> None:
    text = "The power goes out on the whole street."
    event = sample.memory(3, text, ago=1, happening=Befell(text=text))
    line = Spoken(
        speaker="jun", called="Jun", text="Are you still there?", speech_act="tell.noticed", topic=noun_phrase(text)
    )
    fitting = {template.pieces[0] for template in grammar("en").rules["react.noticed.dark"]}
    assert {_replied((sample.said(9, line.text), event), line, number=n).utterance for n in range(8)} <= fitting


@pytest.mark.parametrize(("beside", "is_said"), [("jun", True), ("kit", False)])
def test_those_who_both_notice_it_say_what_its_author_gave_for_there_and_then(beside: str, is_said: bool) -> None:
    given = ("Hush. It sings.", "That's an F, that is.")
    sings = Befell(text="The well sings.", areas="bar", there=beside, topic="well")
    event = sample.memory(3, "The well sings.", ago=5, happening=sings, tell=given)
    for number in range(6):
        inputs = ConverseInput(
            who=sample.mira(), situation=sample.here(), hearer=sample.jun(), purpose="tell", recalled=(event,)
        )
        said = converse(inputs, Dice((number, "mira", 12, 1)))
        assert said.because == (3,)
        assert (said.utterance in given and said.speech_act == "tell.noticed") == is_said
