"""From a source to what panels show: frames kept, events told, a window of what is recent."""

from __future__ import annotations

from collections import OrderedDict

from commonplace.run.frame import Frame
from commonplace.views.hues import badges
from commonplace.views.source import Source
from commonplace.views.telling import Teller, Told
from commonplace.views.terminal.palette import Palette
from commonplace.views.terminal.shown import Shown
from commonplace.views.terminal.timeline import Marks
from commonplace.views.town import Town

KEPT_FRAMES = 256
WINDOW = 200
"""Events listed at most when one jumps to a tick; walking on from there lists more."""
BLOCK = 24
"""Ticks asked for at once on the way back."""


class Ticks:
    """Reads a source tick by tick."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.town = Town.of(source.scenario)
        self.badges = badges(self.town.called)
        self.frames: OrderedDict[int, Frame] = OrderedDict()
        self.recent: list[Told] = []
        self.teller = Teller(self.town)
        self.told = -1
        """The tick `recent` goes up to."""

    def frame(self, tick: int) -> Frame:
        """The whole tick, from memory when it was shown lately."""
        frame = self.frames.get(tick)
        if frame is None:
            frame = self.frames[tick] = self.source.frame(tick)
            if len(self.frames) > KEPT_FRAMES:
                self.frames.popitem(last=False)
        return frame

    def shown(self, tick: int, palette: Palette, selected: str) -> Shown:
        """Everything the panels need of a tick."""
        self._tell(tick)
        return Shown(self.town, self.frame(tick), palette, self.badges, selected, tuple(self.recent))

    def read_marks(self, marks: Marks, budget: int) -> bool:
        """Read the events of at most `budget` further ticks into the marks; whether any were left."""
        last = self.source.last_tick
        if marks.read >= last:
            return False
        end = min(last, marks.read + budget)
        marks.add(self.source.events(marks.read + 1, end), end)
        return True

    def _tell(self, tick: int) -> None:
        if self.told <= tick <= self.told + BLOCK and self.told >= 0:
            self.recent.extend(self.teller.tell(self.source.events(self.told + 1, tick)) if tick > self.told else [])
            del self.recent[: max(0, len(self.recent) - 2 * WINDOW)]
        elif tick != self.told:
            self._retell(tick)
        self.told = tick

    def _retell(self, tick: int) -> None:
        """Go back block by block until the window is full, then tell forwards."""
        first = tick + 1
        enough = 0
        while first > 0 and enough < WINDOW:
            start = max(0, first - BLOCK)
            enough += sum(event.type != "IDLE" for event in self.source.events(start, first - 1))
            first = start
        self.teller = Teller(self.town)
        self.recent = self.teller.tell(self.source.events(first, tick))[-WINDOW:]
