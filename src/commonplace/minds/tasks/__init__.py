"""The questions a mind answers: a module per task, and `TASKS`, all that are registered.

The rest of the program never sees a prompt or a raw answer. What a mind may need to answer is in the typed input, so
that a rule and a prompt work from the same facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from commonplace.errors import CommonplaceError
from commonplace.languages import LANGUAGES, own_files
from commonplace.minds.mind import Task
from commonplace.minds.prompts.prompt import PARTS, SMALL
from commonplace.minds.tasks.act import ACT, ActInput, ActOutput, KnownTargets
from commonplace.minds.tasks.answer import (
    ANSWER,
    Acquaintance,
    AnswerInput,
    AnswerOutput,
    Earlier,
    ThingKnown,
)
from commonplace.minds.tasks.converse import CONVERSE, ConverseInput, ConverseOutput
from commonplace.minds.tasks.embed import EMBED, EmbedInput, EmbedOutput
from commonplace.minds.tasks.facts import FACTS, FactsInput, FactsOutput, Line, StatedFact
from commonplace.minds.tasks.judge import JUDGE, JudgeInput, JudgeOutput
from commonplace.minds.tasks.perceive_event import PERCEIVE_EVENT, PerceiveEventInput, PerceiveEventOutput
from commonplace.minds.tasks.plan import (
    PLAN_DAY,
    PLAN_HOURS,
    PLAN_MINUTES,
    PartOut,
    PlanDayInput,
    PlanDayOutput,
    PlanPartsInput,
    PlanPartsOutput,
    Stroke,
)
from commonplace.minds.tasks.rate import RATE, RateInput, RateOutput, TextRating
from commonplace.minds.tasks.react import REACT, ReactInput, ReactOutput
from commonplace.minds.tasks.reflect import (
    INSIGHTS,
    QUESTIONS,
    RELATE,
    Evidence,
    Insight,
    InsightsInput,
    InsightsOutput,
    QuestionsInput,
    QuestionsOutput,
    RelateInput,
    RelateOutput,
)
from commonplace.registry import TASKS as ROWS
from commonplace.registry import Registered

TASKS: Mapping[str, Task[Any, Any]] = Registered("task")

__all__ = [
    "ACT",
    "ANSWER",
    "CONVERSE",
    "EMBED",
    "FACTS",
    "INSIGHTS",
    "JUDGE",
    "PERCEIVE_EVENT",
    "PLAN_DAY",
    "PLAN_HOURS",
    "PLAN_MINUTES",
    "QUESTIONS",
    "RATE",
    "REACT",
    "RELATE",
    "TASKS",
    "Acquaintance",
    "ActInput",
    "ActOutput",
    "AnswerInput",
    "AnswerOutput",
    "ConverseInput",
    "ConverseOutput",
    "Earlier",
    "EmbedInput",
    "EmbedOutput",
    "Evidence",
    "FactsInput",
    "FactsOutput",
    "Insight",
    "InsightsInput",
    "InsightsOutput",
    "JudgeInput",
    "JudgeOutput",
    "KnownTargets",
    "Line",
    "PartOut",
    "PerceiveEventInput",
    "PerceiveEventOutput",
    "PlanDayInput",
    "PlanDayOutput",
    "PlanPartsInput",
    "PlanPartsOutput",
    "QuestionsInput",
    "QuestionsOutput",
    "RateInput",
    "RateOutput",
    "ReactInput",
    "ReactOutput",
    "RelateInput",
    "RelateOutput",
    "StatedFact",
    "Stroke",
    "TextRating",
    "ThingKnown",
]


def _refuse_mistakes(language: str, prompts: Set[str]) -> None:
    """Raises CommonplaceError unless each task that is put into words has its prompt, and each prompt a task."""
    for file in sorted((prompts - {*PARTS}) ^ {f"{name}.txt" for name in TASKS}):
        name, path = file.removesuffix(".txt"), f"languages/{language}/prompts/{file}"
        if name not in TASKS:
            raise CommonplaceError(
                f"{path} is the prompt of no task", hint=f"give {name!r} a row in TASKS, registry.py"
            )
        if TASKS[name].scene is not None:
            raise CommonplaceError(
                f"the task {name!r} has no prompt {path}", hint="write it; docs/prompts.md lists the values"
            )


def _refuse_mistakes_in_small_forms(language: str, prompts: Set[str]) -> None:
    """Raises CommonplaceError unless each small form has its prompt, and each prompt a small form."""
    wanted = {f"{SMALL}{name}.txt" for name, row in ROWS.items() if row.small}
    for file in sorted((prompts - {*PARTS}) ^ wanted):
        what = "has no prompt" if file in wanted else "is no small form, but has the prompt"
        name, path = file.removeprefix(SMALL).removesuffix(".txt"), f"languages/{language}/prompts/{file}"
        raise CommonplaceError(
            f"{name!r} {what} {path}", hint="TASKS in registry.py says which tasks have a small form"
        )


for _language in LANGUAGES:
    if _prompts := own_files(_language, "prompts"):  # a language without any asks in English
        _refuse_mistakes(_language, _prompts)
    if _prompts := own_files(_language, f"prompts/{SMALL}"):
        _refuse_mistakes_in_small_forms(_language, {f"{SMALL}{name}" for name in _prompts})
