"""The world at tick 0, as a scenario's nodes describe it."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.world.geography import Geography
from commonplace.world.state import Body, Thing, World


def opening(geography: Geography, agents: Iterable[str] | None = None) -> World:
    """Tick 0: every object in its opening state, every character (or only `agents`; the rest may join) in its place."""
    present = None if agents is None else set(agents)
    nodes = geography.nodes.values()
    return World(
        tick=0,
        bodies={
            node.id: Body(node.parent_id, node.parent_id)
            for node in nodes
            if node.type == "agent" and (present is None or node.id in present)
        },
        things={
            node.id: Thing(node.state or geography.kinds[node.kind].initial, node.parent_id)
            for node in nodes
            if node.type == "object"
        },
        barred=frozenset(way.id for way in geography.ways.values() if way.closed),
    )
