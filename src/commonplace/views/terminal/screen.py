"""The town screen: all panels, given whole ticks. Nothing here changes a run but `submit` and the controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content

from commonplace.errors import CommonplaceError
from commonplace.text import clean
from commonplace.views.source import Inspection, Source
from commonplace.views.terminal.command import CommandScreen
from commonplace.views.terminal.eventlist import EventList
from commonplace.views.terminal.header import Header, Keys
from commonplace.views.terminal.help import HelpScreen
from commonplace.views.terminal.inspector import Inspector
from commonplace.views.terminal.log import EventLog
from commonplace.views.terminal.map import TownMap
from commonplace.views.terminal.palette import NIGHT, PALETTES, Palette
from commonplace.views.terminal.people import People
from commonplace.views.terminal.player import Player
from commonplace.views.terminal.shown import Shown
from commonplace.views.terminal.talk import Talk
from commonplace.views.terminal.timeline import Timeline
from commonplace.views.terminal.travel import Failed, Travel
from commonplace.views.terminal.why import WhyScreen
from commonplace.views.words import Key, word

FRONT: tuple[Key, ...] = ("talk", "people", "inspector", "log")
"""Panels in the order of their number keys."""
LOWER: tuple[Key, ...] = ("inspector", "log")
"""Panels that share a place where there is none for both."""


class TownScreen(Travel):
    """All panels. They are given whole ticks; nothing here changes a run except by `submit` and the controls."""

    HORIZONTAL_BREAKPOINTS = [(0, "-compact"), (100, "-normal"), (150, "-wide")]  # noqa: RUF012 – as Textual types it
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (22, "-low"), (30, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"front('{name}')", name) for number, name in enumerate(FRONT, 1)),
        Binding("c", "next(1)", "next character"),
        Binding("C", "next(-1)", "previous character"),
        Binding("i", "page(1)", "next page"),
        Binding("I", "page(-1)", "previous page"),
        Binding("f", "filter", "filter"),
        Binding("w", "why", "why"),
        Binding("g,colon", "god", "god mode"),
        Binding("t", "theme", "theme"),
        Binding("question_mark", "help", "help"),
    ]

    def __init__(self, source: Source, player: Player) -> None:
        super().__init__(source, player)
        self.selected = next(iter(self.ticks.badges), "")

    def compose(self) -> ComposeResult:
        """Header, panels, time-line, keys."""
        yield Header()
        with Container(id="panels"):
            yield TownMap()
            yield Talk()
            yield Inspector()
            yield EventLog()
            yield People()
        yield Timeline()
        yield Keys()

    def on_mount(self) -> None:
        """Follow the run."""
        self.query_one(Talk).focus()
        self._bring("talk")
        self.draw()
        self.start_clock()

    def on_resize(self) -> None:
        """The width decides which panels are seen, and what their titles name."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Show the player's tick on every panel. A source that fails ends the view with its error."""
        try:
            shown = self._shown()
        except CommonplaceError as error:
            self.post_message(Failed(error))
            return
        self.query_one(TownMap).show(shown)
        self.query_one(Talk).show(shown)
        self.query_one(EventLog).show(shown)
        self.query_one(People).show(shown)
        self.query_one(Inspector).show(shown, self._inspection())
        self.draw_edges()
        self._title()

    @property
    def palette(self) -> Palette:
        """The look in use."""
        return PALETTES.get(self.app.theme, NIGHT)

    def _shown(self) -> Shown:
        return self.ticks.shown(self.player.tick, self.palette, self.selected)

    def draw_edges(self) -> None:
        """Header, keys and time-line."""
        shown = self._shown()
        standing = self.standing()
        self.query_one(Header).show(shown, standing)
        self.query_one(Keys).show(shown, playing=standing.playing)
        self.query_one(Timeline).show(
            shown.town, shown.palette, self.player.tick, self.player.last, self.source.final_tick
        )

    def _inspection(self) -> Inspection | None:
        if not self.selected or not self.query_one(Inspector).display:
            return None
        try:
            return self.source.inspect(self.selected, self.player.tick)
        except CommonplaceError:
            return None

    def _title(self) -> None:
        """Panel titles; those behind are named after the one in front."""
        town = self.ticks.town
        self.query_one(TownMap).border_title = Content(town.title)
        compact, wide = self.has_class("-compact"), self.has_class("-wide")
        for name in FRONT:
            panel = self.query_one(f"#{name}")
            beside = LOWER if name in LOWER and not wide else (name,)
            behind = FRONT if compact else beside
            panel.border_title = self._tabs(behind, name)
        log = self.query_one(EventLog)
        log.border_subtitle = Content(f"f: {word(town.language, log.filter_name)}")

    def _tabs(self, names: Sequence[Key], front: Key) -> Content:
        pieces: list[tuple[str, str]] = []
        for name in names:
            town = self.ticks.town
            label = town.short(self.selected) if name == "inspector" else word(town.language, name)
            pieces.append((f"{FRONT.index(name) + 1} {label}", "bold" if name == front else "dim"))
            pieces.append((" │ ", "dim"))
        return Content.assemble(*pieces[:-1])

    def action_front(self, name: Key) -> None:
        """Bring a panel to the front and go there."""
        self._bring(name)
        self.draw()
        self.query_one(f"#{name}").focus()

    def _bring(self, name: Key) -> None:
        """A panel before those that share its place; the styles say which do."""
        for panel in FRONT:
            self.query_one(f"#{panel}").set_class(panel == name, "-front")
        if name in LOWER or not self.query(".-lower"):
            lower = name if name in LOWER else LOWER[0]
            for panel in LOWER:
                self.query_one(f"#{panel}").set_class(panel == lower, "-lower")

    def action_next(self, step: int) -> None:
        """Another character."""
        agents = list(self.ticks.badges)
        if agents:
            place = agents.index(self.selected) if self.selected in agents else -1
            self._select(agents[(place + step) % len(agents)])

    def _select(self, agent_id: str) -> None:
        self.selected = agent_id
        self.draw()

    def action_page(self, step: int) -> None:
        """Another page of the inspector."""
        self.action_front("inspector")
        self.query_one(Inspector).turn(step)

    def action_filter(self) -> None:
        """Another filter of the log."""
        self.action_front("log")
        self.query_one(EventLog).next_filter()
        self._title()

    def on_town_map_picked(self, message: TownMap.Picked) -> None:
        """A character on the map was clicked."""
        self._select(message.agent_id)

    def on_people_picked(self, message: People.Picked) -> None:
        """A character was chosen from the list."""
        self._select(message.agent_id)
        if message.opened:
            self.action_front("inspector")

    def on_event_list_opened(self, message: EventList.Opened) -> None:
        """A line was chosen."""
        self._open_why(message.event_id)

    def action_why(self) -> None:
        """The reasons of the line highlighted in the talk or the log."""
        focused = self.focused
        panel = focused if isinstance(focused, EventList) else self.query_one(Talk)
        if panel.chosen():
            self._open_why(panel.chosen())

    def _open_why(self, event_id: str) -> None:
        told = next((one for one in self.ticks.recent if one.event_id == event_id), None)
        heading = Text(event_id, self.palette.muted)
        if told is not None:
            who = self.ticks.town.who(told.agent_id) if told.agent_id else ""
            line = (told.text, self.palette.text)
            heading = Text.assemble((f"{who} ", "bold"), line, (f"  {event_id}", self.palette.muted))
        try:
            explanation = self.source.why(event_id)
        except CommonplaceError as error:
            self.notify(clean(str(error)), markup=False, severity="warning")
            return
        self.app.push_screen(WhyScreen(heading, explanation, self.palette, self.ticks.town.language))

    def action_god(self) -> None:
        """Say what happens."""
        self.app.push_screen(CommandScreen(self.source, self.ticks.town, self.palette.muted), self._commanded)

    def _commanded(self, said: str | None) -> None:
        if said:
            self.notify(clean(said), markup=False)

    def action_help(self) -> None:
        """The keys."""
        self.app.push_screen(HelpScreen(self.palette, self.ticks.town.language))

    def action_theme(self) -> None:
        """Dark or light."""
        names = list(PALETTES)
        self.app.theme = names[(names.index(self.app.theme) + 1) % len(names)]
        self.draw()
