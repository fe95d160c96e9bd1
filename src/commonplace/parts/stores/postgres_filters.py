"""The filters of `recall` and `search` in SQL.

What has a column is compared there. The rest of a memory is JSON in one column, which is compared as text, because some
of what it may hold (NUL, half a surrogate pair) PostgreSQL cannot parse. That is exact for source, session and place.
For the other filters the database picks the rows whose JSON contains what is wanted, and `search.filters` decides about
these few, as it does in RAM: so text, tags, numbers and paths are compared in one way everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from commonplace.memory.columns import micros
from commonplace.memory.record import EXPIRES, checked_names
from commonplace.memory.search import TOLERANCE, Filter, Filters, checked_kinds, checked_span, filters, known

_BY_SQL = ("kinds", "time_range", "min_importance", "agent", "source", "session", "place")
"""Filters that the database answers. The others are tested row by row."""
EXPIRING = f"""strpos(rest, '"{EXPIRES}":') > 0"""
"""What is true of each memory that expires, and perhaps of a few others."""
_HEAD = """split_part(rest, '"details":{', 1)"""
"""The JSON before the details, its last field. Here `"source":` can only be a field: quotes in a text are escaped."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What the database can say about the memories that pass some filters."""

    where: str = "true"
    """A condition that all of them meet; with `values` as its parameters."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tests: tuple[Filter, ...] = ()
    """What decides about those that meet it; empty if nothing is left to decide."""


def narrowed(agent: str, wanted: Filters) -> Narrowed:
    """Returns the filters for one character's rows. Raises UsageError for an invalid filter, as `search` does."""
    filters(**known(wanted))  # checks them
    given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    said = _Conditions()
    if "kinds" in given:
        said.add("kind = ANY({})", sorted(checked_kinds(given["kinds"])))
    if "time_range" in given:
        for moment, compared in zip(checked_span(given["time_range"]), (">=", "<="), strict=True):
            if moment is not None:
                said.add(f"created {compared} {{}}", micros(moment))
    if "min_importance" in given:
        said.add(f"importance + {TOLERANCE!r}::float8 >= {{}}", float(given["min_importance"]))
    if given.get("agent", agent) != agent:
        said.add("false")
    for name in ("source", "session"):
        if given.get(name):
            said.contain((f'"{name}":{text}' for text in _written(given[name])), _HEAD)
        elif name in given:  # an empty one is not written down
            said.add(f"strpos({_HEAD}, {{}}) = 0", f'"{name}":')
    if place := checked_names("place", given.get("place", ())):
        begun = [f'"place":{text[:-1]}' for text in _written(place)]
        said.contain((text + end for text in begun for end in ",]"), _HEAD)
    for one in checked_names("tags", given.get("tags", ())):
        said.contain(_written(one))
    for name in ("details", "metadata"):
        _contain_values(said, given.get(name, {}).values())
    said.parts += [EXPIRING] if "expired_by" in given else []
    rest: Any = {name: value for name, value in given.items() if name not in _BY_SQL}
    return Narrowed(" AND ".join(said.parts) or "true", said.values, tuple(filters(**rest)))


def _contain_values(said: _Conditions, wanted: Iterable[Any]) -> None:
    for accepted in wanted:
        several = isinstance(accepted, list | tuple | set | frozenset)
        values = list(cast("Iterable[Any]", accepted)) if several else [accepted]
        if all(isinstance(value, str) for value in values):  # a number is written in more than one way
            said.contain(text for value in values for text in _written(value))


class _Conditions:
    """Conditions that must all be met, and their parameters."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: dict[str, Any] = {}

    def add(self, condition: str, *values: Any) -> None:
        """Adds a condition with a parameter for each `{}`."""
        for value in values:
            name = f"f{len(self.values)}"
            self.values[name] = value
            condition = condition.replace("{}", f"%({name})s", 1)
        self.parts.append(condition)

    def contain(self, texts: Iterable[str], within: str = "rest") -> None:
        """That the JSON, or what of it is given, has one of these in it."""
        self.add(f"EXISTS (SELECT 1 FROM unnest({{}}::text[]) AS w WHERE strpos({within}, w) > 0)", list(texts))


def _written(value: str | tuple[str, ...]) -> set[str]:
    """Returns how JSON may write the value in a row. See `codec.as_json`.

    It is written as it is or, if the row also holds what UTF-8 cannot, in ASCII.
    """
    found = {json.dumps(value, separators=(",", ":"), ensure_ascii=ascii) for ascii in (True, False)}
    return {one for one in found if _in_utf8(one)}


def _in_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
