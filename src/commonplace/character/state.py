"""Everything about a character that changes, besides its memories: a value, replaced at each commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace.character.belief import Belief
from commonplace.character.plan import Plan
from commonplace.character.relation import Relation


@dataclass(frozen=True, slots=True)
class Job:
    """Deferred cognition: asked on the snapshot of tick `asked_at`, delivered before perceiving at tick `due`."""

    kind: str
    """`plan_day`, `reflect` or `relate`."""
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
    reflect_after: int = 0
    """After a failed reflection: the first tick at which another may be asked for."""
    played: bool = False
    """Whether a person decides for it."""
