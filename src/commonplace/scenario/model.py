"""The shape of a scenario file. The published JSON Schema and the tables in docs/scenarios.md are made of these
models by `tools/scenario_reference.py`.

Every description is what an editor shows beside the key. Ids match `[a-z0-9_-]+`. Times of day are `HH:MM`. Longer
texts than the minds' typed questions take are refused here, so that no question fails on what an author wrote.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from commonplace.languages import DEFAULT, LanguageName
from commonplace.memory.reflection import THRESHOLD
from commonplace.registry import QUESTION_GROUPS, TASKS
from commonplace.scenario.loading import KeyPath
from commonplace.world.tree import Verb

Id = Annotated[str, Field(pattern=r"^[a-z0-9_-]+$", max_length=64)]
TimeOfDay = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Words = Annotated[str, Field(min_length=1, max_length=2000)]
Noticed = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=80)]
Doing = Annotated[str, Field(min_length=1, max_length=120)]
Line = Annotated[str, Field(min_length=1, max_length=300)]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Sky = Literal["clear", "cloudy", "rain", "storm", "fog", "snow"]
Temperature = Literal["cold", "cool", "mild", "warm", "hot"]
Pronoun = Literal["she", "he", "they"]
Emoji = Annotated[str, Field(max_length=16)]
Sort = Literal[
    "", "loss", "worry", "concern", "joy", "plan", "wish", "secret", "long_ago", "feeling", "fond", "tease", "joke",
    "puzzle", "view",
]  # fmt: skip
"""What sort of thing somebody tells. `worry` is about oneself and `concern` about somebody else; `fond` says something
good of somebody and `tease` smiles at them; `puzzle` is something strange and `view` an opinion."""


class Part(BaseModel):
    """Base of all parts: unknown keys are mistakes."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class ClockPart(Part):
    """When the run begins, and how long a tick is."""

    start: str = Field(default="2031-10-04T06:00:00", description="ISO date and time of tick 0, UTC")
    tick_minutes: int = Field(default=5, ge=1, le=60, description="simulated minutes in a tick")


class ObjectPart(Part):
    """Something in an area that has a state."""

    id: Id = Field(description="what the rest of the file calls it; areas, objects and characters share the ids")
    name: Name = Field(description="as sentences use it after an article: `soup pot`")
    kind: Id = Field(description="one of `kinds`")
    state: str = Field(default="", description="opening state; the kind's first state if left out")


class AreaPart(Part):
    """A place one can be in. Between an area and each area in it there is a way."""

    id: Id = Field(description="what the rest of the file calls it; areas, objects and characters share the ids")
    name: Name = Field(description="as people call it: `Noodle Bar`")
    outdoor: bool = Field(default=False, description="under the open sky; plans avoid it in the rain")
    private: bool = Field(
        default=False, description="it and what is in it are known only to those who live there or list it in `knows`"
    )
    areas: tuple[AreaPart, ...] = Field(default=(), description="areas in this one")
    objects: tuple[ObjectPart, ...] = Field(default=(), description="what stands or lies here at tick 0")


class TransitionPart(Part):
    """What a verb does to an object in a certain state."""

    source: str = Field(default="*", alias="from", description="state it starts from, `*` for any")
    target: str = Field(alias="to", description="state it leads to")
    seen: str = Field(default="", max_length=300, description="what the room notices, as a sentence")
    also: dict[Id, str] = Field(default_factory=dict, description="other objects of the same area it sets")
    times: int = Field(
        default=1, ge=1, le=100, description="how many attempts it takes; the last one changes the state"
    )
    steps: tuple[Annotated[str, Field(min_length=1, max_length=300)], ...] = Field(
        default=(), description="with `times`: what the room notices of the attempts before the last, in order"
    )
    needs: dict[Id, str] = Field(
        default_factory=dict,
        description="objects that must be here or carried by who tries, each with its state, or `*` for any",
    )
    people: int = Field(default=1, ge=1, le=10, description="how many awake people must be here")


class KindPart(Part):
    """A kind of object: a state machine."""

    states: tuple[str, ...] = Field(min_length=1, description="the first is the opening state")
    portable: bool = Field(default=False, description="can be taken and dropped")
    verbs: dict[Verb, tuple[TransitionPart, ...]] = Field(
        default_factory=dict[Verb, tuple[TransitionPart, ...]], description="verb → the transitions it makes"
    )
    refusals: dict[str, str] = Field(
        default_factory=dict, description="`VERB state` (or `VERB`) → why it does not work, as a sentence"
    )
    words: dict[str, str] = Field(
        default_factory=dict, description="state → predicate, such as `is broken`; in Korean every state needs one"
    )


