"""`perceive_event`: a god-mode sentence; who perceives it, and which things it changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Person, Spot, ThingHere, Value
from commonplace.minds.prompts.telling import speech
from commonplace.minds.tasks.scenes import Values, View
from commonplace.minds.tasks.wire import AnswerModel, Flag, Offers, people, places, seen, some, things

LONGEST_PERCEPT = 1000


class PerceiveEventInput(Value):
    text: str
    areas: tuple[Spot, ...]
    people: tuple[Person, ...]
    things: tuple[ThingHere, ...] = ()
    states: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """The states each object's kind knows."""
    located: Mapping[str, str] = Field(default_factory=dict)
    """Object → area it is in."""
    language: str = "en"


class PerceiveEventOutput(Value):
    percept: str
    """The sentence as perceived."""
    everybody: bool = False
    areas: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    """(object, state) changes."""


class PerceiveEventAnswer(AnswerModel):
    percept: Annotated[str, seen(LONGEST_PERCEPT, needed=True)]
    everybody: Flag = False
    places: Annotated[tuple[str, ...], some("places")] = ()
    people: Annotated[tuple[str, ...], some("people")] = ()
    sets: Annotated[tuple[str, ...], some("things")] = ()

    def output(self, inputs: PerceiveEventInput) -> PerceiveEventOutput:
        return PerceiveEventOutput(
            percept=self.percept,
            everybody=self.everybody,
            areas=self.places,
            people=self.people,
            sets=tuple(_change(id) for id in self.sets),
        )

    @classmethod
    def of(cls, inputs: PerceiveEventInput, value: PerceiveEventOutput) -> Self:
        return cls(
            percept=value.percept,
            everybody=value.everybody,
            places=value.areas,
            people=value.people,
            sets=tuple(f"{thing} {state}" for thing, state in value.sets),
        )


def _change(id: str) -> tuple[str, str]:
    """Ids of objects hold no blanks; states may."""
    thing, _, state = id.partition(" ")
    return thing, state


def _offers(inputs: PerceiveEventInput) -> Offers:
    return Offers(
        people=people(inputs.people),
        places=places(inputs.areas),
        things=things(inputs.things, inputs.states),
    )


def _scene(inputs: PerceiveEventInput, view: View) -> Values:
    return {"changes": view.offers.things.labels, "question": speech(inputs.text)}


PERCEIVE_EVENT = Task(
    "perceive_event",
    PerceiveEventInput,
    PerceiveEventOutput,
    lambda inputs: PerceiveEventOutput(percept=inputs.text, everybody=True),
    max_tokens=200,
    temperature=0.0,
    scene=_scene,
    offers=_offers,
    answer=PerceiveEventAnswer,
)
