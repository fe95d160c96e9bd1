"""Conditions: what has to hold for a row of a table or a line of an author, in words that compute nothing.

A condition is `NAME`, `not NAME` or `NAME TEST VALUE`. A name is a path through typed facts, `hearer.warmth`; a test is
`=` or `!=`, which compare with any of several words, or `<`, `<=`, `>`, `>=`, which compare with a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import ge, gt, le, lt
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

_WRITTEN = re.compile(r"(?P<negated>not )?(?P<path>[a-z_][a-z0-9_.-]*)(?: (?P<test><=|>=|!=|=|<|>) (?P<value>.+))?")
_ORDER: Mapping[str, Callable[[int, int], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
LONGEST = 200
"""Characters of a condition."""


class Misread(ValueError):
    """What is wrong with a condition; where a name is unknown, the name and those that are known."""

    def __init__(self, what: str, name: str = "", known: Iterable[str] = ()) -> None:
        super().__init__(what)
        self.name, self.known = name, tuple(known)


@dataclass(frozen=True, slots=True)
class Condition:
    """What is written, and how it is read."""

    written: str
    path: tuple[str, ...]
    test: str
    """`is`, `not`, `=`, `!=`, `<`, `<=`, `>` or `>=`."""
    values: frozenset[str]
    holds: Callable[[Any], bool]
    """Whether it holds for what the path leads to; None where something on the way is missing."""

    def value(self, facts: object) -> Any:
        """What the facts have."""
        value: Any = facts
        for name in self.path:
            if value is None:
                return None
            value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else getattr(value, name)
        return value

    def is_met(self, facts: object) -> bool:
        """Whether it holds."""
        return self.holds(self.value(facts))

    def explained(self, facts: object) -> str:
        """The condition, with what it finds where that is more than yes or no."""
        value = self.value(facts)
        name = getattr(value, "called", "") or (value if isinstance(value, str | int) else "")
        return self.written if isinstance(value, bool) or name in ("", None) else f"{self.written} ({name})"


def condition(text: str, of: type) -> Condition:
    """A condition about facts of a type. Raises Misread.

    Only the first name is looked up; `examine` looks at the whole of it.
    """
    found = _WRITTEN.fullmatch(text) if len(text) <= LONGEST else None
    if found is None or (found["negated"] and found["test"]):
        raise Misread(f"{text[:LONGEST]!r} is no condition: NAME, not NAME, or NAME TEST VALUE")
    path, test, words = tuple(found["path"].split(".")), found["test"], (found["value"] or "").split()
    if path[0] not in names(of):
        raise Misread(f"there is no {path[0]!r} that a condition could name", path[0], names(of))
    if not test:
        return Condition(text, path, "not" if found["negated"] else "is", frozenset(), _HOLDS[bool(found["negated"])])
    if test in _ORDER:
        if len(words) != 1 or not re.fullmatch(r"-?\d{1,9}", words[0]):
            raise Misread(f"{text!r} compares with {found['value']!r}, which is no whole number")
        return Condition(text, path, test, frozenset(words), _compared(_ORDER[test], int(words[0])))
    wanted, is_one = frozenset(words), test == "="
    return Condition(text, path, test, wanted, lambda value: (str(value) in wanted) is is_one)


_HOLDS: Sequence[Callable[[Any], bool]] = (bool, lambda value: not value)


def _compared(test: Callable[[int, int], bool], bound: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and test(value, bound)


# ── what there is to name ────────────────────────────────────────────────────────────────────────────────────────────


@cache
def names(of: type) -> tuple[str, ...]:
    """What a path may begin with: the fields and the properties of a type that are public."""
    found = {name for one in of.__mro__ for name in getattr(one, "__annotations__", {})}
    found |= {name for name in dir(of) if isinstance(getattr(of, name), property | cached_property)}
    return tuple(sorted(name for name in found if not name.startswith("_")))


def type_of(of: Any, name: str) -> Any:
    """The type of what a name of a type leads to; `Any` where that is not said."""
    if _is_mapping(of):
        return get_args(of)[1]
    if isinstance(of, type):
        made = getattr(of, name, None)
        function = made.fget if isinstance(made, property) else getattr(made, "func", None)
        return get_type_hints(function).get("return", Any) if function else get_type_hints(of).get(name, Any)
    return Any


def examine(found: Condition, of: type, ids: Mapping[str, Iterable[str]] | None = None) -> None:
    """Follow the whole path and compare the types. Raises Misread.

    `ids`: what may stand after a name that leads to several things, by that name.
    """
    kind: Any = of
    for before, name in zip(("", *found.path), found.path, strict=False):
        kind = _without_none(kind)
        if _is_mapping(kind):
            valid: Sequence[str] = sorted((ids or {}).get(before, ()))
        elif isinstance(kind, type) and kind not in (str, int, bool):
            valid = names(kind)
        else:
            raise Misread(f"{before!r} in {found.written!r} has nothing below it")
        if name not in valid:
            raise Misread(f"there is no {name!r} in {found.written!r}", name, valid)
        kind = type_of(kind, name)
    kind = _without_none(kind)
    if found.test in _ORDER and kind not in (int, Any):
        raise Misread(f"{found.written!r} compares what is no number")
    if found.values and kind is bool:
        raise Misread(f"{found.written!r}: it is so or not; write the name alone, or `not` before it")
    if found.test in ("=", "!=") and get_origin(kind) is Literal:
        known = list(map(str, get_args(kind)))
        for never in sorted(found.values.difference(known)):
            raise Misread(f"{found.path[-1]!r} in {found.written!r} is never {never!r}", never, known)
    elif found.test in ("=", "!=") and kind not in (str, int, Any):
        raise Misread(f"{found.written!r} compares what is no word")


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        left = [one for one in get_args(kind) if one is not NoneType]
        return left[0] if len(left) == 1 else Any
    return kind


def contradiction(found: Iterable[Condition]) -> str:
    """Two conditions that never hold together; empty where there are none."""
    by_path: dict[tuple[str, ...], list[Condition]] = {}
    for one in found:
        by_path.setdefault(one.path, []).append(one)
    for several in by_path.values():
        for number, one in enumerate(several):
            for other in several[number + 1 :]:
                if not any(one.holds(value) and other.holds(value) for value in _tried(one, other)):
                    return f"{one.written!r} and {other.written!r} never hold together"
    return ""


def _tried(*found: Condition) -> Iterator[Any]:
    """Values of which one fulfils all of these, if any does."""
    yield from (None, True, False, 0, "", "\0")
    for word in {word for one in found for word in one.values}:
        yield word
        if re.fullmatch(r"-?\d+", word):
            yield from (int(word) - 1, int(word), int(word) + 1)