class WayPart(Part):
    """A door between two areas, or the hours of the way between an area and the one around it."""

    between: tuple[Id, Id] = Field(description="the two areas")
    open: str = Field(
        default="",
        pattern=r"^(\d\d:\d\d-\d\d:\d\d)?$",
        description="hours it is open, `08:00-22:00`; all day if left out",
    )
    closed: bool = Field(default=False, description="closed until a scripted event or an input opens it")


class WorldPart(Part):
    """The places, what stands in them, and how one gets from one to another."""

    root: AreaPart = Field(description="the area that holds all others")
    kinds: dict[Id, KindPart] = Field(default_factory=dict, description="kinds of objects by id")
    ways: tuple[WayPart, ...] = Field(default=(), description="doors besides those between a parent and its children")
    edge_cost: int = Field(default=1, ge=1, le=20, description="ticks to cross one edge")


class StepPart(Part):
    """5 to 15 minutes of a phase."""

    do: Doing = Field(description="what one is seen doing: `skimming the broth`")
    object: str = Field(default="", description="object id it needs")
    verb: Verb | Literal[""] = Field(default="", description="what is done with the object")
    emoji: Emoji = Field(default="", description="shown over the character's head")


class PhasePart(Part):
    """About an hour of a routine item."""

    do: Doing = Field(description="-ing form without a subject: `getting the kitchen ready`")
    steps: tuple[StepPart, ...] = Field(default=(), description="what it is made of, in order")


class RoutinePart(Part):
    """A broad stroke of a usual day; it lasts until the next one begins."""

    at: TimeOfDay = Field(description="when it begins, `07:30`, in quotes or not")
    do: Doing = Field(description="-ing form without a subject: `running the noodle bar`")
    place: Id = Field(description="area id; one the character knows")
    outdoor: bool = Field(default=False, description="would not be done in the rain")
    emoji: Emoji = Field(default="", description="shown over the character's head")
    phases: tuple[PhasePart, ...] = Field(default=(), description="what it is made of, in order")


class RelationPart(Part):
    """How the character sees another one at tick 0; the other's view is written there."""

    to: Id = Field(description="character id")
    label: str = Field(default="", max_length=60, description="what they are: `neighbour`, `rival`")
    deed: Literal["any", "said", "own", "none"] = Field(
        default="any",
        description="whose deed makes it so: `said` only what a person says a character does, `own` likewise and of "
        "oneself",
    )
    warmth: int = Field(default=0, ge=-100, le=100, description="from hatred, −100, to love, 100; 0 is indifference")
    summary: str = Field(default="", max_length=300, description="a sentence or two on how they stand")


Conditions = tuple[Annotated[str, Field(min_length=1, max_length=200)], ...]
Marks = Annotated[
    tuple[Id, ...], Field(description="marks that who says or hears it carries from then on; conditions name them")
]


class TellPart(Part):
    """A line that is told, and when."""

    say: Line = Field(description="the words, first person")
    when: Conditions = Field(default=(), description="conditions, all of which must hold")
    only_to: tuple[Id, ...] = Field(default=(), description="characters to whom it is said; to anybody if left out")
    after: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(), description="numbers of the `tell` lines, from 1, that the hearer must have heard before"
    )
    once: Literal["hearer", "ever"] = Field(
        default="hearer", description="`hearer`: once in thirty days to each; `ever`: to one of all"
    )
    sets: Marks = ()


class ReplyPart(Part):
    """What anybody may say to a line that is told."""

    say: Line = Field(description="the words, a complete sentence")
    when: Conditions = Field(default=(), description="conditions, all of which must hold")
    who: tuple[Id, ...] = Field(default=(), description="characters who may say it; anybody if left out")
    to: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(),
        description="numbers of the `tell` lines it fits, from 1; if left out, those it shares words with, else all",
    )
    answer: str = Field(
        default="", max_length=300, description="to a question: what the one who told the line says to it, first person"
    )
    sets: Marks = ()


def _or_text(key: str, written: Any) -> BeforeValidator:
    """Lets a text stand for a mapping with this key alone. `written` is what the schema shows."""
    return BeforeValidator(
        lambda given: {key: given} if isinstance(given, str) else given, json_schema_input_type=written
    )


