"""Circumstances: what is true of somebody, a place, a thing, a fact or the town for a while, and matters.

They are world state. Scripted events, occasions, inputs and deeds raise them; they end by themselves or are ended. A
body obeys them whatever its mind wants: nobody stays in fire, the ill lie down, the dead are gone. What minds make of
them is no business of the world's.

A kind is data: `circumstances.toml` here says what it does, the file of that name in each language what is said of it,
and a scenario adds kinds of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from commonplace.clock import Clock
from commonplace.languages import file_text
from commonplace.world.geography import Geography

TOWN = "-"
"""What a circumstance is of that is of the whole town."""
CALLED_OFF = ("cancelled", "postponed")
"""Kinds of a fact whose event does not take place."""
Subject = Literal["person", "place", "thing", "fact", "town"]


class KindWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a kind in one language. `{x}` is its subject, `{y}` who did it, with articles and particles as
    the language has them."""

    now: str
    """That it is so, as a sentence: `{X} is on fire.`"""
    over: str
    """That it is no longer so."""
    names: str
    """Words that say it, as they occur in sentences, each of which may be a few words: `fire | burns | on fire`."""
    was: str = ""
    """That it was so, in the days after; what `over` says if left out."""
    doing: str = ""
    """What a body does that it holds: `lying ill in bed`."""
    tell: tuple[str, ...] = ()
    """Ways to tell of it while it is so, each naming it and its subject; `now` is another one."""
    told: tuple[str, ...] = ()
    """Ways to tell of it afterwards; `was` is another one."""
    mine: tuple[str, ...] = ()
    """Ways in which whoever it is of tells of it while it is so; none where they do not."""
    at_once: tuple[str, ...] = ()
    """What those who notice it say to each other there and then."""
    replies: tuple[str, ...] = ()
    """What may be said to it."""
    emoji: str = ""

    @property
    def carrying(self) -> tuple[str, ...]:
        """Returns the words of `names`."""
        return tuple(one.strip() for one in self.names.split("|"))


