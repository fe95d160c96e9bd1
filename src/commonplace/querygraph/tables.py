"""Nodes and edges in columns, so that ranking or evicting among a hundred thousand is one NumPy expression.

A row is a node's place in the columns. The row of a removed node is given to a later one; serial numbers, which order
nodes and edges by age, are never given again. Times are microseconds since 1970 (UTC).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from commonplace.querygraph.entities import AliasIndex
from commonplace.querygraph.search import Vectors, grown

NodeType = Literal["query", "answer", "feedback", "entity"]
EdgeType = Literal["similar_to", "responded_with", "has_feedback", "refers_to_entity"]
NODE_TYPES: tuple[NodeType, ...] = get_args(NodeType)
EDGE_TYPES: tuple[EdgeType, ...] = get_args(EdgeType)
QUERY, ANSWER, FEEDBACK, ENTITY = range(4)
SIMILAR, RESPONDED, HAS_FEEDBACK, REFERS = range(4)

ENDS: dict[EdgeType, tuple[tuple[NodeType, ...], NodeType]] = {
    "similar_to": (("query",), "query"),
    "responded_with": (("query",), "answer"),
    "has_feedback": (("query", "answer"), "feedback"),
    "refers_to_entity": (("query",), "entity"),
}
"""Edge type → the types of node it may come from, and the one it leads to."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it was when it was asked for."""

    id: str
    type: NodeType
    text: str
    """Of the first asking; for feedback the note, for an entity its name."""
    canonical_key: str
    created_at: int
    """Microseconds since 1970, like `last_access`."""
    last_access: int
    repeat: float
    """How often it was asked or said; counted from 1, lowered by `decay`."""
    feedback: float
    """Ups minus downs minus half the retries, and what spread to it from similar questions."""
    degree: int
    """Edges it has, and those it had in the sessions it was promoted from."""
    pinned: bool
    rank: float


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as it was when it was asked for."""

    id: str
    """`from::type::to`."""
    source: str
    type: EdgeType
    target: str
    weight: float
    created_at: int
    last_access: int


class NodeTable:
    """Columns of nodes."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        """Id → row of the nodes there are, the oldest first."""
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.keys: list[str] = []
        self.extras: list[tuple[str, ...]] = []
        """The aliases of an entity, the label of feedback."""
        self.incident: list[array[int]] = []
        """The slots of each node's edges."""
        self.alive = np.zeros(0, dtype=np.bool_)
        self.type = np.zeros(0, dtype=np.int8)
        self.created = np.zeros(0, dtype=np.int64)
        self.accessed = np.zeros(0, dtype=np.int64)
        self.serial = np.zeros(0, dtype=np.int64)
        self.repeat = np.zeros(0)
        self.feedback = np.zeros(0)
        self.earned = np.zeros(0)
        """0.3·tanh(repeat/5) + 0.2·tanh(feedback/5): the part of the rank that does not change with time."""
        self.degree = np.zeros(0, dtype=np.int32)
        self.carried = np.zeros(0, dtype=np.int32)
        """What of the degree is not edges of this graph."""
        self.pinned = np.zeros(0, dtype=np.bool_)
        self.slot = np.zeros(0, dtype=np.int32)
        """Of its vector; −1 without one."""
        self._free: list[int] = []

    def add(self, id: str, kind: int, text: str, key: str, now: int, serial: int) -> int:
        """Adds a node that was asked or said once, and returns its row."""
        row = self._free.pop() if self._free else len(self.ids)
        if row == len(self.ids):
            self._grow(row + 1)
            self.ids.append("")
            self.texts.append("")
            self.keys.append("")
            self.extras.append(())
            self.incident.append(array("i"))
        self.ids[row], self.texts[row], self.keys[row], self.extras[row] = id, text, key, ()
        self.rows[id] = row
        self.alive[row], self.type[row], self.serial[row], self.slot[row] = True, kind, serial, -1
        self.created[row] = self.accessed[row] = now
        self.degree[row] = self.carried[row] = 0
        self.pinned[row] = False
        self.weigh(row, 1.0, 0.0)
        return row

    def weigh(self, row: int, repeat: float, feedback: float) -> None:
        """Sets both weights."""
        self.repeat[row], self.feedback[row] = repeat, feedback
        self.earned[row] = 0.3 * np.tanh(repeat / 5) + 0.2 * np.tanh(feedback / 5)

    def remove(self, row: int) -> None:
        """Removes a node that has no edges any more."""
        del self.rows[self.ids[row]]
        self.alive[row] = False
        self.ids[row] = self.texts[row] = self.keys[row] = ""
        self._free.append(row)

    def ranks(self, rows: NDArray[np.integer] | slice, now: int, half_life: float) -> NDArray[np.float64]:
        """Returns 0.5·recency + 0.3·tanh(repeat/5) + 0.2·tanh(feedback/5), recency = 2^(−age/half-life), age ≥ 0.

        `half_life`: microseconds. The formula is the founding one of the query graph.
        """
        ages = np.maximum(now - self.accessed[rows], 0)
        return 0.5 * np.exp2(ages / -half_life) + self.earned[rows]

    def _grow(self, size: int) -> None:
        if size <= len(self.alive):
            return
        for name in (
            *("alive", "type", "created", "accessed", "serial", "repeat", "feedback"),
            *("earned", "degree", "carried", "pinned", "slot"),
        ):
            setattr(self, name, grown(getattr(self, name), size))


