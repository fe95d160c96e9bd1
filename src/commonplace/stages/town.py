"""The town: everybody lives every tick."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.cognition.deferred import think
from commonplace.cognition.live import live
from commonplace.engine.stage import Stage
from commonplace.scenario.scenario import Scenario


def everybody(scenario: Scenario, tick: int) -> Sequence[str]:
    """All characters, sorted by id."""
    del tick
    return tuple(scenario.personas)


TOWN = Stage("town", everybody, live, think)
