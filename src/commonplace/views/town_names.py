"""What a view needs of a scenario: names, rooms, ways and the layout of the map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from commonplace.clock import Clock, parse_iso
from commonplace.languages.language import language
from commonplace.scenario.circumstances import kinds_of, said
from commonplace.scenario.model import AreaPart, FactPart, ScenarioPart
from commonplace.text import clean
from commonplace.world.circumstances import TOWN, Kinds, subject_of

Box = tuple[int, int, int, int]
"""Column, row, width, height."""


@dataclass(frozen=True, slots=True)
class Room:
    """An area as drawn."""

    id: str
    name: str
    parent: str
    """Empty for the root."""
    outdoor: bool
    box: Box | None
    """On the scenario's grid; None where the scenario gives none."""


@dataclass(frozen=True, slots=True)
class TownNames:
    """Names of everything in a scenario, cleaned for display. Unknown ids are their own names."""

    title: str
    language: str
    clock: Clock
    root: str
    rooms: Mapping[str, Room]
    """All areas, outermost first."""
    ways: tuple[tuple[str, str], ...]
    names: Mapping[str, str]
    """Full names of characters, in the scenario's order."""
    called: Mapping[str, str]
    objects: Mapping[str, str]
    facts: Mapping[str, str]
    """What a seed fact is called inside a sentence."""
    kinds: Kinds
    """Of circumstances."""

    @classmethod
    def of(cls, part: ScenarioPart) -> TownNames:
        """Returns the town of a parsed scenario file."""
        areas = tuple(nested_areas(part.world.root, ""))
        people = part.characters
        return cls(
            title=clean(part.title or part.name),
            language=part.language,
            clock=Clock(parse_iso(part.clock.start), part.clock.tick_minutes),
            root=part.world.root.id,
            rooms={
                area.id: Room(area.id, clean(area.name), parent, area.outdoor, part.layout.map.get(area.id))
                for area, parent in areas
            },
            ways=(
                *((parent, area.id) for area, parent in areas if parent),
                *((way.between[0], way.between[1]) for way in part.world.ways),
            ),
            names={who.id: clean(who.name) for who in people},
            called={who.id: clean(who.short_name) for who in people},
            objects={thing.id: clean(thing.name) for area, _ in areas for thing in area.objects},
            facts={fact.id: _noun(fact, part.language) for fact in part.facts},
            kinds=kinds_of(part),
        )

    def who(self, agent_id: str) -> str:
        """Returns the full name."""
        return self.names.get(agent_id, clean(agent_id))

    def short(self, agent_id: str) -> str:
        """Returns the name others use."""
        return self.called.get(agent_id, clean(agent_id))

    def where(self, area_id: str) -> str:
        """Returns an area's name; for a passage `a--b-1` the names of its ends."""
        room = self.rooms.get(area_id)
        if room:
            return room.name
        start, dashes, rest = area_id.partition("--")
        if not dashes:
            return clean(area_id)
        return f"{self.where(start)} ↔ {self.where(rest.rpartition('-')[0])}"

    def what(self, node_id: str) -> str:
        """Returns the name of an object, an area or a character."""
        return self.objects.get(node_id) or self.names.get(node_id) or self.where(node_id)

    def now(self, key: str, by: str = "") -> str:
        """Returns a sentence that says that a circumstance holds: `Mira's Noodle Bar is on fire.`"""
        kind, of = subject_of(key)
        template = self.kinds[kind].words.now if kind in self.kinds else clean(key)
        return said(template, self.language, self._subject(of), by and self.short(by))

    def over(self, key: str) -> str:
        """Returns a sentence that says that a circumstance is over."""
        kind, of = subject_of(key)
        template = self.kinds[kind].words.over if kind in self.kinds else clean(key)
        return said(template, self.language, self._subject(of), "")

    def _subject(self, of: str) -> str:
        if of in self.called or of in self.facts:
            return self.called.get(of) or self.facts[of]
        return language(self.language).the(self.what(self.root if of == TOWN else of))

    def indoors(self, area_id: str) -> bool:
        """Tells whether rain does not fall in an area."""
        room = self.rooms.get(area_id)
        return room is not None and not room.outdoor


def _noun(fact: FactPart, spoken: str) -> str:
    text = clean(fact.text.get(spoken) or next(iter(fact.text.values()), ""))
    return language(spoken).noun_phrase(text) or fact.id


def nested_areas(area: AreaPart, parent: str) -> Iterator[tuple[AreaPart, str]]:
    """Yields (area, id of the area it lies in) for an area and all areas in it, outermost first."""
    yield area, parent
    for child in area.areas:
        yield from nested_areas(child, area.id)
