"""What a character knows of the world: the same tree, only the nodes it knows, each as last seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

AREA = "open"
"""State of an area's entry."""
UNKNOWN = ""
"""Parent of an object that was not where it was believed to be."""


@dataclass(frozen=True, slots=True)
class Known:
    """One node as last seen: its parent and state then, and the tick. See `Belief.last_seen`."""

    parent: str
    state: str
    seen: int


@dataclass(frozen=True, slots=True)
class Belief:
    """Known nodes by id. May be stale; what is here now is refreshed when it changes and when one leaves."""

    nodes: Mapping[str, Known] = field(default_factory=dict[str, Known])
    closed: frozenset[tuple[str, str]] = frozenset()
    """Ways (area, neighbour) last seen closed."""

    def knows(self, node_id: str) -> bool:
        """Whether the node is in the belief view."""
        return node_id in self.nodes

    def place_of(self, node_id: str) -> str:
        """Where it is believed to be; empty when unknown."""
        known = self.nodes.get(node_id)
        return known.parent if known else UNKNOWN

    def last_seen(self, node_id: str) -> int:
        """The tick a thing was last seen, as believed: whenever the area it lies in was. −1 for what is not known."""
        known = self.nodes.get(node_id)
        if known is None:
            return -1
        around = self.nodes.get(known.parent)
        return known.seen if around is None or known.state == AREA else max(known.seen, around.seen)

    def updated(self, changes: Mapping[str, Known], closed: frozenset[tuple[str, str]] | None = None) -> Belief:
        """The belief with these nodes as now seen; itself when nothing changes."""
        fresh = {node: known for node, known in changes.items() if self.nodes.get(node) != known}
        now_closed = self.closed if closed is None else closed
        if not fresh and now_closed == self.closed:
            return self
        return Belief({**self.nodes, **fresh}, now_closed)
