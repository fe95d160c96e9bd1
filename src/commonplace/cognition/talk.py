"""The talk a character is in, and what it has said before."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from commonplace.clock import midnight
from commonplace.cognition.remember import ACTION
from commonplace.cognition.turn import TurnView
from commonplace.minds.notes import Spoken
from commonplace.world.state import Conversation


def my_talk(view: TurnView) -> Conversation | None:
    """The conversation here that I am part of."""
    return next((talk for talk in view.world.conversations if view.persona.id in talk.members), None)


def spoken(view: TurnView) -> tuple[Spoken, ...]:
    """The lines of the talk I am in, oldest first."""
    talk = my_talk(view)
    if talk is None:
        return ()
    personas = view.scenario.personas
    return tuple(
        Spoken(speaker=line.speaker, called=personas[line.speaker].called, text=line.utterance)
        for line in talk.lines[-12:]
    )


def has_floor(view: TurnView) -> bool:
    """Whether the last line of my talk was addressed to me."""
    talk = my_talk(view)
    return talk is not None and talk.floor == view.persona.id


def said_today(view: TurnView, hearer: str) -> tuple[str, ...]:
    """What I have said to this hearer since midnight, oldest first."""
    began = midnight(view.now)
    today = takewhile(lambda memory: memory.created_at >= began, view.draft.backwards())
    mine = (memory.details["frame"] for memory in today if memory.kind == ACTION)
    lines = [frame["quote"] for frame in mine if frame["what"] == "i_said" and frame["to"] == hearer]
    return tuple(reversed(lines))


def said_to(view: TurnView, hearers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """`said_today` for each hearer there is anything to name."""
    return {hearer: said for hearer in hearers if (said := said_today(view, hearer))}
