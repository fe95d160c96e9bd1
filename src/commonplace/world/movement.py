"""Walking: one edge a tick along a shortest path, avoiding the closed ways the walker has found."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.world.geography import Geography
from commonplace.world.state import Body


@dataclass(frozen=True, slots=True)
class Stride:
    """What one tick of a walk comes to."""

    to: str
    """The area stepped into; empty when every way on that the walker can think of is closed."""
    shut: tuple[str, ...]
    """Ways found closed so far on this walk."""
    door: str
    """The area behind the way it would have liked to take."""


def stride(geography: Geography, body: Body, goal: str, closed: frozenset[str]) -> Stride:
    """The next step towards the goal. `closed` ways are known only where they show; all others count as open."""
    own = {way.id for _, way in geography.neighbours(body.area)}
    found = geography.closed_from(body.area, closed).union(way for way in body.shut if way not in own)
    if not found:
        ahead = geography.route(body.area, goal)[0]
        return Stride(ahead, (), ahead)
    path = geography.route(body.area, goal, found)
    return Stride(path[0] if path else "", tuple(sorted(found)), geography.route(body.area, goal)[0])


def gives_notice(geography: Geography, body: Body, tick: int, leave_notice: int) -> bool:
    """Whether a MOVE at the tick only announces a departure: nobody walking or in a passage needs to announce one."""
    if leave_notice == 0 or body.goal or geography.nodes[body.area].passage:
        return False
    return body.departs == 0 or tick < body.departs


def departure(body: Body, tick: int, leave_notice: int) -> int:
    """The tick a wish to leave leads to: that of the departure already announced, or one so many ticks from now."""
    return body.departs or tick + leave_notice


def promise(geography: Geography, body: Body, tick: int, leave_notice: int) -> int:
    """The first tick at which a MOVE of a body may take effect, if its next tick is `tick`. No action lowers it."""
    if leave_notice == 0 or body.goal or geography.nodes[body.area].passage:
        return tick
    return max(tick, body.departs) if body.departs else tick + leave_notice
