"""Who answers which questions of a run, and how, as its manifest has it."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.minds.several import by_task
from commonplace.run.manifest import Manifest, own_minds, task_settings
from commonplace.scenario.model import MindPart


def task_minds(manifest: Manifest) -> dict[str, MindPart]:
    """Who answers the questions of some tasks or groups, and how, by their names."""
    return {name: MindPart.model_validate(part) for name, part in task_settings(manifest).items()}


def mind_by_question(manifest: Manifest) -> Callable[[str, str], str]:
    """(character, task) → the name of the mind that is asked."""
    own, tasks = own_minds(manifest), by_task(task_minds(manifest))

    def mind(agent: str, task: str) -> str:
        return own.get(agent) or (tasks[task].mind if task in tasks else "") or manifest.mind

    return mind
