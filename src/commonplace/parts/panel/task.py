"""`panel_turn`: a persona's turn in a cycle over a seed prompt."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, UnsetType
from pydantic import Field

from commonplace.languages import phrases
from commonplace.minds.mind import Task, words_in
from commonplace.minds.notes import Given, Recalled, Spoken, Who
from commonplace.minds.prompts.teller import speech
from commonplace.minds.tasks.scenes import PromptView, Values, spoken_lines
from commonplace.minds.tasks.wire import Cited, WireValue, spoken
from commonplace.parts.duet.tasks import LOST_THREAD
from commonplace.world.happenings import Answered, Happening

LONGEST_STATEMENT = 2000
LONGEST_SHOWN = 600
"""Characters of an answer of this run that are shown."""
LONGEST_EXAMPLE = 200
"""Characters of a past answer that are shown."""


Stance = Literal["claim", "oppose", "join"]
Injection = Literal["", "liven", "calm"]
RhythmPhase = Literal["exploration", "tension", "integration", "rest"]


class PanelInput(Given):
    who: Who
    role: str
    seed_prompt: str
    depth: int
    """1, 2, 3 …"""
    step: int
    """Place in the cycle, from 1."""
    stance: Stance = "claim"
    """What the persona does with the question: states something, speaks against it, or brings both sides together."""
    depths: int = 1
    """How many cycles there are."""
    phase: RhythmPhase = "exploration"
    """Rhythm phase of the panel: `exploration`, `tension`, `integration` or `rest`."""
    injection: Injection = ""
    """What the answer is to be, by the affect of those before it."""
    lines: tuple[Spoken, ...] = ()
    """The answers so far, oldest first."""
    recalled: tuple[Recalled, ...] = ()
    """At most two of the persona's own answers of earlier panels; their happenings hold the question of then."""
    below: tuple[int, ...] = ()
    """Those of them that are not important, shown for want of better ones."""
    rated: float | UnsetType = UNSET
    """Stars on average of the persona's earlier answers, 1–5, where it is to answer differently."""
    remarks: tuple[str, ...] = ()
    """What was said to the panel from outside since the persona answered last."""


class PanelOutput(WireValue):
    because: Cited = ()
    answer: Annotated[str, spoken(LONGEST_STATEMENT, needed=True)] = Field(min_length=1, max_length=LONGEST_STATEMENT)


def _scene(inputs: PanelInput, view: PromptView) -> Values:
    return {
        "lines": spoken_lines(inputs.lines, LONGEST_SHOWN),
        "question": speech(inputs.seed_prompt),
        "examples": _examples(inputs, view),
        "remarks": [speech(remark) for remark in inputs.remarks],
    }


def _examples(inputs: PanelInput, view: PromptView) -> list[Values]:
    """Returns the past answers, each with the question it was given to."""
    asked = {note.id: speech(asked_of(note.happening)) for note in inputs.recalled}
    told = view.teller(inputs).memories(inputs.recalled, LONGEST_EXAMPLE)
    return [{"id": one.id, "asked": asked[one.id], "text": one.text} for one in told]


def asked_of(answered: Happening) -> str:
    """Returns the question that an answer of an earlier panel was given to."""
    return answered.asked if isinstance(answered, Answered) else ""


PANEL_TURN = Task(
    "panel_turn",
    PanelInput,
    PanelOutput,
    lambda inputs: PanelOutput(answer=phrases(inputs.who.language, "lines")[LOST_THREAD]),
    max_tokens=900,
    temperature=0.9,
    scene=_scene,
    free_text="answer",
    aloud=lambda _, written: words_in(written, "answer"),
)
