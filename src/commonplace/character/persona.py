"""Who a character is: written in the scenario; an input may change a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from commonplace.languages import DEFAULT


@dataclass(frozen=True, slots=True)
class RoutineStep:
    """A 5–15-minute action of a routine: what one is seen doing, with the object and verb it may need."""

    do: str
    object_id: str = ""
    verb: str = ""
    emoji: str = ""


@dataclass(frozen=True, slots=True)
class RoutinePhase:
    """An hour-sized part of a routine item."""

    do: str
    steps: tuple[RoutineStep, ...] = ()


@dataclass(frozen=True, slots=True)
class RoutineItem:
    """A broad stroke of a usual day. `at` is minutes after midnight; it lasts until the next item begins."""

    at: int
    do: str
    place: str
    phases: tuple[RoutinePhase, ...] = ()
    emoji: str = ""
    outdoor: bool = False
    """Would not be done in the rain."""


@dataclass(frozen=True, slots=True, eq=False)
class Persona:
    """A character as written. Ids match `[a-z0-9_-]+`; areas are ids of the scenario's world.

    Compared by identity, so that what is made of it can be cached.
    """

    id: str
    name: str
    called: str
    """The short name others use."""
    age: int
    pronoun: str
    """she, he or they."""
    work: str
    """One noun phrase: `noodle cook`."""
    traits: tuple[str, ...]
    background: str
    goals: tuple[str, ...]
    home: str
    routine: tuple[RoutineItem, ...]
    """In order of `at`; the first begins the waking day, the last is sleep."""
    language: str = DEFAULT
    goals_when: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Conditions under which a goal counts, by its words; goals without any are left out."""

    def changed(self, card: Mapping[str, Any]) -> Persona:
        """Returns the persona with other values of some fields, which are JSON: see `CharacterState.card`."""
        lists = {name: tuple(cast("list[str]", value)) for name, value in card.items() if isinstance(value, list)}
        return replace(self, **{**card, **lists}) if card else self

    @property
    def wakes(self) -> int:
        """Returns when the day's first routine item begins, in minutes after midnight."""
        return self.routine[0].at

    @property
    def sleeps(self) -> int:
        """Returns when the last routine item, sleep, begins, in minutes after midnight."""
        return self.routine[-1].at
