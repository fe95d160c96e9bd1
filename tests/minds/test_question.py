"""What a question asks, whom, where and when it is about, and what a follow-up goes back to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.languages import LANGUAGES, weekdays
from commonplace.minds.notes import Spoken
from commonplace.minds.question import ASKER, DaySpan, ParsedQuestion, understood
from commonplace.minds.question_names import QuestionNames
from commonplace.minds.question_rules import examples_of, spoken_in

PEOPLE = [
    ("jun", "Jun Park", "Jun", "he"), ("ada", "Ada Lund", "Ada", "she"), ("sora", "한소라", "소라", "she"),
    ("joon", "박준", "준", "he"),
]  # fmt: skip
PLACES = [("bar", "Mira's Noodle Bar"), ("plaza", "Lattice Plaza"), ("shop", "국숫집"), ("yard", "느티나무 마당")]
FACTS = {"festival": [["lantern", "등불"], ["festival", "축제"]]}


def asked(question: str, *lines: str) -> ParsedQuestion:
    """The question after a talk; lines take turns, the asker's first."""
    talk = tuple(
        Spoken(speaker=("mira", ASKER)[index % 2 == 0], called="", text=text) for index, text in enumerate(lines)
    )
    names = QuestionNames(
        PEOPLE, PLACES, FACTS, weekday=6, weekdays=weekdays(spoken_in(question)), events={"festival": "plaza"}
    )
    return understood(question, talk, names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_of_a_kind_is_understood_as_that_kind(language: str) -> None:
    for kind, example in examples_of(language):
        filled = example.replace("@p", "소라" if language == "ko" else "Jun")
        filled = filled.replace("@l", "국숫집" if language == "ko" else "the noodle bar")
        found = asked(filled)
        assert kind in {found.kind, found.then}, (filled, found.kind)


def test_the_most_specific_pattern_decides_and_one_that_accounts_for_the_interrogative() -> None:
    found = {
        one: asked(one).kind
        for one in ("요즘 기분이 어떠세요?", "마을에서 누구를 제일 좋아하세요?", "뭐 하고 있었어요?")
    }
    assert list(found.values()) == ["feel", "closest", "day"], found
    assert asked("Why did you go to the lantern festival?").kind == "why"


@pytest.mark.parametrize(
    ("lines", "question", "facts", "words"),
    [
        (("Any news?", "There is a festival."), "Who told you that?", ("festival",), ("roof",)),
        (("무슨 소식 있어요?", "축제가 있대요."), "그 얘기 누구한테 들었어요?", ("festival",), ("roof",)),
        (("What about the radio?", "It hums."), "Who told you that?", (), ("radio",)),
    ],
)
def test_that_is_what_was_told_unless_the_question_before_named_it(
    lines: tuple[str, ...], question: str, facts: tuple[str, ...], words: tuple[str, ...]
) -> None:
    told = ParsedQuestion(facts=("festival",), words=("roof",))
    talk = tuple(
        Spoken(speaker=("mira", ASKER)[index % 2 == 0], called="", text=one) for index, one in enumerate(lines)
    )
    found = understood(question, talk, QuestionNames(PEOPLE, PLACES, FACTS), told)
    assert (found.kind, found.back, found.facts, found.words) == ("source", True, facts, words)


@pytest.mark.parametrize(("minute", "kind"), [(18 * 60, "plan"), (28 * 60, "day")])
def test_what_is_still_to_come_is_a_plan(minute: int, kind: str) -> None:
    names = QuestionNames(PEOPLE, PLACES, FACTS, minute=minute)
    assert understood("What are you up to this evening?", (), names).kind == kind
    assert understood("What did you do this evening?", (), names).kind == "day"


@pytest.mark.parametrize(
    ("question", "day", "night"),
    [
        ("What did you do today?", 0, 1),
        ("What did you do this morning?", 0, 1),
        ("오늘 뭐 했어요?", 0, 1),
        ("What did you do yesterday?", 1, 1),
        ("Were you at the bar at noon?", 0, 1),
    ],
)
def test_in_the_small_hours_today_is_the_day_before(question: str, day: int, night: int) -> None:
    for late, days in ((False, day), (True, night)):
        when = understood(question, (), QuestionNames(PEOPLE, PLACES, FACTS, late=late, weekdays=weekdays("en"))).when
        assert when is not None and when.days == days, (late, when)


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("Have you heard about the courier drone?", ()),
        ("What did the courier deliver?", ("ada",)),
        ("Do you like the courier?", ("ada",)),
    ],
)
def test_a_role_is_somebody_and_not_the_first_half_of_a_thing(question: str, people: tuple[str, ...]) -> None:
    names = QuestionNames(PEOPLE, PLACES, FACTS, roles={"courier": "ada"})
    assert understood(question, (), names).people == people


def test_a_general_word_means_the_only_event_there_can_be() -> None:
    assert asked("Was there a party on the plaza?").facts == ("festival",)
    assert asked("Was there a party at the noodle bar?").facts == ()


