"""Retrieval against the plain model, and its rules one by one."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import rng
from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream, estimate_tokens, policies
from memory import naive
from memory.naive import START, WORDS, CountingEmbedder, hours
from memory.strategies import asked, dialogues, entries, moments, queries, questions, shown, stream_of, texts
from sizes import PROVE, examples

both = pytest.mark.parametrize("policy", [policies.PARK, policies.LEXICAL], ids=lambda policy: policy.name)
NEAR = dataclasses.replace(policies.TWO_STAGE, name="near", nearest=3)
HEAVY = dataclasses.replace(policies.RECALL, name="heavy", recency_weight=1.0, importance_weight=0.5, cosine_weight=1.0)
EVERY = (
    *map(policies.by_name, policies.NAMES),
    NEAR,
    HEAVY,
    dataclasses.replace(HEAVY, name="words", cosine_weight=0.0),
)
every = pytest.mark.parametrize("policy", EVERY, ids=lambda policy: policy.name)


def close(got, expected):
    assert [id for id, _ in got] == [id for id, _ in expected]
    assert [score for _, score in got] == pytest.approx([score for _, score in expected], abs=4e-9)


@every
@examples(40)
@given(
    drawn=st.one_of(dialogues, st.lists(entries, max_size=14)),
    asks=st.lists(
        st.tuples(st.one_of(queries, questions), moments, st.integers(1, 6), st.booleans()), min_size=1, max_size=3
    ),
    forgotten=st.sets(st.integers(1, 14), max_size=3),
    exclude=st.frozensets(st.integers(1, 15), max_size=3),
)
def test_a_stream_retrieves_what_the_plain_model_does(policy, drawn, asks, forgotten, exclude):
    stream, model = stream_of(policy, drawn)
    gone = [id for id in forgotten if id <= len(drawn)]
    stream.forget(gone)
    for row in model.rows:
        row.there = row.id not in gone
    for query, at, k, touch in asks:
        there = model.there()
        candidates = [row for row in there if row.id not in exclude]
        expected = naive.retrieve(candidates, asked(query), hours(at), policy, k, everybody=there)
        found = stream.recall(query, at=hours(at), k=k, touch=touch, exclude=exclude)
        close(shown(found), expected)
        if touch:
            model.touch([id for id, _ in expected], hours(at))
    assert [memory.accessed_at for memory in stream] == [row.accessed for row in model.there()]


@pytest.mark.parametrize("seed", [0, 4, 6, 8])
def test_neighbours_lend_what_the_plain_model_counts(seed):
    chance = Random(seed)
    rare = [f"{WORDS[number % 3]}{number}" for number in range(60)]
    drawn = [
        (" ".join(["Klaus:", *chance.sample(rare, 2), *chance.choices(WORDS, k=number % 4)]), number * 4.0, 5.0, None)
        for number in range(70)
    ]
    stream, model = stream_of(policies.RECALL, drawn)
    for gone in ([], [7, 8, 9], [30]):
        stream.forget(gone)
        for id in gone:
            model.rows[id - 1].there = False
        assert gone or 0 < naive.share_lent(model.there()) < 1
        query = " ".join(row.text.split()[1] for row in chance.sample(model.there(), 3))
        expected = naive.retrieve(model.there(), asked(query), hours(300), policies.RECALL, 9)
        close(shown(stream.recall(query, at=hours(300), k=9, touch=False)), expected)


def test_every_part_of_a_score_is_compared_with_the_plain_model():
    assert {f"{part}_weight" for policy in EVERY for part in policy.weights} == {*policies.WEIGHTS}


@every
def test_of_twins_the_higher_id_comes_first(policy):
    stream, _ = stream_of(dataclasses.replace(policy, recency_weight=0.0), [("festival", 1.0, 5.0, None)] * 4)
    assert stream.retrieve("festival", at=hours(2), touch=False, k=9).ids[:2] == (
        (3, 2) if "neighbours" in policy.weights else (4, 3)
    )


@every
@examples(12 if PROVE else 4)
@given(seed=st.integers(0, 10**6), count=st.integers(150, 400), k=st.integers(1, 12))
def test_many_candidates_are_cut_to_the_same_best(policy, seed, count, k):
    drawn = [
        (
            " ".join(rng.choice(WORDS, seed, number, place) for place in range(rng.below(5, seed, number) + 1)),
            rng.below(2_000, seed, number, "at") / 10,
            1.0 + rng.below(10, seed, number, "importance"),
            None,
        )
        for number in range(count)
    ]
    stream, model = stream_of(policy, drawn)
    query = rng.choice(WORDS, seed)
    expected = naive.retrieve(model.rows, asked(query), hours(300), policy, k)
    close(shown(stream.recall(query, at=hours(300), k=k)), expected)


@both
@examples(30)
@given(drawn=st.lists(entries, min_size=1, max_size=12), query=texts)
def test_a_score_is_the_weighted_sum_of_its_parts(policy, drawn, query):
    stream, _ = stream_of(dataclasses.replace(policy, recency_weight=0.5, relevance_weight=3.0), drawn)
    for hit in stream.recall(query, at=hours(50)):
        total = sum(part.weight * part.normalised for part in hit.parts.values())
        assert hit.score == pytest.approx(total, abs=2**-30)
        assert [part.weight for part in hit.parts.values()] == [0.5, 1.0, 3.0]


def test_without_normalising_a_part_counts_raw():
    policy = dataclasses.replace(policies.PARK, normalise="none", importance="unit")
    stream, _ = stream_of(policy, [("festival stove", 0.0, 10.0, None), ("Klaus", 0.0, 1.0, None)])
    first, second = stream.recall("festival", at=hours(100), touch=False)
    assert first.score == pytest.approx(0.995**100 + 1 + 1, abs=1e-8)
    assert second.score == pytest.approx(0.995**100, abs=1e-8)


def test_the_constants_of_the_founding_documents():
    assert (policies.PARK.decay, policies.PARK.all_equal, policies.PARK.k) == (0.995, 0.5, 10)
    assert set(policies.PARK.weights.values()) == {1.0}
    assert (policies.LEXICAL.decay, policies.LEXICAL.all_equal, policies.LEXICAL.relevance) == (0.995, 0.0, "bm25")
    stream, _ = stream_of(policies.PARK, [("festival", 0.0, 7.0, None)])
    (hit,) = stream.recall("festival", at=hours(10), touch=False)
    assert hit.parts["recency"].raw == pytest.approx(0.995**10, abs=1e-9)
    assert hit.parts["importance"].raw == 7
    assert hit.parts["relevance"].raw == 1
    (hit,) = stream.recall("festival", at=hours(10), touch=False, policy=policies.LEXICAL)
    assert hit.parts["importance"].raw == pytest.approx(6 / 9)


@pytest.mark.parametrize(("policy", "all_equal"), [(policies.PARK, 0.5), (policies.LEXICAL, 0.0)])
def test_a_part_that_is_equal_for_all_is_half_for_park_and_zero_for_lexical(policy, all_equal):
    stream, _ = stream_of(policy, [("festival", 0.0, 5.0, None)] * 3)
    for hit in stream.recall("festival", at=hours(1)):
        assert [part.normalised for part in hit.parts.values()] == [all_equal] * 3


@both
def test_ties_go_to_the_newest_then_to_the_higher_id(policy):
    stream, _ = stream_of(policy)
    for at in (2.0, 5.0, 5.0, 1.0):
        stream.remember("stove", at=hours(at), importance=5)
    stream.forget([])
    stream.table.touch([1, 2, 3, 4], hours(6))
    query = "nothing known"
    assert [hit.memory.id for hit in stream.recall(query, at=hours(7))] == [3, 2, 1, 4]


@both
def test_an_important_memory_comes_before_its_twin(policy):
    stream, _ = stream_of(policy, [("festival", 0.0, 9.0, None), ("festival", 0.0, 2.0, None)])
    assert [hit.memory.id for hit in stream.recall("festival", at=hours(1))] == [1, 2]


@both
def test_the_newest_memory_is_found_at_once(policy):
    stream, _ = stream_of(policy, [("stove", 1.0, 3.0, None)] * 5)
    assert stream.recall("Klaus", at=hours(2))
    added = stream.remember("Klaus in the library", at=hours(2))
    assert stream.recall("Klaus", at=hours(2), k=1)[0].memory.id == added.id


@both
def test_an_empty_query_brings_the_newest(policy):
    stream, _ = stream_of(policy, [("stove", float(at), 3.0, None) for at in (5, 1, 7, 3)])
    found = stream.retrieve(" \t", at=hours(9), k=2)
    assert [hit.memory.id for hit in found] == [3, 1]
    assert found.chosen_by == "newest"
    assert [dict(hit.parts) for hit in found] == [{}, {}]


@both
def test_nothing_to_retrieve_is_an_empty_list(policy):
    stream, _ = stream_of(policy)
    assert stream.recall("festival", at=START) == []
    stream.remember("festival", at=START)
    assert stream.recall("festival", at=START, exclude={1}) == []


def test_a_query_that_cannot_be_embedded_makes_all_equally_relevant_and_is_reported():
    stream, _ = stream_of(policies.PARK, [("stove", 1.0, 3.0, None), ("Klaus", 2.0, 4.0, None)])
    found = stream.retrieve("nothing known", at=hours(3))
    assert [hit.parts["relevance"].normalised for hit in found] == [0.5, 0.5]
    assert found.unusable == {"query": 1}


def test_memories_without_a_usable_vector_take_part_with_relevance_0_and_are_counted():
    vectors = ([1.0, 0.0, 0.0], [math.nan, 0.0, 0.0], [1.0], [-1.0, 0.0, 0.0])
    stream, _ = stream_of(policies.PARK, [("stove", 0.0, 5.0, vector) for vector in vectors])
    stream.remember("of no word it knows", at=hours(0), importance=5)
    found = stream.retrieve("festival", at=hours(1))
    relevance = {hit.memory.id: hit.parts["relevance"] for hit in found}
    assert [relevance[id].raw for id in (1, 2, 3, 4, 5)] == [1, 0, 0, -1, 0]
    assert [relevance[id].normalised for id in (1, 2, 3, 4, 5)] == [1, 0.5, 0.5, 0, 0.5]
    assert found.unusable == {"non_finite": 1, "wrong_size": 1, "no_vector": 1}
    assert [stream.vector(id) is None for id in (1, 2, 3, 4, 5)] == [False, True, True, False, True]


def test_vectors_of_the_same_direction_are_equally_relevant():
    vectors = [[float(size), size * 2.0, float(size)] for size in range(1, 9)]
    stream, _ = stream_of(policies.PARK, [("stove", 0.0, 5.0, vector) for vector in vectors])
    assert {hit.parts["relevance"].normalised for hit in stream.recall("festival stove Klaus", at=hours(1))} == {0.5}


def test_only_what_is_returned_is_touched_and_only_if_asked():
    stream, _ = stream_of(policies.PARK, [("festival", 0.0, 5.0, None), ("stove", 0.0, 1.0, None)])
    stream.recall("festival", at=hours(4), k=1, touch=False)
    assert [memory.accessed_at for memory in stream] == [hours(0), hours(0)]
    (hit,) = stream.recall("festival", at=hours(4), k=1)
    assert hit.memory.accessed_at == hours(4)
    assert [memory.accessed_at for memory in stream] == [hours(4), hours(0)]
    assert [memory.created_at for memory in stream] == [hours(0), hours(0)]


def test_a_memory_used_again_is_recent_again():
    stream, _ = stream_of(policies.PARK, [("stove", 0.0, 5.0, None), ("stove", 500.0, 5.0, None)])
    stream.recall("stove", at=hours(1000), exclude={2})
    assert [hit.memory.id for hit in stream.recall("stove", at=hours(1001))] == [1, 2]


def test_a_token_budget_takes_the_best_that_fit():
    stream, _ = stream_of(policies.PARK)
    for text, importance in (("festival " * 40, 9), ("festival one", 8), ("festival two", 7), ("festival three", 6)):
        stream.remember(text, at=START, importance=importance)
    found = stream.recall("festival", at=START, max_tokens=2 * estimate_tokens("festival one"), k=3, touch=False)
    assert [hit.memory.id for hit in found] == [2, 3]
    assert [hit.rank for hit in found] == [1, 2]
    assert stream.recall("festival", at=START, max_tokens=2, touch=False) == []


def test_tokens_are_estimated_on_the_safe_side():
    assert [estimate_tokens(text) for text in ("", "a", "four", "fives", "민수가", "민수가 ab")] == [0, 1, 1, 2, 3, 4]


def test_the_same_question_twice_gives_the_same_answer():
    drawn = [("festival stove", float(at % 7), 1.0 + at % 10, None) for at in range(50)]
    results = []
    for _ in range(2):
        stream, _ = stream_of(policies.PARK, drawn)
        results.append(stream.retrieve("stove Klaus", at=hours(8), purpose="test").trace())
    assert results[0] == results[1]
    assert results[0]["hits"][0].keys() == {"memory", "rank", "score", "parts"}


def test_ages_of_decades_are_told_apart_near_the_present_and_equal_far_from_it():
    stream, _ = stream_of(policies.PARK)
    for at in (-900_000.0, -899_000.0, 0.0, 1.0, 300_000.0):
        stream.remember("stove", at=hours(at), importance=5)
    found = stream.recall("stove", at=hours(300_001), touch=False)
    assert [hit.memory.id for hit in found] == [5, 4, 3, 2, 1]
    assert found[0].parts["recency"].raw == pytest.approx(0.995)
    stream.table.touch([5], hours(-900_000))
    assert stream.retrieve("stove", at=hours(300_000), touch=False).ids[0] == 4


@pytest.mark.parametrize("k", [0, -3])
def test_asking_for_no_memories_is_wrong_use(k):
    stream, _ = stream_of(policies.PARK, [("stove", 0.0, 3.0, None)])
    with pytest.raises(UsageError, match="at least 1"):
        stream.recall("stove", at=START, k=k)


def test_a_retrieval_is_the_sequence_of_its_hits():
    stream, _ = stream_of(policies.PARK, [("stove", float(at), 3.0, None) for at in range(4)])
    found = stream.retrieve("stove", at=hours(5), k=3, purpose="plan")
    assert (len(found), found[0].rank, [hit.rank for hit in found[1:]]) == (3, 1, [2, 3])
    assert (found.purpose, found.candidates, found.ids) == ("plan", 4, (4, 3, 2))


def test_vectors_of_another_size_are_refused_from_callers_and_count_as_wrong_sized_in_a_draft():
    stream = MemoryStream("maria", embedder=CountingEmbedder())
    given = np.ones(384, dtype=np.float32)
    for refused in (stream.remember, stream.recall):
        with pytest.raises(UsageError, match="an embedding has 384, expected 3 numbers") as caught:
            refused("stove", at=START, embedding=given)
        assert "GivenVectors" in caught.value.hint
    draft = Draft(stream)
    draft.remember("stove", at=START, embedding=given)
    stream.apply(draft.delta)
    assert stream.retrieve("stove", at=START).unusable == {"wrong_size": 1}


def test_a_call_without_a_time_is_of_now_except_where_histories_are_made():
    stream = MemoryStream("maria")
    before = datetime.now(UTC)
    kept = stream.remember("a lantern")
    assert before <= kept.created_at <= datetime.now(UTC)
    assert stream.recall("lantern")[0].memory.id == stream.retrieve("lantern").found[0].id == 1
    for refused in (Draft(stream).recall, stream.snapshot().recall):
        with pytest.raises(UsageError, match="time None is not a datetime"):
            refused("lantern")


def test_park_finds_by_meaning_of_letters_with_nothing_installed():
    stream = MemoryStream(agent="maria")
    stream.remember("Klaus is reading about gentrification", at=START, importance=5)
    stream.remember("The stove is burning", at=START, importance=5)
    stream.remember("민수는 카페에서 커피를 마신다", at=START, importance=5)
    assert stream.recall("what does Klaus read?", at=hours(1), k=1, touch=False)[0].memory.id == 1
    assert stream.recall("카페에 간 민수가", at=hours(1), k=1, touch=False)[0].memory.id == 3


def test_two_stage_ranks_the_nearest_again_by_raw_parts():
    stream, _ = stream_of(
        policies.TWO_STAGE,
        [("festival", 0.0, 1.0, None), ("festival Klaus", 24.0, 10.0, None), *[("Klaus", 30.0, 10.0, None)] * 20],
    )
    found = stream.retrieve("festival", at=hours(48), touch=False)
    assert (found.candidates, len(found), found[0].memory.id) == (20, 5, 2)
    parts = found[0].parts
    assert parts["recency"] == pytest.approx((math.exp(-1), math.exp(-1), 0.25), abs=1e-9)
    assert parts["importance"] == (1, 1, 0.25)
    assert parts["relevance"] == pytest.approx((0.5**0.5, 0.5**0.5, 0.5), abs=1e-9)


def test_the_published_code_prefers_what_has_not_been_thought_of_for_longest():
    stream, _ = stream_of(policies.REPO2023, [("festival", float(at), 5.0, None) for at in range(4)])
    stream.table.touch([1], hours(9))
    found = stream.retrieve("festival", at=hours(10), touch=False)
    assert {hit.memory.id: round(hit.parts["recency"].raw, 6) for hit in found} == {
        2: 0.99, 3: 0.9801, 4: 0.970299, 1: 0.960596,
    }  # fmt: skip
    assert [part.weight for part in found[0].parts.values()] == [0.5, 2, 3]
    assert policies.REPO2023.k == 30


def test_among_equally_old_accesses_the_published_code_ranks_events_before_thoughts_and_the_newest_first():
    stream, _ = stream_of(policies.REPO2023, [("festival", 0.0, 5.0, None)] * 2)
    stream.remember("festival", at=hours(0), kind="reflection", citations=[1], importance=5)
    stream.remember("festival", at=hours(0), importance=5)
    found = stream.retrieve("festival", at=hours(10), touch=False)
    assert {hit.memory.id: round(hit.parts["recency"].raw, 6) for hit in found} == {
        4: 0.99, 2: 0.9801, 1: 0.970299, 3: 0.960596,
    }  # fmt: skip
