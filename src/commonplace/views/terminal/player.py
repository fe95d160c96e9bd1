"""Where one looks: the tick shown, whether it follows the run, and how it moves by itself. No screen, no clock."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.run.frames import AgentFrame, Frame
from commonplace.views.hues import Badge, badges
from commonplace.views.lines import Teller, Told
from commonplace.views.source import Source
from commonplace.views.terminal.canvas import Palette
from commonplace.views.terminal.timeline import Marks
from commonplace.views.town import Town

# ── player ───────────────────────────────────────────────────────────────────────────────────────────────────────────


SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Ticks per second."""


@dataclass(slots=True)
class Player:
    """The tick shown of a run with ticks 0 … last."""

    tick: int = 0
    last: int = 0
    following: bool = True
    """Shows the latest tick as it comes."""
    rolling: bool = False
    """Moves on by itself through what is recorded."""
    rate: float = 2.0
    owed: float = 0.0
    """Part of a tick that time has earned."""

    def grown(self, last: int) -> None:
        """The run has more ticks."""
        self.last = max(self.last, last)
        if self.following:
            self.tick = self.last

    def seek(self, tick: int) -> None:
        """Look at a tick; to look back is to stop following and rolling."""
        self.tick = min(max(tick, 0), self.last)
        self.following = False
        self.rolling = False

    def follow(self) -> None:
        """The latest tick, and stay there."""
        self.following, self.rolling = True, False
        self.tick = self.last

    def roll(self) -> None:
        """Play on from here, or stop; from the end it begins again."""
        if self.rolling:
            self.rolling = False
            return
        if self.tick >= self.last:
            self.tick = 0
        self.following, self.rolling, self.owed = False, True, 0.0

    def passed(self, seconds: float) -> bool:
        """Move by the time that passed; whether the tick changed. Rolling ends at the last tick."""
        if not self.rolling:
            return False
        self.owed += seconds * self.rate
        steps, self.owed = int(self.owed), self.owed % 1
        before, self.tick = self.tick, min(self.last, self.tick + steps)
        if self.tick >= self.last:
            self.rolling = False
        return self.tick != before

    def faster(self, step: int) -> float:
        """The next speed up or down."""
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self.rate))
        self.rate = SPEEDS[min(max(nearest + step, 0), len(SPEEDS) - 1)]
        return self.rate


# ── shown ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# What every panel is given at a tick: the frame and how to draw it.


@dataclass(frozen=True, slots=True)
class Shown:
    """One tick on the screen."""

    town: Town
    frame: Frame
    palette: Palette
    badges: Mapping[str, Badge]
    selected: str
    """The character the inspector is about."""
    recent: Sequence[Told]
    """What happened up to this tick, oldest first; the beginning of a long run is left out."""

    @property
    def language(self) -> str:
        """`en` or `ko`."""
        return self.town.language

    def colour(self, agent_id: str) -> str:
        """A character's hue as text."""
        badge = self.badges.get(agent_id)
        return self.palette.of(badge) if badge else self.palette.text

    def agents(self) -> tuple[AgentFrame, ...]:
        """Everybody, in the scenario's order, then those who joined."""
        here = self.frame.agents
        known = [here[agent] for agent in self.badges if agent in here]
        return (*known, *(one for agent, one in here.items() if agent not in self.badges))


# ── tick ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# From a source to what panels show: frames kept, events told, a window of what is recent.


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
