"""The town screen: all panels, given whole ticks. Nothing here changes a run but `submit` and the controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from commonplace.errors import CommonplaceError
from commonplace.text import clean
from commonplace.views.source import Inspection, Source
from commonplace.views.terminal.canvas import NIGHT, PALETTES, Palette, themes
from commonplace.views.terminal.god_mode import CommandScreen
from commonplace.views.terminal.header import Header, HelpScreen, Keys, Standing
from commonplace.views.terminal.inspector import Inspector
from commonplace.views.terminal.lists import EventList, EventLog, People, Talk
from commonplace.views.terminal.map import TownMap
from commonplace.views.terminal.player import Player, Shown, Ticks
from commonplace.views.terminal.timeline import Timeline
from commonplace.views.terminal.why import WhyScreen
from commonplace.views.words import Key, word

# ── travel ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Time on the screen: following a run, looking back, playing on. The part of the town screen that moves the tick.


BEAT = 0.05
"""Seconds between looks at the clock while a recording rolls."""
PULSE = 0.5
"""Seconds between looks at what changes without a commit of ours."""
MARKS_PER_BEAT = 60
"""Ticks read for the time-line at a beat."""


class Committed(Message):
    """The run has another tick."""

    def __init__(self, tick: int) -> None:
        super().__init__()
        self.tick = tick

    def can_replace(self, message: Message) -> bool:
        """Of several waiting commits only the last is drawn."""
        return isinstance(message, Committed)


class Failed(Message):
    """The source cannot be read any more. Goes up to the app."""

    def __init__(self, error: CommonplaceError) -> None:
        super().__init__()
        self.error = error


class Travel(Screen[None]):
    """A screen with a tick. What it shows of the tick is its subclass's business."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "play", priority=True),
        Binding("full_stop", "step", "step"),
        Binding("plus,equals_sign", "faster(1)", "faster"),
        Binding("minus", "faster(-1)", "slower"),
        Binding("left", "move(-1)", "back", priority=True),
        Binding("right", "move(1)", "on", priority=True),
        Binding("pageup", "hour(-1)", "hour back", priority=True),
        Binding("pagedown", "hour(1)", "hour on", priority=True),
        Binding("home", "go(0)", "first", priority=True),
        Binding("end", "end", "last", priority=True),
        Binding("l", "live", "live"),
    ]

    def __init__(self, source: Source, player: Player) -> None:
        super().__init__()
        self.source = source
        self.player = player
        self.ticks = Ticks(source)
        self.looked = monotonic()

    def draw(self) -> None:
        """Show the player's tick."""
        raise NotImplementedError

    def draw_edges(self) -> None:
        """Show what may change without a tick: state, speed, progress, how far the run has come."""
        raise NotImplementedError

    def start_clock(self) -> None:
        """Begin to follow time."""
        self.looked = monotonic()
        self.set_interval(BEAT, self._beat)
        self.set_interval(PULSE, self._pulse)

    def standing(self) -> Standing:
        """How the run stands, for the header."""
        source, player = self.source, self.player
        playing = player.rolling or (player.following and source.playing)
        return Standing(
            state=self._state(),
            tick=player.tick,
            last=player.last,
            rate=source.rate if player.following and source.live else player.rate,
            mind=source.mind,
            progress=source.progress,
            playing=playing,
        )

    def _state(self) -> Key:
        if not self.source.live:
            return "END" if self.player.tick == self.player.last and not self.player.rolling else "REPLAY"
        if not self.player.following:
            return "PAST"
        return "LIVE" if self.source.playing else "PAUSED"

    def on_committed(self, message: Committed) -> None:
        """A whole tick more to read."""
        self.grown(message.tick)

    def grown(self, tick: int) -> None:
        """The run reaches to this tick."""
        before = self.player.tick
        self.player.grown(tick)
        if self.player.tick != before:
            self.draw()
        else:
            self.draw_edges()

    def _beat(self) -> None:
        now = monotonic()
        passed, self.looked = now - self.looked, now
        if self.player.passed(passed):
            self.draw()
        timeline = self.query_one(Timeline)
        if self.ticks.read_marks(timeline.marks, MARKS_PER_BEAT):
            timeline.refresh()

    def _pulse(self) -> None:
        """What changes without a tick: progress, speed, a file that another process writes."""
        if self.source.last_tick != self.player.last:
            self.grown(self.source.last_tick)
        else:
            self.draw_edges()

    def _seek(self, tick: int) -> None:
        self.player.seek(tick)
        self.draw()

    def action_move(self, ticks: int) -> None:
        """One tick back or on."""
        self._seek(self.player.tick + ticks)

    def action_hour(self, hours: int) -> None:
        """One hour back or on."""
        self._seek(self.player.tick + hours * max(1, 60 // self.ticks.town.clock.tick_minutes))

    def action_go(self, tick: int) -> None:
        """To a tick."""
        self._seek(tick)

    def action_end(self) -> None:
        """To the last tick."""
        self._seek(self.player.last)

    def action_live(self) -> None:
        """To the latest tick, and stay there."""
        self.player.follow()
        self.draw()

    def action_play(self) -> None:
        """Make ticks or stop making them; in the past and in a recording, play what is there."""
        if self.source.live and self.player.following:
            self.source.pause() if self.source.playing else self.source.play()
        else:
            self.player.roll()
        self.looked = monotonic()
        self.draw()

    def action_step(self) -> None:
        """One tick."""
        if self.source.live and self.player.following:
            self.source.step()
        else:
            self._seek(self.player.tick + 1)

    def action_faster(self, step: int) -> None:
        """Another speed."""
        rate = self.player.faster(step)
        if self.source.live:
            self.source.speed(rate)
        self.draw_edges()

    def on_timeline_sought(self, message: Timeline.Sought) -> None:
        """The track was clicked."""
        self._seek(message.tick)


# ── screen ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── app ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The town on a terminal: `TownApp(source).run()`.


class TownApp(App[None]):
    """One run, live or recorded, on a terminal.

    `start` is the tick a recording opens at (None: the latest, followed as it grows); `playing` lets a recording roll
    at once, at `rate` ticks per second.
    """

    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", "quit", show=False, priority=True),
    ]

    def __init__(
        self, source: Source, *, start: int | None = None, playing: bool = False, rate: float = 2.0, light: bool = False
    ) -> None:
        super().__init__()
        self.source = source
        last = source.last_tick
        self.player = Player(last if start is None else min(start, last), last, start is None, playing, rate)
        self.failure: CommonplaceError | None = None
        """Why the view ended by itself, for whoever called `run`."""
        self.unsubscribe: Callable[[], None] | None = None
        self.town_screen = TownScreen(source, self.player)
        for theme in themes():
            self.register_theme(theme)
        self.theme = list(PALETTES)[1 if light else 0]

    def get_default_screen(self) -> Screen[None]:
        """The town."""
        return self.town_screen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colour names, for the moment before the theme is set."""
        return dict(themes()[0].variables)

    def on_mount(self) -> None:
        """A call at every commit."""
        self.unsubscribe = self.source.subscribe(self._committed)

    def on_failed(self, message: Failed) -> None:
        """Leave with what went wrong."""
        self.failure = message.error
        self.exit(return_code=message.error.status, message=str(message.error))

    def on_unmount(self) -> None:
        """No more calls."""
        if self.unsubscribe is not None:
            self.unsubscribe()

    def _committed(self, tick: int) -> None:
        """From any thread."""
        self.town_screen.post_message(Committed(tick))
