"""Believe: what one sees corrects what one believed of the world."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.character.belief import UNKNOWN, Belief, Known
from commonplace.cognition.percept import ASLEEP, Percept
from commonplace.cognition.turn import TurnView


def after_own(view: TurnView, belief: Belief, own: Iterable[Percept]) -> Belief:
    """What was looked for and not found is known not to be there; what one does oneself is known."""
    changes = {
        percept.frame["object"]: Known(UNKNOWN, "", view.tick)
        for percept in own
        if percept.frame["what"] == "absent" and percept.frame["object"] not in view.world.things
    }
    doing = view.world.body.doing
    known = belief.nodes.get(view.persona.id)
    if known is None or known.state != doing:
        changes[view.persona.id] = Known(view.world.area, doing, view.tick)
    return belief.updated(changes)


def after_seeing(view: TurnView, belief: Belief) -> Belief:
    """The belief with everything here as it is now.

    What lies in an area was last seen when the area was: an entry of its own is renewed only when it changes, the
    area's when one arrives and when one has left.
    """
    world, nodes = view.world, view.scenario.geography.nodes
    changes: dict[str, Known] = {}
    if world.body.came_from != world.area or world.area not in belief.nodes:
        changes[world.area] = Known(nodes[world.area].parent_id, "open", view.tick)
        changes[world.body.came_from] = Known(nodes[world.body.came_from].parent_id, "open", view.tick - 1)
    here = {thing: (seen.parent, seen.state) for thing, seen in world.things.items()}
    here |= {other: (world.area, ASLEEP if body.asleep else body.doing) for other, body in world.bodies.items()}
    for node, (parent, state) in here.items():
        known = belief.nodes.get(node)
        if known is None or known.parent != parent or known.state != state:
            changes[node] = Known(parent, state, view.tick)
    for neighbour in world.ways:
        if neighbour not in belief.nodes:
            changes[neighbour] = Known(nodes[neighbour].parent_id, "open", view.tick)
    return belief.updated(changes, _closed(view, belief))


def _closed(view: TurnView, belief: Belief) -> frozenset[tuple[str, str]]:
    """The ways believed closed: those that lead from here as they are, the rest as last seen."""
    here = {(view.world.area, neighbour) for neighbour, is_open in view.world.ways.items() if not is_open}
    elsewhere = {way for way in belief.closed if way[0] != view.world.area}
    return frozenset(here | elsewhere) if here or belief.closed else belief.closed
