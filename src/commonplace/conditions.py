"""Conditions: what has to hold for a row of a table or a line of an author, in words that compute nothing.

A condition is `NAME`, `not NAME` or `NAME TEST VALUE`. A name is a path through typed facts, `hearer.warmth`; a test is
`=` or `!=`, which compare with any of several words, or `<`, `<=`, `>`, `>=`, which compare with a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import combinations
from operator import ge, gt, le, lt
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from msgspec import Meta

_WRITTEN = re.compile(r"(?P<negated>not )?(?P<path>[a-z_][a-z0-9_.-]*)(?: (?P<test><=|>=|!=|=|<|>) (?P<value>.+))?")
_ORDER: Mapping[str, Callable[[int, int], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,8}")
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
        """Returns the value that the facts have at the path."""
        value: Any = facts
        for name in self.path:
            if value is None:
                return None
            value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else getattr(value, name)
        return value

    def is_met(self, facts: object) -> bool:
        """Tells whether it holds."""
        return self.holds(self.value(facts))

    def explained(self, facts: object) -> str:
        """Returns the condition, with the value it finds if that is more than yes or no."""
        value = self.value(facts)
        name = getattr(value, "called", "") or (value if isinstance(value, str | int) else "")
        return self.written if isinstance(value, bool) or name in ("", None) else f"{self.written} ({name})"


@lru_cache(maxsize=4096)  # those of a scenario are read once, and met again with every line
def condition(text: str, of: type) -> Condition:
    """Returns a condition about facts of a type. Raises Misread.

    Only the first name is looked up; `examine` checks the whole path.
    """
    found = _WRITTEN.fullmatch(text) if len(text) <= LONGEST else None
    if found is None or (found["negated"] and found["test"]):
        raise Misread(f"{text[:LONGEST]!r} is not a condition")
    path, test, words = tuple(found["path"].split(".")), found["test"], (found["value"] or "").split()
    if path[0] not in names(of):
        raise Misread(f"there is no {path[0]!r} that a condition could name", path[0], names(of))
    if not test:
        return Condition(text, path, "not" if found["negated"] else "is", frozenset(), _HOLDS[bool(found["negated"])])
    if test in _ORDER:
        if len(words) != 1 or not _NUMBER.fullmatch(words[0]):
            raise Misread(f"{text!r} compares with {found['value']!r}, which is not a whole number")
        return Condition(text, path, test, frozenset(words), _compared(_ORDER[test], int(words[0])))
    wanted, is_one = frozenset(words), test == "="
    return Condition(text, path, test, wanted, lambda value: (str(value) in wanted) is is_one)


_HOLDS: Sequence[Callable[[Any], bool]] = (bool, lambda value: not value)


def _compared(test: Callable[[int, int], bool], bound: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and test(value, bound)


# ── what there is to name ────────────────────────────────────────────────────────────────────────────────────────────


@cache
def names(of: type) -> tuple[str, ...]:
    """Returns the names that a path may begin with: the public fields and properties of a type."""
    found = {name for one in of.__mro__ for name in getattr(one, "__annotations__", {})}
    found |= {name for name in dir(of) if isinstance(getattr(of, name), property | cached_property)}
    return tuple(sorted(name for name in found if not name.startswith("_")))


def type_of(of: Any, name: str) -> Any:
    """Returns the type that a name of a type leads to, as it is annotated; `Any` if there is no annotation."""
    if _is_mapping(of):
        return get_args(of)[1]
    made = getattr(of, name, None) or getattr(of, "__getattr__", None)
    function = made.fget if isinstance(made, property) else getattr(made, "func", made)
    if callable(function):
        return get_type_hints(function, include_extras=True).get("return", Any)
    return get_type_hints(of, include_extras=True).get(name, Any)


def examine(found: Condition, of: type, ids: Mapping[str, Iterable[str]] | None = None) -> None:
    """Follows the whole path and compares the types. Raises Misread.

    `ids`: what may stand at a place, by the names that lead there: below a mapping, `people`; as a word, `place.id`.
    """
    known, kind = ids or {}, of
    for number, name in enumerate(found.path):
        before = found.path[:number]
        if _is_mapping(kind):
            valid: Sequence[str] = sorted(known.get(".".join(before), ()))
        elif isinstance(kind, type) and kind not in (str, int, bool):
            valid = [name] if hasattr(kind, "__getattr__") else names(kind)
        else:
            raise Misread(f"{before[-1]!r} in {found.written!r} has nothing below it")
        if name not in valid:
            raise Misread(f"there is no {name!r} in {found.written!r}", name, valid)
        kind = _bare(type_of(kind, name))
    _compare(found, kind, known.get(".".join(found.path)))


def _compare(found: Condition, kind: Any, words: Iterable[str] | None) -> None:
    """Checks that a test suits the type it is applied to. Raises Misread."""
    if found.test in ("is", "not"):
        return
    if kind is bool:
        raise Misread(f"{found.written!r}: it is so or not; write the name alone, or `not` before it")
    if found.test in _ORDER and kind not in (int, Any):
        raise Misread(f"{found.written!r} compares what is not a number")
    if kind not in (str, int, Any) and get_origin(kind) is not Literal:
        raise Misread(f"{found.written!r} compares what is not a word; name something below it")
    known = list(map(str, get_args(kind))) if get_origin(kind) is Literal else words
    for value in sorted(found.values):
        if kind is int and not _NUMBER.fullmatch(value):
            raise Misread(f"{found.written!r} compares with {value!r}, which is not a whole number")
        if known is not None and value not in known:
            raise Misread(f"{found.path[-1]!r} in {found.written!r} is never {value!r}", value, known)


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _bare(kind: Any) -> Any:
    """Returns a type without its metadata and without None."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        left = [one for one in get_args(kind) if one is not NoneType]
        return _bare(left[0]) if len(left) == 1 else Any
    return kind