Reply = Annotated[ReplyPart, _or_text("say", Line | ReplyPart)]
"""A reply, or only its words."""
Tell = Annotated[TellPart, _or_text("say", Line | TellPart)]
"""A line that is told, or only its words."""


class GoalPart(Part):
    """What somebody wants, and when."""

    want: str = Field(description="the goal: `win the song contest`")
    when: Conditions = Field(default=(), description="conditions, all of which must hold for it to count")

    @model_serializer(mode="wrap")
    def _as_written(self, written: SerializerFunctionWrapHandler) -> object:
        return written(self) if self.when else self.want


Goal = Annotated[GoalPart, _or_text("want", str | GoalPart)]
"""A goal, or only its words."""


class MemoryPart(Part):
    """Something remembered at tick 0."""

    text: Words = Field(description="third person, as it is remembered")
    importance: int = Field(default=5, ge=1, le=10, description="1 is a habit, 10 a turning point of a life")
    topic: str = Field(default="", max_length=64, description="one or two words; replies find it by them")
    about: str = Field(default="", description="character id it concerns; it is rather told to others than to that one")
    tell: tuple[Tell, ...] = Field(
        default=(), description="how it is told, first person, from the first line on; a line, or its words alone"
    )
    sort: Sort = Field(
        default="", description="what sort of thing `tell` tells; replies go by it, and by its words if left out"
    )
    replies: tuple[Reply, ...] = Field(
        default=(), description="what anybody may say to `tell`, as below; for a short one, its words alone"
    )
    plan: bool = Field(default=False, description="something intended rather than observed")

    @property
    def lines(self) -> tuple[str, ...]:
        """The words of `tell`."""
        return tuple(one.say for one in self.tell)


class CharacterPart(Part):
    """Somebody who lives here."""

    id: Id = Field(description="what the rest of the file calls it; areas, objects and characters share the ids")
    name: Name = Field(description="full name")
    called: str = Field(default="", max_length=80, description="short name; the first word of the name if left out")
    age: int = Field(ge=0, le=150, description="years")
    pronoun: Pronoun = Field(default="they", description="she, he or they")
    work: str = Field(default="", max_length=80, description="one noun phrase: `noodle cook`")
    traits: tuple[str, ...] = Field(min_length=1, description="a few adjectives; rules and prompts go by them")
    background: str = Field(default="", max_length=4000, description="who this is, in a few sentences, third person")
    goals: tuple[Goal, ...] = Field(
        default=(), description="what it wants, the most important first; a goal as below, or its words alone"
    )
    home: Id = Field(description="area id where it lives and sleeps")
    starts_at: str = Field(default="", description="area at tick 0; the home if left out")
    absent: bool = Field(default=False, description="not there until an input lets it join")
    routine: tuple[RoutinePart, ...] = Field(
        default=(), description="5 to 8 strokes of a usual day in order of time; the last is sleep"
    )
    relations: tuple[RelationPart, ...] = Field(default=(), description="whom it knows, and how it sees them")
    knows: tuple[Id, ...] = Field(default=(), description="private areas known from the start")
    carries: tuple[Id, ...] = Field(default=(), description="portable objects it holds at the start")
    memories: tuple[MemoryPart, ...] = Field(default=(), description="what it remembers at tick 0, oldest first")
    mind: str = Field(default="", max_length=500, description="its own mind, unless the command names one for all")

    @property
    def short_name(self) -> str:
        """The name others use."""
        return self.called or self.name.split()[0]


class FactPart(Part):
    """News whose way through the society is followed by the words that carry it."""

    id: Id = Field(description="names the fact in measurements")
    text: dict[str, Words] = Field(description="language → the fact as a sentence")
    groups: dict[str, tuple[tuple[str, ...], ...]] = Field(
        description="language → groups of words or phrases; a text carries the fact if one of each group occurs in it"
    )
    originators: tuple[Id, ...] = Field(default=(), description="who knows it at tick 0")
    place: str = Field(default="", description="area id, for something one can go to")
    starts: str = Field(default="", description="ISO moment, for something one can go to")
    minutes: int = Field(default=0, ge=0, le=10080, description="how long it lasts, for something one can go to")
    emoji: Emoji = Field(default="", description="shown over the heads of those who go, for something one can go to")
    tell: dict[str, tuple[Tell, ...]] = Field(
        default_factory=dict[str, tuple[Tell, ...]], description="language → ways to say it, each carrying the fact"
    )
    sort: Sort = Field(default="", description="what sort of news it is to most: `joy`, `worry` …; replies go by it")


