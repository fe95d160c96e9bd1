"""What an author's conditions name: the moment at which somebody might say a line, as the speaker sees it.

Every field is a name that `when` may begin with; docs/scenarios.md lists them from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from commonplace.conditions import Condition
from commonplace.scenario.model import Pronoun, Sky, Temperature, Weekday

WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)


class Somebody(Struct, frozen=True):
    """Another character as the speaker knows it."""

    id: str
    called: str
    warmth: Annotated[int, Meta(description="how the speaker likes them, −100 … 100")] = 0
    talks: Annotated[int, Meta(description="talks the two have had in this run")] = 0
    age: Annotated[int, Meta(description="years")] = 0
    label: Annotated[str, Meta(description="what they are to the speaker, one word: `neighbour`")] = ""
    pronoun: Annotated[Pronoun, Meta(description="she, he or they")] = "they"


class Thing(Struct, frozen=True):
    """An object in sight or in the speaker's hands."""

    state: Annotated[str, Meta(description="the state it is in")]
    carried: Annotated[bool, Meta(description="whether the speaker has it in hand")] = False


class Place(Struct, frozen=True):
    """An area."""

    id: str
    outdoor: Annotated[bool, Meta(description="whether it is outdoors")] = False


class Telling(Struct, frozen=True):
    """The moment."""

    hearer: Annotated[Somebody, Meta(description="to whom it is said")]
    people: Annotated[Mapping[str, Somebody], Meta(description="those in sight, by id: `people.suki`")]
    things: Annotated[Mapping[str, Thing], Meta(description="objects in sight or in hand, by id: `things.kettle`")]
    place: Annotated[Place, Meta(description="where the speaker is")]
    home: Annotated[bool, Meta(description="whether the speaker is at home")]
    alone: Annotated[bool, Meta(description="whether nobody else is in sight")]
    sky: Annotated[Sky, Meta(description="the weather")]
    temperature: Annotated[Temperature, Meta(description="how warm it is")]
    weekday: Annotated[Weekday, Meta(description="`mon` … `sun`")]
    day: Annotated[int, Meta(description="day of the run; 0 is the one on which it starts")]
    hour: Annotated[int, Meta(description="hour of the day, 0 … 23")]
    hours_ago: Annotated[int, Meta(description="hours since what is told was remembered; 0 for a reply")]
    act: Annotated[
        str, Meta(description="what the hearer's latest line does: `tell`, `complain`, `ask.topic`; empty for none")
    ]


class Terms(Struct, frozen=True):
    """When a line of an author may be said."""

    when: tuple[Condition, ...] = ()
    speakers: frozenset[str] = frozenset()
    """Who may say it; anybody where there are none."""
    hearers: frozenset[str] = frozenset()
    """To whom it may be said; to anybody where there are none."""
    after: tuple[str, ...] = ()
    """Lines that the hearer must have heard from the speaker before."""
    once: Literal["hearer", "ever"] = "hearer"
    """Whether each hearer may hear it once, or one of all."""
