"""BM25 over a growing stream: an index that is exact after every insert.

Nothing is precomputed that an insert could make stale, so there is no rebuild step.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import EPSILON, UNIT, Floats, Indices, Singles, Spread, blocks, grown
from commonplace.memory.segments import Counts, KeptTerms, Segment, joined, packed_texts, spelling_of
from commonplace.text import LATIN

K1 = 0.9
"""How soon further occurrences of a term stop adding to the score."""
B = 0.4
"""How much a longer document is penalised (0 not, 1 fully)."""
_FEW = 16_384
"""Postings of a question up to which all terms are added at once."""
_MOST_ALIKE = 8
"""The most terms that may replace one that does not occur."""
_RARE = 8
"""Documents up to which a term is rare for `recurrence`."""
_MOST_ABSENT = 4096
"""Terms of questions that are known to be in no segment."""


class Recurrence(NamedTuple):
    """How often a rare word comes again soon after it has occurred, in the memories there were at some moment."""

    documents: int
    """The first so many were looked at."""
    near: int
    """How often a rare word comes again within a few documents."""
    chance: float
    """How often it would if the documents were in any order."""
    all: int
    """How often a rare word comes again at all."""


class LexicalIndex:
    """BM25 (Robertson and Zaragoza 2009, idf as in Lucene) over documents numbered 0, 1, 2 …

    `score(d) = Σ over query tokens of idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length))`.
    Terms add in sorted order, so a score is the same on every machine. Documents can be added at the end, removed from
    the end, taken out and put back; what the first `length` documents score never depends on later ones.
    """

    def __init__(self) -> None:
        self._postings: dict[str, _Postings] = {}
        """Of segments, only those of terms that have been looked up: read it through `_found`."""
        self._kept: list[KeptTerms] = []
        self._absent: set[str] = set()
        self._totals: NDArray[np.int64] = np.zeros(16, dtype=np.int64)  # [i]: tokens of the documents before i
        self._shapes: dict[tuple[int, int], int] = {}  # (tf, length) → code; a few hundred however many documents
        self._shape_table: NDArray[np.float64] = np.empty((8, 2), dtype=np.float64)
        self._latest: tuple[tuple[int, float, float, float], NDArray[np.float64]] | None = None
        """The saturation of the latest question, and what it depends on."""
        self._removed: list[int] = []
        self._recurrence = Recurrence(0, 0, 0.0, 0)
        self._brevity: Singles = np.empty(0, dtype=np.float32)
        self._spelling = Spelling()  # all terms ever added: the caller checks that a term still occurs
        self.size = 0

    def append(self, tokens: Sequence[str]) -> None:
        """Adds document number `size`."""
        for term, occurrences in Counter(tokens).items():
            postings = self._found(term) or self._new(term)
            postings.append(self.size, self._code(occurrences, len(tokens)))
        if self.size + 1 == len(self._totals):
            self._totals = grown(self._totals, self.size + 2)
        self._totals[self.size + 1] = self._totals[self.size] + len(tokens)
        self.size += 1

    def extend(self, documents: Sequence[Sequence[str] | None]) -> None:
        """Adds the next documents: the same as `append` for each, at a third of the cost.

        None uses up a number for a document that was taken out before it was indexed.
        """
        tokens = [document or () for document in documents]
        self._removed += [self.size + place for place, document in enumerate(documents) if document is None]
        lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
        numbers: dict[str, int] = {}
        known = numbers.setdefault
        flat = [known(term, len(numbers)) for document in tokens for term in document]
        # sorted by term, then by document
        keys = np.array(flat, dtype=np.int64) * len(tokens) + np.repeat(np.arange(len(tokens)), lengths)
        pairs, occurrences = np.unique(keys, return_counts=True)
        places = pairs % len(tokens)
        longest = int(lengths.max(initial=0)) + 1
        shapes, which = np.unique(occurrences * longest + lengths[places], return_inverse=True)
        codes = np.array([self._code(*divmod(shape, longest)) for shape in shapes.tolist()], dtype=np.int32)[which]
        rows = (places + self.size).astype(np.int32)
        ends = np.cumsum(np.bincount(pairs // len(tokens), minlength=len(numbers))).tolist()
        for term, start, end in zip(numbers, [0, *ends], ends, strict=False):
            postings = self._found(term) or self._new(term)
            postings.extend(rows[start:end], codes[start:end])
        if self.size + len(tokens) >= len(self._totals):
            self._totals = grown(self._totals, self.size + len(tokens) + 1)
        self._totals[self.size + 1 : self.size + len(tokens) + 1] = self._totals[self.size] + np.cumsum(lengths)
        self.size += len(tokens)

    def pop(self, tokens: Iterable[str]) -> None:
        """Removes the last document; `tokens` are those it was added with."""
        for term in dict.fromkeys(tokens):
            postings = self._postings[term]
            postings.size -= 1
            if not postings.size and not self._kept:  # where there are segments, it hides what they have
                del self._postings[term]
        self.size -= 1
        self._brevity = self._brevity[:0]
        if self._recurrence.documents > self._count(self.size):
            self._recurrence = Recurrence(0, 0, 0.0, 0)

    def without(self, documents: Mapping[int, Sequence[str]]) -> LexicalIndex:
        """Returns an index that never had these documents: number → the tokens it was added with.

        This one stays as it is for its readers; only the new one may grow. What has not changed is shared.
        """
        index = self._with_other(documents, -1)
        index._removed = sorted({*self._removed, *documents})
        for term, gone in _by_term(documents).items():
            if (postings := self._found(term)) and postings.size:
                index._postings[term] = postings.without(sorted(gone))
        return index

    def with_again(self, documents: Mapping[int, Sequence[str]]) -> LexicalIndex:
        """Returns an index as if these documents had never been removed or skipped; otherwise as `without`."""
        index = self._with_other(documents, 1)
        index._removed = sorted(set(self._removed).difference(documents))
        for term, back in _by_term(documents).items():
            numbers = sorted(back)
            codes = [index._code(back[number], len(documents[number])) for number in numbers]
            index._postings[term] = (self._found(term) or _Postings()).also(numbers, codes)
            self._spelling.add(term)
        return index

    def _with_other(self, documents: Mapping[int, Sequence[str]], sign: int) -> LexicalIndex:
        """Returns a copy whose documents of these numbers are longer, or with a negative sign shorter, by their
        tokens."""
        index = LexicalIndex()
        index._postings, index._kept = dict(self._postings), self._kept
        index._shapes, index._shape_table = dict(self._shapes), self._shape_table.copy()
        index._spelling, index.size = self._spelling, self.size
        longer = np.zeros_like(self._totals)
        longer[[number + 1 for number in documents]] = [sign * len(tokens) for tokens in documents.values()]
        index._totals = self._totals + np.cumsum(longer)
        return index

    def scores(
        self,
        tokens: Sequence[str] | Mapping[str, float],
        length: int | None = None,
        k1: float = K1,
        b: float = B,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Returns BM25 of the first `length` documents (all of them if None), shape (length,); 0 where no token occurs.

        `out`: where to put them, if there is room already; not always used.

        `tokens`: a query's, or term → weight. Document frequencies, count and average length are those of the first
        `length` documents.
        """
        length = self.size if length is None else length
        count = self._count(length)
        total = int(self._totals[length])
        scores = np.empty(length) if out is None else out
        if not total:
            scores[:] = 0
            return scores
        saturation = self._saturation(total / count, k1, b)
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        terms = [(term, found) for term in sorted(weights) if (found := self._containing(term, length))]
        each = [weights[term] * idf(count, containing) for term, containing in terms]
        found = [(postings, containing) for term, containing in terms if (postings := self._postings.get(term))]
        if found and sum(containing for _, containing in found) <= _FEW:
            return _added_at_once(found, each, saturation, length)
        scores[:] = 0
        for (postings, containing), weighted in zip(found, np.multiply.outer(each, saturation), strict=True):
            if containing == length:  # often words of a date: a plain sum saves a tenth of a recall at 10,000 memories
                for some in blocks(length):
                    scores[some] += weighted.take(postings.codes[some], mode="clip")  # `raise` takes longer
            else:
                codes = postings.codes[:containing]
                np.add.at(scores, postings.documents[:containing], weighted.take(codes, mode="clip"))
        return scores

    def brevity(self, length: int) -> Singles:
        """Returns for each of the first `length` documents the average number of tokens as a share of its own, at most
        1."""
        if len(self._brevity) != length:
            average = int(self._totals[length]) / max(1, self._count(length))
            shares = average / np.maximum(np.diff(self._totals[: length + 1]), 1)
            self._brevity = np.minimum(shares, 1).astype(np.float32)
        return self._brevity

    def recurrence(self, length: int, reach: int, skipped: Callable[[str], bool]) -> Recurrence:
        """Counts how often a term of two to eight documents comes again within `reach` documents.

        Looks at nearly all of the first `length` documents: only when there are a sixteenth to an eighth more are they
        counted again. `skipped`: says which terms do not count; it and `reach` may not change between calls.
        """
        count = self._count(length)
        steps = max(0, count.bit_length() - 4)
        count = count >> steps << steps
        if self._recurrence.documents != count:
            removed = np.array(self._removed, dtype=np.int64)
            end = count + int(np.searchsorted(removed - np.arange(len(removed)), count))
            some = [
                found[: _RARE + 1]
                for term, found in self._each()
                if len(found) > 1 and found[1] < end and not skipped(term)
            ]
            self._recurrence = _recurrence(some, removed, count, end, reach)
        return self._recurrence

    def _each(self) -> Iterator[tuple[str, NDArray[np.int32]]]:
        """Returns each term with its documents."""
        for term, postings in self._postings.items():
            yield term, postings.documents[: postings.size]
        parts: dict[str, list[NDArray[np.int32]]] = {}
        for kept in self._kept:
            for term, documents in kept.each():
                if term not in self._postings:
                    parts.setdefault(term, []).append(documents)
        for term, found in parts.items():
            yield term, found[0] if len(found) == 1 else np.concatenate(found)

    def highest(self, weights: Mapping[str, float], length: int) -> float:
        """Returns what a document of average length scores that has each of these terms once; an unseen term counts,
        too."""
        count = max(1, self._count(length))
        return sum(weight * idf(count, self._containing(term, length)) for term, weight in sorted(weights.items()))

    def as_one(self, terms: Iterable[str], length: int) -> dict[str, float]:
        """Returns the terms that occur in the first `length` documents → weights with which each counts as one word
        would that stands in all of their documents."""
        containing = {term: found for term in terms if (found := self._containing(term, length))}
        if not containing:
            return {}
        count = self._count(length)
        together = idf(count, min(count, sum(containing.values())))
        return {term: together / idf(count, found) for term, found in containing.items()}

    def occurs(self, term: str, length: int) -> bool:
        """Returns whether one of the first `length` documents has the term."""
        return self._containing(term, length) > 0

    def respelt(self, terms: Mapping[str, float], length: int) -> Mapping[str, float]:
        """Returns the terms with their weights, those absent from the first `length` documents replaced.

        Up to eight terms spelt like it take the place of an absent one, each weighted by its likeness.
        """
        if all(self._containing(term, length) for term in terms):
            return terms
        found: dict[str, float] = {}
        for term, weight in terms.items():
            if self._containing(term, length):
                found[term] = found.get(term, 0.0) + weight
                continue
            alike = (pair for pair in self._spelling.like(term, self._kept) if self._containing(pair[0], length))
            for other, likeness in islice(alike, _MOST_ALIKE):
                if other not in terms:
                    found[other] = max(found.get(other, 0.0), weight * likeness)
        return found

    def adopt(self, segments: Sequence[Segment]) -> None:
        """Becomes the index that segments keep; there must be no documents before."""
        lengths = joined(segments, "terms_of")
        self._totals = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
        self._shape_table = joined(segments, "shapes", np.float64)
        self._shapes = {tuple(shape): code for code, shape in enumerate(joined(segments, "shapes").tolist())}
        self._removed = segments[-1].arrays["removed"].tolist()
        if len(known := segments[-1].arrays["recurrence"].tolist()):
            self._recurrence = Recurrence(int(known[0]), int(known[1]), known[2], int(known[3]))
        self._kept = [KeptTerms(segment) for segment in segments]
        self.size = len(lengths)

    def kept(self, since: Counts) -> dict[str, NDArray[Any]]:
        """Returns what a segment keeps of the documents after so many `rows`."""
        first, terms = since["rows"], dict[bytes, str]()
        for term in [*self._postings, *(() if first else (term for kept in self._kept for term in kept.all()))]:
            postings = self._postings.get(term)
            if postings is None or (postings.size and postings.documents[postings.size - 1] >= first):
                terms[term.encode("utf-8", "surrogatepass")] = term
        names = [terms[data] for data in sorted(terms)]
        documents, codes = list[NDArray[np.int32]](), list[NDArray[np.int32]]()
        for name in names:
            found = self._postings.get(name) or self._joined(name)
            assert found is not None
            start = int(np.searchsorted(found.documents[: found.size], first)) if first else 0
            documents.append(found.documents[start : found.size])
            codes.append(found.codes[start : found.size])
        none, lengths = np.empty(0, dtype=np.int32), packed_texts(names)
        return {
            "terms_of": np.diff(self._totals[first : self.size + 1]).astype(np.int32),
            "shapes": self._shape_table[since["shapes"] : len(self._shapes)].astype(np.int64),
            "removed": np.array(self._removed, dtype=np.int32),
            "recurrence": np.array(self._recurrence, dtype=np.float64),
            "terms": lengths[1],
            "term_ends": np.cumsum(lengths[0], dtype=np.int64),
            "starts": np.cumsum([0, *map(len, documents)], dtype=np.int64),
            "documents": np.concatenate([none, *documents]),
            "codes": np.concatenate([none, *codes]),
            **spelling_of(names, [has_spelling(name) for name in names]),
        }

    @property
    def shapes(self) -> int:
        """How many pairs of occurrences and length there are."""
        return len(self._shapes)

    def _count(self, length: int) -> int:
        """Returns how many of the first `length` documents have not been removed."""
        return length - bisect_left(self._removed, length)

    def _new(self, term: str) -> _Postings:
        postings = self._postings[term] = _Postings()
        self._spelling.add(term)
        return postings

    def _found(self, term: str) -> _Postings | None:
        """Returns the postings of a term, which may be empty; None for a new one."""
        postings = self._postings.get(term)
        if postings is None and self._kept and term not in self._absent:
            postings = self._joined(term)
            if len(self._absent) >= _MOST_ABSENT:
                self._absent.clear()
            if postings is None:
                self._absent.add(term)
            else:
                self._postings[term] = postings
        return postings

    def _joined(self, term: str) -> _Postings | None:
        """Returns what the segments have of a term."""
        parts = [part for kept in self._kept if (part := kept.postings(term))]
        if len(parts) > 1:
            return _Postings.of(*(np.concatenate(some) for some in zip(*parts, strict=True)))
        return _Postings.of(*parts[0]) if parts else None

    def _containing(self, term: str, length: int) -> int:
        """Returns how many of the first `length` documents contain the term."""
        postings = self._postings.get(term) or self._found(term)
        if postings is None or not postings.size or postings.documents[postings.size - 1] < length:
            return postings.size if postings else 0
        return int(np.searchsorted(postings.documents[: postings.size], length))

    def _saturation(self, average: float, k1: float, b: float) -> NDArray[np.float64]:
        """Returns tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average)) for every (tf, length) that occurs."""
        asked, latest = (len(self._shapes), average, k1, b), self._latest
        if latest is None or latest[0] != asked:
            shapes = self._shape_table[: len(self._shapes)]
            occurrences, lengths = shapes[:, 0], shapes[:, 1]
            found = occurrences * (k1 + 1) / (occurrences + k1 * (1 - b + b * lengths / average))
            latest = self._latest = asked, found
        return latest[1]

    def _code(self, occurrences: int, length: int) -> int:
        shape = (occurrences, length)
        code = self._shapes.get(shape)
        if code is None:
            code = self._shapes[shape] = len(self._shapes)
            if code == len(self._shape_table):
                self._shape_table = grown(self._shape_table, code + 1)
            self._shape_table[code] = shape
        return code


