"""`judge`: what comes of something that a character attempts, beyond the known actions."""

from __future__ import annotations

from typing import Annotated

from commonplace.languages import phrases
from commonplace.minds.mind import Task
from commonplace.minds.notes import Person
from commonplace.minds.prompts.teller import speech
from commonplace.minds.tasks.offers import Choices, Offers, alike, people, places
from commonplace.minds.tasks.perceive_event import (
    LONGEST_FAR,
    LONGEST_PERCEPT,
    PerceiveEventInput,
    StateChanges,
    changes,
)
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import WireValue, choice, seen, some, whole
from commonplace.world.circumstances import subject_of


class JudgeInput(PerceiveEventInput, kw_only=True):
    """The deed, and all names of the scenario, so that rules can tell what is not here."""

    doer: Person
    place: str
    """Area id."""
    here: tuple[str, ...]
    """Ids of the place, of those and what is there, and of the next places."""
    can: tuple[str, ...]
    """Keys of the circumstances that the deed may begin."""


class JudgeOutput(WireValue):
    percept: Annotated[str, seen(LONGEST_PERCEPT, needed=True)]
    """What those here perceive."""
    sets: StateChanges = ()
    """`GONE` for what the doer takes."""
    locked: Annotated[tuple[str, ...], some("places")] = ()
    unlocked: Annotated[tuple[str, ...], some("places")] = ()
    far: Annotated[str, seen(LONGEST_FAR)] = ""
    """What those in the next places notice of it."""
    begins: Annotated[tuple[str, ...], some("circumstances")] = ()
    ends: Annotated[tuple[str, ...], some("circumstances")] = ()
    hours: Annotated[int, whole(0, 10_000)] = 0
    by: Annotated[str, choice("people")] = ""
    """The other one, where it is so of the doer: with whom it falls in love."""
    why: Annotated[str, seen(LONGEST_FAR)] = ""
    """What does not come of it and for what reason, to the person who plays the doer."""


def _offers(inputs: JudgeInput) -> Offers:
    keys = dict.fromkeys((*inputs.can, *(key for key in inputs.so if subject_of(key)[1] in inputs.here)))
    here = [thing for thing in inputs.things if thing.id in inputs.here]
    return Offers(
        people=people(one for one in inputs.people if one.id in inputs.here),
        places=places(area for area in inputs.areas if area.id in inputs.here),
        things=changes(here, {thing.id: inputs.states[thing.id] for thing in here}, inputs.language),
        circumstances=Choices({key: f"{subject_of(key)[0]}: {inputs.circumstances[key]}" for key in keys}),
    )


def _scene(inputs: JudgeInput, view: PromptView) -> Values:
    place = next((area.name for area in inputs.areas if area.id == inputs.place), "")
    so = [view.offers.circumstances.label(key) for key in inputs.so if subject_of(key)[1] in inputs.here]
    here = [thing for thing in inputs.things if thing.id in inputs.here]
    others = [one for one in inputs.people if one.id in inputs.here and one.id != inputs.doer.id]
    return {
        "changes": alike(here, {thing.id: inputs.states[thing.id] for thing in here}),
        "gone": phrases(inputs.language, "prompts")["gone"],
        "kinds": dict.fromkeys(subject_of(key)[0] for key in inputs.can),
        "so": so,
        "here": view.offers.people.only(one.id for one in others).labels,
        "near": view.offers.places.labels,
        "place": place,
        "states": [f"{one.name} ({one.state})" for one in here],
        "deed": speech(inputs.text),
    }


JUDGE = Task(
    "judge",
    JudgeInput,
    JudgeOutput,
    lambda inputs: JudgeOutput(percept=inputs.text),
    max_tokens=400,
    temperature=0.0,
    scene=_scene,
    offers=_offers,
)