class AudiencePart(Part):
    """Whom a scripted event reaches."""

    everybody: bool = Field(default=False, description="everybody, wherever they are")
    areas: tuple[Id, ...] = Field(default=(), description="those who are in these areas")
    agents: tuple[Id, ...] = Field(default=(), description="these characters, wherever they are")


class RaisePart(Part):
    """Something that begins to be so."""

    kind: str = Field(description="kind of circumstance: `burning`, or one of `circumstances`")
    of: str = Field(description="id of a character, place, object or fact; `-` for the whole town")
    by: str = Field(default="", description="character who did it, or the other one of two")
    hours: int = Field(default=0, ge=0, le=10000, description="how long; as the kind says if left out")


class MessagePart(Part):
    """A letter, a notice or a broadcast, which is read or heard from the next tick on."""

    words: Line = Field(description="what it says, as a sentence")
    to: Id | Literal[""] = Field(
        default="",
        description="character to whom it is a letter, or place where it is a notice; it is on the radio if left out",
    )
    by: str = Field(default="", max_length=80, description="character who wrote it, or another sender: `her sister`")


class CircumstanceWordsPart(Part):
    """What is said of a circumstance; `{x}` is what it is of, `{X}` with a capital, `{y}` who did it."""

    now: str = Field(min_length=1, max_length=300, description="that it is so, as a sentence")
    over: str = Field(min_length=1, max_length=300, description="that it is over")
    was: str = Field(default="", max_length=300, description="that it was so; what `over` says if left out")
    names: str = Field(
        min_length=1, max_length=600, description="words that say it, each in `now` or `was`: `haunted | ghost`"
    )
    doing: str = Field(default="", max_length=120, description="what somebody does whom it makes rest")
    tell: tuple[Line, ...] = Field(default=(), description="ways to tell of it while it is so")
    told: tuple[Line, ...] = Field(default=(), description="ways to tell of it afterwards")
    mine: tuple[Line, ...] = Field(
        default=(), description="what somebody of whom it is so says of it; nothing if left out"
    )
    at_once: tuple[Line, ...] = Field(default=(), description="what those who notice it say there and then")
    replies: tuple[Line, ...] = Field(default=(), description="what may be said to it")
    emoji: Emoji = Field(default="", description="shown over the heads of those who rest because of it")


class CircumstancePart(Part):
    """A kind of circumstance: what may be so of somebody, a place, a thing, a fact or the town for a while."""

    of: str = Field(
        pattern=r"^(person|place|thing|fact|town)( (person|place|thing|fact|town))*$",
        description="what it may be of: `person`, `place`, `thing`, `fact`, `town`, one or more",
    )
    words: CircumstanceWordsPart = Field(description="what is said of it")
    weight: int = Field(default=6, ge=1, le=10, description="importance of noticing it, or hearing of it")
    days: int = Field(default=4, ge=1, le=365, description="for how many days it is news")
    sort: str = Field(default="worry", description="what sort of news it is to most: `joy`, `worry`, `loss` …")
    hours: int = Field(default=0, ge=0, le=10000, description="how long it lasts; 0 for until something ends it")
    then: dict[str, Annotated[int, Field(ge=0, le=10000)]] = Field(
        default_factory=dict, description="the kind that follows it, with its hours"
    )
    ends: str = Field(default="", description="kinds that it ends, of the same character, place or object")
    clears: bool = Field(default=False, description="of a place: nobody stays in it or enters it")
    shut: bool = Field(default=False, description="of a place: nobody enters it")
    gone: bool = Field(default=False, description="of a person: not in the world while it is so")
    rests: Literal["", "home", "here"] = Field(default="", description="of a person: where it has to stay")
    asleep: bool = Field(default=False, description="of a person who rests: whether it notices nothing")
    inward: bool = Field(
        default=False, description="of a person: others know of it only if they were there when it began, or are told"
    )
    unseen: Literal["", "self", "all"] = Field(
        default="", description="of a person: who does not see it: they themselves, or nobody who was not there"
    )
    mutual: bool = Field(default=False, description="of a person: whether it is so of who did it, too")
    powerless: bool = Field(default=False, description="of a place or the town: whether what needs power does not work")
    mutes: bool = Field(default=False, description="of a place or a radio: whether the radio does not play")
    warmth: int = Field(default=0, ge=-100, le=100, description="how it moves the warmth towards who did it")


