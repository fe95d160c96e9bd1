"""Tables that are kept within their budgets: adding, linking, weighing, and evicting what is worth least.

Nothing here takes a lock or asks for the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from commonplace.errors import CommonplaceError
from commonplace.querygraph.config import GraphConfig
from commonplace.querygraph.search import Index, Vectors
from commonplace.querygraph.tables import ANSWER, ENTITY, FEEDBACK, Tables


class NoRoom(CommonplaceError):
    """An error: a node cannot be added, because all others are pinned or in use by the call."""


class Budgeted:
    """Nodes and edges, never more than `max_nodes` and `max_edges`, with the index of their vectors."""

    def __init__(self, config: GraphConfig, dimensions: int, index: Callable[[Vectors], Index]) -> None:
        """`dimensions`: of the vectors; `index` makes the index of them."""
        self.config = config
        self._make_index = index
        self._half_life = config.half_life_min * 60e6
        self._version = 0
        self._hold(Tables(dimensions), 0)

    def _hold(self, tables: Tables, now: int) -> None:
        """Works on these tables. Nodes and edges beyond the budgets are evicted."""
        self._tables = tables
        self._nodes, self._edges, self._entities = tables.nodes, tables.edges, tables.entities
        self._index: Index = self._make_index(tables.vectors)
        while len(self._nodes.rows) > self.config.max_nodes:
            self._remove(self._victim(now, ()))
        while self._edges.count > self.config.max_edges:
            self._unlink(self._edges.weakest())

    def _changed(self, row: int) -> None:  # noqa: ARG002 – the next four tell `StoredGraph` what to write
        """Notes a new or changed node. Every change of a node ends here, and every change of an edge in `_linked`."""
        self._version += 1

    def _linked(self, slot: int) -> None:  # noqa: ARG002
        self._version += 1

    def _dropped(self, id: str) -> None:  # noqa: ARG002
        """Notes a node that is gone."""
        self._version += 1

    def _unlinked(self, slot: int) -> None:  # noqa: ARG002
        """Notes an edge that is about to go."""
        self._version += 1

    def _use(self, row: int, now: int) -> None:
        self._nodes.accessed[row] = max(now, int(self._nodes.accessed[row]))
        self._changed(row)

    def _weigh(self, row: int, *, feedback: float = 0.0, repeat: float = 0.0) -> None:
        self._nodes.weigh(row, float(self._nodes.repeat[row]) + repeat, float(self._nodes.feedback[row]) + feedback)
        self._changed(row)

    def _ask_again(self, row: int, now: int) -> str:
        self._weigh(row, repeat=1.0)
        self._use(row, now)
        return self._nodes.ids[row]

    def _add(
        self,
        id: str,
        kind: int,
        text: str,
        key: str,
        now: int,
        *,
        keep: Sequence[int] = (),
        extras: tuple[str, ...] = (),
    ) -> int:
        """Adds a node, with room made for it first."""
        while len(self._nodes.rows) >= self.config.max_nodes:
            self._remove(self._victim(now, keep))
        row = self._nodes.add(id, kind, text, key, now, self._tables.next_serial())
        self._nodes.extras[row] = extras
        self._changed(row)
        return row

    def _victim(self, now: int, keep: Sequence[int]) -> int:
        """Returns the row to evict: answers and feedback without a question, then the lowest rank, then the oldest.

        Nodes of at least `protect_min_degree` edges go only when no others are left. Raises NoRoom when all are
        pinned.
        """
        nodes = self._nodes
        free = nodes.alive & ~nodes.pinned
        free[list(keep)] = False
        if not free.any():
            raise NoRoom(
                f"no room for another node: all of max_nodes={self.config.max_nodes} are pinned or in use",
                hint="unpin some (graph.pin(id, False)), or raise max_nodes",
            )
        lone = free & (nodes.degree == 0) & ((nodes.type == ANSWER) | (nodes.type == FEEDBACK))
        weak = free & (nodes.degree < self.config.protect_min_degree)
        rows = np.flatnonzero(next(some for some in (lone, weak, free) if some.any()))
        ranks = nodes.ranks(rows, now, self._half_life)
        lowest = rows[ranks == ranks.min()]
        return int(lowest[nodes.serial[lowest].argmin()])

    def _remove(self, row: int) -> None:
        """Evicts a node and its edges."""
        for slot in list(self._nodes.incident[row]):
            self._unlink(slot)
        slot = int(self._nodes.slot[row])
        if slot >= 0:
            self._tables.vectors.remove(slot)
            self._index.remove(slot)
            if self._tables.vectors.is_wasteful():
                self._renumber()
        if self._nodes.type[row] == ENTITY:
            self._entities.remove(self._nodes.ids[row], self._nodes.extras[row])
        self._dropped(self._nodes.ids[row])
        self._nodes.remove(row)

    def _renumber(self) -> None:
        """Gives the vectors there are new slots, without gaps."""
        old = self._tables.vectors
        self._tables.vectors = Vectors(old.dimensions)
        slots = old.all()
        for slot, row in zip(slots.tolist(), old.rows(slots).tolist(), strict=True):
            self._nodes.slot[row] = self._tables.vectors.add(row, old.vector(slot))
        self._index = self._make_index(self._tables.vectors)

    def _edge_slot(self, source: int, kind: int, target: int) -> int | None:
        """Returns the slot of the edge, if there is one. It is looked for at the end with fewer edges."""
        lists = self._nodes.incident
        few = lists[source] if len(lists[source]) <= len(lists[target]) else lists[target]
        edges = self._edges
        if len(few) > 32:
            slots = np.array(few)
            there = (edges.source[slots] == source) & (edges.target[slots] == target) & (edges.type[slots] == kind)
            found = slots[there]
            return int(found[0]) if len(found) else None
        for slot in few:
            if edges.source[slot] == source and edges.target[slot] == target and edges.type[slot] == kind:
                return slot
        return None

    def _link(self, source: int, kind: int, target: int, weight: float, now: int) -> bool:
        """Adds an edge, or its weight to an existing one. Returns whether it is new."""
        edges = self._edges
        slot = self._edge_slot(source, kind, target)
        if slot is not None:
            edges.weight[slot] += weight
            edges.accessed[slot] = max(now, int(edges.accessed[slot]))
            self._linked(slot)
            return False
        while edges.count >= self.config.max_edges:
            self._unlink(edges.weakest())
        slot = edges.add(source, kind, target, weight, now, self._tables.next_serial())
        for row in (source, target):
            self._nodes.incident[row].append(slot)
            self._nodes.degree[row] += 1
        self._linked(slot)
        return True

    def _unlink(self, slot: int) -> None:
        self._unlinked(slot)
        for row in (int(self._edges.source[slot]), int(self._edges.target[slot])):
            self._nodes.incident[row].remove(slot)
            self._nodes.degree[row] -= 1
        self._edges.remove(slot)
