"""Perceive: the area as of the previous tick becomes sentences, most worth noticing first.

Each percept carries a *frame*: what the simulator knows of its making, as flat words and ids (`docs/cognition.md`).
Only what is new against the belief view is a percept at all; the attention limit then decides what is taken in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from commonplace.character.belief import Belief
from commonplace.cognition.believe import after_own, after_seeing
from commonplace.cognition.outcome import outcome
from commonplace.cognition.percept import FIRST, Percept
from commonplace.cognition.sights import ambient, doing, from_outside, things
from commonplace.cognition.turn import TurnView
from commonplace.cognition.witness import witnessed


@dataclass(frozen=True, slots=True)
class Perception:
    """What a turn starts from."""

    percepts: tuple[Percept, ...] = ()
    missed: int = 0
    """Percepts beyond the attention limit."""
    belief: Belief = field(default_factory=Belief)


def perceive(view: TurnView, belief: Belief) -> Perception:
    """The outcome of one's own action first, then what is new here, at most `attention` of it."""
    own = tuple(outcome(view, belief))
    if view.world.body.asleep:
        return Perception((*own, *from_outside(view)), 0, after_own(view, belief, own))
    others = sorted((*from_outside(view), *_around(view, belief)), key=lambda percept: _order(view, percept))
    limit = view.scenario.cognition.attention
    believed = after_seeing(view, after_own(view, belief, own))
    return Perception((*own, *others[:limit]), max(0, len(others) - limit), believed)


def _order(view: TurnView, percept: Percept) -> tuple[int, int, str]:
    """People before things; those in the plan or known before strangers; then by id."""
    relation = view.state.relations.get(percept.subject)
    item = view.state.plan.current(view.now)
    planned = item is not None and percept.subject == item.object_id
    return (FIRST if percept.to_me else percept.rank, 0 if relation or planned else 1, percept.subject)


def _around(view: TurnView, belief: Belief) -> Iterator[Percept]:
    for event in view.world.events:
        percept = witnessed(view, event)
        if percept is not None:
            yield percept
    moved = {event.agent_id for event in view.world.events if event.type == "MOVE"}
    for other in sorted(view.world.bodies):
        if other not in moved:
            yield from doing(view, belief, other, view.world.bodies[other])
    yield from things(view, belief)
    yield from ambient(view)
