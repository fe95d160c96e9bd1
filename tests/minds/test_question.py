"""What a question asks, whom, where and when it is about, and what a follow-up goes back to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.clock import WEEKDAYS
from commonplace.minds.notes import Spoken
from commonplace.minds.question import ASKER, Asked, Names, When, spoken_in, understood

PEOPLE = [
    ("jun", "Jun Park", "Jun", "he"), ("ada", "Ada Lund", "Ada", "she"), ("sora", "한소라", "소라", "she"),
    ("joon", "박준", "준", "he"),
]  # fmt: skip
PLACES = [("bar", "Mira's Noodle Bar"), ("plaza", "Lattice Plaza"), ("shop", "국숫집"), ("yard", "느티나무 마당")]
FACTS = {"festival": [["lantern", "등불"], ["festival", "축제"]]}


def asked(question: str, *lines: str) -> Asked:
    """The question after a talk; lines take turns, the asker's first."""
    talk = tuple(
        Spoken(speaker=("mira", ASKER)[index % 2 == 0], called="", text=text) for index, text in enumerate(lines)
    )
    names = Names(PEOPLE, PLACES, FACTS, weekday=6, weekdays=WEEKDAYS[spoken_in(question)])
    return understood(question, talk, names)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who are you?", "who"), ("Tell me about yourself.", "who"), ("What's your name?", "name"),
        ("What do you do for a living?", "work"), ("Where do you live?", "home"), ("What do you want?", "want"),
        ("What are you doing?", "now"), ("What are you doing tomorrow?", "plan"), ("Where are you?", "where"),
        ("What did you do today?", "day"), ("How was your day?", "day"), ("What will you do tonight?", "plan"),
        ("Who did you meet yesterday?", "met"), ("Where were you last night?", "whereabouts"),
        ("Whom do you know?", "people"), ("Who is your best friend?", "closest"), ("Who is Jun?", "whois"),
        ("What do you think of Jun?", "think"), ("Do you like Ada?", "think"), ("How do you know Jun?", "know"),
        ("When did you last talk to Ada?", "talked"), ("What did Jun say?", "said"), ("Where's Jun?", "seen"),
        ("Have you seen Ada?", "seen"), ("Have you heard of the festival?", "heard"),
        ("Who told you about the festival?", "source"), ("Whom have you told about it?", "told"),
        ("Will you come to the festival?", "going"), ("Why did you go to the bar?", "why"),
        ("How are you?", "feel"), ("What's on your mind?", "learnt"), ("Any news?", "news"),
        ("What was the best thing today?", "best"), ("Is it raining?", "weather"), ("Hello!", "greet"),
        ("Thank you.", "thank"), ("Bye!", "farewell"), ("You idiot.", "insult"),
        ("누구세요?", "who"), ("무슨 일 하세요?", "work"), ("어디 사세요?", "home"), ("지금 뭐 하세요?", "now"),
        ("오늘 뭐 했어요?", "day"), ("내일 뭐 할 거예요?", "plan"), ("누구를 알아요?", "people"),
        ("소라 씨를 어떻게 생각해요?", "think"), ("준은 누구예요?", "whois"), ("준 어디 있어?", "seen"),
        ("소라를 어떻게 알게 됐어요?", "know"), ("준이랑 마지막으로 언제 얘기했어요?", "talked"),
        ("소라가 뭐라고 했어요?", "said"), ("등불 축제 얘기 들었어요?", "heard"), ("누구한테 들었어요?", "source"),
        ("누구한테 말했어요?", "told"), ("축제에 갈 거예요?", "going"), ("왜 국숫집에 갔어요?", "why"),
        ("잘 지내세요?", "feel"), ("요즘 무슨 생각 하세요?", "learnt"), ("안녕하세요", "greet"), ("고마워요", "thank"),
        ("제일 친한 사람이 누구예요?", "closest"), ("누구를 만났어요?", "met"), ("어디 갔었어요?", "whereabouts"),
    ],
)  # fmt: skip
def test_the_kind_of_a_question(question: str, kind: str) -> None:
    assert asked(question).kind == kind


