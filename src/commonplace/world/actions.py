"""What a character may do, one action per tick; the verbs for objects; and the targets a tick allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from msgspec import Struct

Verb = Literal[
    "USE", "OPEN", "CLOSE", "TAKE", "DROP",
]  # fmt: skip
VERBS: tuple[Verb, ...] = get_args(Verb)
CARRYING: tuple[Verb, ...] = ("TAKE", "DROP")
"""Verbs that every portable object answers to, without a transition of its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Stay and do what needs no object's change. `doing` is what others see; an asleep character notices nothing."""

    doing: str
    asleep: bool = False
    emoji: str = ""
    because: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Walk towards an area, one edge a tick; goes on unasked until it arrives or another action stops it."""

    to_location_id: str
    emoji: str = ""
    because: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interact:
    """Try a verb on an object here or carried. `doing` is what others see when it works."""

    object_id: str
    verb: str
    doing: str = ""
    emoji: str = ""
    because: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
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
    emoji: str = ""
    because: tuple[int, ...] = ()
    speech_act: str = ""
    topic: str = ""


Action = Idle | Move | Interact | Say


@dataclass(frozen=True, slots=True)
class Targets:
    """What one character may do in one tick: the schema its mind must answer in."""

    areas: tuple[str, ...] = ()
    """Areas it knows of and believes reachable."""
    objects: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Objects here or carried, each with the verbs its kind knows."""
    agents: tuple[str, ...] = ()
    """Characters it may speak to: awake, here, and not in a talk in which somebody else has the floor."""


def objection(action: Action, targets: Targets) -> str:
    """Why the action is not among the valid targets; empty when it is."""
    match action:
        case Idle():
            return ""
        case Move(to_location_id=area):
            return "" if area in targets.areas else f"there is no way to {area} that is known"
        case Interact(object_id=thing, verb=verb):
            if thing not in targets.objects:
                return f"{thing} is not here"
            return "" if verb in targets.objects[thing] else f"nobody can {verb} {thing}"
        case Say(to_agent_id=other):
            return "" if other in targets.agents else f"{other} cannot be spoken to now"


class Proposed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An action as the `act` tool words it, for traces and ACTION_REJECTED."""

    kind: str
    doing: str | None = None
    to_location_id: str = ""
    object_id: str = ""
    verb: str = ""
    to_agent_id: str = ""
    utterance: str | None = None


def proposed(action: Action) -> Proposed:
    """The action so worded."""
    match action:
        case Idle(doing=doing):
            return Proposed(kind="IDLE", doing=doing)
        case Move(to_location_id=area):
            return Proposed(kind="MOVE", to_location_id=area)
        case Interact(object_id=thing, verb=verb):
            return Proposed(kind="INTERACT", object_id=thing, verb=verb)
        case Say(to_agent_id=other, utterance=utterance):
            return Proposed(kind="SAY", to_agent_id=other, utterance=utterance)
