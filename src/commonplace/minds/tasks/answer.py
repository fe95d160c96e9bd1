"""`answer`: an interview; a person asks a character something."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Recalled, Situation, Spoken, Value, Who
from commonplace.minds.prompts.telling import speech
from commonplace.minds.tasks.scenes import Values, View, spoken_lines
from commonplace.minds.tasks.wire import Cited, WireValue, citing_recalled, spoken

NO_ANSWER = {"en": "I can't think of it now.", "ko": "지금은 생각이 안 나네요."}
LONGEST_ANSWER = 1000


class AnswerInput(Value):
    """A question a person asks a character."""

    who: Who
    situation: Situation
    question: str
    recalled: tuple[Recalled, ...] = ()
    """Best first."""
    lines: tuple[Spoken, ...] = ()
    """The talk so far, oldest first; the person's lines have the speaker `-`."""


class AnswerOutput(WireValue):
    because: Cited = ()
    answer: Annotated[str, spoken(LONGEST_ANSWER, needed=True)] = Field(min_length=1, max_length=LONGEST_ANSWER)


def _scene(inputs: AnswerInput, view: View) -> Values:
    return {
        "memories": view.memories(inputs),
        "lines": spoken_lines(inputs.lines),
        "question": speech(inputs.question),
    }


ANSWER = Task(
    "answer",
    AnswerInput,
    AnswerOutput,
    lambda inputs: AnswerOutput(answer=NO_ANSWER.get(inputs.who.language, NO_ANSWER["en"])),
    max_tokens=300,
    temperature=0.7,
    scene=_scene,
    offers=citing_recalled,
    free_text="answer",
)
