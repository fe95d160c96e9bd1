"""The static world: the tree of nodes, the graph of ways between areas, kinds of objects, hop distances, routes.

Nothing here changes during a run. Which ways are closed at a tick is a function of timetable, scripted events and
inputs; distances count every door as open, so they bound how soon anybody can reach anybody.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from commonplace.errors import UsageError
from commonplace.languages import DEFAULT
from commonplace.world.tree import ANY, VERBS, Node, ObjectKind, Way, say

ID = re.compile(r"[a-z0-9_-]+")
MINUTES_A_DAY = 24 * 60
PARENTS = {"area": ("area",), "object": ("area", "agent"), "agent": ("area",)}
"""Node type → the types its parent may have."""


Edges = dict[str, list[tuple[str, Way]]]


@dataclass(frozen=True, slots=True)
class Geography:
    """A world as a scenario describes it. Make one with `build`."""

    root: str
    nodes: Mapping[str, Node]
    """Every node, with its children filled in; passages come last, then characters who came later."""
    kinds: Mapping[str, ObjectKind]
    ways: Mapping[str, Way]
    """By id. The segments of a longer way all carry the way's id."""
    areas: tuple[str, ...]
    """All areas, passages included, sorted."""
    destinations: tuple[str, ...]
    """The areas one can walk to: all but passages, sorted."""
    edges: Mapping[str, tuple[tuple[str, Way], ...]]
    """Area → its neighbours with the way to each, sorted by the neighbour's id."""
    timetabled: tuple[Way, ...]
    _rows: dict[str, _Search] = field(init=False, default_factory=dict[str, "_Search"], compare=False, repr=False)
    """Distances to an area, as far as they were asked for: a row for every area would take gigabytes in a city."""
    _elsewhere: dict[str, tuple[str, ...]] = field(
        init=False, default_factory=dict[str, tuple[str, ...]], compare=False, repr=False
    )
    _paths: dict[str, tuple[str, ...]] = field(
        init=False, default_factory=dict[str, tuple[str, ...]], compare=False, repr=False
    )
    _middle: list[str] = field(init=False, default_factory=list[str], compare=False, repr=False)

    @classmethod
    def build(
        cls,
        nodes: Iterable[Node],
        kinds: Mapping[str, ObjectKind],
        ways: Iterable[Way] = (),
        edge_cost: int = 1,
        *,
        language: str = DEFAULT,
    ) -> Geography:
        """Returns the static world. `edge_cost` is the ticks an edge takes (≥ 1). Raises UsageError naming every
        mistake found.

        A way between a parent and its child replaces the edge they have anyway. With `edge_cost` above 1 an edge
        becomes a chain of passages `a--b-1`, `a--b-2` …, children of the nearest area that holds both ends.
        """
        nodes, ways = tuple(nodes), tuple(ways)
        if found := problems(nodes, kinds, ways, edge_cost):
            raise UsageError("; ".join(found), where="world")
        by_id = {node.id: replace(node, children=()) for node in nodes}
        all_ways = _all_ways(by_id, ways)
        edges: Edges = {node.id: [] for node in nodes if node.type == "area"}
        for way in all_ways:
            _lay(by_id, edges, way, edge_cost, language)
        areas = tuple(sorted(edges))
        return cls(
            root=next(node.id for node in nodes if not node.parent_id),
            nodes=_with_children(by_id),
            kinds=dict(kinds),
            ways={way.id: way for way in all_ways},
            areas=areas,
            destinations=tuple(area for area in areas if not by_id[area].passage),
            edges={area: tuple(sorted(there, key=lambda edge: edge[0])) for area, there in edges.items()},
            timetabled=tuple(way for way in all_ways if way.open_hours is not None),
        )

    def with_agent(self, node: Node) -> Geography:
        """Returns the world with another character. Raises ValueError for an id that is taken or a parent that is no
        area."""
        parent = self.nodes.get(node.parent_id)
        if node.id in self.nodes or parent is None or parent.type != "area":
            raise ValueError(f"{node.id!r} cannot be a character in {node.parent_id!r}")
        nearby = replace(parent, children=(*parent.children, node.id))
        return replace(self, nodes={**self.nodes, nearby.id: nearby, node.id: node})

    def name(self, node_id: str) -> str:
        """Returns the node's name; an unknown id is its own name."""
        node = self.nodes.get(node_id)
        return node.name if node else node_id

    def path(self, node_id: str) -> tuple[str, ...]:
        """Returns the names from the root to the node: `Town > House > Kitchen`. Raises KeyError."""
        path = self._paths.get(node_id)
        if path is None:
            path = self._paths[node_id] = tuple(self.nodes[id].name for id in _ancestry(self.nodes, node_id))
        return path

    def inside(self, area: str) -> frozenset[str]:
        """Returns an area with the areas in it; an empty set if it is not an area."""
        if area not in self.edges:
            return frozenset()
        return frozenset({area}).union(*map(self.inside, self.nodes[area].children))

    def holders(self, area: str) -> tuple[str, ...]:
        """Returns the areas that hold an area, from the root to the area itself."""
        return _ancestry(self.nodes, area)

    def elsewhere(self, area: str) -> tuple[str, ...]:
        """Returns the `destinations` other than this area."""
        others = self._elsewhere.get(area)
        if others is None:
            others = self._elsewhere[area] = tuple(other for other in self.destinations if other != area)
        return others

    def distance(self, start: str, end: str) -> int:
        """Returns the number of edges on a shortest path with every door open. Raises KeyError."""
        return self._row(end, start)[start]

    def middle(self) -> str:
        """Returns the outdoor place that is nearest to all others; if none is outdoors, the nearest of all."""
        if not self._middle:  # half a minute of search in a city, hence once
            outdoors = [area for area in self.destinations if self.nodes[area].outdoor]
            self._middle.append(min(outdoors or self.destinations, key=lambda area: (self._remoteness(area), area)))
        return self._middle[0]

    def _remoteness(self, area: str) -> int:
        row = _Search(area).up_to("", self)
        return sum(row[one] for one in self.destinations)

    def closed(self, minute: int, barred: frozenset[str]) -> frozenset[str]:
        """Returns the ways closed at a minute of the day, by timetable or because something barred them."""
        shut = [way.id for way in self.timetabled if not way_open(way, minute, barred)]
        return barred.union(shut) if shut else barred

    def closed_from(self, area: str, closed: frozenset[str]) -> frozenset[str]:
        """Returns the closed ways visible from an area: its own. From inside a passage both ends are open."""
        if not closed or self.nodes[area].passage:
            return frozenset()
        return closed.intersection(way.id for _, way in self.edges[area])

    def route(
        self, start: str, end: str, closed: Collection[str] = frozenset(), known: Container[str] | None = None
    ) -> tuple[str, ...]:
        """Returns the areas of a shortest path after `start` up to `end`; ties are decided by id. Empty if there is no
        path.

        It avoids `closed` ways and, with `known`, areas outside it (a passage belongs to its way).
        """
        is_plain = known is None and not closed
        row = self._row(end, start) if is_plain else _Search(end).up_to(start, self, closed, known)
        path: list[str] = []
        here = start
        while here != end:
            left = row.get(here)
            if left is None:
                return ()
            here = next(to for to, way in self.edges[here] if row.get(to) == left - 1 and way.id not in closed)
            path.append(here)
        return tuple(path)

    def _row(self, end: str, start: str) -> dict[str, int]:
        search = self._rows.get(end)
        if search is None:
            search = self._rows[end] = _Search(end)
        return search.up_to(start, self)


