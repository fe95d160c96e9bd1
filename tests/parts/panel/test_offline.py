"""What the offline mind says on a panel: for any question, both sides in their own words, nothing twice."""

from __future__ import annotations

import re

import pytest

from commonplace.languages import phrases
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.notes import Recalled, Spoken, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.parts.duet.tasks import LOST_THREAD
from commonplace.parts.panel.evaluation import verifiability
from commonplace.parts.panel.offline import matter, panel_turn, phrases_of
from commonplace.parts.panel.task import PANEL_TURN, PanelInput
from commonplace.text import words
from commonplace.world.happenings import Answered

CARS = "Should cities ban cars?"
CYCLE = (("thea", "claim"), ("anton", "oppose"), ("sina", "join"))
QUESTIONS = {
    "en": (
        "Should cities ban cars?", "What is home?", "Tea or coffee?", "Design a memory system for a robot",
        "Is it better to be feared or loved?", "Why do people lie to those they love?", "Would you live forever?",
        "How should we teach children to read?", "A village has money for a school or a well. Which first?", "42",
    ),
    "ko": (
        "도시에서 자동차를 금지해야 할까요?", "고향이란 무엇인가?", "커피와 차 중 무엇이 더 좋을까?",
        "기억하는 로봇을 설계해 보자",
        "사람은 왜 사랑하는 이에게 거짓말을 하는가?", "영원히 살 수 있다면 그렇게 하겠습니까?",
        "학교에서 숙제를 없애야 하나요?", "일주일에 나흘만 일해도 될까?", "전쟁은 끝날 수 있을까", "바다",
    ),
}  # fmt: skip


def who(name: str, language: str = "en") -> Who:
    return Who(
        id=name, name=name.title(), called=name.title(), age=40, pronoun="she", work="panelist", traits=("calm",),
        background="", goals=("find a way",), home="room", language=language,
    )  # fmt: skip


def turn(name: str, stance: str, prompt: str, lines: list[Spoken], *, language: str = "en", **more) -> str:
    given = PanelInput(who=who(name, language), role="", seed_prompt=prompt, step=1, stance=stance, lines=tuple(lines),
                       **{"depth": 1, "depths": 3, **more})  # fmt: skip
    return panel_turn(given, Dice.of(RequestKey(7, name, len(lines) + 1, 0))).answer


def talk(prompt: str, language: str, depths: int = 3) -> list[Spoken]:
    lines: list[Spoken] = []
    for depth in range(1, depths + 1):
        for name, stance in CYCLE:
            text = turn(name, stance, prompt, lines, language=language, depth=depth, depths=depths)
            lines.append(Spoken(speaker=name, called=name.title(), text=text))
    return lines


@pytest.mark.parametrize(("language", "prompt"), [(one, text) for one, some in QUESTIONS.items() for text in some])
def test_both_sides_are_quoted_and_nothing_is_said_twice(language, prompt):
    lines = [line.text for line in talk(prompt, language)]
    assert len(set(lines)) == len(lines) == 9
    for place, text in enumerate(lines):
        assert re.search(r"[.!?”]$", text)
        assert not re.search(r"[{}]|\(는\)|\(가\)|\(를\)|\(와\)|\(으\)|  ", text), text
        if place % 3:  # who claims may speak for itself alone
            assert verifiability(text, [prompt.rstrip("?. ") + ".", *lines[:place]], 0, 0) == 1, text
    for at in (2, 5, 8):
        named = {sign: phrases_of(language).in_text(lines[at], sign) for sign in "+-"}
        assert any(gain in lines[at - 2] for gain in named["+"])
        assert any(cost in lines[at - 1] for cost in named["-"])


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_question_about_something_else_is_answered_with_something_else(language):
    said = [talk(prompt, language, depths=1)[0].text for prompt in QUESTIONS[language]]
    bare = {re.sub(r"“[^”]*”", "", text) for text in said}
    assert len(bare) >= len(said) - 1


