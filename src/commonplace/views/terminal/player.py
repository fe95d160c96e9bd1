"""Where one looks: the tick shown, whether it follows the run, and how it moves by itself. No screen, no clock."""

from __future__ import annotations

from dataclasses import dataclass

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