class _Search:
    """Distances to `end`, breadth first; ways lead in both directions."""

    __slots__ = ("_queue", "_row")

    def __init__(self, end: str) -> None:
        self._row = {end: 0}
        self._queue = deque([end])

    def up_to(
        self, start: str, world: Geography, closed: Collection[str] = (), known: Container[str] | None = None
    ) -> dict[str, int]:
        """Goes on until `start` is reached; returns the distances so far, all that are shorter among them."""
        row, queue = self._row, self._queue
        while start not in row and queue:
            area = queue.popleft()
            for to, way in world.edges[area]:
                if to in row or way.id in closed:
                    continue
                if known is None or to in known or to == start or world.nodes[to].passage:
                    row[to] = row[area] + 1
                    queue.append(to)
        return row


def way_open(way: Way, minute: int, barred: Container[str]) -> bool:
    """Tells whether one can enter the way at a minute of the day (0 … 1439). `barred` overrides the timetable."""
    if way.id in barred:
        return False
    if way.open_hours is None:
        return True
    begin, end = way.open_hours
    return begin <= minute < end if begin < end else minute >= begin or minute < end


def _all_ways(nodes: Mapping[str, Node], ways: tuple[Way, ...]) -> list[Way]:
    """Returns the scenario's ways, and one for every parent–child pair of areas that they do not cover."""
    covered = {frozenset((way.a, way.b)) for way in ways}
    implied = [
        Way(f"{node.parent_id}--{node.id}", node.parent_id, node.id)
        for node in nodes.values()
        if node.type == "area" and node.parent_id and frozenset((node.parent_id, node.id)) not in covered
    ]
    return [*implied, *ways]