@pytest.mark.parametrize(
    ("prompt", "language", "kind", "sides"),
    [
        ("Should cities ban cars?", "en", "yesno", ("", "")),
        ("If we could, should we?", "en", "yesno", ("", "")),
        ("What should we do?", "en", "open", ("", "")),
        ("Build a wall.", "en", "open", ("", "")),
        ("Should a village build a school or a well first?", "en", "choice", ("a school", "a well")),
        ("Tea or coffee?", "en", "choice", ("tea", "coffee")),
        ("Is it true or not?", "en", "yesno", ("", "")),
        ("커피와 차 중 무엇이 더 좋을까?", "ko", "choice", ("커피", "차")),
        ("산이 좋을까 아니면 바다가 좋을까?", "ko", "choice", ("산", "바다")),
        ("동네에 도서관이 더 필요한가, 아니면 체육관이 더 필요한가?", "ko", "choice", ("도서관", "체육관")),
        ("바다로 갈까, 아니면 산으로 갈까?", "ko", "choice", ("바다", "산")),
        ("개를 키울까 고양이를 키울까?", "ko", "choice", ("개", "고양이")),
        ("산 아니면 바다?", "ko", "choice", ("산", "바다")),
        ("숙제를 없애야 하나요?", "ko", "yesno", ("", "")),
        ("고향이란 무엇인가?", "ko", "open", ("", "")),
    ],
)
def test_the_sort_of_a_question_is_told_by_its_words(prompt, language, kind, sides):
    found = matter(prompt, language)
    assert (found.kind, (found.a, found.b)) == (kind, sides)


@pytest.mark.parametrize(
    ("language", "prompt", "claims", "opposes"),
    [
        ("en", "Is it wrong to lie?", "no", "yes"),
        ("en", "Are lies useful?", "yes", "no"),
        ("ko", "거짓말은 나쁜가?", "반대", "찬성"),
        ("ko", "거짓말도 쓸모가 있는가?", "찬성", "반대"),
    ],
)
def test_who_speaks_for_a_thing_denies_that_it_is_wrong(language, prompt, claims, opposes):
    claim, objection = (line.text for line in talk(prompt, language, depths=1)[:2])
    assert claims in words(claim.replace("입니다", " ")) and opposes not in words(claim)
    assert opposes in words(objection.replace("입니다", " "))


def test_a_past_answer_is_quoted_with_its_question_and_cited():
    answered = Answered(asked="Are trees useful?", quote="I hope for shade and clean air.")
    past = Recalled(id=12, text="", kind="action", importance=6, minutes_ago=1440, happening=answered)
    given = PanelInput(who=who("thea"), role="", seed_prompt=CARS, depth=1, step=1, recalled=(past,))
    answer = panel_turn(given, Dice.of(RequestKey(7, "thea", 1, 0)))
    assert answer.because == (12,)
    assert "“Are trees useful?”" in answer.answer
    assert "“shade and clean air”" in answer.answer


def test_the_words_of_a_model_are_taken_up_as_they_are():
    lines = [Spoken(speaker="thea", called="Thea", text="Well. Electric ferries connect the islands, and more.")]
    assert "“Electric ferries connect the islands”" in turn("anton", "oppose", "Ferries?", lines)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(("name", "stance"), CYCLE)
def test_a_mind_that_failed_is_not_quoted(name, stance, language):
    lost = phrases(language, "lines")[LOST_THREAD]
    lines = [Spoken(speaker=one, called=one.title(), text=lost) for one, _ in CYCLE]
    for prompt in QUESTIONS[language][:4]:
        said = turn(name, stance, prompt, lines, language=language, depth=2)
        assert said
        assert lost[1:8] not in said


def test_tone_and_remarks_are_heard():
    plain = turn("thea", "claim", "Cars?", [])
    assert turn("thea", "claim", "Cars?", [], injection="calm").endswith(plain)
    assert "excited" in turn("thea", "claim", "Cars?", [], injection="liven")
    assert "“The lights go out.”" in turn("thea", "claim", "Cars?", [], remarks=("The lights go out.",))


@pytest.mark.parametrize(("language", "says"), [("en", "1.5 of 5 stars"), ("ko", "5점 만점에 1.5점")])
def test_the_prompt_of_a_persona_that_was_rated_badly_says_so(language, says):
    def prompt(**more):
        given = PanelInput(who=who("thea", language), role="", seed_prompt=CARS, depth=1, step=1, **more)
        return PromptBook(language, PromptSetting(title="", places=())).prompt(Ask(PANEL_TURN, given)).messages[-1].text

    assert says in prompt(rated=1.5)
    assert says not in prompt()