class ByWords:
    """What `LexicalIndex.scores` gives each candidate: a `Compared`."""

    fades = False

    def __init__(self, scores: Floats, full: float = 0.0) -> None:
        """`full`: the units from which on the highest counts as 1, below as the square of its share; 0: it always
        does, and the lowest as 0."""
        self._scores = scores
        self._full = full

    def units(self, positions: Indices | None, out: Floats) -> None:
        np.multiply(self._scores if positions is None else self._scores[positions], 1 / UNIT, out=out)
        np.rint(out, out=out)

    def spread(self) -> Spread:
        low, high = np.minimum.reduce(self._scores), np.maximum.reduce(self._scores)
        return self.range(Spread(round(float(low) / UNIT), round(float(high) / UNIT)))

    def range(self, over: Spread, units: Floats | None = None) -> Spread:  # noqa: ARG002 - of words, all is known
        if not self._full:
            return over
        return Spread(0.0, self._full * (self._full / over.high) if 0 < over.high < self._full else max(1.0, over.high))

    def estimate(self, some: slice, factor: float, out: Singles) -> None:
        np.multiply(self._scores[some], factor / UNIT, out=out, casting="same_kind")

    def error(self, over: Spread) -> float:
        return 8 * EPSILON * over.high / (over.high - over.low) + 1 / (over.high - over.low)