class ScriptPart(Part):
    """Something that happens at a given time, whatever anybody does."""

    id: Id = Field(description="names the event")
    day: int = Field(default=0, ge=0, le=10000, description="0 is the day the run starts on")
    at: TimeOfDay = Field(description="time of that day, `18:30`")
    text: Noticed = Field(
        default="", description="what its audience perceives, as a sentence; needed without `message`"
    )
    to: AudiencePart = Field(default=AudiencePart(everybody=True), description="whom it reaches; everybody if left out")
    sets: dict[Id, str] = Field(default_factory=dict, description="objects it changes, with their new states")
    opens: tuple[tuple[Id, Id], ...] = Field(default=(), description="ways it opens, each as its two areas")
    closes: tuple[tuple[Id, Id], ...] = Field(default=(), description="ways it closes, each as its two areas")
    raises: tuple[RaisePart, ...] = Field(default=(), description="what is so from now on")
    ends: tuple[str, ...] = Field(
        default=(), description="what is over, each as kind and subject: `burning.noodle-bar`"
    )
    message: MessagePart | None = Field(default=None, description="a letter, a notice or a broadcast that it sends")


class WhenPart(Part):
    """The conditions of an occasion; all of them must hold."""

    at: str = Field(
        default="08:00-20:00",
        pattern=r"^([01]\d|2[0-3]):[0-5]\d(-([01]\d|2[0-3]):[0-5]\d)?$",
        description="time of day, `10:00`, or the hours in which its moment is drawn, `10:00-12:00`",
    )
    weekdays: tuple[Weekday, ...] = Field(default=(), description="`mon` … `sun`; any day if left out")
    season: tuple[Annotated[str, Field(pattern=r"^\d\d-\d\d$")], ...] = Field(
        default=(), max_length=2, description="first and last day of the year, `[10-15, 03-20]`"
    )
    days: tuple[Annotated[int, Field(ge=0, le=10000)], ...] = Field(
        default=(), max_length=2, description="first and last day of the run; 0 is the day it starts on"
    )
    sky: tuple[Sky, ...] = Field(default=(), description="one of these skies")
    temperature: tuple[Temperature, ...] = Field(default=(), description="one of these temperatures")
    states: dict[Id, str] = Field(default_factory=dict, description="objects, each in this state")
    so: tuple[str, ...] = Field(default=(), description="what must be so, as kind and subject: `burning.noodle-bar`")
    not_so: tuple[str, ...] = Field(default=(), description="what must not be so, likewise")
    of: str = Field(
        default="", description="the fact to whose event it belongs; it does not happen while that is called off"
    )
    present: tuple[Id, ...] = Field(default=(), description="characters who must be awake in an area of `to`")
    witnessed: bool = Field(default=False, description="whether somebody awake must be in an area of `to`")
    chance: int = Field(default=100, ge=1, le=100, description="percent of such days on which it happens")
    apart: int = Field(default=1, ge=1, le=10000, description="days from one time to the next at the least")
    after: str = Field(default="", description="another occasion that it follows")
    days_after: int = Field(default=0, ge=0, le=1000, description="with `after`: days between, then the time of `at`")
    minutes_after: int = Field(
        default=0, ge=0, le=1440, description="with `after`: minutes between; `at` has no meaning then"
    )


class OccasionPart(Part):
    """Something that happens now and then."""

    id: Id = Field(description="names the occasion")
    when: WhenPart = Field(default=WhenPart(), description="the conditions")
    text: Noticed = Field(
        default="",
        description="what its audience perceives, as a sentence in the present tense; needed without `message`",
    )
    to: AudiencePart = Field(default=AudiencePart(everybody=True), description="whom it reaches; everybody if left out")
    far: str = Field(default="", max_length=300, description="what those in the areas next to `to` notice")
    sets: dict[Id, str] = Field(default_factory=dict, description="objects it changes, with their new states")
    moves: dict[Id, str] = Field(
        default_factory=dict, description="objects it puts elsewhere, with the area; `gone` for out of the world"
    )
    opens: tuple[tuple[Id, Id], ...] = Field(default=(), description="ways it opens, each as its two areas")
    closes: tuple[tuple[Id, Id], ...] = Field(default=(), description="ways it closes, each as its two areas")
    raises: tuple[RaisePart, ...] = Field(default=(), description="what is so from now on")
    ends: tuple[str, ...] = Field(
        default=(), description="what is over, each as kind and subject: `burning.noodle-bar`"
    )
    message: MessagePart | None = Field(default=None, description="a letter, a notice or a broadcast that it sends")
    at_once: tuple[Line, ...] = Field(
        default=(), description="what those who notice it say to each other there and then, first person"
    )
    tell: tuple[Tell, ...] = Field(
        default=(), description="ways to tell of it, first person, by who noticed it, in the days after"
    )
    topic: str = Field(default="", max_length=64, description="one or two words; replies find it by them")
    sort: Sort = Field(default="", description="what sort of thing `tell` tells")
    replies: tuple[Reply, ...] = Field(default=(), description="what anybody may say to `tell`, as of a memory")

    @property
    def lines(self) -> tuple[str, ...]:
        """The words of `tell`."""
        return tuple(one.say for one in self.tell)


