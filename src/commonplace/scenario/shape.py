"""The shape of a document: pydantic's findings in words a person understands, and the document without them.

A misshapen value gets a stand-in, or is cut away, so that the rest can be checked for mistakes of meaning: a
misspelt key does not hide ten other mistakes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from commonplace.scenario.loading import KeyPath, below, choice, holds, is_list, is_mapping, nearest
from commonplace.scenario.model import ScenarioPart, field_at, keys_at

ROUNDS = 12
"""Of cutting: a part whose required key was cut goes too, and so on upwards; nothing is nested deeper."""
STAND_IN = "unreadable-"
"""Begins every stand-in for a name; a mistake that quotes one only follows from another."""
_PATTERNS = {
    r"^[a-z0-9_-]+$": 'an id made of a-z, 0-9, "_" and "-"',
    r"^([01]\d|2[0-3]):[0-5]\d$": "a time of day such as 07:30",
    r"^(\d\d:\d\d-\d\d:\d\d)?$": "hours such as 08:00-22:00",
}
_TYPES = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list",
    "dict": "a mapping (keys with values)",
    "model": "a mapping (keys with values)",
}
_RANGES = {
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "greater_than": "more than {gt}",
    "string_too_short": "text that is not empty",
    "string_too_long": "at most {max_length} characters",
    "too_short": "{min_length} or more items",
    "too_long": "at most {max_length} items",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake of shape at a path of the document as written."""

    path: KeyPath
    what: str
    expected: str = ""
    nearest: str = ""


def shaped(data: Any) -> tuple[ScenarioPart | None, Cut, list[Fault]]:
    """Returns the scenario with its misshapen parts replaced or cut, None when too little is left; the copy; and what
    was wrong."""
    cut = Cut(data)
    faults: list[Fault] | None = None
    for _ in range(ROUNDS):
        try:
            return ScenarioPart.model_validate(cut.data), cut, faults or []
        except ValidationError as error:
            errors = [one for one in error.errors(include_url=False) if not _follows(one)]
            if faults is None:
                by_path: dict[KeyPath, list[ErrorDetails]] = {}
                for one in errors:  # the branches of a union complain about the same value
                    by_path.setdefault(_real(one["loc"], data), []).append(one)
                faults = [_fault(path, found) for path, found in by_path.items()]
            if not _repaired(cut, errors):
                break
    return None, cut, faults or []


class Cut:
    """A copy of the document to repair; it remembers which number a list item had in the original."""

    def __init__(self, data: Any) -> None:
        self._numbers: dict[int, list[int]] = {}
        self._stand_ins = 0
        self.data = self._copied(data)

    def original(self, path: KeyPath) -> KeyPath:
        """Returns a path of what is left as a path of the document as written."""
        here: Any = self.data
        written: list[str | int] = []
        for key in path:
            numbers = self._numbers.get(id(here), [])
            written.append(numbers[key] if isinstance(key, int) and key < len(numbers) else key)
            here = below(here, key)
        return tuple(written)

    def stand_in(self, path: KeyPath) -> bool:
        """Puts a value of the right shape where a required one is missing or misshapen; returns False when none is
        known."""
        field = field_at(path)
        holder = self._holder(path)
        if field is None or not field.is_required() or not is_mapping(holder):
            return False
        self._stand_ins += 1
        name = f"{STAND_IN}{self._stand_ins}"
        for value in (name, "00:00", 1, [name], [name, name]):
            if _fits(field, value):
                holder[str(path[-1])] = value
                return True
        return False

    def remove(self, paths: Iterable[KeyPath]) -> None:
        """Cuts these parts away, the later ones of a list first so that the numbers of the others hold."""
        order = {path: [(key, "") if isinstance(key, int) else (-1, key) for key in path] for path in paths}
        for path in sorted(order, key=order.__getitem__, reverse=True):
            holder = self._holder(path)
            if holds(holder, path[-1]):
                del holder[path[-1]]
                if is_list(holder) and isinstance(path[-1], int):
                    del self._numbers[id(holder)][path[-1]]

    def _holder(self, path: KeyPath) -> Any:
        here: Any = self.data
        for key in path[:-1]:
            here = below(here, key)
        return here

    def _copied(self, value: Any) -> Any:
        if is_mapping(value):
            return {key: self._copied(inner) for key, inner in value.items()}
        if is_list(value):
            copy = [self._copied(inner) for inner in value]
            self._numbers[id(copy)] = list(range(len(copy)))
            return copy
        return value