@lru_cache(maxsize=4096)
def idf(documents: int, containing: int) -> float:
    """Returns ln(1 + (N − df + ½) / (df + ½)), rounded to 2⁻³⁰ because logarithms differ in the last bit between
    machines."""
    value = math.log1p((documents - containing + 0.5) / (containing + 0.5))
    return round(value * 2**30) / 2**30


class _Postings:
    """The documents a term occurs in, ascending, each with the code of its (occurrences, document length)."""

    __slots__ = ("codes", "documents", "size")

    def __init__(self) -> None:
        self.documents: NDArray[np.int32] = np.empty(2, dtype=np.int32)
        self.codes: NDArray[np.int32] = np.empty(2, dtype=np.int32)
        self.size = 0

    def append(self, document: int, code: int) -> None:
        if self.size == len(self.documents):
            self.documents = grown(self.documents, self.size + 1)
            self.codes = grown(self.codes, self.size + 1)
        self.documents[self.size] = document
        self.codes[self.size] = code
        self.size += 1

    def extend(self, documents: NDArray[np.int32], codes: NDArray[np.int32]) -> None:
        size = self.size + len(documents)
        if size > len(self.documents):
            self.documents, self.codes = grown(self.documents, size), grown(self.codes, size)
        self.documents[self.size : size] = documents
        self.codes[self.size : size] = codes
        self.size = size

    def without(self, documents: Sequence[int]) -> _Postings:
        """Returns a copy that lacks these documents."""
        known = self.documents[: self.size]
        at = np.searchsorted(known, documents)
        at = at[known[np.minimum(at, self.size - 1)] == documents]
        return _Postings.of(np.delete(known, at), np.delete(self.codes[: self.size], at))

    def also(self, documents: Sequence[int], codes: Sequence[int]) -> _Postings:
        """Returns a copy that has these documents, too; they must be ascending."""
        known = self.documents[: self.size]
        at = np.searchsorted(known, documents)
        return _Postings.of(np.insert(known, at, documents), np.insert(self.codes[: self.size], at, codes))

    @classmethod
    def of(cls, documents: NDArray[np.int32], codes: NDArray[np.int32]) -> _Postings:
        """Returns the postings of these documents, all of the arrays."""
        postings = cls()
        postings.documents, postings.codes, postings.size = documents, codes, len(documents)
        return postings


