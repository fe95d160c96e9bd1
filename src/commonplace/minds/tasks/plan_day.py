"""`plan_day`: a day in broad strokes."""

from __future__ import annotations

from itertools import pairwise
from operator import not_
from typing import Annotated, Self

from pydantic import Field, ValidationInfo, field_validator

from commonplace.minds.mind import Task
from commonplace.minds.notes import (
    NO_PAST,
    FactNote,
    Given,
    GoalNote,
    Past,
    Person,
    Recalled,
    Situation,
    So,
    Spot,
    Value,
    Who,
    always,
)
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.teller import plain
from commonplace.minds.tasks.offers import Offers, places
from commonplace.minds.tasks.past_values import goal_values, lately_values
from commonplace.minds.tasks.scenes import PromptView, Values, own_places
from commonplace.minds.tasks.wire import (
    LONGEST_DOING,
    AnswerModel,
    Cited,
    Emoji,
    Time,
    Unasked,
    WireValue,
    choice,
    noted,
    out_of_range,
    phrase,
    several,
    whole,
)

FEWEST, MOST = 5, 8
DAY = 1440
"""Minutes."""
PLANNING = 6
"""Memories shown when planning."""
MOST_ROUTINE = 99


class Stroke(Value):
    """A broad stroke of a day."""

    start: str
    """`HH:MM`; must be later than the one before. The last stroke is sleep and lasts until the next waking."""
    minutes: int = Field(ge=5, le=DAY)
    location: str
    """Area id, one that is known."""
    do: str = Field(min_length=1, max_length=LONGEST_DOING)
    routine: int = -1
    """Index of the routine item it follows; −1 for something else."""
    because: tuple[int, ...] = ()
    asleep: bool = False
    emoji: str = ""
    event: str = Field(default="", exclude_if=not_)
    """What the event it leads to is called, in a word: `the festival`."""


class PlanDayInput(Given, omit_defaults=True):
    who: Who
    situation: Situation
    wakes: str
    routine: tuple[Stroke, ...]
    recalled: tuple[Recalled, ...]
    facts: tuple[FactNote, ...] = always(())
    places: tuple[Spot, ...] = always(())
    yesterday: tuple[str, ...] = always(())
    """What was done the day before, in strokes."""
    known: tuple[Person, ...] = always(())
    """Acquaintances, nearest first."""
    past: Past = always(NO_PAST)
    """What was done, attended and promised lately."""
    goals: tuple[GoalNote, ...] = always(())
    """What the character means to do."""
    so: tuple[So, ...] = ()
    """What the character knows to be so, or to have been so lately."""


class PlanDayOutput(Value):
    strokes: tuple[Stroke, ...] = Field(min_length=FEWEST, max_length=MOST)


class StrokeAnswer(WireValue):
    start: Time
    do: Annotated[str, phrase(LONGEST_DOING, needed=True)]
    place: Annotated[str, choice("places", needed=lambda _: True)]
    usual: Annotated[int, whole(-1, MOST_ROUTINE, missing=-1)] = -1
    emoji: Emoji = ""
    because: Cited = ()
    event: Annotated[str, noted(60), Unasked] = ""

    @field_validator("usual")
    @classmethod
    def _is_in_the_routine(cls, usual: int, info: ValidationInfo) -> int:
        last = len(info.context.inputs.routine) - 1 if info.context else usual
        if usual > last:
            raise out_of_range(-1, last, usual)
        return usual


class PlanDayAnswer(AnswerModel):
    """A stroke lasts until the next begins and the last is sleep, so a model is asked for neither."""

    day: Annotated[tuple[StrokeAnswer, ...], several(FEWEST, MOST)]

    def output(self, inputs: PlanDayInput) -> PlanDayOutput:
        starts = [_minute(stroke.start) for stroke in self.day]
        lengths = [(later - start) % DAY for start, later in pairwise(starts)]
        lengths.append((_minute(inputs.wakes) - starts[-1]) % DAY or DAY)
        if min(lengths) < 5 or sum(lengths[:-1]) >= DAY:
            raise Unusable("each stroke of 'day' must start at least 5 minutes after the one before", "range")
        return PlanDayOutput(
            strokes=tuple(
                Stroke(
                    start=stroke.start,
                    minutes=minutes,
                    location=stroke.place,
                    do=stroke.do,
                    routine=stroke.usual,
                    because=stroke.because,
                    asleep=stroke is self.day[-1],
                    emoji=stroke.emoji,
                    event=stroke.event,
                )
                for stroke, minutes in zip(self.day, lengths, strict=True)
            )
        )

    @classmethod
    def of(cls, inputs: PlanDayInput, value: PlanDayOutput) -> Self:
        return cls(
            day=tuple(
                StrokeAnswer(
                    start=stroke.start,
                    do=stroke.do,
                    place=stroke.location,
                    usual=stroke.routine,
                    emoji=stroke.emoji,
                    because=stroke.because,
                    event=stroke.event,
                )
                for stroke in value.strokes
            )
        )


def _minute(time: str) -> int:
    hours, _, minutes = time.partition(":")
    return int(hours) * 60 + int(minutes)


def _offers(inputs: PlanDayInput) -> Offers:
    """Returns the places of a stroke: all known ones, and those of the usual day."""
    named = {stroke.location: Spot(id=stroke.location, name=stroke.location) for stroke in inputs.routine}
    named |= {spot.id: spot for spot in (*inputs.places, inputs.situation.place)}
    return Offers(places=places(named.values()))


def _scene(inputs: PlanDayInput, view: PromptView) -> Values:
    usual = {stroke.do for stroke in inputs.routine}
    return {
        "memories": view.memories(inputs, PLANNING),
        "usual": [
            {"start": stroke.start, "do": plain(stroke.do), "place": view.offers.places.label(stroke.location)}
            for stroke in inputs.routine
        ],
        "goals": goal_values(inputs.goals, view.offers.places),
        "past": lately_values(inputs.past, inputs.who.language),
        "own_places": own_places(inputs.places, view),
        "yesterday": [plain(line) for line in inputs.yesterday if line.partition(" ")[2] not in usual],
    }


PLAN_DAY = Task(
    "plan_day",
    PlanDayInput,
    PlanDayOutput,
    lambda inputs: PlanDayOutput(strokes=inputs.routine),
    max_tokens=900,
    temperature=0.7,
    scene=_scene,
    offers=_offers,
    answer=PlanDayAnswer,
)
