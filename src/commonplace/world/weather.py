"""Ambient dynamics: a function of seed and tick alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace.clock import Clock, part_of_day
from commonplace.rng import below, weighted
from commonplace.world.events import NOBODY, Event, EventBody, Phase, TimeAdvanced, WeatherChanged

SKIES = ("clear", "cloudy", "rain", "storm", "fog", "snow")
Weights = tuple[tuple[str, int], ...]

NEXT_SKY: Mapping[str, Weights] = {
    "clear": (("clear", 12), ("cloudy", 5), ("fog", 1)),
    "cloudy": (("cloudy", 8), ("clear", 5), ("rain", 4), ("fog", 1)),
    "rain": (("rain", 6), ("cloudy", 6), ("clear", 2), ("storm", 2)),
    "storm": (("rain", 6), ("storm", 2), ("cloudy", 2)),
    "fog": (("clear", 4), ("cloudy", 4), ("fog", 3)),
    "snow": (("snow", 6), ("cloudy", 6), ("clear", 2)),
}
"""Default whole-number weights of the next sky, by sky."""
WINDS: Mapping[str, Weights] = {
    "clear": (("calm", 5), ("breezy", 4), ("windy", 1)),
    "cloudy": (("calm", 4), ("breezy", 5), ("windy", 2)),
    "rain": (("calm", 2), ("breezy", 5), ("windy", 3)),
    "storm": (("windy", 1),),
    "fog": (("calm", 1),),
    "snow": (("calm", 4), ("breezy", 4), ("windy", 2)),
}
YEAR = (
    (-5, 2), (-3, 5), (2, 11), (8, 18), (13, 23), (18, 27),
    (22, 29), (23, 30), (17, 26), (10, 20), (3, 12), (-3, 4),
)  # fmt: skip
"""Usual lows and highs in °C, January first: a temperate city of the northern half of the world."""
BANDS = ((28, "hot"), (21, "warm"), (13, "mild"), (5, "cool"))
"""(lowest °C, word), warmest first; below the last it is cold."""
WARMTH = {"dawn": 0, "morning": 40, "midday": 100, "afternoon": 90, "evening": 50, "night": 15}
"""How far the part of the day is from the day's low to its high, in percent."""
CLOUDED = {"clear": 1, "cloudy": -1, "rain": -3, "storm": -3, "fog": -2, "snow": -2}
"""°C that a sky adds."""
SPREAD = 3
"""°C by which a day may be warmer or colder than usual."""


@dataclass(frozen=True, slots=True)
class Ambient:
    """Time of day and weather at the end of a tick."""

    part_of_day: str
    """dawn, morning, midday, afternoon, evening or night."""
    sky: str
    """clear, cloudy, rain, storm, fog or snow."""
    wind: str
    """calm, breezy or windy."""
    temperature: str
    """cold, cool, mild, warm or hot."""


@dataclass(frozen=True, slots=True)
class Imposed:
    """A sky that an input has put in place of the one drawn."""

    sky: str
    since: int
    """First tick at whose end it holds."""
    until: int
    """Last one; after it the drawn sky comes back."""

    def holds(self, tick: int) -> bool:
        """Tells whether it is the sky at the end of a tick."""
        return self.since <= tick <= self.until


@dataclass(frozen=True, slots=True)
class Climate:
    """How the weather of a world behaves."""

    start_sky: str = "clear"
    """The sky at tick 0, one of `SKIES`."""
    step_hours: int = 3
    """Simulated hours between two draws of sky and wind, ≥ 1."""
    skies: Mapping[str, Weights] = field(default_factory=lambda: NEXT_SKY)
    """Sky → weights of the next; what it leaves out is as in `NEXT_SKY`."""
    year: tuple[tuple[int, int], ...] = YEAR
    """Usual low and high in °C for each month, January first; 12 pairs, or one that holds all year."""
    drawn: dict[int, list[str]] = field(init=False, default_factory=dict[int, list[str]], compare=False, repr=False)
    """Derived: the skies drawn so far, by seed."""


def ambient_at(climate: Climate, seed: int, clock: Clock, tick: int, imposed: Imposed | None = None) -> Ambient:
    """Returns time of day and weather at the end of a tick. The result does not depend on the order of calls.

    `imposed`: a sky that replaces the drawn one, whatever its temperature.
    """
    moment = clock.time(tick)
    part = part_of_day(moment)
    number = tick * clock.tick_minutes // (60 * climate.step_hours)
    drawn = _sky(climate, seed, number)
    low, high = climate.year[(moment.month - 1) % len(climate.year)]
    spread = below(2 * SPREAD + 1, seed, NOBODY, clock.day(tick), "warmth") - SPREAD
    degrees = low + (high - low) * WARMTH[part] // 100 + CLOUDED[drawn] + spread
    sky = imposed.sky if imposed is not None and imposed.holds(tick) else _fallen(drawn, degrees)
    band = next((word for least, word in BANDS if degrees >= least), "cold")
    return Ambient(part, sky, weighted(WINDS[sky], seed, NOBODY, number, "wind"), band)


def ambient_events(
    climate: Climate,
    seed: int,
    clock: Clock,
    tick: int,
    *,
    before: Ambient | None = None,
    imposed: Imposed | None = None,
) -> list[Event]:
    """Returns what changes with the tick: TIME_ADVANCED{part_of_day}, WEATHER_CHANGED{from, to, wind, temperature}.

    `before`: the weather of the tick before, which may have had another seed; None: by the same seed.
    """
    if tick == 0:
        return []
    before = before or ambient_at(climate, seed, clock, tick - 1, imposed)
    now = ambient_at(climate, seed, clock, tick, imposed)
    bodies: list[EventBody] = []
    if now.part_of_day != before.part_of_day:
        bodies.append(TimeAdvanced(part_of_day=now.part_of_day))
    if now.sky != before.sky:
        bodies.append(weather_change(before, now))
    return [Event(tick, Phase.AMBIENT, NOBODY, ordinal, "", body) for ordinal, body in enumerate(bodies)]


def weather_change(before: Ambient, now: Ambient) -> WeatherChanged:
    """Returns the event of a change of the sky."""
    return WeatherChanged(old=before.sky, to=now.sky, wind=now.wind, temperature=now.temperature)


def _sky(climate: Climate, seed: int, number: int) -> str:
    """Returns the n-th sky of the chain. The chain is drawn only as far as needed, since each sky depends on the one
    before."""
    drawn = climate.drawn.setdefault(seed, [climate.start_sky])
    while len(drawn) <= number:
        weights = climate.skies.get(drawn[-1]) or NEXT_SKY[drawn[-1]]
        drawn.append(weighted(weights, seed, NOBODY, len(drawn), "sky"))
    return drawn[number]


def _fallen(sky: str, degrees: int) -> str:
    """Returns snow for rain at 0 °C and below, and rain for snow above 2 °C; any other sky as it is."""
    if sky in ("rain", "storm") and degrees <= 0:
        return "snow"
    return "rain" if sky == "snow" and degrees > 2 else sky