def _fits(field: FieldInfo, value: Any) -> bool:
    annotation: Any = Annotated[field.annotation, *field.metadata, "one"]
    try:
        TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        return False
    return True


def _follows(error: ErrorDetails) -> bool:
    """Returns whether a list is called too short only because its items are misshapen, which is said of each of
    them."""
    limits = error.get("ctx", {})
    return error["type"] == "too_short" and len(error["input"]) >= limits.get("min_length", 0)


def _repaired(cut: Cut, errors: list[ErrorDetails]) -> bool:
    """Puts stand-ins where there can be some, and cuts elsewhere; returns False when nothing would be left."""
    doomed: list[KeyPath] = []
    for error in errors:
        path = _real(error["loc"], cut.data)
        if error["type"] == "missing" and isinstance(path[-1], int):  # an item at the end of a list has no place
            path = path[:-1]
        if not cut.stand_in(path):
            doomed.append(path[:-1] if error["type"] == "missing" else path)
    cut.remove(path for path in doomed if path)
    return () not in doomed


def _real(loc: tuple[str | int, ...], data: Any) -> KeyPath:
    """Returns the location without what pydantic adds to it: names of union branches, `[key]`."""
    path: list[str | int] = []
    here = data
    for number, key in enumerate(loc):
        # a missing key of this kind would belong here; the name of a union's branch never does
        could = key != "[key]" if is_mapping(here) and isinstance(key, str) else is_list(here) and isinstance(key, int)
        if not holds(here, key) and not (number == len(loc) - 1 and could):
            break
        path.append(key)
        here = below(here, key)
    return tuple(path)


def _fault(path: KeyPath, errors: list[ErrorDetails]) -> Fault:
    error = errors[0]
    kind = error["type"]
    if error["loc"][-1:] == ("[key]",):
        return Fault(path, f"{shown(path[-1])} cannot be a key here", _expected(errors))
    if kind == "missing":
        if isinstance(path[-1], int):
            return Fault(path[:-1], f"item {path[-1] + 1} of the list is missing")
        field = field_at(path)
        meaning = f" ({field.description})" if field and field.description else ""
        return Fault(path, f"the key {shown(path[-1])} is missing{meaning}")
    if kind == "extra_forbidden":
        known = keys_at(path[:-1])
        near = nearest(str(path[-1]), known)
        return Fault(path, f"the key {shown(path[-1])} means nothing here", choice(known), near)
    if error["input"] is None:
        return Fault(path, "the key has no value", f"{_expected(errors)}, or no key at all")
    near = nearest(str(error["input"]), _alternatives(errors)) if kind == "literal_error" else ""
    return Fault(path, f"{shown(error['input'])} is not valid here", _expected(errors), near)


def _alternatives(errors: list[ErrorDetails]) -> list[str]:
    """Returns the values a Literal accepts, from the text pydantic gives: `'USE', 'OPEN' or 'TAKE'`."""
    texts = [str(error.get("ctx", {}).get("expected", "")) for error in errors]
    return [word.strip("' ") for text in texts for word in text.replace(" or ", ",").split(",") if word.strip("' ")]


def _expected(errors: list[ErrorDetails]) -> str:
    error = errors[0]
    kind = error["type"]
    limits = error.get("ctx", {})
    if kind == "literal_error":
        return choice(_alternatives(errors))
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(str(limits.get("pattern")), "another form")
    if kind == "string_type" and isinstance(error["input"], bool | int | float):
        return "text: put it in quotes"
    if kind in _RANGES:
        return _RANGES[kind].format_map(limits)
    return _TYPES.get(kind.split("_")[0], error["msg"])


def shown(value: object) -> str:
    """Returns a value of the document as an error quotes it."""
    if isinstance(value, str):
        return f'"{value if len(value) <= 60 else f"{value[:59]}…"}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return "a mapping" if isinstance(value, dict) else str(value)
