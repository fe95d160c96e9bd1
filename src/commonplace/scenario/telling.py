"""What an author's conditions name: the moment at which somebody might say a line, as the speaker sees it.

Every field is a name that `when` may begin with; docs/lines.md lists them from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from commonplace.conditions import Condition, condition
from commonplace.scenario.model import Pronoun, ReplyPart, RulePart, ScenarioPart, Sky, TellPart, Temperature, Weekday

WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)


class Somebody(Struct, frozen=True):
    """Another character as the speaker knows it."""

    id: Annotated[str, Meta(description="the id in the file")]
    called: Annotated[str, Meta(description="the short name")]
    warmth: Annotated[int, Meta(ge=-100, le=100, description="how the speaker likes them, −100 … 100")] = 0
    talks: Annotated[int, Meta(ge=0, description="talks the two have had in this run")] = 0
    age: Annotated[int, Meta(ge=0, description="years")] = 0
    label: Annotated[str, Meta(description="last word of what the speaker calls them: `friend`, `할머니`")] = ""
    pronoun: Annotated[Pronoun, Meta(description="she, he or they")] = "they"


class Thing(Struct, frozen=True):
    """An object in sight or in the speaker's hands."""

    state: Annotated[str, Meta(description="the state it is in")]
    carried: Annotated[bool, Meta(description="whether the speaker has it in hand")] = False


class Place(Struct, frozen=True):
    """An area."""

    id: Annotated[str, Meta(description="the id in the file")]
    outdoor: Annotated[bool, Meta(description="whether it is outdoors")] = False


class Moment(Struct, frozen=True):
    """The moment as a character sees it: what the conditions of a goal can name."""

    people: Annotated[Mapping[str, Somebody], Meta(description="those in sight, the hearer too, by id: `people.suki`")]
    things: Annotated[Mapping[str, Thing], Meta(description="objects in sight or in hand, by id: `things.kettle`")]
    place: Annotated[Place, Meta(description="where the speaker is")]
    home: Annotated[bool, Meta(description="whether the speaker is at home")]
    alone: Annotated[bool, Meta(description="whether nobody but the hearer is in sight")]
    sky: Annotated[Sky, Meta(description="the weather")]
    temperature: Annotated[Temperature, Meta(description="how warm it is")]
    weekday: Annotated[Weekday, Meta(description="`mon` … `sun`")]
    day: Annotated[int, Meta(ge=0, description="day of the run; 0 is the one on which it starts")]
    hour: Annotated[int, Meta(ge=0, le=23, description="hour of the day, 0 … 23")]
    marks: Annotated[Mapping[str, bool], Meta(description="marks that the speaker carries: `marks.forgiven`")]


class Telling(Moment, frozen=True):
    """The moment at which a character might say a line."""

    hearer: Annotated[Somebody, Meta(description="to whom it is said")]
    hours_ago: Annotated[int, Meta(ge=0, description="hours since what is told was remembered; 0 for a reply")]
    act: Annotated[
        str,
        Meta(description="what the hearer's latest line does: `tell`, `complain`, `ask.topic`; empty for none"),
    ]
    topic: Annotated[str, Meta(description="what that line is about, its last word: `kite`; empty for nothing")]


class Terms(Struct, frozen=True):
    """When a line of an author may be said."""

    when: tuple[str, ...] = ()
    speakers: frozenset[str] = frozenset()
    """Who may say it; anybody where there are none."""
    hearers: frozenset[str] = frozenset()
    """To whom it may be said; to anybody where there are none."""
    after: tuple[str, ...] = ()
    """Lines that the hearer must have heard from the speaker before."""
    once: Literal["hearer", "ever"] = "hearer"
    """Whether each hearer may hear it once, or one of all."""
    sets: tuple[str, ...] = ()
    """Marks that who says or hears it carries from then on."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions under `when`, read."""
        return tuple(condition(one, Telling) for one in self.when)

    @property
    def is_free(self) -> bool:
        """True if it may be said at any time, by anybody and to anybody."""
        return not (self.when or self.speakers or self.hearers or self.after or self.once == "ever")


def terms_of(part: ScenarioPart) -> dict[str, Terms]:
    """Returns the lines that have conditions or set marks, with when each may be said."""
    told = (*(memory for one in part.characters for memory in one.memories), *part.occasions)
    lines = [line for one in told for line in lines_of(one.tell, one.replies)]
    lines += [line for fact in part.facts for line in lines_of(fact.tell.get(part.language, ()))]
    of_memories = {words: terms for _, words, terms in lines if terms != Terms()}
    return of_memories | {words: terms for _, words, terms in ruled(part.rules)}


def ruled(rules: Iterable[RulePart]) -> Iterator[tuple[tuple[int, int], str, Terms]]:
    """Yields every line of the rules: the numbers of rule and line, its words, and when it may be said."""
    for number, rule in enumerate(rules):
        for line, words in enumerate(rule.says):
            yield (number, line), words, Terms(rule.when, frozenset(rule.who), sets=rule.sets)


def lines_of(
    tell: Sequence[TellPart], replies: Sequence[ReplyPart] = ()
) -> Iterator[tuple[tuple[str, int], str, Terms]]:
    """Yields every line and every reply: the keys of its place, its words, and when it may be said."""
    for number, line in enumerate(tell):
        after = tuple(tell[other - 1].say for other in line.after if other <= len(tell))
        yield (
            ("tell", number),
            line.say,
            Terms(line.when, frozenset(), frozenset(line.only_to), after, line.once, line.sets),
        )
    for number, reply in enumerate(replies):
        yield ("replies", number), reply.say, Terms(reply.when, frozenset(reply.who), sets=reply.sets)
