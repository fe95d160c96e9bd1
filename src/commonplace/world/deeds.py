"""From intents to deeds: the half of a tick that depends only on each character's own scene.

A walk is settled here completely, so that an area knows who arrives before the walker's old area is folded. What
depends on the others there (who gets the object, who is talking) is left to `area.fold_area`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial

from commonplace.languages import DEFAULT
from commonplace.world.actions import (
    CARRYING,
    Action,
    Idle,
    Interact,
    Move,
    Say,
    Targets,
    objection,
    proposed,
)
from commonplace.world.events import ActionRejected, Event, EventBody, Idled, Interacted, Moved, Phase, Spoke
from commonplace.world.geography import Geography
from commonplace.world.state import Body, Scene, Thing
from commonplace.world.tree import PEOPLE, Attempt, Phrase, attempt, say, verb_words


@dataclass(frozen=True, slots=True)
class Rules:
    """House rules of a run."""

    leave_notice: int = 0
    """Ticks between a wish to leave a room and the departure; 0 for none."""
    language: str = DEFAULT
    """`en` or `ko`: of the few words the simulator itself says."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds everywhere during a tick: a function of scenario, tick and inputs, never of what characters do."""

    geography: Geography
    tick: int
    closed: frozenset[str] = frozenset()
    """Ways closed at the end of the tick before."""
    rules: Rules = Rules()
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Object states the script writes this tick, before anybody's action does."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a character wants to do in a tick, and what its mind did meanwhile."""

    action: Action
    notes: tuple[EventBody, ...] = ()
    """Events of the mind besides the action, which others do not see: `PlanChanged`, `Reflected` …"""


@dataclass(frozen=True, slots=True)
class Deed:
    """The result of an intent, as far as the character's own scene decides it."""

    agent_id: str
    event: Event
    body: Body
    """At the end of the tick. The fold may change the event, never this: arrivals are known before areas are folded."""
    action: Action | None = None
    """None when it was rejected."""
    notes: tuple[Event, ...] = ()
    attempt: Attempt | None = None
    """Of an INTERACT."""
    carried: Mapping[str, Thing] = field(default_factory=dict[str, Thing])
    """Of a MOVE: the objects that go along."""

    @property
    def seen(self) -> bool:
        """Whether others notice the action itself: not a proposal that was rejected."""
        return self.event.type != "ACTION_REJECTED"


