"""What happened: immutable records with ids made of tick, character and ordinal, and a type for each kind of body.

A run file keeps a body as JSON, without the optional fields that are empty; `actions.body_of` is the way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

import msgspec
from msgspec import Struct, field

from commonplace.canon import canonical

NOBODY = "-"
"""The character of events that no character caused."""
Pairs = tuple[tuple[str, str], ...]
"""Ids, each with what it is about."""
Form = Literal["letter", "notice", "broadcast"]
"""Of a message."""


class Phase(IntEnum):
    """Canonical order within a tick."""

    AMBIENT = 0
    ACTION = 1
    CONSEQUENCE = 2
    INPUT = 3


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened at a tick. Canonical order is (tick, phase, agent_id, ordinal).

    `ordinal` counts a character's events of one tick over all phases, so (tick, agent_id, ordinal) names the event.
    `place` is the id of the area where it happened, empty when it happened everywhere. `body` is what happened; it
    holds strings, integers, booleans, null and lists of these, never floats.
    """

    tick: int
    phase: Phase
    agent_id: str
    ordinal: int
    place: str
    body: EventBody

    @property
    def type(self) -> str:
        """Returns the type: `SAY`, `MOVE` …"""
        return self.body.type

    @property
    def id(self) -> str:
        """Returns the id, such as `t12.mira.0`."""
        return f"t{self.tick}.{self.agent_id}.{self.ordinal}"

    @property
    def order(self) -> tuple[int, int, str, int]:
        """Returns the key of canonical order."""
        return (self.tick, int(self.phase), self.agent_id, self.ordinal)

    def body_bytes(self) -> bytes:
        """Returns the canonical bytes that are stored and hashed: the body with type and place."""
        return canonical({"type": self.type, "place": self.place, **self.body.plain()})


B = TypeVar("B", bound="EventBody")


def of_kind(events: Iterable[Event], kind: type[B]) -> Iterator[tuple[Event, B]]:
    """Yields the events whose body is of a kind, each with its body."""
    for event in events:
        if isinstance(event.body, kind):
            yield event, event.body


def parse_id(event_id: str) -> tuple[int, str, int]:
    """Returns (tick, character, ordinal) of an event id. Raises ValueError."""
    head, agent, ordinal = event_id.split(".")
    if not head.startswith("t"):
        raise ValueError(event_id)
    return int(head[1:]), agent, int(ordinal)


# ── what events say ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class EventBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an event says besides when, where and of whom. A field without a default always stands in its JSON."""

    because: tuple[int, ...] = ()
    """Ids of the character's memories that it had as reasons."""

    @property
    def type(self) -> str:
        """Returns the event's type as JSON names it."""
        return _NAMES[self.__class__]

    def plain(self) -> dict[str, Any]:
        """Returns the body as JSON values, sorted by name."""
        return msgspec.to_builtins(self, order="sorted")


class Acted(EventBody):
    """An action."""

    kind: ClassVar[str]
    """`MOVE`: what the action is called, and the type of its event."""
    emoji: str = ""
    object_id: str = ""
    """Id of the object it was done to; empty for none."""
    to_agent_id: str = ""
    """Id of whom it was done to, or said to; empty for nobody."""
    held: str = ""
    """Key of the circumstance that made the body do it, whatever it wanted; empty for none."""

    @property
    def type(self) -> str:
        """Returns the kind of the action."""
        return self.kind


class Idled(Acted, kw_only=True):
    """Stayed, and did what needs no object's change."""

    kind: ClassVar[str] = "IDLE"
    doing: str
    asleep: bool = False


class Moved(Acted, kw_only=True):
    """Walked one edge."""

    kind: ClassVar[str] = "MOVE"
    left: str = field(name="from")
    """Id of the area it walked out of."""
    to: str
    """Id of the next area."""
    goal: str
    """Id of the area the walk leads to."""


