"""`plan_hours` and `plan_minutes`: the inside of one item of a plan."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import (
    Given,
    GoalNote,
    Hint,
    ItemNote,
    Recalled,
    Situation,
    So,
    ThingHere,
    Value,
    Who,
    always,
)
from commonplace.minds.tasks.offers import Offers, things, uses
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import LONGEST_DOING, AnswerModel, Emoji, WireValue, choice, phrase, several, whole

DIVIDING = 3
"""Memories shown."""
SHORTEST, LONGEST = 5, 240
"""Minutes of a part."""
MOST = 16


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
    parts: tuple[PartOut, ...] = Field(min_length=1, max_length=MOST)


class PartAnswer(WireValue):
    do: Annotated[str, phrase(LONGEST_DOING, needed=True)]
    minutes: Annotated[int, whole(SHORTEST, LONGEST)]
    use: Annotated[str, choice("things")] = ""
    """One that was not offered is left out: the part is done without the thing."""
    emoji: Emoji = ""


class PlanPartsAnswer(AnswerModel):
    parts: Annotated[tuple[PartAnswer, ...], several(1, MOST)]

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
        for hint in inputs.hints[:MOST]
    )
    whole_item = PartOut(do=inputs.item.do, minutes=min(LONGEST, max(SHORTEST, inputs.item.minutes)))
    return PlanPartsOutput(parts=parts or (whole_item,))


def _possible(inputs: PlanPartsInput) -> dict[str, list[str]]:
    """Returns thing → verbs. A thing in hand cannot be taken, any other cannot be dropped."""
    return {
        thing.id: [verb for verb in thing.verbs if verb != ("TAKE" if thing.carried else "DROP")]
        for thing in inputs.things
    }


def _scene(inputs: PlanPartsInput, view: PromptView) -> Values:
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
        scene=_scene,
        offers=lambda inputs: Offers(things=things(inputs.things, _possible(inputs))),
        answer=PlanPartsAnswer,
    )


PLAN_HOURS = _parts_task("plan_hours")
PLAN_MINUTES = _parts_task("plan_minutes")
