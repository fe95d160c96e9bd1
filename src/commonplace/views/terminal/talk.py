"""The talk: what is said, as it is said, each speaker in its own colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.content import Content

from commonplace.clock import hhmm
from commonplace.views.telling import Told
from commonplace.views.terminal.eventlist import EventList
from commonplace.views.terminal.shown import Shown
from commonplace.views.words import word

BUBBLES_FROM = 30
"""Lines of height from which speech gets a line of its own under the speaker's name."""


class Talk(EventList):
    """Lines of speech, newest last."""

    def __init__(self) -> None:
        super().__init__(id="talk")

    def entries(self, shown: Shown) -> Sequence[Told]:
        """Only what was said."""
        return [told for told in shown.recent if told.type == "SAY"]

    def look(self, shown: Shown) -> tuple[object, ...]:
        """Bubbles or lines, by the height of the screen."""
        return (*super().look(shown), self._bubbles())

    def nothing(self, shown: Shown) -> str:
        """Before the first word."""
        return word(shown.language, "silence")

    def _bubbles(self) -> bool:
        return self.app.size.height >= BUBBLES_FROM

    def line(self, shown: Shown, told: Told) -> Text:
        """A bubble, or a line on low screens."""
        colour = shown.colour(told.agent_id)
        head = Text.assemble(
            ("▌ " if self._bubbles() else "", colour),
            (hhmm(shown.town.clock.time(told.tick)), shown.palette.faint),
            " ",
            (shown.town.short(told.agent_id), f"bold {colour}"),
            (" → ", shown.palette.muted),
            (shown.town.short(told.to), shown.colour(told.to)),
            end="",
        )
        if not self._bubbles():
            return Text.assemble(head, "  ", (told.text, shown.palette.text))
        for line in wrapped(told.text, max(12, self.scrollable_content_region.width - 3)):
            head.append("\n▌ ", colour)
            head.append(line, shown.palette.text)
        head.append("\n")
        return head


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells."""
    return [line.plain.rstrip() for line in Content(text).wrap(width)] or [""]
