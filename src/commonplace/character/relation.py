"""How one character sees another."""

from __future__ import annotations

from dataclasses import dataclass

WARMTH = (-100, 100)
"""From hatred to love; 0 is a stranger or indifference."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A view of one acquaintance, built from memories it can cite."""

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
