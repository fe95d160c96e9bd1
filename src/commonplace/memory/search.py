"""Finding memories by place, time, kind and content: one test per filter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.record import (
    Memory,
    checked_kind,
    checked_names,
    checked_number,
    checked_string,
    checked_time,
)
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
        """Whether the memory's emotion is within the ranges and has one of the keywords."""
        felt = memory.emotion
        if felt is None:
            return False
        if not (_inside(felt.valence, self.valence) and _inside(felt.arousal, self.arousal)):
            return False
        if self.keywords is None:
            return True
        return not {clean(word).lower() for word in self.keywords}.isdisjoint(word.lower() for word in felt.keywords)


def filters(
    *,
    text: str | None = None,
    kinds: Collection[str] | None = None,
    time_range: tuple[datetime | None, datetime | None] | None = None,
    place: Sequence[str] | None = None,
    agent: str | None = None,
    tags: Collection[str] | None = None,
    min_importance: float | None = None,
    emotion: Feeling | Mapping[str, Any] | None = None,
    session: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> list[Filter]:
    """A test per given filter, cheap ones first; see `Reader.search`. Raises UsageError for an invalid filter."""
    tests: list[Filter] = []
    if kinds is not None:
        names = (kinds,) if isinstance(kinds, str) else checked_names("kinds", kinds)
        wanted = {checked_kind(kind) for kind in names}
        tests.append(lambda memory: memory.kind in wanted)
    if time_range is not None:
        earliest, latest = _moments(time_range)
        if earliest is not None:
            tests.append(lambda memory: memory.created_at >= earliest)
        if latest is not None:
            tests.append(lambda memory: memory.created_at <= latest)
    if agent is not None:
        tests.append(lambda memory: memory.agent == agent)
    if session is not None:
        tests.append(lambda memory: memory.session == session)
    if min_importance is not None:
        lowest = checked_number("min_importance", min_importance, "give a number from 1 to 10")
        tests.append(lambda memory: memory.importance + TOLERANCE >= lowest)
    if place is not None:
        prefix = checked_names("place", place)
        tests.append(lambda memory: memory.place[: len(prefix)] == prefix)
    if tags is not None:
        labels = set(checked_names("tags", tags))
        tests.append(lambda memory: bool(labels) and labels.issubset(memory.tags))
    if emotion is not None:
        tests.append(_feeling(emotion).matches)
    if details is not None:
        tests += [_detail(path, accepted) for path, accepted in paths("details", details).items()]
    if text is not None:
        tests.append(_containing(clean(checked_string("text", text)).lower()))
    return tests


def found_in(details: Mapping[str, Any], path: str) -> list[Any]:
    """The values at a path such as `bqi_snapshot.rhythm_phase`: a key of that name, or keys with dots between.

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
    """Path → wanted value. Raises UsageError for anything but a mapping with strings as keys."""
    if isinstance(given, Mapping) and all(isinstance(path, str) for path in cast(Mapping[Any, Any], given)):
        return cast(Mapping[str, Any], given)
    raise UsageError(
        f"{what} {given!r:.60} is not a mapping from paths to values", hint='give {"frame.what": "festival"}'
    )


def _moments(time_range: Any) -> tuple[datetime | None, datetime | None]:
    """From … to in UTC; None is an open end. Raises UsageError."""
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