class Interacted(Acted, kw_only=True):
    """Tried a verb on an object."""

    kind: ClassVar[str] = "INTERACT"
    object_id: str  # pyright: ignore[reportGeneralTypeIssues] – here it is needed, and always in the JSON
    verb: str
    outcome: str
    """`done` or `refused`."""
    doing: str = ""
    """As others see it; empty where it was refused."""
    seen: str = ""
    """What there was to see of the change."""
    progress: tuple[int, int] | None = None
    """Of what takes several attempts: how many there have been, of how many."""
    held_by: str = ""
    """Id of who took it in the same tick and has it now."""
    why: str = ""
    """The reason of a refusal."""
    lacks: str = ""
    """Id of what was missing; `*` for more hands."""


class Spoke(Acted, kw_only=True):
    """Said something to somebody; see `actions.Say` for the fields."""

    kind: ClassVar[str] = "SAY"
    to_agent_id: str  # pyright: ignore[reportGeneralTypeIssues] – here it is needed, and always in the JSON
    utterance: str
    facts: tuple[str, ...]
    claimed: tuple[str, ...]
    carriers: tuple[int, ...]
    ends: bool = False
    speech_act: str = ""
    topic: str = ""


class Proposed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An action as the `act` tool words it, for traces and ACTION_REJECTED."""

    kind: str
    doing: str | None = None
    to_location_id: str = ""
    object_id: str = ""
    verb: str = ""
    to_agent_id: str = ""
    utterance: str | None = None


class ActionRejected(EventBody, kw_only=True):
    """Proposed an action that is not possible."""

    proposed: Proposed
    why: str


class ObjectStateChanged(EventBody, kw_only=True):
    """An object came into another state."""

    object_id: str
    old: str = field(name="from")
    to: str
    by: str
    """Id of the character who did it."""


class ConversationStarted(EventBody, kw_only=True):
    """A talk began; the ids of its members are sorted."""

    conversation_id: str
    members: tuple[str, ...]


class ConversationEnded(EventBody, kw_only=True):
    """A talk ended."""

    conversation_id: str
    members: tuple[str, ...]
    """Everybody who took part, sorted."""
    lines: tuple[tuple[str, str, str], ...]
    """(speaker, addressee, utterance) of each line."""


class TimeAdvanced(EventBody, kw_only=True):
    """Another part of the day began."""

    part_of_day: str


class WeatherChanged(EventBody, kw_only=True):
    """The sky changed."""

    old: str = field(name="from")
    to: str
    wind: str
    temperature: str


class Post(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A message as it is sent: a letter to a character, a notice at a place, or a broadcast to nobody in particular."""

    words: str
    to: str = ""
    """Id of the character or the area; empty for a broadcast."""
    by: str = ""
    """Id of the character who wrote it, or what another sender is called: `her sister`; empty for nobody."""
    handed: bool = False
    """Of a letter: whether it is handed over and need not be found at home."""


class Intervened(EventBody, kw_only=True):
    """The scenario, or somebody outside, let something happen."""

    text: str
    """What those perceive whom it reaches."""
    far: str = ""
    """What is noticed in the next areas."""
    agents: tuple[str, ...] = ()
    """Ids of the characters it is meant for by name."""
    sets: Pairs = ()
    """(object, state)."""
    opens: tuple[str, ...] = ()
    """Ids of ways."""
    closes: tuple[str, ...] = ()
    moves: Pairs = ()
    """(object, area it lies in from now on)."""
    raises: tuple[str, ...] = ()
    """Keys of the circumstances that begin with it."""
    ends: tuple[str, ...] = ()
    """Keys of those that it ends."""
    message: Post | None = None
    """What is sent with it."""


class ScriptPlayed(Intervened):
    """A scripted event or an occasion."""

    script: str = ""
    """Its id."""
    everybody: bool = False
    areas: tuple[str, ...] = ()
    """Ids of the areas it reaches."""
    near: tuple[str, ...] = ()
    """Ids of those next to them, where there is something to notice."""


class GodSpoke(Intervened, kw_only=True):
    """A sentence in god mode, or an attempt of a character."""

    percepts: Pairs
    """(character, what it notices), in the order of ids."""
    befalls: Pairs = ()
    """(character, what it does now)."""
    sky: str = ""
    by: str = ""
    """Id of the character who did it; empty for nobody."""


