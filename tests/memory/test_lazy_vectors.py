"""Vectors are made when a policy reads them, and nobody can tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import Draft, MemoryStream, policies
from commonplace.memory.embedding import EmbeddingWarning, HashedEmbedder
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.memory.stores.store import load
from memory.naive import hours
from memory.strategies import ANALYSER, entries, queries, shown
from sizes import examples

MEANING = replace(policies.PARK, name="meaning", recency_weight=0.0)


class Counting(HashedEmbedder):
    """Counts the texts it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def embed(self, texts):
        self.count += len(texts)
        return super().embed(texts)


class Model(Counting):
    """An embedder whose vectors are kept, as a model's are."""

    pure, spelling, down = False, False, False

    def embed(self, texts):
        if self.down:
            raise ValueError("no answer")
        return super().embed(texts)


def long(vector):
    """Three numbers as a vector of the embedder's size; None where they are no vector."""
    if vector is None or len(vector) != 3 or not np.isfinite(vector).all():
        return None
    return [*vector, *[0.0] * 381]


def stream_with(embedder, drawn=(), policy=policies.LEXICAL) -> MemoryStream:
    stream = MemoryStream("maria", policy, embedder=embedder, analyser=ANALYSER)
    for number, (text, at, importance, vector) in enumerate(drawn):
        stream.remember(text, at=hours(at), importance=importance, embedding=long(vector) if number % 2 else None)
    return stream


def test_a_policy_of_words_has_nothing_embedded():
    embedder = Counting()
    stream = stream_with(embedder, [("a stove", 1.0, 3.0, None)] * 5)
    draft = Draft(stream)
    draft.remember("a lantern", at=hours(2))
    assert draft.delta.vectors == (None,)
    stream.apply(draft.delta)
    stream.recall("stove", at=hours(3))
    assert embedder.count == 0
    assert stream.vector(6) is not None
    assert embedder.count == 1
    stream.recall("stove", at=hours(3), policy=policies.PARK)
    assert embedder.count == 3  # the other text, and the question
    stream.recall("stove", at=hours(4), policy=policies.PARK)
    assert embedder.count == 4


def test_a_policy_of_vectors_has_each_memory_embedded_at_once():
    embedder = Counting()
    stream_with(embedder, [("a stove", 1.0, 3.0, None)] * 5, policies.PARK)
    assert embedder.count == 5


@examples(60)
@given(drawn=st.lists(entries, max_size=12), query=queries, asked_early=st.booleans(), dropped=st.booleans())
def test_answers_and_vectors_are_those_of_a_stream_that_embeds_at_once(drawn, query, asked_early, dropped):
    found = []
    for embedder, policy in (
        (HashedEmbedder(), policies.LEXICAL),
        (Model(), policies.LEXICAL),
        (Model(), policies.PARK),
    ):
        stream = stream_with(embedder, drawn[:5], policy)
        if asked_early:
            stream.recall("stove", at=hours(1), policy=policies.PARK, touch=False)
        if dropped:
            draft = Draft(stream)
            draft.remember("a promise", at=hours(1), importance=3)
            draft.retrieve("stove", at=hours(1), policy=policies.PARK)
            draft.discard()
        for number, (text, at, importance, vector) in enumerate(drawn[5:]):
            stream.remember(
                text, at=hours(at), importance=importance, embedding=long(vector) if number % 3 == 0 else None
            )
        asked = stream.retrieve(query, at=hours(90), policy=policies.PARK, touch=False)
        stream.reembed()  # after an empty question nothing has read them
        vectors = [str(stream.vector(memory.id)) for memory in stream]
        found.append((shown(asked), asked.unusable, asked.spreads, vectors))
    assert found[0] == found[1] == found[2]


def test_a_model_embeds_at_the_first_question_that_reads_vectors_and_the_store_keeps_them(tmp_path):
    embedder, path = Model(), tmp_path / "memories.db"
    with MemoryStream.open(path, "maria", policies.LEXICAL, embedder=embedder) as stream:
        for number in range(300):
            stream.remember(f"lantern {number}", at=hours(number), importance=3)
        stream.recall("lantern 7", at=hours(999))
        assert embedder.count == 0
        assert len(stream.unembedded) == 300
    with MemoryStream.open(path, "maria", policies.LEXICAL, embedder=embedder) as stream:
        assert stream.recall("lantern 7", at=hours(999), policy=MEANING)[0].memory.id == 8
        assert (embedder.count, stream.unembedded) == (301, ())
        stream.remember("a stove", at=hours(1000))
        stream.recall("a stove", at=hours(1000), policy=policies.PARK)
        assert embedder.count == 303
    with MemoryStream.open(path, "maria", policies.PARK, embedder=embedder) as stream:
        assert stream.vector(301) is not None
        assert stream.recall("a stove", at=hours(1000))[0].memory.id == 301
        assert embedder.count == 304


def test_a_question_is_answered_where_the_model_fails_to_embed_what_is_missing():
    embedder = Model()
    stream = stream_with(embedder, [("a stove", 1.0, 3.0, None)])
    embedder.down = True
    with pytest.warns(EmbeddingWarning, match="no answer"):
        assert stream.recall("stove", at=hours(2), policy=policies.PARK)[0].memory.id == 1
    assert stream.unembedded == (1,)
    embedder.down = False
    assert stream.recall("a stove", at=hours(2), policy=policies.PARK)[0].relevance == pytest.approx(1)


class Comparing(SQLiteStore):
    compares = True


def test_a_store_that_compares_vectors_is_given_them(tmp_path):
    store = Comparing(tmp_path / "memories.db")
    with MemoryStream.open(store, "maria") as stream:
        stream.remember("a stove", at=hours(1))
    assert load(store, "maria").vectors[0] is not None
    store.close()


def test_a_store_keeps_no_vector_that_follows_from_the_text(tmp_path):
    path = tmp_path / "memories.db"
    with MemoryStream.open(path, "maria") as stream:
        stream.remember("a stove", at=hours(1))
        stream.remember("a lantern", at=hours(1), embedding=[1.0] * 384)
        expected = stream.recall("stove", at=hours(2), policy=policies.PARK, touch=False)
        assert [one is None for one in load(stream._keeper.store, "maria").vectors] == [True, False]
    with MemoryStream.open(path, "maria") as stream:
        assert stream.recall("stove", at=hours(2), policy=policies.PARK, touch=False) == expected
        assert stream.vector(1).tolist() == HashedEmbedder().embed_one("a stove").tolist()
