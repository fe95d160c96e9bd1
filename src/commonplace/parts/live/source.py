"""Where a view reads a run: the `Source` protocol, and the source over a run file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from commonplace.api import ratings_of
from commonplace.errors import UsageError, command
from commonplace.run.manifest import other_minds
from commonplace.run.why import reasons
from commonplace.views.inspection import Inspection

if TYPE_CHECKING:
    from commonplace.engine.stage import Ratings
    from commonplace.run.explained import Reasons
    from commonplace.run.frames import Frame
    from commonplace.run.reading import Reading
    from commonplace.scenario.model import ScenarioPart
    from commonplace.talk import Reply
    from commonplace.world.events import Event


Thumb = Literal["up", "down"]


class Conversation(Protocol):
    """A talk of a person with one character at one tick. A mind may have to be asked, so every call is awaited.

    Calls may raise CommonplaceError; the talk can go on afterwards. `ask` and `retry` may be cancelled; what `rate` and
    `close` do is done even then.
    """

    @property
    def mind(self) -> str:
        """The name of the mind that answers."""
        ...

    async def ask(self, question: str) -> Reply:
        """Returns the character's answer."""
        ...

    async def retry(self) -> Reply:
        """Returns another answer to the last question."""
        ...

    async def rate(self, label: Thumb, note: str = "") -> None:
        """Notes how the last answer was received."""
        ...

    async def close(self) -> None:
        """Learns what proved useful. May be called without a question asked."""
        ...


