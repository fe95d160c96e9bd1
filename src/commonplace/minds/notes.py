"""What a mind is told, typed: the character, its situation, memories, plans and talk. Tasks make their inputs of these.

All numbers are integers; moments are ISO strings or `HH:MM`, so that the canonical bytes of an input are the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar, cast, dataclass_transform

import msgspec
import msgspec.structs
from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict

from commonplace.languages import DEFAULT
from commonplace.world.happenings import NOTHING_KNOWN, Happening, always

changed = msgspec.structs.replace
"""A value with others in some fields."""
G = TypeVar("G", bound="Given")


class Value(BaseModel):
    """A frozen typed value that is checked: what a mind answers. Unknown fields are refused."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Given(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen typed value that the simulator makes: what a mind is told. It is not checked when it is made."""


def fields_of(value: Given | Value) -> Iterator[tuple[str, Any]]:
    """Returns (name, value) of each field, in their order."""
    if isinstance(value, Given):
        return ((name, getattr(value, name)) for name in value.__struct_fields__)
    return iter(value)


def as_json(value: Given) -> bytes:
    """Returns the value's canonical bytes: its fields in their order, including those at their defaults."""
    return _ENCODER.encode(value)


def as_data(value: Given) -> dict[str, Any]:
    """Returns the same as JSON values."""
    return msgspec.to_builtins(value, enc_hook=_checked_data)


def from_data(kind: type[G], data: Mapping[str, Any]) -> G:
    """Returns a value made of JSON. Raises ValueError if the JSON does not fit."""
    return msgspec.convert(data, kind, dec_hook=lambda kind, data: kind.model_validate(data))


def _checked_data(value: object) -> object:
    """Returns a `Value` as JSON: the routine has strokes in the form of a mind's answers."""
    return cast("Value", value).model_dump(mode="json")


_ENCODER = msgspec.json.Encoder(enc_hook=_checked_data)


class Who(Given):
    """The character that is asked."""

    id: str
    name: str
    called: str
    age: int
    pronoun: str
    work: str
    traits: tuple[str, ...]
    background: str
    goals: tuple[str, ...]
    home: str
    """Area id."""
    language: str = DEFAULT


AT_ONCE = 10
"""Minutes for which what has happened comes before everything else in a talk of those who noticed it."""


class FactNote(Given):
    """A seed fact that one of the recalled memories carries."""

    id: str
    text: str
    tell: tuple[str, ...] = ()
    """Ways to say it; each carries the fact."""
    place: str = ""
    """Area id and name of the event, if it is one."""
    place_name: str = ""
    starts: str = ""
    """ISO moment the event begins."""
    minutes: int = 0
    emoji: str = ""


class Recalled(Given):
    """A memory as a mind is told it, retrieved or not; made by `recalled()` in `cognition/situation.py`."""

    id: int
    text: str
    kind: str
    importance: int
    """1–10, rounded."""
    minutes_ago: int
    happening: Happening = NOTHING_KNOWN
    """What the simulator knows of its making, with the names of its ids."""
    tell: tuple[str, ...] = ()
    """Ways the scenario's author gave to say it, first person; for `AT_ONCE` minutes those for there and then."""
    facts: tuple[str, ...] = ()
    """Ids of seed facts its text carries."""


COLD = -20
"""Warmth below which a character says as little as possible."""
TABLE = 6
"""Of so many people in one place, one may open a talk at a time."""
REST, JUST_TALKED = 90, 20
"""Minutes before two who have just talked talk again; the second, about what one of them has come for."""


class Person(Given, omit_defaults=True):
    """Somebody the character sees or knows."""

    id: str
    name: str
    called: str
    work: str = always("")
    pronoun: str = always("they")
    label: str = always("")
    """What they are to each other; empty for somebody not met before."""
    warmth: int = always(0)
    """−100 … 100."""
    talks: int = always(0)
    """Conversations had so far in this run."""
    minutes_since_talk: int = always(-1)
    """−1: never talked in this run."""
    doing: str = always("")
    asleep: bool = always(False)
    walking: bool = False
    """On the way to another place."""
    can_be_spoken_to: bool = always(False)
    summary: str = always("")
    level: str = ""
    """`polite` or `plain`, how the character speaks to them where the language has speech levels."""
    address: str = ""
    """What the character calls them to their face, where that is not `called`."""
    talk: str = ""
    """`mine` for somebody in the character's own conversation, `other` for somebody in another one, empty if free."""

    @property
    def free(self) -> bool:
        """Tells whether they are awake, may be spoken to, and are in nobody else's talk."""
        return self.can_be_spoken_to and not self.asleep and self.talk != "other"

    @property
    def cold(self) -> bool:
        """Tells whether the character says to them as little as possible."""
        return self.warmth < COLD

    @property
    def rested(self) -> bool:
        """Tells whether the two have not talked for a while, or never."""
        return not 0 <= self.minutes_since_talk < REST

    @property
    def just_talked(self) -> bool:
        """Tells whether the two have talked only minutes ago."""
        return 0 <= self.minutes_since_talk < JUST_TALKED


