"""Stages by name. A stage from another package is named `module:NAME`; the engine knows no stage by name."""

from __future__ import annotations

from importlib import import_module

from commonplace.engine.stage import Stage
from commonplace.errors import UsageError

SHIPPED = {"town": "commonplace.stages.town:TOWN", "duet": "commonplace.stages.duet:DUET"}


def by_name(name: str) -> Stage:
    """The stage a scenario names. Raises UsageError for an unknown name."""
    module, colon, attribute = SHIPPED.get(name, name).partition(":")
    try:
        stage = getattr(import_module(module), attribute) if colon else None
    except (ImportError, AttributeError):
        stage = None
    if not isinstance(stage, Stage):
        raise UsageError(
            f"there is no stage {name!r}",
            hint=f"stages are {', '.join(SHIPPED)}, or `module:NAME` of a Stage that can be imported",
        )
    return stage
