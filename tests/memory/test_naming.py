"""Who a memory is of, and who a question names."""

from __future__ import annotations

import pytest

from commonplace.memory import MemoryStream
from commonplace.memory.traits import is_question, named, place, quiet, subject
from memory.naive import START


def remembered(text, **fields):
    return MemoryStream("maria").remember(text, at=START, **fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Maria: I saw a heron", {"maria"}),
        ("Maria Lopez: the mill: is it open?", {"maria", "lopez"}),
        ("[1:56 pm on 8 May, 2023] Maria: hello", {"maria"}),
        ("2031-10-04 08:15 Maria: hello", {"maria"}),
        ("Klaus Mueller is reading", {"klaus", "mueller"}),
        ("Isabella's café is open", {"isabella"}),
        ("Klaus said: “come: now”", {"klaus", "said"}),
        ("민수가 카페에 갔다", {"민수가", "민수"}),
        ("it rains", set()),
        ("The stove is burning", set()),
        ("?!", set()),
    ],
)
def test_the_subject_is_who_speaks_or_what_the_sentence_begins_with(text, expected):
    assert set(subject(remembered(text))) == expected


def test_source_and_place_count_too():
    memory = remembered("I saw a heron", source="Klaus", place=("Town", "Old Mill"))
    assert set(subject(memory)) == {"klaus"}
    assert place(memory) == ("town", "old", "mill")


def test_a_question_names_its_words_without_grammar_and_possessives():
    assert named("What is Maria’s brother’s name?") == ["maria", "brother", "name"]
    assert named("민수에게") == ["민수", "민수에", "민수에게"]


def test_only_words_of_grammar_are_quiet_and_a_name_is_not():
    assert quiet("What did Will do in May?") >= {"what", "did", "do", "in"}
    assert not quiet("What did Will do in May?") & {"will", "may"}
    assert "may" in quiet("what may it be")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Shall we?", True),
        ("Klaus asks: “shall we?”", True),
        ("Shall we? [a photo of a lake]", True),
        ("그럴까？", True),
        ("Shall we? I think so", False),
        ("(really?) yes", False),
    ],
)
def test_a_text_asks_if_it_ends_in_a_question(text, asks):
    assert is_question(text) is asks