class ThingHere(Given, omit_defaults=True):
    """An object in sight."""

    id: str
    name: str
    state: str
    verbs: tuple[str, ...] = always(())
    carried: bool = always(False)
    leads: tuple[str, ...] = ()
    """The verbs that bring it into another state, as far as its kind says."""


class So(Given, omit_defaults=True):
    """Something that the character knows to be so, or to have been so lately (`world/circumstances.py`)."""

    id: str
    """`burning.noodle-bar`, which is also the id of the fact that it is."""
    kind: str
    subject: str
    """What it is of: a `person`, `place`, `thing`, `fact`, or the `town`."""
    of: str
    """Its id."""
    called: str
    """What that is called inside a sentence."""
    text: str
    """That it is, or was, so."""
    memory: int
    """The memory by which the character first knew."""
    minutes_ago: int
    """Since then."""
    days_ago: int
    """Days since it began: 0 on the same date."""
    weight: int = 5
    """Importance of it, 1 … 10."""
    sort: str = "worry"
    names: tuple[str, ...] = ()
    """Words that name what it is of."""
    holds: bool = True
    gone: bool = False
    """Whether it is of somebody who is not in the world any more."""
    rests: bool = False
    """Whether it is of somebody who has to lie down."""
    clears: bool = False
    """Whether nobody stays in the place."""
    wrong: bool = False
    """Whether it makes one think less of who did it."""
    barred: tuple[str, ...] = ()
    """The areas that the character cannot enter because of it, or does not want to: those of whoever wronged it."""
    starts: str = ""
    """ISO moment at which an event begins that does not take place now."""
    tie: str = ""
    """`own` where it is of the character or of something of its own; `kin` or `close` where it is of theirs."""
    person: Person | None = None
    """Whom it concerns most, besides the character: who it is of, or whose place or thing that is."""
    bereaved: Person | None = None
    """Who lived with somebody that is gone."""
    by: str = ""
    """Id of who did it."""
    healer: Person | None = None
    """The healer that the character knows best."""
    heals: bool = False
    """Whether the character is one."""
    place: str = ""
    """Area id: where it is, or where to go because of it."""
    near: str = ""
    """The nearest area to that in which one may be."""
    home: str = ""
    """Where the one that it concerns most lives."""
    bereaved_at: str = ""
    """Where they are, as far as the character knows; below, where they live."""
    bereaved_home: str = ""
    healer_at: str = ""
    square: str = ""
    """The outdoor place that is nearest to all others: where people meet."""
    instead: str = ""
    """Where the character goes whose own place is barred: home, or to somebody it likes."""


class Spot(Given):
    """An area the character knows of."""

    id: str
    name: str
    outdoor: bool = False


class SeenSo(Given, omit_defaults=True):
    """Something that is so of the character, of what is here, next to here, or of the town."""

    kind: str
    """`burning`."""
    name: str
    """What it is so of, by name."""
    text: str
    """`Mira's Noodle Bar is on fire.`"""
    duty: Literal["", "leave", "rest"] = ""
    """What the character has to do for it, whatever it wants: leave the place, or rest."""


class Situation(Given, omit_defaults=True):
    """Here and now, as the character sees it."""

    moment: str
    """ISO."""
    time: str
    """`HH:MM`."""
    day: int
    weekday: str
    part_of_day: str
    sky: str
    wind: str
    temperature: str
    place: Spot
    people: tuple[Person, ...] = always(())
    things: tuple[ThingHere, ...] = always(())
    circumstances: tuple[SeenSo, ...] = ()
    """What is so."""


class ItemNote(Given, omit_defaults=True):
    """A stretch of plan."""

    start: str
    """`HH:MM`."""
    minutes: int
    location: str
    """Area id."""
    location_name: str
    do: str
    object_id: str = always("")
    verb: str = always("")
    outdoor: bool = always(False)
    """Whether its place is outdoors."""
    asleep: bool = always(False)
    because: tuple[int, ...] = always(())
    event: str = ""
    """What the event it leads to is called, in a word: `the festival`."""


class Bearing(Given, omit_defaults=True):
    """What a new memory has to do with the one who remembers it."""

    weight: int = 0
    """1–10, of the circumstance that it tells of, as its kind has it, or of a seed fact; 0 for neither."""
    mine: bool = False
    """Whether it is about oneself, one's home, work place or thing."""
    dear: bool = False
    """Whether it is about a relative or somebody dear, or theirs."""
    times: int = 0
    """How often the same kind of thing about the same subject was perceived lately."""
    spoilt: bool = False
    """Of a thing: whether it has to be mended."""
    occasion: bool = False
    """Of what somebody does: whether it is done at an event."""


NewsKind = Literal[
    "said",
    "did",
    "arrived",
    "left",
    "doing",
    "thing",
    "weather",
    "time",
    "event",
    "read",
    "voice",
    "outcome",
    "absent",
    "gathering",
]


