"""Which memories compete: filters, the time of the question, how relevant a hit must be, and a vector alone."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import Analyser, Draft, Emotion, MemoryStream, policies, search, table
from memory.naive import START, CountingEmbedder, hours
from sizes import examples

LATER = hours(100)


def town(**parts) -> MemoryStream:
    stream = MemoryStream("maria", **parts)
    stream.remember(
        "Klaus reads about gentrification",
        at=hours(1), importance=6, place=("Town", "Library"), source="Klaus", tags=("book", "talk"), session="s1",
        emotion=Emotion(0.5, 0.2), metadata={"user": "k", "frame": {"what": "talk"}},
    )  # fmt: skip
    stream.remember("Klaus buys bread", at=hours(2), importance=2, kind="action", place=("Town", "Bakery"))
    stream.remember("the stove burns", at=hours(3), importance=9, place=("House",), source="Maria", session="s2")
    return stream


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"kinds": "action"}, [2]),
        ({"kinds": ["observation"]}, [1, 3]),
        ({"source": "Klaus"}, [1]),
        ({"agent": "nobody"}, []),
        ({"place": ("Town",)}, [1, 2]),
        ({"tags": ["talk"]}, [1]),
        ({"time_range": (hours(2), None)}, [2, 3]),
        ({"time_range": (None, hours(2)), "min_importance": 5}, [1]),
        ({"emotion": {"valence": (0, 1)}}, [1]),
        ({"session": "s2"}, [3]),
        ({"details": {"frame.what": "talk"}}, [1]),
        ({"metadata": {"user": ["k", "m"]}}, [1]),
        ({"text": "BREAD"}, [2]),
        ({"kinds": []}, []),
    ],
)
def test_recall_and_search_find_what_passes_the_filters(filters, wanted):
    stream = town()
    assert sorted(memory.id for memory in stream.search(**filters)) == wanted
    for policy in (policies.RECALL, policies.PARK, policies.LEXICAL):
        hits = stream.recall("Klaus", at=LATER, policy=policy, touch=False, **filters)
        assert sorted(hit.memory.id for hit in hits) == wanted
    assert sorted(hit.memory.id for hit in stream.recall("", at=LATER, **filters)) == wanted


@examples(60)
@given(
    kinds=st.none() | st.sets(st.sampled_from(["observation", "action"])),
    span=st.none() | st.tuples(st.none() | st.integers(0, 9), st.none() | st.integers(10, 20)),
    lowest=st.none() | st.floats(0, 11),
    tag=st.none() | st.sampled_from("ab"),
)
def test_filtered_hits_are_the_hits_without_those_excluded_by_hand(kinds, span, lowest, tag):
    stream = MemoryStream("maria", policies.LEXICAL)
    for number in range(20):
        kind = ("observation", "action")[number % 2]
        tags = ("a",) if number % 3 else ("a", "b")
        stream.remember(f"lantern {number}", at=hours(number), kind=kind, importance=1 + number % 10, tags=tags)
    moments = None if span is None else tuple(None if hour is None else hours(hour) for hour in span)
    filters = {"kinds": kinds, "time_range": moments, "min_importance": lowest, "tags": tag and [tag]}
    inside = {memory.id for memory in stream.search(**filters)}
    by_hand = stream.recall("lantern 3", at=LATER, exclude=set(range(1, 21)) - inside, touch=False)
    assert stream.recall("lantern 3", at=LATER, touch=False, **filters) == by_hand


@pytest.mark.parametrize(
    "wrong", [{"kinds": ["dream"]}, {"min_importance": "x"}, {"source": 3}, {"tags": "a"}, {"min_relevance": 2}]
)
def test_a_filter_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError):
        town().recall("Klaus", at=LATER, **wrong)


def test_why_not_names_the_filter_the_time_and_the_relevance():
    stream = town()
    assert stream.why_not(3, stream.retrieve("Klaus", at=LATER, source="Klaus")).reason == "filtered"
    assert stream.why_not(3, stream.retrieve("Klaus", at=hours(2))).reason == "later"
    assert stream.why_not(3, stream.retrieve("Klaus reads", at=LATER, min_relevance=0.2)).reason == "irrelevant"


@examples(200)
@given(
    drawn=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "source": st.sampled_from(("Tom", "Maria", "")),
                "place": st.sampled_from(((), ("Town",), ("Town", "Mill"))),
                "tags": st.sampled_from(((), ("a",), ("a", "b"))),
                "session": st.sampled_from(("", "s")),
                "details": st.sampled_from(
                    ({}, {"x": 1}, {"x": (1, 2)}, {"x": [3]}, {"emotion": {"x": 1}}, {"y": '"emotion":'})
                ),
                "emotion": st.sampled_from((None, Emotion(0.5, 0.2), Emotion(-0.5, 0.2, keywords=('"details":',)))),
            },
        ),
        max_size=12,
    ),
    wanted=st.fixed_dictionaries(
        {},
        optional={
            "source": st.sampled_from(("Tom", "Maria", "")),
            "place": st.sampled_from(((), ("Town",), ("Mill",))),
            "tags": st.sampled_from((["a"], ["a", "b"], [])),
            "session": st.sampled_from(("", "s")),
            "details": st.sampled_from(({}, {"x": 1}, {"emotion.x": 1}, {"y": ['"emotion":']})),
            "emotion": st.sampled_from(({"valence": (0, 1)}, {"keywords": ['"details":']}, {})),
            "min_importance": st.just(2),
        },
    ),
    later=st.integers(0, 12),
)
def test_rare_fields_are_compared_wherever_the_memory_is_kept(drawn, wanted, later):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "_LATEST", 2)
        stream = MemoryStream("maria", policies.LEXICAL)
        for number, fields in enumerate(drawn):
            stream.remember(f"lantern {number}", at=hours(number), importance=1 + number % 2, **fields)
            if number == later:
                stream.search(**wanted)
                before = stream.snapshot()
                seen = before.search(**wanted)
    tests = search.filters(**wanted)
    by_hand = [memory for memory in stream if all(test(memory) for test in tests)]
    assert stream.search(**wanted) == by_hand[::-1]
    assert later >= len(drawn) or before.search(**wanted) == seen


def test_what_one_filter_leaves_out_no_other_brings_back(monkeypatch):
    monkeypatch.setattr(table, "_LATEST", 2)
    stream = MemoryStream("maria", policies.LEXICAL)
    for number in range(12):
        stream.remember("lantern", at=hours(number), importance=1 + number % 2, details={"x": 1})
    assert [memory.id for memory in stream.search(details={"x": 1}, min_importance=2)] == [12, 10, 8, 6, 4, 2]


def test_metadata_are_the_details_under_another_name():
    memory = town().get(1)
    assert memory.metadata == memory.details == {"user": "k", "frame": {"what": "talk"}}


# ── as of ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", policies.NAMES)
def test_what_was_made_after_the_question_is_not_seen(name):
    stream, policy = town(), policies.by_name(name)
    for question in ("Klaus", ""):
        hits = stream.recall(question, at=hours(2), policy=policy, touch=False)
        assert {hit.memory.id for hit in hits} == {1, 2}
    draft = Draft(stream)
    draft.remember("Klaus sleeps", at=hours(50))
    assert 4 not in draft.retrieve("Klaus", at=hours(49)).ids
    assert 4 in draft.retrieve("Klaus", at=hours(50)).ids


# ── relevance ────────────────────────────────────────────────────────────────────────────────────────────────────────


EN = ("Klaus reads about gentrification", "the stove burns", "Maria bakes bread for the festival")
KO = ("민수가 도서관에서 책을 읽는다", "난로가 타고 있다", "지우가 축제에서 떡볶이를 판다")


@pytest.mark.parametrize("policy", [policies.RECALL, policies.LEXICAL])
@pytest.mark.parametrize(
    ("language", "said", "question", "nonsense"),
    [
        ("en", EN, "who bakes the bread?", "qwerty zxcv"),
        ("ko", KO, "축제에서 떡볶이를 파는 사람은?", "뷁쉟 꿹뀷"),
    ],
)
@pytest.mark.parametrize("more", [0, 200])
def test_a_nonsense_question_finds_nothing_and_a_good_one_its_memory(policy, language, said, question, nonsense, more):
    stream = MemoryStream("maria", policy, analyser=Analyser(language))
    for number, text in enumerate([*said, *(f"walk {number}" for number in range(more))]):
        stream.remember(text, at=hours(number))
    assert stream.recall(nonsense, at=hours(1000), min_relevance=0.05) == []
    best, *others = stream.recall(question, at=hours(1000), min_relevance=0.4)
    assert best.memory.id == 3 and not others
    assert 0.4 <= best.relevance <= 1
    assert all(hit.relevance == 0 for hit in stream.recall(nonsense, at=hours(1000), touch=False))


def test_a_memory_that_says_what_was_asked_is_fully_relevant():
    stream = town()
    hit = stream.recall("Klaus buys bread", at=LATER)[0]
    assert (hit.memory.id, hit.relevance) == (2, pytest.approx(1.0, abs=0.05))
    assert stream.recall("", at=LATER)[0].relevance is None


@examples(40)
@given(question=st.sampled_from(["festival Klaus", "stove", "promise Klaus stove", "zzz"]), least=st.floats(0, 1))
def test_min_relevance_takes_away_exactly_the_hits_below_it(question, least):
    for policy in (policies.PARK, policies.RECALL, policies.TWO_STAGE):
        stream = MemoryStream("maria", policy, embedder=CountingEmbedder())
        for number, text in enumerate(
            ["festival", "stove Klaus", "promise and Klaus", "nothing", "Klaus stove promise"]
        ):
            stream.remember(text, at=hours(number), importance=3)
        every = stream.recall(question, at=LATER, touch=False)
        kept = stream.recall(question, at=LATER, touch=False, min_relevance=least)
        assert [(hit.memory.id, hit.score) for hit in kept] == [
            (hit.memory.id, hit.score) for hit in every if hit.relevance >= least or not least
        ]


def test_a_relevance_stays_what_it_was_when_more_is_remembered():
    stream = town()
    found = stream.retrieve("Klaus buys bread", at=LATER)
    before = found.hits[0].relevance
    again = stream.retrieve("Klaus buys bread", at=LATER)
    for number in range(50):
        stream.remember(f"bread {number}", at=LATER)
    assert again.hits[0].relevance == before


# ── a vector without words ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("policy", [policies.RECALL, policies.PARK, policies.TWO_STAGE])
def test_a_vector_alone_is_a_question(policy):
    stream = MemoryStream("maria", policy)
    for number in range(5):
        vector = np.zeros(384, dtype=np.float32)
        vector[number] = 1
        stream.remember(f"{number}", at=START + timedelta(minutes=number), importance=3, embedding=vector)
    wanted = np.zeros(384, dtype=np.float32)
    wanted[1] = 2
    found = stream.retrieve("", at=LATER, embedding=wanted, k=2)
    assert (found.ids[0], found.chosen_by) == (2, "score")
    assert found[0].relevance == pytest.approx(1)
    assert [hit.memory.id for hit in stream.recall("", at=LATER, embedding=wanted, min_relevance=0.5)] == [2]
    assert stream.retrieve("", at=LATER).ids[0] == 5
