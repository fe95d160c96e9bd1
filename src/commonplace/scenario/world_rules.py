"""What must be true of the world part: ids, objects and their kinds, ways, the map."""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.scenario.findings import Findings
from commonplace.scenario.model import KindPart, TransitionPart, WayPart
from commonplace.scenario.names import walked
from commonplace.scenario.plain import Path
from commonplace.scenario.shape import shown
from commonplace.scenario.times import hours
from commonplace.world.actions import VERBS
from commonplace.world.objects import ANY

GRID = 1000
"""Columns and rows of the largest map."""


def world_rules(found: Findings) -> None:
    """Finds every mistake in `world` and `layout`."""
    _ids(found)
    _objects(found)
    for kind_id, kind in found.part.world.kinds.items():
        _kind(found, kind_id, kind)
    _ways(found)
    _reachable(found)
    _layout(found)


def _ids(found: Findings) -> None:
    found.repeated(found.names.defined, "the id")
    for node_id, path in found.names.defined:
        if node_id == "-" or "--" in node_id:
            found.add(path, f"the id {shown(node_id)} is taken by the simulator", "single hyphens between letters")


def _objects(found: Findings) -> None:
    for area, _, path in walked(found.part.world.root):
        for number, thing in enumerate(area.objects):
            here: Path = (*path, "objects", number)
            if found.known((*here, "kind"), "kind", thing.kind, found.names.kinds) and thing.state:
                kind = found.names.kinds[thing.kind]
                found.known((*here, "state"), "state", thing.state, kind.states, f'of the kind "{thing.kind}"')


# ── kinds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _kind(found: Findings, kind_id: str, kind: KindPart) -> None:
    path: Path = ("world", "kinds", kind_id)
    found.repeated(((state, (*path, "states", number)) for number, state in enumerate(kind.states)), "the state")
    for number, state in enumerate(kind.states):
        if not state.strip() or state == ANY:
            found.add((*path, "states", number), f"{shown(state)} cannot be a state", "a word or two")
    for verb, transitions in kind.verbs.items():
        for number, transition in enumerate(transitions):
            _transition(found, (*path, "verbs", verb, number), kind_id, kind, transition)
        _doubled(found, (*path, "verbs", verb), transitions)
    for key in kind.refusals:
        _refusal(found, (*path, "refusals", key), kind, key)
    for state in kind.words:
        found.known((*path, "words", state), "state", state, kind.states)
    silent = [state for state in kind.states if state not in kind.words]
    if found.part.language == "ko" and silent:
        found.add(path, f"the state {shown(silent[0])} has no words", "a predicate for every state, such as 열려 있다")


def _transition(found: Findings, path: Path, kind_id: str, kind: KindPart, transition: TransitionPart) -> None:
    found.known((*path, "from"), "state", transition.source, (*kind.states, ANY))
    found.known((*path, "to"), "state", transition.target, kind.states)
    for other, state in transition.also.items():
        here = (*path, "also", other)
        if not found.node(here, "object", other):
            continue
        other_kind = found.names.kind_of(other)
        if other_kind:
            found.known(here, "state", state, other_kind.states, f'of "{other}"')
        _near(found, here, kind_id, other)


def _near(found: Findings, path: Path, kind_id: str, other: str) -> None:
    """A transition sets objects of its own area only: one of the kind must stand where the other does."""
    of_kind = [id for id, thing in found.names.objects.items() if thing.kind == kind_id]
    area = found.names.parents[other]
    if of_kind and all(found.names.parents[id] != area for id in of_kind):
        what = f'"{other}" is in "{area}", where nothing of the kind "{kind_id}" is'
        found.add(path, what, "an object of the same area")


def _doubled(found: Findings, path: Path, transitions: tuple[TransitionPart, ...]) -> None:
    seen: set[str] = set()
    for number, transition in enumerate(transitions):
        if transition.source in seen:
            what = f"a transition from {shown(transition.source)} stands before; this one never happens"
            found.add((*path, number), what)
        seen.add(transition.source)


