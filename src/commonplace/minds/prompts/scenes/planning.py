"""Scenes in which a day or a part of it is planned, and the god-mode sentence."""

from __future__ import annotations

from commonplace.minds.prompts.prompt import Setting
from commonplace.minds.prompts.scenes.recalling import Values, own_places, recalling
from commonplace.minds.prompts.telling import plain, speech
from commonplace.minds.prompts.wire.choices import uses
from commonplace.minds.prompts.wire.event import changes
from commonplace.minds.prompts.wire.plan_day import known
from commonplace.minds.tasks import PerceiveEventInput, PlanDayInput, PlanPartsInput

PLANNING = 6
"""Memories shown when planning."""


def plan_day(given: PlanDayInput, setting: Setting, drop: int) -> Values:
    usual = {stroke.do for stroke in given.routine}
    choices = known(given)
    return recalling(given, setting, drop, PLANNING) | {
        "usual": [
            {"start": stroke.start, "do": plain(stroke.do), "place": choices.label(stroke.location)}
            for stroke in given.routine
        ],
        "own_places": own_places(given.places, setting),
        "yesterday": [plain(line) for line in given.yesterday if line.partition(" ")[2] not in usual],
    }


def plan_parts(given: PlanPartsInput, setting: Setting, drop: int) -> Values:
    return recalling(given, setting, drop, PLANNING) | {"uses": uses(given.things).labels}


def perceive_event(given: PerceiveEventInput, setting: Setting, drop: int) -> Values:
    del setting, drop
    return {"changes": changes(given).labels, "question": speech(given.text)}
