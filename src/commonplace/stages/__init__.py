"""Stages by name. A stage from another package is named `module:NAME`; the engine knows no stage by name."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

from commonplace.engine.stage import Stage
from commonplace.errors import UsageError
from commonplace.registry import STAGES, found


def by_name(name: str) -> Stage:
    """Returns the stage a scenario names; its module is imported. Raises UsageError for an unknown name."""
    if name in STAGES:
        return found(STAGES[name])
    module, colon, attribute = name.partition(":")
    try:
        stage = getattr(import_module(module), attribute) if colon else None
    except (ImportError, AttributeError, ValueError, SyntaxError):
        stage = None
    if not isinstance(stage, Stage):
        raise UsageError(
            f"there is no stage {name!r}",
            hint=f"stages are {', '.join(STAGES)}, or `module:NAME` of a Stage that can be imported",
        )
    return stage


def code_of(name: str) -> str:
    """Returns the file with the code of a stage from elsewhere; empty if there is none. Nothing is imported to find
    out."""
    module, colon, _ = name.partition(":")
    package = module.partition(".")[0]
    if name in STAGES or not colon or package in ("", "commonplace"):
        return ""
    if module in sys.modules and not is_imported(name):
        return ""  # `by_name` says that there is no such stage in it
    try:
        found = find_spec(package)
    except (ImportError, ValueError):
        return package  # loaded, but not from a file
    if found is None:
        return ""
    return found.origin or package


def is_imported(name: str) -> bool:
    """Tells whether this process has imported a stage from elsewhere already, so that using it runs no new code."""
    module, _, attribute = name.partition(":")
    return isinstance(vars(sys.modules.get(module) or object).get(attribute), Stage)