def _refusal(found: Findings, path: Path, kind: KindPart, key: str) -> None:
    verb, _, state = key.partition(" ")
    if found.known(path, "verb", verb, VERBS) and state.strip():
        found.known(path, "state", state.strip(), (*kind.states, ANY))


# ── ways ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ways(found: Findings) -> None:
    seen: set[frozenset[str]] = set()
    for number, way in enumerate(found.part.world.ways):
        path: Path = ("world", "ways", number)
        _way(found, path, way)
        pair = frozenset(way.between)
        if pair in seen:
            what = f"a way between {' and '.join(map(shown, way.between))} stands before"
            found.add(path, what, "one way for two areas")
        seen.add(pair)


def _way(found: Findings, path: Path, way: WayPart) -> None:
    known = [found.node((*path, "between", number), "area", area) for number, area in enumerate(way.between)]
    if all(known) and way.between[0] == way.between[1]:
        found.add((*path, "between"), f"the way leads from {shown(way.between[0])} to itself", "two areas")
    try:
        stretch = hours(way.open)
    except ValueError:
        found.add((*path, "open"), f"{shown(way.open)} is no stretch of a day", "hours such as 08:00-22:00")
        return
    if stretch and stretch[0] == stretch[1]:
        found.add((*path, "open"), f"{shown(way.open)} is no time at all", "hours such as 08:00-22:00")


def _reachable(found: Findings) -> None:
    """Every area must be within reach of the root by ways that are not closed for good."""
    opened = {frozenset(pair) for one in found.part.script for pair in one.opens}
    shut = {frozenset(way.between) for way in found.part.world.ways if way.closed} - opened
    neighbours: dict[str, set[str]] = {area: set() for area in found.names.areas}
    for a, b in _pairs(found):
        if frozenset((a, b)) not in shut and a in neighbours and b in neighbours:
            neighbours[a].add(b)
            neighbours[b].add(a)
    reached = _within_reach(found.part.world.root.id, neighbours)
    for area, _, path in walked(found.part.world.root):
        if area.id not in reached:
            what = f"nobody can reach {shown(area.id)}: every way to it is closed and no scripted event opens one"
            found.add((*path, "id"), what, scope=("world",))


def _pairs(found: Findings) -> Iterator[tuple[str, str]]:
    yield from ((area.id, parent) for area, parent, _ in walked(found.part.world.root) if parent)
    yield from (way.between for way in found.part.world.ways)


def _within_reach(start: str, neighbours: dict[str, set[str]]) -> set[str]:
    reached = {start}
    waiting = [start]
    while waiting:
        fresh = neighbours[waiting.pop()] - reached
        reached |= fresh
        waiting.extend(fresh)
    return reached


# ── the map ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _layout(found: Findings) -> None:
    layout = found.part.layout.map
    good: list[str] = []
    for area, (column, row, width, height) in layout.items():
        path: Path = ("layout", "map", area)
        if not found.node(path, "area", area):
            continue
        if min(column, row) < 0 or min(width, height) < 1 or max(column + width, row + height) > GRID:
            expected = f"column and row of 0 or more, width and height of 1 or more, ends of {GRID} or less"
            found.add(path, "the rectangle is not on the map", expected)
            continue
        for other in good:
            _overlap(found, area, other)
        good.append(area)


def _overlap(found: Findings, area: str, other: str) -> None:
    """Two areas may share ground only when one lies in the other, in the world and on the map."""
    a, b = found.part.layout.map[area], found.part.layout.map[other]
    if not _meet(a, b):
        return
    names = found.names
    if other in names.ancestry(area):
        inner, outer, fits = area, other, _inside(a, b)
    elif area in names.ancestry(other):
        inner, outer, fits = other, area, _inside(b, a)
    else:
        found.add(("layout", "map", area), f"it overlaps {shown(other)}", "rectangles with no cell in common")
        return
    if not fits:
        what = f"it sticks out of {shown(outer)}, which it is a part of"
        found.add(("layout", "map", inner), what, "all of it inside")


Box = tuple[int, int, int, int]
"""Column, row, width, height."""


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _inside(inner: Box, outer: Box) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[0] + inner[2] <= outer[0] + outer[2]
        and inner[1] + inner[3] <= outer[1] + outer[3]
    )