def _recurrence(
    found: list[NDArray[np.int32]], removed: NDArray[np.int64], count: int, end: int, reach: int
) -> Recurrence:
    """Counts in the documents before `end`, which are `count` without those removed. `found`: of each term the first
    documents, one more than it may have."""
    if count <= reach or not found:
        return Recurrence(count, 0, 0.0, 0)
    documents, owner = np.concatenate(found), np.repeat(np.arange(len(found)), list(map(len, found)))
    owner, documents = owner[documents < end], documents[documents < end].astype(np.int64)
    often = np.bincount(owner, minlength=len(found))
    rare = (often > 1) & (often <= _RARE)
    documents -= np.searchsorted(removed, documents)
    close = (np.diff(documents) <= reach) & (owner[1:] == owner[:-1]) & rare[owner[1:]]
    terms: list[int] = np.bincount(often[rare], minlength=_RARE + 1).tolist()
    chance = 0.0
    for times, of_terms in enumerate(terms):
        apart = math.prod(max(0, count - times - step) / (count - step) for step in range(reach))
        chance += of_terms * (times - 1) * (1 - apart)
    again = sum(of_terms * (times - 1) for times, of_terms in enumerate(terms))
    return Recurrence(count, int(np.count_nonzero(close)), chance, again)


def _by_term(documents: Mapping[int, Sequence[str]]) -> dict[str, dict[int, int]]:
    """Returns term → document → how often it occurs there."""
    found: dict[str, dict[int, int]] = {}
    for number, tokens in documents.items():
        for term, occurrences in Counter(tokens).items():
            found.setdefault(term, {})[number] = occurrences
    return found


