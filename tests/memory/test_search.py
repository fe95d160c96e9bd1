"""Searching by coordinates."""

from __future__ import annotations

import math
from datetime import timedelta, timezone

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Emotion, MemoryStream
from commonplace.memory.search import Feeling
from memory.naive import hours


@pytest.fixture(scope="module")
def stream() -> MemoryStream:
    stream = MemoryStream("maria")
    stream.remember("Klaus reads", at=hours(0), place=("Town", "Library"), importance=3, tags=["Study"], session="a")
    stream.remember("The stove burns", at=hours(1), place=("Town", "House", "Kitchen"), importance=8, tags=["fire"])
    stream.remember("I cook", at=hours(2), place=("Town", "House", "Kitchen", "Stove"), importance=5, kind="action")
    stream.remember(
        "민수가 축제에 온다",
        at=hours(3),
        place=("Townhall",),
        importance=5.5,
        session="a",
        emotion=Emotion(0.6, 0.5, 1.0, ("기대", "Hope")),
        details={"role": "guest", "bqi": {"phase": "rest", "all": ["x", 2, None]}, "a.b": 1},
    )
    stream.remember(
        "Fire matters",
        at=hours(4),
        importance=9,
        kind="reflection",
        citations=[2],
        tags=["fire", "study"],
        emotion=Emotion(-0.6, 0.9, 0.5, ("fear",)),
        details={"role": "host"},
    )
    return stream


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"limit": 2}, [5, 4]),
        ({"limit": 0}, []),
        ({"text": "KLAUS"}, [1]),
        ({"text": "fire"}, [5, 2]),
        ({"text": "축제"}, [4]),
        ({"kinds": ["action", "reflection"]}, [5, 3]),
        ({"kinds": "action"}, [3]),
        ({"kinds": []}, []),
        ({"time_range": (hours(1), hours(3))}, [4, 3, 2]),
        ({"time_range": (None, hours(1))}, [2, 1]),
        ({"time_range": (hours(3), None)}, [5, 4]),
        ({"place": ("Town",)}, [3, 2, 1]),
        ({"place": ("Town", "House")}, [3, 2]),
        ({"place": ()}, [5, 4, 3, 2, 1]),
        ({"agent": "maria", "limit": 1}, [5]),
        ({"agent": "klaus"}, []),
        ({"tags": ["fire"]}, [5, 2]),
        ({"tags": ["fire", "study"]}, [5]),
        ({"min_importance": 5.5}, [5, 4, 2]),
        ({"min_importance": 5.5 + 1e-10}, [5, 4, 2]),
        ({"min_importance": 11}, []),
        ({"min_importance": -math.inf, "limit": 1}, [5]),
        ({"session": "a"}, [4, 1]),
        ({"tags": []}, []),
        ({"text": ""}, [5, 4, 3, 2, 1]),
        ({"time_range": (hours(3), hours(3))}, [4]),
        ({"time_range": (hours(3).astimezone(timezone(timedelta(hours=9))), None)}, [5, 4]),
        ({"time_range": (hours(3).replace(tzinfo=None), None)}, [5, 4]),
        ({"emotion": {}}, [5, 4]),
        ({"emotion": Feeling(valence=(0, 1))}, [4]),
        ({"emotion": {"valence": (None, -0.6)}}, [5]),
        ({"emotion": {"arousal": (0.5, 0.9)}}, [5, 4]),
        ({"emotion": {"arousal": (0.9, 0.5)}}, []),
        ({"emotion": {"keywords": ["hope", "joy"]}}, [4]),
        ({"emotion": {"keywords": []}}, []),
        ({"emotion": {"keywords": ["fear"], "valence": (0, 1)}}, []),
        ({"details": {"role": "guest"}}, [4]),
        ({"details": {"role": ["guest", "host"]}}, [5, 4]),
        ({"details": {"role": []}}, []),
        ({"details": {"bqi.phase": "rest"}}, [4]),
        ({"details": {"bqi.all": 2}}, [4]),
        ({"details": {"bqi.all": [None, 7]}}, [4]),
        ({"details": {"a.b": 1}}, [4]),
        ({"details": {"nowhere.at.all": None}}, []),
        ({"details": {"role": "guest", "bqi.phase": "tension"}}, []),
        ({"details": {}}, [5, 4, 3, 2, 1]),
        ({"session": "a", "place": ("Town",), "text": "reads"}, [1]),
    ],
    ids=str,
)
def test_filters_combine_and_the_newest_come_first(stream, filters, ids):
    assert [memory.id for memory in stream.search(**filters)] == ids


def test_searching_touches_nothing(stream):
    before = [memory.accessed_at for memory in stream]
    stream.search(text="fire")
    assert [memory.accessed_at for memory in stream] == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"kinds": ["dream"]},
        {"place": "Town"},
        {"tags": "fire"},
        {"time_range": (hours(2), hours(1))},
        {"min_importance": math.nan},
        {"emotion": {"mood": 1}},
        {"emotion": {"valence": (math.nan, 1)}},
        {"emotion": {"keywords": "fear"}},
    ],
    ids=str,
)
def test_a_filter_that_can_match_nothing_is_wrong_use(stream, wrong):
    with pytest.raises(UsageError):
        stream.search(**wrong)


def test_an_argument_of_another_library_is_answered_with_ours(stream):
    with pytest.raises(UsageError, match="no argument or filter 'top_k'") as caught:
        stream.recall("fire", at=hours(1), top_k=3)
    assert "`k`" in caught.value.hint
    assert "min_importance" in caught.value.hint


def test_the_latest_come_first(stream):
    assert [memory.id for memory in stream.recent(2)] == [5, 4]
    assert stream.recent(0) == []
