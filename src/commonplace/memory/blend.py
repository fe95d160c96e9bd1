"""What a blend reads besides words and vectors: a memory's subject and place, whether it asks, what came next to it.

A question about the past shares few words with its answer. These hints still find the answer; the parts of the
score made of them are `named`, `statement` and `neighbours`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.languages import DEFAULT, word_list
from commonplace.languages.ko.morphology import stem, without_particle
from commonplace.memory.bm25 import LexicalIndex
from commonplace.memory.columns import UNIT, FlagColumn, Floats, Indices, LabelColumn, blocks, grown
from commonplace.memory.policies import BLENDED, Policy, refuse_mistakes
from commonplace.memory.record import Memory
from commonplace.memory.segments import Counts, Labels, Segment, joined
from commonplace.text import HANGUL, words

REACH = 3
"""Neighbours on each side."""
FADING = 0.5
"""Each step further lends this share of the step before."""
UNSPOKEN = 0.5
"""What a memory that nobody says receives of what its neighbours lend: notes made one after the other may have nothing
in common, what is said in a conversation has."""
RECURRING = 0.03
"""Neighbours lend in full where so many of the rare words that come again do so beside where they were, beyond
chance."""
ASSUMED = 200.0
"""A stream begins as if rare words had come again so often, just as many beside: a short stream shows little."""
ANSWER = 0.5
"""What a question lends in addition to the memory after it, which may be its answer."""
MINUTE = 60_000_000
"""Microseconds."""

Numbers = NDArray[np.float64] | NDArray[np.float32]

_SHARES = [FADING ** (distance - 1) for distance in range(1, REACH + 1)]
_KERNEL = np.array([*reversed(_SHARES), 0.0, *_SHARES])


class BlendColumns:
    """Subject, place and form of every memory. Empty until the first blend asks, because most streams never do."""

    def __init__(self) -> None:
        self.subjects = LabelColumn()
        self.places = LabelColumn()
        self.questions = FlagColumn()
        """Whether the text ends in a question."""
        self.spoken = FlagColumn()
        """Whether it is what somebody says."""
        self._breaks: dict[tuple[float, float], Breaks] = {}

    def fill(self, record: Callable[[int], Memory], length: int) -> None:
        """Makes sure that the first `length` memories have their rows; `record` gives that of a row."""
        for row in range(self.questions.size, length):
            memory = record(row)
            self.subjects.append(subject(memory))
            self.places.append(place(memory))
            self.questions.append(is_question(memory.text))
            self.spoken.append(is_spoken(memory))

    def adopt(self, segments: Sequence[Segment]) -> None:
        """Becomes what segments keep; there must be no rows before."""
        for column, codes, name in ((self.subjects, "subject", "subjects"), (self.places, "place", "places")):
            column.adopt(joined(segments, codes), (label for one in segments for label in one.labels[name]))
        for flags, name in ((self.questions, "asks"), (self.spoken, "spoken")):
            flags.adopt(joined(segments, name, np.bool_))

    def kept(self, since: Counts, there: NDArray[np.bool_]) -> tuple[dict[str, NDArray[Any]], dict[str, Labels]]:
        """Returns (what a segment keeps of the memories after so many `rows`, the labels after so many).

        `there`: which of the memories are not forgotten. Nothing is kept of the labels of others.
        """
        first, size = since["rows"], self.spoken.size
        subjects, places = (kept.codes(size)[first:] for kept in (self.subjects, self.places))
        columns = {
            "subject": subjects,
            "place": places,
            "asks": self.questions.values[first:size].view(np.uint8),
            "spoken": self.spoken.values[first:size].view(np.uint8),
        }
        if not first:
            self.subjects.drop(subjects[there])
            self.places.drop(places[there])
        named = {"subjects": self.subjects.labels(), "places": self.places.labels()}
        return columns, {name: labels[since[name] :] for name, labels in named.items()}

    def replace(self, row: int, memory: Memory) -> None:
        """Changes a row, if it is there already."""
        spoken = is_spoken(memory)
        if row < self.spoken.size and spoken != self.spoken.values[row]:
            for breaks in self._breaks.values():
                breaks.truncate(row)
        self.subjects.put(row, subject(memory))
        self.places.put(row, place(memory))
        self.questions.put(row, is_question(memory.text))
        self.spoken.put(row, spoken)

    def breaks(self, policy: Policy) -> Breaks:
        """Returns the pairs of rows that are too far apart to be neighbours."""
        limits = policy.neighbour_minutes, policy.conversation_minutes
        known = self._breaks.get(limits)
        if known is None:
            known = self._breaks[limits] = Breaks.of(policy)
        return known

    def truncate(self, length: int) -> None:
        """Removes the rows from `length` on."""
        for column in (self.subjects, self.places, self.questions, self.spoken, *self._breaks.values()):
            column.truncate(length)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_PREAMBLE = re.compile(r"(?:\[[^\[\]]{0,60}\]|\([^()]{0,60}\)|[0-9 .,/|:-])*")
"""A time or date in front of the text; matches every text, if only its first zero characters."""
_SPEAKER = re.compile(r"([^:：]{1,40})[:：] ")
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00de][A-Za-z0-9\u00c0-\u017f'’-]*")
_HANGUL = re.compile(f"[{HANGUL}]")
_ASIDE = re.compile(r" *(?:\[[^\[\]]*\]|\([^()]*\)) *$")
_CLOSING = "\"'”’」』)] "
_LONGEST_SUBJECT = 3
"""Capitalised words."""


def subject(memory: Memory) -> tuple[str, ...]:
    """Returns the words for who speaks or acts: `Maria Lopez: …`, `Klaus is reading`, `민수가 …`, and the memory's
    source."""
    text = _PREAMBLE.sub("", memory.text, count=1)
    spoken = _SPEAKER.match(text)
    return _name_words(f"{spoken[1] if spoken else _opening(text)} {memory.source}")


def place(memory: Memory) -> tuple[str, ...]:
    """Returns the words of the place's names."""
    return _name_words(" ".join(memory.place))