class RulePart(Part):
    """What may be said to any line, whatever memory it comes from."""

    when: Conditions = Field(
        min_length=1, description="conditions, all of which must hold; `act` and `topic` are the line's"
    )
    says: tuple[Line, ...] = Field(
        min_length=1, description="ways to say it; who has said one to somebody says another"
    )
    who: tuple[Id, ...] = Field(default=(), description="characters who may say it; anybody if left out")
    sets: Marks = ()


def _no_file(given: object) -> object:
    if isinstance(given, str):
        raise PydanticCustomError(
            "rules_file", "a rule; a file of rules can only be named by a scenario that is a file"
        )
    return given


Rule = Annotated[RulePart, BeforeValidator(_no_file, json_schema_input_type=str | RulePart)]
"""A rule; in a file of a scenario also the name of a file of rules, which `loading.find` puts in its place."""


class ClimatePart(Part):
    """How the weather behaves."""

    sky: Sky = Field(default="clear", description="sky at tick 0")
    hours_per_step: int = Field(default=1, ge=1, le=24, description="simulated hours between two draws of the weather")
    temperature: Temperature = Field(default="mild", description="how warm the middle of a usual day is")
    weights: dict[str, dict[str, int]] = Field(
        default_factory=dict[str, dict[str, int]],
        description="sky → next sky → weight; skies left out change as usual",
    )


class ReflectionPart(Part):
    """When a character stops to think about what it has experienced."""

    threshold: float = Field(
        default=THRESHOLD,
        gt=0,
        allow_inf_nan=False,
        description="summed importance of memories since the last reflection",
    )
    strict: bool = Field(default=False, description="`exceeds` instead of `reaches`")
    every_turns: int = Field(
        default=0, ge=0, le=1000, description="on the stage `duet`: turns between reflections; 0: none"
    )


class EmbedderPart(Part):
    """A model on the mind's server that turns texts into vectors."""

    model: str = Field(min_length=1, max_length=200, description="its name on the server")
    dimensions: int = Field(ge=1, le=16384, description="size of its vectors")


class CognitionPart(Part):
    """Settings of the characters' minds."""

    fidelity: Literal["when_needed", "every_tick", "full"] = Field(
        default="when_needed",
        description="ask the mind for an action only on news, or at every tick; `full` retrieves memories for it, too",
    )
    policy: str = Field(default="park", description="retrieval policy: one that ships, or one of `policies`")
    k: int = Field(default=10, ge=1, le=100, description="memories retrieved for a question")
    embedder: EmbedderPart | None = Field(
        default=None, description="model that makes the vectors; without one the built-in embedder does"
    )
    analyser: Literal["plain", "kiwi"] = Field(
        default="plain",
        description="who finds the words of Korean texts: rules, or kiwipiepy (the extra `korean`)",
    )
    attention: int = Field(default=8, ge=1, le=100, description="percepts taken in per tick")
    novelty_window: int = Field(
        default=5, ge=0, le=10000, description="ticks in which the same thing is not remembered again"
    )
    deferred_minutes: int = Field(
        default=10, ge=1, le=1440, description="between asking for and having a day plan or a reflection"
    )
    leave_notice: int = Field(default=0, ge=0, le=1440, description="minutes between wishing to leave and leaving")
    importance: Literal["both", "mind", "rules"] = Field(
        default="both", description="who rates memories; `both`: the mind what is news, the rules the rest"
    )
    requests: Literal["auto", "single", "merged"] = Field(
        default="auto",
        description="`merged` asks a mind as seldom as it can; `auto` does so where an answer costs something",
    )
    apart: tuple[Literal["rate", "converse", "act"], ...] = Field(
        default=(),
        description="what a merged reaction leaves to questions of their own; also what has a mind of its own",
    )
    gate: bool = Field(
        default=True,
        description="merged requests ask about news, and for a view after a talk, only where rules find something",
    )
    reflection: ReflectionPart = Field(default=ReflectionPart(), description="when characters reflect")
    observe: bool = Field(default=True, description="ablation: without observations nothing perceived is remembered")
    reflect: bool = Field(default=True, description="ablation: without reflection")
    plan: bool = Field(default=True, description="ablation: without planning the routine is followed")

    @property
    def asks_each_tick(self) -> bool:
        """True if the mind is asked for each action of those awake."""
        return self.fidelity != "when_needed"

    @property
    def has_gate(self) -> bool:
        """True if rules may answer in place of a mind that costs something."""
        return self.gate and self.requests == "merged" and self.importance != "mind"


