"""What some policies ask of every memory besides its columns, found out when the first of them asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import grown
from commonplace.memory.record import Memory
from commonplace.memory.scoring import Floats, RowNumbers
from commonplace.memory.words import word_list
from commonplace.text import HANGUL, words

# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# A column of labels, each a few words: which memories carry a label with one of the words of a question?


Label = tuple[str, ...]


class LabelColumn:
    """One label a row, kept once however many rows carry it. Rows can be added at the end and cut off from there."""

    def __init__(self) -> None:
        self.size = 0
        self._codes: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        self._known: dict[Label, int] = {}
        self._with: dict[str, list[int]] = {}  # word → codes of the labels that have it

    def append(self, label: Label) -> None:
        """Adds the next row; an empty label matches nothing."""
        code = self._known.get(label)
        if code is None:
            code = self._known[label] = len(self._known)
            for word in dict.fromkeys(label):
                self._with.setdefault(word, []).append(code)
        if self.size == len(self._codes):
            self._codes = grown(self._codes, self.size + 1)
        self._codes[self.size] = code
        self.size += 1

    def truncate(self, length: int) -> None:
        """Takes off the rows from `length` on."""
        self.size = min(self.size, length)

    def any_carrying(self, words: Iterable[str]) -> bool:
        """Whether there ever was a row whose label has one of the words."""
        return any(word in self._with for word in words)

    def carrying(self, words: Iterable[str], length: int, value: float = 1.0) -> NDArray[np.float64]:
        """Of the first `length` rows: `value` where the label has one of the words, else 0."""
        codes = [code for word in words for code in self._with.get(word, ())]
        if not codes:
            return np.zeros(length)
        marked = np.zeros(len(self._known))
        marked[codes] = value
        return marked.take(self._codes[:length])


# ── naming ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Whom and what a memory is of, by how its text begins, and whom and what a question names.


_PREAMBLE = re.compile(r"(?:\[[^\[\]]{0,60}\]|\([^()]{0,60}\)|[0-9 .,/|:-])*")
"""A time or date in front of the text."""
_SPEAKER = re.compile(r"([^:：]{1,40})[:：] ")
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00de][A-Za-z0-9\u00c0-\u017f'’-]*")
_HANGUL = re.compile(f"[{HANGUL}]")
_ASIDE = re.compile(r" *(?:\[[^\[\]]*\]|\([^()]*\)) *$")
_CLOSING = "\"'”’」』)] "
_MOST = 3
"""Capitalised words a subject may have."""
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


def subject(memory: Memory) -> tuple[str, ...]:
    """The words for who speaks or acts: `Maria Lopez: …`, `Klaus is reading`, `민수가 …`, and the memory's source."""
    text = memory.text[_end_of(_PREAMBLE, memory.text) :]
    spoken = _SPEAKER.match(text)
    return _names(f"{spoken[1] if spoken else _opening(text)} {memory.source}")


def place(memory: Memory) -> tuple[str, ...]:
    """The words of the place's names."""
    return _names(" ".join(memory.place))


def named(question: str) -> list[str]:
    """The words of a question that may be names, Hangul ones without what may be their particle, each once."""
    found: list[str] = []
    for word in _contentful(question):
        found += [word[:size] for size in range(2, len(word) + 1)] if _HANGUL.match(word) else [word]
    return list(dict.fromkeys(found))


def is_question(text: str) -> bool:
    """Whether the text ends in a question mark, whatever closes or is added in brackets after it."""
    return _ASIDE.sub("", text).rstrip(_CLOSING).endswith(("?", "？"))


def quiet(question: str) -> frozenset[str]:
    """The words of a question that only carry grammar. One that is written like a name, as May, does not."""
    found = word_list("en").function.intersection(words(question))
    return found.difference(word.lower() for word in _CAPITAL_INSIDE.findall(question))


def _names(text: str) -> tuple[str, ...]:
    endings = word_list("ko").function
    found: list[str] = []
    for word in _contentful(text):
        found.append(word)
        if _HANGUL.match(word):
            found += [word[:-size] for size in (1, 2) if len(word) >= size + 2 and word[-size:] in endings]
    return tuple(dict.fromkeys(found))


def _contentful(text: str) -> list[str]:
    grammar = word_list("en").function
    found = [word.removesuffix("'s") for word in words(text.replace("’", "'"))]
    return [word for word in found if word not in grammar]


def _opening(text: str) -> str:
    """The capitalised words a text begins with; of one in Hangul the first word."""
    found: list[str] = []
    for word in text.split(" ", _MOST)[:_MOST]:
        if not found and _HANGUL.match(word):
            return word
        match = _CAPITALISED.match(word)
        if not match:
            break
        found.append(match[0])
    return " ".join(found)


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0


# ── neighbours ───────────────────────────────────────────────────────────────────────────────────────────────────────
# What comes to mind with what: memories made just before and after lend one another their relevance.
#
# An answer seldom repeats the words of its question, and what was said about a thing is said over several turns.


REACH = 3
"""Neighbours on each side."""
FADING = 0.5
"""Each step further lends so much of the step before."""
ANSWER = 0.5
"""What a question lends besides to the memory after it."""
MINUTE = 60_000_000
"""Microseconds."""

_SHARES = [FADING ** (distance - 1) for distance in range(1, REACH + 1)]
_KERNEL = np.array([*reversed(_SHARES), 0.0, *_SHARES])


