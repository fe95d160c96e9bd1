"""A list of what happened: it grows at the end, keeps its highlight, and follows while nobody looks back."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from commonplace.views.telling import Told
from commonplace.views.terminal.shown import Shown

MOST = 1000
"""Lines kept before the oldest are let go."""


class EventList(OptionList):
    """Base of the talk and the log. Entries are options whose ids are event ids."""

    class Opened(Message):
        """A line was chosen: show why."""

        def __init__(self, event_id: str) -> None:
            super().__init__()
            self.event_id = event_id

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self.shown: Shown | None = None
        self.drawn: tuple[object, ...] = ()

    def entries(self, shown: Shown) -> Sequence[Told]:
        """What to list, oldest first."""
        raise NotImplementedError

    def line(self, shown: Shown, told: Told) -> Text:
        """How an entry is drawn."""
        raise NotImplementedError

    def nothing(self, shown: Shown) -> str:
        """What an empty list says."""
        raise NotImplementedError

    def look(self, shown: Shown) -> tuple[object, ...]:
        """What the drawing of an entry depends on besides the event; a change redraws all."""
        return (shown.palette.name, self.size.width)

    def show(self, shown: Shown) -> None:
        """List what happened up to this tick."""
        self.shown = shown
        entries = self.entries(shown)
        listed = [option.id for option in self.options if option.id]
        at_end = self.highlighted is None or self.highlighted >= len(listed) - 1
        new = _after(listed, [told.event_id for told in entries]) if self.look(shown) == self.drawn else None
        if new is None or len(listed) > MOST:
            self._relist(shown, entries)
        elif new < len(entries):
            self.add_options(self.made(shown, entries[new:]))
        if at_end and entries:
            self.highlighted = self.option_count - 1
            self.scroll_end(animate=False)

    def on_resize(self, _: Resize) -> None:
        """Lines are wrapped to the width."""
        if self.shown is not None and self.look(self.shown) != self.drawn:
            self.show(self.shown)

    def chosen(self) -> str:
        """The id of the highlighted event; empty if there is none."""
        option = self.highlighted_option
        return (option.id or "") if option else ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click opens the explanation."""
        event.stop()
        if event.option.id:
            self.post_message(self.Opened(event.option.id))

    def made(self, shown: Shown, entries: Sequence[Told]) -> list[Option]:
        """Options of the entries."""
        return [Option(self.line(shown, told), id=told.event_id) for told in entries]

    def _relist(self, shown: Shown, entries: Sequence[Told]) -> None:
        kept = self.chosen()
        self.drawn = self.look(shown)
        empty = Option(Text(self.nothing(shown), shown.palette.muted), disabled=True)
        self.set_options(self.made(shown, entries) or [empty])
        ids = [told.event_id for told in entries]
        self.highlighted = ids.index(kept) if kept in ids else None


def _after(listed: Sequence[str], wanted: Sequence[str]) -> int | None:
    """How many of the wanted are listed already, at the end of the list; None when the list has to be made anew.

    Older lines than wanted may stay: the window of what is recent moves on, what was listed does no harm.
    """
    if not listed or not wanted or wanted[0] not in listed:
        return None
    known = listed[listed.index(wanted[0]) :]
    return len(known) if list(wanted[: len(known)]) == list(known) else None
