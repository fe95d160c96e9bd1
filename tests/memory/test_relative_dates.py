"""The days that words of a question name from where it stands."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import Draft, MemoryStream, policies
from commonplace.memory.relative_dates import LONGEST, Dated, dated
from sizes import examples

AT = datetime(2031, 10, 15, 9, tzinfo=UTC)  # a Wednesday


def october(*days: int) -> tuple[date, ...]:
    return tuple(date(2031, 10, day) for day in days)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did Klaus do yesterday?", october(14)),
        ("who came the day before yesterday?", october(13)),
        ("What happened last night", october(14)),
        ("What did you eat this morning?", october(15)),
        ("what did I say three days ago?", october(12)),
        ("what did I say a couple of days ago?", october(13)),
        ("2 weeks ago we met", (*(date(2031, 9, day) for day in (28, 29, 30)), *october(1, 2, 3, 4))),
        ("What happened LAST WEEK?", october(6, 7, 8, 9, 10, 11, 12)),
        ("what did you plan this week", october(13, 14, 15)),
        ("who called last Monday?", october(13)),
        ("who called last Wednesday?", october(8)),
        ("who called this Monday?", october(13)),
        ("on Friday last week", october(10)),
        ("last weekend", october(11, 12)),
        ("in the past 3 days", october(12, 13, 14, 15)),
        ("where were we last month?", tuple(date(2031, 9, day) for day in range(1, 31))),
        ("어제 뭐 먹었어?", october(14)),
        ("어젯밤에는 누가 왔지?", october(14)),
        ("그저께 산 책은?", october(13)),
        ("오늘 아침에 뭐 했어?", october(15)),
        ("사흘 전에 누구를 만났어?", october(12)),
        ("3일 전에는?", october(12)),
        ("지난주에 뭐 했더라", october(6, 7, 8, 9, 10, 11, 12)),
        ("지난 주 금요일에 본 영화", october(10)),
        ("지난 월요일에 온 사람", october(13)),
        ("이번 주는 어땠어?", october(13, 14, 15)),
        ("저번 주말에 간 곳", october(11, 12)),
        ("최근 사흘 동안", october(12, 13, 14, 15)),
        ("어제랑 그제", october(13, 14)),
        ("what did Klaus do on Monday?", october(13)),
        ("who was here on Wednesday?", october(8)),
        ("What did we eat on friday night?", october(10)),
        ("Sunday evening we talked", october(12)),
        ("What has changed since Monday?", october(13, 14, 15)),
        ("since last Friday", october(*range(10, 16))),
        ("since yesterday", october(14, 15)),
        ("Where were you on Monday evening?", october(13)),
        ("Did Will come on Monday?", october(13)),
        ("what did we do the Monday before last", october(6)),
        ("the night before last", october(13)),
        ("What happened the week before last?", (date(2031, 9, 29), date(2031, 9, 30), *october(*range(1, 6)))),
        ("the weekend before last", october(4, 5)),
        ("the month before last", tuple(date(2031, 8, day) for day in range(1, 32))),
        ("in the past month", (*(date(2031, 9, day) for day in range(15, 31)), *october(*range(1, 16)))),
        ("over the last month", (*(date(2031, 9, day) for day in range(15, 31)), *october(*range(1, 16)))),
        ("in the past week", october(*range(8, 16))),
        ("what did you do in the last week?", october(*range(8, 16))),
        ("in the past day", october(14, 15)),
        ("a fortnight ago", (*(date(2031, 9, day) for day in (28, 29, 30)), *october(1, 2, 3, 4))),
        ("last fortnight", october(*range(1, 16))),
        ("over the past fortnight", october(*range(1, 16))),
        ("two fortnights ago", tuple(date(2031, 9, day) for day in range(14, 21))),
        ("two nights ago", october(13)),
        ("the other day", october(9, 10, 11, 12, 13)),
        ("several days ago", october(9, 10, 11, 12, 13)),
        ("a few weeks ago", (*(date(2031, 9, day) for day in range(17, 31)), october(1)[0])),
        ("last evening", october(14)),
        ("half a year ago", tuple(date(2031, 4, day) for day in range(1, 31))),
        ("엊저녁에 누가 왔어?", october(14)),
        ("엊그제 저녁에 뭐 먹었지?", october(12, 13, 14)),
        ("엊그저께 저녁", october(12, 13, 14)),
        ("지난밤에 무슨 소리 들었어?", october(14)),
        ("그젯밤 일", october(13)),
        ("아까 뭐라고 했어?", october(15)),
        ("월요일에 뭐 했어?", october(13)),
        ("화요일엔 누가 왔어?", october(14)),
        ("수요일에 산 책", october(8)),
        ("목요일 저녁에 먹은 것", october(9)),
        ("금요일 뭐 먹었지", october(10)),
        ("토요일날 어디 갔어?", october(11)),
        ("일요일 아침의 산책", october(12)),
        ("월욜에 누구 만났어?", october(13)),
        ("지난 월욜에 온 사람", october(13)),
        ("월요일부터 뭐 했어?", october(13, 14, 15)),
        ("어제부터 아팠어", october(14, 15)),
        ("월요일에 누가 왔을까?", october(13)),
        ("지난주에도 비가 왔어?", october(6, 7, 8, 9, 10, 11, 12)),
        ("지지난주 금요일", october(3)),
        ("지지난 주에 뭐 했지", (date(2031, 9, 29), date(2031, 9, 30), *october(*range(1, 6)))),
        ("지지난 주말", october(4, 5)),
        ("지지난달에", tuple(date(2031, 8, day) for day in range(1, 32))),
        ("이달에 뭐 샀어?", october(*range(1, 16))),
        ("최근 한 달 동안", (*(date(2031, 9, day) for day in range(15, 31)), *october(*range(1, 16)))),
        ("요 며칠 뭐 했어?", october(*range(10, 16))),
        ("몇 주 전에 만난 사람", (*(date(2031, 9, day) for day in range(17, 31)), october(1)[0])),
        ("반년 전에", tuple(date(2031, 4, day) for day in range(1, 31))),
    ],
)  # fmt: skip
def test_the_days_of_a_phrase(question, days):
    assert dated(question, AT).days == days


@pytest.mark.parametrize(
    "question",
    [
        "", "When did Maria last see Klaus?", "at last", "Which Monday?", "tomorrow", "next week", "in the back",
        "the weekend before 4 October, last week", "yesterday, on 2031-10-04",
        "이번 주문은 뭐야?", "이번 달리기", "오늘날", "그제야 알았다", "언제 왔어?", "이제", "전화", "지난번",
        "10월 4일 어제",
        "What does she do on Mondays?", "every Monday morning", "on Monday mornings", "a Monday", "Monday's child",
        "on Monday next week", "What will you do on Monday?", "Are we meeting on Monday?", "what's on next Monday",
        "are you going to sing on Friday?", "on Monday, the 4th", "half past", "the other chair", "fortnightly",
        "월요일마다", "매주 월요일에", "다음 주 월요일", "다음주 월요일", "다음 월요일", "월요병", "월요일이 제일 좋아",
        "월요일에 뭐 할 거야?", "금요일에 갈까?", "일요일에 올 예정이야", "무슨 요일이야?", "요일", "월요일자 신문",
        "생일요일", "이달리아", "지난 밤나무", "몇 주", "며칠이야?",
    ],
)  # fmt: skip
def test_other_words_name_no_day(question):
    assert dated(question, AT) == ((), question, ())


@pytest.mark.parametrize(
    ("question", "first", "last", "rest"),
    [
        ("What did Klaus plant last year?", date(2030, 1, 1), date(2030, 12, 31), "What did Klaus plant  ?"),
        ("this year, who came", date(2031, 1, 1), AT.date(), " , who came"),
        ("the year before last", date(2029, 1, 1), date(2029, 12, 31), "the  "),
        ("over the past year", AT.date() - timedelta(365), AT.date(), "over the  "),
        ("two years ago", date(2029, 1, 1), date(2029, 12, 31), " "),
        ("the last three months", AT.date() - timedelta(90), AT.date(), "the  "),
        ("작년에 심은 꽃은?", date(2030, 1, 1), date(2030, 12, 31), "  심은 꽃은?"),
        ("지난해 여름", date(2030, 1, 1), date(2030, 12, 31), "  여름"),
        ("재작년에는", date(2029, 1, 1), date(2029, 12, 31), " "),
        ("올해는 누가 왔어?", date(2031, 1, 1), AT.date(), "  누가 왔어?"),
        ("3년 전에 산 집", date(2028, 1, 1), date(2028, 12, 31), " 에 산 집"),
    ],
)
def test_the_days_of_a_year_count_together(question, first, last, rest):
    found = dated(question, AT)
    assert found.days == ()
    assert found.longer == tuple(first + timedelta(day) for day in range((last - first).days + 1))
    assert found.rest.split() == rest.split()


@examples(200)
@given(
    st.text(alphabet="0123456789 days weeks ago last month year yesterday 전일주지난달어제작년", max_size=40),
    st.datetimes(),
)
def test_any_question_at_any_time(question, at):
    days, _, longer = dated(question, at.replace(tzinfo=UTC))
    for found in (days, longer):
        assert list(found) == sorted(set(found))
        assert all(day <= at.date() for day in found)
    assert len(days) <= LONGEST * 20


# Five of these each day, and each of them on many days: what tells the days apart is the time a question names.
DAY = (
    "Klaus ate {0} for lunch", "Maria borrowed a book about {0}", "we walked to the {0}",
    "민수가 점심으로 {0}을 먹었다", "지우가 {0} 이야기를 했다",
)  # fmt: skip
THINGS = ("noodles", "rice", "bread", "soup", "beans", "fish", "plums")
ASKED = (
    ("What did Klaus eat yesterday?", [14], 0),
    ("What did Maria borrow the day before yesterday?", [13], 1),
    ("Where did we walk last Monday?", [13], 2),
    ("Which book did Maria borrow five days ago?", [10], 1),
    ("What did Klaus have for lunch last Friday?", [10], 0),
    ("where did we walk today", [15], 2),
    ("민수가 어제 점심으로 뭐 먹었지?", [14], 3),
    ("그저께 지우가 무슨 이야기를 했어?", [13], 4),
    ("지난 월요일에 민수가 먹은 점심은?", [13], 3),
    ("사흘 전에 지우가 한 이야기는?", [12], 4),
    ("지난주 금요일에 민수가 뭘 먹었어?", [10], 3),
    ("오늘 지우가 뭐라고 했어?", [15], 4),
)


def diary() -> MemoryStream:
    stream = MemoryStream("maria", policies.RECALL)
    for day in range(60):
        at = datetime(2031, 8, 17, 8, tzinfo=UTC) + timedelta(days=day)
        for number, text in enumerate(DAY):
            thing = THINGS[(3 * day + 2 * number) % 7]
            stream.remember(text.format(thing), at=at + timedelta(minutes=7 * number), importance=3)
    return stream


def found(stream: MemoryStream, question: str) -> list[tuple[date, int]]:
    """(day, sentence) of the first three hits."""
    hits = stream.recall(question, at=AT, k=3, touch=False)
    return [(hit.memory.created_at.date(), (hit.memory.id - 1) % len(DAY)) for hit in hits]


def test_a_question_finds_what_was_at_the_time_it_names(monkeypatch):
    stream = diary()
    for question, days, sentence in ASKED:
        assert found(stream, question)[0] == (date(2031, 10, days[0]), sentence), question
    monkeypatch.setattr("commonplace.memory.scoring.dated", lambda text, at: Dated((), text))
    without = [(found(stream, question), (date(2031, 10, days[0]), sentence)) for question, days, sentence in ASKED]
    assert sum(hits[0] == wanted for hits, wanted in without) <= len(ASKED) / 2


@pytest.mark.parametrize(
    ("question", "year"),
    [
        ("What did Klaus plant last year?", 2030),
        ("What has Klaus planted this year?", 2031),
        ("two years ago, what did Klaus plant?", 2029),
        ("Klaus가 작년에 심은 것은? (plant)", 2030),
        ("Klaus가 올해 심은 것은? (plant)", 2031),
    ],
)
def test_a_question_finds_what_was_in_the_year_it_names(question, year):
    stream = MemoryStream("maria", policies.RECALL)
    for day in range(1_000):  # until the day of the question; one day of the year is as rare as another
        at = AT - timedelta(days=1_000 - day)
        text = "Klaus planted {0}" if day % 90 == 50 else "we talked about {0}"
        stream.remember(text.format(THINGS[day % 7]), at=at, importance=3)
        if day % 10 == 0:
            stream.remember(f"the rain fell on the {THINGS[day % 5]}", at=at, importance=3)
    hits = stream.recall(question, at=AT, k=3, touch=False)
    assert [(hit.memory.created_at.year, "planted" in hit.memory.text) for hit in hits] == [(year, True)] * 3


def test_a_year_that_all_memories_are_of_changes_no_order():
    stream = diary()
    asked, plain = (stream.recall(text, at=AT, k=9, touch=False) for text in ("soup this year", "soup"))
    assert [hit.memory.id for hit in asked] == [hit.memory.id for hit in plain]


def test_what_was_yesterday_is_relevant_whatever_its_words():
    stream = diary()
    hits = stream.recall("어제는?", at=AT, k=20, min_relevance=0.5, touch=False)
    assert {hit.memory.created_at.date() for hit in hits} == {date(2031, 10, 14)}
    assert len(hits) == 5


def test_the_same_question_names_another_day_when_it_is_asked_on_another():
    stream = MemoryStream("maria")
    for day in range(1, 6):
        text = "what did Klaus eat? Plums, as yesterday"  # all words of the question: none is replaced
        stream.remember(text, at=datetime(2031, 10, day, 9, tzinfo=UTC))
    for day in (2, 5, 3, 6, 4):
        asked = datetime(2031, 10, day, 18, tzinfo=UTC)
        (hit,) = stream.recall("What did Klaus eat yesterday?", at=asked, k=1, touch=False)
        assert hit.memory.created_at.day == day - 1


@pytest.mark.parametrize(
    ("question", "text"),
    [("What did Klaus eat on Monday?", "Klaus ate noodles"), ("월요일에 민수가 뭐 먹었어?", "민수가 국수를 먹었다")],
)
def test_a_weekday_is_the_latest_although_an_earlier_one_matters_more(question, text, monkeypatch):
    stream = MemoryStream("maria")
    for day in range(1, 15):
        told = text if day in {6, 13} else f"the rain fell on {THINGS[day % 7]}"
        at = datetime(2031, 10, day, 9, tzinfo=UTC)
        stream.remember(told, at=at, importance=9 if day == 6 else 1)
    assert found_days(stream, question)[0] == 13
    monkeypatch.setattr("commonplace.memory.scoring.dated", lambda text, at: Dated((), text))
    assert found_days(stream, question)[0] == 6


def found_days(stream: MemoryStream, question: str) -> list[int]:
    return [hit.memory.created_at.day for hit in stream.recall(question, at=AT, k=3, touch=False)]


def test_a_draft_reads_the_same_days_and_a_day_without_memories_is_no_other():
    stream = diary()
    assert Draft(stream).recall("어제는?", at=AT, k=3) == stream.recall("어제는?", at=AT, k=3, touch=False)
    later = AT + timedelta(days=40)
    asked, plain = (stream.recall(text, at=later, k=5, touch=False) for text in ("lunch yesterday", "lunch"))
    assert [hit.memory.id for hit in asked] == [hit.memory.id for hit in plain]


@pytest.mark.parametrize("policy", [policies.PARK, policies.LEXICAL, policies.TWO_STAGE, policies.REPO2023])
def test_the_policies_of_the_papers_do_not_read_them(policy, monkeypatch):
    stream = diary()
    before = stream.recall("What did Klaus eat yesterday?", at=AT, policy=policy, touch=False)
    monkeypatch.setattr("commonplace.memory.scoring.dated", lambda text, at: Dated((AT.date(),), ""))
    assert stream.recall("What did Klaus eat yesterday?", at=AT, policy=policy, touch=False) == before
