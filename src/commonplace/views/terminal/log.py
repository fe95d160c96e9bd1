"""The event log, with filters."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from commonplace.clock import hhmm
from commonplace.views.telling import Category, Told
from commonplace.views.terminal.eventlist import EventList
from commonplace.views.terminal.shown import Shown
from commonplace.views.words import Key, word

FILTERS: tuple[tuple[Key, frozenset[Category] | None], ...] = (
    ("all", None),
    ("talk", frozenset({"talk"})),
    ("moves", frozenset({"moves"})),
    ("plans", frozenset({"plans"})),
    ("world", frozenset({"world"})),
)


class EventLog(EventList):
    """One line for each event worth reading; `f` turns to the next filter."""

    def __init__(self) -> None:
        super().__init__(id="log")
        self.filter = 0

    def next_filter(self) -> None:
        """All → talk → moves → plans → world → all."""
        self.filter = (self.filter + 1) % len(FILTERS)
        if self.shown is not None:
            self.show(self.shown)

    @property
    def filter_name(self) -> Key:
        """The name of the filter in use."""
        return FILTERS[self.filter][0]

    def look(self, shown: Shown) -> tuple[object, ...]:
        """Another filter lists other events."""
        return (*super().look(shown), self.filter)

    def entries(self, shown: Shown) -> Sequence[Told]:
        """What the filter lets through."""
        wanted = FILTERS[self.filter][1]
        return [told for told in shown.recent if wanted is None or told.category in wanted]

    def line(self, shown: Shown, told: Told) -> Text:
        """Time, mark, who, what."""
        return _line(shown, told)

    def nothing(self, shown: Shown) -> str:
        """When the filter lets nothing through."""
        return word(shown.language, "nothing yet")


def _line(shown: Shown, told: Told) -> Text:
    palette = shown.palette
    mark = palette.alert if told.mark in "✦✶✗" else palette.accent
    line = Text.assemble((hhmm(shown.town.clock.time(told.tick)), palette.faint), " ", (told.mark, mark), " ")
    if told.agent_id:
        line.append(shown.town.short(told.agent_id), f"bold {shown.colour(told.agent_id)}")
    if told.to:
        line.append(" → ", palette.muted)
        line.append(shown.town.short(told.to), shown.colour(told.to))
    quiet = told.category in ("moves", "doing")
    return line.append(f" {told.text}" if told.agent_id else told.text, palette.muted if quiet else palette.text)