class Breaks:
    """Which pairs of rows, so many apart, are no neighbours because too much time lies between them.

    Kept up as rows are added at the end and cut off from there, because most streams have few.
    """

    def __init__(self, minutes: float) -> None:
        self._gap = int(minutes * MINUTE)
        self._later: list[RowNumbers] = [np.empty(16, dtype=np.intp) for _ in _SHARES]
        self._counts = [0] * REACH
        self.size = 0

    def between(self, created: NDArray[np.int64]) -> list[RowNumbers]:
        """For each distance 1 … 3 the later rows of such pairs, ascending; `created` as before for rows seen before."""
        if self.size < len(created):
            for distance in range(1, REACH + 1):
                self._add(distance, broken(created, distance, self._gap, self.size))
            self.size = len(created)
        if self.size == len(created):
            return [later[:count] for later, count in zip(self._later, self._counts, strict=True)]
        return [
            later[: np.searchsorted(later[:count], len(created))]
            for later, count in zip(self._later, self._counts, strict=True)
        ]

    def truncate(self, length: int) -> None:
        """Forgets the rows from `length` on."""
        if length < self.size:
            self.size = length
            self._counts = [
                int(np.searchsorted(later[:count], length))
                for later, count in zip(self._later, self._counts, strict=True)
            ]

    def _add(self, distance: int, found: RowNumbers) -> None:
        index, count = distance - 1, self._counts[distance - 1]
        if count + len(found) > len(self._later[index]):
            self._later[index] = grown(self._later[index][:count], count + len(found))
        self._later[index][count : count + len(found)] = found
        self._counts[index] = count + len(found)


def broken(created: NDArray[np.int64], distance: int, gap: int, start: int = 0) -> RowNumbers:
    """The rows from `start` on that were made more than `gap` microseconds from the row `distance` before."""
    first = max(start, distance)
    if first >= len(created):
        return np.empty(0, dtype=np.intp)
    apart = np.abs(created[first:] - created[first - distance : len(created) - distance])
    return np.flatnonzero(apart > gap) + first


def lent(relevance: Floats, questions: NDArray[np.bool_], breaks: list[RowNumbers]) -> Floats:
    """Σ over d = 1 … 3 of 0.5^(d − 1) · (relevance d before + d after), + 0.5 · relevance before if that is a question.

    All of the same shape, in the order of ids; pairs of `breaks` lend nothing. Exact for whole numbers below 2⁴⁸, so
    that what is added and taken off again leaves no trace.
    """
    received = np.correlate(relevance, _KERNEL, "full")[REACH:-REACH]  # the kernel reads the same from both ends
    asking = np.flatnonzero(questions[:-1])
    if len(asking):
        received[asking + 1] += ANSWER * relevance[asking]
    for distance, later in enumerate(breaks, start=1):
        if len(later):
            _take_back(received, relevance, questions, distance, later)
    return received


def _take_back(
    received: Floats, relevance: Floats, questions: NDArray[np.bool_], distance: int, later: RowNumbers
) -> None:
    """Takes off again what pairs that are no neighbours have lent one another."""
    earlier = later - distance
    received[earlier] -= _SHARES[distance - 1] * relevance[later]
    taken = _SHARES[distance - 1] * relevance[earlier]
    received[later] -= taken + ANSWER * relevance[earlier] * questions[earlier] if distance == 1 else taken


# ── traits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


Left = tuple[tuple[str, ...], tuple[str, ...]]
"""(tags, words) a policy leaves out."""


class Flags:
    """A column of true and false that grows at the end."""

    def __init__(self) -> None:
        self.size = 0
        self._values: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)

    def append(self, value: bool) -> None:
        if self.size == len(self._values):
            self._values = grown(self._values, self.size + 1)
        self._values[self.size] = value
        self.size += 1

    def first(self, length: int) -> NDArray[np.bool_]:
        """The flags of the first `length` rows."""
        return self._values[:length]


class Traits:
    """Behind the records until asked; rows can be cut off from the end. Nothing here changes once it is known."""

    def __init__(self) -> None:
        self.subjects = LabelColumn()
        self.places = LabelColumn()
        self.questions = Flags()
        """Whether the text ends in a question."""
        self._left: dict[Left, Flags] = {}
        self._breaks: dict[float, Breaks] = {}

    def filled(self, records: Sequence[Memory], length: int) -> Traits:
        """Itself, with the traits of the first `length` records."""
        for row in range(self.questions.size, length):
            memory = records[row]
            self.subjects.append(subject(memory))
            self.places.append(place(memory))
            self.questions.append(is_question(memory.text))
        return self

    def competing(self, left: Left, records: Sequence[Memory], length: int) -> NDArray[np.bool_]:
        """Which of the first `length` memories have none of the tags and contain none of the words left out."""
        flags = self._left.setdefault(left, Flags())
        tags, texts = left
        for row in range(flags.size, length):
            memory = records[row]
            barred = any(tag in memory.tags for tag in tags) or any(text in memory.text for text in texts)
            flags.append(not barred)
        return flags.first(length)

    def breaks(self, minutes: float, created: NDArray[np.int64]) -> list[RowNumbers]:
        """What `Breaks.between` gives for rows created at these times."""
        known = self._breaks.get(minutes)
        if known is None:
            known = self._breaks[minutes] = Breaks(minutes)
        return known.between(created)

    def truncate(self, length: int) -> None:
        """Forgets the rows from `length` on."""
        self.subjects.truncate(length)
        self.places.truncate(length)
        for breaks in self._breaks.values():
            breaks.truncate(length)
        for flags in (self.questions, *self._left.values()):
            flags.size = min(flags.size, length)
