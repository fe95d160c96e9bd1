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
    from commonplace.memory import Memory, ScoredMemory
    from commonplace.memory.retrieval import Retrieval
    from commonplace.run.explained import Reasons
    from commonplace.run.frames import Frame
    from commonplace.run.reading import Reading
    from commonplace.scenario.model import ScenarioPart
    from commonplace.world.events import Event


Thumb = Literal["up", "down"]


class Rest(Protocol):
    """A memory that an answer rests on."""

    @property
    def memory(self) -> Memory:
        """As of the tick."""
        ...

    @property
    def hit(self) -> ScoredMemory | None:
        """How it was retrieved; None for one that was found by whom, where or when it is about."""
        ...


class AskedBefore(Protocol):
    """A question like this one, asked earlier."""

    @property
    def question(self) -> str:
        """In the words of then."""
        ...

    @property
    def similarity(self) -> float:
        """1 for the same words."""
        ...

    @property
    def answer(self) -> str:
        """The best received."""
        ...

    @property
    def received(self) -> float:
        """The sum of its thumbs."""
        ...


class Reply(Protocol):
    """What a character answered; `commonplace.talk.Reply` is one."""

    @property
    def agent(self) -> str:
        """Whose answer it is."""
        ...

    @property
    def question(self) -> str:
        """As it was asked."""
        ...

    @property
    def answer(self) -> str:
        """In the words of the character."""
        ...

    @property
    def rests(self) -> Sequence[Rest]:
        """In the order of the citation."""
        ...

    @property
    def asked_before(self) -> AskedBefore | None:
        """None for a question that is new."""
        ...

    @property
    def outcome(self) -> str:
        """Anything but `value`: the mind's answer could not be used."""
        ...

    @property
    def retrievals(self) -> Sequence[Retrieval]:
        """All that was searched for."""
        ...


class Conversation(Protocol):
    """A talk of a person with one character at one tick. A mind may have to be asked, so every call is awaited.

    Calls may raise CommonplaceError; the talk can go on afterwards. `ask` and `retry` may be cancelled; what `rate` and
    `close` do is done even then.
    """

    @property
    def mind(self) -> str:
        """Who answers, by name."""
        ...

    async def ask(self, question: str) -> Reply:
        """The character's answer."""
        ...

    async def retry(self) -> Reply:
        """Another answer to the last question."""
        ...

    async def rate(self, label: Thumb, note: str = "") -> None:
        """How the last answer was received."""
        ...

    async def close(self) -> None:
        """Learn what proved useful. May be called without a question asked."""
        ...


class Source(Protocol):
    """All that a terminal needs of a run. Called from the view's thread only; reading never changes a run.

    Only `subscribe`'s callback may come from another thread. Every call should answer at once, except `preview` and
    `submit`, which the view calls from a worker thread because a mind may have to be asked. Talks are awaited.
    """

    @property
    def live(self) -> bool:
        """Whether the run is made in this process: `play`, `pause`, `step`, `speed` and `submit` work."""
        ...

    @property
    def playing(self) -> bool:
        """Whether ticks are being made; False for a recorded run."""
        ...

    @property
    def rate(self) -> float:
        """Ticks per second aimed at; 0 for as fast as possible."""
        ...

    @property
    def mind(self) -> str:
        """Who answers, by name: `offline`, or `ollama:qwen3:8b +2` where two other minds answer some questions."""
        ...

    @property
    def progress(self) -> str:
        """What is under way (`4/10 have decided`), or why no more ticks come (`reached tick 288`); may be empty."""
        ...

    @property
    def speaking(self) -> Mapping[str, str]:
        """Character → what it is saying in the tick that is being made, as far as a model has written it. It may be
        refused: then it is gone."""
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
        """The whole ticks first … last, both included, within 0 … `last_tick`."""
        ...

    def events(self, first: int, last: int) -> Sequence[Event]:
        """The events of the ticks first … last, both included, in canonical order."""
        ...

    def why(self, event_id: str) -> Reasons:
        """Why an event happened. Raises CommonplaceError."""
        ...

    def inspect(self, agent_id: str, tick: int) -> Inspection:
        """The character as of the tick; each part is read when it is asked for."""
        ...

    def ratings(self) -> Ratings:
        """A person's stars for what the run has kept, to read and to set. Raises UsageError where nothing is rated.

        What it does may take seconds: another process may have the folder.
        """
        ...

    def converse(self, agent_id: str, tick: int) -> Conversation:
        """A talk with the character as it was at the tick; what it needs is read with the first question.

        Raises UsageError where nobody answers.
        """
        ...

    def preview(self, text: str, agent: str = "") -> str:
        """What a god-mode sentence will do, or what a character (`agent`) attempts, before it is applied. Raises
        CommonplaceError.
        """
        ...

    def submit(self, body: Mapping[str, Any]) -> str:
        """Queue an input; says what was accepted and for which tick. Raises CommonplaceError.

        `{"kind": "god", "text": …}` – a sentence as previewed, whose audience and changes the source finds –,
        `{"kind": "voice", "agent_id": …, "text": …}`, `{"kind": "attempt", "agent_id": …, "text": …}` – a deed as
        previewed –, `{"kind": "join", "newcomer": FILE, "area": …}` – a file that
        describes somebody new –, or an input of `commonplace.world.inputs`.
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
        """Set the ticks per second to aim at; 0 for as fast as possible."""
        ...

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Call `committed(tick)` after each commit, from any thread; returns what ends it."""
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
        """No ticks are made here."""
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
        """The common mind, and how many others there are."""
        return self.reading.manifest.mind + other_minds(self.reading.manifest)

    @property
    def progress(self) -> str:
        """Nothing is under way."""
        return ""

    @property
    def speaking(self) -> Mapping[str, str]:
        """No ticks are made here."""
        return {}

    @property
    def scenario(self) -> ScenarioPart:
        """From the manifest, with everybody who has come since."""
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
        """The ticks first … last."""
        if first == last:
            return (self.reading.frame(first),)
        return self.reading.frames(first, last)

    def events(self, first: int, last: int) -> Sequence[Event]:
        """The events of the ticks first … last."""
        return self.reading.events(first, last)

    def why(self, event_id: str) -> Reasons:
        """Why an event happened."""
        return reasons(self.reading, event_id)

    def inspect(self, agent_id: str, tick: int) -> Inspection:
        """The character as of the tick."""
        return Inspection(self.reading, agent_id, tick)

    def ratings(self) -> Ratings:
        """Those of a panel."""
        return ratings_of(self.reading)

    def converse(self, agent_id: str, tick: int) -> Conversation:
        """A talk with the character."""
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
        """Nothing: the view itself moves through what is recorded."""

    def pause(self) -> None:
        """As `play`."""

    def step(self) -> None:
        """As `play`."""

    def speed(self, rate: float) -> None:
        """As `play`."""

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:  # noqa: ARG002 – of the protocol
        """Never calls: the view looks at `last_tick` now and then."""
        return lambda: None

    def _is_recorded(self, text: str) -> UsageError:
        what = f"“{text}” cannot happen in a recording" if text else "a recording cannot be changed"
        fork = command("fork", self.reading.path, "--at", "TICK", "--inject", text or "TEXT", "-o", "NEW")
        return UsageError(what, hint=f"{fork}, or resume it")
