"""Time on the screen: following a run, looking back, playing on. The part of the town screen that moves the tick."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from commonplace.errors import CommonplaceError
from commonplace.views.source import Source
from commonplace.views.terminal.header import Standing
from commonplace.views.terminal.player import Player
from commonplace.views.terminal.tick import Ticks
from commonplace.views.terminal.timeline import Timeline
from commonplace.views.words import Key

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
