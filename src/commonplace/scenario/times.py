"""Times of day as a scenario writes them, and the one thing a day must end with."""

from __future__ import annotations

DAY = 24 * 60
"""Minutes."""


def minutes(time_of_day: str) -> int:
    """Minutes after midnight of `HH:MM`; `24:00` is 1440. Raises ValueError."""
    hour, minute = (int(part) for part in time_of_day.split(":"))
    total = hour * 60 + minute
    if minute > 59 or total > DAY:
        raise ValueError(time_of_day)
    return total


def hours(stretch: str) -> tuple[int, int] | None:
    """`08:00-22:00` as minutes of the day; None for an empty text, which means always. Raises ValueError."""
    if not stretch:
        return None
    begin, end = stretch.split("-")
    return minutes(begin), minutes(end)


def is_sleep(do: str, language: str) -> bool:
    """Whether a routine item is the night's sleep: `sleep` (en) or `잠` (ko) occurs in it."""
    return ("잠" if language == "ko" else "sleep") in do.lower()