class CircumstanceKind(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of circumstance."""

    of: str
    """What it may be of: one or more of `Subject`."""
    words: KindWords
    """In the language of the scenario."""
    weight: int
    """Importance, 1 … 10, of noticing it or hearing of it."""
    days: int
    """For how many days it is news."""
    sort: str = "worry"
    """What sort of news it is to most: `joy`, `worry`, `loss`."""
    hours: int = 0
    """How long it lasts; 0 for until something ends it."""
    then: Mapping[str, int] = {}
    """The kind that follows it, with its hours."""
    ends: str = ""
    """Kinds of the same subject that it ends."""
    clears: bool = False
    """Of a place: nobody stays in it or enters it."""
    shut: bool = False
    """Of a place: nobody enters it."""
    gone: bool = False
    """Of a person: not in the world."""
    rests: Literal["", "home", "here"] = ""
    """Of a person: where it has to stay."""
    asleep: bool = False
    """Of a person who rests: whether it notices nothing."""
    mutes: bool = False
    """Whether a radio does not play: of the radio, or of its place."""
    deed: Literal["any", "said", "own", "none"] = "any"
    """Whose deed makes it so: anybody's; only what a person says a character does, as it also names what people do
    every day; likewise, and only of oneself; nobody's."""
    inward: bool = False
    """Of a person: whether others know of it only if they were there when it began, or are told."""
    warmth: int = 0
    """How the warmth of its subject moves towards who did it, or who the other one is. Half as much moves that of those
    who saw it if it is below 0, and that of the other one towards its subject if it is above."""
    mutual: bool = False
    """Whether it is so of both: of its subject, and of who did it."""
    unseen: Literal["", "self", "all"] = ""
    """Of a person: who does not see it: they themselves, or nobody who was not there when it began."""
    powerless: bool = False
    """Whether nothing that needs power can be switched on."""

    def may_be_of(self, subject: Subject) -> bool:
        """Tells whether a subject of this sort can have it."""
        return subject in self.of.split()


Kinds = Mapping[str, CircumstanceKind]
NO_KINDS: Kinds = MappingProxyType({})


@cache
def shipped_kinds(language: str) -> Kinds:
    """Returns the kinds that every scenario knows, with their words in a language."""
    text = files("commonplace.world").joinpath("circumstances.toml").read_text(encoding="utf-8")
    words = tomllib.loads(file_text(language, "circumstances.toml"))
    rows = tomllib.loads(text)
    return {name: msgspec.convert({**row, "words": words[name]}, CircumstanceKind) for name, row in rows.items()}


# ── what is so ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Something that is so, or was until lately."""

    kind: str
    of: str
    """Id of its subject; `TOWN` for all."""
    since: int
    """The tick at whose end it began."""
    until: int = 0
    """The tick at whose end it ends by itself; 0 for never."""
    by: str = ""
    """Id of who did it, or of the other one of two; empty for nobody."""
    ended: int = 0
    """The tick at whose end it ended; 0 while it is so."""
    at: str = ""
    """The area where a thing was when it began, or somebody who is gone for good: whoever comes there sees it. Empty
    for what is seen otherwise."""

    @property
    def key(self) -> str:
        """Returns its key, such as `burning.noodle-bar`. A subject has at most one circumstance of a kind."""
        return f"{self.kind}.{self.of}"

    @property
    def holds(self) -> bool:
        """Tells whether it still holds."""
        return not self.ended


Circumstances = Mapping[str, Circumstance]
"""By key, sorted."""


class Raise(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """That something begins to be so."""

    kind: str
    of: str
    by: str = ""
    hours: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """How long; 0 for as long as its kind says."""

    @property
    def key(self) -> str:
        """Returns the key of the circumstance."""
        return f"{self.kind}.{self.of}"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values without empty ones, from which `msgspec.convert` makes it again."""
        return msgspec.to_builtins(self)


def subject_of(key: str) -> tuple[str, str]:
    """Returns the kind and the subject of a key; two empty strings if it is not a key."""
    kind, dot, of = key.partition(".")
    return (kind, of) if dot else ("", "")


def holding(circumstances: Circumstances, of: Container[str]) -> tuple[Circumstance, ...]:
    """Returns the circumstances that hold for some subjects."""
    return tuple(one for one in circumstances.values() if one.holds and one.of in of)


@dataclass(frozen=True, slots=True)
class CircumstanceChanges:
    """What a tick changes of the circumstances."""

    after: Circumstances
    began: tuple[Circumstance, ...] = ()
    ended: tuple[Circumstance, ...] = ()


def turned(
    before: Circumstances,
    kinds: Kinds,
    clock: Clock,
    tick: int,
    raises: Iterable[Raise] = (),
    ends: Iterable[str] = (),
    outdoors: Container[str] = (),
) -> CircumstanceChanges:
    """Returns the circumstances at the end of a tick: those raised, without those ended (by key) and those whose time
    is over.

    A circumstance that ends stays for the days in which it is news. What follows it begins if its time runs out, not if
    something ends it; the areas in `outdoors`, which nobody can shut, are open again.
    """
    raised = {one.key: one for one in raises}
    over = {*ends, *(f"{kind}.{one.of}" for one in raised.values() for kind in kinds[one.kind].ends.split())}
    timed = [one for key, one in before.items() if one.holds and 0 < one.until <= tick and key not in over]
    following = [
        Raise(kind, one.of, hours=hours)
        for one in timed
        for kind, hours in kinds[one.kind].then.items()
        if not (kinds[kind].shut and one.of in outdoors)
    ]
    raised = {**{one.key: one for one in following}, **raised}
    over |= {one.key for one in timed}
    over |= {f"{kind}.{one.of}" for one in following for kind in kinds[one.kind].ends.split()}
    ended = {key: replace(one, ended=tick) for key, one in sorted(before.items()) if one.holds and key in over}
    began = {key: _begun(one, kinds[one.kind], clock, tick) for key, one in raised.items()}
    after = {**before, **ended, **began}
    kept = {key: one for key, one in after.items() if one.holds or _is_news(one, kinds, clock, tick)}
    return CircumstanceChanges(dict(sorted(kept.items())), tuple(began.values()), tuple(ended.values()))


def _begun(one: Raise, kind: CircumstanceKind, clock: Clock, tick: int) -> Circumstance:
    hours = one.hours or kind.hours
    return Circumstance(one.kind, one.of, tick, hours and tick + max(1, clock.ticks(60 * hours)), one.by)


def turns(circumstances: Circumstances, kinds: Kinds, clock: Clock, tick: int) -> bool:
    """Tells whether a tick changes them with nothing raised or ended: one runs out, or one is no longer news."""
    return any(
        0 < one.until <= tick if one.holds else not _is_news(one, kinds, clock, tick) for one in circumstances.values()
    )


def _is_news(one: Circumstance, kinds: Kinds, clock: Clock, tick: int) -> bool:
    return tick - one.since < clock.ticks(24 * 60 * kinds[one.kind].days)


# ── what bodies obey ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Duties:
    """What circumstances forbid and ask of bodies."""

    cleared: Mapping[str, str] = field(default_factory=dict[str, str])
    """Areas in which nobody stays and that nobody enters, each with why: a key."""
    shut: frozenset[str] = frozenset()
    """Areas that only those enter who live in one of them."""
    barred: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """The ways into what is cleared, and into what is cleared or shut: to whoever is outside they count as closed."""
    powerless: frozenset[str] = frozenset()
    """Areas in which nothing that needs power can be switched on."""
    resting: Mapping[str, tuple[str, CircumstanceKind]] = field(default_factory=dict[str, tuple[str, CircumstanceKind]])
    """Those who have to rest, each with why and how."""

    def may_enter(self, area: str, home: str) -> bool:
        """Tells whether somebody whose home is in `home` may enter an area."""
        return area not in self.cleared and (area not in self.shut or home in self.shut)

    def closed(self, area: str, home: str, closed: frozenset[str]) -> frozenset[str]:
        """Returns the ways closed to somebody in an area, those `closed` to everybody among them. Nobody who has to
        leave is held back by a door."""
        if area in self.cleared:
            return frozenset()
        return closed | self.barred[home not in self.shut and area not in self.shut]


FREE = Duties()
"""Nothing in particular."""


def duties(geography: Geography, circumstances: Circumstances, kinds: Kinds) -> Duties:
    """Returns what the circumstances forbid and ask."""
    if not circumstances:
        return FREE
    held = [(one, kinds[one.kind]) for one in circumstances.values() if one.holds]
    cleared = {area: one.key for one, kind in held if kind.clears for area in geography.inside(one.of)}
    shut = frozenset(area for one, kind in held if kind.shut for area in geography.inside(one.of))
    resting = {one.of: (one.key, kind) for one, kind in held if kind.rests}
    barred = _ways_into(geography, cleared.keys()), _ways_into(geography, shut.union(cleared))
    dark = (geography.root if one.of == TOWN else one.of for one, kind in held if kind.powerless)
    powerless = frozenset(area for of in dark for area in geography.inside(of))
    return Duties(cleared, shut, barred, powerless, resting)


def _ways_into(geography: Geography, areas: Collection[str]) -> frozenset[str]:
    return frozenset(way.id for area in areas for to, way in geography.edges[area] if to not in areas)


def refuge(geography: Geography, found: Duties, area: str, home: str) -> str:
    """Returns where somebody goes who has to leave an area: the nearest place that one may enter, or that is only shut;
    home if it is as near; the area itself if all places are cleared."""
    safe = [one for one in geography.destinations if one not in found.cleared]
    open_to = [one for one in safe if found.may_enter(one, home)] or safe
    return min(open_to, key=lambda one: (geography.distance(area, one), one != home, one), default=area)
