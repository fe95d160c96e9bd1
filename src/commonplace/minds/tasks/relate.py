"""`relate`: the view of an acquaintance after a talk."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Given, Person, Recalled, Situation, Spoken, Who
from commonplace.minds.tasks.present import not_present
from commonplace.minds.tasks.reflect import LONGEST_EVIDENCE
from commonplace.minds.tasks.scenes import LATEST_LINES, PromptView, Values, spoken_lines, unsaid
from commonplace.minds.tasks.wire import Cited, WireValue, spoken, whole

LONGEST_SUMMARY = 300
RELATING = 1
"""Memories shown in addition to the talk itself."""
LONGEST_TALKED = 100
"""Characters of a line of a talk that is over."""


class RelateInput(Given):
    who: Who
    situation: Situation
    other: Person
    lines: tuple[Spoken, ...]
    recalled: tuple[Recalled, ...] = ()


class RelateOutput(WireValue):
    because: Cited = ()
    warmth_change: Annotated[int, whole(-20, 20)] = Field(
        ge=-20, le=20, validation_alias="warmth", serialization_alias="warmth"
    )
    summary: Annotated[str, spoken(LONGEST_SUMMARY)] = Field(default="", max_length=LONGEST_SUMMARY)


def _scene(inputs: RelateInput, view: PromptView) -> Values:
    """Returns the talk, and memories other than its lines."""
    told = view.teller(inputs).memories(unsaid(not_present(inputs.recalled, inputs), inputs.lines), LONGEST_EVIDENCE)
    return {"memories": view.best(told, RELATING), "lines": spoken_lines(inputs.lines[-LATEST_LINES:], LONGEST_TALKED)}


RELATE = Task(
    "relate",
    RelateInput,
    RelateOutput,
    lambda inputs: RelateOutput(warmth_change=0, summary=inputs.other.summary),
    max_tokens=250,
    temperature=0.3,
    scene=_scene,
)
