"""Every kind of action: its class and its rules, its row in one table, and what becomes of an intent.

A kind has a class, an event and a function that makes its deed. Those of the town are here; a kind of its own may be a
module of its own. What other layers know of it is its row, and its words are a row of `[actions]` in each language. The
import fails where one of these is missing.

A walk is settled here completely, so that an area knows who arrives before the walker's old area is folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import msgspec
from msgspec import structs

from commonplace.errors import CommonplaceError
from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.world.circumstances import CircumstanceKind, refuge
from commonplace.world.deeds import Action, ActionKind, Actor, Deed, Idle, Intent, Standing, TickSetting, stay
from commonplace.world.events import (
    TYPES,
    Acted,
    Event,
    EventBody,
    Foreign,
    Idled,
    Interacted,
    Moved,
    Phase,
    Proposed,
    Spoke,
)
from commonplace.world.geography import Geography
from commonplace.world.state import AreaScene, Body, ThingState
from commonplace.world.tree import CARRYING, PEOPLE, ActionWords, AttemptResult, attempt, refuse_mistakes, verb_words

__all__ = [
    "ACTIONS",
    "Action",
    "Idle",
    "Interact",
    "Move",
    "Say",
    "Targets",
    "body_of",
    "kind_of",
    "objection",
    "proposed",
    "resolve",
    "targets",
]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Interact(Action):
    """Try a verb on an object here or carried. `doing` is what others see when it works."""

    object_id: str
    verb: str
    doing: str = ""


def handle(one: Actor, action: Interact) -> Deed:
    """Returns the deed of trying a verb, in the words of the object's kind."""
    object_id = action.object_id
    tried = tried_by(one.setting.geography, one.scene, one.me, object_id, action.verb)
    event = partial(Interacted, object_id=object_id, verb=action.verb, emoji=action.emoji, because=action.because)
    if tried.done and _lacks_power(one, object_id):
        doing = one.doing
        did = event(outcome="refused", why=one.say("power", object_id))
        return Deed(one.me, one.event(did), one.stays(doing), action)
    if tried.done:
        name = one.setting.geography.name(object_id)
        doing = action.doing or verb_words(one.setting.rules.language, action.verb, name).doing
        progress = (tried.progress or tried.times, tried.times) if tried.times > 1 else None
        did = event(outcome="done", doing=doing, seen=tried.seen, progress=progress)
    else:
        doing = one.doing
        did = event(outcome="refused", why=tried.why or _why(one, tried, object_id), lacks=tried.lacks)
    hands = {object_id: one.me if action.verb == "TAKE" else one.scene.area} if _carries(one, action, tried) else {}
    return Deed(one.me, one.event(did), one.stays(doing), action, attempt=tried, hands=hands)


def _lacks_power(one: Actor, object_id: str) -> bool:
    """Tells whether the verb would switch something on where there is no power."""
    if one.scene.area not in one.setting.duties.powerless:
        return False
    words = phrases(one.setting.rules.language, "circumstances")
    name, state = one.setting.geography.name(object_id), one.scene.things[object_id].state
    electric = language(one.setting.rules.language).occurs(words["electric"].split(" | "), name)
    return electric and state in words["off"].split(" | ")


def _carries(one: Actor, action: Interact, tried: AttemptResult) -> bool:
    geography = one.setting.geography
    portable = geography.kinds[geography.nodes[action.object_id].kind].portable
    return tried.done and action.verb in CARRYING and portable


def _why(one: Actor, tried: AttemptResult, object_id: str) -> str:
    """Returns why something does not work, in the simulator's words."""
    if not tried.lacks:
        return one.say("refused", object_id)
    return one.say("hands" if tried.lacks == PEOPLE else "lacks", tried.lacks)


def tried_by(geography: Geography, scene: AreaScene, me: str, object_id: str, verb: str) -> AttemptResult:
    """Returns the result of `me` trying a verb on an object of the scene."""
    thing = scene.things[object_id]
    kind = geography.kinds[geography.nodes[object_id].kind]
    if all(not one.needs and one.people == 1 for one in kind.transitions):
        return attempt(kind, thing.state, verb, progress=thing.progress)
    at_hand = {id: one.state for id, one in scene.things.items() if one.parent in (scene.area, me)}
    people = sum(not body.asleep for body in scene.bodies.values())
    return attempt(kind, thing.state, verb, progress=thing.progress, at_hand=at_hand, people=people)


def object_verbs(one: Standing) -> dict[str, tuple[str, ...]]:
    """Returns each object here or carried, with the verbs that may be tried on it."""
    return {id: verbs for id, thing in one.scene.things.items() if (verbs := _verbs(one, id, thing))}


def _verbs(one: Standing, id: str, thing: ThingState) -> tuple[str, ...]:
    if thing.parent not in (one.scene.area, one.me):
        return ()
    kind = one.geography.kinds[one.geography.nodes[id].kind]
    return _with_handling(kind.verbs, "DROP" if thing.parent == one.me else "TAKE") if kind.portable else kind.verbs