class Began(EventBody, kw_only=True):
    """Something is so from now on."""

    circumstance: str
    """Its key, `burning.noodle-bar`."""
    until: int = 0
    """The tick at whose end it ends by itself; 0 for never."""
    by: str = ""
    """Id of who did it; empty for nobody."""
    seen_by: tuple[str, ...] = ()
    """Who was with somebody who is gone with it; of what is there everybody sees that it is so."""


class Ended(EventBody, kw_only=True):
    """Something is no longer so."""

    circumstance: str
    seen_by: tuple[str, ...] = ()


class Received(EventBody, kw_only=True):
    """A message was read, or heard on the radio."""

    message: str
    """Id of the event with which it was sent."""
    form: Form
    words: str
    by: str = ""
    """See `Post`."""
    readers: tuple[str, ...]
    """Ids of those who read or heard it, sorted."""


class Whispered(EventBody, kw_only=True):
    """A character was given a thought."""

    text: str


class Joined(EventBody):
    """A character came into the world."""

    held: str = ""
    """Key of the circumstance that is over; empty for none."""


class Departed(EventBody):
    """A character left the world."""

    held: str = ""
    """Key of the circumstance that took it away; empty for none."""


class TakenOver(EventBody, kw_only=True):
    """A person decides for a character."""

    action: Mapping[str, Any]
    """What it does next, as the `act` tool words it; empty to wait."""


class GivenBack(EventBody):
    """A character decides for itself again."""


class Forgot(EventBody, kw_only=True):
    """Memories of a character were removed."""

    memory_ids: tuple[int, ...]


class Adjusted(EventBody, kw_only=True):
    """Something of a character, or a setting of the run, was changed by hand."""

    field: str
    value: Any


class PlanChanged(EventBody, kw_only=True):
    """A character changed its plan, or made that of the day."""

    reason: str
    """Empty for the plan of the day."""
    from_time: str
    """ISO, simulated."""


class Reflected(EventBody, kw_only=True):
    """A character drew conclusions: the ids of the memories that they became."""

    memory_ids: tuple[int, ...]
    lacking: int = 0
    """How many fewer there are than were asked for: the evidence allowed no more."""


class RelationChanged(EventBody, kw_only=True):
    """A character thinks better or worse of another one."""

    other: str
    change: int
    warmth: int
    """The warmth after it."""
    why: str
    """One of `relations.CHANGES`."""


class VoiceAnswered(EventBody, kw_only=True):
    """A character follows an inner voice, or does not."""

    follows: bool
    reason: str


class Foreign(EventBody, kw_only=True):
    """An event of a mind of a type that a stage outside the package has."""

    name: str
    content: Mapping[str, Any]

    @property
    def type(self) -> str:
        """Returns its own name."""
        return self.name

    def plain(self) -> dict[str, Any]:
        """Returns the body as JSON values, sorted by name."""
        return dict(sorted(self.content.items()))


TYPES: Mapping[str, type[EventBody]] = {
    "ACTION_REJECTED": ActionRejected,
    "OBJECT_STATE_CHANGED": ObjectStateChanged,
    "CONVERSATION_STARTED": ConversationStarted,
    "CONVERSATION_ENDED": ConversationEnded,
    "TIME_ADVANCED": TimeAdvanced,
    "WEATHER_CHANGED": WeatherChanged,
    "SCRIPTED": ScriptPlayed,
    "GOD_EVENT": GodSpoke,
    "BEGAN": Began,
    "ENDED": Ended,
    "RECEIVED": Received,
    "INNER_VOICE": Whispered,
    "JOINED": Joined,
    "LEFT": Departed,
    "TAKEN_OVER": TakenOver,
    "GIVEN_BACK": GivenBack,
    "FORGOT": Forgot,
    "CHANGED": Adjusted,
    "PLAN_CHANGED": PlanChanged,
    "REFLECTED": Reflected,
    "RELATION_CHANGED": RelationChanged,
    "VOICE_ANSWERED": VoiceAnswered,
}
"""Those that are no actions."""
_NAMES: Mapping[type[EventBody], str] = {kind: name for name, kind in TYPES.items()}
