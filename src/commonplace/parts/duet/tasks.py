"""The questions of a dialogue on a stage for two: `duet_plan`, `duet_turn` and `duet_reflect`.

A turn is one question, `duet_turn`, or two: first what to do (`duet_plan`), then the words for it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.languages import phrases
from commonplace.minds.mind import Task, words_in
from commonplace.minds.notes import Given, Person, Recalled, Spoken, Who
from commonplace.minds.prompts.speech_guard import LONGEST_LINE, first_sentences
from commonplace.minds.prompts.teller import plain
from commonplace.minds.tasks.scenes import PromptView, Values, said_before, spoken_lines
from commonplace.minds.tasks.wire import Cited, Unasked, WireValue, noted, seen, spoken

LOST_THREAD = "lost_thread"
"""The phrase shown in place of a turn that has no usable answer."""
LONGEST_PLAN = 200
LONGEST_SAID = 240
"""Characters of a line: no monologues."""
LONGEST_REFLECTION = 300
LONGEST_MOOD = 40
SENTENCES = 2
"""Sentences of a line that are kept of what a model writes."""


class DuetInput(Given):
    who: Who
    other: Person
    goal: str
    setting: str
    lines: tuple[Spoken, ...] = ()
    """The latest of the dialogue, oldest first."""
    recalled: tuple[Recalled, ...] = ()
    untold: tuple[Recalled, ...] = ()
    """What it has not told the other yet, the most important first: a subject when there is none."""
    said: tuple[str, ...] = ()
    """All that the character has said in the dialogue, oldest first."""
    heard: tuple[str, ...] = ()
    """All that the other has said in it, oldest first; a model is shown only the latest lines."""
    news: tuple[str, ...] = ()
    """What has just happened, from outside the dialogue."""
    reflection: str = ""
    """Its latest."""
    mood: str = ""
    plan: str = ""
    """What it means to do with its next line, where that was asked before the words."""


class DuetOutput(WireValue):
    because: Cited = ()
    plan: Annotated[str, seen(LONGEST_PLAN)] = Field(default="", max_length=LONGEST_PLAN)
    utterance: Annotated[str, spoken(LONGEST_SAID, needed=True, sentences=SENTENCES)] = Field(
        max_length=LONGEST_LINE, validation_alias="say", serialization_alias="say"
    )
    mood: Annotated[str, seen(LONGEST_MOOD)] = Field(default="", max_length=LONGEST_MOOD)
    """How the character feels now, in a word or a few; empty leaves it to the words of the dialogue."""
    speech_act: Annotated[str, noted(20), Unasked] = ""
    """As in `ConverseOutput`."""
    topic: Annotated[str, noted(60), Unasked] = ""


class DuetPlan(WireValue):
    plan: Annotated[str, seen(LONGEST_PLAN)] = Field(default="", max_length=LONGEST_PLAN)


class DuetReflectInput(Given):
    who: Who
    other: Person
    goal: str
    lines: tuple[Spoken, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    earlier: tuple[str, ...] = ()
    """Texts of its latest reflections, not to be restated."""
    mood: str = ""


class DuetReflection(WireValue):
    because: Cited = ()
    text: Annotated[str, spoken(LONGEST_REFLECTION)] = Field(default="", max_length=LONGEST_REFLECTION)
    """One to three sentences in the first person; empty for none."""
    mood: Annotated[str, seen(LONGEST_MOOD)] = Field(default="", max_length=LONGEST_MOOD)


def _scene(inputs: DuetInput, view: PromptView) -> Values:
    shown = {note.id for note in inputs.recalled}
    return {
        "memories": view.memories(inputs),
        "untold": view.teller(inputs).memories(note for note in inputs.untold if note.id not in shown),
        "lines": spoken_lines(inputs.lines),
        "said": said_before(inputs.said, inputs.lines),
    }


def _reflection_scene(inputs: DuetReflectInput, view: PromptView) -> Values:
    return {
        "memories": view.memories(inputs),
        "lines": spoken_lines(inputs.lines),
        "earlier": [plain(text) for text in inputs.earlier],
    }


DUET_TURN = Task(
    "duet_turn",
    DuetInput,
    DuetOutput,
    lambda inputs: DuetOutput(plan="", utterance=phrases(inputs.who.language, "lines")[LOST_THREAD]),
    max_tokens=300,
    temperature=0.9,
    scene=_scene,
    free_text="say",
    aloud=lambda _, written: first_sentences(words_in(written, "say"), SENTENCES),
)
DUET_PLAN = Task(
    "duet_plan",
    DuetInput,
    DuetPlan,
    lambda _: DuetPlan(),
    max_tokens=150,
    temperature=0.7,
    scene=_scene,
    free_text="plan",
)
DUET_REFLECT = Task(
    "duet_reflect",
    DuetReflectInput,
    DuetReflection,
    lambda _: DuetReflection(),
    max_tokens=300,
    temperature=0.5,
    scene=_reflection_scene,
    free_text="text",
)