class MindPart(Part):
    """Who answers some of the questions, and how."""

    mind: str = Field(default="", max_length=500, description="its name, as for `mind`; the common one if left out")
    temperature: float | None = Field(
        default=None, ge=0, le=2, allow_inf_nan=False, description="of a model's answers; the task's own if left out"
    )
    seed: int | None = Field(
        default=None, ge=0, le=2**31 - 1, description="what a model's sampling is drawn from instead of the run's seed"
    )
    thinking: int | None = Field(
        default=None, ge=0, le=100_000, description="tokens a model may think before it answers; 0: it is not to think"
    )
    effort: Literal["", "minimal", "low", "medium", "high"] = Field(
        default="", description="`reasoning_effort` for servers that know it"
    )
    structured: Literal["", "json_schema", "json_object", "tool", "json_mode", "text"] = Field(
        default="",
        description="how its answers are asked for; `tool` forces a tool call; what suits the server if left out",
    )
    form: Literal["", "full", "small"] = Field(
        default="",
        description="`small` asks a small model in few words, `full` any other; what `doctor` found if left out",
    )
    headers: dict[str, Annotated[str, Field(max_length=1000)]] = Field(
        default_factory=dict[str, str],
        description="further headers of its requests; `$NAME` in a value is an environment variable",
    )
    body: dict[str, Any] = Field(
        default_factory=dict[str, Any], description="further fields of its requests: `top_p: 0.9`"
    )


if TYPE_CHECKING:
    Questions = str
else:
    Questions = Literal["default", *QUESTION_GROUPS, *TASKS]
"""All questions, a group of tasks, or one task; `minds.several.GROUPS` says which tasks a group has."""


class DuetPart(Part):
    """Settings of the stage `duet`."""

    setting: str = Field(default="", max_length=1000, description="where and how the two talk, one or two sentences")
    lines: int = Field(default=12, ge=1, le=40, description="latest lines of the dialogue a mind is told")
    requests: Literal[1, 2] = Field(
        default=1, description="1: plan and words in one request; 2: the plan first, then the words"
    )
    temperature: float = Field(default=0.9, ge=0, le=2, allow_inf_nan=False, description="of a model's plans and words")
    store_importance: int = Field(default=6, ge=1, le=10, description="importance from which a line is remembered")
    store_plans: bool = Field(default=False, description="whether plans become memories")


class PanelPart(Part):
    """Settings of the stage `panel`."""

    prompt: str = Field(
        default="", max_length=2000, description="what the panel thinks over if `--prompt` is not given"
    )
    depth: int = Field(default=3, ge=1, le=20, description="how often each persona answers")
    cycle: tuple[Id, ...] = Field(
        default=(), description="the personas in the order of their turns; all, as in the file, if left out"
    )
    injection: bool = Field(
        default=True, description="whether answers are asked to be livelier or calmer by the affect"
    )
    calm: float = Field(default=0.28, ge=0, le=1, description="affect at or below which an answer is to be livelier")
    tense: float = Field(default=0.45, ge=0, le=1, description="affect at or above which an answer is to be calmer")
    plan_adjustment: bool = Field(default=True, description="whether the order may change from one cycle to the next")
    project: str = Field(
        default="", max_length=120, description="project of the memories; the scenario's name if empty"
    )
    domain: str = Field(default="panel", max_length=120, description="domain of the memories")


class LayoutPart(Part):
    """Hints for the map."""

    map: dict[Id, tuple[int, int, int, int]] = Field(
        default_factory=dict, description="area → column, row, width, height on a character grid"
    )
    theme: Literal["hamlet", "neon"] = Field(
        default="hamlet", description="how the village looks in the browser: cottages and trees, or neon signs"
    )
    looks: dict[Id, Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict[Id, Annotated[str, Field(max_length=200)]],
        description="character → hints for its figure in the browser: `red hair, long; green coat; apron`",
    )


