"""One thing noticed, worded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from commonplace.cognition.turn import TurnView

FIRST, PEOPLE, THINGS, AMBIENT = range(4)
"""What is noticed first."""
ASLEEP = "asleep"
"""How the belief view has somebody who sleeps."""


@dataclass(frozen=True, slots=True)
class Percept:
    """One thing noticed."""

    kind: str
    """The `kind` of `minds.tasks.News`."""
    text: str
    frame: Mapping[str, str]
    subject: str
    """Id of the character, object or `-` it is about."""
    rank: int
    """FIRST … AMBIENT: lower is noticed first."""
    event: str = ""
    to_me: bool = False
    own: bool = False
    """The outcome of one's own action: always taken in, and remembered as an action."""
    always_new: bool = False
    """Speech and inputs: never dropped as already remembered."""
    passing: bool = False
    """Remembered, but no reason to react: somebody who is here anyway turns to something else."""


def name_of(view: TurnView, node: str) -> str:
    """The name of an area, object or character."""
    return view.scenario.geography.name(node)
