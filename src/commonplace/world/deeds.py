"""What an action is made of: intents, the deeds they become, and the kind of action that says how.

A deed is the half of a tick that depends only on the character's own scene. What depends on the others there (who gets
the object, who is talking) is left to `area.fold_area`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from commonplace.languages import DEFAULT
from commonplace.world.circumstances import FREE, CircumstanceKind, Duties, Kinds
from commonplace.world.events import Acted, ActionRejected, Event, EventBody, Idled, Phase, Proposed
from commonplace.world.geography import Geography
from commonplace.world.state import AreaScene, Body, ThingState
from commonplace.world.tree import AttemptResult, Phrase, action_words, say


@dataclass(frozen=True, slots=True)
class HouseRules:
    """House rules of a run."""

    leave_notice: int = 0
    """Ticks between a wish to leave a room and the departure; 0 for none."""
    language: str = DEFAULT
    """`en` or `ko`: of the few words the simulator itself says."""
    kinds: Kinds = field(default_factory=dict[str, CircumstanceKind])
    """The kinds of circumstances that there are."""
    homes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where each character lives."""


@dataclass(frozen=True, slots=True)
class TickSetting:
    """What holds everywhere during a tick: a function of scenario, tick and inputs, never of what characters do."""

    geography: Geography
    tick: int
    closed: frozenset[str] = frozenset()
    """Ways closed at the end of the tick before."""
    rules: HouseRules = HouseRules()
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Object states the script writes this tick, before anybody's action does."""
    duties: Duties = FREE
    """What the circumstances at the end of the tick before forbid and ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What a character does in a tick; each kind is a class of its own."""

    emoji: str = ""
    because: tuple[int, ...] = ()
    """Ids of the memories that it had as reasons."""


A = TypeVar("A", bound=Action)
Category = Literal["talk", "moves", "plans", "world", "doing"]
"""What views can leave out."""
SLOTS: Mapping[str, str] = {"object_id": "object", "to_agent_id": "to", "to_location_id": "to"}
"""Target → what its name is in `[actions]` of `phrases.toml`."""


class Standing(NamedTuple):
    """Somebody where it is at the end of a tick."""

    geography: Geography
    scene: AreaScene
    me: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionKind(Generic[A]):
    """A kind of action: its rules, and what cognition, minds and views know of it."""

    action: type[A]
    event: type[Acted]
    """What has happened when it was possible."""
    deed: Callable[[Actor, A], Deed]
    """What comes of it, as far as the actor's own scene decides. It has looked at the targets before."""
    targets: tuple[str, ...]
    """The fields with its targets, two at most: `to_agent_id`; `object_id` and `verb`."""
    possible: Callable[[Standing], tuple[str, ...] | Mapping[str, tuple[str, ...]]]
    """What somebody in the scene may choose next tick: targets; where there are two, each first one → second ones."""
    objections: tuple[str, ...]
    """What is said of each target that is not possible; `{0}` and `{1}` are the targets."""
    words: str = ""
    """The field with what is said or seen, where a rejection and `/do` are to have it."""
    typed: str
    """What it is called after `/do`; empty where that is its verb."""
    category: Category
    mark: str
    """Of its lines in views: one cell."""

    @property
    def name(self) -> str:
        """Returns the name of the kind, such as `MOVE`."""
        return self.event.kind

    @property
    def slots(self) -> frozenset[str]:
        """Returns the names that its words may have in braces."""
        return frozenset({*(SLOTS[one] for one in self.targets if one in SLOTS), self.words, "why"})

    @property
    def fields(self) -> frozenset[str]:
        """Returns the fields of the action's class."""
        return frozenset(one.name for one in fields(self.action))

    def offered(self, one: Standing) -> Mapping[str, tuple[str, ...]]:
        """Returns its possible targets: first target → second targets, none if it takes only one."""
        found = self.possible(one)
        return dict.fromkeys(found, ()) if isinstance(found, tuple) else found

    def proposed(self, action: A) -> Proposed:
        """Returns an action of this kind as the `act` tool words it."""
        named = (*self.targets, self.words) if self.words else self.targets
        return Proposed(kind=self.name, **{name: getattr(action, name) for name in named})


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
    attempt: AttemptResult | None = None
    """Of an INTERACT."""
    carried: Mapping[str, ThingState] = field(default_factory=dict[str, ThingState])
    """Of a MOVE: the objects that go along."""
    hands: Mapping[str, str] = field(default_factory=dict[str, str])
    """Object → who has it from now on, or the area where it lies; of several who want it the last in order of ids."""

    @property
    def seen(self) -> bool:
        """Tells whether others notice the action itself: they do not notice a rejected one."""
        return self.event.type != "ACTION_REJECTED"


@dataclass(frozen=True, slots=True)
class Actor:
    """One character with its action, where and when it acts."""

    setting: TickSetting
    scene: AreaScene
    me: str
    body: Body
    action: Action
    kind: ActionKind[Any]

    @property
    def home(self) -> str:
        """Returns its home; where it is now if it has none."""
        return self.setting.rules.homes.get(self.me, self.scene.area)

    @property
    def closed(self) -> frozenset[str]:
        """Returns the ways that are closed to it."""
        return self.setting.duties.closed(self.scene.area, self.home, self.setting.closed)

    @property
    def doing(self) -> str:
        """Returns what others see while it acts."""
        name = self.setting.geography.name
        names = {SLOTS[one]: name(getattr(self.action, one)) for one in self.kind.targets if one in SLOTS}
        return action_words(self.setting.rules.language, self.kind.name, "doing", **names)

    def say(self, phrase: Phrase, node_id: str) -> str:
        return say(self.setting.rules.language, phrase, name=self.setting.geography.name(node_id))

    def event(self, body: EventBody) -> Event:
        """Returns the action's event."""
        return Event(self.setting.tick, Phase.ACTION, self.me, 0, self.scene.area, body)

    def idled(self, doing: str, asleep: bool = False) -> Event:
        """Returns the event of staying."""
        because = self.action.because
        return self.event(Idled(doing=doing, asleep=asleep, emoji=self.action.emoji, because=because))

    def stays(self, doing: str, asleep: bool = False) -> Body:
        """Returns the body where it is, with any walk stopped; an announced departure is kept until its time comes."""
        body = self.body
        departs = body.departs if self.setting.tick < body.departs else 0
        after = Body(body.area, body.area, doing, self.action.emoji, asleep, "", departs)
        return body if after == body else after

    def rejected(self, why: str, doing: str = "") -> Deed:
        """Returns a deed that changes nothing, except that a walk stops."""
        body = self.body
        event = self.event(ActionRejected(proposed=self.kind.proposed(self.action), why=why))
        stays = self.stays(doing or ("" if body.goal else body.doing), body.asleep)
        return Deed(self.me, event, stays if stays is body else replace(stays, emoji=body.emoji))


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle(Action):
    """Stay and do what needs no object's change. `doing` is what others see; an asleep character notices nothing."""

    doing: str
    asleep: bool = False


def stay(one: Actor, action: Idle) -> Deed:
    """Returns a deed that changes only what the character is doing."""
    return Deed(one.me, one.idled(action.doing, action.asleep), one.stays(action.doing, action.asleep), action)
