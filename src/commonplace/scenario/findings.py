"""Where the rules put what they find."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from commonplace.scenario.mistake import Mistake, choice, nearest
from commonplace.scenario.model import ScenarioPart
from commonplace.scenario.names import Names
from commonplace.scenario.plain import Path, is_list, is_mapping
from commonplace.scenario.reading import Source
from commonplace.scenario.shape import STAND_IN, Cut, Fault, shown


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

    def add(self, path: Path, what: str, expected: str = "", nearest: str = "", *, scope: Path | None = None) -> None:
        """A mistake at a path. With a mistake of shape inside `scope` (by default the path) it is left out."""
        around = self._cut.original(path if scope is None else scope)
        if STAND_IN in what or any(_touch(around, misshapen) for misshapen in self._misshapen):
            return
        self.mistakes.append(self._source.mistake(self._cut.original(path), what, expected, nearest))

    def node(self, path: Path, sort: str, name: str) -> bool:
        """Whether the name is a node of the sort (`area`, `object` or `character`); if not, that is a mistake."""
        sorts = {"area": self.names.areas, "object": self.names.objects, "character": self.names.characters}
        if name in sorts[sort]:
            return True
        other = next((one for one, nodes in sorts.items() if name in nodes), None)
        if other:
            self.add(path, f"{shown(name)} is {_a(other)}, not {_a(sort)}", f"the id of {_a(sort)}")
            return False
        return self.known(path, sort, name, sorts[sort])

    def known(self, path: Path, sort: str, name: str, valid: Collection[str], within: str = "") -> bool:
        """Whether the name is among the valid ones; if not, that is a mistake. `within` says where they come from."""
        if name in valid:
            return True
        if name not in self._ghosts:
            where = f" {within}" if within else ""
            real = [one for one in valid if STAND_IN not in one]
            self.add(path, f"there is no {sort} {shown(name)}{where}", choice(real), nearest(name, real))
        return False

    def repeated(self, names: Iterable[tuple[str, Path]], sort: str) -> None:
        """A mistake for each name that stands a second time."""
        first: dict[str, Path] = {}
        for name, path in names:
            if name in first:
                line = self._source.line(self._cut.original(first[name]))
                self.add(path, f"{sort} {shown(name)} is here a second time; the first is on line {line}")
            first.setdefault(name, path)


def _touch(one: Path, other: Path) -> bool:
    """Whether one path leads to a part around the other, or to the same."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeo" else f"a {noun}"


def _ids(data: Any) -> set[str]:
    """Every id of the document, those of misshapen parts too: what refers to them is no second mistake."""
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