def _lay(nodes: dict[str, Node], edges: Edges, way: Way, edge_cost: int, language: str) -> None:
    """Enters a way into the graph: one edge, or a chain through passages, which become nodes."""
    start, end = nodes[way.a], nodes[way.b]
    stops = [way.a]
    for number in range(1, edge_cost):
        passage = Node(
            id=f"{way.a}--{way.b}-{number}",
            name=say(language, "passage", start=start.name, end=end.name),
            type="area",
            parent_id=_common(nodes, way.a, way.b),
            outdoor=start.outdoor or end.outdoor,
            passage=True,
        )
        nodes[passage.id] = passage
        edges[passage.id] = []
        stops.append(passage.id)
    stops.append(way.b)
    for here, there in pairwise(stops):
        edges[here].append((there, way))
        edges[there].append((here, way))


def _ancestry(nodes: Mapping[str, Node], node_id: str) -> tuple[str, ...]:
    path = [node_id]
    while parent := nodes[path[-1]].parent_id:
        path.append(parent)
    return tuple(reversed(path))


def _common(nodes: Mapping[str, Node], a: str, b: str) -> str:
    """Returns the nearest area that holds both; it may be one of them."""
    pairs = zip(_ancestry(nodes, a), _ancestry(nodes, b), strict=False)
    return [one for one, other in pairs if one == other][-1]


def _with_children(nodes: Mapping[str, Node]) -> dict[str, Node]:
    children: dict[str, list[str]] = {}
    for node in nodes.values():
        children.setdefault(node.parent_id, []).append(node.id)
    return {id: replace(node, children=tuple(children.get(id, ()))) for id, node in nodes.items()}


# ── structural mistakes ──────────────────────────────────────────────────────────────────────────────────────────────


def problems(
    nodes: Sequence[Node], kinds: Mapping[str, ObjectKind], ways: Sequence[Way] = (), edge_cost: int = 1
) -> list[str]:
    """Returns every structural mistake, a sentence each; empty if the world can be built.

    `scenario.rules` checks the same with files and lines; this is for worlds made in code.
    """
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
    """Returns the nodes whose parents do not lead to a root: those on a cycle or below one."""
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
            yield f"kind {kind.id!r}: also sets {other!r} to {state!r}, which is not an object with that state"


def _way(way: Way, by_id: Mapping[str, Node]) -> Iterator[str]:
    for end in (way.a, way.b):
        node = by_id.get(end)
        if node is None or node.type != "area":
            yield f"way {way.id!r} ends at {end!r}, which is not an area"
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
