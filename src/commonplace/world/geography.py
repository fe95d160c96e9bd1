"""The static world: the tree of nodes, the graph of ways between areas, kinds of objects, hop distances, routes.

Nothing here changes during a run. Which ways are closed at a tick is a function of timetable, scripted events and
inputs; distances count every door as open, so they bound how soon anybody can reach anybody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from commonplace.errors import WrongUse
from commonplace.world.survey import problems
from commonplace.world.tree import Node, ObjectKind, Way
from commonplace.world.wording import say

Edges = dict[str, list[tuple[str, Way]]]


@dataclass(frozen=True, slots=True)
class Geography:
    """A world as a scenario describes it. Make one with `build`."""

    root: str
    nodes: Mapping[str, Node]
    """Every node, with its children filled in; passages come last."""
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
    _rows: dict[str, dict[str, int]] = field(
        init=False, default_factory=dict[str, dict[str, int]], compare=False, repr=False
    )
    """Distances to an area, made when first asked for."""

    @classmethod
    def build(
        cls,
        nodes: Iterable[Node],
        kinds: Mapping[str, ObjectKind],
        ways: Iterable[Way] = (),
        edge_cost: int = 1,
        *,
        language: str = "en",
    ) -> Geography:
        """The static world. `edge_cost` is the ticks an edge takes (≥ 1). Raises WrongUse naming every mistake found.

        A way between a parent and its child replaces the edge they have anyway. With `edge_cost` above 1 an edge
        becomes a chain of passages `a--b-1`, `a--b-2` …, children of the nearest area that holds both ends.
        """
        nodes, ways = tuple(nodes), tuple(ways)
        if found := problems(nodes, kinds, ways, edge_cost):
            raise WrongUse("; ".join(found), where="world")
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

    def name(self, node_id: str) -> str:
        """The node's name; an unknown id is its own name."""
        node = self.nodes.get(node_id)
        return node.name if node else node_id

    def path_ids(self, node_id: str) -> tuple[str, ...]:
        """Ids from the root to the node, in the opening state. Raises KeyError."""
        return _ancestry(self.nodes, node_id)

    def path(self, node_id: str) -> tuple[str, ...]:
        """Names from the root to the node: `Town > House > Kitchen`. Raises KeyError."""
        return tuple(self.nodes[id].name for id in self.path_ids(node_id))

    def neighbours(self, area: str) -> tuple[tuple[str, Way], ...]:
        """The areas one edge away with the way to each, sorted by id. Raises KeyError."""
        return self.edges[area]

    def distance(self, start: str, end: str) -> int:
        """Edges on a shortest path with every door open. Raises KeyError."""
        return self._row(end)[start]

    def closed(self, minute: int, barred: frozenset[str]) -> frozenset[str]:
        """The ways closed at a minute of the day, by timetable or because something barred them."""
        shut = [way.id for way in self.timetabled if not way_open(way, minute, barred)]
        return barred.union(shut) if shut else barred

    def closed_from(self, area: str, closed: frozenset[str]) -> frozenset[str]:
        """The closed ways that show from an area: its own. A passage lets out at both ends whatever its doors."""
        if not closed or self.nodes[area].passage:
            return frozenset()
        return closed.intersection(way.id for _, way in self.edges[area])

    def route(
        self, start: str, end: str, closed: Collection[str] = frozenset(), known: Container[str] | None = None
    ) -> tuple[str, ...]:
        """The areas of a shortest path after `start` up to `end`; ties by id. Empty when there is none.

        `closed` ways are avoided; with `known`, areas outside it too (passages belong to their ways).
        """
        if known is None:
            row = self._distances(end, closed, None) if closed else self._row(end)
        else:
            row = self._distances(end, closed, {start, end}.union(area for area in self.areas if area in known))
        path: list[str] = []
        here = start
        while here != end:
            left = row.get(here)
            if left is None:
                return ()
            here = next(to for to, way in self.edges[here] if row.get(to) == left - 1 and way.id not in closed)
            path.append(here)
        return tuple(path)

    def _row(self, end: str) -> dict[str, int]:
        row = self._rows.get(end)
        if row is None:
            row = self._rows[end] = self._distances(end, frozenset(), None)
        return row

    def _distances(self, end: str, closed: Collection[str], known: Container[str] | None) -> dict[str, int]:
        """Breadth first from the end; ways lead both ways."""
        row = {end: 0}
        queue = deque([end])
        while queue:
            area = queue.popleft()
            for to, way in self.edges[area]:
                if to in row or way.id in closed:
                    continue
                if known is None or to in known or self.nodes[to].passage:
                    row[to] = row[area] + 1
                    queue.append(to)
        return row


def way_open(way: Way, minute: int, barred: Container[str]) -> bool:
    """Whether one can enter the way at a minute of the day (0 … 1439). `barred` beats the timetable."""
    if way.id in barred:
        return False
    if way.open_hours is None:
        return True
    begin, end = way.open_hours
    return begin <= minute < end if begin < end else minute >= begin or minute < end


def _all_ways(nodes: Mapping[str, Node], ways: tuple[Way, ...]) -> list[Way]:
    """The scenario's ways, and one for every parent–child pair of areas they do not cover."""
    covered = {frozenset((way.a, way.b)) for way in ways}
    implied = [
        Way(f"{node.parent_id}--{node.id}", node.parent_id, node.id)
        for node in nodes.values()
        if node.type == "area" and node.parent_id and frozenset((node.parent_id, node.id)) not in covered
    ]
    return [*implied, *ways]


def _lay(nodes: dict[str, Node], edges: Edges, way: Way, edge_cost: int, language: str) -> None:
    """Enter a way into the graph: one edge, or a chain through passages, which become nodes."""
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
    """The nearest area that holds both, which may be one of them."""
    pairs = zip(_ancestry(nodes, a), _ancestry(nodes, b), strict=False)
    return [one for one, other in pairs if one == other][-1]


def _with_children(nodes: Mapping[str, Node]) -> dict[str, Node]:
    children: dict[str, list[str]] = {}
    for node in nodes.values():
        children.setdefault(node.parent_id, []).append(node.id)
    return {id: replace(node, children=tuple(children.get(id, ()))) for id, node in nodes.items()}
