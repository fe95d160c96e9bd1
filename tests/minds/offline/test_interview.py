"""Answers to a person: what they are made of, in both languages, and what they do without a memory."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.languages import weekdays
from commonplace.languages.ko.grammar import polite
from commonplace.languages.language import language
from commonplace.minds.notes import NO_PAST, FactNote, ItemNote, Past, PastNote, Person, Recalled, Spoken, Who, changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.interview.answer import answer
from commonplace.minds.offline.interview.interview import phrases
from commonplace.minds.question import ASKER, understood
from commonplace.minds.question_names import QuestionNames
from commonplace.minds.question_rules import spoken_in
from commonplace.minds.tasks import Acquaintance, AnswerInput, AnswerOutput, Earlier, ThingKnown
from commonplace.world.happenings import Befell, Concluded, Did, Said, Seed, Sky
from minds.offline.sample import FESTIVAL, PLACES, VOICES, here, memory, mira, said

NAMES = QuestionNames(
    people=[("jun", "Jun Park", "Jun", "he"), ("kit", "Kit Vale", "Kit", "she"), ("joon", "박준", "준", "he")],
    places=[(spot.id, spot.name) for spot in PLACES],
    facts={"lantern_festival": [["lantern", "lanterns"], ["festival"]]},
    weekday=5,
    weekdays=weekdays("en"),
)
JUN = Acquaintance(
    id="jun", name="Jun Park", called="Jun", work="repairer", pronoun="he", label="neighbour she owes", warmth=55,
    talks=2, minutes_since_talk=120,
)  # fmt: skip
KIT = Person(id="kit", name="Kit Vale", called="Kit", pronoun="she")
OWES = memory(
    1,
    "Mira Sato still owes Jun Park for the broth pot.",
    600,
    importance=6,
    happening=Seed(about="jun", topic="broth pot"),
    tell=("I still owe Jun for the broth pot.",),
)
HEARD = said(2, "There's a lantern festival at the plaza tonight, at seven.", 120, facts=("lantern_festival",))
SKIMMING = memory(
    3,
    "Mira Sato was skimming the broth.",
    60,
    kind="action",
    happening=Did(doing="skimming the broth", place="bar", place_name="Mira's Noodle Bar"),
)
NOTES = (OWES, HEARD, SKIMMING)
GOING = ItemNote(start="18:45", minutes=180, location="plaza", location_name="Lattice Plaza",
                 do="going to the festival", because=(2,))  # fmt: skip


def asked(
    question: str,
    *,
    notes: tuple[Recalled, ...] = NOTES,
    lines: tuple[Spoken, ...] = (),
    facts: tuple[FactNote, ...] = (FESTIVAL,),
    who: Who | None = None,
    later: tuple[ItemNote, ...] = (GOING,),
    before: Earlier | None = None,
    known: tuple[Acquaintance, ...] = (JUN,),
    things: tuple[ThingKnown, ...] = (),
    past: Past = NO_PAST,
    usual: tuple[ItemNote, ...] = (),
    time: str = "12:00",
) -> AnswerOutput:
    """The answer to one question with these memories."""
    carried = tuple(fact for fact in facts if any(fact.id in note.facts for note in notes))
    day = tuple(sorted((note for note in notes if note.kind == "action"), key=lambda note: -note.minutes_ago))
    inputs = AnswerInput(
        who=who or mira("kind"), situation=here(time), question=question, asked=understood(question, lines, NAMES),
        recalled=notes, lines=lines, known=known, others=(KIT,), facts=carried,
        later=later, usual=usual, day=day, places=PLACES, before=before, things=things, past=past,
    )  # fmt: skip
    return answer(inputs, Dice((7, "mira", 40, len(lines))))


def talk(question: str, reply: str) -> tuple[Spoken, Spoken]:
    return Spoken(speaker=ASKER, called="", text=question), Spoken(speaker="mira", called="Mira", text=reply)


@pytest.mark.parametrize(
    ("question", "note", "words"),
    [
        ("What do you think of Jun?", OWES, "owe Jun"),
        ("Tell me about the broth pot.", OWES, "still owe"),
        ("Have you heard of the festival?", HEARD, "at seven"),
        ("Who told you about the festival?", HEARD, "Jun"),
        ("What did Jun say?", HEARD, "lantern festival"),
        ("What were you doing at eleven?", SKIMMING, "skimming the broth"),
        ("Did you skim the broth?", SKIMMING, "skimming the broth"),
    ],
)
def test_an_answer_rests_on_the_memory_it_tells_and_changes_without_it(
    question: str, note: Recalled, words: str
) -> None:
    found = asked(question)
    assert words in found.answer
    assert note.id in found.because
    without = asked(question, notes=tuple(one for one in NOTES if one is not note))
    assert words not in without.answer
    assert note.id not in without.because


@pytest.mark.parametrize(("time", "told"), [("03:50", True), ("04:00", False)])
def test_who_is_asked_in_the_small_hours_tells_of_the_evening_before(time: str, told: bool) -> None:
    evening = changed(SKIMMING, minutes_ago=6 * 60)
    found = asked("What have you been doing?", notes=(evening,), time=time)
    assert ("skimming" in found.answer) == (evening.id in found.because) == told, found


def test_the_plan_says_whether_one_goes() -> None:
    going = asked("Will you come to the lantern festival?")
    assert re.search("Yes|going", going.answer)
    assert 2 in going.because
    assert not re.search("Yes", asked("Will you come to the lantern festival?", later=()).answer)


def test_what_the_character_is_stands_on_its_card() -> None:
    found = asked("Who are you?")
    assert "Mira Sato" in found.answer
    assert "noodle cook" in found.answer
    assert not found.because
    assert "find the missing taste" in asked("What do you want?").answer


def test_who_lives_with_one_shares_its_home() -> None:
    assert "alone" in asked("Who lives with you?").answer or "Nobody" in asked("Who lives with you?").answer
    found = asked("Who lives with you?", known=(changed(JUN, housemate=True),))
    assert "Jun" in found.answer
    assert asked("Do you live with Jun?").answer.startswith("No")


@pytest.mark.parametrize(("words", "is_done"), [("is broken", False), ("is mended", True)])
def test_whether_a_thing_is_done_is_told_by_its_state_and_not_by_the_trying(words: str, is_done: bool) -> None:
    trying = memory(4, "Mira Sato was repairing the broth pot.", 30, kind="action",
                    happening=Did(doing="repairing the broth pot", object_name="broth pot",
                                  place="bar", place_name="Mira's Noodle Bar"))  # fmt: skip
    pot = ThingKnown(name="broth pot", words=words, place_name="Mira's Noodle Bar")
    found = asked("Have you repaired the broth pot?", notes=(*NOTES, trying), things=(pot,))
    assert words in found.answer
    assert found.answer.startswith("Yes") is is_done


def test_a_question_that_takes_a_visit_for_granted_is_told_that_there_was_none() -> None:
    assert "plaza" in asked("Why did you go to the plaza today?").answer.lower()
    assert "remember being" in asked("Why did you go to the plaza today?").answer
    assert "remember being" not in asked("Why did you go to the noodle bar today?").answer


def test_whether_two_talked_on_a_day_is_answered_for_that_day_first() -> None:
    no = asked("Did you talk with Jun yesterday?")
    assert no.answer.startswith("No")
    assert asked("Have you talked with Jun?").answer.startswith(("We", "I"))


def test_every_subject_of_a_talk_that_is_named_is_cited() -> None:
    def line(number: int, topic: str) -> Recalled:
        heard = said(number, f"I was thinking of the {topic}.", 100 + number)
        return changed(heard, happening=changed(heard.happening, topic=f"the {topic}"))

    lines = (*(line(number, "radio") for number in range(11, 16)), line(16, "samovar"))
    found = asked("When did you last talk to Jun, and about what?", notes=lines)
    assert "the samovar" in found.answer
    assert {11, 16} <= {*found.because}


def test_an_overheard_line_is_not_said_to_have_been_told_to_one() -> None:
    assert isinstance(HEARD.happening, Said)
    overheard = changed(HEARD, happening=changed(HEARD.happening, to_me="", to_called="Kit"))
    assert "told me" not in asked("Have you heard of the festival?", notes=(overheard,)).answer
    assert (
        "to Kit" in asked("Have you heard of the festival?", notes=(overheard,)).answer
        or "heard Jun" in asked("Have you heard of the festival?", notes=(overheard,)).answer
    )


def test_a_topic_is_named_once_with_or_without_its_article() -> None:
    lines = tuple(
        memory(number, f"Jun says: “{topic}.”", 100 - number, happening=Said(
            who="jun", called="Jun", to_me="1", quote=topic, topic=topic))
        for number, topic in enumerate(("flight school", "the flight school"), start=5)
    )  # fmt: skip
    found = asked("What did you and Jun talk about?", notes=lines).answer
    assert found.count("flight school") <= 2
    assert "and the flight school" not in found


def test_an_opinion_of_ones_own_place_says_that_it_is_ones_own() -> None:
    assert re.search("mine|own|partial", asked("What do you think of the noodle bar?").answer)


def test_what_somebody_is_to_one_is_said_in_ones_own_words() -> None:
    assert "neighbour I owe" in asked("Who is Jun?").answer


def test_a_stranger_is_not_known() -> None:
    found = asked("What do you think of Kit?")
    assert not found.because
    assert "Kit" not in found.answer or "know" in found.answer or "met" in found.answer


def test_when_an_event_begins_is_told_by_its_fact() -> None:
    found = asked("When is the lantern festival?")
    assert "seven this evening" in found.answer
    assert found.because == (HEARD.id,)
    assert "Lattice Plaza" in asked("Where is the festival?").answer
    assert not asked("What is the lantern festival?").answer.startswith("Yes")
    assert "seven" not in asked("When is the lantern festival?", notes=(OWES,), later=()).answer


def test_the_time_is_told() -> None:
    assert re.search("noon.* Saturday", asked("What time is it?").answer, re.IGNORECASE)


def test_what_was_asked_in_this_talk_is_remembered() -> None:
    lines = (*talk("Who is Jun?", "A neighbour."), *talk("Are you well?", "Quite well."))
    assert "Who is Jun?" in asked("What did I ask you first?", lines=lines).answer
    assert "Are you well?" in asked("What did I just ask you?", lines=lines).answer
    assert "Jun" not in asked("What did I ask you first?").answer


def test_a_name_that_nobody_knows_keeps_its_capital() -> None:
    assert "Bitcoin" in asked("What do you think of Bitcoin?").answer


def test_the_weather_is_that_of_now() -> None:
    began, cleared = (
        memory(4, text, 30, kind="action", happening=Sky(sky=sky, old=old))
        for text, sky, old in (("It begins to rain.", "rain", "clear"), ("The sky clears.", "clear", "rain"))
    )
    assert "rain" not in asked("What's the weather like?", notes=(began,)).answer
    assert cleared.id in asked("What's the weather like?", notes=(cleared,)).because


def test_who_was_hurt_says_by_what() -> None:
    hurt = PastNote(kind="hurt", other="jun", called="Jun", act="spoke_ill", minutes_ago=90, because=(4,))
    words = said(4, "Mira? Her broth is dishwater.", 90)
    found = asked("Did anybody annoy you?", notes=(*NOTES, words), past=Past(notes=(hurt,)))
    assert "dishwater" in found.answer
    assert 4 in found.because
    assert "dishwater" not in asked("Did anybody annoy you?", notes=(*NOTES, words)).answer


PROMISES = Past(
    notes=tuple(
        PastNote(kind=kind, other=other, called=called, act=act, topic=named[4:], named=named, because=(number,))
        for number, (kind, other, called, act, named) in enumerate(
            (
                ("promised", "kit", "Kit", "return", "the ladle"),
                ("kept", "jun", "Jun", "lend", "the ladder"),
                ("broke", "jun", "Jun", "help", "the shelf"),
            ),
            1,
        )
    )
)


@pytest.mark.parametrize(
    ("question", "words", "cited"),
    [
        ("Did you keep your promise to Kit?", "give the ladle back to Kit", (1,)),
        ("Did you keep your promise to Jun about the ladder?", "lend Jun the ladder", (2,)),
        ("Have you broken a promise?", "help Jun with the shelf", (3,)),
        ("What have you promised?", "the ladle", (1, 2, 3)),
    ],
)
def test_what_became_of_a_promise_is_told_by_the_account(question: str, words: str, cited: tuple[int, ...]) -> None:
    found = asked(question, past=PROMISES)
    assert words in found.answer
    assert found.because == cited
    assert words not in asked(question).answer


def test_a_promise_of_somebody_else_is_not_ones_own() -> None:
    assert "promised to" not in asked("Did Jun keep his promise to you?", past=PROMISES).answer


@pytest.mark.parametrize("voice", VOICES)
def test_without_a_memory_it_says_so_in_its_voice_and_cites_nothing(voice: str) -> None:
    found = asked("What do you know about submarines?", who=mira(*VOICES[voice]))
    assert not found.because
    assert not re.search(r"Jun|broth|festival", found.answer)


def test_the_same_follow_up_brings_something_else_or_an_end() -> None:
    first = asked("What do you think of Jun?")
    lines = talk("What do you think of Jun?", first.answer)
    second = asked("Why?", lines=lines)
    third = asked("Why?", lines=(*lines, *talk("Why?", second.answer)))
    assert len({first.answer, second.answer, third.answer}) == 3


def test_an_answer_that_was_liked_is_given_again_and_one_that_was_not_is_avoided() -> None:
    told = Earlier(question="What do you think of Jun?", answer="I still owe Jun for the broth pot.", because=(1,))
    liked = asked(told.question, before=changed(told, received="well"))
    assert liked.because == (1,)
    assert told.answer in liked.answer
    assert "before" in liked.answer or "once" in liked.answer
    disliked = asked(told.question, before=changed(told, received="badly"))
    assert told.answer not in disliked.answer


def test_an_answer_has_at_most_four_sentences() -> None:
    many = tuple(
        memory(number, f"Jun Park mended pot {number}.", 600, happening=Seed(about="jun", topic="pot"),
               tell=(f"Jun mended pot {number}. It holds. I checked.",))
        for number in range(1, 9)
    )  # fmt: skip
    for question in ("What do you think of Jun?", "Tell me about the pot.", "Who is Jun?"):
        assert len(re.findall(r"[.!?](?:\s|$)", asked(question, notes=many).answer)) <= 4


@given(st.text(max_size=120))
def test_any_question_gets_an_answer_without_markup(question: str) -> None:
    found = asked(question)
    assert found.answer
    assert not re.search(r"[<>{}\[\]|@]", re.sub(r"“[^”]*”", "", found.answer))


# ── Korean ───────────────────────────────────────────────────────────────────────────────────────────────────────────

SORA = Who(
    id="mira", name="한소라", called="소라", age=34, pronoun="she", work="국숫집 주인", traits=("다정함",),
    background="한소라는 골목에서 국숫집을 한다.", goals=("새 국물을 만든다",), home="loft", language="ko",
)  # fmt: skip
KOREAN = (
    memory(1, "한소라는 박준에게 외상값을 받지 못했다.", 600, importance=6,
           happening=Seed(about="joon", topic="외상값"), tell=("준 씨 외상이 남았어요.",)),
    memory(2, "한소라는 국물을 내는 중이었다.", 60, kind="action",
           happening=Did(doing="국물 내기", place="bar", place_name="국숫집")),
    memory(3, "박준이 한소라에게 말한다: “비가 온대요.”", 90,
           happening=Said(who="joon", called="준", quote="비가 온대요.", to_me="1", topic="비")),
)  # fmt: skip
JOON = Acquaintance(id="joon", name="박준", called="준", pronoun="he", label="단골손님", warmth=30, talks=1)


ALONE = changed(here("12:00"), people=())


def korean(question: str, *lines: Spoken, past: Past = NO_PAST) -> AnswerOutput:
    names = QuestionNames(NAMES.people, [("bar", "국숫집")], {}, weekday=5, weekdays=weekdays(spoken_in(question)))
    inputs = AnswerInput(
        who=SORA, situation=ALONE, question=question, asked=understood(question, lines, names),
        recalled=KOREAN, lines=lines, known=(JOON,), day=KOREAN[1:2], doing="국물 내기", past=past,
    )  # fmt: skip
    return answer(inputs, Dice((7, "mira", 40, len(lines))))


@pytest.mark.parametrize(
    ("question", "words", "cited"),
    [
        ("누구세요?", "국숫집을 해요", ()),
        ("뭘 하고 싶어요?", "새 국물을 만들고 싶", ()),
        ("지금 뭐 하세요?", "국물 내고 있어요", ()),
        ("열한 시에 뭐 했어요?", "국물 내고 있었어요", (2,)),
        ("준 씨를 어떻게 생각해요?", "외상이 남았어요", (1,)),
        ("준이 뭐라고 했어요?", "비가 온대요", (3,)),
        ("준은 누구예요?", "단골손님이에요", ()),
        ("What do you think of 준?", "준 씨", ()),
        ("잠수함에 대해 어떻게 생각해요?", "", ()),
    ],
)
def test_korean_is_answered_in_korean(question: str, words: str, cited: tuple[int, ...]) -> None:
    found = korean(question)
    assert words in found.answer
    assert set(cited) <= set(found.because)
    assert not re.search("[a-z]|은\\(는\\)|이에요/예요|\\(으\\)", found.answer), found.answer


@pytest.mark.parametrize(
    ("plain", "said_politely", "told_afterwards"),
    [
        ("골목에서 국숫집을 한다.", "골목에서 국숫집을 해요.", "골목에서 국숫집을 했어요."),
        ("책을 읽는다.", "책을 읽습니다.", "책을 읽었어요."),
        ("비가 온다.", "비가 옵니다.", "비가 왔어요."),
        ("그는 우체부이다.", "그는 우체부입니다.", "그는 우체부였어요."),
        ("문이 닫혔다.", "문이 닫혔어요.", "문이 닫혔어요."),
        ("강물이 흐른다.", "강물이 흐릅니다.", "강물이 흘렀어요."),
    ],
)
def test_plain_korean_is_said_politely(plain: str, said_politely: str, told_afterwards: str) -> None:
    assert polite(plain) == said_politely
    assert f"{language('ko').told(plain)}어요." == told_afterwards


def test_what_became_of_a_promise_is_told_in_korean() -> None:
    row = PastNote(kind="kept", other="joon", called="준", act="lend", topic="사다리", named="사다리", because=(3,))
    found = korean("준 씨한테 한 약속 지켰어요?", past=Past(notes=(row,)))
    assert "준에게 사다리를 빌려주기로" in found.answer and found.because == (3,)


def test_both_languages_have_the_same_rules() -> None:
    english, others = set(phrases("en").rules), set(phrases("ko").rules)
    assert others - english == set()
    assert english - others == set()


def test_a_background_is_told_in_the_first_person() -> None:
    text = (
        "Ada Lund keeps the old bridge and has not left it since. She owns nine kinds of rope, believes none of them, "
        "and her sister knows why."
    )
    ada = changed(mira(), name="Ada Lund", called="Ada")
    assert language("en").first_person(ada, text) == [
        "I keep the old bridge and have not left it since.",
        "I own nine kinds of rope, believe none of them, and my sister knows why.",
    ]


@pytest.mark.parametrize(
    ("label", "mine"),
    [("friend", True), ("customer of few words", True), ("granddaughter of a customer", False)],
)
def test_who_belongs_to_somebody_else_is_not_mine(label: str, mine: bool) -> None:
    assert language("en").is_mine(label) is mine


def test_that_is_what_the_last_answer_rests_on() -> None:
    question, reply = talk("Any news?", "There's a lantern festival.")
    lines = (question, changed(reply, because=(HEARD.id,)))
    told = understood("Have you heard of the festival?", (), NAMES)
    inputs = AnswerInput(
        who=mira("kind"), situation=here("12:00"), question="Who told you that?", recalled=NOTES, lines=lines,
        asked=understood("Who told you that?", lines, NAMES, told), known=(JUN,), facts=(FESTIVAL,), places=PLACES,
    )  # fmt: skip
    found = answer(inputs, Dice((7, "mira", 40, 2)))
    assert "Jun" in found.answer
    assert found.because == (HEARD.id,)


@pytest.mark.parametrize(("minutes_ago", "day"), [(600, "today"), (26 * 60, "yesterday")])
def test_a_conclusion_calls_its_day_what_it_is_called_now(minutes_ago: int, day: str) -> None:
    thought = memory(8, "Jun was kind to me today.", minutes_ago, kind="reflection",
                     happening=Concluded(about="jun", say="Jun was kind to me today."))  # fmt: skip
    assert f"kind to me {day}" in asked("What do you think of Jun?", notes=(thought,)).answer


def test_how_long_is_told_where_card_or_memory_has_it_and_else_not_known() -> None:
    kept = changed(mira("kind"), background="Mira Sato has kept bees for eleven years.")
    assert "eleven years" in asked("How long have you kept bees?", who=kept).answer
    assert "how long" in asked("How long have you kept goats?", notes=()).answer.lower()


def test_a_memory_with_the_number_is_not_introduced_as_one_without() -> None:
    kittens = memory(9, "The cat has had four kittens.", 600, happening=Seed(topic="kittens"),
                     tell=("Four kittens, and one has a sock.",))  # fmt: skip
    found = asked("How many kittens are there?", notes=(kittens,)).answer
    assert found.startswith("Four kittens"), found


def test_what_befell_the_one_who_tells_it_is_told_by_that_one() -> None:
    text = "The power flickers in Mira's noodle bar."
    found = asked("Any news?", notes=(memory(10, text, 60, importance=8, happening=Befell(text=text)),)).answer
    assert "my noodle bar" in found
    assert "Mira" not in found


SERVING = ItemNote(
    start="06:30", minutes=180, location="bar", location_name="Mira's Noodle Bar", do="serving breakfast"
)
CLOSING = ItemNote(
    start="18:00", minutes=225, location="bar", location_name="Mira's Noodle Bar", do="scrubbing the pots"
)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What time do you open?", "from half past six till a quarter to ten"),
        ("When does the noodle bar close?", "till a quarter to ten"),
        ("When does the clinic open?", "when"),
    ],
)
def test_hours_are_those_of_the_usual_day_at_a_place(question: str, words: str) -> None:
    found = asked(question, usual=(SERVING, CLOSING)).answer
    assert words in found[:1].lower() + found[1:]


def test_how_one_slept_is_told_by_when_one_was_up() -> None:
    found = asked("Did you sleep well last night?", notes=(changed(SKIMMING, minutes_ago=300),))
    assert "night" in found.answer or "woke" in found.answer
    assert "seven" in found.answer and found.because == (3,)


def test_the_last_one_spoken_to_is_named() -> None:
    lately = changed(HEARD, minutes_ago=30, kind="action")
    found = asked("Who was the last person you spoke to?", notes=(lately,))
    assert "Jun" in found.answer and found.because == (lately.id,)


@pytest.mark.parametrize(("question", "sort"), [("What do you regret?", "loss"), ("What worries you?", "worry")])
def test_feelings_are_told_by_the_sort_of_a_memory_that_its_author_gave(question: str, sort: str) -> None:
    cup = memory(4, "Mira Sato broke a cup.", 600, happening=Seed(topic="cup", sort=sort), tell=("I broke a cup.",))
    view = memory(5, "Mira Sato likes rain.", 600, importance=9, happening=Seed(topic="rain", sort="view"))
    found = asked(question, notes=(cup, view)).answer
    assert "cup" in found and "rain" not in found


def test_nobody_at_work_is_not_nobody_met() -> None:
    found = asked("How many customers did you see today?", notes=(), usual=(SERVING,)).answer
    assert "noodle bar" in found, found


def test_a_question_of_an_evening_is_not_answered_by_a_deed_of_the_morning() -> None:
    morning = changed(SKIMMING, minutes_ago=26 * 60)
    assert "skimming" in asked("What was in the broth yesterday morning?", notes=(morning,)).answer
    assert "skimming" not in asked("What was in the broth yesterday evening?", notes=(morning,)).answer


def test_of_the_ways_to_say_a_memory_the_one_with_most_words_of_the_question_is_taken() -> None:
    kept = memory(4, "Mira Sato kept a ticket of the theatre.", 600, happening=Seed(topic="theatre"),
                  tell=("The theatre was full of lovers.", "I have the last ticket of the theatre."))  # fmt: skip
    assert "last ticket" in asked("Do you have a ticket of the theatre?", notes=(kept,)).answer


def test_kin_who_are_asked_for_and_not_remembered_are_not_said_to_be_none() -> None:
    assert "no" not in asked("Where is your husband now?", notes=()).answer.lower().split()[:1]
    assert "husband" in asked("Where is your husband now?", notes=()).answer


def test_debts_and_what_went_wrong_are_answered_or_said_to_be_none() -> None:
    assert "broth pot" in asked("Do you owe anybody money?").answer
    assert "debt" in (none := asked("Do you owe anybody money?", notes=()).answer) or "owe" in none
    assert OWES.id not in asked("Do you owe anybody money?", notes=()).because
    assert "bad" in asked("What annoyed you most yesterday?").answer
