"""When a character has experienced enough to reflect on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from commonplace.memory.record import Memory
from commonplace.memory.table import KIND_CODES, View

THRESHOLD: float = 150
"""Generative Agents (Park et al. 2023, §4.2)."""

TURNS = 6
"""The sitcom document's reflection period, in turns of a dialogue."""

_OBSERVATION, _ACTION, _REFLECTION = (KIND_CODES[kind] for kind in ("observation", "action", "reflection"))


class Accumulating(Protocol):
    """A stream, a draft or a snapshot."""

    def importance_since_reflection(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ReflectionTrigger:
    """Fires when the importance since the last reflection reaches the threshold (`strict`: exceeds it)."""

    threshold: float = THRESHOLD
    strict: bool = False

    def due(self, stream: Accumulating) -> bool:
        """Returns whether to reflect now. Stays True after a reflection that yielded nothing: when to retry is the
        caller's."""
        return self.reached(stream.importance_since_reflection())

    def reached(self, importance: float) -> bool:
        """Returns whether a sum of importance is enough."""
        return importance > self.threshold if self.strict else importance >= self.threshold


@dataclass(frozen=True, slots=True)
class TurnTrigger:
    """Fires once `every` turns of a dialogue have passed since the last reflection."""

    every: int = TURNS

    def due(self, turns: int) -> bool:
        """Returns whether to reflect now, `turns` turns (of all speakers) after the last reflection or the
        beginning."""
        return turns >= self.every


def after(since: float, memory: Memory) -> float:
    """Returns the sum once the memory is added: observations and actions count, a reflection resets it."""
    if memory.kind == "reflection":
        return 0.0
    return since + memory.importance if memory.kind in ("observation", "action") else since


def since_reflection(view: View, since: int = 0) -> float:
    """Returns the same sum from the table, of memories created at `since` (in `micros`) or later.

    Forgotten memories do not count; a forgotten reflection still resets the sum.
    """
    kinds = view.table.kind[: view.length]
    reflections = np.flatnonzero(kinds == _REFLECTION)
    start = int(reflections[-1]) + 1 if len(reflections) else 0
    counted = ((kinds[start:] == _OBSERVATION) | (kinds[start:] == _ACTION)) & view.alive[start:]
    if since:
        counted &= view.table.created[start : view.length] >= since
    counting = view.table.importance[start : view.length][counted]
    # one after the other, in the order of the running sum
    return float(np.add.accumulate(counting)[-1]) if len(counting) else 0.0