class EdgeTable:
    """Columns of edges. A slot is an edge's place; that of a removed edge is given to a later one."""

    def __init__(self) -> None:
        self.count = 0
        self.used = 0
        """Slots ever given out."""
        self.source = np.zeros(0, dtype=np.int32)
        self.target = np.zeros(0, dtype=np.int32)
        self.type = np.zeros(0, dtype=np.int8)
        self.weight = np.zeros(0)
        """Infinite where there is no edge."""
        self.created = np.zeros(0, dtype=np.int64)
        self.accessed = np.zeros(0, dtype=np.int64)
        self.serial = np.zeros(0, dtype=np.int64)
        self._free: list[int] = []

    def add(self, source: int, kind: int, target: int, weight: float, now: int, serial: int) -> int:
        """Adds an edge and returns its slot."""
        slot = self._free.pop() if self._free else self.used
        if slot == self.used:
            self.reserve(slot + 1)
            self.used += 1
        self.source[slot], self.target[slot], self.type[slot], self.weight[slot] = source, target, kind, weight
        self.created[slot] = self.accessed[slot] = now
        self.serial[slot] = serial
        self.count += 1
        return slot

    def remove(self, slot: int) -> None:
        """Removes an edge."""
        self.weight[slot] = np.inf
        self._free.append(slot)
        self.count -= 1

    def reserve(self, size: int) -> None:
        """Makes room for so many slots."""
        for name in ("source", "target", "type", "weight", "created", "accessed", "serial"):
            setattr(self, name, grown(getattr(self, name), size))

    def slots(self) -> NDArray[np.intp]:
        """Returns the edges there are, the oldest first."""
        found = np.flatnonzero(self.weight[: self.used] < np.inf)
        return found[np.argsort(self.serial[found], kind="stable")]

    def weakest(self) -> int:
        """Returns the slot of lowest weight; of several, the one longest unused."""
        weights = self.weight[: self.used]
        lowest = np.flatnonzero(weights == weights[weights.argmin()])
        if len(lowest) > 1:
            lowest = lowest[np.lexsort((self.serial[lowest], self.accessed[lowest]))[:1]]
        return int(lowest[0])


def incident_lists(table: EdgeTable, rows: int) -> Iterator[tuple[int, array[int]]]:
    """Yields (row, slots of its edges) of every node that has any, from the columns alone."""
    slots = np.tile(np.arange(table.used, dtype=np.int32), 2)
    ends = np.concatenate([table.source[: table.used], table.target[: table.used]])
    order = np.argsort(ends, kind="stable")
    slots, counts = slots[order], np.bincount(ends, minlength=rows)
    stops = np.cumsum(counts)
    for row in np.flatnonzero(counts).tolist():
        yield row, array("i", slots[stops[row] - counts[row] : stops[row]].tobytes())


class Tables:
    """All that a graph holds."""

    def __init__(self, dimensions: int) -> None:
        self.nodes = NodeTable()
        self.edges = EdgeTable()
        self.vectors = Vectors(dimensions)
        self.entities = AliasIndex()
        self.serial = 0
        """The last serial number given."""
        self.decayed = 0
        """When weights were last decayed."""

    def next_serial(self) -> int:
        """Returns a number above all given before."""
        self.serial += 1
        return self.serial
