"""Ratings by rules, in both languages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.languages import LANGUAGES, word_list
from commonplace.memory import RuleRater
from commonplace.memory.importance import usable_rating
from sizes import examples


@pytest.mark.parametrize(
    ("language", "text", "importance", "rules"),
    [
        ("en", "The tea is warm", 3, []),
        ("en", "She decides to stay", 5, ["eventful"]),
        ("en", "They made a promise and confessed a mistake", 5, ["eventful"]),
        ("en", "He is angry, anxious and full of joy", 4, ["emotional"]),
        ("en", "Her brother reads", 4, ["personal"]),
        ("en", "Klaus reads", 4, ["personal"]),
        ("en", "Klaus’s book", 4, ["personal"]),
        ("en", "It is about opening bakeries", 7, ["eventful", "goal"]),
        ("en", "Klaus happily promised his sister a bakery", 9, ["eventful", "emotional", "goal", "personal"]),
        ("ko", "차가 따뜻하다", 3, []),
        ("ko", "남기로 결정했다", 5, ["eventful"]),
        ("ko", "약속과 실수를 고백했다", 5, ["eventful"]),
        ("ko", "그는 화났고 불안했다", 4, ["emotional"]),
        ("ko", "기쁨에 찼다", 4, ["emotional"]),
        ("ko", "동생이 책을 읽는다", 4, ["personal"]),
        ("ko", "민수가 책을 읽는다", 4, ["personal"]),
        ("ko", "빵집을 구경한다", 5, ["goal"]),
        ("ko", "민수에게 빵집을 약속하고 기뻤다", 9, ["eventful", "emotional", "goal", "personal"]),
    ],
)
def test_each_rule_counts_once(language, text, importance, rules):
    goal = {"en": "to open a bakery", "ko": "나의 빵집을 열고 싶다"}[language]
    rater = RuleRater(language, goal=goal, names=["Klaus Mueller", "민수"])
    rating = rater.explain(text)
    assert (rating.importance, list(rating.because)) == (importance, rules)
    assert rater(text) == importance


@examples(100)
@given(st.text(max_size=80), st.sampled_from(LANGUAGES))
def test_a_rating_is_within_3_and_10_and_does_not_change(text, language):
    rater = RuleRater(language, goal="win the race 경주", names=("Ann",))
    assert 3 <= rater(text) <= 10
    assert rater(text) == RuleRater(language, goal="win the race 경주", names=("Ann",))(text)


def test_a_name_of_one_syllable_is_not_the_beginning_of_every_word():
    rater = RuleRater("ko", names=["김 민수"])
    assert rater("김치를 먹는다") == 3
    assert rater("김 씨가 온다") == 4


def test_grammar_words_of_a_goal_do_not_count():
    assert RuleRater("en", goal="to be with the one")("the one to be with") == 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lists_hold_the_words_of_the_founding_document(language):
    lists = word_list(language)
    eventful = {"en": {"decision", "promise", "mistake", "confession"}, "ko": {"결정", "약속", "실수", "고백"}}
    emotional = {"en": {"angry", "joy", "anxiety"}, "ko": {"화남", "기쁨", "불안"}}
    assert eventful[language] <= lists.eventful
    assert emotional[language] <= lists.emotional
    assert min(len(lists.eventful), len(lists.emotional), len(lists.relation)) >= 50


def test_a_language_without_lists_is_refused():
    with pytest.raises(UsageError, match="en, ko"):
        RuleRater("fr")


@pytest.mark.parametrize(
    ("answer", "kept"),
    [(7, 7), (6.5, 6.5), (0, 1), (99, 10), ("7", 3), (None, 3), (math.nan, 3), (True, 3), (math.inf, 3)],
)
def test_an_unusable_rating_counts_as_3(answer, kept):
    assert usable_rating(answer) == kept
