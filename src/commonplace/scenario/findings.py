"""What the rules work with: the shape of a document, the names a scenario defines, its times of day, and the list of
mistakes found.

Pydantic's findings are put in words a person understands. A misshapen value gets a stand-in, or is cut away, so that
the rest can be checked for mistakes of meaning: a misspelt key does not hide ten other mistakes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from commonplace.languages import phrases
from commonplace.scenario.loading import KeyPath, Mistake, Source, below, choice, holds, is_list, is_mapping, nearest
from commonplace.scenario.model import AreaPart, CharacterPart, KindPart, ObjectPart, ScenarioPart, field_at, keys_at
from commonplace.scenario.telling import terms_of


class Findings:
    """Collects mistakes of meaning, leaving out those that only follow from a mistake of shape."""

    def __init__(self, source: Source, part: ScenarioPart, cut: Cut, faults: Iterable[Fault]) -> None:
        self.part = part
        self.names = Names.of(part)
        self.mistakes: list[Mistake] = []
        self._source = source
        self._cut = cut
        self._misshapen = [fault.path for fault in faults]
        self._ghosts = _ids(source.data) if self._misshapen else set[str]()

    @cached_property
    def marks(self) -> frozenset[str]:
        """The marks that any line sets."""
        return frozenset(mark for terms in terms_of(self.part).values() for mark in terms.sets)

    def add(
        self, path: KeyPath, what: str, expected: str = "", nearest: str = "", *, scope: KeyPath | None = None
    ) -> None:
        """Adds a mistake at a path, unless there is a mistake of shape inside `scope` (by default the path)."""
        around = self._cut.original(path if scope is None else scope)
        if STAND_IN in what or any(_touch(around, misshapen) for misshapen in self._misshapen):
            return
        self.mistakes.append(self._source.mistake(self._cut.original(path), what, expected, nearest))

    def node(self, path: KeyPath, sort: str, name: str) -> bool:
        """Returns whether the name is a node of the sort (`area`, `object` or `character`); adds a mistake if not."""
        sorts = {"area": self.names.areas, "object": self.names.objects, "character": self.names.characters}
        if name in sorts[sort]:
            return True
        other = next((one for one, nodes in sorts.items() if name in nodes), None)
        if other:
            self.add(path, f"{shown(name)} is {_a(other)}, not {_a(sort)}", f"the id of {_a(sort)}")
            return False
        return self.known(path, sort, name, sorts[sort])

    def known(
        self, path: KeyPath, sort: str, name: str, valid: Collection[str], within: str = "", what: str = ""
    ) -> bool:
        """Returns whether the name is among the valid ones; adds a mistake if not. `within` says where these come from,
        or `what` says it all."""
        if name in valid:
            return True
        if name not in self._ghosts:
            where = f" {within}" if within else ""
            real = [one for one in valid if STAND_IN not in one]
            self.add(path, what or f"there is no {sort} {shown(name)}{where}", choice(real), nearest(name, real))
        return False

    def repeated(self, names: Iterable[tuple[str, KeyPath]], sort: str) -> None:
        """Adds a mistake for each repeated name."""
        first: dict[str, KeyPath] = {}
        for name, path in names:
            if name in first:
                line = self._source.line(self._cut.original(first[name]))
                self.add(path, f"{sort} {shown(name)} is here a second time; the first is on line {line}")
            first.setdefault(name, path)


def _touch(one: KeyPath, other: KeyPath) -> bool:
    """Returns whether one path leads to a part around the other, or to the same."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeo" else f"a {noun}"


def _ids(data: Any) -> set[str]:
    """Returns every id of the document, those of misshapen parts too: a reference to one is not a second mistake."""
    found: set[str] = set()
    waiting: list[Any] = [data]
    while waiting:
        here = waiting.pop()
        if is_mapping(here):
            found |= {str(here.get("id", "")), *here}
            waiting.extend(here.values())
        elif is_list(here):
            waiting.extend(here)
    return found


