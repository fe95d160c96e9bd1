"""When a character has lived through enough to think about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from commonplace.memory.columns import KIND_CODES
from commonplace.memory.record import Memory
from commonplace.memory.table import View

THRESHOLD = 150.0
"""Generative Agents (Park et al. 2023, §4.2)."""

_OBSERVATION, _ACTION, _REFLECTION = (KIND_CODES[kind] for kind in ("observation", "action", "reflection"))


TURNS = 6
"""The sitcom document's reflection period, in turns of a dialogue."""


class Accumulating(Protocol):
    """A stream, a draft or a snapshot."""

    def importance_since_reflection(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ReflectionTrigger:
    """Fires when the importance since the last reflection reaches the threshold (`strict`: exceeds it)."""

    threshold: float = THRESHOLD
    strict: bool = False

    def due(self, stream: Accumulating) -> bool:
        """Whether it is time. A reflection that failed leaves it due; how soon to try again is the caller's."""
        since = stream.importance_since_reflection()
        return since > self.threshold if self.strict else since >= self.threshold


@dataclass(frozen=True, slots=True)
class TurnTrigger:
    """Fires on the first turn after so many turns of a dialogue since the last reflection; never before any."""

    every: int = TURNS

    def due(self, turns: int) -> bool:
        """Whether it is time, after `turns` turns (of everybody) since the last reflection or the beginning."""
        return turns >= self.every


def after(since: float, memory: Memory) -> float:
    """The sum once the memory is added: observations and actions count, a reflection begins anew."""
    if memory.kind == "reflection":
        return 0.0
    return since + memory.importance if memory.kind in ("observation", "action") else since


def since_reflection(view: View) -> float:
    """The same sum derived from the rows. What was forgotten does not count; a forgotten reflection took place."""
    columns = view.rows.columns
    kinds = columns.kind[: view.length]
    reflections = np.flatnonzero(kinds == _REFLECTION)
    start = int(reflections[-1]) + 1 if len(reflections) else 0
    counted = ((kinds[start:] == _OBSERVATION) | (kinds[start:] == _ACTION)) & view.alive[start:]
    total = 0.0
    for importance in columns.importance[start : view.length][counted].tolist():
        total += importance  # in order, as the running sum adds; sum() compensates from Python 3.12 on
    return total
