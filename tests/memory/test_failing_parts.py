"""An embedder or rater that raises costs a vector or a rating, never the memory."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Draft, MemoryStream, policies
from commonplace.memory.embedding import EmbeddingWarning
from commonplace.testing.stores import WordCounts
from memory.naive import hours
from sizes import examples


class Moody(WordCounts):
    """Raises while `down`, or gives what is no vector."""

    def __init__(self) -> None:
        self.down: object = None
        self.batches: list[int] = []

    def embed(self, texts):
        self.batches.append(len(texts))
        if isinstance(self.down, Exception):
            raise self.down
        return super().embed(texts) if self.down is None else self.down


@pytest.mark.parametrize(
    "down", [CommonplaceError("no answer"), ValueError("x"), KeyError(1), [], ["text"], [[1], [2]]]
)
def test_an_embedder_that_fails_does_not_lose_the_memory(down, caplog):
    embedder = Moody()
    stream = MemoryStream("maria", policies.PARK, embedder=embedder)
    stream.remember("a lantern", at=hours(0))
    embedder.down = down
    with caplog.at_level(logging.WARNING, "commonplace.memory"):
        memory = stream.remember("a secret lantern", at=hours(1), details={"note": 1})
    assert "embedder of maria failed" in caplog.text
    assert stream.get(memory.id) == memory
    assert memory.details["note"] == 1
    assert memory.details["embedding_error"]
    assert (stream.unembedded, stream.vector(2)) == ((2,), None)
    assert stream.recall("", at=hours(2))[0].memory.id == 2
    embedder.down = None
    assert stream.reembed() == 1
    assert stream.unembedded == ()
    assert dict(stream.get(2).details) == {"note": 1}
    assert stream.vector(2).tolist() == WordCounts().embed(["a secret lantern"])[0].tolist()


def test_vectors_are_made_again_in_batches_and_what_was_made_stays():
    embedder = Moody()
    embedder.down = ValueError("down")
    stream = MemoryStream("maria", embedder=embedder)
    for number in range(5):
        stream.remember(f"lantern {number}", at=hours(number))
    with pytest.raises(ValueError, match="down"):
        stream.reembed()
    assert stream.unembedded == (1, 2, 3, 4, 5)
    stream.forget([2])
    embedder.down, embedder.batches = None, []
    assert stream.reembed(batch=3) == 4
    assert embedder.batches == [3, 1]
    assert stream.reembed() == 0


def test_a_rater_that_fails_leaves_it_to_the_rules():
    def rater(text):
        raise CommonplaceError("no answer")

    stream = MemoryStream("maria", rater=rater)
    memory = stream.remember("I decided to confess", at=hours(0))
    assert memory.importance == MemoryStream("x").remember("I decided to confess", at=hours(0)).importance > 3
    assert "no answer" in memory.details["rating_error"]
    assert stream.unembedded == ()


def test_wrong_use_and_interrupts_are_still_raised():
    class Interrupted(Moody):
        def embed(self, texts):
            raise KeyboardInterrupt

    stream = MemoryStream("maria", embedder=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        stream.remember("a lantern", at=hours(0))
    with pytest.raises(UsageError):
        stream.remember("", at=hours(0))
    assert len(stream) == 0


@pytest.mark.parametrize("policy", [policies.RECALL, policies.PARK])
def test_a_question_is_answered_without_its_vector(policy):
    embedder = Moody()
    stream = MemoryStream("maria", policy, embedder=embedder)
    for number, text in enumerate(("a secret lantern", "ea ea", "bread")):
        stream.remember(text, at=hours(number), importance=3)
    embedder.down = CommonplaceError("no answer")
    with pytest.warns(EmbeddingWarning, match="no answer"):
        found = stream.retrieve("lantern", at=hours(5), touch=False)
    assert (len(found), found.unusable["query"]) == (3, 1)
    assert found.query_error == "CommonplaceError: no answer"
    assert "the question has no vector (CommonplaceError: no answer)" in stream.explain(found)
    assert "no answer" not in stream.explain(found.hits)
    assert found.ids[0] == (1 if policy is policies.RECALL else 3)  # by its words, or by recency alone
    assert stream.why_not(3 if policy is policies.RECALL else 1, found).reason == "retrieved"
    embedder.down = None
    assert stream.retrieve("lantern", at=hours(5)).query_error == ""
    embedder.down = CommonplaceError("no answer")
    stream.recall("lantern", at=hours(5), policy=policies.LEXICAL)  # reads no vectors: nobody is asked
    for reader in (Draft(stream), stream.snapshot()):
        with pytest.raises(CommonplaceError, match="no answer"):  # what a run remembers hangs on it
            reader.recall("lantern", at=hours(5))


def test_a_draft_raises_because_a_run_must_not_change_its_history():
    embedder = Moody()
    embedder.down = ValueError("down")
    stream = MemoryStream("maria", embedder=embedder)
    with pytest.raises(ValueError, match="down"):
        Draft(stream).remember("a lantern", at=hours(0))


@examples(40)
@given(failing=st.lists(st.booleans(), max_size=12), packed=st.booleans())
def test_a_stream_that_was_mended_is_one_that_never_failed(failing, packed):
    embedder = Moody()
    mended, sound = MemoryStream("maria", embedder=embedder), MemoryStream("maria", embedder=WordCounts())
    for number, fails in enumerate([*failing, *[False] * (300 * packed)]):
        embedder.down = ValueError() if fails else None
        for stream in (mended, sound):
            stream.remember(f"{'ea' * (number % 5)} lantern", at=hours(number), importance=5)
    embedder.down = None
    assert mended.reembed() == sum(failing)
    assert list(mended) == list(sound)
    for policy in (policies.PARK, policies.RECALL):
        found, wanted = (one.recall("ea lantern", at=hours(999), policy=policy, touch=False) for one in (mended, sound))
        assert found == wanted
