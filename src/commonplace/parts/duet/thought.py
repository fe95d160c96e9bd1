"""What stands behind a line of a duet: the plan asked for by itself, and the reflection on the dialogue."""

from __future__ import annotations

from commonplace.languages import phrases
from commonplace.languages.ko.josa import resolved
from commonplace.minds.notes import Situation, Spot
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.reflect import insights
from commonplace.minds.tasks import Evidence, InsightsInput
from commonplace.parts.duet.talk import duet_turn
from commonplace.parts.duet.tasks import DuetInput, DuetPlan, DuetReflectInput, DuetReflection

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
    if found:
        return DuetReflection(text=found[0].text, because=found[0].because)
    return _returning(given, dice)


def _returning(given: DuetReflectInput, dice: Dice) -> DuetReflection:
    """A thought about a subject of the memories that was not had before; nothing where all have been."""
    told = [(note, note.happening.topic) for note in given.recalled if note.happening.topic]
    for note, topic in dice.shuffled(told, "topic"):
        for template in dice.shuffled(phrases(given.who.language, "duet")["thoughts"].splitlines(), "thought"):
            text = resolved(template.format(topic=topic, other=given.other.called))
            if text not in given.earlier:
                return DuetReflection(text=text, because=(note.id,))
    return DuetReflection()
