"""What a scenario defines: every name with its place in the file, for looking up and for suggesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from commonplace.scenario.model import AreaPart, CharacterPart, KindPart, ObjectPart, ScenarioPart
from commonplace.scenario.plain import Path


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
    defined: list[tuple[str, Path]] = field(default_factory=list[tuple[str, Path]])
    """Every definition of a node with its path, in the file's order."""

    @classmethod
    def of(cls, part: ScenarioPart) -> Names:
        """All names of the scenario."""
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

    def _define(self, node_id: str, path: Path) -> None:
        self.defined.append((node_id, (*path, "id")))

    def kind_of(self, object_id: str) -> KindPart | None:
        """The kind of an object; None when either does not exist."""
        thing = self.objects.get(object_id)
        return self.kinds.get(thing.kind) if thing else None

    def ancestry(self, area: str) -> tuple[str, ...]:
        """The area, then the areas around it up to the root."""
        chain = [area]
        while (parent := self.parents.get(chain[-1], "")) and parent not in chain:
            chain.append(parent)
        return tuple(chain)

    def public(self, area: str) -> bool:
        """Whether everybody knows the area: neither it nor an area around it is private."""
        return not self._doors(area)

    def knows(self, character: CharacterPart, area: str) -> bool:
        """Whether a character knows the area from the start.

        Each private area around it must be the character's home, hold it, lie in it, or stand in its `knows`.
        """
        home = self.ancestry(character.home)
        return all(
            door in character.knows or door in home or character.home in self.ancestry(door)
            for door in self._doors(area)
        )

    def known_areas(self, character: CharacterPart) -> frozenset[str]:
        """All areas a character knows from the start."""
        return frozenset(area for area in self.areas if self.knows(character, area))

    def _doors(self, area: str) -> tuple[str, ...]:
        return tuple(one for one in self.ancestry(area) if one in self.areas and self.areas[one].private)


def walked(root: AreaPart) -> Iterator[tuple[AreaPart, str, Path]]:
    """Every area with its parent's id and its path in the file, parents first."""
    waiting: list[tuple[AreaPart, str, Path]] = [(root, "", ("world", "root"))]
    while waiting:
        area, parent, path = waiting.pop()
        yield area, parent, path
        below = [(inner, area.id, (*path, "areas", number)) for number, inner in enumerate(area.areas)]
        waiting.extend(reversed(below))
