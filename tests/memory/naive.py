"""The rules of the memory page in the plainest Python there is: what the fast code is compared with."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from commonplace.memory import Policy

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
DIMENSIONS = 3
WORDS = ("festival", "stove", "Klaus", "library", "promise", "카페에서", "민수가")


def hours(count: float) -> datetime:
    return START + timedelta(hours=count)


class CountingEmbedder:
    """Three dimensions that count words; a text of none of them cannot be embedded."""

    name = "counting"
    dimensions = DIMENSIONS

    def embed(self, texts):
        import numpy as np

        groups = (("festival", "stove"), ("Klaus", "library", "민수가"), ("promise", "카페에서"))
        vectors = [[sum(text.count(word) for word in group) for group in groups] for text in texts]
        return [np.array(vector, dtype=np.float32) if any(vector) else None for vector in vectors]


@dataclass
class Row:
    id: int
    text: str
    created: datetime
    accessed: datetime
    importance: float
    vector: list[float] | None
    tokens: list[str]
    there: bool = True


@dataclass
class NaiveStream:
    rows: list[Row] = field(default_factory=list)

    def there(self, length: int | None = None) -> list[Row]:
        return [row for row in self.rows[:length] if row.there]

    def touch(self, ids, at: datetime) -> None:
        for row in self.rows:
            if row.id in ids:
                row.accessed = at


def rounded(value: float) -> float:
    return round(value * 2**30) / 2**30


def cosine(query: list[float] | None, vector: list[float] | None) -> float:
    if query is None or vector is None or len(vector) != DIMENSIONS or not all(map(math.isfinite, vector)):
        return 0.0
    lengths = math.hypot(*query) * math.hypot(*vector)
    return math.fsum(a * b for a, b in zip(query, vector, strict=True)) / lengths if lengths else 0.0


def bm25(query: list[str], documents: list[list[str]]) -> list[float]:
    count = len(documents)
    average = sum(map(len, documents)) / count
    scores: list[float] = []
    for tokens in documents:
        score = 0.0
        for term, times in sorted(Counter(query).items()):
            df = sum(term in other for other in documents)
            tf = tokens.count(term)
            if tf:
                idf = rounded(math.log(1 + (count - df + 0.5) / (df + 0.5)))
                score += times * idf * tf * 1.9 / (tf + 0.9 * (1 - 0.4 + 0.4 * len(tokens) / average))
        scores.append(score)
    return scores


def normalised(raw: list[float], all_equal: float) -> list[float]:
    low, high = min(raw), max(raw)
    return [all_equal if low == high else rounded((value - low) / (high - low)) for value in raw]


class Question(NamedTuple):
    text: str
    vector: list[float] | None
    tokens: list[str]


def retrieve(candidates, question: Question, at, policy: Policy, k, *, everybody=None):
    """[(id, score)], best first. `everybody`: the documents BM25 counts, if more than the candidates."""
    if not candidates:
        return []
    if not question.text.strip():
        newest = sorted(candidates, key=lambda row: (row.created, row.id), reverse=True)
        return [(row.id, 0.0) for row in newest[:k]]
    recency = [policy.decay ** ((at - row.accessed) / timedelta(hours=1)) for row in candidates]
    importance = [row.importance if policy.importance == "scale" else (row.importance - 1) / 9 for row in candidates]
    if policy.relevance == "cosine":
        relevance = [rounded(cosine(question.vector, row.vector)) for row in candidates]
    else:
        everybody = candidates if everybody is None else everybody
        of = dict(zip([row.id for row in everybody], bm25(question.tokens, [r.tokens for r in everybody]), strict=True))
        relevance = [rounded(of[row.id]) for row in candidates]
    parts = [normalised(raw, policy.all_equal) for raw in (recency, importance, relevance)]
    totals = [rounded(math.fsum(values)) for values in zip(*parts, strict=True)]
    ranked = sorted(
        zip(totals, candidates, strict=True), key=lambda pair: (pair[0], pair[1].created, pair[1].id), reverse=True
    )
    return [(row.id, total) for total, row in ranked[:k]]
