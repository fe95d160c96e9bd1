"""What the rules work with: the names a scenario defines, its times of day, and the list of mistakes found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from commonplace.languages import phrases
from commonplace.scenario.loading import KeyPath, Mistake, Source, choice, is_list, is_mapping, nearest
from commonplace.scenario.model import AreaPart, CharacterPart, KindPart, ObjectPart, ScenarioPart
from commonplace.scenario.shape import STAND_IN, Cut, Fault, shown
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
        return frozenset(area for area in self.areas if self.knows(character, area))

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
