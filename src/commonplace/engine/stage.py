"""A stage is one value: who acts at a tick, and what they do in it. `docs/stages.md` shows how to write one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from commonplace.cognition.turn import JobResult, JobView, Turn, TurnView
from commonplace.minds.mind import Answer, Ask
from commonplace.run.reading import Reading
from commonplace.scenario.scenario import Scenario

Asking = Coroutine[Ask[Any, Any], Answer[Any], Any]
"""What `await ask(…)` makes of a function: it yields questions and is sent answers."""


class Keeper(Protocol):
    """Keeps outside the run what has been committed."""

    def __call__(self, reading: Reading) -> None:
        """Keeps what is new; runs after each commit, and before the first tick of a session. Does nothing twice."""
        ...

    def close(self) -> None:
        """Runs when the run is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Rated:
    """A memory that a person has rated."""

    memory_id: str
    stars: float
    """1 to 5."""
    importance: float
    """0 to 1, computed again."""


class Ratings(Protocol):
    """A person's stars for what a run keeps outside, as they are there now. The run does not change."""

    def all(self) -> Mapping[str, float]:
        """Returns event or memory id → stars, 0 for none, of everything that can be rated."""
        ...

    def rate(self, name: str, stars: float) -> Rated:
        """Rates what has this id, 1 to 5 stars. Raises UsageError for anything that cannot be rated."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """What distinguishes a town from a duet. Journal, resume, verify, `why` and views come with the engine."""

    name: str
    acts: Callable[[Scenario, int], Sequence[str]]
    """The characters whose turn it is at a tick, sorted; the others stay as they are."""
    turn: Callable[[TurnView], Coroutine[Ask[Any, Any], Answer[Any], Turn]]
    run_job: Callable[[JobView], Coroutine[Ask[Any, Any], Answer[Any], JobResult]]
    """Does a deferred job that a turn has requested."""
    length: Callable[[Scenario], int] | None = None
    """The tick it ends with; None for a stage that goes on."""
    begin: Callable[[Scenario, str, Path, str], dict[str, Any]] | None = None
    """What a new run is asked and brings along from earlier ones, as JSON for its manifest (`Session`), from
    the question, the folder in which earlier runs have kept something, and that folder as the person named it."""
    keep: Callable[[Path], Keeper] | None = None
    """Makes, for that folder, what keeps there what has been committed."""
    ratings: Callable[[Reading, Path], Ratings] | None = None
    """The ratings of a run and that folder; None for a stage that keeps nothing to rate."""
