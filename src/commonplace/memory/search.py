"""Finding memories by where, when and what they are, not by likeness."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from numbers import Real
from typing import Any, cast

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.record import Memory, checked_kind, checked_string, checked_time, names
from commonplace.text import clean

Filter = Callable[[Memory], bool]
Range = tuple[float | None, float | None]
"""From … to, both included; None is open. One whose beginning lies after its end matches nothing."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Feeling:
    """What an emotion is to be like; a memory without one is never meant. Raises UsageError for what is no range."""

    valence: Range | None = None
    """Within −1 … 1."""
    arousal: Range | None = None
    """Within 0 … 1."""
    keywords: Collection[str] | None = None
    """One of these, whatever the case; of none there is none."""

    def __post_init__(self) -> None:
        for name in ("valence", "arousal"):
            span = getattr(self, name)
            if span is not None and not _is_range(span):
                raise UsageError(f"{name} {span!r:.60}", hint="give two numbers, or None for an open end")
        if self.keywords is not None:
            names("keywords", self.keywords)

    def matches(self, memory: Memory) -> bool:
        """Whether the memory felt like that."""
        felt = memory.emotion
        if felt is None:
            return False
        if not (_inside(felt.valence, self.valence) and _inside(felt.arousal, self.arousal)):
            return False
        return self.keywords is None or _any_of(felt.keywords, self.keywords)


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
    """A test per filter given, cheap ones first; see `Reader.search`. Raises UsageError for one that makes no sense."""
    tests: list[Filter] = []
    if kinds is not None:
        wanted = {checked_kind(kind) for kind in ((kinds,) if isinstance(kinds, str) else names("kinds", kinds))}
        tests.append(lambda memory: memory.kind in wanted)
    if time_range is not None:
        tests += _within(*_moments(time_range))
    if agent is not None:
        tests.append(lambda memory: memory.agent == agent)
    if session is not None:
        tests.append(lambda memory: memory.session == session)
    if min_importance is not None:
        tests.append(_at_least(min_importance))
    if place is not None:
        prefix = names("place", place)
        tests.append(lambda memory: memory.place[: len(prefix)] == prefix)
    if tags is not None:
        labels = set(names("tags", tags))
        tests.append(lambda memory: bool(labels) and labels.issubset(memory.tags))
    if emotion is not None:
        tests.append(_feeling(emotion).matches)
    if details is not None:
        tests += [_detail(path, wanted) for path, wanted in paths("details", details).items()]
    if text is not None:
        tests.append(_containing(clean(checked_string("the text", text)).lower()))
    return tests


def _moments(time_range: Any) -> tuple[datetime | None, datetime | None]:
    """From … to in UTC; None is open. Raises UsageError for what is no such pair, or ends before it begins."""
    try:
        first, last = time_range
    except (TypeError, ValueError) as error:
        raise UsageError(f"time_range {time_range!r:.60}", hint="give two datetimes; None is open") from error
    earliest = None if first is None else checked_time(first)
    latest = None if last is None else checked_time(last)
    if earliest is not None and latest is not None and earliest > latest:
        raise UsageError(f"a time range from {iso(earliest)} to {iso(latest)}", hint="give the earlier moment first")
    return earliest, latest


def found_in(details: Mapping[str, Any], path: str) -> list[Any]:
    """What stands in details at a path such as `bqi_snapshot.rhythm_phase`: a key as it is, or keys with dots between.

    A list gives each of its values; nothing there gives none.
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
    """Path → the value wanted there. Raises UsageError for what is no such mapping."""
    if isinstance(given, Mapping) and all(isinstance(path, str) for path in cast(Mapping[Any, Any], given)):
        return cast(Mapping[str, Any], given)
    raise UsageError(f"{what} {given!r:.60}", hint='give a mapping from paths to values: {"frame.what": "festival"}')


def _detail(path: str, wanted: Any) -> Filter:
    several = isinstance(wanted, list | tuple | set | frozenset)
    accepted = list(cast(Iterable[Any], wanted)) if several else [wanted]
    return lambda memory: any(value in accepted for value in found_in(memory.details, path))


def _feeling(emotion: Feeling | Mapping[str, Any]) -> Feeling:
    if isinstance(emotion, Feeling):
        return emotion
    try:
        return Feeling(**emotion)
    except TypeError as error:
        hint = "give a mapping with valence, arousal (each a pair) and keywords, or leave them out"
        raise UsageError(f"emotion {emotion!r:.100}", hint=hint) from error


def _is_range(span: Any) -> bool:
    if not isinstance(span, Sequence) or len(cast(Sequence[Any], span)) != 2:
        return False
    return all(bound is None or _is_number(bound) for bound in cast(Sequence[Any], span))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not math.isnan(value)


def _inside(value: float, span: Range | None) -> bool:
    low, high = span or (None, None)
    return (low is None or value >= low - TOLERANCE) and (high is None or value <= high + TOLERANCE)


def _any_of(there: Iterable[str], wanted: Iterable[str]) -> bool:
    return not {clean(word).lower() for word in wanted}.isdisjoint(word.lower() for word in there)


def _at_least(lowest: float) -> Filter:
    if not _is_number(lowest):
        raise UsageError(f"min_importance {lowest!r:.60}", hint="give a number from 1 to 10")
    return lambda memory: memory.importance + TOLERANCE >= lowest


def _within(earliest: datetime | None, latest: datetime | None) -> list[Filter]:
    tests: list[Filter] = []
    if earliest is not None:
        tests.append(lambda memory: memory.created_at >= earliest)
    if latest is not None:
        tests.append(lambda memory: memory.created_at <= latest)
    return tests


def _containing(wanted: str) -> Filter:
    def test(memory: Memory) -> bool:
        return wanted in memory.full_text.lower() or any(wanted in tag.lower() for tag in memory.tags)

    return test
