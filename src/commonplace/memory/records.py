"""The parts of a memory that no column of its table holds, packed: tick, event, and the rare fields.

A run of weeks has tens of thousands of memories, and few of them are looked at again. As objects they would need four
times the space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import UsageError
from commonplace.memory.columns import grown
from commonplace.memory.embedding import VectorRows
from commonplace.memory.record import Memory
from commonplace.memory.segments import Counts, Segment, Texts, joined, packed_since, unused, without
from commonplace.memory.stores.codec import UNREADABLE, as_json, parsed_fields, rare_fields

_NONE: Mapping[str, Any] = {}
_PARSED = 256
"""Rare fields that are kept parsed."""
_RARE = {"citations", "place", "emotion", "source", "session", "tags", "event", "details"}


class Labels(NamedTuple):
    """The rare fields that many memories have in common. Fields of `Memory`."""

    source: str
    session: str
    place: tuple[str, ...]
    tags: tuple[str, ...]


_UNLABELLED = Labels("", "", (), ())


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Memories 1 … n as columns, read from where they are stored without making an object of each."""

    texts: Sequence[str]
    """Each pair of text and vector once."""
    vectors: VectorRows
    """One per text."""
    saying: NDArray[np.int32]
    """By memory: which text it is. All that follow are by memory, too."""
    kinds: NDArray[np.uint8]
    """Codes of the kinds."""
    importance: NDArray[np.float64]
    created: NDArray[np.int64]
    """In `micros`, as all times."""
    accessed: NDArray[np.int64]
    ticks: NDArray[np.int32]
    events: Sequence[str]
    rests: Sequence[str]
    """JSON of the rare fields but the event, which many memories share; empty without any."""


