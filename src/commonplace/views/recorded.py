"""A run read back from its file: what `replay` and `watch` show, and the reading half of a live view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from commonplace.errors import WrongUse
from commonplace.run.frame import Frame
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.model import ScenarioPart
from commonplace.views.source import Inspection
from commonplace.world.events import Event

MEMORIES = 40
"""The latest memories an inspection holds."""


class RecordedSource:
    """Implements `views.source.Source` over a `Reading`. The run may be going on in another process."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    @property
    def live(self) -> bool:
        """It is not lived here."""
        return False

    @property
    def playing(self) -> bool:
        """No ticks are made here."""
        return False

    @property
    def rate(self) -> float:
        """No ticks are made here."""
        return 0.0

    @property
    def mind(self) -> str:
        """As in the manifest."""
        return self.reading.manifest.mind

    @property
    def progress(self) -> str:
        """Nothing is under way."""
        return ""

    @property
    def scenario(self) -> ScenarioPart:
        """From the manifest."""
        return self.reading.scenario.part

    @property
    def last_tick(self) -> int:
        """The latest committed tick."""
        return self.reading.last_tick

    @property
    def final_tick(self) -> int:
        """The tick first asked for, if more than there are."""
        return max(self.last_tick, self.reading.manifest.ticks)

    def frame(self, tick: int) -> Frame:
        """The whole tick."""
        return self.reading.frame(tick)

    def events(self, first: int, last: int) -> Sequence[Event]:
        """The events of the ticks first … last."""
        return self.reading.events(first, last)

    def why(self, event_id: str) -> Mapping[str, Any]:
        """The explanation of an event."""
        return why(self.reading, event_id)

    def inspect(self, agent_id: str, tick: int) -> Inspection:
        """The character as of the tick."""
        persona = self.reading.scenario.personas[agent_id]
        memories = self.reading.memories(agent_id, tick)
        latest = tuple(islice(reversed(memories), MEMORIES))
        return Inspection(persona, self.reading.state_at(agent_id, tick), latest, len(memories))

    def preview(self, text: str) -> str:
        """Raises WrongUse: history is not changed by looking at it."""
        raise self._recorded(text)

    def submit(self, body: Mapping[str, Any]) -> str:
        """Raises WrongUse: history is not changed by looking at it."""
        raise self._recorded(str(body.get("text", "")))

    def play(self) -> None:
        """The view itself moves through what is recorded."""

    def pause(self) -> None:
        """As `play`."""

    def step(self) -> None:
        """As `play`."""

    def speed(self, rate: float) -> None:
        """As `play`."""

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:  # noqa: ARG002 – of the protocol
        """Nothing calls: the view looks at `last_tick` now and then."""
        return lambda: None

    def _recorded(self, text: str) -> WrongUse:
        what = f"“{text}” cannot happen in a recording" if text else "a recording cannot be changed"
        return WrongUse(what, todo=f"commonplace fork {self.reading.path} --at TICK --inject TEXT -o NEW, or resume it")
