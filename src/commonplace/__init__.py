"""Commonplace runs small societies of characters who remember.

    import commonplace
    run = commonplace.create_run("town.run", scenario="plaza", seed=7)
    async for tick in run.play(ticks=30): ...
    commonplace.open_run("town.run").why(event_id)

Nothing is imported before it is used, so that `from commonplace.memory import MemoryStream` costs only itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commonplace.api import create_run, open_run, resume_run

__all__ = ["create_run", "open_run", "resume_run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from commonplace import api  # noqa: PLC0415 – the parts are joined only when somebody makes or opens a run

    return getattr(api, name)
