"""The terminal view: the app, its screen with all panels, and the keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.filter import LineFilter
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen

from commonplace.errors import CommonplaceError
from commonplace.languages import rows
from commonplace.parts.live.source import Source
from commonplace.parts.terminal.ask import AskScreen
from commonplace.parts.terminal.god_mode import CommandScreen
from commonplace.parts.terminal.header import Header, HelpScreen, Keys, ViewStatus
from commonplace.parts.terminal.inspector import Inspector, Rows
from commonplace.parts.terminal.lists import EventList, EventLog, People, Talk
from commonplace.parts.terminal.map import TownMap
from commonplace.parts.terminal.palette import NIGHT, PALETTES, Palette, themes
from commonplace.parts.terminal.player import Player, Scene, SceneReader
from commonplace.parts.terminal.stars import StarsScreen
from commonplace.parts.terminal.timeline import Timeline
from commonplace.parts.terminal.why import WhyScreen, why_text
from commonplace.text import clean, printable
from commonplace.views.words import Key, word

BEAT = 0.05
"""Seconds between two steps of the clock while a recording plays or the marks of the time-line are read."""
PULSE = 0.5
"""Seconds between two checks of what may change without a commit of ours: the file, the speed, the progress."""
HEARD = 0.1
"""Seconds between two looks at what is being said."""
MARKS_PER_BEAT = 60
"""Ticks read for the time-line at a beat."""
FRONT: tuple[Key, ...] = ("talk", "people", "inspector", "log")
"""Panels in the order of their number keys."""
LOWER: tuple[Key, ...] = ("inspector", "log")
"""Panels that share a place where there is no room for both."""
WIDTHS = [(0, "-compact"), (100, "-normal"), (150, "-wide")]
"""Columns from which a layout fits."""
HEIGHTS = [(0, "-tiny"), (22, "-low"), (30, "-high")]


class Committed(Message):
    """A message: the run has another tick."""

    def __init__(self, tick: int) -> None:
        super().__init__()
        self.tick = tick

    def can_replace(self, message: Message) -> bool:
        """Lets only the last of several waiting commits be drawn."""
        return isinstance(message, Committed)


class Failed(Message):
    """A message: the source cannot be read any more. It goes up to the app."""

    def __init__(self, error: CommonplaceError) -> None:
        super().__init__()
        self.error = error


class PrintableText(LineFilter):
    """A filter that makes every text on the screen printable, whoever wrote it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 – Textual's signature
        """Returns the printable segments with their styles."""
        return [segment if segment.control else Segment(printable(segment.text), segment.style) for segment in segments]


PRINTABLE = PrintableText()


class TownApp(App[None]):
    """One run, live or recorded, on a terminal: `TownApp(source).run()`.

    `start` is the tick a recording opens at (None: the latest, followed as it grows); `playing` lets a recording play
    at once, at `rate` ticks per second.
    """

    CSS_PATH = Path(__file__).with_name("styles.tcss")  # absolute, so that a subclass in another folder finds it
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
        """Returns the screen of the town."""
        return self.town_screen

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """Yields what the palette offers: keys by their words, and the characters by their names."""
        if screen is self.town_screen:
            yield from self.town_screen.commands()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Returns our own colour names: Textual parses the styles once before it knows the theme."""
        return dict(themes()[0].variables)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Returns Textual's own, and the one that makes every text printable."""
        return [*super().get_line_filters(), PRINTABLE]

    def on_mount(self) -> None:
        """Subscribes to commits."""
        self.unsubscribe = self.source.subscribe(self._committed)

    def on_failed(self, message: Failed) -> None:
        """Leaves with the error."""
        self.failure = message.error
        self.exit(return_code=message.error.status)

    def on_unmount(self) -> None:
        """Ends the calls about commits."""
        if self.unsubscribe is not None:
            self.unsubscribe()

    def _committed(self, tick: int) -> None:
        """Posts a commit to the screen; called from any thread."""
        self.town_screen.post_message(Committed(tick))


