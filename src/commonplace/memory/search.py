"""Finding memories by where, when and what they are, not by likeness."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from commonplace.clock import iso, utc
from commonplace.errors import WrongUse
from commonplace.memory.record import Memory, checked_kind, names
from commonplace.text import clean

Filter = Callable[[Memory], bool]
Range = tuple[float | None, float | None]
"""From … to, both included; None is open. One whose beginning lies after its end matches nothing."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Feeling:
    """What an emotion is to be like; a memory without one is never meant. Raises WrongUse for NaN."""

    valence: Range | None = None
    """Within −1 … 1."""
    arousal: Range | None = None
    """Within 0 … 1."""
    keywords: Collection[str] | None = None
    """One of these, whatever the case; of none there is none."""

    def __post_init__(self) -> None:
        for name in ("valence", "arousal"):
            if any(bound is not None and math.isnan(bound) for bound in getattr(self, name) or ()):
                raise WrongUse(f"{name} {getattr(self, name)!r}", todo="give two numbers, or None for an open end")
        if self.keywords is not None:
            names("keywords", cast(Sequence[str], self.keywords))

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
    """A test per filter given, cheap ones first; see `Reader.search`. Raises WrongUse for one that makes no sense."""
    tests: list[Filter] = []
    if kinds is not None:
        wanted = {checked_kind(kind) for kind in ((kinds,) if isinstance(kinds, str) else kinds)}
        tests.append(lambda memory: memory.kind in wanted)
    if time_range is not None:
        tests += _within(*time_range)
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
        labels = set(names("tags", tags if isinstance(tags, str) else tuple(tags)))
        tests.append(lambda memory: bool(labels) and labels.issubset(memory.tags))
    if emotion is not None:
        tests.append(_feeling(emotion).matches)
    if details is not None:
        tests += [_detail(path, wanted) for path, wanted in details.items()]
    if text is not None:
        tests.append(_containing(clean(text).lower()))
    return tests


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
        todo = "give valence, arousal (each a pair) and keywords, or leave them out"
        raise WrongUse(f"emotion {dict(emotion)!r}", todo=todo) from error


def _inside(value: float, span: Range | None) -> bool:
    low, high = span or (None, None)
    return (low is None or value >= low - TOLERANCE) and (high is None or value <= high + TOLERANCE)


def _any_of(there: Iterable[str], wanted: Iterable[str]) -> bool:
    return not {clean(word).lower() for word in wanted}.isdisjoint(word.lower() for word in there)


def _at_least(lowest: float) -> Filter:
    if math.isnan(lowest):
        raise WrongUse("min_importance is NaN", todo="give a number from 1 to 10")
    return lambda memory: memory.importance >= lowest - TOLERANCE


def _within(first: datetime | None, last: datetime | None) -> list[Filter]:
    tests: list[Filter] = []
    if first is not None and last is not None and utc(first) > utc(last):
        raise WrongUse(f"a time range from {iso(first)} to {iso(last)}", todo="give the earlier moment first")
    if first is not None:
        earliest = utc(first)
        tests.append(lambda memory: memory.created_at >= earliest)
    if last is not None:
        latest = utc(last)
        tests.append(lambda memory: memory.created_at <= latest)
    return tests


def _containing(wanted: str) -> Filter:
    def test(memory: Memory) -> bool:
        return wanted in memory.full_text.lower() or any(wanted in tag.lower() for tag in memory.tags)

    return test