@lru_cache(maxsize=256)
def named(question: str) -> tuple[str, ...]:
    """Returns the words of a question that may be names, each once; Hangul ones also without what may be their
    particle."""
    found: list[str] = []
    for word in _content_words(question):
        found += [word[:size] for size in range(2, len(word) + 1)] if _HANGUL.match(word) else [word]
    return tuple(dict.fromkeys(found))


def is_question(text: str) -> bool:
    """Returns whether the text ends in a question mark, ignoring closing quotes and a remark in brackets after it."""
    return _ASIDE.sub("", text).rstrip(_CLOSING).endswith(("?", "？"))


def is_spoken(memory: Memory) -> bool:
    """Returns whether a memory is a turn of a conversation: it begins like `Maria Lopez: …`, or its source is its
    speaker."""
    text = _PREAMBLE.sub("", memory.text, count=1)
    found = _SPEAKER.match(text)
    if not found:
        return bool(memory.source)
    name = found[1].split()
    return len(name) == 1 or (len(name) <= _LONGEST_SUBJECT and all(not part[0].islower() for part in name))


def _name_words(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in _content_words(text):
        found.append(word)
        if _HANGUL.match(word):
            found += [short for short in (without_particle(word), stem(word)) if len(short) > 1]
    return tuple(dict.fromkeys(found))


def _content_words(text: str) -> list[str]:
    grammar = word_list(DEFAULT).function
    found = [word.removesuffix("'s") for word in words(text.replace("’", "'"))]
    return [word for word in found if word not in grammar]


def _opening(text: str) -> str:
    """Returns the capitalised words a text begins with; the first word of one that begins in Hangul."""
    found: list[str] = []
    for word in text.split(" ", _LONGEST_SUBJECT)[:_LONGEST_SUBJECT]:
        if not found and _HANGUL.match(word):
            return word
        match = _CAPITALISED.match(word)
        if not match:
            break
        found.append(match[0])
    return " ".join(found)


# ── neighbours ───────────────────────────────────────────────────────────────────────────────────────────────────────
# An answer seldom repeats the words of its question, and what is said about a thing is said over several turns: so
# memories made one after the other lend one another their relevance.


class Breaks:
    """Which pairs of rows 1, 2 or 3 apart are not neighbours because too much time lies between them.

    Extended as rows are added, because most streams have few such pairs.
    """

    def __init__(self, minutes: float, conversation: float) -> None:
        """`minutes`: how far apart neighbours may be; `conversation`: how far, if both are spoken."""
        self._gaps = int(minutes * MINUTE), int(conversation * MINUTE)
        self._later: list[Indices] = [np.empty(16, dtype=np.intp) for _ in _SHARES]
        self._counts = [0] * REACH
        self.size = 0

    @classmethod
    def of(cls, policy: Policy) -> Breaks:
        """Returns the breaks of a policy, for no rows yet."""
        return cls(policy.neighbour_minutes, policy.conversation_minutes)

    def between(self, created: NDArray[np.int64], spoken: NDArray[np.bool_]) -> list[Indices]:
        """Returns for each distance the later rows of such pairs, ascending; the same arrays for rows seen before."""
        length = len(created)
        if self.size < length:
            for distance in range(1, REACH + 1):
                self._add(distance, _pairs_apart(created, spoken, distance, self._gaps, self.size))
            self.size = length
        found = [later[:count] for later, count in zip(self._later, self._counts, strict=True)]
        return found if self.size == length else [later[: np.searchsorted(later, length)] for later in found]

    def truncate(self, length: int) -> None:
        """Removes the rows from `length` on."""
        if length < self.size:
            self.size = length
            self._counts = [
                int(np.searchsorted(later[:count], length))
                for later, count in zip(self._later, self._counts, strict=True)
            ]

    def _add(self, distance: int, found: Indices) -> None:
        index, count = distance - 1, self._counts[distance - 1]
        if count + len(found) > len(self._later[index]):
            self._later[index] = grown(self._later[index][:count], count + len(found))
        self._later[index][count : count + len(found)] = found
        self._counts[index] = count + len(found)


def _pairs_apart(
    created: NDArray[np.int64], spoken: NDArray[np.bool_], distance: int, gaps: tuple[int, int], start: int
) -> Indices:
    """Returns the rows from `start` on that were made too long before or after the row `distance` before; in
    microseconds."""
    first = max(start, distance)
    if first >= len(created):
        return np.empty(0, dtype=np.intp)
    before = slice(first - distance, len(created) - distance)
    apart = np.abs(created[first:] - created[before])
    return np.flatnonzero(apart > np.where(spoken[first:] & spoken[before], gaps[1], gaps[0])) + first


def lent(relevance: Numbers, asking: Indices, breaks: list[Indices], received: Numbers) -> None:
    """Fills in Σ over d = 1 … 3 of 0.5^(d − 1) · (relevance d before + after d), + 0.5 · relevance before if that asks.

    `received`: in the order of ids; `relevance`: the same, with three zeros before and after; `asking`: the positions
    of questions; pairs of `breaks` lend nothing. Exact for whole numbers below 2⁴⁸ in float64, in any order, so that
    subtracting what a broken pair has lent leaves no trace.
    """
    if relevance.dtype == np.float32:  # whichever is faster
        for some in blocks(len(received)):
            _around(relevance[some.start : some.stop + 2 * REACH], received[some])
    else:
        received[:] = np.correlate(relevance, _KERNEL)
    own = relevance[REACH:-REACH]
    if len(asking) and asking[-1] == len(received) - 1:
        asking = asking[:-1]  # nobody answers the last
    if len(asking):
        asking = asking[~np.isin(asking + 1, breaks[0])] if len(breaks[0]) else asking
        received[asking + 1] += ANSWER * own[asking]
    for share, distance, later in zip(_SHARES, range(1, REACH + 1), breaks, strict=True):
        if len(later):
            earlier = later - distance
            received[earlier] -= share * own[later]
            received[later] -= share * own[earlier]


def _around(relevance: Numbers, out: Numbers) -> None:
    count = len(out)
    np.add(relevance[:count], relevance[2 * REACH :], out=out)
    for distance in range(REACH - 1, 0, -1):
        out *= np.float32(FADING)
        out += relevance[REACH - distance :][:count]
        out += relevance[REACH + distance :][:count]


class Lending(NamedTuple):
    """How much neighbours lend in a stream, by its own texts."""

    share: float
    """Of what they would lend, 0–1."""
    brevity: NDArray[np.float32]
    """By row: what is left of what a memory lends for its length, above 0 and up to 1."""

    @classmethod
    def of(cls, index: LexicalIndex, length: int, skipped: Callable[[str], bool]) -> Lending:
        """Measures the first `length` memories; `skipped`: says which terms memories have for their date alone."""
        _, near, chance, again = index.recurrence(length, REACH, skipped)
        share = (near - chance + ASSUMED * RECURRING) / ((again - chance + ASSUMED) * RECURRING)
        return cls(max(0.0, min(1.0, share)), index.brevity(length))


class Hints:
    """What the parts of a blend that count raw are made of, for the candidates of one question."""

    def __init__(
        self,
        columns: BlendColumns,
        text: str,
        policy: Policy,
        created: NDArray[np.int64],
        length: int,
        rows: Indices | None,
        lending: Lending | None = None,
    ) -> None:
        """`created`: by row. `rows`: those of the candidates, None for the first `length`. `lending`: None for in
        full."""
        self.weights = policy.weights
        """Of all parts of the policy."""
        self._columns = columns
        self._policy = policy
        self._created = created
        self._rows = rows
        self._lending = lending
        self.asking = columns.questions.where(length, rows)
        """The positions of the candidates that ask."""
        names = named(text) if "named" in policy.weights else ()
        labels = [(column, column.carrying(names)) for column in (columns.subjects, columns.places)]
        self._marks = [(column, marked) for column, marked in labels if marked is not None]
        self._length = length

    def only(self, positions: Indices) -> Hints:
        """Returns those of the candidates at these positions alone."""
        some = copy(self)
        some._rows = self._row(positions)
        some.asking = self._columns.questions.where(self._length, some._rows)
        return some

    def lend(self, relevance: Numbers, received: Numbers) -> None:
        """Fills in what the candidates receive of their neighbours' relevance, which has room for three at each end.

        Where candidates are left out, those around them are neighbours. `relevance` becomes what each of them lends.
        """
        rows = slice(self._length) if self._rows is None else self._rows
        created, spoken = self._created[rows], self._columns.spoken.values[rows]
        breaks = self._columns.breaks(self._policy) if self._rows is None else Breaks.of(self._policy)
        relevance[:REACH] = relevance[-REACH:] = 0
        if self._lending:
            own = relevance[REACH:-REACH]
            own *= self._lending.brevity[rows]
            if own.dtype == np.float64:  # an estimate is not in whole units anyway
                np.rint(own, out=own)
        lent(relevance, self.asking, breaks.between(created, spoken), received)
        if not spoken.any():
            received *= UNSPOKEN
        elif not spoken.all():
            heeded = np.array([UNSPOKEN, 1.0], received.dtype)
            for some in blocks(len(received)):
                received[some] *= heeded.take(spoken[some].view(np.uint8))
        if self._lending and self._lending.share < 1:
            received *= received.dtype.type(self._lending.share)

    def name(self, points: float, totals: Numbers) -> None:
        """Adds so many points to a candidate's total for its subject and for its place, if the question names it."""
        for column, marked in self._marks:
            given = (marked * points).astype(totals.dtype)
            codes = column.codes(self._length, self._rows)
            for some in blocks(len(totals)):
                totals[some] += given.take(codes[some], mode="clip")

    def named(self, positions: Indices) -> Floats:
        """Returns how many of the labels of some candidates the question names, in units."""
        units = np.zeros(len(positions))
        for column, marked in self._marks:
            units += marked.take(column.codes(column.size, self._row(positions)))
        return units / UNIT

    def state(self, points: float, totals: Numbers) -> None:
        """Adds so many points to the total of a candidate that does not ask."""
        before = totals[self.asking]
        totals += totals.dtype.type(points)
        totals[self.asking] = before

    def stated(self, positions: Indices) -> Floats:
        """Returns 1 for a candidate that does not ask, in units."""
        return ~self._columns.questions.values[self._row(positions)] / UNIT

    def _row(self, positions: Indices) -> Indices:
        return positions if self._rows is None else self._rows[positions]


class Counted(NamedTuple):
    """A part of a blend that is the same whatever the other candidates are, and so counts raw."""

    add: Callable[[Hints, float, Numbers], None]
    """Adds part · points to the total of each candidate."""
    units: Callable[[Hints, Indices], Floats]
    """The part of the candidates at some positions, in units."""
    highest: float
    """The most that the part can be, its sign aside."""


COUNTED: Mapping[str, Counted] = {
    "named": Counted(Hints.name, Hints.named, 2.0),
    "statement": Counted(Hints.state, Hints.stated, 1.0),
}
COMPARED: Mapping[str, Literal["cosine", "bm25"]] = {"lexical": "bm25", "cosine": "cosine"}
"""Part that compares memories with the question → by what."""
refuse_mistakes("blend.COUNTED", [*COMPARED, "neighbours", *COUNTED], BLENDED)
