"""What a run tells whoever operates it: how far it is, how long it takes, what it asks of minds and servers.

A `Meter` is told, and decides nothing: no number of it reaches history. `parts/metrics` has the one that counts. Lines
of logs name the `place` they come from.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

if TYPE_CHECKING:
    from commonplace.engine.budget import Spending
    from commonplace.run.place import Place
    from commonplace.run.rows import AnswerRow, TickRecord

Phase = Literal["cognition", "world", "commit"]
"""The parts of a tick, in their order."""


class Asking:
    """One attempt of a mind that is paid for, from before it waits until its answer is there or has failed."""

    def sent(self) -> None:
        """Notes that it no longer waits for others."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


_UNNOTED = Asking()


class Meter:
    """Takes no notice; a meter overrides what it counts. Its methods return at once, and must not fail."""

    def started(self, path: Place, tick: int, characters: int, memories: int) -> None:
        """Is told where a session of a run begins."""

    def entered(self, phase: Phase) -> None:
        """Is told which part of the next tick begins; the last one ends with `committed`."""

    def committed(self, record: TickRecord, waiting: int) -> None:
        """Is told what a tick added. `waiting`: inputs that are queued for later ticks."""

    def asking(self, task: str) -> Asking:
        """Returns what is told of an attempt at a question of this task."""
        del task
        return _UNNOTED

    def attempted(self, row: AnswerRow, mind: str, seconds: float) -> None:
        """Is told of an attempt that was made now. `seconds`: 0 for a mind that costs nothing."""

    def settled(self, row: AnswerRow, *, journaled: bool) -> None:
        """Is told of a question's last attempt, and whether the answer was in the journal."""

    def spent(self, spending: Spending) -> None:
        """Is told what has been spent of the budget so far."""

    def requested(self, server: str, outcome: str, seconds: float, *, repeats: bool) -> None:
        """Is told of a request to a model server, named by host and port.

        `outcome`: the status of its page, or `late`, `unreachable` or `cancelled`. `repeats`: it was sent before.
        """


_METER: ContextVar[Meter] = ContextVar("meter", default=Meter())  # noqa: B039 – it has no state


def meter() -> Meter:
    """Returns the meter that is told of what happens here."""
    return _METER.get()


@contextmanager
def metered(by: Meter) -> Generator[None]:
    """Tells a meter what happens within the block, in this task and those that it starts."""
    before = _METER.set(by)
    try:
        yield
    finally:
        _METER.reset(before)


class Position(NamedTuple):
    """Where a run is."""

    run: Place
    tick: int
    """The tick that is being made."""


_POSITION: ContextVar[Position | None] = ContextVar("position", default=None)


def position() -> Position | None:
    """Returns where the run is whose work is done here; None outside of runs."""
    return _POSITION.get()


def move_to(run: Place, tick: int) -> None:
    """Changes the position of this task, and of those that it starts from now on."""
    _POSITION.set(Position(run, tick))
