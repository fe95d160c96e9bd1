"""Feelings by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory.emotion import RuleFeeler, estimate_sentiment, extract_emotion_keywords, feeler, language_of
from sizes import examples


@pytest.mark.parametrize(
    ("text", "sign", "keywords"),
    [
        ("Maria is happy about the festival", 1, ["joy"]),
        ("She was terrified and wept", -1, ["fear", "sadness"]),
        ("I am so thankful; I hope it grows", 1, ["gratitude", "hope", "growth"]),
        ("The stove is on", 0, []),
        ("He is not happy", -1, []),
        ("Don’t worry", 1, []),
        ("민수는 축제가 기뻤다", 1, ["기쁨"]),
        ("외롭고 슬픈 밤이었다", -1, ["외로움", "슬픔"]),
        ("하나도 기쁘지 않았다", -1, []),
        ("안 무서워", 1, []),
        ("난로가 켜져 있다", 0, []),
        ("", 0, []),
    ],
)
def test_a_text_feels_as_it_reads(text, sign, keywords):
    felt = estimate_sentiment(text)
    assert (felt > 0) - (felt < 0) == sign
    assert extract_emotion_keywords(text) == keywords


def test_what_stirs_is_told_from_what_calms():
    assert feeler("en")("They rage and panic").arousal > 0.7
    assert feeler("en")("a calm, peaceful evening").arousal < 0.2


def test_more_words_make_it_surer():
    assert feeler("en")("sad").confidence == 0.5 < feeler("en")("sad and lonely").confidence


@examples(60)
@given(st.text(), st.sampled_from(("en", "ko")))
def test_any_text_gives_an_emotion_within_range_or_none(text, language):
    """Emotion itself refuses what is outside."""
    assert RuleFeeler(language)(text) == RuleFeeler(language)(text)


def test_a_language_without_lists_is_refused():
    with pytest.raises(UsageError, match="en, ko"):
        RuleFeeler("tlh")


def test_the_letters_tell_the_language():
    assert (language_of("축제가 party"), language_of("a 축"), language_of("")) == ("ko", "en", "en")
