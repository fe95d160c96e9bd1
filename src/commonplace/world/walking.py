"""MOVE: one edge a tick along a shortest path, avoiding the closed ways the walker has found.

A walk is settled here completely, so that an area knows who arrives before the walker's old area is folded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from commonplace.world.deeds import Action, Actor, Deed
from commonplace.world.events import Moved
from commonplace.world.geography import Geography
from commonplace.world.state import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Move(Action):
    """Walk towards an area, one edge a tick; goes on unasked until it arrives or another action stops it."""

    to_location_id: str


def walk(one: Actor, action: Move) -> Deed:
    """Returns the deed of walking: a step, the announcement of one, or the closed way at which it ends."""
    setting, goal = one.setting, action.to_location_id
    flees = one.scene.area in setting.duties.cleared
    notice = 0 if flees else setting.rules.leave_notice
    if gives_notice(setting.geography, one.body, setting.tick, notice):
        doing = one.say("leaving", goal)
        body = replace(one.stays(doing), departs=departure(one.body, setting.tick, notice))
        return Deed(one.me, one.idled(doing), body, action)
    walker = replace(one.body, shut=()) if flees else one.body
    step = stride(setting.geography, walker, goal, one.closed)
    if not step.to:
        return one.rejected(one.say("closed", step.door), one.say("waiting", step.door))
    arrived = step.to == goal
    body = Body(
        area=step.to,
        came_from=one.scene.area,
        doing=one.say("arriving", goal) if arrived else one.doing,
        emoji=action.emoji,
        goal="" if arrived else goal,
        shut=() if arrived else step.shut,
    )
    event = one.event(Moved(left=one.scene.area, to=step.to, goal=goal, emoji=action.emoji, because=action.because))
    carried = {id: thing for id, thing in one.scene.things.items() if thing.parent == one.me}
    return Deed(one.me, event, body, action, carried=carried)


@dataclass(frozen=True, slots=True)
class Stride:
    """The result of one tick of a walk."""

    to: str
    """The area stepped into; empty if the walker knows no open way to its goal."""
    shut: tuple[str, ...]
    """Ways found closed so far on this walk."""
    door: str
    """The next area on the shortest path, whether the way to it is open or closed."""


def stride(geography: Geography, body: Body, goal: str, closed: frozenset[str]) -> Stride:
    """Returns the next step towards the goal. A closed way is known only if it can be seen; all others count as
    open."""
    own = {way.id for _, way in geography.edges[body.area]}
    found = geography.closed_from(body.area, closed).union(way for way in body.shut if way not in own)
    if not found:
        ahead = geography.route(body.area, goal)[0]
        return Stride(ahead, (), ahead)
    path = geography.route(body.area, goal, found)
    return Stride(path[0] if path else "", tuple(sorted(found)), geography.route(body.area, goal)[0])


def gives_notice(geography: Geography, body: Body, tick: int, leave_notice: int) -> bool:
    """Tells whether a MOVE at the tick only announces a departure: nobody walking or in a passage needs to announce
    one."""
    if leave_notice == 0 or body.goal or geography.nodes[body.area].passage:
        return False
    return body.departs == 0 or tick < body.departs


def departure(body: Body, tick: int, leave_notice: int) -> int:
    """Returns the tick of departure after a wish to leave: the tick announced already, or `leave_notice` ticks from
    now."""
    return body.departs or tick + leave_notice


def promise(geography: Geography, body: Body, tick: int, leave_notice: int) -> int:
    """Returns the first tick at which a MOVE of a body may take effect, if its next tick is `tick`. No action lowers
    it."""
    if leave_notice == 0 or body.goal or geography.nodes[body.area].passage:
        return tick
    return max(tick, body.departs) if body.departs else tick + leave_notice