@cache
def _with_handling(verbs: tuple[str, ...], handling: str) -> tuple[str, ...]:
    return (*(verb for verb in verbs if verb not in CARRYING), handling)


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Action):
    """Speak to one character here; everybody in the area hears it.

    `facts` are the seed facts whose words the utterance carries, `claimed` those the mind says it mentioned,
    `carriers` the ids of the memories each fact was spoken from, in the order of `facts`. `ends` marks a farewell.
    `speech_act` says what the utterance does (`tell`, `ask.well`, `invite` …) and `topic` what it is about; both are
    empty where the mind did not say so.
    """

    to_agent_id: str
    utterance: str
    facts: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    carriers: tuple[int, ...] = ()
    ends: bool = False
    speech_act: str = ""
    topic: str = ""


def speak(one: Actor, action: Say) -> Deed:
    """Returns the deed of saying a line, which always succeeds; `area.fold_area` decides who hears it and which talk it
    belongs to."""
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
    return Deed(one.me, one.event(spoke), one.stays(one.doing), action)


MOST_MEMBERS = 4
"""Members of a conversation from which on nobody else may join it."""


def partners(scene: AreaScene, me: str) -> tuple[str, ...]:
    """Returns the characters that `me` may speak to: somebody awake here, in the same talk, free, or in a talk that
    still has a place.

    In a talk only the character who has the floor speaks; if nobody spoke in it last tick, every member may.
    """
    awake = scene.awake(me)
    if not scene.conversations:
        return awake
    circles = {member: talk.members for talk in scene.conversations for member in talk.members}
    mine = next((talk for talk in scene.conversations if me in talk.members), None)
    if mine is None:
        return tuple(other for other in awake if len(circles.get(other, ())) < MOST_MEMBERS)
    if mine.floor != me and any(one.type == "SAY" and one.agent_id in mine.members for one in scene.happened):
        return ()
    full = len(mine.members) >= MOST_MEMBERS
    return tuple(other for other in awake if other in mine.members or not (full or other in circles))


ACTIONS: Mapping[str, ActionKind[Any]] = {
    "IDLE": ActionKind(
        action=Idle,
        event=Idled,
        deed=stay,
        targets=(),
        possible=lambda _: (),
        objections=(),
        words="doing",
        typed="wait",
        category="doing",
        mark="·",
    ),
    "MOVE": ActionKind(
        action=Move,
        event=Moved,
        deed=walk,
        targets=("to_location_id",),
        possible=lambda one: one.geography.elsewhere(one.scene.area),
        objections=("there is no way to {0} that is known",),
        typed="go",
        category="moves",
        mark="→",
    ),
    "INTERACT": ActionKind(
        action=Interact,
        event=Interacted,
        deed=handle,
        targets=("object_id", "verb"),
        possible=object_verbs,
        objections=("{0} is not here", "nobody can {1} {0}"),
        typed="",
        category="doing",
        mark="•",
    ),
    "SAY": ActionKind(
        action=Say,
        event=Spoke,
        deed=speak,
        targets=("to_agent_id",),
        possible=lambda one: partners(one.scene, one.me),
        objections=("{0} cannot be spoken to now",),
        words="utterance",
        typed="say",
        category="talk",
        mark="“",
    ),
}
RUNS = "🏃"
"""Over the head of somebody who must not stay where it is."""
_KIND_OF: Mapping[type[Action], ActionKind[Any]] = {kind.action: kind for kind in ACTIONS.values()}
_BODIES: Mapping[str, type[EventBody]] = {**TYPES, **{name: kind.event for name, kind in ACTIONS.items()}}


def kind_of(action: Action) -> ActionKind[Any]:
    """Returns the row of an action. Raises KeyError for an action whose class has no row."""
    return _KIND_OF[action.__class__]


def body_of(type: str, plain: Mapping[str, Any]) -> EventBody:
    """Returns the body of an event of a type from its JSON. Raises TypeError or ValueError if the JSON does not fit."""
    kind = _BODIES.get(type)
    return msgspec.convert(plain, kind) if kind else Foreign(name=type, content=plain)


def proposed(action: Action) -> Proposed:
    """Returns an action as the `act` tool words it."""
    return kind_of(action).proposed(action)


# ── targets: the same for the schema a mind answers in and for the check of its answer ───────────────────────────────


