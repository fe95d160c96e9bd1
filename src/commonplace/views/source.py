"""Where a view gets its ticks from: a run being lived, or one read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.errors import UsageError, command
from commonplace.run.frames import Frame
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.model import ScenarioPart
from commonplace.world.events import Event

if TYPE_CHECKING:
    from commonplace.character.persona import Persona
    from commonplace.character.state import CharacterState
    from commonplace.memory.record import Memory
    from commonplace.run.frames import Frame
    from commonplace.scenario.model import ScenarioPart
    from commonplace.world.events import Event


# ── source ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Inspection:
    """One character as of a tick."""

    persona: Persona
    state: CharacterState
    """Plan (strokes, hours, actions), belief view, relations and pending jobs."""
    memories: tuple[Memory, ...] = ()
    """The latest first; `accessed_at` as of the tick."""
    total_memories: int = 0
    """How many it has; 0 when not counted."""
    facts: tuple[str, ...] = field(default=())
    """Texts of the seed facts it knows."""


class Source(Protocol):
    """All a terminal needs of a run. Called from the view's thread only; reading never changes a run.

    Only `subscribe`'s callback may come from another thread. Every call should answer at once, except `preview` and
    `submit`, which the view calls from a worker thread because a mind may have to be asked.
    """

    @property
    def live(self) -> bool:
        """Whether it is being lived here: `play`, `pause`, `step`, `speed` and `submit` work."""
        ...

    @property
    def playing(self) -> bool:
        """Whether ticks are being made; False for a recorded run."""
        ...

    @property
    def rate(self) -> float:
        """Ticks per second aimed at; 0 for as fast as it goes."""
        ...

    @property
    def mind(self) -> str:
        """As in the manifest: `offline`, or who answers. `offline` and `offline@2` are shown as an offline mind."""
        ...

    @property
    def progress(self) -> str:
        """What is under way (`4/10 have decided`), or why no more comes (`reached tick 288`); may be empty."""
        ...

    @property
    def scenario(self) -> ScenarioPart:
        """The scenario file as parsed."""
        ...

    @property
    def last_tick(self) -> int:
        """The latest committed tick; it may grow."""
        ...

    @property
    def final_tick(self) -> int:
        """The tick the run was asked to end at; `last_tick` if that is not known."""
        ...

    def frame(self, tick: int) -> Frame:
        """The whole tick, 0 … `last_tick`."""
        ...

    def events(self, first: int, last: int) -> Sequence[Event]:
        """The events of the ticks first … last, both included, in canonical order."""
        ...

    def why(self, event_id: str) -> Mapping[str, Any]:
        """The explanation in the shape of the public contract. Raises CommonplaceError."""
        ...

    def inspect(self, agent_id: str, tick: int) -> Inspection:
        """The character as of the tick."""
        ...

    def preview(self, text: str) -> str:
        """What a god-mode sentence will do, before it is applied. Raises CommonplaceError."""
        ...

    def submit(self, body: Mapping[str, Any]) -> str:
        """Put in an input; says what was accepted and for which tick. Raises CommonplaceError.

        `{"kind": "god", "text": …}` – a sentence as previewed, whose audience and changes the source finds – or
        `{"kind": "voice", "agent_id": …, "text": …}`.
        """
        ...

    def play(self) -> None:
        """Make ticks at `rate`."""
        ...

    def pause(self) -> None:
        """Stop at the next tick boundary."""
        ...

    def step(self) -> None:
        """Make one tick."""
        ...

    def speed(self, rate: float) -> None:
        """Aim at so many ticks per second; 0 for as fast as it goes."""
        ...

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Call `committed(tick)` after each commit, from any thread; returns what ends it."""
        ...


# ── recorded ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# A run read back from its file: what `replay` and `watch` show, and the reading half of a live view.


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
        """Raises UsageError: history is not changed by looking at it."""
        raise self._recorded(text)

    def submit(self, body: Mapping[str, Any]) -> str:
        """Raises UsageError: history is not changed by looking at it."""
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

    def _recorded(self, text: str) -> UsageError:
        what = f"“{text}” cannot happen in a recording" if text else "a recording cannot be changed"
        hint = f"{command('fork', self.reading.path)} --at TICK --inject TEXT -o NEW, or resume it"
        return UsageError(what, hint=hint)