@pytest.mark.parametrize(
    ("question", "when"),
    [
        ("What did you do today?", When(days=0)),
        ("What did you do yesterday morning?", When(days=1, start=300, end=720)),
        ("What were you doing at ten?", When(days=0, start=570, end=630)),
        ("What were you doing at 3:15 pm?", When(days=0, start=885, end=945)),
        ("Where were you last night between eight and nine?", When(days=1, start=1200, end=1260)),
        ("What did you do on Friday?", When(days=2)),
        ("What are you doing tomorrow?", When(days=-1)),
        ("어제 저녁에 뭐 했어요?", When(days=1, start=1080, end=1680)),
        ("오후 세 시에 뭐 했어요?", When(days=0, start=870, end=930)),
        ("금요일에 뭐 했어요?", When(days=2)),
        ("What do you want?", None),
    ],
)
def test_when_a_question_is_about(question: str, when: When | None) -> None:
    assert asked(question).when == when


@pytest.mark.parametrize(
    ("question", "people", "places"),
    [
        ("Is Ada with Jun Park?", ("ada", "jun"), ()),
        ("What is Jun's plan?", ("jun",), ()),
        ("Do you like the noodle bar?", (), ("bar",)),
        ("How is the plaza?", (), ("plaza",)),
        ("준비는 됐어요?", (), ()),
        ("준이가 마당에 왔어요?", ("joon",), ("yard",)),
        ("소라 씨는 국숫집에서 뭐 해요?", ("sora",), ("shop",)),
    ],
)
def test_whom_and_what_it_names(question: str, people: tuple[str, ...], places: tuple[str, ...]) -> None:
    found = asked(question)
    assert (found.people, found.places) == (people, places)


@pytest.mark.parametrize(
    ("lines", "question", "kind", "then", "people", "days"),
    [
        (("What do you think of Jun?", "I like Jun."), "Why?", "think", "whyso", ("jun",), None),
        (("What do you think of Jun?", "I like Jun."), "And Ada?", "think", "", ("ada",), None),
        (("What do you think of Jun?", "Ada and I like Jun."), "And her?", "think", "", ("ada",), None),
        (("Who is Ada?", "A friend."), "When did you last see her?", "seen", "", ("ada",), None),
        (("Have you heard of the festival?", "Yes."), "Who told you?", "source", "", (), None),
        (("What did you do today?", "I worked."), "And yesterday?", "day", "", (), 1),
        (("What did you do today?", "I worked."), "And tomorrow?", "plan", "", (), -1),
        (("What did you do today?", "I worked."), "What else?", "day", "more", (), 0),
        (("Where is Jun?", "At home."), "Are you sure?", "seen", "sure", ("jun",), None),
        (("준 씨를 어떻게 생각해요?", "좋아요."), "왜요?", "think", "whyso", ("joon",), None),
        (("준 씨를 어떻게 생각해요?", "소라 씨만큼 좋아요."), "그럼 소라는?", "think", "", ("sora",), None),
        (("오늘 뭐 했어요?", "일했어요."), "그럼 어제는?", "day", "", (), 1),
        (("준 씨를 어떻게 생각해요?", "좋아요."), "그 사람은 어디 있어요?", "seen", "", ("joon",), None),
    ],
)
def test_a_follow_up_goes_on_from_the_talk(
    lines: tuple[str, ...], question: str, kind: str, then: str, people: tuple[str, ...], days: int | None
) -> None:
    found = asked(question, *lines)
    assert (found.kind, found.then, found.people) == (kind, then, people)
    assert (found.when.days if found.when else None) == days


def test_a_pronoun_that_nobody_was_named_for_asks_back() -> None:
    assert asked("And her?").kind == "whom"


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4))
def test_no_text_is_refused(question: str, lines: list[str]) -> None:
    found = asked(question, *lines)
    assert len(found.topic) <= 48
    assert "@" not in found.topic
