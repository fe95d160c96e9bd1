"""Arguments of the wrong type or out of range: refused by name, and nothing has changed."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from commonplace.errors import UsageError
from commonplace.memory import Draft, Emotion, MemoryStream, Policy, policies

WHEN = datetime(2031, 10, 4, 8, tzinfo=UTC)
BEFORE_TIME = datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))


def stream() -> MemoryStream:
    made = MemoryStream("maria")
    made.remember("Klaus reads", at=WHEN)
    made.remember("The stove burns", at=WHEN)
    return made


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        ("text", {"text": b"Klaus"}),
        ("text", {"text": None}),
        ("time", {"at": "2031-10-04"}),
        ("time", {"at": date(2031, 10, 4)}),
        ("time", {"at": BEFORE_TIME}),
        ("importance", {"importance": 10**400}),
        ("embedding", {"embedding": "abc"}),
        ("embedding", {"embedding": [[1], [1, 2]]}),
        ("embedding", {"embedding": np.full(384, 1j)}),
        ("tags", {"tags": [5]}),
        ("place", {"place": 5}),
        ("ids", {"kind": "reflection", "citations": ["1"]}),
        ("ids", {"kind": "plan", "citations": 1.0}),
    ],
    ids=str,
)
def test_remembering(named, wrong):
    for reader in (stream(), Draft(stream())):
        with pytest.raises(UsageError, match=named):
            reader.remember(**{"text": "Klaus", "at": WHEN, **wrong})
        assert reader.last_id == 2


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        ("query", {"query": None}),
        ("query", {"query": b"Klaus"}),
        ("k", {"k": 0}),
        ("k", {"k": 2.5}),
        ("max_tokens", {"max_tokens": -1}),
        ("policy", {"policy": "park"}),
        ("ids", {"exclude": {"1"}}),
        ("embedding", {"embedding": "abc"}),
        ("time", {"at": BEFORE_TIME}),
    ],
    ids=str,
)
def test_recalling(named, wrong):
    asked = stream()
    before = list(asked)
    with pytest.raises(UsageError, match=named):
        asked.recall(**{"query": "Klaus", "at": WHEN + timedelta(hours=1), **wrong})
    assert list(asked) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": 5},
        {"kinds": 5},
        {"time_range": WHEN},
        {"time_range": (WHEN, WHEN, WHEN)},
        {"time_range": ("2031", None)},
        {"place": 5},
        {"tags": 5},
        {"min_importance": "high"},
        {"emotion": "joy"},
        {"details": "frame"},
        {"details": {5: 5}},
        {"limit": -1},
        {"limit": 2.5},
    ],
    ids=str,
)
def test_searching(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong)).replace("time_range", "time")):
        stream().search(**wrong)


@pytest.mark.parametrize("ids", [5, "1", ["1"], [1.5], [None]], ids=str)
def test_ids(ids):
    kept = stream()
    for deed in (kept.forget, kept.archive, kept.unarchive):
        with pytest.raises(UsageError, match="ids"):
            deed(ids)
    assert len(kept) == 2


def test_numpys_whole_numbers_are_ids_and_counts():
    kept = stream()
    kept.remember("a thought", at=WHEN, kind="reflection", citations=np.array([1, 2]))
    assert kept.get(3).citations == (1, 2)
    assert all(type(id) is int for id in kept.get(3).citations)
    assert (kept.get(np.int64(1)).id, len(kept.recent(np.int64(2)))) == (1, 2)
    assert kept.forget(np.array([1])) == (1,)


def test_numbers_beyond_float32_are_refused():
    kept = stream()
    with pytest.raises(UsageError, match="NaN or infinity"):
        kept.remember("far", at=WHEN, embedding=np.full(384, 1e300))
    assert kept.last_id == 2


@pytest.mark.parametrize(
    ("details", "where"),
    [
        ({"when": WHEN}, "details.when datetime"),
        ({"a": {"b": [1, {"c": math.nan}]}}, "details.a.b.c nan"),
        ({"a": {1: 2}}, "details.a has the key 1"),
        ({"a": 1 << 64}, "not a finite number of 64 bits"),
        ({"a": 10**400}, "not a finite number of 64 bits"),
    ],
)
def test_details_that_a_store_would_refuse_or_change_are_refused_with_their_place(details, where):
    with pytest.raises(UsageError, match=re.escape(where)) as caught:
        stream().remember("a lantern", at=WHEN, details=details)
    assert caught.value.hint


@pytest.mark.parametrize("answer", [10**400, np.float32(7), True, None], ids=str)
def test_any_number_rates(answer):
    rated = MemoryStream("maria", rater=lambda text: answer).remember("Klaus", at=WHEN).importance
    assert rated == (7.0 if answer == 7 else 3.0 if answer in (True, None) else 10.0 if answer == 10**400 else None)


@pytest.mark.parametrize("field", ["decay", "recency_weight", "k1", "k", "nearest"])
def test_policies(field):
    with pytest.raises(UsageError, match=field):
        Policy("mine", **{field: "much"})
    with pytest.raises(UsageError, match="by_name"):
        MemoryStream("maria", policy="park")


def test_feelings():
    with pytest.raises(UsageError, match="valence"):
        Emotion("good", 0)
    assert policies.by_name("park") is policies.PARK


@pytest.mark.parametrize("span", [0.5, ("a", "b"), (0.1,), float("nan"), (float("nan"), None)], ids=str)
def test_spans_of_feeling(span):
    with pytest.raises(UsageError, match="valence"):
        stream().search(emotion={"valence": span})