@dataclass(frozen=True)
class Targets:
    """What one character may do in one tick: the schema its mind must answer in."""

    of: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Kind of action → first target → second ones, none where it takes one."""

    @cached_property
    def areas(self) -> tuple[str, ...]:
        """Returns the areas that one can walk to with all ways open."""
        return tuple(self.of["MOVE"])

    @cached_property
    def objects(self) -> Mapping[str, tuple[str, ...]]:
        """Returns the objects here or carried, each with the verbs its kind knows."""
        return self.of["INTERACT"]

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Returns the characters it may speak to: awake, here, and not in a talk in which somebody else has the
        floor."""
        return tuple(self.of["SAY"])

    @cached_property
    def others(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Returns the targets of all other kinds of action."""
        return {kind: offered for kind, offered in self.of.items() if kind not in ("MOVE", "INTERACT", "SAY")}


def targets(geography: Geography, scene: AreaScene, me: str) -> Targets:
    """Returns what `me`, a character in the scene, may do next tick, as far as the world knows."""
    here = Standing(geography, scene, me)
    return Targets({name: kind.offered(here) for name, kind in ACTIONS.items() if kind.targets})


def objection(action: Action, targets: Targets) -> str:
    """Returns why the action is not among the valid targets; empty if it is."""
    kind = kind_of(action)
    if not kind.targets:
        return ""
    first, *second = (getattr(action, name) for name in kind.targets)
    offered = targets.of[kind.name]
    if first not in offered:
        return kind.objections[0].format(first, *second)
    return kind.objections[1].format(first, *second) if second and second[0] not in offered[first] else ""


# ── from an intent to a deed ─────────────────────────────────────────────────────────────────────────────────────────


def resolve(setting: TickSetting, scene: AreaScene, me: str, intent: Intent) -> Deed:
    """Returns the deed of `me`, who is in the scene as of the end of the tick before. Raises KeyError if it is not.

    Whoever it meets there may have left by the end of this tick: only `area.fold_area` knows.
    """
    wanted = Actor(setting, scene, me, scene.bodies[me], intent.action, kind_of(intent.action))
    action, held = _allowed(wanted)
    deed = _deed(replace(wanted, action=action, kind=kind_of(action)) if held else wanted)
    if held and isinstance(deed.event.body, Acted):
        deed = replace(deed, event=replace(deed.event, body=structs.replace(deed.event.body, held=held)))
    if not intent.notes:
        return deed
    return replace(
        deed,
        notes=tuple(
            Event(setting.tick, Phase.ACTION, me, ordinal, scene.area, note)
            for ordinal, note in enumerate(intent.notes, 1)
        ),
    )


def _allowed(one: Actor) -> tuple[Action, str]:
    """Returns the action that circumstances let somebody do, and the key of the circumstance that changed it."""
    duties, area, action = one.setting.duties, one.scene.area, one.action
    why = _driven_by(one)
    if why:
        away = refuge(one.setting.geography, duties, area, one.home)
        return (action, "") if away == area else (Move(to_location_id=away, emoji=RUNS), why)
    if one.me not in duties.resting:
        return action, ""
    why, kind = duties.resting[one.me]
    rests = _resting(one, kind)
    return rests, "" if rests is action else why


def _driven_by(one: Actor) -> str:
    """Returns the key of the circumstance that makes somebody leave, or turn back in a passage that leads there; empty
    for none."""
    duties, area, geography = one.setting.duties, one.scene.area, one.setting.geography
    if not duties.cleared:
        return ""
    goal = one.action.to_location_id if isinstance(one.action, Move) else area
    ahead = geography.route(area, goal)[0] if goal in geography.edges and goal != area else area
    inside = area in duties.cleared or geography.nodes[area].passage
    return duties.cleared.get(ahead, "") if inside else ""


def _resting(one: Actor, kind: CircumstanceKind) -> Action:
    """Returns the action of somebody who has to rest: it goes to bed, sleeps, talks from there, or lies there."""
    area, action = one.scene.area, one.action
    bed = one.home if kind.rests == "home" and one.home not in one.setting.duties.cleared else area
    if area != bed:
        goes = isinstance(action, Move) and action.to_location_id == bed
        return action if goes else Move(to_location_id=bed, emoji=kind.words.emoji)
    if not kind.asleep and (isinstance(action, Say) or (isinstance(action, Idle) and action.asleep)):
        return action
    return Idle(doing=kind.words.doing, asleep=kind.asleep, emoji=kind.words.emoji, because=action.because)


def _deed(one: Actor) -> Deed:
    """Returns the deed. It lists only the targets of the action's own kind: listing all of them would cost time."""
    kind = one.kind
    why = ""
    if kind.targets:
        offered = kind.offered(Standing(one.setting.geography, one.scene, one.me))
        why = objection(one.action, Targets({kind.name: offered}))
    return one.rejected(why) if why else kind.deed(one, one.action)


def refuse_wrong_row(name: str, kind: ActionKind[Any]) -> None:
    """Raises CommonplaceError for a row that does not fit its event, or the fields of its class."""
    if kind.name != name:
        raise CommonplaceError(f"the event of the action {name!r} is called {kind.name!r}", hint="give both one name")
    for one in (*kind.targets, *filter(None, (kind.words,))):
        if one not in kind.fields & {*Proposed.__struct_fields__}:
            raise CommonplaceError(
                f"the action {name!r} has no {one!r}", hint="name it in its class, and in Proposed, world/events.py"
            )
    if len(kind.objections) != len(kind.targets):
        raise CommonplaceError(f"the action {name!r} needs an objection for each target", hint="world/actions.py")


for _name, _kind in ACTIONS.items():
    refuse_wrong_row(_name, _kind)
_slots = {name: kind.slots for name, kind in ACTIONS.items()}
refuse_mistakes("actions", "action, ACTIONS, world/actions.py", _slots, ActionWords)
