"""The questions a mind answers: a module per task, and `TASKS`, all that are registered.

The rest of the program never sees a prompt or a raw answer. What a mind may need to answer is in the typed input, so
that a rule and a prompt work from the same facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace import registry
from commonplace.minds.mind import Task
from commonplace.minds.tasks.act import ACT, ActInput, ActOutput, Targets
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
from commonplace.minds.tasks.perceive_event import PERCEIVE_EVENT, PerceiveEventInput, PerceiveEventOutput
from commonplace.minds.tasks.plan_day import PLAN_DAY, PlanDayInput, PlanDayOutput, Stroke
from commonplace.minds.tasks.plan_parts import PLAN_HOURS, PLAN_MINUTES, PartOut, PlanPartsInput, PlanPartsOutput
from commonplace.minds.tasks.rate import RATE, RateInput, RateOutput, Rating
from commonplace.minds.tasks.react import REACT, ReactInput, ReactOutput
from commonplace.minds.tasks.reflect import (
    INSIGHTS,
    QUESTIONS,
    Evidence,
    Insight,
    InsightsInput,
    InsightsOutput,
    QuestionsInput,
    QuestionsOutput,
)
from commonplace.minds.tasks.relate import RELATE, RelateInput, RelateOutput
from commonplace.registry import Registered

TASKS: Mapping[str, Task[Any, Any]] = Registered(registry.TASKS)

__all__ = [
    "ACT",
    "ANSWER",
    "CONVERSE",
    "EMBED",
    "INSIGHTS",
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
    "Insight",
    "InsightsInput",
    "InsightsOutput",
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
    "Rating",
    "ReactInput",
    "ReactOutput",
    "RelateInput",
    "RelateOutput",
    "Stroke",
    "Targets",
    "ThingKnown",
]
