"""Speech passed on in English: what somebody said, in the mouth of another."""

from __future__ import annotations

import pytest

from commonplace.languages.en.wording import reported


@pytest.mark.parametrize(
    ("said", "pronoun", "passed_on"),
    [
        ("I need a battery.", "he", "he needs a battery"),
        ("I'm late again, as always.", "they", "they're late again, as always"),
        ("I was up all night with a gull.", "they", "they were up all night with a gull"),
        ("I was up all night with a gull.", "she", "she was up all night with a gull"),
        ("I still owe Jun for the broth pot.", "she", "she still owes Jun for the broth pot"),
        ("I've a jar of two hundred and no time to play.", "she", "she has a jar of two hundred and no time to play"),
        ("I don't think Pip knows she's company.", "he", "he doesn't think Pip knows she's company"),
        ("Ezekiel shut the gates on me in the flood.", "he", "Ezekiel shut the gates on him in the flood"),
        ("Viola said more than she meant to, and so did I about the fear.", "she",
         "Viola said more than she meant to, and so did she about the fear"),
        ("The cat sleeps in my transformer drawer.", "he", "the cat sleeps in his transformer drawer"),
        ("Seven years I've been angry at Ezekiel about the flood.", "he",
         "seven years he's been angry at Ezekiel about the flood"),
    ],
)  # fmt: skip
def test_a_sentence_turns_into_the_third_person(said: str, pronoun: str, passed_on: str) -> None:
    assert reported(said, pronoun) == passed_on


@pytest.mark.parametrize(
    "said",
    [
        "You need a battery.",
        "Do I need a battery?",
        "I made that up.",
        "It isn't going to get any nicer.",
        "Told her it was the mayor of Oslo.",
        "I ring up and complain about it.",
        "I shall, um, think of something.",
        "Viola likes the sea, and so do I on Sundays.",
        "I say the fence is Saskia's.",
    ],
)
def test_what_would_not_read_well_is_not_passed_on(said: str) -> None:
    assert reported(said, "he") == ""


def test_of_several_sentences_the_one_on_the_topic_is_passed_on() -> None:
    line = (
        "Good morning, Suki. Listen to this. I keep the landlord's letter behind the jar. It isn't getting any nicer."
    )
    assert reported(line, "she", "the landlord's letter") == "she keeps the landlord's letter behind the jar"
    assert reported(line, "she", "my roof") == ""
