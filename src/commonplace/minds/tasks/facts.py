"""`facts`: what a few lines say that is worth keeping, as statements that stand alone, and the words that say it."""

from __future__ import annotations

from typing import Annotated

from commonplace.languages import DEFAULT
from commonplace.minds.mind import Task
from commonplace.minds.notes import Given
from commonplace.minds.prompts.teller import speech
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import LONGEST_RAW, WireValue, several, whole
from commonplace.minds.tasks.wire import words as text

LONGEST_FACT = 400
MOST_FACTS = 40
FACT_TOKENS = 80
"""Tokens of one fact with the words that say it."""


class Line(Given):
    """What somebody said or wrote."""

    speaker: str
    """Empty where nobody is named."""
    text: str


class FactsInput(Given):
    lines: tuple[Line, ...]
    before: tuple[Line, ...] = ()
    """What was said before them, by which they are understood."""
    day: str = ""
    """When the lines were said: `Saturday 2031-10-04`."""
    language: str = DEFAULT


class StatedFact(WireValue):
    fact: Annotated[str, text(LONGEST_FACT)]
    line: Annotated[int, whole(1, 10_000)]
    """Which of the lines says it, from 1."""
    words: Annotated[str, text(LONGEST_RAW)]
    """Those of the line that say it."""


class FactsOutput(WireValue):
    facts: Annotated[tuple[StatedFact, ...], several(most=MOST_FACTS)] = ()


def _scene(inputs: FactsInput, view: PromptView) -> Values:
    def told(line: Line) -> str:
        return f"{speech(line.speaker)}: {speech(line.text)}" if line.speaker else speech(line.text)

    return {"said": [told(line) for line in inputs.lines], "earlier_lines": [told(line) for line in inputs.before]}


FACTS = Task(
    "facts",
    FactsInput,
    FactsOutput,
    lambda _: FactsOutput(),
    max_tokens=200,
    temperature=0.0,
    scene=_scene,
    extra_tokens=lambda inputs: FACT_TOKENS * min(MOST_FACTS, 2 * len(inputs.lines)),
)
