"""An index that after every insert equals one built from scratch."""

from __future__ import annotations

import math
from random import Random
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import bm25
from commonplace.memory.bm25 import K1, B, LexicalIndex, idf
from memory import naive
from sizes import examples

tokens = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def index_of(documents) -> LexicalIndex:
    index = LexicalIndex()
    for document in documents:
        index.append(document)
    return index


@examples(150)
@given(documents=st.lists(tokens, min_size=1, max_size=12), query=tokens)
def test_scores_after_every_insert_are_those_from_scratch(documents, query):
    index = LexicalIndex()
    for count, document in enumerate(documents, start=1):
        index.append(document)
        if any(documents[:count]):
            assert index.scores(query).tolist() == pytest.approx(naive.bm25(query, documents[:count]), rel=1e-12)
        else:
            assert index.scores(query).tolist() == [0.0] * count


@examples(100)
@given(parts=st.lists(st.lists(st.one_of(st.none(), tokens), max_size=6), max_size=3), query=tokens)
def test_documents_added_at_once_score_as_if_added_one_by_one(parts, query):
    at_once, one_by_one = LexicalIndex(), LexicalIndex()
    for part in parts:
        at_once.extend(part)
        for document in part:
            if document is None:
                one_by_one.extend([None])
            else:
                one_by_one.append(document)
        assert at_once.scores(query).tolist() == one_by_one.scores(query).tolist()
        assert at_once._postings.keys() == one_by_one._postings.keys()


@examples(100)
@given(documents=st.lists(tokens, min_size=1, max_size=12), query=tokens, data=st.data())
def test_the_first_documents_score_as_if_there_were_no_others(documents, query, data):
    length = data.draw(st.integers(0, len(documents)))
    expected = index_of(documents[:length]).scores(query).tolist()
    assert index_of(documents).scores(query, length).tolist() == expected


@examples(100)
@given(documents=st.lists(tokens, min_size=2, max_size=10), query=tokens, data=st.data())
def test_documents_taken_out_and_put_back_score_as_if_made_so_and_the_older_index_keeps_them(documents, query, data):
    some = st.sets(st.integers(0, len(documents) - 1), max_size=len(documents) - 1)
    index = index_of(documents)
    before = index.scores(query).tolist()
    gone = data.draw(some)
    less = index.without({number: documents[number] for number in gone})
    back = data.draw(some) & gone
    less = less.with_again({number: documents[number] for number in back})
    less.append(["a", "b"])
    rest = [document for number, document in enumerate(documents) if number not in gone - back]
    expected = index_of([*rest, ["a", "b"]]).scores(query).tolist()
    got = [score for number, score in enumerate(less.scores(query).tolist()) if number not in gone - back]
    assert got == expected
    assert index.scores(query, len(documents)).tolist() == before


@examples(60)
@given(documents=st.lists(tokens, max_size=8), more=st.lists(tokens, max_size=4), query=tokens)
def test_documents_taken_off_the_end_leave_no_trace(documents, more, query):
    index = index_of(documents)
    before = (index.scores(query).tolist(), list(index._postings))
    for document in more:
        index.append(document)
    for document in reversed(more):
        index.pop(document)
    assert (index.scores(query).tolist(), list(index._postings)) == before


@pytest.mark.parametrize("seed", range(12))
def test_how_often_rare_terms_come_again_is_counted_in_nearly_all_documents(seed):
    chance = Random(seed)
    documents, more = ([chance.choices(ascii_letters, k=chance.randint(0, 3)) for _ in range(60)] for _ in range(2))
    index = index_of(documents[:30])
    index.extend([*documents[30:], None])
    for document in more:
        index.append(document)
        assert index.recurrence(60, 3, "b".__eq__)[:2] == naive.recurrence(documents, {"b"})[:2]
        index.recurrence(index.size, 3, "b".__eq__)
    for document in reversed(more):
        index.pop(document)
    index.extend(more[::-1])
    documents += [[], *more[::-1]]
    gone = {60}
    for some in ([], chance.sample(range(60), 5)):
        gone.update(some)
        if some:
            index = index.without({number: documents[number] for number in some})
        for length in (index.size, chance.randint(0, index.size), 9, 3, 2):
            left = [document for number, document in enumerate(documents[:length]) if number not in gone]
            count, near, by_chance, again = naive.recurrence(left, {"b"})
            assert index.recurrence(length, 3, "b".__eq__) == (count, near, pytest.approx(by_chance), again)


@examples(60)
@given(
    documents=st.lists(tokens, min_size=1, max_size=12), more=st.lists(tokens, min_size=1, max_size=3), data=st.data()
)
def test_how_much_shorter_than_the_average_documents_are(documents, more, data):
    index = index_of([*documents, *more])
    index.brevity(index.size)
    for document in reversed(more):
        index.pop(document)
    index.extend([["a", *document] for document in more])
    documents = [*documents, *(["a", *document] for document in more)]
    for length in (len(documents), data.draw(st.integers(1, len(documents)))):
        average = sum(map(len, documents[:length])) / length
        expected = [min(1, average / max(1, len(document))) for document in documents[:length]]
        assert index.brevity(length).tolist() == pytest.approx(expected, rel=1e-6)


def test_the_constants():
    assert (K1, B) == (0.9, 0.4)
    assert idf(10, 1) == pytest.approx(math.log(1 + 9.5 / 1.5), abs=2**-30)
    assert idf(10, 1) * 2**30 == int(idf(10, 1) * 2**30)


@examples(200)
@given(
    documents=st.lists(tokens, min_size=1, max_size=12),
    query=st.lists(st.sampled_from("abcdefgh"), min_size=3, unique=True).flatmap(
        lambda terms: st.tuples(st.just(terms), st.permutations(terms))
    ),
)
def test_the_order_of_the_words_of_a_query_changes_no_bit(documents, query):
    index = index_of(documents)
    assert index.scores(query[0]).tolist() == index.scores(query[1]).tolist()


@examples(100)
@given(documents=st.lists(tokens, min_size=1, max_size=12), query=tokens, gone=st.integers(0, 11))
def test_all_terms_at_once_and_one_after_the_other_give_the_same_bits(documents, query, gone):
    index = index_of([[*document, "z"] for document in documents])
    if gone < len(documents):
        index = index.without({gone: [*documents[gone], "z"]})
    few = index.scores([*query, "z"]).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "_FEW", 0)
        assert index.scores([*query, "z"]).tolist() == few
