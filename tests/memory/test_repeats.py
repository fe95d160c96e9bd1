"""Of memories that say the same a list of hits needs one."""

from __future__ import annotations

import pytest

from commonplace.memory import MemoryStream
from commonplace.memory.repeats import wording
from memory.naive import hours


def remembered(*texts: str, **fields) -> MemoryStream:
    stream = MemoryStream("maria")
    for number, text in enumerate(texts):
        stream.remember(text, at=hours(100 * number), **fields)
    return stream


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Klaus: I like the tea.", "Klaus: i LIKE tea!", True),
        ("I’m at the mill", "I am at the mill", True),
        ("I don't like tea", "I do not like tea", True),
        ("나는 빵을 좋아해요", "나는 빵을좋아해", True),
        ("…", "…", True),
        ("Klaus: I like tea", "Maria: I like tea", False),
        ("I like tea", "I don't like tea", False),
        ("I like tea", "Do I like tea?", False),
        ("I like tea", "I like tea?", False),
        ("the flight is from Lyon", "the flight is to Lyon", False),
        ("Gate 7 at noon", "Gate 9 at noon", False),
        ("Klaus lent Maria the pot", "Maria lent Klaus the pot", False),
        ("나는 빵을 좋아해", "나는 빵을 안 좋아해", False),
        ("…", "!", False),
    ],
)
def test_what_says_the_same(one, other, same):
    first, second = remembered(one, other)
    assert (wording(first) == wording(second)) is same


def test_a_hit_counts_those_that_only_repeat_it_and_leaves_room_for_others():
    stream = remembered("Tea at noon", "Tea, at noon!", "Tea at the mill", "Tea at noon.", "Tea at the inn")
    plain = stream.retrieve("tea at noon", at=hours(900), k=3, touch=False)
    assert plain.ids == (4, 2, 1)
    assert [hit.repeats for hit in plain] == [(), (), ()]
    found = stream.retrieve("tea at noon", at=hours(900), k=3, touch=False, collapse=True)
    assert (found.ids, found.repeats) == ((4, 5, 3), {4: (2, 1)})
    assert [hit.repeats for hit in found] == [(2, 1), (), ()]
    assert str(stream.why_not(1, found)) == "Memory 1 was left out because a hit says the same. The hit is memory 4."
    assert found == stream.retrieve("tea at noon", at=hours(900), k=3, touch=False, collapse=True)


def test_it_goes_with_budgets_filters_and_no_question():
    stream = remembered("Tea at noon", "Tea, at noon!", "Tea at the mill", "Bread")
    found = stream.retrieve("tea at noon", at=hours(900), max_tokens=8, touch=False, collapse=True)
    assert (found.ids, found.repeats) == ((2, 3), {2: (1,)})
    found = stream.retrieve("tea", at=hours(900), exclude={2}, min_relevance=0.1, touch=False, collapse=True)
    assert (set(found.ids), found.repeats) == ({1, 3}, {})
    found = stream.retrieve("", at=hours(900), touch=False, collapse=True)
    assert (found.ids, found.repeats) == ((4, 3, 2), {2: (1,)})


def test_two_sources_are_two_voices():
    stream = MemoryStream("maria")
    for source in ("Klaus", "Tom", "Klaus"):
        stream.remember("It rains", at=hours(1), source=source)
    assert stream.retrieve("rain", at=hours(2), touch=False, collapse=True).repeats == {3: (1,)}