# ── what can hold ────────────────────────────────────────────────────────────────────────────────────────────────────


def contradiction(found: Iterable[Condition], of: type) -> str:
    """Returns as few conditions as possible about one thing that nothing fulfils, in words; empty if there are none.

    The conditions have passed `examine`.
    """
    by_path: dict[tuple[str, ...], list[Condition]] = {}
    for one in found:
        by_path.setdefault(one.path, []).append(one)
    for path, several in by_path.items():
        tried = list(_tried(of, path, several))
        if any(all(one.holds(value) for one in several) for value in tried):
            continue
        few = (some for count in (1, 2, len(several)) for some in combinations(several, count))
        never = next(some for some in few if not any(all(one.holds(value) for one in some) for value in tried))
        written = " and ".join(repr(one.written) for one in never)
        return f"{written} never hold{'s' if len(never) == 1 else ' together'}"
    return ""


def _tried(of: type, path: Sequence[str], found: Iterable[Condition]) -> Iterator[Any]:
    """Yields values that the path may lead to; if any value fulfils all the conditions, one of these does."""
    kind, said, may_be_missing = of, cast("Any", of), False
    for name in path:
        may_be_missing |= _is_mapping(kind)
        said = type_of(kind, name)
        kind = _bare(said)
        may_be_missing |= NoneType in get_args(said)
    if may_be_missing:
        yield None
    words = {word for one in found for word in one.values}
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    elif kind is str:
        yield from ("", "\0", *words)
    elif kind is int:
        limits = [one for one in getattr(said, "__metadata__", ()) if isinstance(one, Meta)]
        least = max((one.ge for one in limits if one.ge is not None), default=-(10**9))
        most = min((one.le for one in limits if one.le is not None), default=10**9)
        around = {int(word) + by for word in words for by in (-1, 0, 1)} | {-1, 0, 1}
        yield from (number for number in sorted(around) if least <= number <= most)
    else:
        yield from (True, False) if kind is bool else (True,)
