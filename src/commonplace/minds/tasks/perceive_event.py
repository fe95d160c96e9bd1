"""`perceive_event`: a god-mode sentence; who perceives it, and what it changes: things, doors, weather, people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import field
from pydantic import Field, field_validator

from commonplace.languages import DEFAULT, phrases
from commonplace.minds.mind import Task
from commonplace.minds.notes import Given, Person, Spot, ThingHere
from commonplace.minds.prompts.teller import speech
from commonplace.minds.tasks.offers import Choices, Offers, alike, people, places, things
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import (
    MOST_CITED,
    Context,
    Flag,
    Rule,
    WireValue,
    choice,
    seen,
    some,
    texts,
    whole,
    words,
)
from commonplace.world.weather import SKIES

LONGEST_PERCEPT = 1000
LONGEST_DOES, LONGEST_FAR = 160, 300
GONE = "gone"
"""What a thing can become besides the states of its kind: it is not in the world any more."""


class PerceiveEventInput(Given):
    text: str
    areas: tuple[Spot, ...]
    people: tuple[Person, ...]
    things: tuple[ThingHere, ...] = ()
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The states each object's kind knows."""
    located: Mapping[str, str] = field(default_factory=dict[str, str])
    """Object → area it is in."""
    circumstances: Mapping[str, str] = field(default_factory=dict[str, str])
    """Key of all that may be so → name of what it is of: `burning.noodle-bar` → `Mira's Noodle Bar`."""
    so: tuple[str, ...] = ()
    """Keys of what is so now."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Kind of the scenario's own → words that say it."""
    homes: tuple[str, ...] = ()
    """Areas in which somebody lives."""
    now: str = ""
    """ISO moment."""
    language: str = DEFAULT


_ANY_CHANGES = some("things")


def _changes(value: object, context: Context) -> list[tuple[str, str]]:
    """Returns pairs of an object's id and its new state. Ids hold no blanks; states may."""
    changes = (id.partition(" ") for id in _ANY_CHANGES.read(value, context))
    return [(thing, state) for thing, _, state in changes]


def _changes_written(value: Iterable[tuple[str, str]], offers: Offers) -> list[str]:
    return [offers.things.label(f"{thing} {state}") for thing, state in value]


StateChanges = Annotated[
    tuple[tuple[str, str], ...],
    Rule(_changes, {"items": {"type": "string"}, "maxItems": MOST_CITED}, _changes_written),
]
"""(object, state) changes; the state `GONE` for what is taken away."""


class PerceiveEventOutput(WireValue):
    percept: Annotated[str, seen(LONGEST_PERCEPT, needed=True)]
    """The sentence as perceived."""
    everybody: Flag = False
    areas: Annotated[tuple[str, ...], some("places")] = Field(
        default=(), validation_alias="places", serialization_alias="places"
    )
    people: Annotated[tuple[str, ...], some("people")] = ()
    sets: StateChanges = ()
    sky: Annotated[str, words(10, one_of=("", *SKIES))] = ""
    """The weather it brings; empty to leave it alone."""
    locked: Annotated[tuple[str, ...], some("places")] = ()
    """Places one can neither enter nor leave from now on."""
    unlocked: Annotated[tuple[str, ...], some("places")] = ()
    does: Annotated[tuple[str, ...], texts(LONGEST_DOES, MOST_CITED, guarded=True)] = ()
    """What somebody does from now on, whatever they had planned: `Bruno: sleeping`, by short name."""
    far: Annotated[str, seen(LONGEST_FAR)] = ""
    """What those in the next places notice of it; empty for nothing."""
    begins: Annotated[tuple[str, ...], some("circumstances")] = ()
    """Keys of what is so from now on: `burning.noodle-bar`."""
    ends: Annotated[tuple[str, ...], some("circumstances")] = ()
    """What is no longer so, likewise."""
    hours: Annotated[int, whole(0, 10_000)] = 0
    """How long it is so, where the sentence says; 0 for as usual."""
    by: Annotated[str, choice("people")] = ""
    """Who did it to whom it befell, or the other one of two; empty for nobody."""
    newcomer: Annotated[str, words(LONGEST_DOES)] = ""
    """Somebody whom it brings to the place and nobody knows: `Viktor; 40; sailor`; empty for nobody."""
    unclear: Annotated[str, words(LONGEST_FAR)] = ""
    """What whoever wrote it has to say first, as a question: who of two is meant; empty where all is clear."""

    @field_validator("sky")
    @classmethod
    def _is_a_sky(cls, sky: str) -> str:
        return sky if sky in SKIES else ""

    def befalls(self, choices: Choices) -> tuple[tuple[str, str], ...]:
        """Returns (id, doing) for those of the choices that the event makes do something."""
        told = (entry.partition(":") for entry in self.does)
        named = ((choices.id(name), doing.strip()) for name, _, doing in told)
        return tuple((id, doing) for id, doing in named if id and doing)


def changes(here: Iterable[ThingHere], states: Mapping[str, tuple[str, ...]], language: str) -> Choices:
    """Returns the states that things can get, with `GONE` in a word of the language."""
    offered = {thing: (*known, GONE) for thing, known in states.items()}
    return things(here, offered, {GONE: phrases(language, "prompts")["gone"]})


def _offers(inputs: PerceiveEventInput) -> Offers:
    return Offers(
        people=people(inputs.people),
        places=places(inputs.areas),
        things=changes(inputs.things, inputs.states, inputs.language),
        circumstances=Choices({key: f"{key.partition('.')[0]}: {name}" for key, name in inputs.circumstances.items()}),
    )


def _scene(inputs: PerceiveEventInput, view: PromptView) -> Values:
    kinds = dict.fromkeys(key.partition(".")[0] for key in inputs.circumstances)
    so = [view.offers.circumstances.label(key) for key in inputs.so]
    return {
        "changes": alike(inputs.things, inputs.states),
        "gone": phrases(inputs.language, "prompts")["gone"],
        "kinds": kinds,
        "so": so,
        "question": speech(inputs.text),
    }


PERCEIVE_EVENT = Task(
    "perceive_event",
    PerceiveEventInput,
    PerceiveEventOutput,
    lambda inputs: PerceiveEventOutput(percept=inputs.text, everybody=True),
    max_tokens=500,
    temperature=0.0,
    scene=_scene,
    offers=_offers,
)
