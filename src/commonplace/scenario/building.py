"""The world part of a scenario as nodes, kinds and ways."""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.scenario.model import KindPart, ScenarioPart, WayPart
from commonplace.scenario.names import Names, walked
from commonplace.scenario.times import hours
from commonplace.world.geography import Geography
from commonplace.world.objects import ANY
from commonplace.world.tree import Node, ObjectKind, Transition, Way


def geography(part: ScenarioPart) -> Geography:
    """The static world, characters included where they are at tick 0. Raises WrongUse for what cannot be built."""
    kinds = {id: _kind(id, kind) for id, kind in part.world.kinds.items()}
    return Geography.build(_nodes(part), kinds, ways(part.world.ways), part.world.edge_cost, language=part.language)


def ways(parts: tuple[WayPart, ...]) -> tuple[Way, ...]:
    """The declared ways; the id of each names its ends."""
    made: dict[str, Way] = {}
    for part in parts:
        a, b = part.between
        way_id = f"{a}-{b}"
        while way_id in made:  # areas `a-b` and `c`, `a` and `b-c`
            way_id += "_"
        made[way_id] = Way(way_id, a, b, hours(part.open), part.closed)
    return tuple(made.values())


def _nodes(part: ScenarioPart) -> list[Node]:
    names = Names.of(part)
    nodes: list[Node] = []
    for area, parent, _ in walked(part.world.root):
        public = names.public(area.id)
        nodes.append(Node(area.id, area.name, "area", parent, outdoor=area.outdoor, public=public))
        for thing in area.objects:
            holder = names.carriers.get(thing.id, area.id)
            nodes.append(Node(thing.id, thing.name, "object", holder, kind=thing.kind, state=thing.state))
    for character in part.characters:
        nodes.append(Node(character.id, character.name, "agent", character.starts_at or character.home))
    return nodes


def _kind(kind_id: str, part: KindPart) -> ObjectKind:
    transitions = tuple(
        Transition(verb, one.source, one.target, one.seen, tuple(sorted(one.also.items())))
        for verb, alternatives in part.verbs.items()
        for one in alternatives
    )
    return ObjectKind(
        id=kind_id,
        states=part.states,
        initial=part.states[0],
        transitions=transitions,
        refusals=_refusals(part.refusals),
        portable=part.portable,
        words=part.words,
    )


def _refusals(written: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """`TAKE empty` is for one state, `TAKE` for any."""
    split = {tuple(key.split(maxsplit=1)): text for key, text in written.items()}
    return {(key[0], key[1] if len(key) > 1 else ANY): text for key, text in split.items()}
