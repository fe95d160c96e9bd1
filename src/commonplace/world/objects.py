"""Objects as state machines: what a verb does to a state, and how a state reads."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.world.actions import VERBS
from commonplace.world.tree import ObjectKind

ANY = "*"
"""In a transition or a refusal: whatever the state."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a verb tried on an object."""

    done: bool
    target: str = ""
    """The state it writes; empty when it leaves the state alone (a refusal, or taking a portable object)."""
    seen: str = ""
    """What the room notices; may be empty."""
    why: str = ""
    """Of a refusal: the kind's own text, empty when it has none."""
    also: tuple[tuple[str, str], ...] = ()
    """(object, state) it writes besides."""


def attempt(kind: ObjectKind, state: str, verb: str) -> Attempt:
    """Try the verb. An exact rule comes before one for any state, a transition before a refusal of the same rank."""
    for source in (state, ANY):
        for transition in kind.transitions:
            if transition.verb == verb and transition.source == source:
                return Attempt(True, transition.target, transition.seen, "", transition.also)
        if (verb, source) in kind.refusals:
            return Attempt(False, why=kind.refusals[verb, source])
    return Attempt(kind.portable and verb in ("TAKE", "DROP"))


def verbs(kind: ObjectKind) -> tuple[str, ...]:
    """The verbs the kind knows, refused ones included, in the order of `VERBS`; not the TAKE and DROP of portables."""
    known = {transition.verb for transition in kind.transitions} | {verb for verb, _ in kind.refusals}
    return tuple(verb for verb in VERBS if verb in known)


def words(kind: ObjectKind, state: str) -> str:
    """How the state reads after the object's name: `is broken`. Without words of its own: `is <state>`."""
    return kind.words.get(state, f"is {state.replace('_', ' ')}")