def resolve(setting: Setting, scene: Scene, me: str, intent: Intent) -> Deed:
    """The deed of `me`, who is in the scene as of the end of the tick before. Raises KeyError when it is not.

    Who it meets there may be gone by the end of this tick: only `area.fold_area` knows.
    """
    deed = _deed(_Actor(setting, scene, me, scene.bodies[me], intent.action), intent.action)
    if not intent.notes:
        return deed
    return replace(
        deed,
        notes=tuple(
            Event(setting.tick, Phase.ACTION, me, ordinal, scene.area, note)
            for ordinal, note in enumerate(intent.notes, 1)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Actor:
    """One character with its action, where and when it acts."""

    setting: Setting
    scene: Scene
    me: str
    body: Body
    action: Action

    def say(self, phrase: Phrase, node_id: str) -> str:
        return say(self.setting.rules.language, phrase, name=self.setting.geography.name(node_id))

    def event(self, body: EventBody) -> Event:
        """The action's event."""
        return Event(self.setting.tick, Phase.ACTION, self.me, 0, self.scene.area, body)

    def idled(self, doing: str, asleep: bool = False) -> Event:
        """That of staying."""
        because = self.action.because
        return self.event(Idled(doing=doing, asleep=asleep, emoji=self.action.emoji, because=because))

    def stays(self, doing: str, asleep: bool = False) -> Body:
        """The body where it is, any walk stopped; an announced departure is kept until its time has come."""
        body = self.body
        departs = body.departs if self.setting.tick < body.departs else 0
        after = Body(body.area, body.area, doing, self.action.emoji, asleep, "", departs)
        return body if after == body else after


def _deed(one: _Actor, action: Action) -> Deed:
    if isinstance(action, Idle):
        return Deed(one.me, one.idled(action.doing, action.asleep), one.stays(action.doing, action.asleep), action)
    why = objection(action, _targets_for(one, action))
    if why:
        return _rejected(one, why)
    if isinstance(action, Move):
        return _walk(one, action)
    if isinstance(action, Interact):
        return _handle(one, action)
    return _speak(one, action)


def _targets_for(one: _Actor, action: Action) -> Targets:
    """The valid targets of the kind the action asks for: listing all of them for every action would cost time."""
    match action:
        case Move():
            return Targets(areas=destinations(one.setting.geography, one.scene))
        case Interact(object_id=thing):
            known = object_verbs(one.setting.geography, one.scene, thing, one.me)
            return Targets(objects={thing: known} if known else {})
        case Say():
            return Targets(agents=partners(one.scene, one.me))
        case Idle():
            return Targets()


def _rejected(one: _Actor, why: str, doing: str = "") -> Deed:
    """Nothing changes, except that a walk stops."""
    body = one.body
    event = one.event(ActionRejected(proposed=proposed(one.action), why=why))
    stays = one.stays(doing or ("" if body.goal else body.doing), body.asleep)
    return Deed(one.me, event, stays if stays is body else replace(stays, emoji=body.emoji))


def _walk(one: _Actor, action: Move) -> Deed:
    setting, goal = one.setting, action.to_location_id
    notice = setting.rules.leave_notice
    if gives_notice(setting.geography, one.body, setting.tick, notice):
        doing = one.say("leaving", goal)
        body = replace(one.stays(doing), departs=departure(one.body, setting.tick, notice))
        return Deed(one.me, one.idled(doing), body, action)
    step = stride(setting.geography, one.body, goal, setting.closed)
    if not step.to:
        return _rejected(one, one.say("closed", step.door), one.say("waiting", step.door))
    arrived = step.to == goal
    body = Body(
        area=step.to,
        came_from=one.scene.area,
        doing=one.say("arriving" if arrived else "walking", goal),
        emoji=action.emoji,
        goal="" if arrived else goal,
        shut=() if arrived else step.shut,
    )
    event = one.event(Moved(left=one.scene.area, to=step.to, goal=goal, emoji=action.emoji, because=action.because))
    carried = {id: thing for id, thing in one.scene.things.items() if thing.parent == one.me}
    return Deed(one.me, event, body, action, carried=carried)


def _handle(one: _Actor, action: Interact) -> Deed:
    object_id = action.object_id
    tried = tried_by(one.setting.geography, one.scene, one.me, object_id, action.verb)
    event = partial(Interacted, object_id=object_id, verb=action.verb, emoji=action.emoji, because=action.because)
    if tried.done:
        name = one.setting.geography.name(object_id)
        doing = action.doing or verb_words(one.setting.rules.language, action.verb, name).doing
        progress = (tried.progress or tried.times, tried.times) if tried.times > 1 else None
        did = event(outcome="done", doing=doing, seen=tried.seen, progress=progress)
    else:
        doing = one.say("trying", object_id)
        did = event(outcome="refused", why=tried.why or _why(one, tried, object_id), lacks=tried.lacks)
    return Deed(one.me, one.event(did), one.stays(doing), action, attempt=tried)


def _why(one: _Actor, tried: Attempt, object_id: str) -> str:
    """Why something does not work, in the simulator's words."""
    if not tried.lacks:
        return one.say("refused", object_id)
    return one.say("hands" if tried.lacks == PEOPLE else "lacks", tried.lacks)


def tried_by(geography: Geography, scene: Scene, me: str, object_id: str, verb: str) -> Attempt:
    """What comes of `me` trying a verb on an object of the scene."""
    thing = scene.things[object_id]
    kind = geography.kinds[geography.nodes[object_id].kind]
    if all(not one.needs and one.people == 1 for one in kind.transitions):
        return attempt(kind, thing.state, verb, progress=thing.progress)
    at_hand = {id: one.state for id, one in scene.things.items() if one.parent in (scene.area, me)}
    people = sum(not body.asleep for body in scene.bodies.values())
    return attempt(kind, thing.state, verb, progress=thing.progress, at_hand=at_hand, people=people)


def _speak(one: _Actor, action: Say) -> Deed:
    spoke = Spoke(
        to_agent_id=action.to_agent_id,
        utterance=action.utterance,
        facts=action.facts,
        claimed=action.claimed,
        carriers=action.carriers,
        ends=action.ends,
        speech_act=action.speech_act,
        topic=action.topic,
        emoji=action.emoji,
        because=action.because,
    )
    return Deed(one.me, one.event(spoke), one.stays(one.say("talking", action.to_agent_id)), action)


# ── walking: one edge a tick along a shortest path, avoiding the closed ways the walker has found ────────────────────


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
    """The next step towards the goal. `closed` ways are known only where they show; all others count as open."""
    own = {way.id for _, way in geography.edges[body.area]}
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
    """The tick of departure after a wish to leave: the one already announced, or `leave_notice` ticks from now."""
    return body.departs or tick + leave_notice


def promise(geography: Geography, body: Body, tick: int, leave_notice: int) -> int:
    """The first tick at which a MOVE of a body may take effect, if its next tick is `tick`. No action lowers it."""
    if leave_notice == 0 or body.goal or geography.nodes[body.area].passage:
        return tick
    return max(tick, body.departs) if body.departs else tick + leave_notice


# ── targets: the same for the schema a mind answers in and for the check of its answer ───────────────────────────────


def targets(geography: Geography, scene: Scene, me: str) -> Targets:
    """What `me`, who is in the scene, may do next tick, as far as the world knows."""
    return Targets(destinations(geography, scene), _objects(geography, scene, me), partners(scene, me))


def destinations(geography: Geography, scene: Scene) -> tuple[str, ...]:
    """Every area that can be walked to with all ways open, but this one; a closed way is found at the way."""
    return geography.elsewhere(scene.area)


MOST_MEMBERS = 4
"""Members of a conversation from which on nobody else may join it."""


def partners(scene: Scene, me: str) -> tuple[str, ...]:
    """Whom `me` may speak to: somebody awake here, in my own talk, free, or in a talk that still has a place.

    In a talk only who has the floor speaks; when nobody spoke in it last tick, every member may.
    """
    awake = [other for other, body in scene.bodies.items() if other != me and not body.asleep]
    if not scene.conversations:
        return tuple(awake)
    circles = {member: talk.members for talk in scene.conversations for member in talk.members}
    mine = next((talk for talk in scene.conversations if me in talk.members), None)
    if mine is None:
        return tuple(other for other in awake if len(circles.get(other, ())) < MOST_MEMBERS)
    if mine.floor != me and any(one.type == "SAY" and one.agent_id in mine.members for one in scene.happened):
        return ()
    full = len(mine.members) >= MOST_MEMBERS
    return tuple(other for other in awake if other in mine.members or not (full or other in circles))


def object_verbs(geography: Geography, scene: Scene, object_id: str, me: str) -> tuple[str, ...]:
    """The verbs `me` may try on an object; empty if it is not here and not carried by `me`."""
    thing = scene.things.get(object_id)
    if thing is None or thing.parent not in (scene.area, me):
        return ()
    kind = geography.kinds[geography.nodes[object_id].kind]
    return _with_handling(kind.verbs, "DROP" if thing.parent == me else "TAKE") if kind.portable else kind.verbs


@cache
def _with_handling(verbs: tuple[str, ...], handling: str) -> tuple[str, ...]:
    return (*(verb for verb in verbs if verb not in CARRYING), handling)


def _objects(geography: Geography, scene: Scene, me: str) -> dict[str, tuple[str, ...]]:
    return {id: verbs for id in scene.things if (verbs := object_verbs(geography, scene, id, me))}
