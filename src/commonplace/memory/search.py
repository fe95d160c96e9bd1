"""Finding memories by place, time, kind and content: one test per filter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.columns import micros
from commonplace.memory.record import (
    Kind,
    Memory,
    checked_kind,
    checked_names,
    checked_number,
    checked_string,
    checked_time,
    expiry_of,
)
from commonplace.memory.records import Labels
from commonplace.memory.table import KIND_CODES, View
from commonplace.text import clean

Filter = Callable[[Memory], bool]
Range = tuple[float | None, float | None]
"""From … to, both included; None is an open end. A range that ends before it begins matches nothing."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Feeling:
    """Which emotions to find; a memory without an emotion never matches. Raises UsageError for an invalid range."""

    valence: Range | None = None
    """Within −1 … 1."""
    arousal: Range | None = None
    """Within 0 … 1."""
    keywords: Collection[str] | None = None
    """The memory has one of these, ignoring case. An empty collection matches nothing."""

    def __post_init__(self) -> None:
        for name in ("valence", "arousal"):
            span: Any = getattr(self, name)
            if span is None:
                continue
            if not isinstance(span, Sequence) or len(cast(Sequence[Any], span)) != 2:
                raise UsageError(f"{name} {span!r:.60} is not a range", hint="give (low, high); None for an open end")
            for bound in cast(Sequence[Any], span):
                if bound is not None:
                    checked_number(name, bound, "give (low, high); None for an open end")
        if self.keywords is not None:
            checked_names("keywords", self.keywords)

    def matches(self, memory: Memory) -> bool:
        """Returns whether the memory's emotion is within the ranges and has one of the keywords."""
        felt = memory.emotion
        if felt is None:
            return False
        if not (_inside(felt.valence, self.valence) and _inside(felt.arousal, self.arousal)):
            return False
        if self.keywords is None:
            return True
        return not {clean(word).lower() for word in self.keywords}.isdisjoint(word.lower() for word in felt.keywords)


class Filters(TypedDict, total=False):
    """Which memories to find or retrieve: those that pass every filter given. None leaves a filter out.

    An empty list matches nothing. Raises UsageError for a filter of the wrong type, an unknown kind, NaN, and a time
    range that ends before it begins.
    """

    text: str | None
    """Part of the text or of a tag, ignoring case."""
    kinds: Collection[str] | None
    time_range: tuple[datetime | None, datetime | None] | None
    """Created from … to, both included; None for an open end."""
    place: Sequence[str] | None
    """The first names of the place."""
    agent: str | None
    source: str | None
    tags: Collection[str] | None
    """The memory has all of them."""
    min_importance: float | None
    """On 1–10, tolerance 1e-9."""
    emotion: Feeling | Mapping[str, Any] | None
    """Ranges of valence and arousal, keywords: see `Feeling`."""
    session: str | None
    details: Mapping[str, Any] | None
    """Path → accepted value, or list of accepted values. A path goes into mappings with dots; of a list found there any
    value counts."""
    metadata: Mapping[str, Any] | None
    """The same as `details`."""
    expired_by: datetime | None
    """It expires at this time or before."""


_RARE = {"emotion": "emotion", "details": "details", "metadata": "details", "expired_by": "details"}
"""Filter that only a memory with a certain field can pass → the field."""


def known(wanted: Filters) -> Filters:
    """Returns the filters. Raises UsageError for a name that is none of them."""
    if unknown := wanted.keys() - Filters.__optional_keys__:
        hint = f"the filters are {', '.join(sorted(Filters.__optional_keys__))}; how many to retrieve is `k`"
        raise UsageError(f"there is no argument or filter {min(unknown)!r}", hint=hint)
    return wanted


def matching(view: View, wanted: Filters) -> tuple[NDArray[np.bool_], list[Filter]]:
    """Returns (which rows of a view pass the filters that its columns answer, the tests of the others). Raises
    UsageError."""
    rest: dict[str, Any] = dict(known(wanted))
    kinds, lowest, span = (rest.pop(name, None) for name in ("kinds", "min_importance", "time_range"))
    table, length, found = view.table, view.length, view.alive
    if kinds is not None:
        found = found & np.isin(table.kind[:length], [KIND_CODES[kind] for kind in checked_kinds(kinds)])
    if lowest is not None:
        found = found & (table.importance[:length] + TOLERANCE >= _lowest(lowest))
    if span is not None:
        earliest, latest = checked_span(span)
        if earliest is not None:
            found = found & (table.created[:length] >= micros(earliest))
        if latest is not None:
            found = found & (table.created[:length] <= micros(latest))
    labels = {name: rest.pop(name) for name in Labels._fields if name in rest}
    for test in filters(**labels):
        found = found & table.labelled(test, length)
    for name, field in _RARE.items():
        for test in filters(**cast(Any, {name: rest.pop(name, None)})):
            found = table.having(field, test, found)
    return found, filters(**cast(Any, rest))