class TownScreen(Screen[None]):
    """All panels at the player's tick. Nothing here changes a run except `submit` and the controls of the source."""

    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "play", priority=True),
        Binding("full_stop", "step", "step"),
        Binding("plus,equals_sign", "faster(1)", "faster"),
        Binding("minus", "faster(-1)", "slower"),
        Binding("left", "move(-1)", "back", priority=True),
        Binding("right", "move(1)", "forward", priority=True),
        Binding("pageup", "hour(-1)", "hour back", priority=True),
        Binding("pagedown", "hour(1)", "hour forward", priority=True),
        Binding("home", "go(0)", "first", priority=True),
        Binding("end", "end", "last", priority=True),
        Binding("l", "live", "live"),
        *(Binding(str(number), f"front('{name}')", name) for number, name in enumerate(FRONT, 1)),
        Binding("c", "next(1)", "next character"),
        Binding("C", "next(-1)", "previous character"),
        Binding("i", "page(1)", "next page"),
        Binding("I", "page(-1)", "previous page"),
        Binding("f", "filter", "filter"),
        Binding("w", "why", "why"),
        Binding("s", "stars", "stars"),
        Binding("a", "ask", "ask"),
        Binding("g,colon", "god", "god mode"),
        Binding("t", "theme", "theme"),
        Binding("question_mark", "help", "help"),
    ]

    def __init__(self, source: Source, player: Player) -> None:
        super().__init__()
        self.source = source
        self.player = player
        self.reader = SceneReader(source)
        self.selected = next(iter(self.reader.badges), "")
        self._scene: Scene | None = None
        self._asked: list[str] = []
        self._stars: Mapping[str, float] = {}
        """What was rated, as last read."""
        self._draw_is_due = False
        self._last_beat = monotonic()
        self._opening = ExitStack()

    # ── opening ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def compose(self) -> ComposeResult:
        """Builds header, panels, time-line and keys, in the layout that suits the size of the terminal."""
        self._choose_layout(self.app.size)
        panels = (TownMap(), Talk(), Inspector(), EventLog(), People())
        panels[1].add_class("-front")
        panels[2].add_class("-lower")
        yield Header()
        yield Container(*panels, id="panels")
        yield Timeline()
        yield Keys()

    def on_mount(self) -> None:
        """Holds painting back until every panel has its size and its content, so that the first picture is right."""
        self._opening.enter_context(self.app.batch_update())
        self.query_one(Talk).focus()
        self._draw_inspector()  # its height is that of its text: Textual has to know it before the first layout
        self._beat = self.set_interval(BEAT, self._on_beat, pause=True)
        self.call_after_refresh(self._open)

    def _open(self) -> None:
        self.draw()
        self._start_beat()
        self.set_interval(PULSE, self._on_pulse)
        if self.source.live:
            self.set_interval(HEARD, self._on_heard)
        self.call_after_refresh(self._paint_first)

    def _paint_first(self) -> None:
        self._opening.close()
        self.refresh()

    def on_unmount(self) -> None:
        """Resumes painting, in case the screen is closed before its first picture."""
        self._opening.close()

    def on_resize(self, event: Resize) -> None:
        """Chooses by the width which panels are seen, and what their titles name."""
        if event.size != self.app.size:  # sent by an earlier layout, and a new one would send another such event
            event.prevent_default()
            return
        self._choose_layout(event.size)
        self.call_after_refresh(self.draw_soon)

    def on_screen_resume(self) -> None:
        """Draws again: Textual drops what a closed screen still had to do after a refresh."""
        if self._draw_is_due:
            self._draw_is_due = False
            self.draw_soon()

    def _choose_layout(self, size: Size) -> None:
        """Sets the classes of the breakpoints: Textual does so too, but only after it has painted once without them."""
        for cells, breakpoints in ((size.width, WIDTHS), (size.height, HEIGHTS)):
            fitting = [name for least, name in breakpoints if cells >= least][-1]
            for _, name in breakpoints:
                self.set_class(name == fitting, name)

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def draw_soon(self) -> None:
        """Draws once after all waiting messages: the keys of a held arrow add up to one picture."""
        if not self._draw_is_due:
            self._draw_is_due = True
            self.call_after_refresh(self._draw_if_due)

    def _draw_if_due(self) -> None:
        if self._draw_is_due:
            self.draw()

    def draw(self) -> None:
        """Shows the player's tick on every panel. A source that fails ends the view with its error."""
        self._draw_is_due = False
        scene = self._draw_inspector()
        if scene is not None:
            self.query_one(TownMap).show(scene)
            self.query_one(Talk).show(scene)
            self.query_one(EventLog).show(scene)
            self.query_one(People).show(scene)
            self._draw_titles()
            self.draw_status()

    def _draw_inspector(self) -> Scene | None:
        """Reads the player's tick and shows its character from inside. Returns None if it cannot be read."""
        try:
            self._scene = self.reader.scene(self.player.tick, self.palette, self.selected)
        except CommonplaceError as error:
            self.post_message(Failed(error))
            return None
        inspector = self.query_one(Inspector)
        if self.selected and inspector.display:
            with suppress(CommonplaceError):  # somebody who is not there at this tick
                inspector.show(self._scene, self.source.inspect(self.selected, self.player.tick), self._stars)
        return self._scene

    def draw_status(self) -> None:
        """Shows on header, keys and time-line what may change without a tick: state, speed, progress, run length.

        Each of them paints only what has changed, so that a paused view writes nothing.
        """
        scene = self._scene
        if scene is None:
            return
        status = self._status()
        self.query_one(Header).show(scene, status)
        self.query_one(Keys).show(scene, playing=status.playing)
        self.query_one(Timeline).show(
            scene.town, scene.palette, self.player.tick, self.player.last, max(self.source.final_tick, self.player.last)
        )

    @property
    def palette(self) -> Palette:
        """The colours in use."""
        return PALETTES.get(self.app.theme, NIGHT)

    def _status(self) -> ViewStatus:
        source, player = self.source, self.player
        playing = player.playing or (player.following and source.playing)
        return ViewStatus(
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
            return "END" if self.player.tick == self.player.last and not self.player.playing else "REPLAY"
        if not self.player.following:
            return "PAST"
        return "LIVE" if self.source.playing else "PAUSED"

    def _draw_titles(self) -> None:
        """Writes the panel titles; those behind are named after the one in front."""
        town = self.reader.town
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
        town = self.reader.town
        pieces: list[tuple[str, str]] = []
        for name in names:
            label = town.short(self.selected) if name == "inspector" else word(town.language, name)
            pieces.append((f"{FRONT.index(name) + 1} {label}", "bold" if name == front else "dim"))
            pieces.append((" │ ", "dim"))
        return Content.assemble(*pieces[:-1])

    # ── time ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_committed(self, message: Committed) -> None:
        """Takes in another whole tick."""
        self._extend(message.tick)

    def _extend(self, last: int) -> None:
        before = self.player.tick
        self.player.extend(last)
        if self.player.tick != before:
            self.draw_soon()
        else:
            self.draw_status()
        self._beat.resume()

    def _start_beat(self) -> None:
        self._last_beat = monotonic()
        self._beat.resume()

    def _on_beat(self) -> None:
        """Moves a playing recording on and reads some marks. With neither to do, the timer stops."""
        now = monotonic()
        passed, self._last_beat = now - self._last_beat, now
        if self.player.advance(passed):
            self.draw_soon()
        has_more = self.query_one(Timeline).read_marks(self.source, self.player.last, MARKS_PER_BEAT)
        if not has_more and not self.player.playing:
            self._beat.pause()

    def _on_pulse(self) -> None:
        last = self.source.last_tick
        if last != self.player.last:
            self._extend(last)
        else:
            self.draw_status()

    def _on_heard(self) -> None:
        following = self.player.following
        if not following or self.source.last_tick == self.player.tick:  # else the next picture has the line itself
            self.query_one(Talk).hear(self.source.speaking if following else {})

    def _seek(self, tick: int) -> None:
        self.player.seek(tick)
        self.draw_soon()

    def action_move(self, ticks: int) -> None:
        """Goes some ticks back or forward."""
        self._seek(self.player.tick + ticks)

    def action_hour(self, hours: int) -> None:
        """Goes some hours back or forward."""
        self._seek(self.player.tick + hours * max(1, 60 // self.reader.town.clock.tick_minutes))

    def action_go(self, tick: int) -> None:
        """Goes to a tick."""
        self._seek(tick)

    def action_end(self) -> None:
        """Goes to the last tick."""
        self._seek(self.player.last)

    def action_live(self) -> None:
        """Goes to the latest tick and stays there."""
        self.player.follow()
        self.draw_soon()

    def action_play(self) -> None:
        """Starts or stops making ticks; in the past and in a recording, plays what is there."""
        if self.source.live and self.player.following:
            self.source.pause() if self.source.playing else self.source.play()
        else:
            self.player.toggle()
            self._start_beat()
        self.draw_soon()

    def action_step(self) -> None:
        """Goes on by one tick."""
        if self.source.live and self.player.following:
            self.source.step()
        else:
            self._seek(self.player.tick + 1)

    def action_faster(self, step: int) -> None:
        """Changes the speed."""
        rate = self.player.faster(step)
        if self.source.live:
            self.source.speed(rate)
        self.draw_status()

    def on_timeline_sought(self, message: Timeline.Sought) -> None:
        """Goes to the clicked place of the track."""
        self._seek(message.tick)

    # ── panels ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def action_front(self, name: Key) -> None:
        """Brings a panel to the front and goes there."""
        self._bring(name)
        self.draw()
        if name == "inspector":
            self.query_one(Inspector).take_focus()
        else:
            self.query_one(f"#{name}").focus()

    def _bring(self, name: Key) -> None:
        """Brings a panel in front of those that share its place; the styles say which do."""
        for panel in FRONT:
            self.query_one(f"#{panel}").set_class(panel == name, "-front")
        if name in LOWER:
            for panel in LOWER:
                self.query_one(f"#{panel}").set_class(panel == name, "-lower")

    def action_next(self, step: int) -> None:
        """Selects another character."""
        agents = list(self.reader.badges)
        if agents:
            place = agents.index(self.selected) if self.selected in agents else -1
            self._select(agents[(place + step) % len(agents)])

    def _select(self, agent_id: str) -> None:
        self.selected = agent_id
        self.draw_soon()

    def commands(self) -> Iterator[SystemCommand]:
        """Yields the commands of this screen, in the language of the run."""
        town = self.reader.town
        for action, named in rows(town.language, "terminal", "commands"):
            title, _, key = named.partition(" | ")
            yield SystemCommand(title, key, partial(self.app.run_action, action, self))
        for agent_id, badge in self.reader.badges.items():
            yield SystemCommand(clean(town.who(agent_id)), badge.letters, partial(self._select, agent_id))

    def action_page(self, step: int) -> None:
        """Turns to another page of the inspector."""
        self.query_one(Inspector).turn(step)
        if self.query_one(Inspector).page_name == "memory":
            self.run_worker(self._read_stars, thread=True, exclusive=True, exit_on_error=False)
        self.action_front("inspector")

    def action_filter(self) -> None:
        """Changes the filter of the log."""
        self.query_one(EventLog).next_filter()
        self.action_front("log")

    def on_town_map_picked(self, message: TownMap.Picked) -> None:
        """Selects the character that was clicked on the map."""
        self._select(message.agent_id)

    def on_people_picked(self, message: People.Picked) -> None:
        """Selects the character that was chosen from the list."""
        self._select(message.agent_id)
        if message.opened:
            self.action_front("inspector")

    def on_event_list_opened(self, message: EventList.Opened) -> None:
        """Shows the reasons of the chosen line."""
        self._open_why(message.event_id)

    # ── screens over the town ───────────────────────────────────────────────────────────────────────────────────────

    def action_why(self) -> None:
        """Shows the reasons of the line highlighted in the talk, the log, or a character's goals or past."""
        focused = self.focused
        panel = focused if isinstance(focused, EventList | Rows) else self.query_one(Talk)
        if panel.chosen():
            self._open_why(panel.chosen())

    def _open_why(self, event_id: str) -> None:
        entries = self._scene.recent if self._scene else ()
        entry = next((one for one in entries if one.event_id == event_id), None)
        heading = Text(event_id, self.palette.muted)
        if entry is not None:
            who = self.reader.town.who(entry.agent_id) if entry.agent_id else ""
            line = (entry.text, self.palette.text)
            heading = Text.assemble((f"{who} ", "bold"), line, (f"  {event_id}", self.palette.muted))
        try:
            why = self.source.why(event_id)
        except CommonplaceError as error:
            self.notify(clean(str(error)), markup=False, severity="warning")
            return
        language = self.reader.town.language
        self.app.push_screen(WhyScreen(heading, why_text(why, self.palette, language), language))

    def action_stars(self) -> None:
        """Rates the line highlighted in the talk, the log, or a character's memories."""
        focused = self.focused
        panel = focused if isinstance(focused, EventList | Rows) else self.query_one(Talk)
        name = panel.rated() if isinstance(panel, Rows) else panel.chosen()
        if not name:
            return
        try:
            ratings = self.source.ratings()
        except CommonplaceError as error:
            self.notify(clean(str(error)), markup=False, severity="warning")
            return
        panel = StarsScreen(ratings, name, self.palette, self.reader.town.language)
        self.app.push_screen(panel, self._on_rated)

    def _read_stars(self) -> None:
        """Reads the stars in a worker thread: another process may have the folder of a panel."""
        try:
            stars = self.source.ratings().all()
        except CommonplaceError:  # shown without stars; who asks for them with `s` is told why
            return
        self.app.call_from_thread(self._on_rated, stars)

    def _on_rated(self, stars: Mapping[str, float] | None) -> None:
        if stars is not None and stars != self._stars:
            self._stars = stars
            self.draw_soon()

    def action_ask(self) -> None:
        """Talks with the selected character, as it is at the tick on the screen."""
        if self._scene is None or not self.selected:
            return
        try:
            panel = AskScreen(self.source, replace(self._scene, selected=self.selected), self._asked)
        except CommonplaceError as error:
            self.notify(clean(str(error)), markup=False, severity="warning")
            return
        self.app.push_screen(panel, self._on_talked)

    def _on_talked(self, agent_id: str | None) -> None:
        if agent_id and agent_id != self.selected:
            self._select(agent_id)

    def action_god(self) -> None:
        """Opens the line for god mode."""
        self.app.push_screen(CommandScreen(self.source, self.reader.town, self.palette.muted), self._on_submitted)

    def _on_submitted(self, confirmation: str | None) -> None:
        if confirmation:
            self.notify(clean(confirmation), markup=False)

    def action_help(self) -> None:
        """Shows the keys."""
        self.app.push_screen(HelpScreen(self.palette, self.reader.town.language))

    def action_theme(self) -> None:
        """Switches between dark and light."""
        names = list(PALETTES)
        self.app.theme = names[(names.index(self.app.theme) + 1) % len(names)]
        self.draw()
