"""What a scenario lets happen, and whom it reaches: scripted events at a given tick, and occasions now and then.

Occasions are market days, mishaps, visitors, wear, the first frost. Which of them happen in a tick is a function of
scenario, seed, tick and the world at the end of the tick before. Every day of a run draws the ticks of its occasions at
once, so that a tick for which none was drawn costs one look-up; what depends on the world (weather, objects, who is
there, when it last happened) is decided when the tick has come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from commonplace.clock import Clock, midnight
from commonplace.rng import below
from commonplace.world.circumstances import Raise
from commonplace.world.events import NOBODY, Event, Phase, Post, ScriptPlayed
from commonplace.world.state import World
from commonplace.world.weather import Ambient


@dataclass(frozen=True, slots=True)
class Audience:
    """Whom something reaches: everybody, those who are in some areas at the end of the tick, or some by id."""

    everybody: bool = False
    areas: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def reaches(self, agent_id: str, area: str) -> bool:
        """Tells whether it reaches a character who is in the area at the end of the tick."""
        return self.everybody or agent_id in self.agents or area in self.areas

    @property
    def place(self) -> str:
        """Returns the area it is confined to; empty if it is not confined to one."""
        return self.areas[0] if len(self.areas) == 1 and not self.agents and not self.everybody else ""

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, the inverse of `audience`."""
        return {"everybody": self.everybody, "areas": list(self.areas), "agents": list(self.agents)}


def audience(body: Mapping[str, Any]) -> Audience:
    """Returns the audience of a stored input; a missing field counts as empty."""
    return Audience(bool(body.get("everybody")), tuple(body.get("areas", ())), tuple(body.get("agents", ())))


@dataclass(frozen=True, slots=True)
class Scripted:
    """One scripted event. What it sets, opens and closes holds from the end of its tick."""

    id: str
    tick: int
    text: str
    """What its audience perceives; empty when it is not to be noticed."""
    to: Audience = Audience()
    sets: tuple[tuple[str, str], ...] = ()
    """(object, state); somebody's action on the object in the same tick is written after it."""
    opens: tuple[str, ...] = ()
    """Ways (by id) no longer barred; a timetable goes on regardless."""
    closes: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    """(object, area it lies in from now on), after everybody's actions; an empty area for one that is gone."""
    far: str = ""
    """What those in the next areas notice; empty for nothing."""
    near: tuple[str, ...] = ()
    """These areas."""
    raises: tuple[Raise, ...] = ()
    ends: tuple[str, ...] = ()
    """Keys of circumstances."""
    message: Post | None = None
    """What is sent with it."""
    recurs: bool = False
    """Whether it is an occasion: the world keeps when it happened last."""


def due(script: Iterable[Scripted], tick: int) -> tuple[Scripted, ...]:
    """Returns what the script holds for a tick, in the order of ids."""
    return tuple(sorted((one for one in script if one.tick == tick), key=lambda one: one.id))


def scripted_events(now: Sequence[Scripted], tick: int, first_ordinal: int) -> tuple[Event, ...]:
    """Returns an event for each, numbered after the ambient events of the tick."""
    return tuple(
        Event(tick, Phase.AMBIENT, NOBODY, ordinal, one.to.place, _body(one))
        for ordinal, one in enumerate(now, first_ordinal)
    )


def barred_after(barred: frozenset[str], opens: Iterable[str], closes: Iterable[str]) -> frozenset[str]:
    """Returns the barred ways after some open and some close; a way in both is closed."""
    after = barred.difference(opens).union(closes)
    return barred if after == barred else after


def _body(one: Scripted) -> ScriptPlayed:
    to = one.to
    return ScriptPlayed(
        text=one.text, script=one.id, everybody=to.everybody, areas=to.areas, agents=to.agents, sets=one.sets,
        opens=one.opens, closes=one.closes, moves=one.moves, far=one.far, near=one.near,
        raises=tuple(raised.key for raised in one.raises), ends=one.ends, message=one.message,
    )  # fmt: skip


def reaches(played: ScriptPlayed, agent_id: str, area: str) -> bool:
    """Tells whether it reaches a character who is in the area at the end of the tick."""
    return Audience(played.everybody, played.areas, played.agents).reaches(agent_id, area)


PERCENT = 100
KEPT = 4
"""Days whose draws are kept."""
MonthDay = tuple[int, int]


