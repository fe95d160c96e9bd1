"""The filters of the coordinate document's search, as tests on records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

from commonplace.errors import WrongUse
from commonplace.memory.arguments import checked_string
from commonplace.memory.coordinates.document import is_number
from commonplace.memory.coordinates.table import scaled
from commonplace.memory.record import Memory
from commonplace.memory.search import TOLERANCE, Feeling, Filter, filters, found_in, paths
from commonplace.text import clean

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

    Raises WrongUse for a time that ends before it begins, an importance that is no number from 0 to 1, and what is no
    value of a filter.
    """
    tests: list[Filter] = []
    if time_range is not None:
        tests += filters(time_range=time_range)
    if persona_id is not None:
        personas = _several("persona_id", persona_id)
        tests.append(lambda memory: memory.agent in personas)
    if domain is not None:
        domains = _several("domain", domain)
        tests.append(lambda memory: memory.details.get("domain", "") in domains)
    if min_importance:
        tests.append(_at_least(min_importance))
    if tags is not None:
        labels = {clean(tag) for tag in _several("tags", tags)}
        tests.append(lambda memory: not labels.isdisjoint(memory.tags))
    for path, wanted in paths("bqi_filters", bqi_filters or {}).items():
        if wanted is not None:  # what the asker does not know is not asked for
            tests.append(_bqi(path, wanted, snapshot))
    return tests


def _several(what: str, wanted: One) -> list[str]:
    try:
        return [wanted] if isinstance(wanted, str) else [checked_string(what, one) for one in wanted]
    except TypeError as error:
        raise WrongUse(f"{what} {wanted!r:.60}", todo="give a string, or several in a list") from error


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
