"""`panel_turn`: a persona's turn in a cycle over a seed prompt."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Recalled, Spoken, Value, Who
from commonplace.minds.prompts.telling import speech
from commonplace.minds.tasks.duet_turn import LOST_THREAD
from commonplace.minds.tasks.scenes import Values, View, spoken_lines
from commonplace.minds.tasks.wire import Cited, WireValue, citing_recalled, spoken

LONGEST_STATEMENT = 2000


class PanelInput(Value):
    who: Who
    role: str
    seed_prompt: str
    depth: int
    """1, 2, 3 …"""
    step: int
    """Place in the cycle, from 1."""
    lines: tuple[Spoken, ...] = ()
    """The answers so far, oldest first."""
    recalled: tuple[Recalled, ...] = ()
    """At most two of the persona's own earlier answers."""


class PanelOutput(WireValue):
    because: Cited = ()
    answer: Annotated[str, spoken(LONGEST_STATEMENT, needed=True)] = Field(min_length=1, max_length=LONGEST_STATEMENT)


def _scene(inputs: PanelInput, view: View) -> Values:
    return {
        "memories": view.memories(inputs),
        "lines": spoken_lines(inputs.lines),
        "question": speech(inputs.seed_prompt),
    }


PANEL_TURN = Task(
    "panel_turn",
    PanelInput,
    PanelOutput,
    lambda inputs: PanelOutput(answer=LOST_THREAD.get(inputs.who.language, LOST_THREAD["en"])),
    max_tokens=500,
    temperature=0.9,
    scene=_scene,
    offers=citing_recalled,
    free_text="answer",
)