@dataclass(frozen=True, slots=True)
class When:
    """The conditions of an occasion; all of them must hold."""

    at: tuple[int, int] = (8 * 60, 20 * 60)
    """Minutes of the day between which its moment is drawn; equal for a fixed moment."""
    weekdays: frozenset[int] = frozenset()
    """0 is Monday; empty for any."""
    season: tuple[MonthDay, MonthDay] | None = None
    """First and last (month, day), both included; the first may be later in the year than the last."""
    days: tuple[int, int] | None = None
    """First and last day of the run; 0 is the day it starts on."""
    skies: frozenset[str] = frozenset()
    temperatures: frozenset[str] = frozenset()
    states: tuple[tuple[str, str], ...] = ()
    """(object, state) as the world has them."""
    so: frozenset[str] = frozenset()
    """Keys of circumstances that must hold."""
    not_so: frozenset[str] = frozenset()
    """Keys of circumstances that must not hold."""
    present: tuple[str, ...] = ()
    """Characters who must be awake in one of the areas it reaches."""
    witnessed: bool = False
    """Whether somebody awake must be in one of these areas."""
    chance: int = PERCENT
    """Percent of the days on which it may happen."""
    apart: int = 1
    """Days from one time to the next at the least; a large number for what happens once."""
    after: str = ""
    """Another occasion that it follows; empty for none."""
    days_after: int = 0
    minutes_after: int = 0
    """Days (and then `at`) or minutes between that occasion and this one."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """Something that happens when its conditions hold and its draw says so."""

    event: Scripted
    """What happens; its tick is not meant."""
    when: When

    @property
    def id(self) -> str:
        """Returns the id of what happens."""
        return self.event.id

    @property
    def in_minutes(self) -> bool:
        """Tells whether it follows another occasion within minutes, whatever the time of day."""
        return bool(self.when.after) and self.when.minutes_after > 0


@dataclass(frozen=True, slots=True)
class Occasions:
    """All occasions of a scenario."""

    all: tuple[Occasion, ...] = ()
    """By id, sorted."""
    drawn: dict[tuple[int, date], Mapping[int, tuple[Occasion, ...]]] = field(
        init=False, default_factory=dict[tuple[int, date], "Mapping[int, tuple[Occasion, ...]]"],
        compare=False, repr=False,
    )  # fmt: skip
    """Derived: tick → occasions drawn for it, by seed and day."""
    following: tuple[Occasion, ...] = field(init=False, compare=False, repr=False)
    """Derived: those that follow another one within minutes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "following", tuple(one for one in self.all if one.in_minutes))


NONE = Occasions()


def occurring(occasions: Occasions, seed: int, clock: Clock, world: World, ambient: Ambient) -> tuple[Scripted, ...]:
    """Returns what happens in the tick after `world`, in the order of ids. `ambient` is the weather at the end of
    `world`."""
    if not occasions.all:
        return ()
    tick = world.tick + 1
    moment = clock.time(tick)
    drawn = (*_of_day(occasions, seed, clock, moment).get(tick, ()), *_following(occasions, seed, clock, world))
    happen = [one for one in drawn if _holds(one, clock, world, ambient)]
    return tuple(one.event for one in sorted(happen, key=lambda one: one.id))


def _of_day(occasions: Occasions, seed: int, clock: Clock, moment: datetime) -> Mapping[int, tuple[Occasion, ...]]:
    known = occasions.drawn.get((seed, moment.date()))
    if known is None:
        if len(occasions.drawn) >= KEPT:
            occasions.drawn.clear()
        known = occasions.drawn[seed, moment.date()] = _draw(occasions, seed, clock, midnight(moment))
    return known


def _draw(occasions: Occasions, seed: int, clock: Clock, day: datetime) -> Mapping[int, tuple[Occasion, ...]]:
    """Returns tick → the occasions that a day draws for it: those of its weekday and season, each with its chance."""
    found: dict[int, list[Occasion]] = {}
    number = (day.date() - clock.start.date()).days
    for one in occasions.all:
        if one.in_minutes or not _may_be_on(one.when, day, number):
            continue
        if below(PERCENT, seed, one.id, number, "chance") >= one.when.chance:
            continue
        first, last = one.when.at
        minute = first + below(last - first + 1, seed, one.id, number, "moment")
        found.setdefault(clock.tick(day + timedelta(minutes=minute)), []).append(one)
    return {tick: tuple(happening) for tick, happening in found.items()}


def _may_be_on(when: When, day: datetime, number: int) -> bool:
    if when.weekdays and day.weekday() not in when.weekdays:
        return False
    if when.days and not when.days[0] <= number <= when.days[1]:
        return False
    return when.season is None or in_season(when.season, (day.month, day.day))


def in_season(season: tuple[MonthDay, MonthDay], day: MonthDay) -> bool:
    """Tells whether a day of the year lies in a season, which may span the turn of the year."""
    first, last = season
    return first <= day <= last if first <= last else day >= first or day <= last


def _following(occasions: Occasions, seed: int, clock: Clock, world: World) -> list[Occasion]:
    """Returns the occasions whose antecedent was the right number of minutes ago, each with its chance."""
    tick = world.tick + 1
    return [
        one for one in occasions.following
        if world.occasions.get(one.when.after) == tick - max(1, clock.ticks(one.when.minutes_after))
        and below(PERCENT, seed, one.id, tick, "chance") < one.when.chance
    ]  # fmt: skip


def _holds(one: Occasion, clock: Clock, world: World, ambient: Ambient) -> bool:
    """Tells whether the world meets the conditions of the occasion."""
    when, today, last = one.when, clock.day(world.tick + 1), world.occasions.get(one.id)
    if last is not None and today - clock.day(last) < when.apart:
        return False
    if when.after and not one.in_minutes:
        before = world.occasions.get(when.after)
        if before is None or today - clock.day(before) != when.days_after:
            return False
    if when.skies and ambient.sky not in when.skies:
        return False
    if when.temperatures and ambient.temperature not in when.temperatures:
        return False
    if any(world.things[thing].state != state for thing, state in when.states):
        return False
    so = {key for key, one in world.circumstances.items() if one.holds}
    return so >= when.so and so.isdisjoint(when.not_so) and _attended(one, world)


def _attended(one: Occasion, world: World) -> bool:
    """Tells whether everybody who has to be there is there and awake."""
    when = one.when
    if not (when.present or when.witnessed):
        return True
    areas = one.event.to.areas
    there = {me for area in areas for me in world.occupants.get(area, ()) if not world.bodies[me].asleep}
    return there.issuperset(when.present) and (bool(there) or not when.witnessed)