def _added_at_once(
    found: list[tuple[_Postings, int]], each: list[float], saturation: NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    """Returns what adding one term after the other gives, to the last bit, in one call: calls would cost most of the
    time.

    `found`: of each term the postings, and how many of them count; `each`: its weight.
    """
    documents = np.concatenate([postings.documents[:containing] for postings, containing in found])
    codes = np.concatenate([postings.codes[:containing] for postings, containing in found])
    weights = np.array(each).repeat([containing for _, containing in found])
    weights *= saturation.take(codes, mode="clip")  # `raise` takes longer
    return np.asarray(np.bincount(documents, weights, length), dtype=np.float64)


# ── spelling ─────────────────────────────────────────────────────────────────────────────────────────────────────────

ALIKE = 0.5
"""Least likeness, in (0, 1]: Dice's coefficient of the trigrams of the terms between boundary marks."""
_SHORTEST = 4
"""Letters below which a term is like too many others."""
_LATIN_WORD = re.compile(f"(?![0-9])[{LATIN}']+")


class Spelling:
    """The terms of an index by their trigrams. Terms are only ever added."""

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}  # term → how many different trigrams it has
        self._with: dict[str, list[str]] = {}  # trigram → terms
        self._new: list[str] = []
        """Terms that have been added since a term was last compared: trigrams take more than all the rest of an index,
        and of many streams nobody ever asks with a word that they do not have."""

    def add(self, term: str) -> None:
        """Adds a term."""
        self._new.append(term)

    def like(self, term: str, kept: Sequence[KeptTerms] = ()) -> list[tuple[str, float]]:
        """Returns (known term, likeness of at least 0.5), the most alike first, without the term itself.

        `kept`: more terms.
        """
        if not has_spelling(term):
            return []
        for new in self._new:
            if new not in self._terms and has_spelling(new):
                self._terms[new] = len(grams := _trigrams(new))
                for gram in grams:
                    self._with.setdefault(gram, []).append(new)
        self._new.clear()
        grams = _trigrams(term)
        shared = Counter(other for gram in grams for other in self._with.get(gram, ()))
        alike = {other: 2 * count / (len(grams) + self._terms[other]) for other, count in shared.items()}
        for some in kept:
            alike.update(some.like(grams, ALIKE))
        return sorted(
            ((other, likeness) for other, likeness in alike.items() if likeness >= ALIKE and other != term),
            key=lambda pair: (-pair[1], pair[0]),
        )


def has_spelling(term: str) -> bool:
    """Returns whether a term is a Latin word of at least four letters."""
    return len(term) >= _SHORTEST and _LATIN_WORD.fullmatch(term) is not None


def _trigrams(term: str) -> list[str]:
    marked = f"<{term}>"
    return list(dict.fromkeys(marked[start : start + 3] for start in range(len(marked) - 2)))
