"""`answer`: an interview; a person asks a character something."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.languages import phrases
from commonplace.minds.mind import Task, words_in
from commonplace.minds.notes import (
    NO_PAST,
    FactNote,
    Given,
    GoalNote,
    ItemNote,
    Past,
    Person,
    Recalled,
    Situation,
    Spoken,
    Spot,
    Who,
    always,
)
from commonplace.minds.prompts.teller import plain, speech
from commonplace.minds.question import ParsedQuestion
from commonplace.minds.tasks.scenes import PromptView, Values, goal_values, lately_values, not_present, spoken_lines
from commonplace.minds.tasks.wire import Cited, WireValue, spoken
from commonplace.text import shortened
from commonplace.world.happenings import Planned

LONGEST_ANSWER = 1000
ANSWERING = 12
"""Memories shown that were recalled for the question."""
DAY_SHOWN = 12
"""Memories shown of the day it is about: those that weigh most, in order of time."""
MOST_LINES = 8
"""Lines of the talk that are shown."""
MOST_KNOWN = 12
"""Acquaintances that are shown; those the question names come first."""


class Acquaintance(Person):
    """Somebody the character has met or has always known, and what its view of them rests on."""

    because: tuple[int, ...] = always(())
    """Memories the summary rests on."""
    known_minutes: int = always(-1)
    """Since they first met; −1 for somebody known from before."""
    housemate: bool = always(False)
    """Whether both have the same home."""


class ThingKnown(Given):
    """An object the question names, as the character last saw it."""

    name: str
    words: str
    """What its state is called: `is broken`."""
    place_name: str = ""
    """Of the area it is believed to be in; empty where it is carried."""


class Earlier(Given):
    """An answer given before to the same question, in these words or others."""

    question: str
    answer: str
    because: tuple[int, ...] = ()
    received: str = ""
    """`well`, `badly`, or empty where nobody said."""


class AnswerInput(Given):
    """A question a person asks a character, and what the character may answer from."""

    who: Who
    situation: Situation
    question: str
    asked: ParsedQuestion = ParsedQuestion()
    """The question as rules understand it: whom, where and when it is about."""
    recalled: tuple[Recalled, ...] = ()
    """Best first."""
    lines: tuple[Spoken, ...] = ()
    """The talk so far, oldest first; the person's lines have the speaker `-`."""
    doing: str = ""
    """What one is seen doing now."""
    known: tuple[Acquaintance, ...] = ()
    """Nearest first."""
    others: tuple[Person, ...] = ()
    """Those the question names that the character does not know: their names alone."""
    facts: tuple[FactNote, ...] = ()
    """What is known of the news that the recalled memories carry."""
    now: ItemNote | None = None
    done: tuple[ItemNote, ...] = ()
    """Strokes of today's plan that are over, and the one under way."""
    later: tuple[ItemNote, ...] = ()
    """Strokes of today's plan to come."""
    usual: tuple[ItemNote, ...] = ()
    """The strokes of a usual day."""
    day: tuple[Recalled, ...] = ()
    """What one did, said, heard and saw on the day the question is about, else today and yesterday; oldest first."""
    thoughts: tuple[Recalled, ...] = ()
    """Conclusions, latest first."""
    places: tuple[Spot, ...] = ()
    """The areas one knows."""
    town: str = ""
    """The area that all others are in."""
    things: tuple[ThingKnown, ...] = ()
    """The objects the question names whose state one knows."""
    mood: int = 0
    """−100 … 100: how the latest felt memories felt on average."""
    before: Earlier | None = None
    past: Past = NO_PAST
    """What one knows of one's own past, and of that with those the question names."""
    goals: tuple[GoalNote, ...] = ()
    """What one means to do."""


class AnswerOutput(WireValue):
    because: Cited = ()
    answer: Annotated[str, spoken(LONGEST_ANSWER, needed=True)] = Field(min_length=1, max_length=LONGEST_ANSWER)


def _scene(inputs: AnswerInput, view: PromptView) -> Values:
    teller, before = view.teller(inputs), inputs.before
    recalled = view.best(teller.memories(not_present((*inputs.recalled, *inputs.thoughts[:2]), inputs)), ANSWERING)
    shown = {told.text for told in recalled}
    # plans are shown as such
    lived = (note for note in not_present(inputs.day, inputs) if not isinstance(note.happening, Planned))
    weighty = sorted(lived, key=lambda note: (-note.importance, note.minutes_ago))[: DAY_SHOWN - view.drop]
    kept = {note.id for note in weighty}
    day = teller.memories(note for note in inputs.day if note.id in kept)
    return {
        "memories": recalled,
        "day": [told for told in day if told.text not in shown],
        "lines": [
            {**line, "called": line["called"] or phrases(inputs.who.language, "prompts")["asker"]}
            for line in spoken_lines(inputs.lines[-MOST_LINES:])
        ],
        "people": _acquaintances(inputs),
        "goals": goal_values(inputs.goals),
        "past": lately_values(inputs.past, inputs.who.language),
        "done": [_stroke(item) for item in inputs.done[-4:]],
        "later": [_stroke(item) for item in inputs.later[:4]],
        "question": speech(shortened(inputs.question, LONGEST_ANSWER)),
        "before": before and {"answer": speech(before.answer), "received": before.received},
    }


def _acquaintances(inputs: AnswerInput) -> list[Values]:
    """Returns the people the question is about with what is thought of them, and the others by name."""
    asked = set(inputs.asked.people)
    named = sorted(inputs.known, key=lambda one: one.id not in asked)[:MOST_KNOWN]
    return [
        {"called": plain(one.called), "label": plain(one.label), "warmth": one.warmth, "talks": one.talks,
         "summary": plain(one.summary) if one.id in asked else ""}
        for one in named
    ]  # fmt: skip


def _stroke(item: ItemNote) -> Values:
    return {"start": item.start, "do": plain(item.do), "place": plain(item.location_name)}


ANSWER = Task(
    "answer",
    AnswerInput,
    AnswerOutput,
    lambda inputs: AnswerOutput(answer=phrases(inputs.who.language, "lines")["no_answer"]),
    max_tokens=400,
    temperature=0.7,
    scene=_scene,
    free_text="answer",
    aloud=lambda _, written: words_in(written, "answer"),
)
