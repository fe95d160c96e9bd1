"""Reflection: `questions` that recent memories raise, the `insights` that answer them with citations, and after a talk
`relate`, the view of an acquaintance.

Questions and insights are answered in one form. So the prompt of the insights, which goes on from that of the
questions, begins with the whole of it for a server that places the form before the messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, cast

from pydantic import Field, ValidationInfo, field_validator

from commonplace.minds.mind import Ask, Task
from commonplace.minds.notes import NO_PAST, Given, Past, Person, Recalled, Situation, Spoken, Value, Who
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.teller import ToldMemory, plain
from commonplace.minds.tasks.offers import Offers, people
from commonplace.minds.tasks.scenes import LATEST_LINES, PromptView, Values, not_present, spoken_lines, unsaid
from commonplace.minds.tasks.wire import (
    AnswerModel,
    Cited,
    Context,
    Rule,
    Unasked,
    WireValue,
    choice,
    several,
    spoken,
    texts,
    whole,
)

QUESTIONS_ASKED, INSIGHTS_ASKED = 3, 5
LONGEST_QUESTION, LONGEST_INSIGHT = 200, 400
FRAME_KEYS = ("kind", "place", "say", "topic", "wish", "you")
"""What rules note beside an insight for their later words."""
MOST_EARLIER = 3
"""Earlier reflections shown so that they are not thought again."""
LONGEST_THOUGHT = 100
"""Characters of an earlier reflection."""
LONGEST_EVIDENCE = 160
"""Characters of a memory that is evidence and was not listed before."""


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


class QuestionsInput(Given):
    who: Who
    situation: Situation
    recent: tuple[Recalled, ...]
    """The latest memories, oldest first, at most 100."""


class QuestionsOutput(Value):
    questions: tuple[str, ...] = Field(max_length=QUESTIONS_ASKED)


Shown = list[tuple[ToldMemory, Recalled]]


def _listed(inputs: QuestionsInput | InsightsInput, view: PromptView) -> Shown:
    """Returns all memories, oldest first; `drop` leaves out the oldest. Of several that say the same, only the most
    important is shown."""
    teller = view.teller(inputs)
    shown: dict[str, tuple[ToldMemory, Recalled]] = {}
    for note in sorted(inputs.recent[view.drop :], key=lambda note: (-note.importance, note.minutes_ago, note.id)):
        told = teller.memory(note)
        shown.setdefault(told.text, (told, note))
    return sorted(shown.values(), key=lambda pair: pair[1].id)


def _by_hour(shown: Shown) -> list[Values]:
    """Returns memories by the hour they are from."""
    hours: dict[str, list[ToldMemory]] = {}
    for told, _ in shown:
        hours.setdefault(told.when[:-3], []).append(told)
    return [{"when": when, "memories": memories} for when, memories in hours.items()]


def _questions_scene(inputs: QuestionsInput, view: PromptView) -> Values:
    listed = _listed(inputs, view)
    return {"hours": _by_hour(listed), "memories": [told for told, _ in listed]}


# ── insights ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Evidence(Given):
    question: str
    recalled: tuple[Recalled, ...]


class InsightsInput(Given):
    who: Who
    situation: Situation
    evidence: tuple[Evidence, ...]
    recent: tuple[Recalled, ...] = ()
    """The memories the questions were asked of: a server has read them a moment ago."""
    earlier: tuple[str, ...] = ()
    """Texts of the latest reflections, not to be restated."""
    known: tuple[Person, ...] = ()
    """Acquaintances, nearest first."""
    past: Past = NO_PAST
    """What was done, attended, promised and spoken of lately."""
    most: int = 5
    """Insights wanted; 1 for a reflection on a talk, of one to three sentences."""


def _frame(value: object, context: Context) -> dict[str, str]:
    noted = cast(dict[str, object], value) if isinstance(value, dict) else {}
    read = spoken(LONGEST_INSIGHT).read  # some of it is said, or becomes what a character means to do
    return {key: words for key in FRAME_KEYS if (words := read(str(noted.get(key, "")), context))}


class Insight(WireValue):
    text: Annotated[str, spoken(LONGEST_INSIGHT, needed=True)] = Field(min_length=1, max_length=LONGEST_INSIGHT)
    because: Cited = ()
    importance: Annotated[int, whole(0, 10, missing=0)] = Field(default=0, ge=0, le=10)
    """1–10; 0: it is rated like any memory."""
    about: Annotated[str, choice("people", free=True)] = ""
    """A character id or a subject word."""
    frame: Annotated[Mapping[str, str], Rule(_frame), Unasked] = Field(default_factory=dict)


class InsightsOutput(Value):
    insights: tuple[Insight, ...] = Field(max_length=INSIGHTS_ASKED)


def _insights_scene(inputs: InsightsInput, view: PromptView) -> Values:
    """Returns the evidence by question; only memories that have not been listed are told in words."""
    teller = view.teller(inputs)
    listed = {told.id for told, _ in _listed(inputs, view)}
    evidence: list[dict[str, Any]] = []
    for entry in inputs.evidence:
        new = [note for note in entry.recalled if note.id not in listed]
        listed |= {note.id for note in new}
        evidence.append(
            {
                "question": plain(entry.question),
                "ids": [note.id for note in entry.recalled if note not in new],
                "new": [teller.memory(note, LONGEST_EVIDENCE) for note in new],
            }
        )
    return {
        "evidence": evidence,
        "earlier": [teller.bare(text, LONGEST_THOUGHT) for text in inputs.earlier[:MOST_EARLIER]],
        "memories": [note for entry in evidence for note in entry["new"]],
    }


# ── the form of both ─────────────────────────────────────────────────────────────────────────────────────────────────


def _asked(of: type[Given]) -> Rule:
    """Returns the rule of a list that is read only if it is asked for, else null."""

    def read(value: object, context: Context) -> object:
        if not isinstance(context.inputs, of):
            return None
        if value is None:
            raise Unusable("must be a list", "schema")
        return value

    return Rule(read)


Questions = Annotated[tuple[str, ...], texts(LONGEST_QUESTION, QUESTIONS_ASKED, needed=True, guarded=True)]
Insights = Annotated[tuple[Insight, ...], several(0, INSIGHTS_ASKED)]


class ReflectionAnswer(AnswerModel):
    """What is not asked for is null; a value given there is ignored."""

    questions: Annotated[Questions | None, _asked(QuestionsInput)] = Field(default=None, validate_default=True)
    insights: Annotated[Insights | None, _asked(InsightsInput)] = Field(default=None, validate_default=True)

    @field_validator("insights")
    @classmethod
    def _drop_what_cites_nothing(
        cls, insights: tuple[Insight, ...] | None, info: ValidationInfo
    ) -> tuple[Insight, ...] | None:
        """Drops conclusions that cite none of the memories that the model was shown."""
        if info.context is None or insights is None:
            return insights
        resting = tuple(one for one in insights if one.because)
        info.context.note("dropped", len(insights) - len(resting))
        return resting

    def output(self, inputs: QuestionsInput | InsightsInput) -> QuestionsOutput | InsightsOutput:
        if isinstance(inputs, QuestionsInput):
            return QuestionsOutput(questions=self.questions or ())
        return InsightsOutput(insights=self.insights or ())

    @classmethod
    def of(cls, inputs: QuestionsInput | InsightsInput, value: QuestionsOutput | InsightsOutput) -> Self:
        return cls(questions=value.questions) if isinstance(value, QuestionsOutput) else cls(insights=value.insights)


QUESTIONS = Task(
    "questions",
    QuestionsInput,
    QuestionsOutput,
    lambda _: QuestionsOutput(questions=()),
    max_tokens=250,
    temperature=0.5,
    scene=_questions_scene,
    answer=ReflectionAnswer,
)


def questions_of(inputs: InsightsInput) -> tuple[Ask[QuestionsInput, QuestionsOutput], QuestionsOutput]:
    """Returns the question whose conversation the insights continue, and its answer."""
    asked = Ask(QUESTIONS, QuestionsInput(who=inputs.who, situation=inputs.situation, recent=inputs.recent))
    return asked, QuestionsOutput(questions=tuple(plain(entry.question) for entry in inputs.evidence))


INSIGHTS = Task(
    "insights",
    InsightsInput,
    InsightsOutput,
    lambda _: InsightsOutput(insights=()),
    max_tokens=800,
    temperature=0.5,
    scene=_insights_scene,
    offers=lambda inputs: Offers(people=people((*inputs.known, *inputs.situation.people))),
    answer=ReflectionAnswer,
)


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