class Source(Protocol):
    """Everything a terminal needs of a run. It is called from the view's thread only, and reading never changes a run.

    Only `subscribe`'s callback may come from another thread. Every call should answer at once, except `preview` and
    `submit`, which the view calls from a worker thread because a mind may have to be asked. Talks are awaited.
    """

    @property
    def live(self) -> bool:
        """Tells whether the run is made in this process: `play`, `pause`, `step`, `speed` and `submit` work."""
        ...

    @property
    def playing(self) -> bool:
        """Tells whether ticks are being made; False for a recorded run."""
        ...

    @property
    def rate(self) -> float:
        """The target in ticks per second; 0 for as fast as possible."""
        ...

    @property
    def mind(self) -> str:
        """The name of the mind: `offline`, or `ollama:qwen3:8b +2` where two other minds answer some questions."""
        ...

    @property
    def progress(self) -> str:
        """The state of work (`4/10 have decided`), or why no more ticks come (`reached tick 288`); may be empty."""
        ...

    @property
    def speaking(self) -> Mapping[str, str]:
        """Character → its words in the tick that is being made, as far as a model has written them.

        A refused line disappears.
        """
        ...

    @property
    def scenario(self) -> ScenarioPart:
        """The scenario file as parsed; another object when somebody has come who is not in it."""
        ...

    @property
    def last_tick(self) -> int:
        """The latest committed tick; it may grow."""
        ...

    @property
    def final_tick(self) -> int:
        """The tick the run was asked to end at; `last_tick` if that is not known."""
        ...

    def frames(self, first: int, last: int) -> Iterable[Frame]:
        """Returns the whole ticks first … last, both included, within 0 … `last_tick`."""
        ...

    def events(self, first: int, last: int) -> Sequence[Event]:
        """Returns the events of the ticks first … last, both included, in canonical order."""
        ...

    def why(self, event_id: str) -> Reasons:
        """Explains why an event happened. Raises CommonplaceError."""
        ...

    def inspect(self, agent_id: str, tick: int) -> Inspection:
        """Returns the character as of the tick; each part is read when it is asked for."""
        ...

    def ratings(self) -> Ratings:
        """Returns a person's stars for what the run has kept, to read and to set.

        Raises UsageError where nothing is rated.

        What it does may take seconds: another process may have the folder.
        """
        ...

    def converse(self, agent_id: str, tick: int) -> Conversation:
        """Begins a talk with the character as it was at the tick. Raises UsageError where nobody answers.

        Raises UsageError where nobody answers.
        """
        ...

    def preview(self, text: str, agent: str = "") -> str:
        """Tells what a god-mode sentence will do, or what a character (`agent`) attempts. Raises CommonplaceError."""
        ...

    def submit(self, body: Mapping[str, Any]) -> str:
        """Queues an input. Returns what was accepted and for which tick. Raises CommonplaceError.

        `{"kind": "god", "text": …}` – a sentence as previewed, whose audience and changes the source finds –,
        `{"kind": "voice", "agent_id": …, "text": …}`, `{"kind": "attempt", "agent_id": …, "text": …}` – a deed as
        previewed –, `{"kind": "join", "newcomer": FILE, "area": …}` – a file that
        describes somebody new –, or an input of `commonplace.world.inputs`.
        """
        ...

    def play(self) -> None:
        """Makes ticks at `rate`."""
        ...

    def pause(self) -> None:
        """Stops at the next tick boundary."""
        ...

    def step(self) -> None:
        """Makes one tick."""
        ...

    def speed(self, rate: float) -> None:
        """Sets the ticks per second to aim at; 0 for as fast as possible."""
        ...

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Calls `committed(tick)` after each commit, from any thread. Returns a function that ends the calls."""
        ...


class RecordedSource:
    """A run read from its file, which another process may be writing: what `replay` and `watch` show.

    A live view is this one with the controls filled in. `converse` begins talks; without it nobody answers.
    """

    def __init__(self, reading: Reading, converse: Callable[[str, int], Conversation] | None = None) -> None:
        self.reading = reading
        self._converse = converse

    @property
    def live(self) -> bool:
        """Always False."""
        return False

    @property
    def playing(self) -> bool:
        """Always False."""
        return False

    @property
    def rate(self) -> float:
        """Always 0: no ticks are made here."""
        return 0.0

    @property
    def mind(self) -> str:
        """The common mind and the number of other minds."""
        return self.reading.manifest.mind + other_minds(self.reading.manifest)

    @property
    def progress(self) -> str:
        """Always empty."""
        return ""

    @property
    def speaking(self) -> Mapping[str, str]:
        """Always empty."""
        return {}

    @property
    def scenario(self) -> ScenarioPart:
        """The scenario of the manifest, with everybody who has come since."""
        return self.reading.scenario.part

    @property
    def last_tick(self) -> int:
        """The latest committed tick."""
        return self.reading.last_tick

    @property
    def final_tick(self) -> int:
        """The tick first asked for, or the last one if that is later."""
        return max(self.last_tick, self.reading.manifest.ticks)

    def frames(self, first: int, last: int) -> Iterable[Frame]:
        """Returns the ticks first … last."""
        if first == last:
            return (self.reading.frame(first),)
        return self.reading.frames(first, last)

    def events(self, first: int, last: int) -> Sequence[Event]:
        """Returns the events of the ticks first … last."""
        return self.reading.events(first, last)

    def why(self, event_id: str) -> Reasons:
        """Explains why an event happened."""
        return reasons(self.reading, event_id)

    def inspect(self, agent_id: str, tick: int) -> Inspection:
        """Returns the character as of the tick."""
        return Inspection(self.reading, agent_id, tick)

    def ratings(self) -> Ratings:
        """Returns the ratings of a panel."""
        return ratings_of(self.reading)

    def converse(self, agent_id: str, tick: int) -> Conversation:
        """Begins a talk with the character."""
        if self._converse is None:
            talk = command("talk", self.reading.path, agent_id, "--at", tick)
            raise UsageError("this view was opened without anybody who answers", hint=talk)
        return self._converse(agent_id, tick)

    def preview(self, text: str, agent: str = "") -> str:
        """Raises UsageError: a recorded history cannot be changed."""
        del agent
        raise self._is_recorded(text)

    def submit(self, body: Mapping[str, Any]) -> str:
        """Raises UsageError: a recorded history cannot be changed."""
        raise self._is_recorded(str(body.get("text", "")))

    def play(self) -> None:
        """Does nothing: the view itself moves through what is recorded."""

    def pause(self) -> None:
        """Does nothing."""

    def step(self) -> None:
        """Does nothing."""

    def speed(self, rate: float) -> None:
        """Does nothing."""

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:  # noqa: ARG002 – of the protocol
        """Never calls back: the view looks at `last_tick` now and then."""
        return lambda: None

    def _is_recorded(self, text: str) -> UsageError:
        what = f"“{text}” cannot happen in a recording" if text else "a recording cannot be changed"
        fork = command("fork", self.reading.path, "--at", "TICK", "--inject", text or "TEXT", "-o", "NEW")
        return UsageError(what, hint=f"{fork}, or resume it")
