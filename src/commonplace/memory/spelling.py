"""Which known terms are spelt like one that is not known."""

from __future__ import annotations

import re
from collections import Counter

from commonplace.text import LATIN

ALIKE = 0.5
"""Least likeness, in (0, 1]: Dice's coefficient of the trigrams of the terms between boundary marks."""
_SHORTEST = 4
"""Letters below which a term is like many others."""
_LATIN_WORD = re.compile(f"(?![0-9])[{LATIN}']+")


class Spelling:
    """The terms of an index by their trigrams. Terms are only ever added."""

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}  # term → how many different trigrams it has
        self._with: dict[str, list[str]] = {}  # trigram → terms

    def add(self, term: str) -> None:
        """Adds a term. Only words in Latin letters, of four or more, have a spelling here."""
        if len(term) < _SHORTEST or term in self._terms or not _LATIN_WORD.fullmatch(term):
            return
        grams = _trigrams(term)
        self._terms[term] = len(grams)
        for gram in grams:
            self._with.setdefault(gram, []).append(term)

    def like(self, term: str) -> list[tuple[str, float]]:
        """(term, likeness of at least 0.5) of the known terms, the most alike first, without the term itself."""
        if len(term) < _SHORTEST or not _LATIN_WORD.fullmatch(term):
            return []
        grams = _trigrams(term)
        shared = Counter(other for gram in grams for other in self._with.get(gram, ()))
        alike = [(other, 2 * count / (len(grams) + self._terms[other])) for other, count in shared.items()]
        return sorted(
            ((other, likeness) for other, likeness in alike if likeness >= ALIKE and other != term),
            key=lambda pair: (-pair[1], pair[0]),
        )


def _trigrams(term: str) -> list[str]:
    marked = f"<{term}>"
    return list(dict.fromkeys(marked[start : start + 3] for start in range(len(marked) - 2)))
