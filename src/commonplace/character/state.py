"""Everything about a character that changes, besides its memories: a value, replaced at each commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commonplace.character.account import Account
from commonplace.character.goal import Goals
from commonplace.character.plan import Plan

WARMTH = (-100, 100)
"""From hatred to love; 0 is a stranger or indifference."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How one character sees another, built from memories it can cite."""

    other: str
    label: str = ""
    """What they are to each other: `neighbour`, `old friend`, `rival`; empty for somebody merely met."""
    warmth: int = 0
    known_since: int = 0
    """Tick of the first meeting; 0 for somebody known from before."""
    last_talk: int = -1
    """Tick of the last line exchanged; −1 for never in this run."""
    talks: int = 0
    """Conversations had in this run."""
    summary: str = ""
    because: tuple[int, ...] = ()
    """Ids of the memories the view rests on."""
    shared: tuple[str, ...] = ()
    """Ids of seed facts the two have heard in one another's presence."""
    weighed: int = -1
    """Tick up to which the talks had are part of the summary; −1 for never."""


AREA = "open"
"""State of an area's entry."""
UNKNOWN = ""
"""Parent of an object that was not where it was believed to be."""


@dataclass(frozen=True, slots=True)
class KnownNode:
    """One node as last seen: its parent and state then, and the tick. See `Belief.last_seen`."""

    parent: str
    state: str
    seen: int


@dataclass(frozen=True, slots=True)
class Belief:
    """What a character knows of the world: known nodes by id, each as last seen. It may be stale."""

    nodes: Mapping[str, KnownNode] = field(default_factory=dict[str, KnownNode])
    closed: frozenset[tuple[str, str]] = frozenset()
    """Ways (area, neighbour) last seen closed."""

    def knows(self, node_id: str) -> bool:
        """Tells whether the node is in the belief view."""
        return node_id in self.nodes

    def place_of(self, node_id: str) -> str:
        """Returns where a node is believed to be; empty if unknown."""
        known = self.nodes.get(node_id)
        return known.parent if known else UNKNOWN

    def last_seen(self, node_id: str) -> int:
        """Returns the tick at which a node was last seen; an object also counts as seen with its area. −1 for an
        unknown node."""
        known = self.nodes.get(node_id)
        if known is None:
            return -1
        around = self.nodes.get(known.parent)
        return known.seen if around is None or known.state == AREA else max(known.seen, around.seen)

    def updated(self, changes: Mapping[str, KnownNode], closed: frozenset[tuple[str, str]] | None = None) -> Belief:
        """Returns the belief with these nodes as just seen; itself if nothing changes."""
        if not changes and closed is None:
            return self
        fresh = {node: known for node, known in changes.items() if self.nodes.get(node) != known}
        now_closed = self.closed if closed is None else closed
        if not fresh and now_closed == self.closed:
            return self
        return Belief({**self.nodes, **fresh}, now_closed)


@dataclass(frozen=True, slots=True)
class Job:
    """Deferred cognition: asked on the snapshot of tick `asked_at`, delivered before perceiving at tick `due`."""

    kind: str
    """A key of `JOBS` in `cognition/deferred.py`: `plan_day`, `reflect` or `relate`."""
    asked_at: int
    due: int
    about: str = ""
    """The day of a plan, the acquaintance of a `relate`."""
    number: int = 0
    """Counts the jobs a character asks for in one tick; gives their questions ordinals of their own."""


@dataclass(frozen=True, slots=True)
class CharacterState:
    """Plan, beliefs, relations and pending jobs at the end of a tick."""

    plan: Plan = field(default_factory=Plan)
    belief: Belief = field(default_factory=Belief)
    relations: Mapping[str, Relation] = field(default_factory=dict[str, Relation])
    jobs: tuple[Job, ...] = ()
    reflected: int = 0
    """The tick at which it last reflected, whatever that yielded; 0 if it never did."""
    played: bool = False
    """Whether a person decides for it."""
    mood: str = ""
    """How it feels, in a word or a few, on a stage that keeps it; empty elsewhere, and where nothing was felt yet."""
    weighed: Mapping[str, int] = field(default_factory=dict[str, int])
    """Importance by the hash of a sentence, where a mind has corrected the rules for one that may not be remembered."""
    said: Mapping[str, str] = field(default_factory=dict[str, str])
    """Its own lines by tick (six digits), on a stage that does not remember every line; sorted."""
    card: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What an input has changed of its persona: field → value as JSON; sorted."""
    account: Account = field(default_factory=Account)
    """What it knows of its own past."""
    goals: Goals = field(default_factory=Goals)
    """What it means to do, and what has become of it."""
