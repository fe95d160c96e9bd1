"""What a retrieval says of a question that nothing here answers."""

from __future__ import annotations

import dataclasses

import pytest

from commonplace.memory import FunctionEmbedder, MemoryStream, policies
from memory.naive import hours

TEXTS = ("Klaus moved to Lyon in May", "The stove is broken", "Maria paints lanterns", "Bread costs four crowns")


def stream_of(*texts, policy=policies.RECALL, embedder=None) -> MemoryStream:
    stream = MemoryStream("maria", policy, embedder=embedder)
    for number, text in enumerate(texts):
        stream.remember(text, at=hours(100 * number))
    return stream


@pytest.mark.parametrize("policy", [policies.RECALL, policies.IN_RUNS["recall"]])
@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("when did Klaus move to Lyon?", True),
        ("what does bread cost?", True),
        ("is the stove broken?", True),
        ("what is the capital of Peru?", False),
        ("which instrument does the doctor play?", False),
        ("???", False),
    ],
)
def test_words_tell_whether_something_fits(policy, question, fits):
    found = stream_of(*TEXTS, policy=policy).retrieve(question, at=hours(900), touch=False)
    assert found.fits is fits
    assert (found.confidence >= 0.5) is fits
    said = "nothing here seems to be about the question" in stream_of(*TEXTS).explain(found)
    assert said is not fits


def test_a_policy_that_cannot_tell_says_so():
    stream = stream_of(*TEXTS)
    assert stream.retrieve("bread", at=hours(900), policy=policies.PARK, touch=False).confidence is None
    newest = stream.retrieve("", at=hours(900), touch=False)
    assert (newest.confidence, newest.fits) == (None, True)
    empty = stream.retrieve("bread", at=hours(900), exclude={1, 2, 3, 4}, touch=False)
    assert (empty.confidence, empty.fits) == (0.0, False)


def by_meaning(texts):
    """Everything is as near to everything, but for tea and a hot drink."""
    known = (*TEXTS, "a pot of tea", "the moon", "a hot drink", "bread")
    own = [[3.0 * (text == other) for other in known] for text in texts]
    drinks = [4.0 * (text in ("a pot of tea", "a hot drink")) for text in texts]
    return [[5.0, drink, *rest] for drink, rest in zip(drinks, own, strict=True)]


def test_the_cosine_tells_it_by_how_far_the_best_is_above_the_others():
    stream = stream_of(*TEXTS, "a pot of tea", embedder=FunctionEmbedder(by_meaning, "meaning"))
    drink = stream.retrieve("a hot drink", at=hours(900), touch=False)
    other = stream.retrieve("the moon", at=hours(900), touch=False)
    assert drink.ids[0] == 5
    assert (drink.fits, other.fits) == (True, False)
    assert stream.explain(drink).endswith("cosine by meaning")


def test_a_question_without_a_vector_is_judged_by_its_words():
    def failing(texts):
        if texts == ["bread"]:
            raise OSError("down")
        return by_meaning(texts)

    stream = stream_of(*TEXTS, embedder=FunctionEmbedder(by_meaning, "meaning", query=failing))
    with pytest.warns(match="down"):
        found = stream.retrieve("bread", at=hours(900), touch=False)
    assert found.fits
    assert {hit.parts["cosine"].normalised for hit in found} == {0.0}


def test_words_that_occur_nowhere_count_nothing():
    nowhere = stream_of("Klaus reads", "Tom sleeps").retrieve("zygote", at=hours(900), touch=False)
    for hit in nowhere:
        assert (hit.parts["lexical"].normalised, hit.parts["neighbours"].normalised) == (0.0, 0.0)


def test_runs_keep_the_policy_they_had():
    had = policies.IN_RUNS["recall"]
    had_then = {"all_equal": 0.5, "full_at": 0.0, "cosine_from": "lowest", "neighbours_weight": 0.4, "lending": "full"}
    assert had == dataclasses.replace(policies.RECALL, **had_then)
    assert all(policies.IN_RUNS[name] is policies.by_name(name) for name in policies.NAMES if name != "recall")
    found = stream_of("Klaus reads", "Tom sleeps").retrieve("zygote", at=hours(9), policy=had, touch=False)
    assert {hit.parts["lexical"].normalised for hit in found} == {0.5}
    gossip = policies.from_mapping("gossip", {"base": "recall", "k": 3}, policies.IN_RUNS)
    assert gossip == dataclasses.replace(had, name="gossip", k=3)


def test_beside_meaning_only_strong_words_count_in_full():
    texts, weak = ("Tom: the heron and the mill", "Tom: a boat", "Tom: rain"), "heron zeppelin quartz basalt onyx"
    stream = stream_of(*texts, embedder=FunctionEmbedder(lambda texts: [[1.0, 1.0]] * len(texts), "one for all"))
    for question, counts in (("the heron and the mill", 1.0), (weak, None)):
        (hit,) = stream.recall(question, at=hours(900), k=1, touch=False)
        share = stream_of(*texts).recall(question, at=hours(900), k=1, touch=False)[0].relevance
        shown = hit.parts["lexical"].normalised
        assert shown == pytest.approx(min(1.0, share / policies.RECALL.full_at) ** 2 if counts is None else counts)
    assert 0 < shown < 0.9
    (hit,) = stream_of(*texts).recall(weak, at=hours(900), k=1, touch=False)
    assert hit.parts["lexical"].normalised == 1