class News(Given):
    """Something perceived this tick that is new."""

    memory_id: int
    """The memory it became; 0 when it was not remembered."""
    kind: NewsKind
    text: str
    who: str = ""
    """Character id, where somebody did it."""
    to_me: bool = False
    importance: int = 3
    happening: Happening = NOTHING_KNOWN
    facts: tuple[str, ...] = ()


class Spoken(Given, omit_defaults=True):
    """A line of the talk going on, oldest first."""

    speaker: str
    """Character id."""
    called: str
    text: str
    speech_act: str = always("")
    """What the line does, where its speaker's mind said so: `tell`, `ask.well`, `invite` …"""
    topic: str = always("")
    """What it is about, as its speaker names it."""
    replies: tuple[str, ...] = ()
    """What the scenario's author gave to say to it; only of the latest line."""
    rules: tuple[str, ...] = ()
    """What the scenario's rules let one say to it; only of the latest line."""
    because: tuple[int, ...] = ()
    """The memories it rests on; only of an answer to a person."""


class PastNote(Given):
    """Something the character knows of its own past: a row of its account (`docs/cognition.md`)."""

    kind: str
    """`attended`, `did`, `promised`, `kept`, `broke`; with another `told`, `heard`, `asked`, `answered` …"""
    other: str = ""
    """Character id, where another one is concerned."""
    called: str = ""
    """The other's short name."""
    act: str = ""
    """The speech act of a question."""
    topic: str = ""
    """Id of a seed fact or scripted event, else the topic's words in lower case."""
    named: str = ""
    """The topic as its speaker named it: `my roof` of the speaker's; the words of a plan for what one did."""
    text: str = ""
    """What a seed fact says; the memory's words about a scripted event; empty for any other topic."""
    minutes_ago: int = 0
    times: int = 1
    because: tuple[int, ...] = ()


class Past(Given):
    """What the character knows of its own past that concerns the here and now."""

    notes: tuple[PastNote, ...] = ()
    """Latest first."""
    said: tuple[str, ...] = ()
    """Digests (`character.account.digest_of`) of the sentences said to the hearer in the last thirty days."""
    lately: tuple[str, ...] = ()
    """Digests of the latest sentences said to anybody, oldest first."""

    @property
    def spoken_of(self) -> PastNote | None:
        """Returns the character's recent doing that the hearer's latest line is about."""
        return next((note for note in self.notes if note.kind == "did" and not note.topic), None)


NO_PAST = Past()


class GoalNote(Given):
    """Something the character means to do, with what it needs (`docs/cognition.md`)."""

    id: str
    kind: str
    """`repair`, `promise`, `matter` or `visit`."""
    text: str
    """As a wish: `bring Suki the ladder`, `지붕 고치기`."""
    act: str = ""
    """The speech act that settles it, where that takes a word: `keep.give`, `apologise`."""
    topic: str = ""
    """What it is about, in words."""
    person: str = ""
    """Character id and short name of whom it takes."""
    called: str = ""
    object: str = ""
    """Id and name of the object it is done to, and the verb that gets it on."""
    object_name: str = ""
    verb: str = ""
    people: int = 1
    """How many it takes, as far as its kind says."""
    lacks: str = ""
    """Name of a thing that is missing for the next step, as far as the character knows; empty where it can go on."""
    place: str = ""
    """Area id: where the object is, or where the person is mostly met; empty where that is not known or asked for."""
    time: str = ""
    """`HH:MM` at which it can be done, or the person is mostly there; empty for any time."""
    due: str = ""
    """ISO moment by which it is to be done; empty for no time."""
    day: str = ""
    """That day in a word: `tomorrow`, `Thursday`."""
    minutes: int = 0
    """Since it was opened."""
    hours_left: int = 999
    """Until it is due; 999 for no time."""
    steps: int = 1
    done_steps: int = 0
    tries: int = 0
    because: tuple[int, ...] = ()


class Gathering(Given, omit_defaults=True):
    """An event that is about to begin, goes on or has just ended where the character is."""

    note: FactNote
    because: tuple[int, ...]
    """The memory from which the character knows of it."""
    host: str = ""
    """Character id of the one from whom the news of it came first."""
    heard: tuple[str, ...] = ()
    """Digests (`character.account.digest_of`) of the sentences said and heard since people came to it, as one says
    them to a friend."""
    just_come: bool = False
    """Whether the character has come a moment ago."""
    missing: tuple[PastNote, ...] = ()
    """Who said they would come (`agreed`) or was told of it (`told`), and has not been seen here."""


class Agreed(Given, kw_only=True):
    """What a talk has settled for later today and the plan does not have yet."""

    text: str
    """As a wish: `drop in on Suki for tea`, `have Pip over for supper`."""
    person: str
    """Character id and short name of the other."""
    called: str
    comes: bool = False
    """Whether it is the other who comes; else I go."""
    place: str
    """Area id."""
    time: str
    """`HH:MM`."""
    minutes: int
    because: tuple[int, ...]


class Hint(Given):
    """What a routine suggests for the inside of a plan item."""

    do: str
    minutes: int = 0
    """0: no opinion."""
    location: str = ""
    object_id: str = ""
    verb: str = ""
    emoji: str = ""
