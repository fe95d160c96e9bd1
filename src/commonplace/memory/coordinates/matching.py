"""The filters of the coordinate document's search, as tests on records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

from commonplace.errors import WrongUse
from commonplace.memory.coordinates.document import is_number
from commonplace.memory.coordinates.table import scaled
from commonplace.memory.record import Memory
from commonplace.memory.search import TOLERANCE, Feeling, Filter, filters, found_in

One = str | Collection[str]
"""A value, or several of which one will do."""


def tests_of(
    *,
    time_range: Any = None,
    persona_id: One | None = None,
    domain: One | None = None,
    min_importance: float | None = None,
    tags: One | None = None,
    bqi_filters: Mapping[str, Any] | None = None,
    snapshot: Callable[[Memory], Any] | None = None,
) -> list[Filter]:
    """A test per filter given. `snapshot`: where the BQI coordinate of a memory is found if not in its details.

    Raises WrongUse for a time that ends before it begins and for an importance that is no number from 0 to 1.
    """
    tests: list[Filter] = []
    if time_range is not None:
        tests += filters(time_range=_pair(time_range))
    if persona_id is not None:
        personas = set(_several(persona_id))
        tests.append(lambda memory: memory.agent in personas)
    if domain is not None:
        domains = _several(domain)
        tests.append(lambda memory: memory.details.get("domain", "") in domains)
    if min_importance:
        tests.append(_at_least(min_importance))
    if tags is not None:
        labels = set(_several(tags))
        tests.append(lambda memory: not labels.isdisjoint(memory.tags))
    for path, wanted in (bqi_filters or {}).items():
        if wanted is not None:  # what the asker does not know is not asked for
            tests.append(_bqi(path, wanted, snapshot))
    return tests


def _several(wanted: One) -> list[str]:
    return [wanted] if isinstance(wanted, str) else list(wanted)


def _pair(time_range: Any) -> tuple[Any, Any]:
    try:
        first, last = time_range
    except (TypeError, ValueError) as error:
        raise WrongUse(f"time_range {time_range!r}", todo="give two datetimes; None is open") from error
    return first, last


def _at_least(lowest: float) -> Filter:
    if not is_number(lowest):
        raise WrongUse(f"min_importance {lowest!r}", todo="give a number from 0 to 1")
    return lambda memory: memory.importance >= scaled(lowest) - TOLERANCE


def _bqi(path: str, wanted: Any, elsewhere: Callable[[Memory], Any] | None) -> Filter:
    """Whether a memory's BQI coordinate has a value, or one of several, at a path. Words of an emotion may stand
    among the keywords of the snapshot or of the memory's own emotion."""

    def test(memory: Memory) -> bool:
        snapshot: Any = memory.details.get("bqi_snapshot")
        if snapshot is None and elsewhere is not None:
            snapshot = elsewhere(memory)
        if path == "emotion" and Feeling(keywords=_words(wanted)).matches(memory) and not isinstance(wanted, Mapping):
            return True
        return isinstance(snapshot, Mapping) and _at(cast(Mapping[str, Any], snapshot), path, wanted)

    return test


def _at(snapshot: Mapping[str, Any], path: str, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        within = cast(Mapping[str, Any], wanted)
        return all(_at(snapshot, f"{path}.{key}", value) for key, value in within.items())
    there = found_in(snapshot, path)
    if path == "emotion":
        there += found_in(snapshot, "emotion.keywords")
    return any(value in there for value in _values(wanted))


def _values(wanted: Any) -> list[Any]:
    return list(cast(Iterable[Any], wanted)) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]


def _words(wanted: Any) -> list[str]:
    return [one for one in _values(wanted) if isinstance(one, str)]