@pytest.mark.parametrize(
    ("question", "when"),
    [
        ("What did you do today?", DaySpan(days=0)),
        ("What did you do yesterday morning?", DaySpan(days=1, start=300, end=720)),
        ("What were you doing at ten?", DaySpan(days=0, start=570, end=630)),
        ("What were you doing at 3:15 pm?", DaySpan(days=0, start=885, end=945)),
        ("Where were you last night between eight and nine?", DaySpan(days=1, start=1200, end=1260)),
        ("What did you do on Friday?", DaySpan(days=2)),
        ("What are you doing tomorrow?", DaySpan(days=-1)),
        ("어제 저녁에 뭐 했어요?", DaySpan(days=1, start=1080, end=1680)),
        ("오후 세 시에 뭐 했어요?", DaySpan(days=0, start=870, end=930)),
        ("금요일에 뭐 했어요?", DaySpan(days=2)),
        ("What do you want?", None),
    ],
)
def test_when_a_question_is_about(question: str, when: DaySpan | None) -> None:
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
        (("Do you like Ada?", "Yes."), "What did you two talk about?", "talked", "", ("ada",), None),
        (("Do you like Ada?", "Yes."), "Why did the two of you quarrel?", "why", "", ("ada",), None),
        (("When did you last talk to Jun?", "Today."), "What about?", "talked", "", ("jun",), None),
        (("Have you heard of the festival?", "Yes."), "Did you go there yourself?", "went", "", (), None),
        (("What did you do yesterday?", "I worked."), "And the day before?", "day", "", (), 2),
        (("What did you do yesterday?", "I worked."), "Who else was there?", "met", "", (), 1),
        (("Will you play chess tomorrow?", "Perhaps."), "With whom?", "withwhom", "", (), -1),
        (("Were you at the festival?", "Yes."), "And Jun?", "seen", "", ("jun",), None),
        (("Where do you live?", "On the boat."), "With whom?", "household", "", (), None),
        (("What do you think of Jun?", "I like Jun."), "What will you do after that?", "plan", "", (), None),
        (("준 씨를 어떻게 생각해요?", "좋아요."), "그럼 소라 씨는요?", "think", "", ("sora",), None),
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


FORESEEN_BY_NOBODY = [
    # (question, kind, wants, words): what visitors asked who did not know how they would be understood.
    ("What did your grandmother teach you?", "about", "what", "grandmother teach"),
    ("How much does a bowl of noodles cost?", "about", "count", "bowl noodles cost"),
    ("Who won the football last night?", "about", "who", "won football"),
    ("What's your favorite song?", "favourite", "what", "song"),
    ("Who would you ask to repair a clock?", "advice", "who", "repair clock"),
    ("What would you do if you won a million?", "whatif", "what", "won million"),
    ("Would you ever leave this village?", "whatif", "whether", "leave"),
    ("Is Jun really that bad?", "think", "whether", ""),
    ("Do you miss your mum?", "think", "whether", "mum"),
    ("whats ur cat called", "about", "what", "cat called"),
    ("Do you know who Copper is?", "about", "who", "copper"),
    ("My head hurts, what should I do?", "advice", "", "head hurts"),
    ("You're a terrible doctor.", "insult", "", "terrible doctor"),
    ("I think gardening is boring.", "remark", "", "gardening boring"),
    ("You have a wife, don't you?", "family", "whether", "wife"),
    ("I heard you pay with tokens. Is that true?", "did", "whether", "pay tokens"),
    ("You sell lamps, right?", "did", "whether", "sell lamps"),
    ("How many parcels did you deliver today?", "about", "count", "parcels deliver"),
    ("Did you thank your freind yesterday?", "did", "whether", "thank friend"),
    ("How long have you lived here?", "howlong", "count", "lived"),
    ("What time do you go to bed?", "bedtime", "when", "bed"),
    ("Where's everybody tonight?", "here", "where", "everybody"),
    ("Are you scared of Jun?", "fear", "whether", ""),
    ("Did anyone visit you yesterday?", "met", "whether", "visit"),
    ("What do people say about Ada?", "hearsay", "what", ""),
    ("What's the worst thing about your job?", "superlative", "what", "job"),
    ("Are you building a boat?", "now", "whether", "building boat"),
    ("Tell me a joke", "request", "", "joke"),
    ("Tell me a story", "story", "", "story"),
    ("im sad", "confide", "", "sad"),
    ("Can you tell me the way to the harbour?", "way", "whether", "harbour"),
    ("ok thanks, bye!", "farewell", "", "okay thanks bye"),
    ("Blah blah purple monkey", "", "", "blah purple monkey"),
    ("국수 한 그릇에 얼마예요?", "", "count", "국수"),
    ("제일 좋아하는 노래가 뭐예요?", "favourite", "what", "노래"),
    ("백만 원이 생기면 뭐 할 거예요?", "whatif", "what", "백 원"),
    ("대통령이 누구예요?", "", "who", "대통령"),
    ("머리가 아픈데 어떻게 해야 해요?", "advice", "how", "머리"),
    ("당신은 정말 게으르네요", "insult", "whether", ""),
    ("노래 하나 불러 주세요", "request", "", "노래 불러"),
    ("어제 저녁에 어디 있었어요?", "whereabouts", "where", ""),
    ("몇 시에 자요?", "bedtime", "when", ""),
    ("축제가 몇 시예요?", "when", "when", "축제"),
    ("지금 몇 시예요?", "date", "when", ""),
    ("What time is it?", "date", "when", ""),
    ("What does Ada do for a living?", "whois", "who", ""),
    ("What's wrong with the radio?", "seenthing", "how", "radio"),
    ("Where are we?", "where", "where", ""),
    ("What did I just ask you?", "asked", "what", ""),
    ("제 첫 질문이 뭐였죠?", "asked", "what", "첫 질문"),
    ("What time is the fair?", "when", "when", "fair"),
    ("무슨 꽃이 제일 잘 팔려요?", "superlative", "what", "꽃"),
    ("컴퓨터 할 줄 알아요?", "did", "whether", "컴퓨터"),
    ("요즘 장사는 잘 돼요?", "day", "whether", "장사"),
    ("Do you want to stay?", "want", "whether", "stay"),
    ("Have you told anyone about your cough?", "told", "whether", "cough"),
    ("Is anyone keeping something from you?", "", "whether", "keeping"),
    ("Where do you live, and with whom?", "home", "where", ""),
    ("Who knows you best?", "closest", "who", "knows best"),
    ("지금 어디 가시는 길이에요?", "plan", "where", ""),
    ("바다가 그리울 때가 있어요?", "", "whether", "바다"),
    ("아들은 언제 와요?", "when", "when", "아들"),
    ("어제 저녁에 누구랑 있었어요?", "met", "who", ""),
    ("서울에서는 무슨 일을 했어요?", "about", "what", "서울"),
    ("준 씨랑 친하게 지내세요?", "know", "whether", ""),
    ("언제부터 배를 타셨어요?", "howlong", "when", "배"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "kind", "wants", "words"), FORESEEN_BY_NOBODY)
