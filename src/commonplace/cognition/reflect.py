"""Reflect: ask for it when enough of importance has happened since the last time, or enough has been said."""

from __future__ import annotations

from commonplace.cognition.notebook import Notebook
from commonplace.cognition.remember import REFLECTION
from commonplace.cognition.talk import my_talk
from commonplace.cognition.turn import TurnView
from commonplace.memory.reflection import ReflectionTrigger, TurnTrigger


def request_reflection(view: TurnView, notebook: Notebook) -> None:
    """A deferred job, once it is due by the scenario's trigger."""
    settings = view.scenario.cognition
    if not settings.reflect or view.world.body.asleep or view.tick < notebook.reflect_after:
        return
    if any(job.kind == "reflect" for job in notebook.jobs):
        return
    if _due(view):
        delay = max(1, view.scenario.clock.ticks(settings.deferred_minutes))
        notebook.request("reflect", view.tick, view.tick + delay)


def _due(view: TurnView) -> bool:
    reflection = view.scenario.cognition.reflection
    if reflection.every_turns:
        return TurnTrigger(reflection.every_turns).due(_turns_since_reflection(view))
    return ReflectionTrigger(reflection.threshold, reflection.strict).due(view.draft)


def _turns_since_reflection(view: TurnView) -> int:
    """Lines of the talk the character is in that fell after it last reflected."""
    talk = my_talk(view)
    last = next((memory.tick for memory in view.draft.backwards() if memory.kind == REFLECTION), -1)
    return sum(line.tick > last for line in talk.lines) if talk else 0
