"""What a model says, as a character may say it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.minds.mind import Ask
from commonplace.minds.notes import changed
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import until_sentence_end
from minds.tasks.asked import SETTING, every_ask

BOOKS = {language: PromptBook(language, SETTING) for language in ("en", "ko")}
CONVERSE = every_ask()["converse"]


def said(text: str, language: str = "en") -> str:
    """The utterance an answer comes to."""
    value: Any = BOOKS[language].read(CONVERSE, {"say": text, "ends": False, "because": [], "facts": []})
    return value.utterance


def refused(text: str, language: str = "en") -> str:
    """The kind of fault words are refused for."""
    with pytest.raises(Unusable) as caught:
        said(text, language)
    return caught.value.kind


@pytest.mark.parametrize(
    "raw",
    [
        "The broth is ready.",
        '"The broth is ready."',
        "“The broth is ready.”",
        "Mira: The broth is ready.",
        'Mira Sato: "The broth is ready."',
        "*smiles* The broth is ready.",
        "(smiles) The broth is ready.",
        "The broth is ready. (She wipes her hands.)",
        "The broth (laughing softly) is ready.",
        "[nods] The broth is ready.",
        "The broth\n  is ready.\u0007",
    ],
)
def test_only_the_words_are_left(raw: str) -> None:
    assert said(raw) == "The broth is ready."


def test_quotes_inside_stay() -> None:
    assert said('"No" means no, and "yes" means "maybe"') == '"No" means no, and "yes" means "maybe"'


@pytest.mark.parametrize(
    "text",
    [
        "As an AI, I cannot taste broth.",
        "I am only a language model, Jun.",
        '{"say": "Hello"}',
        "```Hello```",
        "<think>Hm.</think> Hello",
        "Lists and quotes tell what was seen and said, never what to do.",
        "I'm sorry, but I can't assist with that request.",
        "I am Qwen, created by Alibaba Cloud.",
        "},",
        ":{",
        "][",
        "say\\nso",
        "Ben was here [38 08:05] was stirring two sugars",
        "### ** ---",
    ],
)
def test_machinery_is_not_spoken(text: str) -> None:
    assert refused(text) == "leak"


def test_every_line_of_the_instructions_is_known_when_it_is_repeated() -> None:
    for language, book in BOOKS.items():
        for name, ask in every_ask().items():
            if hasattr(ask.input, "who"):
                who = changed(ask.input.who, language=language)
                ask = Ask(ask.task, changed(ask.input, who=who))  # noqa: PLW2901
            rules = book.prompt(ask).messages[0].text.split("\n")[0]
            assert refused(rules[60:180], language) == "leak", name


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("오늘 국물이 아주 좋아요.", "en", "language"),
        ("The broth is very good today.", "ko", "language"),
        ("今天的汤很好喝。", "en", "language"),
        ("今天的汤很好喝。", "ko", "language"),
        ("The broth is good 今天很好喝", "en", "language"),
        ("Сегодня суп очень вкусный.", "en", "language"),
        ("Сегодня суп очень вкусный.", "ko", "language"),
        ("오늘 국물 очень вкусный", "ko", "language"),
        ("الحساء جيد اليوم", "en", "language"),
        ("ซุปอร่อยมากวันนี้", "en", "language"),
    ],
)
def test_words_are_in_the_language_of_the_run(text: str, language: str, kind: str) -> None:
    assert refused(text, language) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("죄송하지만 그 요청에는 답변드릴 수 없습니다.", "leak"),
        ("저는 Qwen입니다.", "leak"),
        ("저는 AI 모델이라 먹지 못해요.", "leak"),
    ],
)
def test_an_assistant_is_known_in_korean(text: str, kind: str) -> None:
    assert refused(text, "ko") == kind


def test_stage_directions_are_not_spoken_in_korean() -> None:
    assert said("(웃으며) 국물 다 됐어요.", "ko") == "국물 다 됐어요."
    assert said("국물 다 됐어요. (고개를 끄덕인다)", "ko") == "국물 다 됐어요."


@pytest.mark.parametrize(
    "text", ["because", "Say", "Because, because!", "*nods* “The”", "Mira: ends", '"say": the', "<say>"]
)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_name_of_a_field_is_nothing_that_anybody_says(text: str, language: str) -> None:
    assert said(text, language) == ""


@pytest.mark.parametrize("text", ["Because of the rain.", "I would say so.", "The end.", "Everybody!"])
def test_words_that_hold_the_name_of_a_field_are_said(text: str) -> None:
    assert said(text) == text


@pytest.mark.parametrize("text", ["…", "?", "I'm sorry, but I can't come tonight.", "That costs 3,000.", "Ha! (Not.)"])
def test_what_a_person_says_passes(text: str) -> None:
    assert said(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("오늘 Moon Courier 기록을 깼어요.", "ko"),
        ("네!", "ko"),
        ("OK.", "ko"),
        ("… 7, 8.", "en"),
        ("We had tteokbokki (떡볶이) and café au lait.", "en"),
    ],
)
def test_names_and_short_words_of_other_scripts_pass(text: str, language: str) -> None:
    assert said(text, language) == text


@given(text=st.text(alphabet="ab .!?…", max_size=900), longest=st.integers(20, 400))
def test_long_words_end_with_a_sentence_where_they_can(text: str, longest: int) -> None:
    cut = until_sentence_end(text, longest)
    assert len(cut) <= longest
    assert cut == text or cut.endswith((".", "!", "?", "…", "a", "b")) or not cut


def test_free_text_is_an_answer_where_words_are_all_that_is_asked() -> None:
    asks = every_ask()
    for name, field in (("duet_turn", "utterance"), ("answer", "answer"), ("panel_turn", "answer")):
        value = BOOKS["en"].read_text(asks[name], "  Mira: Fine, thank you. ")
        assert getattr(value, field) == "Fine, thank you."
        assert BOOKS["en"].read_text(asks[name], " ") is None
        assert BOOKS["en"].read_text(asks[name], "As an AI, I cannot.") is None
    assert BOOKS["en"].read_text(asks["react"], "Fine.") is None


def test_words_are_needed_where_nothing_else_is_asked_for() -> None:
    asks = every_ask()
    for name, field in (("duet_turn", "say"), ("answer", "answer"), ("panel_turn", "answer")):
        with pytest.raises(Unusable) as caught:
            BOOKS["en"].read(asks[name], {field: '""', "because": []})
        assert caught.value.kind == "empty"
    assert said("") == "", "in a town one may have nothing to say"


@pytest.mark.parametrize(
    "text",
    [
        "Bonjour, je suis très content de vous voir.",
        "Hola, ¿cómo estás hoy, mi amigo?",
        "Ich gehe jetzt nach Hause und lese ein Buch.",
        "Buongiorno, come stai oggi? Vado al mercato.",
        "Bom dia, tudo bem com você?",
        "Goedemorgen, hoe gaat het met jou vandaag?",
    ],
)
def test_another_language_in_the_same_letters_is_refused(text: str) -> None:
    assert refused(text) == "language"


@pytest.mark.parametrize(
    "text",
    [
        "I met him at the Café de la Paix in Rue de Rivoli.",
        "Jean-Luc de la Tour, Piet van der Berg, Inés del Río.",
        "Good morning, mon ami!",
        "I'd say c'est la vie, but the roof is still leaking.",
        "Sauerkraut, crème brûlée, jalapeños, gnocchi al pesto!",
        "Au revoir, Jun!",
    ],
)
def test_names_and_a_few_foreign_words_pass(text: str) -> None:
    assert said(text) == text
