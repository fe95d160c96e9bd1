"""Several minds in one run: by the character a question comes from, and by its task."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any

from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
from commonplace.registry import QUESTION_GROUPS, TASKS
from commonplace.scenario.model import MindPart

DEFAULT = "default"
"""The group of all tasks."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    DEFAULT: tuple(TASKS),
    **{group: tuple(name for name, row in TASKS.items() if row.group == group) for group in QUESTION_GROUPS},
}
"""Tasks that can be named together. A task belongs to one group at most, besides all of them."""
OF_A_REACTION = ("rate", "converse", "act")
"""What a merged reaction answers as well, where the same mind would."""


class SeveralMinds:
    """Asks the mind of the character that a question comes from, else that of its task, else the common one."""

    def __init__(self, common: Mind, own: Mapping[str, Mind], tasks: Mapping[str, Mind] | None = None) -> None:
        """Combines minds. `own`: character → its mind. `tasks`: task or group → its mind."""
        self.name = common.name
        self._common = common
        self._own = own
        given: Mapping[str, Mind] = tasks or {}
        self._tasks = {task: given[name] for name in _by_size(given) for task in covered(name)}
        minds = (common, *own.values(), *self._tasks.values())
        self._all = list({id(mind): mind for mind in minds}.values())
        self.paid = any(mind.paid for mind in self._all)
        self.max_attempts = max(mind.max_attempts for mind in self._all)

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply | Awaitable[Reply]:
        """Returns the reply of the character's mind, or of the task's."""
        mind = self._own.get(request_key.agent) or self._tasks.get(ask.task.name, self._common)
        reply = mind.answer(ask, request_key)
        if mind is self._common:
            return reply
        return replace(reply, mind=mind.name) if isinstance(reply, Reply) else _named(reply, mind.name)

    async def close(self) -> None:
        """Closes each of the minds."""
        for mind in self._all:
            await mind.close()


async def _named(reply: Awaitable[Reply], mind: str) -> Reply:
    return replace(await reply, mind=mind)


def covered(name: str) -> tuple[str, ...]:
    """Returns the tasks of a group, or the one task of this name."""
    return GROUPS.get(name, (name,))


def _by_size(names: Mapping[str, Any]) -> list[str]:
    """Returns the largest group first: the settings of a smaller one count more."""
    return sorted(names, key=lambda name: -len(covered(name)) if name in GROUPS else 1)


def by_task(parts: Mapping[str, MindPart]) -> dict[str, MindPart]:
    """Returns task → its settings, from those of tasks and groups, without tasks that have none.

    A key of a smaller group, or of the task, counts more. The form, headers and further fields of requests belong to
    the mind they are given with, and to no other.
    """
    found: dict[str, MindPart] = {}
    for name in _by_size(parts):
        part = parts[name]
        given = _NO_MIND | _given(part) if part.mind else _given(part)
        found |= {task: found.get(task, MindPart()).model_copy(update=given) for task in covered(name)}
    return {task: part for task, part in found.items() if part != MindPart()}


def in_small_form(tasks: Mapping[str, MindPart]) -> frozenset[str]:
    """Returns the tasks whose settings ask for the small form."""
    return frozenset(task for task, part in tasks.items() if part.form == "small")


def replaced(parts: Mapping[Any, MindPart], named: Mapping[str, MindPart]) -> dict[str, MindPart]:
    """Returns the settings of a file, overridden by those of a person; if these name a mind, only the file's sampling
    stays."""
    taken = {task for name, part in named.items() if part.mind for task in covered(name)}
    kept = {
        name: part.model_copy(update=_NO_MIND) if taken.issuperset(covered(name)) else part
        for name, part in parts.items()
    }
    merged = {name: kept.get(name, MindPart()).model_copy(update=_given(part)) for name, part in named.items()}
    return {name: part for name, part in (kept | merged).items() if part != MindPart()}


def chosen(
    common: str, parts: Mapping[Any, MindPart], named: Mapping[str, MindPart]
) -> tuple[str, dict[str, MindPart]]:
    """Returns the common mind, and the settings by task or group: a person's before those of a file."""
    found = replaced(parts, named)
    default = found.pop(DEFAULT, MindPart())
    sampling = default.model_copy(update={"mind": ""})
    return default.mind or common, ({DEFAULT: sampling} if sampling != MindPart() else {}) | found


_NO_MIND: dict[str, Any] = {"mind": "", "form": "", "headers": {}, "body": {}}


def _given(part: MindPart) -> dict[str, Any]:
    return {key: getattr(part, key) for key in part.model_dump(exclude_defaults=True)}


def as_json(parts: Mapping[str, MindPart]) -> dict[str, Any]:
    """Returns the settings as a manifest stores them."""
    return {name: part.model_dump(mode="json", exclude_defaults=True) for name, part in sorted(parts.items())}
