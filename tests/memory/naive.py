"""The rules of the memory page in the plainest Python there is: what the fast code is compared with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from struct import pack, unpack
from typing import NamedTuple

from commonplace.languages import word_list
from commonplace.languages.ko.morphology import is_grammar
from commonplace.memory import Analyser, Policy
from commonplace.memory.blend import named
from commonplace.text import words

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
    kind: str = "observation"
    tags: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    """The words for who speaks or acts."""

    @property
    def spoken(self) -> bool:
        return ": " in self.text


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


def single(value: float) -> float:
    """The nearest number of 32 bits."""
    return unpack("f", pack("f", value))[0]


def cosine(query: list[float] | None, vector: list[float] | None) -> float:
    if query is None or vector is None or len(vector) != DIMENSIONS or not all(map(math.isfinite, vector)):
        return 0.0
    lengths = math.hypot(*query) * math.hypot(*vector)
    return math.fsum(a * b for a, b in zip(query, vector, strict=True)) / lengths if lengths else 0.0


def bm25(
    query: Mapping[str, float] | Sequence[str], documents: list[list[str]], k1: float = 0.9, b: float = 0.4
) -> list[float]:
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
                score += times * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(tokens) / average))
        scores.append(score)
    return scores


def terms(question: Question, policy: Policy, documents: list[list[str]]) -> dict[str, float]:
    """The terms BM25 looks for, with their weights."""
    found = weighted(question, policy.grammar)
    if not policy.respell:
        return found
    vocabulary = {term for tokens in documents for term in tokens}
    respelt = {term: weight for term, weight in found.items() if term in vocabulary}
    for term, weight in found.items():
        if term not in vocabulary:
            alike = sorted((-likeness(term, other), other) for other in vocabulary if likeness(term, other) >= 0.5)
            for negative, other in alike[:8]:
                if other not in found:
                    respelt[other] = max(respelt.get(other, 0.0), weight * -negative)
    return respelt


def weighted(question: Question, grammar: float) -> dict[str, float]:
    found: dict[str, float] = {}
    analyser = Analyser("en")
    for word in words(question.text):
        weight = grammar if word in word_list("en").function or is_grammar(word) else 1.0
        for token in analyser.query(word):
            share = 0.5 if token[0] == "~" else 0.3 if len(token) == 1 < len(word) else 1.0
            found[token] = found.get(token, 0.0) + weight * share
    return found


def full_marks(question: Question, policy: Policy, documents: list[list[str]]) -> float:
    """What a memory of average length would score with every word of the question."""
    every, content = weighted(question, policy.grammar), weighted(question, 0.0)
    frequency = {term: sum(term in other for other in documents) for term in every}
    counted = {term for term in every if content[term] or frequency[term]} or every
    odds = {term: (len(documents) - frequency[term] + 0.5) / (frequency[term] + 0.5) for term in counted}
    return sum(every[term] * rounded(math.log(1 + odds[term])) for term in sorted(counted))


def likeness(one: str, other: str) -> float:
    if not all(word.isalpha() and word < "~" and len(word) >= 4 for word in (one, other)):
        return 0.0
    first, second = ({f"<{word}>"[i : i + 3] for i in range(len(word))} for word in (one, other))
    return 2 * len(first & second) / (len(first) + len(second))


def recurrence(documents: list[list[str]], skipped: set[str]) -> tuple[int, int, float, int]:
    """Documents looked at, how often a rare term comes again within three of them, by chance, and at all."""
    count = next(count for count in range(len(documents), -1, -1) if "1" not in f"{count:b}"[4:])
    near, chance, again = 0, 0.0, 0
    for term in {token for document in documents for token in document} - skipped:
        places = [place for place, document in enumerate(documents[:count]) if term in document]
        if count > 3 and 2 <= len(places) <= 8:
            gaps = [later - earlier for earlier, later in pairwise(places)]
            near += sum(gap <= 3 for gap in gaps)
            chance += len(gaps) * (1 - math.comb(count - 3, len(places)) / math.comb(count, len(places)))
            again += len(gaps)
    return count, near, chance, again


def share_lent(everybody: list[Row]) -> float:
    """How much neighbours lend, by the rare words that come again within three memories."""
    dates = {token for row in everybody for token in Analyser("en").date(row.created.date())}
    _, near, chance, again = recurrence([row.tokens for row in everybody], dates)
    return max(0.0, min(1.0, (near - chance + 6) / (0.03 * (again - chance + 200))))


def lent(relevance: list[float], candidates: list[Row], everybody: list[Row], policy: Policy) -> list[float]:
    """What the neighbours of each candidate lend it."""
    scale = 1.0
    if policy.lending == "measured":
        scale = share_lent(everybody)
        average = sum(len(row.tokens) for row in everybody) / len(everybody)
        relevance = [
            rounded(own * single(min(1.0, average / len(row.tokens))))
            for own, row in zip(relevance, candidates, strict=True)
        ]
    received = [0.0] * len(candidates)
    for here, row in enumerate(candidates):
        share = scale if row.spoken else scale * 0.5
        for other, neighbour in enumerate(candidates):
            distance = abs(here - other)
            minutes = policy.conversation_minutes if row.spoken and neighbour.spoken else policy.neighbour_minutes
            if 1 <= distance <= 3 and abs(row.created - neighbour.created) <= timedelta(minutes=minutes):
                received[here] += share * relevance[other] * 0.5 ** (distance - 1)
                if other == here - 1 and neighbour.text.endswith("?"):
                    received[here] += share * relevance[other] * 0.5
    return received


def normalised(raw: list[float], low: float, high: float, all_equal: float) -> list[float]:
    return [all_equal if low == high else rounded(max(0.0, value - low) / (high - low)) for value in raw]


class Question(NamedTuple):
    text: str
    vector: list[float] | None
    tokens: list[str]


def retrieve(candidates, question: Question, at, policy: Policy, k, *, everybody=None):
    """[(id, score)], best first. `everybody`: the documents BM25 counts, if more than the candidates."""
    everybody = candidates if everybody is None else everybody
    candidates = [row for row in candidates if row.created <= at and competes(row, policy)]
    if not candidates:
        return []
    if not question.text.strip():
        newest = sorted(candidates, key=lambda row: (row.created, row.id), reverse=True)
        return [(row.id, 0.0) for row in newest[:k]]
    if policy.nearest:
        nearness = {row.id: rounded(cosine(question.vector, row.vector)) for row in candidates}
        nearest = sorted(candidates, key=lambda row: (nearness[row.id], row.created, row.id), reverse=True)
        candidates = sorted(nearest[: policy.nearest], key=lambda row: row.id)
    parts = scored(candidates, everybody, question, at, policy)
    totals = [rounded(math.fsum(values)) for values in zip(*parts.values(), strict=True)]
    ranked = sorted(
        zip(totals, candidates, strict=True), key=lambda pair: (pair[0], pair[1].created, pair[1].id), reverse=True
    )
    return [(row.id, total) for total, row in ranked[:k]]


def competes(row: Row, policy: Policy) -> bool:
    return not set(row.tags) & set(policy.without_tags) and not any(word in row.text for word in policy.without_words)


def scored(candidates, everybody, question: Question, at, policy: Policy) -> dict[str, list[float]]:
    """Part → what it adds to the score of each candidate."""
    raw = {"recency": recencies(candidates, at, policy), "importance": [row.importance for row in candidates]}
    if policy.importance == "unit":
        raw["importance"] = [(value - 1) / 9 for value in raw["importance"]]
    blend = policy.relevance == "blend"
    if policy.relevance in ("cosine", "blend"):
        raw["cosine" if blend else "relevance"] = [rounded(cosine(question.vector, row.vector)) for row in candidates]
    if policy.relevance in ("bm25", "blend"):
        documents = [row.tokens for row in everybody]
        found = bm25(terms(question, policy, documents), documents, policy.k1, policy.b)
        of = dict(zip([row.id for row in everybody], found, strict=True))
        raw["lexical" if blend else "relevance"] = [rounded(of[row.id]) for row in candidates]
    weights = policy.weights
    lows = {name: min(values) for name, values in raw.items()}
    highs = {name: max(values) for name, values in raw.items()}
    if policy.full_at and "lexical" in raw:
        full = policy.full_at * full_marks(question, policy, [row.tokens for row in everybody])
        lows["lexical"] = 0.0
        highest = max(highs["lexical"], 2.0**-30)
        beside = policy.cosine_weight and 0 < highs["lexical"] < full
        highs["lexical"] = full * full / highs["lexical"] if beside else highest
    if policy.cosine_from == "mean" and "cosine" in raw:
        lows["cosine"] = rounded(math.fsum(raw["cosine"]) / len(candidates))
    shown = {
        name: normalised(values, lows[name], highs[name], policy.all_equal)
        if policy.normalise == "minmax"
        else list(map(rounded, values))
        for name, values in raw.items()
    }
    if blend:
        own = [
            sum(
                weights.get(name, 0) * shown[name][i] ** (2 if name == "cosine" and policy.cosine_from == "mean" else 1)
                for name in ("lexical", "cosine")
            )
            for i in range(len(candidates))
        ]
        shown["neighbours"] = lent(own, candidates, everybody, policy)
        asked = set(named(question.text))
        shown["named"] = [1.0 if asked & set(row.subject) else 0.0 for row in candidates]
        shown["statement"] = [0.0 if row.text.endswith("?") else 1.0 for row in candidates]
    return {name: [weights.get(name, 0.0) * value for value in values] for name, values in shown.items()}


def recencies(candidates, at, policy: Policy) -> list[float]:
    if policy.recency == "rank":
        thoughts = ("reflection", "plan")
        order = sorted(candidates, key=lambda row: (row.accessed, row.kind in thoughts, -row.id))
        return [policy.decay ** (order.index(row) + 1) for row in candidates]
    if policy.recency == "creation":
        return [policy.decay ** max(0.0, (at - row.created) / timedelta(hours=1)) for row in candidates]
    return [policy.decay ** ((at - row.accessed) / timedelta(hours=1)) for row in candidates]
