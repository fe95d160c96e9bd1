"""Every kind of action, in one table; what of them a tick allows, and what becomes of an intent.

A kind has a class, an event and its rules in a module of its own. What other layers know of it is its row here, and its
words are a row of `[actions]` in each language. The import fails where one of these is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
from msgspec import structs

from commonplace.errors import CommonplaceError
from commonplace.world import handling, speaking, walking
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
from commonplace.world.handling import Interact
from commonplace.world.speaking import Say
from commonplace.world.state import AreaScene
from commonplace.world.tree import ActionWords, refuse_mistakes
from commonplace.world.walking import Move

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
        deed=walking.walk,
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
        deed=handling.handle,
        targets=("object_id", "verb"),
        possible=handling.object_verbs,
        objections=("{0} is not here", "nobody can {1} {0}"),
        typed="",
        category="doing",
        mark="•",
    ),
    "SAY": ActionKind(
        action=Say,
        event=Spoke,
        deed=speaking.speak,
        targets=("to_agent_id",),
        possible=lambda one: speaking.partners(one.scene, one.me),
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
