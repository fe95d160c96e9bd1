"""The tick on the screen: which one it is, how it moves with time, and all that panels need to draw it. No widgets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.parts.live.source import Source
from commonplace.parts.terminal.palette import Palette
from commonplace.run.frames import AgentFrame, CircumstanceFrame, Frame
from commonplace.views.hues import Badge, badges
from commonplace.views.lines import NarratedEvent, Narrator
from commonplace.views.town_names import TownNames

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Ticks per second."""


@dataclass(slots=True)
class Player:
    """A position in a run with ticks 0 … last, and how it moves."""

    tick: int = 0
    last: int = 0
    following: bool = True
    """Whether it jumps to each new tick of the run."""
    playing: bool = False
    """Whether it moves on by itself through recorded ticks."""
    rate: float = 2.0
    """Ticks per second."""
    fraction: float = 0.0
    """Part of the next tick that has passed."""

    def extend(self, last: int) -> None:
        """Notes that the run has more ticks."""
        self.last = max(self.last, last)
        if self.following:
            self.tick = self.last

    def seek(self, tick: int) -> None:
        """Goes to a tick, or to the nearest there is; stops following and playing."""
        self.tick = min(max(tick, 0), self.last)
        self.following = False
        self.playing = False

    def follow(self) -> None:
        """Goes to the latest tick and stays with it."""
        self.following, self.playing = True, False
        self.tick = self.last

    def toggle(self) -> None:
        """Plays from here, or stops; from the last tick it starts again at 0."""
        if self.playing:
            self.playing = False
            return
        if self.tick >= self.last:
            self.tick = 0
        self.following, self.playing, self.fraction = False, True, 0.0

    def advance(self, seconds: float) -> bool:
        """Moves by the time that passed. Returns whether the tick changed. Playing ends at the last tick."""
        if not self.playing:
            return False
        self.fraction += seconds * self.rate
        steps, self.fraction = int(self.fraction), self.fraction % 1
        before, self.tick = self.tick, min(self.last, self.tick + steps)
        if self.tick >= self.last:
            self.playing = False
        return self.tick != before

    def faster(self, step: int) -> float:
        """Changes to the next higher (1) or lower (−1) speed and returns it."""
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self.rate))
        self.rate = SPEEDS[min(max(nearest + step, 0), len(SPEEDS) - 1)]
        return self.rate


@dataclass(frozen=True, slots=True)
class Scene:
    """One tick as panels draw it: the frame, names, colours, and what happened lately."""

    town: TownNames
    frame: Frame
    palette: Palette
    badges: Mapping[str, Badge]
    selected: str
    """The character the inspector is about."""
    recent: Sequence[NarratedEvent]
    """What happened up to this tick, oldest first; only the end of a long run."""

    @property
    def language(self) -> str:
        """`en` or `ko`."""
        return self.town.language

    def colour(self, agent_id: str) -> str:
        """Returns a character's hue as text."""
        badge = self.badges.get(agent_id)
        return self.palette.of(badge) if badge else self.palette.text

    def so(self, of: str) -> tuple[CircumstanceFrame, ...]:
        """Returns the circumstances of somebody, a place, a thing or, as `-`, the town."""
        return tuple(one for one in self.frame.circumstances if one.of == of)

    def agents(self) -> tuple[AgentFrame, ...]:
        """Returns everybody, in the scenario's order, then those who joined."""
        here = self.frame.agents
        known = [here[agent] for agent in self.badges if agent in here]
        return (*known, *(one for agent, one in here.items() if agent not in self.badges))


KEPT_FRAMES = 256
WINDOW = 200
"""Entries that `Scene.recent` holds at most."""
BLOCK = 24
"""Ticks read at once. The first frame of a block is looked up in the state, the rest only add what changed, which is
some 50 times cheaper."""


class SceneReader:
    """A reader that makes scenes of a source's ticks. It keeps frames and entries, so a walk reads no frame twice."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._scenario = source.scenario
        self.town = TownNames.of(self._scenario)
        self.badges = badges(self.town.called)
        self._frames: dict[int, Frame] = {}
        self._tick: int | None = None
        """The tick read last: a step from it shows in which direction to read ahead."""
        self._narrator = Narrator(self.town)
        self._entries: list[NarratedEvent] = []
        self._first, self._last = 0, -1
        """The ticks that `_entries` covers."""

    def scene(self, tick: int, palette: Palette, selected: str) -> Scene:
        """Returns everything the panels need of a tick."""
        scenario = self.source.scenario
        if scenario is not self._scenario:  # somebody has come
            self._scenario, self.town = scenario, TownNames.of(scenario)
            self._narrator.town, self.badges = self.town, badges(self.town.called)
        return Scene(self.town, self.frame(tick), palette, self.badges, selected, self._recent(tick))

    def frame(self, tick: int) -> Frame:
        """Returns a whole tick."""
        if tick not in self._frames:
            for frame in self.source.frames(*self._block(tick)):
                self._frames[frame.tick] = frame
            for old in list(self._frames)[:-KEPT_FRAMES]:
                del self._frames[old]
        self._tick = tick
        return self._frames[tick]

    def _block(self, tick: int) -> tuple[int, int]:
        """Returns the ticks to read with this one: those before it on the way back, after it on the way on."""
        if self._tick is None:
            return tick, tick
        if self._tick - BLOCK <= tick < self._tick:
            return max(0, tick - BLOCK + 1), tick
        if self._tick < tick <= self._tick + BLOCK:
            return tick, min(tick + BLOCK - 1, self.source.last_tick)
        return tick, tick

    def _recent(self, tick: int) -> Sequence[NarratedEvent]:
        count = bisect_right(self._entries, tick, key=lambda entry: entry.tick)
        if self._last < tick <= self._last + BLOCK:
            self._narrate_on(tick)
            count = len(self._entries)
        elif not self._first <= tick <= self._last or (count < WINDOW and self._first > 0):
            self._narrate_again(tick)
            count = len(self._entries)
        return tuple(self._entries[max(0, count - WINDOW) : count])

    def _narrate_on(self, tick: int) -> None:
        self._entries += self._narrator.narrate(self.source.events(self._last + 1, tick))
        self._last = tick
        if len(self._entries) > 4 * WINDOW:
            del self._entries[: -2 * WINDOW]
            self._first = self._entries[0].tick + 1  # of the tick before, only some entries may be left

    def _narrate_again(self, tick: int) -> None:
        """Narrates what led to a tick, with enough entries for a walk further back."""
        first, found = tick + 1, 0
        while first > 0 and found < 2 * WINDOW:
            start = max(0, first - BLOCK)
            found += sum(event.type != "IDLE" for event in self.source.events(start, first - 1))
            first = start
        self._narrator = Narrator(self.town)
        self._entries = self._narrator.narrate(self.source.events(first, tick))
        self._first, self._last = first, tick
