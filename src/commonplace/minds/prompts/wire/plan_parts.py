"""The inside of a plan item: parts with what is done and, where a thing is needed, what is done with it."""

from __future__ import annotations

from typing import Any

from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.choices import uses
from commonplace.minds.prompts.wire.fields import Fields, listed
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import Schema, obj, one_of, several, text, whole
from commonplace.minds.tasks import PartOut, PlanPartsInput, PlanPartsOutput

MOST = 16
LONGEST = 240


def _schema(given: PlanPartsInput) -> Schema:
    part = obj(
        do=text(120, 1),
        minutes=whole(5, LONGEST),
        use=one_of(("", *uses(given.things).labels)),
        emoji=text(16),
    )
    return obj(parts=several(part, 1, MOST))


def _read(given: PlanPartsInput, fields: Fields, ear: Ear) -> PlanPartsOutput:
    return PlanPartsOutput(parts=fields.each("parts", 1, MOST, lambda entry: _part(given, entry, ear)))


def _part(given: PlanPartsInput, fields: Fields, ear: Ear) -> PartOut:
    """A use that was not offered is left out: the part is done without the thing."""
    object_id, _, verb = (fields.chosen("use", uses(given.things)) or "").rpartition(" ")
    return PartOut(
        do=ear.text(fields.needed("do", 120)),
        minutes=fields.whole("minutes", 5, LONGEST),
        object_id=object_id,
        verb=verb,
        emoji=fields.emoji("emoji"),
    )


def _written(given: PlanPartsInput, value: PlanPartsOutput) -> dict[str, Any]:
    choices = uses(given.things)
    return {
        "parts": listed(
            {
                "do": part.do,
                "minutes": part.minutes,
                "use": choices.label(f"{part.object_id} {part.verb}") if part.object_id else "",
                "emoji": part.emoji,
            }
            for part in value.parts
        )
    }


PLAN_PARTS = Form(_schema, _read, _written)
