"""What stands behind a line of a duet: the plan asked for by itself, and the reflection on the dialogue."""

from __future__ import annotations

from commonplace.minds.notes import Situation, Spot
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.reflect import insights
from commonplace.minds.offline.stage_talk import duet_turn
from commonplace.minds.tasks import (
    DuetInput,
    DuetPlan,
    DuetReflectInput,
    DuetReflection,
    Evidence,
    InsightsInput,
)

_STAGE = Situation(
    moment="2031-10-04T12:00:00", time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="",
    temperature="", place=Spot(id="stage", name="stage"),
)  # fmt: skip


def duet_plan(given: DuetInput, dice: Dice) -> DuetPlan:
    """The plan that goes with the line."""
    return DuetPlan(plan=duet_turn(given, dice).plan)


def duet_reflect(given: DuetReflectInput, dice: Dice) -> DuetReflection:
    """What a character concludes from the memories of the dialogue; nothing where it has thought all of it before."""
    asked = InsightsInput(
        who=given.who, situation=_STAGE, evidence=(Evidence(question=given.goal, recalled=given.recalled),),
        earlier=given.earlier, known=(given.other,), most=1,
    )  # fmt: skip
    found = insights(asked, dice).insights
    return DuetReflection(text=found[0].text, because=found[0].because) if found else DuetReflection()