def filters(
    *,
    text: str | None = None,
    kinds: Collection[str] | None = None,
    time_range: tuple[datetime | None, datetime | None] | None = None,
    place: Sequence[str] | None = None,
    agent: str | None = None,
    source: str | None = None,
    tags: Collection[str] | None = None,
    min_importance: float | None = None,
    emotion: Feeling | Mapping[str, Any] | None = None,
    session: str | None = None,
    details: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    expired_by: datetime | None = None,
) -> list[Filter]:
    """Returns a test per given filter of `Filters`, cheap ones first. Raises UsageError for an invalid filter."""
    tests: list[Filter] = []
    if kinds is not None:
        wanted = checked_kinds(kinds)
        tests.append(lambda memory: memory.kind in wanted)
    if time_range is not None:
        earliest, latest = checked_span(time_range)
        if earliest is not None:
            tests.append(lambda memory: memory.created_at >= earliest)
        if latest is not None:
            tests.append(lambda memory: memory.created_at <= latest)
    names = {"agent": agent, "source": source, "session": session}
    tests += [_equal(name, checked_string(name, value)) for name, value in names.items() if value is not None]
    if min_importance is not None:
        lowest = _lowest(min_importance)
        tests.append(lambda memory: memory.importance + TOLERANCE >= lowest)
    if place is not None:
        prefix = checked_names("place", place)
        tests.append(lambda memory: memory.place[: len(prefix)] == prefix)
    if tags is not None:
        labels = set(checked_names("tags", tags))
        tests.append(lambda memory: bool(labels) and labels.issubset(memory.tags))
    if emotion is not None:
        tests.append(_feeling(emotion).matches)
    for name, given in (("details", details), ("metadata", metadata)):
        if given is not None:
            tests += [_detail(path, accepted) for path, accepted in paths(name, given).items()]
    if expired_by is not None:
        by = checked_time(expired_by)
        tests.append(lambda memory: (end := expiry_of(memory.details)) is not None and end <= by)
    if text is not None:
        tests.append(_containing(clean(checked_string("text", text)).lower()))
    return tests


def found_in(details: Mapping[str, Any], path: str) -> list[Any]:
    """Returns the values at a path such as `bqi_snapshot.rhythm_phase`: a key of that name, or keys with dots between.

    A list counts as its values; a path that leads nowhere gives none.
    """
    at: Any = details.get(path)
    if path not in details:
        at = details
        for key in path.split("."):
            if not isinstance(at, Mapping) or key not in at:
                return []
            at = cast(Mapping[str, Any], at)[key]
    return list(cast(list[Any], at)) if isinstance(at, list | tuple) else [at]


def paths(what: str, given: Any) -> Mapping[str, Any]:
    """Returns path → wanted value. Raises UsageError for anything but a mapping with strings as keys."""
    if isinstance(given, Mapping) and all(isinstance(path, str) for path in cast(Mapping[Any, Any], given)):
        return cast(Mapping[str, Any], given)
    raise UsageError(
        f"{what} {given!r:.60} is not a mapping from paths to values", hint='give {"frame.what": "festival"}'
    )


def checked_kinds(kinds: Collection[str]) -> set[Kind]:
    """Returns the kinds of a filter. Raises UsageError for an unknown one."""
    names = (kinds,) if isinstance(kinds, str) else checked_names("kinds", kinds)
    return {checked_kind(kind) for kind in names}


def _lowest(importance: float) -> float:
    return checked_number("min_importance", importance, "give a number from 1 to 10")


def _equal(name: str, wanted: str) -> Filter:
    return lambda memory: getattr(memory, name) == wanted


def checked_span(time_range: Any) -> tuple[datetime | None, datetime | None]:
    """Returns From … to in UTC; None is an open end. Raises UsageError."""
    try:
        first, last = time_range
    except (TypeError, ValueError) as error:
        hint = "give two datetimes; None for an open end"
        raise UsageError(f"time_range {time_range!r:.60} is not a pair", hint=hint) from error
    earliest = None if first is None else checked_time(first)
    latest = None if last is None else checked_time(last)
    if earliest is not None and latest is not None and earliest > latest:
        raise UsageError(
            f"time_range ends at {iso(latest)}, before it begins at {iso(earliest)}", hint="give the earlier time first"
        )
    return earliest, latest


def _feeling(emotion: Feeling | Mapping[str, Any]) -> Feeling:
    if isinstance(emotion, Feeling):
        return emotion
    try:
        return Feeling(**emotion)
    except TypeError as error:
        hint = "give a mapping with any of valence, arousal (each a pair) and keywords"
        raise UsageError(f"emotion {emotion!r:.100} is not a filter", hint=hint) from error


def _inside(value: float, span: Range | None) -> bool:
    low, high = span or (None, None)
    return (low is None or value >= low - TOLERANCE) and (high is None or value <= high + TOLERANCE)


def _detail(path: str, wanted: Any) -> Filter:
    several = isinstance(wanted, list | tuple | set | frozenset)
    accepted = list(cast(Iterable[Any], wanted)) if several else [wanted]
    return lambda memory: any(value in accepted for value in found_in(memory.details, path))


def _containing(wanted: str) -> Filter:
    return lambda memory: wanted in memory.full_text.lower() or any(wanted in tag.lower() for tag in memory.tags)
