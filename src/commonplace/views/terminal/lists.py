"""A list of what happened: it grows at the end, keeps its highlight, and follows while nobody looks back."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from commonplace.clock import hhmm
from commonplace.run.frames import AgentFrame
from commonplace.text import clean
from commonplace.views.lines import Category, Told
from commonplace.views.terminal.canvas import fitted, padded
from commonplace.views.terminal.player import Shown
from commonplace.views.words import Key, word

# ── eventlist ────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── log ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The event log, with filters.


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


# ── talk ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The talk: what is said, as it is said, each speaker in its own colour.


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


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Who does what: a line for every character.


class People(OptionList):
    """A list to choose a character from; what is highlighted is selected."""

    class Picked(Message):
        """Another character is highlighted; `opened` when it was chosen with Enter or a click."""

        def __init__(self, agent_id: str, *, opened: bool) -> None:
            super().__init__()
            self.agent_id = agent_id
            self.opened = opened

    def __init__(self) -> None:
        super().__init__(id="people", markup=False, compact=True)
        self.shown: Shown | None = None

    def show(self, shown: Shown) -> None:
        """Everybody at this tick."""
        self.shown = shown
        agents = shown.agents()
        lines = [self._line(shown, one) for one in agents]
        if [option.id for option in self.options] == [one.agent_id for one in agents]:
            for number, line in enumerate(lines):
                if self.options[number].prompt != line:
                    self.replace_option_prompt_at_index(number, line)
        else:
            self.set_options(Option(line, id=one.agent_id) for one, line in zip(agents, lines, strict=True))
        self._mark(shown.selected)

    def on_resize(self, _: Resize) -> None:
        """Lines are cut to the width."""
        if self.shown is not None:
            self.show(self.shown)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Look at another character."""
        event.stop()
        if event.option.id and self.shown is not None and event.option.id != self.shown.selected:
            self.post_message(self.Picked(event.option.id, opened=False))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the inspector."""
        event.stop()
        if event.option.id:
            self.post_message(self.Picked(event.option.id, opened=True))

    def _mark(self, agent_id: str) -> None:
        ids = [option.id for option in self.options]
        if agent_id in ids and self.highlighted != ids.index(agent_id):
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = ids.index(agent_id)

    def _line(self, shown: Shown, one: AgentFrame) -> Text:
        palette = shown.palette
        badge = shown.badges.get(one.agent_id)
        line = Text(no_wrap=True, overflow="ellipsis")
        if badge:
            line.append(badge.letters, f"bold {badge.hue.ink} on {badge.hue.ground}")
        names = max((cell_len(shown.town.short(agent)) for agent in shown.badges), default=6)
        line.append(f" {padded(shown.town.short(one.agent_id), min(names, 10))} ", f"bold {shown.colour(one.agent_id)}")
        room = self.scrollable_content_region.width - line.cell_len
        where = fitted(shown.town.where(one.position), max(8, min(20, room // 3)))
        line.append(fitted(_doing(shown, one), max(6, room - cell_len(where) - 3)), palette.text)
        gap = room - (line.cell_len - (self.scrollable_content_region.width - room)) - cell_len(where)
        line.append(" " * max(1, gap))
        return line.append(where, palette.muted)


def _doing(shown: Shown, one: AgentFrame) -> str:
    if one.dialogue:
        return f"“{clean(one.dialogue)}”"
    if one.asleep:
        return word(shown.language, "asleep")
    return clean(one.doing) or (f"→ {shown.town.where(one.goal)}" if one.goal else "…")