@dataclass(slots=True)
class Names:
    """Nodes by id. Areas, objects and characters share one space of ids; of a repeated one the first is kept."""

    areas: dict[str, AreaPart] = field(default_factory=dict[str, AreaPart])
    objects: dict[str, ObjectPart] = field(default_factory=dict[str, ObjectPart])
    characters: dict[str, CharacterPart] = field(default_factory=dict[str, CharacterPart])
    kinds: dict[str, KindPart] = field(default_factory=dict[str, KindPart])
    parents: dict[str, str] = field(default_factory=dict[str, str])
    """Area or object → the area it is in; the root has none."""
    carriers: dict[str, str] = field(default_factory=dict[str, str])
    """Object → the character that carries it at tick 0."""
    defined: list[tuple[str, KeyPath]] = field(default_factory=list[tuple[str, KeyPath]])
    """Every definition of a node with its path, in the file's order."""

    @classmethod
    def of(cls, part: ScenarioPart) -> Names:
        """Collects all names of the scenario."""
        names = cls(kinds=dict(part.world.kinds))
        for area, parent, path in walked(part.world.root):
            names._define(area.id, path)
            names.areas.setdefault(area.id, area)
            names.parents.setdefault(area.id, parent)
            for number, thing in enumerate(area.objects):
                names._define(thing.id, (*path, "objects", number))
                names.objects.setdefault(thing.id, thing)
                names.parents.setdefault(thing.id, area.id)
        for number, character in enumerate(part.characters):
            names._define(character.id, ("characters", number))
            names.characters.setdefault(character.id, character)
            names.carriers |= dict.fromkeys(character.carries, character.id)
        return names

    def _define(self, node_id: str, path: KeyPath) -> None:
        self.defined.append((node_id, (*path, "id")))

    def kind_of(self, object_id: str) -> KindPart | None:
        """Returns the kind of an object; None when either does not exist."""
        thing = self.objects.get(object_id)
        return self.kinds.get(thing.kind) if thing else None

    def ancestry(self, area: str) -> tuple[str, ...]:
        """Returns the area, then the areas around it up to the root."""
        chain = [area]
        while (parent := self.parents.get(chain[-1], "")) and parent not in chain:
            chain.append(parent)
        return tuple(chain)

    def public(self, area: str) -> bool:
        """Returns whether everybody knows the area: neither it nor an area around it is private."""
        return not self._doors(area)

    def knows(self, character: CharacterPart, area: str) -> bool:
        """Returns whether a character knows the area from the start.

        Each private area around it must be the character's home, contain it, be inside it, or be listed in its `knows`.
        """
        home = self.ancestry(character.home)
        return all(
            door in character.knows or door in home or character.home in self.ancestry(door)
            for door in self._doors(area)
        )

    def known_areas(self, character: CharacterPart) -> frozenset[str]:
        """Returns all areas a character knows from the start."""
        home, found = self.ancestry(character.home), set[str]()
        waiting = [next(iter(self.areas))]  # the root
        while waiting:
            area = waiting.pop()
            part = self.areas[area]
            if part.private and area not in (*character.knows, *home) and character.home not in self.ancestry(area):
                continue  # and so are the areas in it
            found.add(area)
            waiting += (inner.id for inner in part.areas)
        return frozenset(found)

    def _doors(self, area: str) -> tuple[str, ...]:
        return tuple(one for one in self.ancestry(area) if one in self.areas and self.areas[one].private)


def walked(root: AreaPart) -> Iterator[tuple[AreaPart, str, KeyPath]]:
    """Yields every area with its parent's id and its path in the file, parents first."""
    waiting: list[tuple[AreaPart, str, KeyPath]] = [(root, "", ("world", "root"))]
    while waiting:
        area, parent, path = waiting.pop()
        yield area, parent, path
        below = [(inner, area.id, (*path, "areas", number)) for number, inner in enumerate(area.areas)]
        waiting.extend(reversed(below))


DAY = 24 * 60
"""Minutes."""


def minutes(time_of_day: str) -> int:
    """Minutes after midnight of `HH:MM`; `24:00` is 1440. Raises ValueError."""
    hour, minute = (int(part) for part in time_of_day.split(":"))
    total = hour * 60 + minute
    if minute > 59 or total > DAY:
        raise ValueError(time_of_day)
    return total


def hours(stretch: str) -> tuple[int, int] | None:
    """Returns `08:00-22:00` as minutes of the day; None for an empty text, which means always. Raises ValueError."""
    if not stretch:
        return None
    begin, end = stretch.split("-")
    return minutes(begin), minutes(end)


def is_sleep(do: str, language: str) -> bool:
    """Returns whether a routine item is the night's sleep: the word for sleep occurs in it."""
    return phrases(language, "patterns")["sleep"] in do.lower()


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
