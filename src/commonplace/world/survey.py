"""What is wrong with a world as described, as sentences: the structural mistakes `Geography.build` refuses.

A scenario's `check` asks the same questions with files and lines; this is the last line of defence for worlds made
in code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonplace.world.actions import VERBS
from commonplace.world.objects import ANY
from commonplace.world.tree import Node, ObjectKind, Way

ID = re.compile(r"[a-z0-9_-]+")
MINUTES_A_DAY = 24 * 60
PARENTS = {"area": ("area",), "object": ("area", "agent"), "agent": ("area",)}
"""Node type → the types its parent may have."""


def problems(
    nodes: Sequence[Node], kinds: Mapping[str, ObjectKind], ways: Sequence[Way] = (), edge_cost: int = 1
) -> list[str]:
    """Every structural mistake, a sentence each; empty when the world can be built."""
    by_id = {node.id: node for node in nodes}
    found = [
        *_repeated("node", [node.id for node in nodes]),
        *_repeated("way", [way.id for way in ways]),
        *_roots(nodes),
        *(line for node in nodes for line in _node(node, by_id, kinds)),
        *_off_the_tree(by_id),
        *(line for kind in kinds.values() for line in _kind(kind, by_id, kinds)),
        *(line for way in ways for line in _way(way, by_id)),
        *_doubled(ways),
    ]
    if edge_cost < 1:
        found.append(f"edge_cost is {edge_cost}; it must be 1 or more ticks")
    return found


def _repeated(what: str, ids: Sequence[str]) -> Iterator[str]:
    for id, count in Counter(ids).items():
        if count > 1:
            yield f"two {what}s have the id {id!r}"
        if not ID.fullmatch(id) or id == "-" or "--" in id:
            yield f"{what} id {id!r} must be made of a-z, 0-9, _ and single hyphens, and not be '-'"


def _roots(nodes: Sequence[Node]) -> Iterator[str]:
    roots = [node for node in nodes if not node.parent_id]
    if len(roots) != 1:
        yield f"there must be one node without a parent, not {len(roots)}: {[node.id for node in roots]}"
    for node in roots:
        if node.type != "area":
            yield f"the root {node.id!r} is of type {node.type!r}; it must be an area"


def _node(node: Node, by_id: Mapping[str, Node], kinds: Mapping[str, ObjectKind]) -> Iterator[str]:
    if node.type not in PARENTS:
        yield f"{node.id!r} is of type {node.type!r}; types are area, object and agent"
        return
    parent = by_id.get(node.parent_id)
    if node.parent_id and parent is None:
        yield f"{node.id!r} is in {node.parent_id!r}, which does not exist"
    elif parent is not None and parent.type not in PARENTS[node.type]:
        yield f"{node.id!r} is in {parent.id!r}, but an {parent.type} cannot hold an {node.type}"
    if node.type != "object":
        return
    kind = kinds.get(node.kind)
    if kind is None:
        yield f"object {node.id!r} is of kind {node.kind!r}, which does not exist"
    elif node.state and node.state not in kind.states:
        yield f"object {node.id!r} is {node.state!r}; its kind knows {', '.join(kind.states)}"
    elif parent is not None and parent.type == "agent" and not kind.portable:
        yield f"object {node.id!r} is carried by {parent.id!r}, but its kind is not portable"


def _off_the_tree(by_id: Mapping[str, Node]) -> Iterator[str]:
    """Nodes that their parents do not lead from to a root: those on a cycle or below one."""
    good: set[str] = set()
    for start in by_id:
        trail: list[str] = []
        id = start
        while id in by_id and id not in good and id not in trail:
            trail.append(id)
            id = by_id[id].parent_id
        if id in trail:
            yield f"the parents of {start!r} form a cycle: {' > '.join([*trail[trail.index(id) :], id])}"
        good.update(trail)


def _kind(kind: ObjectKind, by_id: Mapping[str, Node], kinds: Mapping[str, ObjectKind]) -> Iterator[str]:
    named = [("initial state", kind.initial)]
    named += [(f"target of {one.verb}", one.target) for one in kind.transitions]
    named += [(f"source of {one.verb}", one.source) for one in kind.transitions if one.source != ANY]
    named += [(f"state of a refused {verb}", state) for verb, state in kind.refusals if state != ANY]
    named += [("state with words", state) for state in kind.words]
    for what, state in named:
        if state not in kind.states:
            yield f"kind {kind.id!r}: {what} {state!r} is not one of {', '.join(kind.states)}"
    for verb in dict.fromkeys([*(one.verb for one in kind.transitions), *(verb for verb, _ in kind.refusals)]):
        if verb not in VERBS:
            yield f"kind {kind.id!r}: verb {verb!r} is not one of {', '.join(VERBS)}"
    for other, state in (pair for one in kind.transitions for pair in one.also):
        node = by_id.get(other)
        there = kinds.get(node.kind) if node else None
        if there is None or state not in there.states:
            yield f"kind {kind.id!r}: also sets {other!r} to {state!r}, which is no object with that state"


def _way(way: Way, by_id: Mapping[str, Node]) -> Iterator[str]:
    for end in (way.a, way.b):
        node = by_id.get(end)
        if node is None or node.type != "area":
            yield f"way {way.id!r} ends at {end!r}, which is no area"
    if way.a == way.b:
        yield f"way {way.id!r} leads from {way.a!r} to itself"
    if way.open_hours is not None:
        begin, end = way.open_hours
        if not (0 <= begin <= MINUTES_A_DAY and 0 <= end <= MINUTES_A_DAY and begin != end):
            yield f"way {way.id!r} is open from minute {begin} to {end}; two different minutes in 0 … 1440 are needed"


def _doubled(ways: Iterable[Way]) -> Iterator[str]:
    seen: dict[frozenset[str], str] = {}
    for way in ways:
        other = seen.setdefault(frozenset((way.a, way.b)), way.id)
        if other != way.id:
            yield f"ways {other!r} and {way.id!r} lead between the same two areas"
