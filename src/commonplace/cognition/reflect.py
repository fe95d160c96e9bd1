"""Reflect: ask for it when enough of importance has happened since the last time."""

from __future__ import annotations

from commonplace.cognition.notebook import Notebook
from commonplace.cognition.turn import TurnView
from commonplace.memory.reflection import ReflectionTrigger


def request_reflection(view: TurnView, notebook: Notebook) -> None:
    """A deferred job, once observations and actions since the last reflection weigh as much as the threshold."""
    settings = view.scenario.cognition
    if not settings.reflect or view.world.body.asleep or view.tick < notebook.reflect_after:
        return
    if any(job.kind == "reflect" for job in notebook.jobs):
        return
    trigger = ReflectionTrigger(settings.reflection.threshold, settings.reflection.strict)
    if trigger.due(view.draft):
        delay = max(1, view.scenario.clock.ticks(settings.deferred_minutes))
        notebook.request("reflect", view.tick, view.tick + delay)
