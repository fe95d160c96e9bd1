"""Changing what a memory says, and keeping what it said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory import MemoryStream, policies
from commonplace.testing.stores import WordCounts
from memory.naive import hours
from memory.test_failing_parts import Moody
from sizes import examples


def test_text_and_tags_change_and_what_was_is_kept():
    stream = MemoryStream("maria")
    stream.remember("Maria lives in Lyon", at=hours(0), tags=("home",), details={"note": 1})
    stream.remember("the stove burns", at=hours(5))
    revised = stream.revise(1, text="Maria lives in Busan", tags=["home", "sea"], at=hours(9))
    assert (revised.text, revised.tags, revised.created_at) == ("Maria lives in Busan", ("home", "sea"), hours(0))
    assert stream.history(1) == [{"text": "Maria lives in Lyon", "tags": ["home"], "until": iso(hours(9))}]
    assert stream.recall("Busan", at=hours(10), min_relevance=0.1)[0].memory.id == 1
    assert stream.recall("Lyon", at=hours(10), min_relevance=0.1) == []
    assert stream.search(text="lyon") == []
    stream.revise(1, text="Maria lives in Seoul")
    stream.revise(1, importance=9, details={"other": 2})
    assert [one["text"] for one in stream.history(1)] == ["Maria lives in Lyon", "Maria lives in Busan"]
    assert stream.history(1)[1]["until"] == iso(hours(5))  # of the latest memory
    assert stream.get(1).details["other"] == 2
    assert stream.history(2) == []
    with pytest.raises(UsageError):
        stream.history(3)


@pytest.mark.parametrize(
    "wrong", [{"text": " "}, {"text": 3}, {"tags": "sea"}, {"text": "x", "at": "now"}, {"details": 3}]
)
def test_what_is_no_text_or_tag_is_refused_and_changes_nothing(wrong):
    stream = MemoryStream("maria")
    before = stream.remember("Maria lives in Lyon", at=hours(0))
    with pytest.raises(UsageError):
        stream.revise(1, **wrong)
    assert stream.get(1) == before


def test_a_long_text_is_cut_and_its_past_is_whole():
    stream = MemoryStream("maria")
    stream.remember("a" * 3000, at=hours(0))
    stream.revise(1, text="b " * 1500)
    assert (len(stream.get(1).text), stream.get(1).full_text) == (1999, ("b " * 1500).strip())
    stream.revise(1, text="short")
    assert stream.get(1).full_text == "short"
    assert [len(one["text"]) for one in stream.history(1)] == [3000, 2999]


def test_a_cited_memory_stays_citable():
    stream = MemoryStream("maria")
    stream.remember("Maria lives in Lyon", at=hours(0))
    stream.remember("Maria is far away", at=hours(1), kind="reflection", citations=[1])
    stream.revise(1, text="Maria lives in Busan")
    assert stream.remember("so far", at=hours(2), kind="reflection", citations=[1, 2]).citations == (1, 2)


def test_a_failing_embedder_costs_the_vector_of_the_new_text():
    embedder = Moody()
    stream = MemoryStream("maria", embedder=embedder)
    stream.remember("Maria lives in Lyon", at=hours(0))
    embedder.down = ValueError("down")
    stream.revise(1, text="Maria lives in Busan")
    assert (stream.unembedded, stream.vector(1)) == ((1,), None)
    embedder.down = None
    assert stream.reembed() == 1


@examples(60)
@given(
    texts=st.lists(st.sampled_from(["lantern ea", "stove 난로", "Klaus: hello?", "bread"]), min_size=1, max_size=8),
    changes=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["lantern i", "bread", "Maria: yes"])), max_size=4),
    more=st.sampled_from([0, 300]),
)  # fmt: skip
def test_a_revised_stream_retrieves_like_one_that_always_said_so(texts, changes, more):
    final = [*texts, *["walk"] * more]
    revised = MemoryStream("maria", embedder=WordCounts())
    for number, text in enumerate(final):
        revised.remember(text, at=hours(number), importance=5)
    revised.recall("lantern", at=hours(1000), touch=False)
    for place, text in changes:
        if place < len(texts):
            revised.revise(place + 1, text=text)
            final[place] = text
    plain = MemoryStream("maria", embedder=WordCounts())
    for number, text in enumerate(final):
        plain.remember(text, at=hours(number), importance=5)
    for policy in (policies.RECALL, policies.PARK, policies.REPO2023):
        for question in ("lantern bread", "Maria?", "난로"):
            found, wanted = (
                [
                    (hit.memory.id, hit.score, hit.parts)
                    for hit in one.recall(question, at=hours(1000), policy=policy, touch=False)
                ]
                for one in (revised, plain)
            )
            assert found == wanted
