"""Finding memories by where, when and what they are, not by likeness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from commonplace.clock import utc
from commonplace.memory.record import Memory, checked_kind, names
from commonplace.text import clean

Filter = Callable[[Memory], bool]


def filters(
    *,
    text: str | None = None,
    kinds: Collection[str] | None = None,
    time_range: tuple[datetime | None, datetime | None] | None = None,
    place: Sequence[str] | None = None,
    agent: str | None = None,
    tags: Collection[str] | None = None,
    min_importance: float | None = None,
    session: str | None = None,
) -> list[Filter]:
    """A test per filter given; see `Reader.search`. Raises WrongUse for a kind there is none of."""
    tests: list[Filter] = []
    if kinds is not None:
        wanted = {checked_kind(kind) for kind in ((kinds,) if isinstance(kinds, str) else kinds)}
        tests.append(lambda memory: memory.kind in wanted)
    if time_range is not None:
        tests += _within(*time_range)
    if place is not None:
        prefix = names("place", place)
        tests.append(lambda memory: memory.place[: len(prefix)] == prefix)
    if agent is not None:
        tests.append(lambda memory: memory.agent == agent)
    if tags is not None:
        labels = set(names("tags", tuple(tags) if not isinstance(tags, str) else tags))
        tests.append(lambda memory: labels.issubset(memory.tags))
    if min_importance is not None:
        lowest = min_importance - 1e-9
        tests.append(lambda memory: memory.importance >= lowest)
    if session is not None:
        tests.append(lambda memory: memory.session == session)
    if text is not None:
        tests.append(_containing(clean(text).lower()))
    return tests


def _within(first: datetime | None, last: datetime | None) -> list[Filter]:
    tests: list[Filter] = []
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
