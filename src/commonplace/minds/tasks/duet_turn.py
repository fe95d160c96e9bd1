"""`duet_turn`: the next line of a dialogue on a stage for two."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Person, Recalled, Spoken, Value, Who
from commonplace.minds.prompts.speech_guard import LONGEST_LINE
from commonplace.minds.tasks.scenes import Values, View, said_before, spoken_lines
from commonplace.minds.tasks.wire import Cited, Unasked, WireValue, citing_recalled, spoken, words

LOST_THREAD = {"en": "(lost the thread for a moment …)", "ko": "(잠시 생각이 끊겼다…)"}
"""Shown in place of a turn that has no usable answer."""
LONGEST_PLAN = 200


class DuetInput(Value):
    who: Who
    other: Person
    goal: str
    setting: str
    lines: tuple[Spoken, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    said: tuple[str, ...] = ()


class DuetOutput(WireValue):
    because: Cited = ()
    plan: Annotated[str, words(LONGEST_PLAN)] = Field(default="", max_length=LONGEST_PLAN)
    utterance: Annotated[str, spoken(needed=True)] = Field(
        max_length=LONGEST_LINE, validation_alias="say", serialization_alias="say"
    )
    speech_act: Annotated[str, words(20), Unasked] = ""
    """As in `ConverseOutput`."""
    topic: Annotated[str, words(60), Unasked] = ""


def _scene(inputs: DuetInput, view: View) -> Values:
    return {
        "memories": view.memories(inputs),
        "lines": spoken_lines(inputs.lines),
        "said": said_before(inputs.said, inputs.lines),
    }


DUET_TURN = Task(
    "duet_turn",
    DuetInput,
    DuetOutput,
    lambda inputs: DuetOutput(plan="", utterance=LOST_THREAD.get(inputs.who.language, LOST_THREAD["en"])),
    max_tokens=200,
    temperature=0.9,
    scene=_scene,
    offers=citing_recalled,
    free_text="say",
)