def test_what_a_question_wants_and_what_it_is_about(question: str, kind: str, wants: str, words: str) -> None:
    found = asked(question)
    assert (found.kind, found.wants, " ".join(found.words)) == (kind, wants, words)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What did your grandmother teach you?", "your grandmother"),
        ("How much does a bowl of noodles cost?", "a bowl of noodles"),
        ("Whats the capital of france", "the capital of france"),
        ("Who won the football last night?", "the football"),
        ("Do you believe in ghosts?", "ghosts"),
        ("Who was Anton?", "anton"),
        ("Are people healthy?", ""),
        ("What do you regret?", ""),
        ("대통령이 누구예요?", "대통령"),
        ("What happened yesterday that annoyed you?", ""),
        ("How long is the longest?", ""),
    ],
)
def test_the_thing_a_question_is_about_has_a_name(question: str, subject: str) -> None:
    assert asked(question).subject == subject


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("How old are you and what grade are you in?", ("age", "about")),
        ("Tell me about your teahouse, and who comes there?", ("about", "about")),
        ("What do you do? Where do you live?", ("work", "home")),
        ("Who is Jun? Thanks!", ("whois",)),
        ("Do you like rice and beans?", ("think",)),
        ("What did you talk about with Jun, and when?", ("talked", "talked")),
        ("몇 살이고 누구랑 살아?", ("age", "household")),
        ("오늘 날씨 어때요, 그리고 뭐 할 거예요?", ("weather", "plan")),
    ],
)
def test_two_questions_in_one_are_two(question: str, kinds: tuple[str, ...]) -> None:
    found = asked(question)
    assert (found.kind, *([found.also.kind] if found.also else [])) == kinds


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("Is your grandad well?", ("old",)), ("Where is the doctor?", ("ada",)), ("Is your hand well?", ()),
        ("Where is Adda?", ()), ("Where is Willem?", ("will",)), ("Where is Wililam?", ("will",)),
    ],
)  # fmt: skip
def test_people_are_known_by_what_they_are_and_by_misspelt_names(question: str, people: tuple[str, ...]) -> None:
    everybody = [
        ("ada", "Ada Lund", "Ada", "she"),
        ("old", "Old Tom", "Tom", "he"),
        ("will", "William", "Willem", "he"),
    ]
    names = QuestionNames(everybody, [], {}, weekdays=weekdays("en"), roles={"grandfather": "old", "doctor": "ada"})
    assert understood(question, (), names).people == people


@pytest.mark.parametrize(
    ("question", "days"),
    [("What did you do on Friday?", 2), ("What will you do on Friday?", -5), ("Are you free on Monday?", -1)],
)
def test_a_weekday_is_the_last_or_the_next_one(question: str, days: int) -> None:
    when = asked(question).when
    assert when is not None
    assert when.days == days


def test_a_pronoun_that_nobody_was_named_for_asks_back() -> None:
    assert asked("And her?").kind == "whom"


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4))
def test_no_text_is_refused(question: str, lines: list[str]) -> None:
    found = asked(question, *lines)
    assert len(found.topic) <= 48
    assert "@" not in found.topic