class ScenarioPart(Part):
    """A whole scenario file."""

    name: Id = Field(description="short name; run files are called after it")
    title: str = Field(default="", max_length=120, description="as lists show it")
    summary: str = Field(default="", max_length=1000, description="what it is about, one or two sentences")
    language: LanguageName = Field(default=DEFAULT, description="language the characters speak and think in")
    stage: str = Field(default="town", description="`town`, `duet`, `panel`, or `module:NAME` of one from elsewhere")
    mind: str = Field(default="offline", description="mind used when the command names none")
    minds: dict[Questions, Annotated[MindPart, _or_text("mind", str | MindPart)]] = Field(
        default_factory=dict[Questions, MindPart],
        description="task or group of tasks → who answers it, and how: a name, or a mapping as below",
    )
    clock: ClockPart = Field(default=ClockPart(), description="when the run begins, and how long a tick is")
    world: WorldPart = Field(description="places, objects and ways")
    characters: tuple[CharacterPart, ...] = Field(min_length=1, description="who lives here")
    people: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="how many characters the file holds; one that says so has `whole: true` on its last line",
    )
    whole: bool = Field(default=False, description="that the file, which says how many `people` it holds, ends here")
    facts: tuple[FactPart, ...] = Field(default=(), description="seed facts, whose spreading is followed")
    script: tuple[ScriptPart, ...] = Field(default=(), description="what happens whatever anybody does")
    occasions: tuple[OccasionPart, ...] = Field(
        default=(), description="what happens now and then: recurring and seasonal events, mishaps, visitors, wear"
    )
    circumstances: dict[Id, CircumstancePart] = Field(
        default_factory=dict, description="kinds of circumstances of its own, by name"
    )
    rules: tuple[Rule, ...] = Field(
        default=(),
        description="what is said to lines, by what they do and to whom; also names of files beside, `rain.rules.yaml`",
    )
    climate: ClimatePart = Field(default=ClimatePart(), description="how the weather behaves")
    cognition: CognitionPart = Field(default=CognitionPart(), description="settings of the characters' minds")
    duet: DuetPart = Field(default=DuetPart(), description="settings of the stage `duet`")
    panel: PanelPart = Field(default=PanelPart(), description="settings of the stage `panel`")
    policies: dict[str, dict[str, Any]] = Field(
        default_factory=dict[str, dict[str, Any]],
        description="retrieval policies of its own: name → `base`, one that ships, and what differs",
    )
    prompts: str = Field(default="", max_length=500, description="folder of prompt templates, beside the file")
    layout: LayoutPart = Field(default=LayoutPart(), description="hints for the map")


# ── the models by a path of a document ───────────────────────────────────────────────────────────────────────────────


def keys_at(path: KeyPath) -> list[str]:
    """Returns the keys the mapping at the path may have; empty if it is not part of the model."""
    return list(_fields(_annotation(path)))


def field_at(path: KeyPath) -> FieldInfo | None:
    """Returns the field of the model that the path's last key names."""
    return _fields(_annotation(path[:-1])).get(str(path[-1])) if path else None


def _fields(annotation: Any) -> dict[str, FieldInfo]:
    """Returns a part's fields by their key in the file; empty for any other type."""
    if not (isinstance(annotation, type) and issubclass(annotation, Part)):
        return {}
    return {field.alias or name: field for name, field in annotation.model_fields.items()}


def _annotation(path: KeyPath) -> Any:
    here: Any = ScenarioPart
    for key in path:
        here = _inside(here, key)
    return get_args(here)[0] if get_origin(here) is Annotated else here


def _inside(annotation: Any, key: str | int) -> Any:
    """Returns the type under a key of a part or a mapping, or at a position of a list."""
    if get_origin(annotation) is Annotated:
        return _inside(get_args(annotation)[0], key)
    field = _fields(annotation).get(str(key))
    if field is not None:
        return field.annotation
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    return arguments[0] if get_origin(annotation) is tuple else None


def json_schema() -> dict[str, Any]:
    """Returns the schema for completion in editors; JSON Schema 2020-12.

    `python tools/scenario_reference.py` stores it; a test compares the stored one.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ScenarioPart.model_json_schema(by_alias=True),
        "title": "Commonplace scenario",
    }


def as_text() -> str:
    """Returns the schema as it is stored: indented, keys in the order of the models, a newline at the end."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
