"""Commonplace runs small societies of characters who remember.

    import commonplace
    run = commonplace.create_run("town.run", scenario="plaza", seed=7)
    async for tick in run.play(ticks=30): ...
    commonplace.open_run("town.run").why(event_id)

The names in `__all__` are public, as are `commonplace.memory`, `commonplace.testing` and the modules that
docs/python.md lists. Each is imported when it is first used, so that `import commonplace` and
`from commonplace.memory import MemoryStream` cost only themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commonplace.api import OpenedRun, create_run, open_run, resume_run
    from commonplace.engine.run import Run
    from commonplace.errors import CommonplaceError, Paused, RunDamaged, UsageError
    from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
    from commonplace.minds.offline.mind import OfflineMind
    from commonplace.parts.model_servers.prompt_mind import PromptMind
    from commonplace.world.events import Event

__all__ = [
    "Ask",
    "CommonplaceError",
    "Event",
    "Mind",
    "OfflineMind",
    "OpenedRun",
    "Paused",
    "PromptMind",
    "Reply",
    "RequestKey",
    "Run",
    "RunDamaged",
    "UsageError",
    "create_run",
    "open_run",
    "resume_run",
]

_MODULES = {
    "commonplace.api": ("OpenedRun", "create_run", "open_run", "resume_run"),
    "commonplace.engine.run": ("Run",),
    "commonplace.errors": ("CommonplaceError", "Paused", "RunDamaged", "UsageError"),
    "commonplace.minds.mind": ("Ask", "Mind", "Reply", "RequestKey"),
    "commonplace.minds.offline.mind": ("OfflineMind",),
    "commonplace.parts.model_servers.prompt_mind": ("PromptMind",),
    "commonplace.world.events": ("Event",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
