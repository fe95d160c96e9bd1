"""Explanations say what the scoring did, and trees what a reflection rests on."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import MemoryStream, policies
from commonplace.memory.explain import tree
from memory.naive import hours
from memory.strategies import dialogues, entries, queries, questions, stream_of
from sizes import examples


def test_a_table_shows_every_part_of_every_hit():
    stream, _ = stream_of(
        dataclasses.replace(policies.PARK, relevance_weight=3.0),
        [("festival", 0.0, 7.0, None), ("stove and more", 5.0, 3.0, [0, 1, 0])],
    )
    table = stream.explain(stream.recall("festival", at=hours(10), touch=False))
    lines = [line.split("  ") for line in table.splitlines()]
    columns = ["rank", "score", "recency", "importance", "relevance", "memory"]
    assert [cell.strip() for cell in lines[0] if cell] == columns
    assert [cell.strip() for cell in lines[1] if cell] == [
        "1", "4.0000", "0.9511 → 0.0000", "7.0000 → 1.0000", "1.0000 × 3", "#1 festival",
    ]  # fmt: skip
    assert lines[2][-1] == "#2 stove and more"


def test_no_hits_are_said_to_be_none():
    stream, _ = stream_of(policies.PARK)
    assert stream.explain(stream.recall("festival", at=hours(1))) == "no memories"


@pytest.mark.parametrize("policy", [policies.by_name(name) for name in policies.NAMES], ids=lambda policy: policy.name)
@examples(40)
@given(drawn=st.one_of(dialogues, st.lists(entries, max_size=9)), query=st.one_of(queries, questions))
def test_why_not_gives_the_score_the_memory_had(policy, drawn, query):
    stream, _ = stream_of(policy, drawn)
    everything = {hit.memory.id: hit for hit in stream.retrieve(query, at=hours(60), k=99, touch=False)}
    for id in set(range(1, len(drawn) + 1)) - set(everything):
        assert stream.why_not(id, stream.retrieve(query, at=hours(60), touch=False)).reason in ("barred", "later")
    found = stream.retrieve(query, at=hours(60), k=2, touch=False)
    for id, hit in everything.items():
        answer = stream.why_not(id, found)
        if id in found.ids:
            assert answer.reason == "retrieved"
        elif not hit.parts:
            assert answer.reason == "older"
        else:
            assert answer.reason == "outscored"
            assert answer.score == pytest.approx(hit.score, abs=4e-9)
            assert answer.cutoff == found[-1].score
            for name, part in hit.parts.items():
                assert answer.parts[name] == pytest.approx(part, abs=4e-9)


def test_why_not_names_what_kept_a_memory_out():
    stream, _ = stream_of(policies.PARK, [("festival", float(at), 5.0, None) for at in range(4)])
    stream.remember("festival of many words " * 9, at=hours(4), importance=9)
    stream.forget([2])
    found = stream.retrieve("festival", at=hours(9), k=2, exclude={4}, max_tokens=5)
    stream.remember("later", at=hours(10))
    reasons = {id: stream.why_not(id, found).reason for id in (1, 2, 3, 4, 5, 6, 7)}
    assert reasons == {
        1: "retrieved",
        2: "forgotten",
        3: "retrieved",
        4: "excluded",
        5: "too_long",
        6: "later",
        7: "unknown",
    }
    assert str(stream.why_not(4, found)) == "Memory 4 was excluded by the caller."


def test_what_was_made_at_the_very_moment_of_the_question_has_not_been_accessed_since():
    stream, _ = stream_of(policies.PARK, [("fair", 9.0, 5.0, None)])
    stream.remember("festival of many words " * 9, at=hours(9), importance=9)
    answer = stream.why_not(2, stream.retrieve("festival", at=hours(9), max_tokens=5, touch=False))
    assert (answer.reason, answer.note) == ("too_long", "")


def test_why_not_says_when_the_memory_has_been_accessed_since():
    stream, _ = stream_of(policies.PARK, [("festival", float(at), 5.0, None) for at in range(3)])
    found = stream.retrieve("festival", at=hours(9), k=1)
    stream.recall("festival", at=hours(12), k=3)
    assert "accessed since, at 2031-10-04T18:00:00Z" in str(stream.why_not(1, found))


def test_why_not_says_that_others_were_nearer_or_that_the_policy_leaves_it_out():
    near = dataclasses.replace(policies.TWO_STAGE, nearest=2)
    stream, _ = stream_of(near, [("festival", 9.0, 1.0, None), ("stove", 8.0, 1.0, None), ("Klaus", 9.0, 10.0, None)])
    found = stream.retrieve("festival", at=hours(9), touch=False)
    assert (found.ids, found.candidates) == ((1, 2), 2)
    assert str(stream.why_not(3, found)) == "Memory 3 is not among the 2 nearest."
    stream.remember("Klaus is idle", at=hours(9))
    stream.remember("festival", at=hours(9), tags=("chat",))
    found = stream.retrieve("festival", at=hours(10), policy=policies.REPO2023, touch=False)
    assert set(found.ids) == {1, 2, 3}
    assert [stream.why_not(id, found).reason for id in (4, 5)] == ["barred", "barred"]
    assert str(stream.why_not(4, found)) == "Memory 4 has a tag or a word that the policy leaves out."


def test_a_blend_shows_its_own_parts():
    stream, _ = stream_of(policies.RECALL, [("Klaus: festival", 0.0, 7.0, None), ("Maria: stove?", 0.1, 3.0, None)])
    hits = stream.recall("what did Klaus say", at=hours(10), touch=False)
    heading = stream.explain(hits).splitlines()[0].split()
    parts = ["recency", "importance", "lexical", "cosine", "neighbours", "named", "statement"]
    assert heading == ["rank", "score", *parts, "memory"]


def test_why_not_is_not_confused_by_what_has_been_accessed_since():
    stream, _ = stream_of(
        policies.PARK, [("festival", 0.0, 3.0, None), ("stove", 5.0, 3.0, None), ("Klaus", 9.0, 9.0, None)]
    )
    found = stream.retrieve("Klaus", at=hours(9), k=1, touch=False)
    before = stream.why_not(2, found)
    stream.recall("Klaus", at=hours(4000), k=1)
    after = stream.why_not(2, found)
    assert (before.reason, after.reason) == ("outscored", "outscored")
    assert after.score == pytest.approx(before.score, abs=4e-9)


NOW = datetime(2031, 10, 4, 12, tzinfo=UTC)


@pytest.fixture
def stream() -> MemoryStream:
    stream = MemoryStream("maria")
    for text in ("Klaus reads about rent.", "Klaus maps empty shops.", "Ana bakes bread."):
        stream.remember(text, at=NOW, importance=4)
    stream.remember("Klaus studies gentrification.", at=NOW, importance=7, kind="reflection", citations=[1, 2])
    stream.remember("The street is changing.", at=NOW, importance=8, kind="reflection", citations=[4, 3, 2])
    return stream


def test_a_reflection_is_opened_down_to_what_was_seen(stream: MemoryStream) -> None:
    assert tree(stream, 5).splitlines() == [
        "#5 reflection 8  The street is changing.",
        "  #4 reflection 7  Klaus studies gentrification.",
        "    #1 observation 4  Klaus reads about rent.",
        "    #2 observation 4  Klaus maps empty shops.",
        "  #3 observation 4  Ana bakes bread.",
        "  #2 observation 4  Klaus maps empty shops.",
    ]


def test_a_reflection_met_twice_is_opened_once(stream: MemoryStream) -> None:
    stream.remember("It is all one.", at=NOW, kind="reflection", importance=9, citations=[4, 5])
    lines = tree(stream, 6).splitlines()
    assert sum("Klaus reads about rent." in line for line in lines) == 1
    assert "    #4 reflection 7  Klaus studies gentrification. (above)" in lines


def test_what_was_forgotten_is_named_as_such(stream: MemoryStream) -> None:
    stream.forget([1])
    assert "    #1 (forgotten)" in tree(stream, 5).splitlines()


def test_there_is_no_tree_of_nothing(stream: MemoryStream) -> None:
    with pytest.raises(UsageError):
        tree(stream, 99)
