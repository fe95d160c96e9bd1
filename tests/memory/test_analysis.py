"""The tokens BM25 counts."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Analyser, MemoryStream, policies


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Klaus's studies, studying", ["klaus", "studi", "studi"]),
        ("Klaus’s", ["klaus"]),
        ("The and of", ["the", "and", "of"]),
        ("회의실 예약", ["회의", "의실", "예약"]),
        ("집", ["집"]),
        ("on 2031-10-04 at 7", ["2031-10-04", "on", "at", "7"]),
        ("12031-10-04", ["12031", "10", "04"]),
        ("the 4th of October", ["the", "4", "of", "octob"]),
        ("10월 4일에", ["10월", "4일", "에"]),
        ("東京都 café", ["東京", "京都", "café"]),
        ("", []),
        ("?!", []),
    ],
)
def test_words_become_stems_and_bigrams(text, tokens):
    assert Analyser("en").query(text) == tokens


def test_a_memory_can_be_found_by_the_words_of_its_date():
    moment = datetime(2031, 10, 4, 23, tzinfo=UTC)
    assert Analyser("en").document("tea", moment) == ["tea", "saturday", "octob", "4", "2031-10-04"]
    assert Analyser("ko").document("tea", moment) == ["tea", "10월", "4일", "토요", "요일", "2031-10-04"]


@pytest.mark.parametrize("query", ["what happened on Monday?", "2031-10-06", "October 6th"])
def test_a_question_about_a_day_finds_that_day(query):
    stream = MemoryStream("maria", policies.LEXICAL)
    for day in range(4, 9):
        stream.remember("We had tea", at=datetime(2031, 10, day, tzinfo=UTC), importance=3)
    hit = max(stream.recall(query, at=datetime(2031, 11, 1, tzinfo=UTC)), key=lambda hit: hit.parts["relevance"].raw)
    assert hit.memory.created_at.day == 6


def test_every_date_has_its_words():
    for language in ("en", "ko"):
        for month in range(1, 13):
            assert len(Analyser(language).date(date(2031, month, 28))) >= 4


def test_a_language_without_words_for_dates_is_refused():
    with pytest.raises(UsageError, match="en, ko"):
        Analyser("fr")


def test_tokens_do_not_depend_on_what_was_analysed_before():
    analyser = Analyser("en")
    expected = analyser.query("studies of 회의실")
    analyser._tokens = {str(number): ("x",) for number in range(65_536)}
    assert analyser.query("studies of 회의실") == expected