class PackedRecords:
    """The first `size` rows of a table. A row is read back equal to the memory that was packed."""

    def __init__(self) -> None:
        self.size = 0
        self._ticks: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        self._rests: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        """By row: which of `_known`."""
        self._known: list[str] | Texts = []
        self._numbers: dict[str, int] = {}
        self._parsed: dict[int, Mapping[str, Any]] = {}
        self._labels: dict[Labels, int] = {}
        self._labels_of: list[int] = []
        """By number of `_known`: which of `_labels`; made when they are first filtered by."""
        self._events = bytearray()
        self._ends: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        """By row: where its event ends in `_events`."""
        self.whole: dict[int, Memory] = {}
        """Rows that JSON cannot hold, and those changed since."""

    def append(self, memory: Memory) -> None:
        """Packs the next row."""
        rest = _rest(memory)
        if rest is None:
            self.whole[self.size] = memory
        self._reserve(self.size + 1)
        self._ticks[self.size] = memory.tick
        self._rests[self.size] = self._number(rest or "")
        self._events += memory.event.encode("utf-8", "surrogatepass")
        self._ends[self.size] = len(self._events)
        self.size += 1

    def load(self, rows: StoredRows) -> None:
        """Becomes these rows; there must be none before."""
        self._ticks = rows.ticks
        numbers = [self._number(rest) for rest in rows.rests]
        self._rests = np.array(numbers, dtype=np.int32)
        events = [event.encode("utf-8", "surrogatepass") for event in rows.events]
        self._events = bytearray(b"".join(events))
        self._ends = np.cumsum([len(event) for event in events], dtype=np.int64)
        self.size = len(numbers)

    def adopt(self, segments: Sequence[Segment]) -> None:
        """Becomes what segments keep; there must be no rows before."""
        self._ticks, self._rests = joined(segments, "tick"), joined(segments, "rest")
        self._known = Texts(segments, "rest_length", "rests")
        self._events = bytearray(joined(segments, "events"))
        self._ends = np.cumsum(joined(segments, "event_length"), dtype=np.int64)
        self.size = len(self._ticks)

    def kept(self, since: Counts, there: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        """Returns what a segment keeps of the rows after so many `rows`, and of the rare fields after so many `rests`.

        `there`: which of the rows are not forgotten. Nothing is kept of others.
        """
        first, size = since["rows"], self.size
        rests = self._rests[first:size].copy()
        for row, memory in self.whole.items():
            if row >= first:
                rare = {name: value for name, value in rare_fields(memory).items() if name != "event"}
                rests[row - first] = self._number(as_json(rare) if rare else "")
        start = self._ends.item(first - 1) if first else 0
        rests[~there] = self._number("")
        lengths, data = packed_since(self._known, since["rests"])
        if not first:
            gone = unused(self.rests, rests)
            lengths, data = without(lengths, data, gone)
            self._numbers = {rest: number for rest, number in self._numbers.items() if not gone[number]}
        spans = np.diff(self._ends[first:size], prepend=start).astype(np.int32)
        spans, events = without(spans, np.frombuffer(bytes(self._events[start:]), dtype=np.uint8), ~there)
        return {
            "tick": self._ticks[first:size],
            "rest": rests,
            "rest_length": lengths,
            "rests": data,
            "events": events,
            "event_length": spans,
        }

    @property
    def lasts(self) -> bool:
        """Whether segments keep all there is: JSON cannot hold everything."""
        return all(_rest(memory) is not None for memory in self.whole.values())

    @property
    def rests(self) -> int:
        """How many different rare fields there are."""
        return len(self._known)

    def rare(self, row: int) -> Mapping[str, Any] | None:
        """Returns the rare fields of a row but the event; None if it is kept as an object or not packed."""
        return None if row >= self.size or row in self.whole else self._rare(int(self._rests[row]))

    def labelled(self, test: Callable[[Any], bool]) -> NDArray[np.bool_]:
        """Returns which rows have labels that pass a test, which is made once for all that have the same.

        The test gets something that has the attributes of `Labels`.
        """
        for number in range(len(self._labels_of), len(self._known)):
            rare = self._rare(number)
            labels = Labels(*(rare.get(name, empty) for name, empty in zip(Labels._fields, _UNLABELLED, strict=True)))
            self._labels_of.append(self._labels.setdefault(labels, len(self._labels)))
        passed = np.array([test(labels) for labels in self._labels], dtype=np.bool_)
        numbers = np.array(self._labels_of, dtype=np.int32)
        found = passed.take(numbers).take(self._rests[: self.size]) if len(passed) else np.empty(0, dtype=np.bool_)
        for row, memory in self.whole.items():
            found[row] = test(memory)
        return found

    def having(self, name: str, test: Callable[[Any], bool], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns which of some rows have this rare field and pass a test of it, made once for all with the same rare
        fields.

        The test gets something that has the field as an attribute.
        """
        numbers, written = self._rests[: self.size], f'"{name}":'
        passed = np.zeros(len(self._known), dtype=np.bool_)
        passed[numbers[among]] = True
        for number in np.flatnonzero(passed).tolist():
            rare = self._fields_of(number) if written in self._known[number] else _NONE
            passed[number] = name in rare and test(SimpleNamespace(**{name: rare[name]}))
        found = passed[numbers] & among
        for row, memory in self.whole.items():
            found[row] = among[row] and test(memory)
        return found

    def fields(self, row: int) -> tuple[int, str, Mapping[str, Any]]:
        """Returns (tick, event, the rare fields) of any other row."""
        start = self._ends.item(row - 1) if row else 0
        event = self._events[start : self._ends.item(row)].decode("utf-8", "surrogatepass")
        return self._ticks.item(row), event, self._rare(self._rests.item(row))

    def _rare(self, number: int) -> Mapping[str, Any]:
        """Returns the rare fields of this number; unless they could be changed, all memories that have them share
        them."""
        rare = self._parsed.get(number)
        if rare is None:
            rare = _shared(self._fields_of(number))
            if "details" not in rare:
                if len(self._parsed) >= _PARSED:
                    self._parsed.clear()
                self._parsed[number] = rare
        return rare

    def _fields_of(self, number: int) -> Mapping[str, Any]:
        """Returns the rare fields of a number. What a segment has that is none of them counts as none."""
        rest = self._known[number]
        if not rest or not isinstance(self._known, Texts):
            return parsed_fields(rest) if rest else _NONE
        try:
            rare = parsed_fields(rest)
        except UNREADABLE:
            return _NONE
        return _NONE if rare.keys() - _RARE else rare

    def _number(self, rest: str) -> int:
        number = self._numbers.setdefault(rest, len(self._known))
        if number == len(self._known):
            self._known.append(rest)
        return number

    def _reserve(self, length: int) -> None:
        if length > len(self._ticks):
            self._ticks, self._rests = grown(self._ticks, length), grown(self._rests, length)
            self._ends = grown(self._ends, length)


def _shared(value: Any) -> Any:
    """Returns the same, its strings the very objects that all other memories have: names, and the keys of details."""
    if isinstance(value, str):
        return intern(value)
    if isinstance(value, dict):
        known = cast("dict[str, Any]", value)
        return {intern(name): _shared(part) for name, part in known.items()}
    if isinstance(value, list | tuple):
        parts = map(_shared, cast("Sequence[Any]", value))
        return list(parts) if isinstance(value, list) else tuple(parts)
    return value


def _rest(memory: Memory) -> str | None:
    """Returns the rare fields but the event as JSON; None for a memory that JSON would change, or cannot hold."""
    rare = rare_fields(memory)
    rare.pop("event", None)
    try:
        rest = as_json(rare) if rare else ""
    except UsageError:
        return None
    again = parsed_fields(rest) if rest else _NONE
    return rest if again.get("details", _NONE) == memory.details else None
