"""Many questions in one call: the lists of one call each, with one call of the embedder."""

from __future__ import annotations

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream, policies
from commonplace.memory.embedding import EmbeddingWarning
from commonplace.testing.stores import WordCounts
from memory.naive import hours

LATER = hours(100)
QUESTIONS = ["where is the stove?", "", "who reads?", "where is the stove?", "qwerty", "Klaus' festival"]


class Counting(WordCounts):
    """Counts its calls, and may be broken."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []
        self.broken = False

    def embed_query(self, texts):
        self.asked.append([*texts])
        if self.broken:
            raise OSError("no server")
        return self.embed(texts)


def town(**parts) -> MemoryStream:
    stream = MemoryStream("maria", **parts)
    texts = ["Klaus reads about gentrification", "the stove burns", "Klaus plans a festival", "bread is sold at six"]
    stream.add_many(texts * 3, at=hours(1))
    return stream


@pytest.mark.parametrize("policy", [policies.RECALL, policies.PARK, policies.LEXICAL, policies.TWO_STAGE])
@pytest.mark.parametrize("touch", [False, True])
def test_the_lists_are_those_of_one_call_each(policy, touch):
    options = {"policy": policy, "touch": touch, "k": 4, "collapse": True, "exclude": {2}}
    one_by_one, at_once = town(embedder=Counting()), town(embedder=Counting())
    wanted = [one_by_one.recall(question, at=LATER, **options) for question in QUESTIONS]
    assert at_once.recall_many(QUESTIONS, at=LATER, **options) == wanted
    assert [memory.accessed_at for memory in at_once] == [memory.accessed_at for memory in one_by_one]


def test_the_embedder_is_called_once():
    stream = town(embedder=Counting(), policy=policies.PARK)
    stream.recall_many(QUESTIONS, at=LATER)
    assert stream.table.embedder.asked == [["where is the stove?", "who reads?", "qwerty", "Klaus' festival"]]
    assert stream.recall_many(["", ""], at=LATER, k=1)[0][0].memory.id == 12
    assert stream.recall_many([], at=LATER) == []
    assert len(stream.table.embedder.asked) == 1


def test_an_embedder_that_fails_leaves_the_words():
    stream = town(embedder=Counting(), policy=policies.PARK)
    stream.table.embedder.broken = True
    with pytest.warns(EmbeddingWarning) as said:
        hits = stream.recall_many(["where is the stove?", "who reads?"], at=LATER)
    assert len(said) == 1
    assert all(hit.parts["relevance"].raw == 0 for some in hits for hit in some)


def test_a_draft_answers_many_too():
    draft = Draft(town())
    assert draft.recall_many(["stove", "bread"], at=LATER, k=1) == [
        draft.recall("stove", at=LATER, k=1),
        draft.recall("bread", at=LATER, k=1),
    ]


def test_an_embedding_for_all_is_refused():
    with pytest.raises(UsageError, match="embedding"):
        town().recall_many(["stove"], at=LATER, embedding=[1.0] * 384)
    with pytest.raises(UsageError, match="not a string"):
        town().recall_many([7], at=LATER)  # pyright: ignore[reportArgumentType]
