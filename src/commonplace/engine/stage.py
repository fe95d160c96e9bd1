"""A stage is one value: who acts at a tick, and what they do in it. `docs/stages.md` shows how to write one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.cognition.turn import JobResult, JobView, Turn, TurnView
from commonplace.minds.mind import Answer, Ask
from commonplace.scenario.scenario import Scenario

Asking = Coroutine[Ask[Any, Any], Answer[Any], Any]
"""What `await ask(…)` makes of a function: it yields questions and is sent answers."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What distinguishes a town from a duet. Journal, resume, verify, `why` and views come with the engine."""

    name: str
    acts: Callable[[Scenario, int], Sequence[str]]
    """The characters whose turn it is at a tick, sorted; the others stay as they are."""
    turn: Callable[[TurnView], Coroutine[Ask[Any, Any], Answer[Any], Turn]]
    run_job: Callable[[JobView], Coroutine[Ask[Any, Any], Answer[Any], JobResult]]
    """Does a deferred job that a turn has requested."""
