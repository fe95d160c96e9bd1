"""What a static world is written in: nodes of a tree, ways between areas, and kinds of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the tree. `type` is `area`, `object` or `agent`; objects are leaves, agents hold objects only."""

    id: str
    name: str
    type: str
    parent_id: str
    """Empty for the root."""
    children: tuple[str, ...] = ()
    outdoor: bool = False
    passage: bool = False
    """An area one only passes through: part of an edge that costs more than one tick."""
    kind: str = ""
    """Of an object: its kind's id."""
    state: str = ""
    """Of an object: its opening state; empty for its kind's initial one."""
    public: bool = True
    """Of an area: whether everybody knows of it from the start."""


@dataclass(frozen=True, slots=True)
class Transition:
    """From a state by a verb to a state.

    `also` sets other objects of the same area, as (object, state); `seen` is what the room notices.
    """

    verb: str
    source: str
    """The state it starts from; `*` for any."""
    target: str
    seen: str = ""
    also: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A state machine. A (verb, state) without a transition is refused with `refusals[verb, state]` or a plain text.

    A refusal's state may be `*` too; what names the state exactly comes before what names any.
    """

    id: str
    states: tuple[str, ...]
    initial: str
    transitions: tuple[Transition, ...] = ()
    refusals: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    portable: bool = False
    """Whether TAKE carries it away and DROP puts it down; both work unless a refusal says otherwise."""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """How a state reads in a sentence (`broken` → `is broken`), by state."""


@dataclass(frozen=True, slots=True)
class Way:
    """An edge between two areas; between a parent and its child it stands for the edge they have anyway."""

    id: str
    a: str
    b: str
    open_hours: tuple[int, int] | None = None
    """Minutes of the day [from, to), 0 … 1440; from after to runs over midnight. None: open all day."""
    closed: bool = False
    """Closed from the start until a scripted event or an input opens it."""
