"""Memories in words: whose they are, and when."""

from __future__ import annotations

import pytest

from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.minds.prompts.teller import Teller, gist
from commonplace.world.happenings import ISaid, Seed
from minds.offline.sample import memory, said

PEOPLE = PromptSetting("Town", (), (), (("Mira Sato", "Mira"), ("Jun Park", "Jun"), ("한미라", "미라"), ("박준", "준")))
MOMENT = "2031-10-04T10:00:00Z"
ENGLISH = Teller("Mira", "Mira Sato", "en", MOMENT, PEOPLE)
KOREAN = Teller("미라", "한미라", "ko", MOMENT, PEOPLE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Mira Sato was skimming the broth.", "was skimming the broth."),
        ("Mira is afraid of the canal.", "is afraid of the canal."),
        ("Mira Sato's mother cooks.", "your mother cooks."),
        ("Jun Park waves to Mira Sato.", "Jun waves to Mira."),
        ("Mirabel is here.", "Mirabel is here."),
    ],
)
def test_ones_own_doing_has_no_subject(text: str, told: str) -> None:
    assert ENGLISH.bare(text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("한미라는 국물을 젓고 있었다.", "국물을 젓고 있었다."),
        ("미라가 광장으로 걸어갔다.", "광장으로 걸어갔다."),
        ("한미라의 어머니는 배에서 일한다.", "당신의 어머니는 배에서 일한다."),
        ("박준이 가게에 들어온다.", "준이 가게에 들어온다."),
    ],
)
def test_in_korean_the_subject_goes_with_its_particle(text: str, told: str) -> None:
    assert KOREAN.bare(text) == told


def test_speech_names_who_spoke_to_whom() -> None:
    assert ENGLISH.memory(said(1, "Hello “you”.")).text == "Jun to you: \"Hello 'you'.\""
    assert ENGLISH.memory(said(1, "Hello.", to_me=False)).text == 'Jun to Odalys: "Hello."'
    mine = memory(2, "x", happening=ISaid(to="jun", to_called="Jun", quote="Yes."))
    assert ENGLISH.memory(mine).text == 'you to Jun: "Yes."'


def test_time_is_told_where_it_helps() -> None:
    assert ENGLISH.memory(memory(1, "x", 75)).when == "08:45"
    assert ENGLISH.memory(memory(1, "x", 11 * 60)).when == "Friday 23:00"
    assert ENGLISH.memory(memory(1, "x", 75, happening=Seed())).when == ""


def test_a_long_text_is_told_by_its_longest_sentences() -> None:
    text = "Oh, good morning. You have to hear this! At seven there is a festival at the plaza. Will Ezekiel come?"
    assert gist(text, len(text)) == text
    assert gist(text, 70) == "You have to hear this! At seven there is a festival at the plaza."
    assert gist(text, 45) == "At seven there is a festival at the plaza."


def test_a_long_sentence_is_told_up_to_the_end_of_a_clause() -> None:
    text = "In the flood Wren read out the names of the streets all night, so that people in boats knew where they were"
    assert gist(text, 80) == "In the flood Wren read out the names of the streets all night…"
    assert gist("x" * 90, 20) == f"{'x' * 19}…"
