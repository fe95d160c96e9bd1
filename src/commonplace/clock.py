"""Simulated time. Only the engine moves it; words for it come from tables, never from the locale."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

PARTS_OF_DAY = ((5, "dawn"), (8, "morning"), (12, "midday"), (14, "afternoon"), (18, "evening"), (22, "night"))
"""(hour it begins, name); before the first it is night."""


def utc(moment: datetime) -> datetime:
    """Returns the moment in UTC: a naive one is taken as UTC, an aware one is converted."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def part_of_day(moment: datetime) -> str:
    """Returns `dawn` 5–8, `morning` 8–12, `midday` 12–14, `afternoon` 14–18, `evening` 18–22, or `night`."""
    name = "night"
    for hour, part in PARTS_OF_DAY:
        if moment.hour >= hour:
            name = part
    return name


def hhmm(moment: datetime) -> str:
    """Returns a time such as `19:05`."""
    return f"{moment.hour:02d}:{moment.minute:02d}"


@lru_cache(maxsize=4096)  # all that happens in a tick happens at one moment
def iso(moment: datetime) -> str:
    """Returns a time such as `2031-10-04T06:00:00Z`; microseconds only where there are some."""
    return utc(moment).isoformat().replace("+00:00", "Z")


def parse_iso(text: str) -> datetime:
    """Reads a time as `iso` writes it; any ISO 8601 date and time is accepted. Raises ValueError."""
    return utc(datetime.fromisoformat(text))


@dataclass(frozen=True, slots=True)
class Clock:
    """Tick 0 is `start`; each later tick is `tick_minutes` after the one before."""

    start: datetime
    tick_minutes: int

    def time(self, tick: int) -> datetime:
        """Returns the simulated moment at which the tick ends."""
        return self.start + timedelta(minutes=self.tick_minutes * tick)

    def tick(self, moment: datetime) -> int:
        """Returns the first tick that does not end before the moment."""
        minutes = (utc(moment) - self.start).total_seconds() / 60
        return -int(-minutes // self.tick_minutes)

    def ticks(self, minutes: float) -> int:
        """Converts minutes into whole ticks, rounded down."""
        return int(minutes // self.tick_minutes)

    def day(self, tick: int) -> int:
        """Returns the day of a moment: 0 on the calendar day the run starts on, 1 on the next."""
        return (self.time(tick).date() - self.start.date()).days


def midnight(moment: datetime) -> datetime:
    """Returns the day's first moment."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
