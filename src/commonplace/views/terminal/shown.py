"""What every panel is given at a tick: the frame and how to draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.run.frame import AgentFrame, Frame
from commonplace.views.hues import Badge
from commonplace.views.telling import Told
from commonplace.views.terminal.palette import Palette
from commonplace.views.town import Town


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
