"""Plans: `plan_day`, a day in broad strokes; `plan_hours` and `plan_minutes`, the inside of one item of a plan."""

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
    Hint,
    ItemNote,
    Past,
    Person,
    Recalled,
    Situation,
    So,
    Spot,
    ThingHere,
    Value,
    Who,
    always,
)
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.teller import plain
from commonplace.minds.tasks.offers import Offers, places, things, uses
from commonplace.minds.tasks.scenes import PromptView, Values, goal_values, lately_values, own_places
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


def _day_scene(inputs: PlanDayInput, view: PromptView) -> Values:
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
    scene=_day_scene,
    offers=_offers,
    answer=PlanDayAnswer,
)


DIVIDING = 3
"""Memories shown."""
SHORTEST, LONGEST = 5, 240
"""Minutes of a part."""
MOST_PARTS = 16


class PlanPartsInput(Given, omit_defaults=True):
    who: Who
    situation: Situation
    item: ItemNote
    hints: tuple[Hint, ...] = always(())
    recalled: tuple[Recalled, ...] = always(())
    things: tuple[ThingHere, ...] = always(())
    """Objects believed to be at the item's location, as last seen."""
    company: tuple[str, ...] = always(())
    """Short names of those present."""
    goals: tuple[GoalNote, ...] = always(())
    """What the character means to do to things."""
    so: tuple[So, ...] = ()
    """What the character knows to be so of things, or to have been so lately."""


class PartOut(Value):
    do: str = Field(min_length=1, max_length=LONGEST_DOING)
    minutes: int = Field(ge=SHORTEST, le=LONGEST)
    location: str = ""
    object_id: str = ""
    verb: str = ""
    emoji: str = ""


class PlanPartsOutput(Value):
    parts: tuple[PartOut, ...] = Field(min_length=1, max_length=MOST_PARTS)


class PartAnswer(WireValue):
    do: Annotated[str, phrase(LONGEST_DOING, needed=True)]
    minutes: Annotated[int, whole(SHORTEST, LONGEST)]
    use: Annotated[str, choice("things")] = ""
    """One that was not offered is left out: the part is done without the thing."""
    emoji: Emoji = ""


class PlanPartsAnswer(AnswerModel):
    parts: Annotated[tuple[PartAnswer, ...], several(1, MOST_PARTS)]

    def output(self, inputs: PlanPartsInput) -> PlanPartsOutput:
        return PlanPartsOutput(parts=tuple(_part(part) for part in self.parts))

    @classmethod
    def of(cls, inputs: PlanPartsInput, value: PlanPartsOutput) -> Self:
        return cls(
            parts=tuple(
                PartAnswer(
                    do=part.do,
                    minutes=part.minutes,
                    use=f"{part.object_id} {part.verb}" if part.object_id else "",
                    emoji=part.emoji,
                )
                for part in value.parts
            )
        )


def _part(part: PartAnswer) -> PartOut:
    object_id, _, verb = part.use.rpartition(" ")
    return PartOut(do=part.do, minutes=part.minutes, object_id=object_id, verb=verb, emoji=part.emoji)


def _fallback(inputs: PlanPartsInput) -> PlanPartsOutput:
    parts = tuple(
        PartOut(
            do=hint.do, minutes=hint.minutes or 15, location=hint.location, object_id=hint.object_id, verb=hint.verb
        )
        for hint in inputs.hints[:MOST_PARTS]
    )
    whole_item = PartOut(do=inputs.item.do, minutes=min(LONGEST, max(SHORTEST, inputs.item.minutes)))
    return PlanPartsOutput(parts=parts or (whole_item,))


def _possible(inputs: PlanPartsInput) -> dict[str, list[str]]:
    """Returns thing → verbs. A thing in hand cannot be taken, any other cannot be dropped."""
    return {
        thing.id: [verb for verb in thing.verbs if verb != ("TAKE" if thing.carried else "DROP")]
        for thing in inputs.things
    }


def _parts_scene(inputs: PlanPartsInput, view: PromptView) -> Values:
    return {
        "memories": view.memories(inputs, DIVIDING),
        "uses": uses(inputs.things, _possible(inputs)),
    }


def _parts_task(name: str) -> Task[PlanPartsInput, PlanPartsOutput]:
    return Task(
        name,
        PlanPartsInput,
        PlanPartsOutput,
        _fallback,
        max_tokens=700,
        temperature=0.5,
        scene=_parts_scene,
        offers=lambda inputs: Offers(things=things(inputs.things, _possible(inputs))),
        answer=PlanPartsAnswer,
    )


PLAN_HOURS = _parts_task("plan_hours")
PLAN_MINUTES = _parts_task("plan_minutes")
