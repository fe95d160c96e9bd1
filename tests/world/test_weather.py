from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from commonplace.clock import Clock
from commonplace.world.weather import SKIES, Climate, ambient_at, ambient_events
from world.small_worlds import patient

CLOCK = Clock(datetime(2031, 1, 4, 6, tzinfo=UTC), 15)
YEAR = 365 * 96


@patient
@given(st.lists(st.integers(0, 2000), min_size=1, max_size=30), st.integers(0, 5))
def test_weather_is_the_same_in_whatever_order_it_is_asked(ticks: list[int], seed: int) -> None:
    asked = {tick: ambient_at(Climate(), seed, CLOCK, tick) for tick in ticks}
    climate = Climate()
    assert asked == {tick: ambient_at(climate, seed, CLOCK, tick) for tick in sorted(ticks)}


def test_two_seeds_have_two_weathers() -> None:
    climate = Climate()
    assert [ambient_at(climate, 1, CLOCK, tick) for tick in range(0, 2000, 12)] != [
        ambient_at(climate, 2, CLOCK, tick) for tick in range(0, 2000, 12)
    ]


def test_a_year_has_all_skies_and_bands_and_each_in_its_season() -> None:
    climate = Climate()
    year = {tick: ambient_at(climate, 3, CLOCK, tick) for tick in range(0, YEAR, 12)}
    assert {now.sky for now in year.values()} == set(SKIES)
    assert {now.temperature for now in year.values()} == {"cold", "cool", "mild", "warm", "hot"}
    assert {now.wind for now in year.values()} == {"calm", "breezy", "windy"}
    for tick, now in year.items():
        if now.sky == "snow":
            assert now.temperature == "cold"
        if CLOCK.time(tick).month == 7:
            assert now.sky != "snow"
            assert now.temperature != "cold"


def test_events_tell_of_every_change_and_of_nothing_else() -> None:
    climate = Climate(start_sky="cloudy", step_hours=1, skies={"cloudy": (("storm", 1),), "storm": (("cloudy", 1),)})
    assert ambient_events(climate, 3, CLOCK, 0) == []
    for tick in range(1, 300):
        before, now = ambient_at(climate, 3, CLOCK, tick - 1), ambient_at(climate, 3, CLOCK, tick)
        events = ambient_events(climate, 3, CLOCK, tick)
        changes = (before.part_of_day != now.part_of_day, before.sky != now.sky)
        assert [event.type for event in events] == [
            name for name, changed in zip(("TIME_ADVANCED", "WEATHER_CHANGED"), changes, strict=True) if changed
        ]
        assert [event.id for event in events] == [f"t{tick}.-.{number}" for number in range(len(events))]
    changed = ambient_events(climate, 3, CLOCK, 4)[0]
    assert changed.body.old == "cloudy"
    assert changed.body.to == "snow"  # a January morning: what would be a storm falls as snow
