"""The wire form of answers: compact JSON under the names a prompt uses, and back to typed values.

What can be worked out is not asked for: how long a stroke of the day lasts, which of them is sleep. Ids of places and
people are names here, as in the prompts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from commonplace.minds.mind import Ask
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.act import ACT
from commonplace.minds.prompts.wire.citing import narrowed
from commonplace.minds.prompts.wire.event import PERCEIVE_EVENT
from commonplace.minds.prompts.wire.fields import Fields
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.plan_day import PLAN_DAY
from commonplace.minds.prompts.wire.plan_parts import PLAN_PARTS
from commonplace.minds.prompts.wire.rate import RATE
from commonplace.minds.prompts.wire.react import REACT
from commonplace.minds.prompts.wire.reflection import INSIGHTS, QUESTIONS, RELATE
from commonplace.minds.prompts.wire.talk import ANSWER, CONVERSE, DUET_TURN, PANEL_TURN

FORMS: Mapping[str, Form] = {
    "rate": RATE,
    "plan_day": PLAN_DAY,
    "plan_hours": PLAN_PARTS,
    "plan_minutes": PLAN_PARTS,
    "react": REACT,
    "act": ACT,
    "converse": CONVERSE,
    "questions": QUESTIONS,
    "insights": INSIGHTS,
    "relate": RELATE,
    "answer": ANSWER,
    "duet_turn": DUET_TURN,
    "panel_turn": PANEL_TURN,
    "perceive_event": PERCEIVE_EVENT,
}
"""By task; every task that is put in words has one."""


def schema(ask: Ask[Any, Any], shown: Collection[int] | None = None) -> dict[str, Any]:
    """The JSON Schema of the answer: an object without `$ref`, enumerations hold exactly what was offered.

    `shown`: the memories a prompt shows, where it does not show all that the input holds.
    """
    whole = FORMS[ask.task.name].schema(ask.input)
    return whole if shown is None else narrowed(whole, shown)


def written(ask: Ask[Any, Any], value: Value) -> dict[str, Any]:
    """A typed answer as JSON; `read` undoes it."""
    return FORMS[ask.task.name].written(ask.input, value)


def read(ask: Ask[Any, Any], data: object, ear: Ear) -> Value:
    """Parsed JSON as a typed answer. Raises Unusable, saying what is wrong with it."""
    form = FORMS[ask.task.name]
    fields, names = Fields(data), form.schema(ask.input)["properties"]
    if not any(name in fields for name in names):
        raise Unusable(f"none of the fields {', '.join(names)} is there", "schema")
    return form.read(ask.input, fields, ear)
