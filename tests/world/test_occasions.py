"""Occasions: a function of seed, tick and world; their conditions; and a world that stays whole whatever they do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from commonplace.clock import Clock
from commonplace.world.circumstances import Circumstance
from commonplace.world.deeds import Intent
from commonplace.world.events import Event
from commonplace.world.executor import step
from commonplace.world.inputs import next_areas
from commonplace.world.script import Audience, Occasion, Occasions, Scripted, When, in_season, occurring
from commonplace.world.state import World
from commonplace.world.weather import Climate, ambient_at
from sizes import examples
from world.small_worlds import CLOCK as DAYS
from world.small_worlds import IDLE, placed, village

TOWN = village()
CLOCK = Clock(DAYS.start, 30)
DAY = CLOCK.ticks(24 * 60)
NOON = DAYS.start.replace(hour=12, minute=0)
ANY = When()
KITCHEN = Audience(areas=("kitchen",))


def occasion(id: str, when: When = ANY, **event: object) -> Occasion:
    scripted = Scripted(id, 0, f"{id} happens", KITCHEN, recurs=True)
    return Occasion(replace(scripted, **event), when)


def lived(
    all: tuple[Occasion, ...], ticks: int, seed: int = 7, world: World | None = None
) -> tuple[World, list[Event]]:
    """The world after some ticks in which nobody does anything, and all that happened."""
    world, happened = world or placed(TOWN), list[Event]()
    occasions = Occasions(all)
    for _ in range(ticks):
        ambient = ambient_at(Climate(), seed, CLOCK, world.tick)
        now = occurring(occasions, seed, CLOCK, world, ambient)
        intents = {me: Intent(IDLE) for me in world.bodies}
        world, events = step(TOWN, world, intents, clock=CLOCK, scripted=now)
        happened += [event for event in events if event.type == "SCRIPTED"]
    return world, happened


def days(events: list[Event]) -> list[int]:
    return [CLOCK.day(event.tick) for event in events]


WHENS = st.builds(
    When,
    at=st.tuples(st.integers(0, 600), st.integers(600, 1439)),
    weekdays=st.frozensets(st.integers(0, 6), max_size=4),
    skies=st.sampled_from((frozenset[str](), frozenset({"clear", "cloudy"}))),
    states=st.sampled_from(((), (("lamp", "off"),), (("stove", "lit"),))),
    witnessed=st.booleans(),
    chance=st.integers(1, 100),
    apart=st.integers(1, 5),
    after=st.sampled_from(("", "a", "b")),
    days_after=st.integers(0, 2),
    minutes_after=st.sampled_from((0, 0, 30, 600)),
)


@st.composite
def calendars(draw: st.DrawFn) -> tuple[Occasion, ...]:
    return tuple(
        occasion(
            name,
            draw(WHENS),
            sets=draw(st.sampled_from(((), (("lamp", "on"),), (("stove", "lit"), ("kettle", "hot"))))),
            moves=draw(st.sampled_from(((), (("cup", ""),), (("cup", "attic"), ("kettle", "library"))))),
            closes=draw(st.sampled_from(((), ("back-door",)))),
            opens=draw(st.sampled_from(((), ("hatch",)))),
        )
        for name in "abcd"[: draw(st.integers(1, 4))]
    )


@given(calendars(), st.integers(0, 9))
@examples(8)
def test_the_same_seed_brings_the_same_occasions_and_the_world_stays_whole(
    all: tuple[Occasion, ...], seed: int
) -> None:
    world, events = lived(all, 2 * DAY, seed)
    assert lived(all, 2 * DAY, seed) == (world, events)
    half, first = lived(all, DAY, seed)
    rest = lived(all, DAY, seed, half)
    assert (rest[0], [*first, *rest[1]]) == (world, events), "a fork goes on as the run would have"
    for id, thing in world.things.items():
        assert thing.state in TOWN.kinds[TOWN.nodes[id].kind].states
        assert thing.parent in (*TOWN.areas, *world.bodies, "")
    assert world.barred <= TOWN.ways.keys()
    for name, last in world.occasions.items():
        assert last == max(event.tick for event in events if event.body.script == name)
    for one in all:
        own = days([event for event in events if event.body.script == one.id])
        assert all_apart(own, one.when.apart)


def all_apart(own: list[int], apart: int) -> bool:
    return all(later - day >= apart for day, later in pairwise(own))


def test_an_occasion_keeps_to_its_weekday_its_hours_and_its_distance() -> None:
    market = occasion("market", When(weekdays=frozenset({5}), at=(600, 660)))
    often = occasion("often", When(apart=3, at=(600, 600)))
    _, events = lived((market, often), 14 * DAY)
    marked = [event for event in events if event.body.script == "market"]
    assert [CLOCK.time(event.tick).weekday() for event in marked] == [5] * len(marked)
    assert all(10 <= CLOCK.time(event.tick).hour <= 11 for event in marked) and marked
    assert days([event for event in events if event.body.script == "often"]) == [*range(days(events)[0], 14, 3)][:5]


def test_one_follows_another_by_days_or_minutes() -> None:
    cart = occasion("cart", When(days=(2, 2), at=(600, 600)))
    late = occasion("late", When(after="cart", days_after=1, at=(900, 900)))
    soon = occasion("soon", When(after="cart", minutes_after=30))
    _, events = lived((cart, late, soon), 6 * DAY)
    found = {event.body.script: CLOCK.time(event.tick) for event in events}
    assert len(events) == 3
    assert found["soon"] - found["cart"] == timedelta(minutes=30)
    assert (found["late"] - found["cart"]).total_seconds() == 29 * 3600


def test_an_occasion_waits_for_things_to_be_as_it_wants_them() -> None:
    dark = occasion("dark", When(states=(("lamp", "off"),), at=(600, 600)), sets=(("lamp", "on"),))
    world, events = lived((dark,), 4 * DAY)
    assert len(events) == 1 and world.things["lamp"].state == "on"


def test_somebody_must_be_there_to_see_what_is_to_be_witnessed() -> None:
    alone = replace(placed(TOWN), bodies={"dee": placed(TOWN).bodies["dee"]})
    seen = occasion("seen", When(witnessed=True, at=(600, 600)))
    assert lived((seen,), 2 * DAY, world=alone)[1] == []
    assert len(lived((seen,), 2 * DAY)[1]) == len(lived((occasion("seen", When(at=(600, 600))),), 2 * DAY)[1])


def test_a_season_may_go_over_the_turn_of_the_year() -> None:
    winter = ((11, 15), (2, 28))
    assert in_season(winter, (12, 31)) and in_season(winter, (2, 28)) and not in_season(winter, (3, 1))
    assert in_season(((3, 1), (3, 1)), (3, 1))


def test_what_is_noticed_next_door_is_noticed_in_the_next_areas() -> None:
    assert next_areas(TOWN, ("kitchen",)) == {"home"}


def test_an_occasion_waits_for_what_is_so_and_is_put_off_by_what_must_not_be():
    so = {one.key: one for one in (Circumstance("burning", "kitchen", 0), Circumstance("closed", "cafe", 0, ended=1))}
    everyday = {"at": (12 * 60, 12 * 60)}
    all = (
        occasion("smoke", When(**everyday, so=frozenset({"burning.kitchen"}))),
        occasion("queue", When(**everyday, so=frozenset({"closed.cafe"}))),
        occasion("lunch", When(**everyday, not_so=frozenset({"burning.kitchen"}))),
        occasion("coffee", When(**everyday, not_so=frozenset({"closed.cafe"}))),
    )
    assert {event.body.script for event in lived(all, DAY)[1]} == {"lunch", "coffee"}
    burning = replace(placed(TOWN), circumstances=so)
    now = occurring(
        Occasions(all), 7, CLOCK, replace(burning, tick=CLOCK.tick(NOON) - 1), ambient_at(Climate(), 7, CLOCK, 1)
    )
    assert [one.id for one in now] == ["coffee", "smoke"]
