"""The town: everybody acts at every tick."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.cognition.deferred import run_job
from commonplace.cognition.town_turn import town_turn
from commonplace.engine.stage import Stage
from commonplace.scenario.scenario import Scenario


def everybody(scenario: Scenario, tick: int) -> Sequence[str]:
    """Returns all characters, sorted by id."""
    del tick
    return tuple(scenario.personas)


TOWN = Stage("town", everybody, town_turn, run_job)
