"""A god-mode sentence: who perceives it, and which things it changes."""

from __future__ import annotations

from typing import Any

from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.choices import Choices, people, places
from commonplace.minds.prompts.wire.fields import Fields, listed
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import FLAG, Schema, obj, some_of, text
from commonplace.minds.tasks import PerceiveEventInput, PerceiveEventOutput

LONGEST_PERCEPT = 1000


def changes(given: PerceiveEventInput) -> Choices:
    """States a thing can be set to: id `lamp lit`, label `lamp: lit`."""
    names = Choices.of((thing.id, thing.name) for thing in given.things)
    pairs = ((thing, state) for thing, states in given.states.items() for state in states)
    return Choices(tuple((f"{thing} {state}", f"{names.label(thing)}: {state}") for thing, state in pairs))


def _schema(given: PerceiveEventInput) -> Schema:
    return obj(
        percept=text(LONGEST_PERCEPT, 1),
        everybody=FLAG,
        places=some_of(places(given.areas).labels),
        people=some_of(people(given.people).labels),
        sets=some_of(changes(given).labels),
    )


def _read(given: PerceiveEventInput, fields: Fields, ear: Ear) -> PerceiveEventOutput:
    return PerceiveEventOutput(
        percept=ear.text(fields.needed("percept", LONGEST_PERCEPT)),
        everybody=fields.flag("everybody"),
        areas=fields.some("places", places(given.areas)),
        people=fields.some("people", people(given.people)),
        sets=tuple(_pair(id) for id in fields.some("sets", changes(given))),
    )


def _pair(id: str) -> tuple[str, str]:
    """Ids hold no blanks; states may."""
    thing, _, state = id.partition(" ")
    return thing, state


def _written(given: PerceiveEventInput, value: PerceiveEventOutput) -> dict[str, Any]:
    choices = changes(given)
    return {
        "percept": value.percept,
        "everybody": value.everybody,
        "places": listed(places(given.areas).label(area) for area in value.areas),
        "people": listed(people(given.people).label(person) for person in value.people),
        "sets": [choices.label(f"{thing} {state}") for thing, state in value.sets],
    }


PERCEIVE_EVENT = Form(_schema, _read, _written)
